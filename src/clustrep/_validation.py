"""Every input check and its sentence: which parameter, the rule, the value, and what to do next."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from clustrep._types import FloatArray, IntArray, Labels
from clustrep.errors import DataError, ParameterError

SHOWN = 5
LABEL_NAME = re.compile(
    r"(true|known|pred(icted)?)?[ _.-]*"
    r"(class(es)?|labels?|clusters?|groups?|sub[ _.-]?types?|types?|targets?|categor(y|ies)|diagnos[ie]s|y)"
    r"[ _.-]*(id|no|nr|number|\d)?",
    re.IGNORECASE,
)
LABEL_VALUES_AT_MOST = 50


# ---------------------------------------------------------------------------------------------------------------------
# words


def listing(items: Iterable[object], shown: int = SHOWN) -> str:
    """List a few of the items, and say how many more there are."""
    items = list(items)
    more = f" and {len(items) - shown} more" if len(items) > shown else ""
    return ", ".join(str(item) for item in items[:shown]) + more


def plural(count: int, noun: str) -> str:
    """Write a count with its noun: '1 study', '3 studies'."""
    if count != 1:
        noun = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {noun}"


def nearest(word: object, choices: Iterable[object]) -> str:
    """Return ' Did you mean …?' where a choice is close to the word."""
    close = difflib.get_close_matches(str(word), [str(choice) for choice in choices], n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


# ---------------------------------------------------------------------------------------------------------------------
# parameters


def check_positive_integer(value: object, name: str, *, at_least: int = 1) -> int:
    """Check a count."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        rule = "a positive integer" if at_least == 1 else f"an integer of at least {at_least}"
        raise ParameterError(f"{name} must be {rule}, got {value!r}.")
    return int(value)


def check_open_fraction(value: object, name: str, *, one_allowed: bool = False) -> float:
    """Check a number strictly between 0 and 1."""
    rule = "above 0 and at most 1" if one_allowed else "strictly between 0 and 1"
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else 0.0
    if not 0 < number <= 1 or (number == 1 and not one_allowed):
        raise ParameterError(f"{name} must be a number {rule}, got {value!r}.")
    return number


def check_flag(value: object, name: str) -> bool:
    """Check a yes or no."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def check_choice(value: object, name: str, choices: Collection[str], *, or_else: str = "") -> None:
    """Check that a value is one of a few names."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices) + (f", or {or_else}" if or_else else "")
        raise ParameterError(f"{name} must be one of {listed}; got {value!r}.{nearest(value, choices)}")


def check_known(value: object, what: str, known: Iterable[object]) -> None:
    """Check that a name is among those there are."""
    known = list(known)
    if value not in known:
        raise ParameterError(f"There is no {what} {value!r}; there are {listing(known, 20)}.{nearest(value, known)}")


def check_names_differ(names: Sequence[str], what: str) -> None:
    """Check that nothing is named twice."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ParameterError(f"Every {what} needs a name of its own, but {listing(map(repr, twice))} came twice.")


def check_n_clusters(n_clusters: object) -> tuple[int, ...]:
    """Check the numbers of clusters to try: one, or several."""
    values = [n_clusters] if isinstance(n_clusters, Integral) else n_clusters
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ParameterError(f"n_clusters must be an integer or several, such as range(2, 9); got {n_clusters!r}.")
    checked = tuple(check_positive_integer(k, "n_clusters", at_least=2) for k in values)
    if not checked:
        raise ParameterError(f"n_clusters must hold at least one number of clusters, got {n_clusters!r}.")
    if len(set(checked)) < len(checked):
        raise ParameterError(f"n_clusters must hold every number once, got {list(checked)}.")
    return checked


# ---------------------------------------------------------------------------------------------------------------------
# labelings


def check_labels(labels: ArrayLike, name: str, *, length: int | None = None, same_as: str = "") -> Labels:
    """Check one labelling: one label for every point, none missing; returned as integers or text."""
    if isinstance(labels, str) or not hasattr(labels, "__len__"):
        raise DataError(f"{name} must be a sequence of labels, one for every point; got {labels!r}.")
    array = np.asarray(labels)
    if array.ndim != 1:
        raise DataError(f"{name} must be one-dimensional, one label for every point; got an array of {array.shape}.")
    if array.size == 0:
        raise DataError(f"{name} is empty: there must be at least one point.")
    if length is not None and len(array) != length:
        raise DataError(f"{name} must have one label for every point of {same_as}: {length}; got {len(array)}.")
    missing = np.flatnonzero(pd.isna(array))
    if missing.size:
        raise DataError(
            f"{name} has {plural(missing.size, 'missing label')}, the first at position {missing[0]}: "
            "leave those points out, or give them a label of their own."
        )
    if array.dtype.kind in "iub":
        return array.astype(np.int64)
    if array.dtype.kind == "f":
        if not np.array_equal(array, np.rint(array)):
            odd = array[array != np.rint(array)][0]
            raise DataError(f"{name} must hold whole numbers or text, got {odd!r}: labels are names, not measurements.")
        return array.astype(np.int64)
    return array.astype(str)


def check_weights(weights: ArrayLike, *, length: int) -> IntArray:
    """Check the weights of points: whole numbers, not all zero."""
    array = np.asarray(weights)
    if array.shape != (length,):
        raise DataError(f"weights must have one number for every point: {length}; got an array of {array.shape}.")
    if array.dtype.kind not in "iufb" or not np.all(np.isfinite(array)) or np.any(array < 0):
        raise DataError("weights must be whole numbers that are not negative: they say how often a point counts.")
    if not np.array_equal(array, np.rint(array)):
        odd = array[array != np.rint(array)][0]
        raise DataError(f"weights must be whole numbers, got {odd!r}: they say how often a point counts.")
    if not array.any():
        raise DataError("weights are all zero: at least one point must count.")
    return array.astype(np.int64)


# ---------------------------------------------------------------------------------------------------------------------
# tables


def check_name(name: object, what: str) -> str:
    """Check the name of a study."""
    if not isinstance(name, str) or not name.strip():
        raise DataError(f"{what} must be a text that is not empty, got {name!r}.")
    return name


def check_matrix(values: Any, study: str, *, samples_at_least: int = 2) -> FloatArray:
    """Check that there is a table of samples by features, with something in it, that holds numbers."""
    if hasattr(values, "toarray"):
        raise DataError(f"Study {study!r} is a sparse matrix: pass a dense one, X.toarray().")
    array = np.asarray(values)
    if array.ndim == 1:
        raise DataError(
            f"Study {study!r} is one-dimensional: a table of samples by features is needed; "
            "for a single feature pass X.reshape(-1, 1)."
        )
    if array.ndim != 2:
        raise DataError(f"Study {study!r} must be a table of samples by features, got an array of {array.shape}.")
    check_not_empty(array.shape, study, samples_at_least=samples_at_least)
    if array.dtype.kind == "O":
        try:
            array = array.astype(float)
        except (TypeError, ValueError) as error:
            raise DataError(f"Study {study!r} holds values that are not numbers: {error}.") from None
    if array.dtype.kind not in "iufb":
        raise DataError(f"Study {study!r} must hold real numbers, got values of type {array.dtype}.")
    return array if array.dtype == np.float32 else array.astype(np.float64)


def check_not_empty(shape: tuple[int, ...], study: str, *, samples_at_least: int = 2) -> None:
    """Check that there is something to cluster."""
    n_samples, n_features = shape
    if n_features == 0:
        raise DataError(f"Study {study!r} has no features: there is nothing to cluster by.")
    if n_samples < samples_at_least:
        raise DataError(f"Study {study!r} has {plural(n_samples, 'sample')}: at least {samples_at_least} are needed.")


def check_finite(X: FloatArray, samples: Sequence[str], features: Sequence[str], study: str) -> None:
    """Check that no value is missing or infinite."""
    bad = ~np.isfinite(X)
    if not bad.any():
        return
    n_missing = int(np.isnan(X).sum())
    n_infinite = int(bad.sum()) - n_missing
    kinds = [plural(n, f"{kind} value") for n, kind in ((n_missing, "missing"), (n_infinite, "infinite")) if n]
    places = [f"sample {samples[i]!r}, feature {features[j]!r}" for i, j in np.argwhere(bad)[:3]]
    rows, columns = int(bad.any(axis=1).sum()), int(bad.any(axis=0).sum())
    raise DataError(
        f"Study {study!r} has {' and '.join(kinds)} in {plural(rows, 'sample')} and {plural(columns, 'feature')}, "
        f"first at {'; '.join(places)}. Fill them in, or drop those samples or features."
    )


def check_unique(names: Sequence[str], what: str, study: str) -> None:
    """Check that no sample or feature of a study is named twice."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(
            f"Study {study!r} has {plural(len(twice), f'duplicate {what} name')}: {listing(map(repr, twice))}. "
            f"Every {what} needs a name of its own."
        )


def check_axis_names(names: Iterable[object], what: str, length: int, study: str) -> tuple[str, ...]:
    """Check the names of samples or features: as many as there are, each once, none missing."""
    names = list(names)
    if len(names) != length:
        raise DataError(f"Study {study!r} has {plural(length, what)} but {plural(len(names), f'{what} name')}.")
    blank = [i for i, name in enumerate(names) if name is None or name != name or str(name).strip() == ""]
    if blank:
        raise DataError(f"Study {study!r} has {what}s without a name, the first at position {blank[0] + 1}.")
    checked = tuple(str(name) for name in names)
    check_unique(checked, what, study)
    return checked


def check_numeric_frame(frame: pd.DataFrame, study: str) -> None:
    """Check that every column of a frame holds numbers; say which do not, and what the likely remedy is."""
    bad = [
        column
        for column, dtype in zip(frame.columns, frame.dtypes, strict=True)
        if not (pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype))
    ]
    if not bad:
        return
    examples = []
    decimal_comma = False
    for column in bad[:3]:
        values = frame[column]
        text = values[pd.to_numeric(values, errors="coerce").isna() & values.notna()]
        first = text.iloc[0] if len(text) else values.iloc[0]
        decimal_comma |= bool(re.fullmatch(r"[+-]?\d+,\d+", str(first)))
        examples.append(f"{str(column)!r} (such as {str(first)!r})")
    advice = (
        "The numbers seem to have decimal commas: write them with points."
        if decimal_comma
        else 'Drop them, or pass label="column" if one of them is the samples\' known class.'
    )
    more = f" and {len(bad) - 3} more" if len(bad) > 3 else ""
    raise DataError(
        f"Study {study!r} has {plural(len(bad), 'column')} that {'is' if len(bad) == 1 else 'are'} not numeric: "
        f"{', '.join(examples)}{more}. {advice}"
    )


def probable_label(X: FloatArray, features: Sequence[str]) -> str | None:
    """Find a feature that is probably a class label: few small integers, named like one or last among real ones."""

    def few_small_integers(column: FloatArray) -> bool:
        if not np.array_equal(column, np.rint(column)) or column.min() < -1 or column.max() > 1000:
            return False
        return 2 <= len(np.unique(column)) <= min(LABEL_VALUES_AT_MOST, len(column) // 2)

    for j, feature in enumerate(features):
        if LABEL_NAME.fullmatch(feature) and few_small_integers(X[:, j]):
            return feature
    others_real = X.shape[1] > 1 and bool(np.all(np.any(X[:, :-1] != np.rint(X[:, :-1]), axis=0)))
    return features[-1] if others_real and few_small_integers(X[:, -1]) else None


def label_sentence(study: str, feature: str, X: FloatArray, features: Sequence[str]) -> str:
    """Say that a feature is probably a class label, and what to do about it."""
    values = np.unique(X[:, list(features).index(feature)]).astype(int)
    return (
        f"Feature {feature!r} of study {study!r} is probably a class label (values {listing(values)}), not data. "
        f"Pass label={feature!r} to keep it aside as the samples' known labels, or label=False if it is data."
    )


def check_same_features(features: Mapping[str, Sequence[str]], samples: Mapping[str, Sequence[str]]) -> None:
    """Check that the studies share features; if not, show what each has, and whether they lie the wrong way round."""
    sets = {name: set(names) for name, names in features.items()}
    if set.intersection(*sets.values()):
        return
    n_rows_shared = len(set.intersection(*(set(names) for names in samples.values())))
    hint = (
        f" But they share {plural(n_rows_shared, 'sample name')}: the tables are probably the wrong way round. "
        "Rows must be samples, columns features: pass transpose=True."
        if n_rows_shared
        else ""
    )
    lines = []
    for name, own in features.items():
        others = set().union(*(other for key, other in sets.items() if key != name))
        alone = [feature for feature in own if feature not in others]
        lines.append(f"  {name}: {plural(len(own), 'feature')}, {len(alone):,} in no other study: {listing(alone, 4)}")
    shown = lines[:10] + ([f"  and {len(lines) - 10} more studies"] if len(lines) > 10 else [])
    raise DataError("The studies have no feature in common." + hint + "\n" + "\n".join(shown))


def check_orientation(features: Mapping[str, Sequence[str]], samples: Mapping[str, Sequence[str]]) -> None:
    """Refuse a table whose rows, rather than its columns, share names with the other studies' columns."""
    for name in features:
        others = set().union(*(set(columns) for key, columns in features.items() if key != name))
        rows_shared = [sample for sample in samples[name] if sample in others]
        columns_shared = sum(feature in others for feature in features[name])
        if len(rows_shared) > columns_shared:
            raise DataError(
                f"Study {name!r} is probably the wrong way round: {plural(len(rows_shared), 'row')} of its "
                f"{len(samples[name]):,} are named like features of the other studies ({listing(rows_shared, 3)}), "
                f"but only {columns_shared} of its columns. Rows must be samples, columns features: "
                f"transpose it (frame.T, or transpose=[{name!r}] when reading files)."
            )
