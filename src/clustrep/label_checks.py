"""Checks of labelings and of the weights of points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Number, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clustrep.checks import is_default
from clustrep.errors import DataError
from clustrep.text import listing, plural
from clustrep.types import IntArray, Labels


def check_labels(
    labels: ArrayLike,
    name: str,
    *,
    length: int | None = None,
    same_as: str = "",
    samples: Sequence[str] | None = None,
) -> Labels:
    """Check a labelling: one label for every point, none missing; return it as integers or text."""
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
    _check_none_merge(values, texts, name)
    return np.array(texts)


def _check_none_merge(values: Sequence[object], texts: Sequence[str], name: str) -> None:
    """Check that no number becomes the same label as a text when both are written as text."""
    numbers = {text for value, text in zip(values, texts, strict=True) if isinstance(value, Number)}
    for value, text in zip(values, texts, strict=True):
        if isinstance(value, str | bytes) and text in numbers:
            raise DataError(
                f"{name} must hold numbers or text, got both {text} and {text!r}, which may be one label or two: write "
                "all of them alike."
            )


def check_labels_of(labels: Any, study: str, n_samples: int, samples: Sequence[str] | None) -> Labels:
    """Check the labels of a study; a Series whose index holds the samples' names is put in their order."""
    name = f"labels of study {study!r}"
    if isinstance(labels, pd.Series) and samples is None and sorted_is_range(labels.index, n_samples):
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


def sorted_is_range(index: pd.Index[Any], n: int) -> bool:
    """Whether an index holds the numbers 0, 1, …, n - 1 in any order."""
    return index.dtype.kind in "iu" and len(index) == n and bool((np.sort(index.to_numpy()) == np.arange(n)).all())


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
