"""One study: a named, read-only table of samples by features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from clustrep.checks import (
    as_table,
    check_axis_names,
    check_choice,
    check_finite,
    check_known,
    check_label,
    check_labels_of,
    check_name,
    check_names_differ,
    check_not_empty,
    check_numbers,
    read_only,
)
from clustrep.errors import DataError, DataWarning, ParameterError, warn
from clustrep.studies.alignment import label_sentence, probable_label
from clustrep.text import listing, plural
from clustrep.types import FloatArray, IntArray, Labels

Scale: TypeAlias = Literal["none", "zscore", "robust"]

SCALES = ("none", "zscore", "robust")


Label: TypeAlias = str | Literal[False] | None


class LabelNotFound(DataError):  # noqa: N818 - says what happened
    """A single study without the label column; among several, some may lack it."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Study:
    """One study: a read-only table of samples by features with its names, and its known labels where there are any.

    Parameters
    ----------
    X : array_like or DataFrame, (n_samples, n_features)
        A frame brings the names of its samples (index) and features (columns) along.
    name : str
        The study's name. Random draws belong to it: the same name and seed give the same draw.
    features, samples : sequence of str, optional
        Names, where `X` has none or others are wanted; else they are numbered from 1.
    labels : array_like, (n_samples,), optional
        Known labels of the samples.
    label : str or False, optional
        The column that holds the samples' known class: kept aside as `labels`. False: no column is one. By default a
        column that looks like one is warned about.

    Examples
    --------
    >>> study = Study([[1.0, 2.0], [3.0, 4.0]], "mainz", features=["ESR1", "ERBB2"])
    >>> study
    Study 'mainz': 2 samples, 2 features
    """

    X: FloatArray
    name: str
    features: tuple[str, ...]
    samples: tuple[str, ...]
    labels: Labels | None
    scale: str
    features_are_named: bool
    samples_are_named: bool

    def __init__(
        self,
        X: ArrayLike | pd.DataFrame,
        name: str,
        *,
        features: Sequence[str] | None = None,
        samples: Sequence[str] | None = None,
        labels: ArrayLike | None = None,
        label: Label = None,
    ):
        check_name(name, "The name of a study")
        check_label(label)
        subject = f"Study {name!r}"
        table, named_features, named_samples = as_table(X, subject)
        check_not_empty(table.shape, subject)
        if features is not None:
            table.columns = pd.Index(check_axis_names(features, "feature", table.shape[1], subject), dtype=object)
        if samples is not None:
            table.index = pd.Index(check_axis_names(samples, "sample", table.shape[0], subject), dtype=object)
        if label and label not in table.columns:
            raise LabelNotFound(f"Study {name!r} has no column {label!r} to take labels from.")
        if label:
            if labels is not None:
                raise ParameterError(
                    f"Pass either label={label!r} or labels for study {name!r}, not both.", parameter="label"
                )
            labels = table.pop(label).to_numpy()
        matrix = check_numbers(table, subject, may_have_label=label is not False)
        check_finite(matrix, table.index, table.columns, subject)
        if labels is not None:
            own_samples = tuple(table.index) if samples is not None or named_samples else None
            labels = read_only(check_labels_of(labels, name, len(matrix), own_samples))
        self._set(
            X=read_only(matrix),
            name=name,
            features=tuple(table.columns),
            samples=tuple(table.index),
            labels=labels,
            scale="none",
            features_are_named=features is not None or named_features,
            samples_are_named=samples is not None or named_samples,
        )
        if (suspicion := self._suspicion(label)) is not None:
            warn(suspicion, DataWarning)

    def _set(self, **values: Any) -> None:
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def _with(self, **changes: Any) -> Study:
        """Return a study that differs in these attributes, which are taken as they are."""
        study = object.__new__(Study)
        study._set(**{**vars(self), **changes})
        return study

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        known = f", known labels {listing(np.unique(self.labels))}" if self.labels is not None else ""
        scaled = f", scaled by {self.scale}" if self.scale != "none" else ""
        n_samples, n_features = self.X.shape
        return f"Study {self.name!r}: {plural(n_samples, 'sample')}, {plural(n_features, 'feature')}{known}{scaled}"

    def _suspicion(self, label: Label = None) -> str | None:
        """Say that a feature is probably a class label, unless the user has spoken about labels."""
        suspect = None if label is False or self.labels is not None else probable_label(self.X, self.features)
        return None if suspect is None else label_sentence(self.name, suspect, self.X, self.features)

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table as a frame with its names."""
        return pd.DataFrame(self.X.copy(), index=list(self.samples), columns=list(self.features))

    def select(self, features: Sequence[str]) -> Study:
        """Keep these features, in this order."""
        if isinstance(features, str) or not isinstance(features, Iterable) or not len(list(features)):
            raise ParameterError(
                f"features must be a sequence of at least one feature name, got {features!r}.", parameter="features"
            )
        check_names_differ([str(feature) for feature in features], "feature", parameter="features")
        position = {feature: j for j, feature in enumerate(self.features)}
        for feature in features:
            if feature not in position:
                check_known(feature, f"feature of study {self.name!r}", position, parameter="features")
        if tuple(features) == self.features:
            return self
        selected = np.ascontiguousarray(self.X[:, [position[feature] for feature in features]])
        return self._with(X=read_only(selected), features=tuple(features))

    def scaled(self, scale: Scale) -> Study:
        """Scale every feature by this study alone.

        "zscore": mean 0 and standard deviation 1; "robust": median 0 and interquartile range 1. A constant feature
        becomes 0.
        """
        check_choice(scale, "scale", SCALES)
        if scale == "none":
            return self
        if self.scale != "none":
            raise ParameterError(f"Study {self.name!r} is scaled by {self.scale!r} already.", parameter="scale")
        from sklearn.preprocessing import RobustScaler, StandardScaler

        scaler = StandardScaler() if scale == "zscore" else RobustScaler()
        X = scaler.fit_transform(self.X)
        if scale == "robust":
            flat = (np.subtract(*np.quantile(self.X, [0.75, 0.25], axis=0)) == 0) & (np.ptp(self.X, axis=0) > 0)
            if flat.any():
                names = [repr(self.features[j]) for j in np.flatnonzero(flat)]
                warn(
                    f"Study {self.name!r} has {plural(len(names), 'feature')} that robust scaling leaves in its own "
                    f"units, because half of the samples or more have the same value: {listing(names)}.",
                    DataWarning,
                )
        return self._with(X=read_only(np.ascontiguousarray(X)), scale=scale)

    def with_samples_of(self, others: Sequence[Study], name: str) -> Study:
        """Return a study with the samples of all of these, whose features are the same; their names tell the study."""
        studies = [self, *others]
        samples = [f"{study.name}/{sample}" for study in studies for sample in study.samples]
        return self._with(
            name=name,
            X=read_only(np.concatenate([study.X for study in studies])),
            samples=tuple(samples),
            labels=None,
        )

    def scaled_again(self) -> Study:
        """Scale a new table as the study's own was."""
        return self if self.scale == "none" else self._with(scale="none").scaled(cast(Scale, self.scale))

    def with_table(self, X: FloatArray) -> Study:
        """Return a study of as many samples with another table; with another number of features, these are numbered."""
        if X.shape[1] == len(self.features):
            return self._with(X=X)
        return self._with(X=X, features=tuple(str(j + 1) for j in range(X.shape[1])), features_are_named=False)

    def _with_precision(self, dtype: np.dtype[Any]) -> Study:
        """Return the study in single or double precision."""
        return self if self.X.dtype == dtype else self._with(X=read_only(self.X.astype(dtype)))

    def _part(self, rows: IntArray, name: str) -> Study:
        """Return a study of some of the samples."""
        return self._with(
            name=name,
            X=read_only(self.X[rows]),
            samples=tuple(self.samples[i] for i in rows),
            labels=None if self.labels is None else read_only(self.labels[rows]),
        )
