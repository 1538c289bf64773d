"""One study: a named, read-only table of samples by features."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clustrep.checks import (
    IMPUTING,
    as_table,
    check_axis_names,
    check_choice,
    check_features,
    check_finite,
    check_flag,
    check_known,
    check_known_values,
    check_label,
    check_labels_of,
    check_magnitudes,
    check_name,
    check_not_empty,
    check_numbers,
    check_positive,
    numbered,
    read_only,
    with_unknown,
)
from clustrep.data.values import SCALES_OF_ONE, Scale, log_normalised, median_total
from clustrep.errors import DataError, DataWarning, ParameterError, warn
from clustrep.text import argument, listing, nearest, plural
from clustrep.types import FloatArray, IntArray, Labels

if TYPE_CHECKING:
    from clustrep.data.readers.table import Table

Normalise: TypeAlias = Literal["none", "log1p"]

NORMALISATIONS = ("none", "log1p")

Label: TypeAlias = str | Literal[False] | None

# A feature with one of these names and few small integers as values is probably a class label.
LABEL_NAME = re.compile(
    r"(true|known|pred(icted)?)?[ _.-]*"
    r"(class(es)?|labels?|clusters?|groups?|sub[ _.-]?types?|types?|targets?|categor(y|ies)|diagnos[ie]s|y)"
    r"[ _.-]*(id|no|nr|number|\d)?",
    re.IGNORECASE,
)

LABEL_VALUES_AT_MOST = 50

# A column with one of these words in its name, and not too many values, probably names the study of a sample.
STUDY_NAME = re.compile(
    r"(?<![a-z])(batch(es)?|stud(y|ies)|donor|sample|patient|subject|individual|site|cent(er|re)|cohort|data[ _.-]?set|"
    r"lab(oratory)?|hospital|plate|library|orig\.ident)s?(id)?(?![a-z])",
    re.IGNORECASE,
)

MOST_STUDIES = 50  # a column with more values names samples


class LabelNotFound(DataError):  # noqa: N818 - a name that reads as the finding
    """A study without the label column, which is an error unless another of several studies has it."""


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Study:
    """One study: a read-only table of samples by features, with their names and, where known, the samples' labels.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_samples, n_features)
        Numbers, none missing or infinite; at least two samples. A frame brings the names of its samples (index) and of
        its features (columns); its default index 0, 1, 2, … is not taken as names.
    name : str
        The study's name. Random draws depend on it: the same name and seed give the same draw.
    features, samples : sequence of str, default=None
        Names of the features and the samples, instead of those of `X`. Without names they are numbered from 1.
    labels : array-like of shape (n_samples,), default=None
        Known labels of the samples, integers or text. A Series whose index holds the samples' names is put in their
        order. Missing ones become "unknown", with a warning.
    label : str or False, default=None
        The column of `X` that holds the samples' known class; it is removed from the features and kept as `labels`.
        False: no column is one. By default, a column that looks like a class gives a warning.
    groups : mapping of str to array-like, default=None
        Units to which samples belong, such as ``{"donor": [...]}``: `Bootstrap(groups="donor")` draws these.
    allow_missing : bool, default=False
        Whether values may be missing; then whatever clusters the study needs an imputer as its first step. A feature
        without any value is refused.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The values, in single precision where all of those given were and their squares have room in it, else in double
        precision. Read-only.
    name : str
        The study's name.
    features, samples : tuple of str
        The names, or numbers from 1.
    features_are_named, samples_are_named : bool
        Whether these are names that were given.
    labels : ndarray of int or str of shape (n_samples,), or None
        The known labels.
    scale : str
        How the features were scaled: "none", "pooled", "study" or "reference=NAME", see `Studies.scaled`.
    normalise : {"none", "log1p"}
        How counts were normalised.
    embedding : str
        The embedding of all studies together whose coordinates the features are, such as "X_pca"; empty for others.
    groups : dict of str to ndarray of str, of shape (n_samples,)
        Units to which samples belong, as text; empty where there are none.
    allows_missing : bool
        Whether values may be missing.

    Raises
    ------
    DataError
        If `X` can't be used: not a table of numbers, missing or infinite values, names that occur twice. The message
        names the sample and the feature.

    See Also
    --------
    Studies : Several studies, aligned by the names of their features.

    Notes
    -----
    Studies are aligned by the names of their features (see `Studies`), so give names wherever there are any: without
    names, the j-th column of one study is taken for the j-th column of every other.

    Examples
    --------
    >>> study = Study([[1.0, 2.0], [3.0, 4.0]], "mainz", features=["ESR1", "ERBB2"])
    >>> study
    Study 'mainz': 2 samples, 2 features
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"ESR1": [8.5, 14.0], "subtype": ["A", "B"]}, index=["m1", "m2"])
    >>> study = Study(frame, "mainz", label="subtype")
    >>> study
    Study 'mainz': 2 samples, 1 feature, known labels A, B
    >>> study.samples
    ('m1', 'm2')
    """

    X: FloatArray
    name: str
    features: tuple[str, ...]
    samples: tuple[str, ...]
    labels: Labels | None
    scale: str
    features_are_named: bool
    samples_are_named: bool
    groups: Mapping[str, NDArray[np.str_]] = field(default_factory=dict)
    normalise: str = "none"
    embedding: str = ""
    allows_missing: bool = False
    _undivided: str = ""  # for all of an AnnData: how to divide it into studies

    def __init__(
        self,
        X: ArrayLike | pd.DataFrame,
        name: str,
        *,
        features: Sequence[str] | None = None,
        samples: Sequence[str] | None = None,
        labels: ArrayLike | None = None,
        label: Label = None,
        groups: Mapping[str, ArrayLike] | None = None,
        allow_missing: bool = False,
    ):
        check_flag(allow_missing, "allow_missing")
        check_name(name, "The name of a study")
        check_label(label)
        subject = f"Study {name!r}"
        if label and labels is not None:
            raise ParameterError(
                f"Pass either label={label!r} or labels for study {name!r}, not both.", parameter="label"
            )
        obs = getattr(X, "obs", None) if hasattr(X, "obs_names") else None
        if obs is not None and label and label in obs:
            labels, label = obs[label].to_numpy(), None
        table, named_features, named_samples = as_table(X, subject)
        check_not_empty(table.shape, subject)
        if features is not None:
            table.columns = pd.Index(check_axis_names(features, "feature", table.shape[1], subject), dtype=object)
        if samples is not None:
            table.index = pd.Index(check_axis_names(samples, "sample", table.shape[0], subject), dtype=object)
        if label and label not in table.columns:
            raise LabelNotFound(f"Study {name!r} has no column {label!r} to take labels from.")
        if label:
            labels = table.pop(label).to_numpy()
        roles = () if label is False else ("label", "study_key") if labels is None else ("study_key",)
        matrix = check_numbers(table, subject, roles=roles)
        known = check_known_values(matrix, table, subject) if allow_missing else matrix
        check_finite(known, table.index, table.columns, subject)
        checked = check_magnitudes(known, table.index, table.columns, subject)
        matrix = matrix.astype(checked.dtype) if allow_missing else checked
        if labels is not None:
            sample_names = tuple(table.index) if samples is not None or named_samples else None
            labels = read_only(check_labels_of(with_unknown(labels, name), name, len(matrix), sample_names))
        self._set(
            X=read_only(matrix),
            name=name,
            features=tuple(table.columns),
            samples=tuple(table.index),
            labels=labels,
            scale="none",
            normalise="none",
            embedding="",
            features_are_named=features is not None or named_features,
            samples_are_named=samples is not None or named_samples,
            groups=_checked_groups(groups, len(matrix), subject),
            allows_missing=allow_missing,
            _undivided=""
            if obs is None
            else advice_on_studies(obs, "Studies.from_anndata(adata, batch_key={!r})".format),
        )
        if (suspicion := self._suspicion(label)) is not None:
            warn(suspicion, DataWarning)

    def _set(self, **values: Any) -> None:
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def _with(self, **changes: Any) -> Study:
        """Return a study that differs in these attributes, which are not checked."""
        study = object.__new__(Study)
        study._set(**{**vars(self), **changes})
        return study

    def __len__(self) -> int:
        return len(self.X)

    @property
    def has_missing(self) -> bool:
        """Whether any value is missing."""
        return self.allows_missing and bool(np.isnan(self.X).any())

    def __repr__(self) -> str:
        known = f", known labels {listing(np.unique(self.labels))}" if self.labels is not None else ""
        scaled = f", scaled by {self.scaling}" if self.scaling != "none" else ""
        n_samples, n_features = self.X.shape
        return f"Study {self.name!r}: {plural(n_samples, 'sample')}, {plural(n_features, 'feature')}{known}{scaled}"

    def _suspicion(self, label: Label = None) -> str | None:
        """Warn that a feature is probably a class label, unless the user has named the labels."""
        if label is False or self.labels is not None or (j := _probable_label(self.X, self.features)) is None:
            return None
        feature, values = self.features[j], np.unique(self.X[:, j]).astype(int)
        divides = f"{argument('study_key', feature)} if it tells studies apart, " if STUDY_NAME.search(feature) else ""
        return (
            f"Feature {feature!r} of study {self.name!r} is probably a class label (values {listing(values)}), not "
            f"data. Use {divides}{argument('label', feature)} to keep it aside as the samples' known labels, or "
            f"{argument('label', False)} if it is data."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the table as a frame, samples as index and features as columns.

        Returns
        -------
        DataFrame of shape (n_samples, n_features)
            Of this study alone: changes of the frame do not change the study.

        Examples
        --------
        >>> Study([[1.0, 2.0], [3.0, 4.0]], "mainz", features=["ESR1", "ERBB2"]).to_frame()
           ESR1  ERBB2
        1   1.0    2.0
        2   3.0    4.0
        """
        return pd.DataFrame(self.X.copy(), index=list(self.samples), columns=list(self.features))

    def select(self, features: Sequence[str]) -> Study:
        """Keep some of the features.

        Parameters
        ----------
        features : sequence of str
            Names of features of this study, each once.

        Returns
        -------
        Study
            With these features, in this order.

        Examples
        --------
        >>> study = Study([[1.0, 2.0], [3.0, 4.0]], "mainz", features=["ESR1", "ERBB2"])
        >>> study.select(["ERBB2"]).X.tolist()
        [[2.0], [4.0]]
        """
        features = check_features(features)
        position = {feature: j for j, feature in enumerate(self.features)}
        for feature in features:
            if feature not in position:
                check_known(feature, f"feature of study {self.name!r}", position, parameter="features")
        if features == self.features:
            return self
        selected = np.ascontiguousarray(self.X[:, [position[feature] for feature in features]])
        return self._with(X=read_only(selected), features=features)

    def scaled(self, scale: Scale) -> Study:
        """Shift and scale every feature, by the samples of this study alone.

        "study":  z = (x - mean) / standard deviation, the latter with divisor n.

        Parameters
        ----------
        scale : {"none", "study"}
            "none" returns the study unchanged. `Studies.scaled` has further ones, which need the other studies.

        Returns
        -------
        Study
            With `scale` noted. A study is scaled only once: scaling it again raises a ParameterError.

        See Also
        --------
        Studies.scaled : Scaling by all studies together or by one of them, and when to use which.

        Notes
        -----
        A constant feature becomes 0.

        Examples
        --------
        >>> study = Study([[1.0, 10.0], [3.0, 30.0]], "mainz")
        >>> study.scaled("study").X.tolist()
        [[-1.0, -1.0], [1.0, 1.0]]
        """
        check_choice(scale, "scale", SCALES_OF_ONE)
        if scale == "none":
            return self
        from sklearn.preprocessing import StandardScaler

        return self._standardised(StandardScaler().fit(self.X), scale)

    def _standardised(self, scaler: Any, scale: Scale) -> Study:
        """Apply a fitted StandardScaler to a study that is not scaled yet."""
        if self.scale != "none":
            raise ParameterError(
                f"Study {self.name!r} is scaled by {self.scale!r} already: scale the study that it was made from.",
                parameter="scale",
            )
        return self._with(X=read_only(np.ascontiguousarray(scaler.transform(self.X))), scale=scale)

    @property
    def scaling(self) -> str:
        """How counts were normalised and features scaled: "none", or the names of both, in this order."""
        return ", ".join(name for name in (self.normalise, self.scale) if name != "none") or "none"

    def normalised(self, normalise: Normalise = "log1p", *, target_sum: float | None = None) -> Study:
        """Normalise counts, by the samples of this study alone, as scanpy does it.

        "log1p":  log(1 + x · T / total of the sample), with T the median of the samples' totals: the numbers of
        ``scanpy.pp.normalize_total`` followed by ``scanpy.pp.log1p``.

        Parameters
        ----------
        normalise : {"log1p", "none"}, default="log1p"
            How; "none" returns the study as it is.
        target_sum : float, default=None
            T, such as 1e4. By default the median of the totals, without samples that have no counts.

        Returns
        -------
        Study
            With `normalise` noted. A study is normalised only once, and before it is scaled.

        Notes
        -----
        Totals are over the features that the study has: normalise before features are selected or aligned, as
        ``Studies(..., normalise="log1p")`` does. With the median of each study, values of studies that were sequenced
        to different depths differ; a `target_sum` brings all of them to one.

        Examples
        --------
        >>> Study([[1, 3], [2, 6]], "lab").normalised().X.round(3).tolist()
        [[0.916, 1.705], [0.916, 1.705]]
        """
        check_choice(normalise, "normalise", NORMALISATIONS)
        if target_sum is not None:
            check_positive(target_sum, "target_sum")
        if normalise == "none":
            return self
        if self.scaling != "none":
            raise ParameterError(
                f"Study {self.name!r} is scaled by {self.scaling!r} already: normalise counts once, before scaling.",
                parameter="normalise",
            )
        wrong = ~(self.X >= 0)  # or missing; values that were centred or log-transformed often are
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise DataError(
                f"normalise needs counts, but study {self.name!r} has {self.X[i, j]:g} for sample {self.samples[i]!r}, "
                f"feature {self.features[j]!r}: take the raw counts, such as a layer of an h5ad file (rep='counts'), "
                "or leave normalise out."
            )
        target = median_total(self.X) if target_sum is None else target_sum
        return self._with(X=read_only(log_normalised(self.X, target)), normalise=normalise)

    def renamed(self, name: str) -> Study:
        """Return the same study under another name, on which its random draws depend.

        Parameters
        ----------
        name : str
            The new name.

        Returns
        -------
        Study

        Examples
        --------
        >>> Study([[1.0], [2.0]], "mainz").renamed("cohort A")
        Study 'cohort A': 2 samples, 1 feature
        """
        return self._with(name=check_name(name, "The name of a study"))

    def with_samples_of(self, others: Sequence[Study], name: str) -> Study:
        """Return a study of the samples of this one and of others with the same features, named "study/sample".

        Parameters
        ----------
        others : sequence of Study
            With the same features as this study.
        name : str
            The name of the pooled study.

        Returns
        -------
        Study
            Without labels, because classes of several studies need not mean the same.

        Examples
        --------
        >>> one, two = Study([[1.0], [2.0]], "one"), Study([[3.0], [4.0]], "two")
        >>> one.with_samples_of([two], "both").samples
        ('one/1', 'one/2', 'two/1', 'two/2')
        """
        studies = [self, *others]
        samples = [f"{study.name}/{sample}" for study in studies for sample in study.samples]
        return self._with(
            name=name,
            X=read_only(np.concatenate([study.X for study in studies])),
            samples=tuple(samples),
            labels=None,
            allows_missing=any(study.allows_missing for study in studies),
            groups={
                key: read_only(np.concatenate([study.groups[key] for study in studies]))
                for key in self.groups
                if all(key in study.groups for study in others)
            },
        )

    def with_groups(self, groups: Mapping[str, ArrayLike]) -> Study:
        """Return the same study with further units to which its samples belong, such as donors.

        Parameters
        ----------
        groups : mapping of str to array-like of shape (n_samples,)
            The unit of every sample, by the name of the kind of unit.

        Returns
        -------
        Study
            With these units beside those that it had.

        See Also
        --------
        clustrep.resampling.Bootstrap : Draws whole units with `groups="donor"`.

        Examples
        --------
        >>> study = Study([[1.0], [2.0], [4.0]], "mainz").with_groups({"donor": ["d1", "d1", "d2"]})
        >>> study.groups["donor"].tolist()
        ['d1', 'd1', 'd2']
        """
        return self._with(groups={**self.groups, **_checked_groups(groups, len(self), f"Study {self.name!r}")})

    def scaled_again(self) -> Study:
        """Scale a table that replaces the study's own: by itself where the study was.

        Returns
        -------
        Study

        Notes
        -----
        The other scalings are one shift and one factor for all studies: what resembles a scaled study has them already.
        """
        return self._with(scale="none").scaled("study") if self.scale == "study" else self

    def with_table(self, X: FloatArray) -> Study:
        """Return a study of as many samples with another table.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            The table, which is taken as it is.

        Returns
        -------
        Study
            With the names of its features, or, where their number differs, with features that are numbered.
        """
        if X.shape[1] == len(self.features):
            return self._with(X=X)
        return self._with(X=X, features=numbered(X.shape[1]), features_are_named=False)

    def _with_precision(self, dtype: np.dtype[Any]) -> Study:
        """Return the study in single or double precision."""
        return self if self.X.dtype == dtype else self._with(X=read_only(self.X.astype(dtype)))

    def _part(self, rows: IntArray, name: str) -> Study:
        """Return a study with some of the samples."""
        return self._with(
            name=name,
            X=read_only(self.X[rows]),
            samples=tuple(self.samples[i] for i in rows),
            labels=None if self.labels is None else read_only(self.labels[rows]),
            groups={key: read_only(values[rows]) for key, values in self.groups.items()},
        )


def _checked_groups(
    groups: Mapping[str, ArrayLike] | None, n_samples: int, subject: str
) -> dict[str, NDArray[np.str_]]:
    """Check units to which samples belong: one for every sample, none missing."""
    if groups is None:
        return {}
    if not isinstance(groups, Mapping):
        raise ParameterError(
            f"groups must map a name to one value for every sample, such as {{'donor': [...]}}; got {groups!r}.",
            parameter="groups",
        )
    checked = {}
    for key, values in groups.items():
        column = pd.Series(np.asarray(values, dtype=object).ravel())
        if len(column) != n_samples:
            raise DataError(
                f"{subject} has {plural(n_samples, 'sample')}, but {len(column)} values of {key!r}: pass one for "
                "every sample."
            )
        if column.isna().any():
            raise DataError(
                f"{subject} has {plural(int(column.isna().sum()), 'sample')} without {key!r}: give them one, or "
                "leave those samples out."
            )
        checked[str(key)] = read_only(column.astype(str).to_numpy(dtype=str))
    return checked


def check_complete(studies: Sequence[Study]) -> None:
    """Refuse studies with missing values, which nothing fills in."""
    lacking = [study for study in studies if study.has_missing]
    if lacking:
        count = sum(int(np.isnan(study.X).sum()) for study in lacking)
        names = listing([repr(study.name) for study in lacking], 3)
        raise DataError(
            f"There are {plural(count, 'missing value')} in {names}. Fill them in, or drop those samples or features"
            f"{IMPUTING}."
        )


def check_label_exists(studies: Sequence[Study | Table], label: Label, columns: Iterable[str]) -> None:
    """Check that at least one study has the label column; if not, list the columns that could be meant."""
    if label and all(study.labels is None for study in studies):
        columns = sorted(columns)
        choices = f"; there are {listing(columns, 10)}" if columns else ""
        raise DataError(f"No study has a column {label!r} to take labels from{choices}.{nearest(label, columns)}")


def advice_on_studies(table: pd.DataFrame, call: Callable[[str], str]) -> str:
    """Advise to name the column that tells the studies of a table apart; nothing where none has few values."""
    few = [str(name) for name, column in table.items() if 2 <= _n_values(column) <= min(MOST_STUDIES, len(table) // 2)]
    if not few:
        return ""
    likely = next(filter(STUDY_NAME.search, few), "COLUMN")
    return (
        f"If it holds several studies, name the column that tells them apart: {call(likely)} (columns with few "
        f"values: {listing(few, 10)})."
    )


def _n_values(column: pd.Series) -> int:
    try:
        return int(column.nunique())
    except TypeError:  # of lists
        return 0


def _probable_label(X: FloatArray, features: Sequence[str]) -> int | None:
    """Find a feature that is probably a class label: few small integers, named like one or last among real numbers."""
    for j, feature in enumerate(features):
        if LABEL_NAME.fullmatch(feature) and _has_few_small_integers(X[:, j]):
            return j
    if X.shape[1] < 2 or not _has_few_small_integers(X[:, -1]):
        return None
    others_are_real = np.any(X[:, :-1] != np.rint(X[:, :-1]), axis=0).all()
    return X.shape[1] - 1 if others_are_real and _are_numbered(X[:, -1]) else None


def _are_numbered(column: FloatArray) -> bool:
    """Whether whole numbers are from 0 or 1 without many gaps, as those of classes are, unlike ages."""
    return bool(column.min() <= 1 and column.max() <= 2 * len(np.unique(column)))


def _has_few_small_integers(column: FloatArray) -> bool:
    if not np.array_equal(column, np.rint(column)) or column.min() < -1 or column.max() > 1000:
        return False
    return 2 <= len(np.unique(column)) <= min(LABEL_VALUES_AT_MOST, len(column) // 2)
