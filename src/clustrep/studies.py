"""Studies: named tables of samples by features, aligned by feature name and read-only."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from clustrep._engine import Rng, make_generator
from clustrep._tables import read_table, study_names
from clustrep._types import FloatArray, Labels, read_only
from clustrep._validation import (
    check_axis_names,
    check_choice,
    check_finite,
    check_known,
    check_labels,
    check_matrix,
    check_name,
    check_not_empty,
    check_numeric_frame,
    check_orientation,
    check_positive_integer,
    check_same_features,
    label_sentence,
    listing,
    plural,
    probable_label,
)
from clustrep.errors import DataError, DataWarning, ParameterError

Scale: TypeAlias = Literal["none", "zscore", "robust"]
SCALES = ("none", "zscore", "robust")


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
    ):
        check_name(name, "The name of a study")
        if isinstance(X, pd.DataFrame):
            check_not_empty(X.shape, name)
            if features is None and not isinstance(X.columns, pd.RangeIndex):
                features = check_axis_names(X.columns, "feature", X.shape[1], name)
            if samples is None and not isinstance(X.index, pd.RangeIndex):
                samples = check_axis_names(X.index, "sample", X.shape[0], name)
            check_numeric_frame(X, name)
            X = X.to_numpy(dtype=_float_type(X), na_value=np.nan)
        matrix = check_matrix(X, name)
        n_samples, n_features = matrix.shape
        checked_features = check_axis_names(
            range(1, n_features + 1) if features is None else features, "feature", n_features, name
        )
        checked_samples = check_axis_names(
            range(1, n_samples + 1) if samples is None else samples, "sample", n_samples, name
        )
        check_finite(matrix, checked_samples, checked_features, name)
        if labels is not None:
            labels = read_only(
                check_labels(labels, f"labels of study {name!r}", length=n_samples, same_as=f"study {name!r}")
            )
        self._set(
            X=read_only(np.ascontiguousarray(matrix)),
            name=name,
            features=checked_features,
            samples=checked_samples,
            labels=labels,
            scale="none",
            features_are_named=features is not None,
            samples_are_named=samples is not None,
        )

    def _set(self, **values: Any) -> None:
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        known = f", known labels {listing(np.unique(self.labels))}" if self.labels is not None else ""
        scaled = f", scaled by {self.scale}" if self.scale != "none" else ""
        n_samples, n_features = self.X.shape
        return f"Study {self.name!r}: {plural(n_samples, 'sample')}, {plural(n_features, 'feature')}{known}{scaled}"

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table as a frame with its names."""
        return pd.DataFrame(self.X.copy(), index=list(self.samples), columns=list(self.features))

    def select(self, features: Sequence[str]) -> Study:
        """Keep these features, in this order."""
        position = {feature: j for j, feature in enumerate(self.features)}
        for feature in features:
            check_known(feature, f"feature of study {self.name!r}", position)
        if tuple(features) == self.features:
            return self
        selected = self.X[:, [position[feature] for feature in features]]
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
            raise ParameterError(f"Study {self.name!r} is scaled by {self.scale!r} already.")
        from sklearn.preprocessing import RobustScaler, StandardScaler

        scaler = StandardScaler() if scale == "zscore" else RobustScaler()
        return self._with(X=read_only(scaler.fit_transform(self.X)), scale=scale)

    def _with(self, **changes: Any) -> Study:
        """Return a study that differs in these attributes, which are taken as they are."""
        study = object.__new__(Study)
        study._set(**{**vars(self), **changes})
        return study


StudiesLike: TypeAlias = "Studies | Mapping[str, Any] | Sequence[Any]"


class Studies(Mapping[str, Study]):
    """Several studies, aligned on the features that all of them have.

    Parameters
    ----------
    studies : mapping of name to array, frame or Study, or a sequence of these
        Arrays and frames in a sequence are named "1", "2", …
    label : str or False, optional
        The column that holds the samples' known class: kept aside as `Study.labels`. False: no column is one. By
        default a column that looks like one is warned about.
    scale : {"none", "zscore", "robust"}
        Scale each study by itself.

    Examples
    --------
    >>> import pandas as pd
    >>> mainz = pd.DataFrame({"ESR1": [8.5, 14.0], "ERBB2": [14.2, 10.8]}, index=["m1", "m2"])
    >>> vdx = pd.DataFrame({"ERBB2": [10.8, 10.0], "ESR1": [10.2, 12.7]}, index=["v1", "v2"])
    >>> studies = Studies({"mainz": mainz, "vdx": vdx})
    >>> studies
    Studies: 2 studies, 2 shared features
      mainz  2 samples
      vdx    2 samples
    >>> studies["vdx"].features
    ('ESR1', 'ERBB2')
    """

    def __init__(self, studies: StudiesLike, *, label: str | Literal[False] | None = None, scale: Scale = "none"):
        self._set(_collect(studies, label=label, refuse=False), scale)

    @classmethod
    def read(
        cls,
        *paths: str | PathLike[str],
        label: str | Literal[False] | None = None,
        scale: Scale = "none",
        transpose: bool | Sequence[str] = False,
        header: bool | None = None,
    ) -> Studies:
        """Read one study from each file: CSV, TSV or other delimited text, also gzipped.

        Parameters
        ----------
        *paths
            Rows are samples, columns features. The studies are named after their files.
        label : str or False, optional
            The column that holds the samples' known class; False: no column is one. A file with a column that looks
            like one is refused otherwise.
        scale : {"none", "zscore", "robust"}
            Scale each study by itself.
        transpose : bool or sequence of str
            Turn all tables, or those of the studies named, the other way round.
        header : bool, optional
            Whether the first line holds the features' names; by default it does unless it looks like data.
        """
        if not paths:
            raise ParameterError("Studies.read needs at least one path.")
        names = study_names(paths)
        turned = () if isinstance(transpose, bool) else tuple(transpose)
        for name in turned:
            check_known(name, "study to transpose", names)
        frames = {
            name: read_table(path, name, label=label, transpose=transpose is True or name in turned, header=header)
            for name, path in zip(names, paths, strict=True)
        }
        studies = cls.__new__(cls)
        studies._set(_collect(frames, label=label, refuse=True), scale)
        return studies

    @classmethod
    def from_frames(cls, frames: Mapping[str, pd.DataFrame], **options: Any) -> Studies:
        """Take one study from each frame; the options are those of `Studies`."""
        for name, frame in frames.items():
            if not isinstance(frame, pd.DataFrame):
                raise DataError(f"Study {name!r} must be a pandas DataFrame, got {type(frame).__name__}.")
        return cls(frames, **options)

    @classmethod
    def split(cls, X: ArrayLike | pd.DataFrame | Study, n: int = 2, *, rng: Rng = None, **options: Any) -> Studies:
        """Split one table at random into `n` studies of equal size (to one sample), numbered from 1.

        Examples
        --------
        >>> halves = Studies.split([[0.0, 1.5], [1.0, 0.5], [5.0, 2.5], [6.0, 3.5], [7.0, 4.5]], rng=0)
        >>> [len(study) for study in halves.values()]
        [3, 2]
        """
        check_positive_integer(n, "n", at_least=2)
        whole = next(iter(cls({"whole": X}, **options).values()))
        if len(whole) < 2 * n:
            raise DataError(f"n must leave at least 2 samples in each part: got n={n} for {len(whole)} samples.")
        parts = np.array_split(make_generator(rng).permutation(len(whole)), n)
        return cls([_part(whole, np.sort(rows), str(i)) for i, rows in enumerate(parts, 1)])

    def _set(self, studies: Sequence[Study], scale: Scale) -> None:
        check_choice(scale, "scale", SCALES)
        _check_overlap_of_samples(studies)
        features = {study.name: study.features for study in studies}
        if len(studies) > 1:
            named_samples = {study.name: study.samples if study.samples_are_named else () for study in studies}
            check_orientation(features, named_samples)
            check_same_features(features, named_samples)
            if not all(study.features_are_named for study in studies):
                _check_same_number_of_unnamed(studies)
        shared = set.intersection(*(set(names) for names in features.values()))
        self.features: tuple[str, ...] = tuple(name for name in studies[0].features if name in shared)
        self.dropped: dict[str, tuple[str, ...]] = {
            study.name: tuple(name for name in study.features if name not in shared) for study in studies
        }
        self._studies = {study.name: study.select(self.features).scaled(scale) for study in studies}
        if any(self.dropped.values()):
            warnings.warn(
                f"The studies share {plural(len(self.features), 'feature')}; dropped: "
                + "; ".join(
                    f"{name} {len(names):,} ({listing(names, 3)})" for name, names in self.dropped.items() if names
                )
                + ".",
                DataWarning,
                stacklevel=3,
            )

    def __getitem__(self, name: str) -> Study:
        check_known(name, "study", self._studies)
        return self._studies[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._studies)

    def __len__(self) -> int:
        return len(self._studies)

    def __contains__(self, name: object) -> bool:
        return name in self._studies

    @property
    def names(self) -> tuple[str, ...]:
        """The studies' names."""
        return tuple(self._studies)

    def select(self, features: Sequence[str]) -> Studies:
        """Keep these features, in this order."""
        if isinstance(features, str) or not len(features):
            raise ParameterError(f"features must be a sequence of at least one feature name, got {features!r}.")
        return Studies([study.select(features) for study in self.values()])

    def scaled(self, scale: Scale) -> Studies:
        """Scale each study by itself; see `Study.scaled`."""
        return Studies([study.scaled(scale) for study in self.values()])

    def __repr__(self) -> str:
        head = f"Studies: {plural(len(self), 'study')}, {plural(len(self.features), 'shared feature')}"
        width = max(map(len, self.names))
        lines = []
        for name, study in self.items():
            line = f"  {name:<{width}}  {plural(len(study), 'sample')}"
            if study.scale != "none":
                line += f", scaled by {study.scale}"
            if study.labels is not None:
                line += f", known labels {listing(np.unique(study.labels))}"
            if self.dropped[name]:
                line += f", dropped {plural(len(self.dropped[name]), 'feature')}: {listing(self.dropped[name], 3)}"
            lines.append(line)
        return "\n".join([head, *lines])


def as_studies(studies: StudiesLike) -> Studies:
    """Take `Studies` as they are, anything else that `Studies` accepts through it."""
    return studies if isinstance(studies, Studies) else Studies(studies)


def _collect(studies: StudiesLike, *, label: str | Literal[False] | None, refuse: bool) -> list[Study]:
    """Make every entry a `Study`: label column aside, suspicions voiced."""
    if isinstance(studies, Mapping):
        entries = [(check_name(name, "The name of a study"), values) for name, values in studies.items()]
    elif isinstance(studies, Sequence) and not isinstance(studies, str):
        entries = [
            (values.name if isinstance(values, Study) else str(i), values) for i, values in enumerate(studies, 1)
        ]
    else:
        raise DataError(
            "studies must be a Studies, a mapping of name to table, or a sequence of tables; "
            f"got {type(studies).__name__}."
        )
    if not entries:
        raise DataError("studies is empty: there must be at least one study.")
    names = [name for name, _ in entries]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"Every study needs a name of its own, but {twice!r} came twice.")
    if label is not None and label is not False and not isinstance(label, str):
        raise ParameterError(f"label must be the name of a column, False or None, got {label!r}.")
    collected = [_one(name, values, label=label, refuse=refuse) for name, values in entries]
    if label and all(study.labels is None for study in collected):
        known = sorted(set().union(*(study.features for study in collected)))
        raise DataError(f"No study has a column {label!r} to take labels from; there are {listing(known, 10)}.")
    return collected


def _one(name: str, values: Any, *, label: str | Literal[False] | None, refuse: bool) -> Study:
    if isinstance(values, Study):
        return values if values.name == name else values._with(name=name)
    labels = None
    if label and isinstance(values, pd.DataFrame) and label in values.columns:
        labels = values[label]
        if isinstance(labels, pd.DataFrame):
            raise DataError(f"Study {name!r} has {labels.shape[1]} columns {label!r}: the label must be one column.")
        values = values.drop(columns=label)
    study = Study(values, name, labels=labels)
    suspect = None if label is False or labels is not None else probable_label(study.X, study.features)
    if suspect is not None:
        sentence = label_sentence(name, suspect, study.X, study.features)
        if refuse:
            raise DataError(sentence)
        warnings.warn(sentence, DataWarning, stacklevel=5)
    return study


def _part(study: Study, rows: Any, name: str) -> Study:
    return study._with(
        name=name,
        X=read_only(study.X[rows]),
        samples=tuple(study.samples[i] for i in rows),
        labels=None if study.labels is None else read_only(study.labels[rows]),
    )


def _float_type(frame: pd.DataFrame) -> type[np.floating[Any]]:
    return np.float32 if all(dtype == np.float32 for dtype in frame.dtypes) else np.float64


def _check_same_number_of_unnamed(studies: Sequence[Study]) -> None:
    """Features without names can only be aligned by position, so their number must be the same."""
    numbers = {study.name: len(study.features) for study in studies}
    if len(set(numbers.values())) > 1:
        listed = ", ".join(f"{name} {number}" for name, number in numbers.items())
        raise DataError(
            f"The studies have different numbers of features ({listed}), and not all of them name their features: "
            "pass frames, whose columns can be aligned by name."
        )


def _check_overlap_of_samples(studies: Sequence[Study]) -> None:
    named = [study for study in studies if study.samples_are_named]
    for i, one in enumerate(named):
        for other in named[i + 1 :]:
            common = [sample for sample in one.samples if sample in set(other.samples)]
            if common:
                warnings.warn(
                    f"Studies {one.name!r} and {other.name!r} have {plural(len(common), 'sample name')} in common "
                    f"({listing(common, 3)}): if these are the same samples, the studies are not independent.",
                    DataWarning,
                    stacklevel=4,
                )
