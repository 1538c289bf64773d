"""Checks of what users pass: parameters, names, tables.

Each check either returns the value in the form that the rest of the package uses or raises an error whose sentence
names the parameter, study or file, states the rule, shows the value or its place, and the remedy.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from numbers import Integral, Number, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clustrep.errors import DataError, DataWarning, ParameterError, invalid, warn
from clustrep.text import Texts, listing, nearest, not_numeric, plural, texts_of
from clustrep.types import FloatArray, IntArray, Labels

# ---------------------------------------------------------------------------------------------------------------------
# parameters


def is_whole(value: object, *, at_least: int) -> bool:
    """Whether a value is an integer (not a bool) of at least this size."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= at_least


def check_integer(value: object, name: str, *, at_least: int = 1) -> int:
    """Check an integer of at least some size, such as a count.

    Parameters
    ----------
    value : object
        What the user passed.
    name : str
        The name of the parameter, for the sentence.
    at_least : int, default=1
        The smallest valid value.

    Returns
    -------
    int
        A Python integer, also for one of NumPy's.

    Examples
    --------
    >>> check_integer(np.int64(3), "n_resamples")
    3
    >>> check_integer(0, "n_resamples")
    Traceback (most recent call last):
    clustrep.errors.ParameterError: n_resamples must be a positive integer, got 0.
    """
    if not isinstance(value, Integral) or not is_whole(value, at_least=at_least):
        rule = "a positive integer" if at_least == 1 else f"an integer of at least {at_least}"
        raise invalid(name, rule, value)
    return int(value)


def check_fraction(value: object, name: str, *, one_allowed: bool = False) -> float:
    """Check a number between 0 and 1: above 0, and below 1 unless 1 is allowed.

    Parameters
    ----------
    value : object
        What the user passed.
    name : str
        The name of the parameter, for the sentence.
    one_allowed : bool, default=False
        Whether 1 is valid: a confidence level below 1, but a share of samples may be all of them.

    Returns
    -------
    float

    Examples
    --------
    >>> check_fraction(1, "fraction", one_allowed=True)
    1.0
    >>> check_fraction(1, "confidence_level")
    Traceback (most recent call last):
    clustrep.errors.ParameterError: confidence_level must be a number strictly between 0 and 1, got 1.
    """
    rule = "above 0 and at most 1" if one_allowed else "strictly between 0 and 1"
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else 0.0
    if not 0 < number <= 1 or (number == 1 and not one_allowed):
        raise invalid(name, f"a number {rule}", value)
    return number


def check_positive(value: object, name: str) -> float:
    """Check a number above 0."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < math.inf:
        raise invalid(name, "a number above 0", value)
    return float(value)


def check_flag(value: object, name: str) -> bool:
    """Check a bool."""
    if not isinstance(value, bool | np.bool_):
        raise invalid(name, "True or False", value)
    return bool(value)


def check_choice(value: object, name: str, choices: Collection[str], *, or_else: str = "") -> None:
    """Check that a value is one of a few names.

    Parameters
    ----------
    value : object
        What the user passed.
    name : str
        The name of the parameter, for the sentence.
    choices : collection of str
        The valid names; the sentence lists them, and the most similar one.
    or_else : str, default=""
        What else is valid, for the sentence.

    Examples
    --------
    >>> check_choice("arii", "agreement", ["ari", "ami"])
    Traceback (most recent call last):
    clustrep.errors.ParameterError: agreement must be one of 'ari', 'ami'; got 'arii'. Did you mean 'ari'?
    """
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices) + (f", or {or_else}" if or_else else "")
        raise ParameterError(f"{name} must be one of {listed}; got {value!r}.{nearest(value, choices)}", parameter=name)


def check_known(value: object, what: str, known: Iterable[object], *, parameter: str) -> None:
    """Check that a name is among those that exist; the sentence lists them, with the most similar one."""
    known = list(known)
    if value not in known:
        there = f"there are {listing(known, 20)}.{nearest(value, known)}"
        raise ParameterError(f"There is no {what} {value!r}; {there}", parameter=parameter)


def check_numbers_between(values: object, name: str, low: float, high: float) -> None:
    """Check a number, or each of several, that must be within bounds."""
    several = values if isinstance(values, list | tuple | np.ndarray) else [values]
    for value in several:
        if isinstance(value, bool) or not isinstance(value, Real) or not low <= float(value) <= high:
            raise invalid(name, f"a number from {low:g} to {high:g}, or several", value)


def check_names_differ(names: Sequence[str], what: str, *, parameter: str) -> None:
    """Check that no name occurs twice."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        sentence = f"Every {what} needs a different name, but {listing(map(repr, twice))} came twice."
        raise ParameterError(sentence, parameter=parameter)


def check_features(features: object, parameter: str = "features") -> tuple[str, ...]:
    """Check names of features: at least one, each once."""
    if isinstance(features, str) or not isinstance(features, Iterable) or not (names := tuple(features)):
        raise invalid(parameter, "a sequence of at least one feature name", features)
    if not all(isinstance(name, str) for name in names):
        raise invalid(parameter, "names", names)
    check_names_differ(names, "feature", parameter=parameter)
    return names


def check_n_clusters(n_clusters: object, *, at_least: int = 2) -> tuple[int, ...]:
    """Check the numbers of clusters to try.

    Parameters
    ----------
    n_clusters : object
        What the user passed: an integer, or several different ones.
    at_least : int, default=2
        The smallest valid number.

    Returns
    -------
    tuple of int

    Examples
    --------
    >>> check_n_clusters(range(2, 5)), check_n_clusters(3)
    ((2, 3, 4), (3,))
    """
    values = [n_clusters] if isinstance(n_clusters, Integral) else n_clusters
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise invalid("n_clusters", "an integer or several, such as range(2, 9)", n_clusters)
    checked = tuple(check_integer(k, "n_clusters", at_least=at_least) for k in values)
    if not checked:
        raise ParameterError(
            f"n_clusters must hold at least one number of clusters, got {n_clusters!r}.", parameter="n_clusters"
        )
    if len(set(checked)) < len(checked):
        raise ParameterError(f"n_clusters must hold every number once, got {list(checked)}.", parameter="n_clusters")
    return checked


# ---------------------------------------------------------------------------------------------------------------------
# names


def check_name(name: object, what: str) -> str:
    """Check the name of a study: text that is not blank."""
    if not isinstance(name, str) or not name.strip():
        raise DataError(f"{what} must be a text that is not empty, got {name!r}.")
    return name


def check_unique(names: Sequence[str], what: str, subject: str) -> None:
    """Check that no sample or feature of a study is named twice."""
    duplicates = [name for name, count in Counter(names).items() if count > 1]
    if duplicates:
        raise DataError(
            f"{subject} has {plural(len(duplicates), f'duplicate {what} name')}: {listing(map(repr, duplicates))}. "
            f"Every {what} needs a different name."
        )


def check_axis_names(names: object, what: str, length: int, subject: str) -> tuple[str, ...]:
    """Check the names of samples or features: as many as there are, each once, none missing."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise DataError(f"The names of {subject}'s {what}s must be a sequence of text, got {names!r}.")
    names = list(names)
    if len(names) != length:
        raise DataError(
            f"{subject} has {plural(length, what)} but {plural(len(names), f'{what} name')}: give every {what} a name."
        )
    blank = [
        i for i, name in enumerate(names) if (pd.api.types.is_scalar(name) and pd.isna(name)) or not str(name).strip()
    ]
    if blank:
        raise DataError(f"{subject} has {what}s without a name, the first at position {blank[0] + 1}: give it one.")
    checked = tuple(str(name) for name in names)
    check_unique(checked, what, subject)
    return checked


# ---------------------------------------------------------------------------------------------------------------------
# tables


def as_table(values: Any, subject: str) -> tuple[pd.DataFrame, bool, bool]:
    """Make a frame of any table, and return whether its columns and its rows had names.

    Parameters
    ----------
    values : array-like or DataFrame of shape (n_samples, n_features)
        What the user passed.
    subject : str
        What sentences call it: "Study 'mainz'".

    Returns
    -------
    frame : DataFrame of shape (n_samples, n_features)
        A copy of the names, not of the values. Names are text; without names, samples and features are numbered from 1.
    features_are_named, samples_are_named : bool
        A frame's default index 0, 1, 2, … is not taken as names.

    Examples
    --------
    >>> frame, features_are_named, samples_are_named = as_table([[1.0, 2.0], [3.0, 4.0]], "Study 'a'")
    >>> frame.index.tolist(), features_are_named, samples_are_named
    (['1', '2'], False, False)
    """
    values = as_frame(values)
    if isinstance(values, pd.DataFrame):
        frame = values.copy(deep=False)  # only its names are changed; `check_numbers` copies the values
        named_columns, named_rows = not is_default(frame.columns), not is_default(frame.index)
        if frame.shape[1] and named_columns:
            check_axis_names(frame.columns, "feature", frame.shape[1], subject)
        if frame.shape[0] and named_rows:
            check_axis_names(frame.index, "sample", frame.shape[0], subject)
    else:
        frame = pd.DataFrame(_as_matrix(values, subject))
        named_columns = named_rows = False
    columns = frame.columns if named_columns else range(1, frame.shape[1] + 1)
    frame.columns = pd.Index([str(name) for name in columns], dtype=object)
    rows = [str(name) for name in frame.index] if named_rows else numbered(frame.shape[0])
    frame.index = pd.Index(rows, dtype=object)
    return frame, named_columns, named_rows


def as_frame(values: Any) -> Any:
    """Take a table of AnnData, polars or pyarrow as a frame; anything else is returned as it is.

    The last two name no rows: a first column of texts that are all different does.
    """
    if hasattr(values, "obs_names") and hasattr(values, "to_df"):
        return values.to_df()
    if isinstance(values, pd.Series) or not hasattr(values, "to_pandas"):
        return values
    try:
        frame = values.to_pandas()
    except ImportError as error:  # polars needs pyarrow
        raise DataError(f"A table of {type(values).__module__.split('.')[0]} can't be converted: {error}.") from None
    first = frame.iloc[:, 0] if frame.ndim == 2 and frame.shape[1] else pd.Series(dtype=float)
    are_names = len(first) > 0 and not pd.api.types.is_numeric_dtype(first.dtype) and first.is_unique
    return frame.set_index(frame.columns[0]) if are_names and is_default(frame.index) else frame


@lru_cache(maxsize=2)
def numbered(n: int) -> tuple[str, ...]:
    """Name samples or features without names: the same strings for studies of the same size, 64 bytes a sample."""
    return tuple(str(number) for number in range(1, n + 1))


def is_default(index: Any) -> bool:
    """Whether an index is the one that pandas gives to rows or columns without names."""
    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1


def _as_matrix(values: Any, subject: str) -> NDArray[Any]:
    if hasattr(values, "toarray"):
        raise DataError(f"{subject} is a sparse matrix: pass a dense one, X.toarray().")
    if isinstance(values, np.ma.MaskedArray):
        values = np.where(np.ma.getmaskarray(values), np.nan, values.data.astype(float))
    try:
        array = np.asarray(values)
    except ValueError:
        raise DataError(
            f"{subject} has rows of different lengths: every sample needs a value of every feature."
        ) from None
    if array.ndim == 1 and array.size == 0:
        raise DataError(f"{subject} is empty: there is nothing to cluster.")
    if array.ndim == 1:
        raise DataError(
            f"{subject} is one-dimensional: a table of samples by features is needed; "
            "for a single feature pass X.reshape(-1, 1)."
        )
    if array.ndim != 2:
        got = f"an array of {array.shape}" if array.ndim else type(values).__name__
        got = f"{values!r}: read files with Studies.read(*paths)" if isinstance(values, str) else got
        raise DataError(f"{subject} must be a table of samples by features, got {got}.")
    return array


def check_points(values: Any, what: str, *, samples_at_least: int = 1) -> FloatArray:
    """Check a table of points: numbers only, none missing or infinite."""
    return check_table(as_table(values, what)[0], what, samples_at_least=samples_at_least)


def check_table(
    table: pd.DataFrame, what: str, *, samples_at_least: int = 1, allow_missing: bool = False
) -> FloatArray:
    """Check a table that `as_table` returned."""
    check_not_empty(table.shape, what, samples_at_least=samples_at_least)
    X = check_numbers(table, what)
    known = np.where(np.isnan(X), 0.0, X) if allow_missing else X
    check_finite(known, table.index, table.columns, what)
    return X


def check_label(label: object) -> None:
    """Check the parameter that names the label column."""
    if label is not None and label is not False and (not isinstance(label, str) or not label):
        raise invalid("label", "the name of a column", label)


def check_not_empty(shape: tuple[int, ...], subject: str, *, samples_at_least: int = 2) -> None:
    """Check that a table has features, and enough samples."""
    n_samples, n_features = shape
    if n_features == 0:
        raise DataError(f"{subject} has no features: there is nothing to cluster by.")
    if n_samples < samples_at_least:
        needed = f"at least {samples_at_least} {'is' if samples_at_least == 1 else 'are'} needed"
        raise DataError(f"{subject} has {plural(n_samples, 'sample')}: {needed}.")


# ---------------------------------------------------------------------------------------------------------------------
# numbers in tables

SMALLEST_RANGE = 1e-151  # squares of differences that are a thousand times smaller are still numbers

# Single precision is kept where no square, and no sum of squares, needs more.
SINGLE_PRECISION = (1e-15, 1e15)


def check_numbers(table: pd.DataFrame, subject: str, *, roles: Sequence[str] = ()) -> FloatArray:
    """Check that all columns hold numbers.

    Parameters
    ----------
    table : DataFrame of shape (n_samples, n_features)
        Of `as_table`.
    subject : str
        What sentences call it: "Study 'mainz'".
    roles : sequence of str, default=()
        What a column of text may be, "label" or "study_key"; the sentence then tells how to name it.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        In single precision if all columns are, else in double precision; missing values are NaN.
    """
    if set(table.dtypes) in ({np.dtype("f8")}, {np.dtype("f4")}):
        return np.array(table.to_numpy(), order="C")
    text_columns: dict[str, Texts] = {}
    columns = []
    for name, column in zip(table.columns, _columns(table), strict=True):
        numbers = _as_floats(column)
        if numbers is None:
            text_columns[name] = texts_of(column)
        else:
            columns.append(numbers)
    if text_columns:
        raise DataError(not_numeric(text_columns, list(table.index), subject, roles))
    if not columns:
        raise DataError(f"{subject} has no features: there is nothing to cluster by.")
    return np.ascontiguousarray(np.column_stack(columns))


def _columns(table: pd.DataFrame) -> Iterator[NDArray[Any]]:
    if len(set(table.dtypes)) == 1 and table.dtypes.iloc[0].kind in "iufbc":
        yield from table.to_numpy().T
        return
    for j in range(table.shape[1]):
        column = table.iloc[:, j]
        plain = pd.api.types.is_numeric_dtype(column.dtype) and not isinstance(column.dtype, np.dtype)
        yield column.to_numpy(dtype=float, na_value=np.nan) if plain else column.to_numpy()


def _as_floats(column: NDArray[Any]) -> FloatArray | None:
    if column.dtype == np.float32:
        return column
    if column.dtype.kind in "iufb":
        return column.astype(np.float64)
    if column.dtype.kind != "O" or any(isinstance(value, str | bytes | complex) for value in column):
        return None
    try:
        return np.array([np.nan if pd.isna(value) else float(value) for value in column])
    except (TypeError, ValueError):
        return None


# The functions and commands that fill in missing values themselves.
IMPUTING = (
    "; analyses of several studies fill them in inside every resample, by an imputer as the first step of the "
    "clusterer (make_pipeline(SimpleImputer(), ...); on the command line --impute median)"
)


# Samples that are checked at once: of all samples, a table of truth values has a quarter of the bytes of the data.
CHECKED_AT_ONCE = 2**14


def check_finite(X: FloatArray, samples: Iterable[str], features: Iterable[str], subject: str) -> None:
    """Check that no value is missing or infinite.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The values.
    samples, features : iterable of str
        Names of the rows and columns; the sentence shows the first three places.
    subject : str
        What sentences call the table: "Study 'mainz'".

    Examples
    --------
    >>> check_finite(np.array([[1.0, np.inf]]), ["m1"], ["a", "b"], "Study 'x'")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    clustrep.errors.DataError: Study 'x' has 1 infinite value in 1 sample and 1 feature, first at sample 'm1', ...
    """
    if all(np.isfinite(X[begin : begin + CHECKED_AT_ONCE]).all() for begin in range(0, len(X), CHECKED_AT_ONCE)):
        return
    bad = ~np.isfinite(X)
    samples, features = list(samples), list(features)
    n_missing = int(np.isnan(X).sum())
    n_infinite = int(bad.sum()) - n_missing
    kinds = [plural(n, f"{kind} value") for n, kind in ((n_missing, "missing"), (n_infinite, "infinite")) if n]
    places = [f"sample {samples[i]!r}, feature {features[j]!r}" for i, j in np.argwhere(bad)[:3]]
    n_rows, n_columns = int(bad.any(axis=1).sum()), int(bad.any(axis=0).sum())
    raise DataError(
        f"{subject} has {' and '.join(kinds)} in {plural(n_rows, 'sample')} and {plural(n_columns, 'feature')}, "
        f"first at {'; '.join(places)}. Fill them in, or drop those samples or features"
        f"{'' if n_infinite else IMPUTING}."
    )


def check_known_values(X: FloatArray, table: pd.DataFrame, subject: str) -> FloatArray:
    """Return a table in which a feature's smallest value stands for missing ones; refuse one without any value."""
    are_missing = np.isnan(X)
    empty = [str(table.columns[j]) for j in range(X.shape[1]) if are_missing[:, j].all()]
    if empty:
        them = "it" if len(empty) == 1 else "them"
        raise DataError(
            f"{subject} has {plural(len(empty), 'feature')} of which all values are missing: {listing(empty, 3)}. "
            f"Leave {them} out."
        )
    return np.where(are_missing, np.nanmin(X, axis=0), X)


def check_magnitudes(X: FloatArray, samples: Iterable[str], features: Iterable[str], subject: str) -> FloatArray:
    """Check that squares of values and of their differences are numbers, as distances require; return the values.

    Values in single precision are returned in double precision where they need it.
    """
    largest, value_range = max(float(X.max()), -float(X.min())), float((X.max(axis=0) / 2 - X.min(axis=0) / 2).max())
    limit = math.sqrt(np.finfo(float).max / X.size) / 4  # of all squared differences the sum is a number, too
    if largest > limit:
        bad = np.abs(X) > limit
        i, j = np.argwhere(bad)[0]
        sample, feature = list(samples)[i], list(features)[j]
        raise DataError(
            f"{subject} has {plural(int(bad.sum()), 'value')} beyond {limit:.1g}, first at sample {sample!r}, "
            f"feature {feature!r}: distances between these values can't be computed. Correct them, or choose "
            "another unit."
        )
    if 0 < value_range < SMALLEST_RANGE / 2:
        raise DataError(
            f"{subject} has features whose values differ by less than {SMALLEST_RANGE:g}: distances between these "
            "values can't be computed. Choose another unit."
        )
    if X.dtype == np.float32 and (value_range < SINGLE_PRECISION[0] or largest > SINGLE_PRECISION[1]):
        return X.astype(float)
    return X


# ---------------------------------------------------------------------------------------------------------------------
# arrays that can't be changed


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of the array that can't be written to.

    Notes
    -----
    A frozen dataclass does not freeze its arrays: a result whose numbers someone changes in place would no longer be
    that of its provenance.
    """
    view = array.view()
    view.flags.writeable = False
    return view


def check_refer(codes: NDArray[Any], n: int) -> None:
    """Check that codes are places of `n` clusters or −1, which a file that was put together by hand may break."""
    if codes.size and not -1 <= codes.min() <= codes.max() < n:
        raise ValueError(f"codes from {codes.min()} to {codes.max()} of {n} clusters")


def freeze(result: Any) -> None:
    """Make the arrays of a result read-only."""
    for name, value in vars(result).items():
        if isinstance(value, np.ndarray):
            object.__setattr__(result, name, read_only(value))


# ---------------------------------------------------------------------------------------------------------------------
# Checks of labelings and of the weights of points


def check_labels(
    labels: ArrayLike,
    name: str,
    *,
    length: int | None = None,
    same_as: str = "",
    samples: Sequence[str] | None = None,
) -> Labels:
    """Check a labelling.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Integers or text.
    name : str
        What sentences call it.
    length : int, default=None
        How many labels there must be; any number by default.
    same_as : str, default=""
        What has this length, for the sentence.
    samples : sequence of str, default=None
        Names of the samples, to say which one has no label.

    Returns
    -------
    ndarray of int or str, of shape (n_samples,)
        Whole numbers as integers, all else as text. No two labels become one.

    Examples
    --------
    >>> check_labels([1.0, 2.0, 2.0], "labels").tolist(), check_labels(["a", "b"], "labels").tolist()
    ([1, 2, 2], ['a', 'b'])
    >>> check_labels([1, None], "labels")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    clustrep.errors.DataError: labels have 1 missing label, the first at position 2: leave those points out, ...
    """
    if isinstance(labels, str | set | frozenset | Mapping) or not hasattr(labels, "__len__"):
        raise DataError(f"{name} must be a sequence of labels, one for every point; got {labels!r}.")
    array = _as_objects(labels)
    if array is None or array.ndim != 1:
        got = "sequences of different lengths" if array is None else f"an array of {array.shape}"
        raise DataError(f"{name} must be one-dimensional, one label for every point; got {got}.")
    is_plural = name.startswith(("labels", "the clusterer's labels"))
    if array.size == 0:
        raise DataError(f"{name} {'are' if is_plural else 'is'} empty: there must be at least one point.")
    if length is not None and len(array) != length:
        raise DataError(f"{name} must have one label for every point of {same_as}: {length}; got {len(array)}.")
    missing = np.flatnonzero(pd.isna(array))
    if missing.size:
        first, points = f"position {missing[0] + 1}", "points"
        if samples is not None:
            first, points = f"sample {samples[missing[0]]!r}", "samples"
        raise DataError(
            f"{name} {'have' if is_plural else 'has'} {plural(missing.size, 'missing label')}, the first at {first}: "
            f"leave those {points} out, or give them a label of their own."
        )
    return _as_integers_or_text(array, name)


def _as_integers_or_text(array: NDArray[Any], name: str) -> Labels:
    if array.dtype.kind == "O" and all(isinstance(value, Real) for value in array):
        array = np.array([float(value) if isinstance(value, float) else int(value) for value in array])
    if array.dtype.kind in "ib":
        return array.astype(np.int64)
    if array.dtype.kind in "uf":
        unusable = array[(array != np.rint(array)) | (np.abs(array.astype(float)) >= 2.0**63)]
        if unusable.size:
            raise DataError(
                f"{name} must hold whole numbers or text, got {unusable[0].item()!r}: labels are names, not "
                "measurements."
            )
        return array.astype(np.int64)
    values = array.tolist()
    texts = [value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value) for value in values]
    numbers = {text for value, text in zip(values, texts, strict=True) if isinstance(value, Number)}
    for value, text in zip(values, texts, strict=True):
        if isinstance(value, str | bytes) and text in numbers:
            raise DataError(
                f"{name} must hold numbers or text, got both {text} and {text!r}, which may be one label or two: write "
                "all of them alike."
            )
    return np.array(texts)


def check_labels_of(labels: Any, study: str, n_samples: int, samples: Sequence[str] | None) -> Labels:
    """Check the labels of a study; a Series whose index holds the samples' names is put in their order."""
    name = f"labels of study {study!r}"
    if isinstance(labels, pd.Series) and samples is None and set(labels.index) == set(range(n_samples)):
        labels = labels.sort_index()  # shuffled rows of a numbered table
    if isinstance(labels, pd.Series) and samples is not None and not is_default(labels.index):
        labels = labels.set_axis([str(sample) for sample in labels.index])
        unlabelled = [sample for sample in samples if sample not in labels.index]
        if unlabelled or len(labels) != n_samples:
            unknown = [sample for sample in labels.index if sample not in set(samples)]
            raise DataError(
                f"{name} must be named like its samples: {plural(len(unlabelled), 'sample')} without a label "
                f"({listing(unlabelled, 3) or 'none'}), {plural(len(unknown), 'label')} without a sample "
                f"({listing(unknown, 3) or 'none'})."
            )
        labels = labels.loc[list(samples)]
    return check_labels(labels, name, length=n_samples, same_as=f"study {study!r}", samples=samples)


UNKNOWN = "unknown"


def with_unknown(labels: Any, study: str) -> Any:
    """Call missing labels of a study "unknown", and warn, unless all are missing; others are returned as given."""
    array = _as_objects(labels)
    missing = pd.isna(array) if array is not None and array.ndim == 1 else np.zeros(0, dtype=bool)
    if array is None or not missing.any() or missing.all():
        return labels
    values = [int(value) if isinstance(value, float) and value.is_integer() else value for value in array.tolist()]
    known = [UNKNOWN if is_missing else value for value, is_missing in zip(values, missing, strict=True)]
    warn(
        f"Study {study!r} has {plural(int(missing.sum()), 'sample')} of {len(known):,} without a label: {UNKNOWN!r}.",
        DataWarning,
    )
    return pd.Series(known, index=labels.index, dtype=object) if isinstance(labels, pd.Series) else known


def _as_objects(values: Any) -> NDArray[Any] | None:
    """Make an array without letting NumPy change values, such as numbers among text to text; None if it is ragged."""
    if isinstance(values, np.ma.MaskedArray):
        unmasked = np.array(values.data, dtype=object)
        unmasked[np.ma.getmaskarray(values)] = None
        return unmasked
    if isinstance(values, np.ndarray) and values.dtype.kind in "iubfO":
        return values
    try:
        array = np.asarray(values)
    except ValueError:
        return None
    return array if array.dtype.kind in "iubf" else np.asarray(values, dtype=object)


def check_weights(weights: ArrayLike, *, length: int) -> IntArray:
    """Check the weights of points: whole numbers of at least 0, not all zero."""
    array = _as_objects(weights)
    if array is None or array.shape != (length,):
        got = "sequences of different lengths" if array is None else f"an array of {array.shape}"
        got = repr(weights) if array is not None and array.ndim == 0 else got
        raise DataError(f"weights must have one number for every point: {length}; got {got}.")
    for value in array.tolist():
        number = float(value) if isinstance(value, Real) else math.nan
        if not 0 <= number < 2**53 or not number.is_integer():
            negative = " that are not negative" if number < 0 else ""
            raise DataError(
                f"weights must be whole numbers{negative}, got {value!r}: they say how often a point counts."
            )
    if not array.any():
        raise DataError("weights are all zero: at least one point must count.")
    return array.astype(np.int64)
