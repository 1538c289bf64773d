"""Columns as numbers, and a sentence for the cells that are none: which, where, and how to write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep._types import FloatArray
from clustrep._words import cut, plural
from clustrep.errors import DataError

LARGEST = 1e150  # whose square is still a number, also summed over features
LOOKED_AT = 1000  # cells of a column, to tell how its numbers are written
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?|nan", re.IGNORECASE)
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
EITHER_COMMA = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
THOUSANDS = re.compile(r"[+-]?\d{1,3}([,. '’_]\d{3})+([.,]\d+)?")


def check_numbers(table: pd.DataFrame, subject: str, *, may_have_label: bool = False) -> FloatArray:
    """Check that every column holds numbers, and return them, in single precision where all of them are."""
    if set(table.dtypes) in ({np.dtype("f8")}, {np.dtype("f4")}):
        return np.array(table.to_numpy(), order="C")
    bad: dict[str, Texts] = {}
    columns = []
    for name, column in zip(table.columns, _columns(table), strict=True):
        numbers = _as_floats(column)
        if numbers is None:
            bad[name] = _texts(column)
        else:
            columns.append(numbers)
    if bad:
        raise DataError(_not_numeric(bad, list(table.index), subject, may_have_label))
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


class Texts(NamedTuple):
    """The cells of a column that are no numbers, by place; of numbers that are written as text, none."""

    cells: dict[int, str]
    are_few: bool
    example: str


def _texts(column: NDArray[Any]) -> Texts:
    values = column.tolist() if column.dtype.kind == "O" else [str(value) for value in column]
    there = {i: value for i, value in enumerate(values) if not (pd.api.types.is_scalar(value) and pd.isna(value))}
    cells = {i: str(value) for i, value in there.items() if not _is_number(value)}
    return Texts(cells, 0 < len(cells) < len(there) / 2, str(next(iter((cells or there).values()))))


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return NUMBER.fullmatch(value.strip()) is not None
    return isinstance(value, Number) and not isinstance(value, complex)


def _not_numeric(bad: Mapping[str, Texts], samples: Sequence[str], subject: str, may_have_label: bool) -> str:
    whole = {name: texts for name, texts in bad.items() if not texts.are_few}
    if not whole:
        places = [(text, samples[i], name) for name, texts in bad.items() for i, text in texts.cells.items()]
        return text_sentence(places, subject)
    examples = ", ".join(f"{name!r} (such as {cut(texts.example)!r})" for name, texts in list(whole.items())[:3])
    more = f" and {len(whole) - 3} more" if len(whole) > 3 else ""
    one = len(whole) == 1
    advice = _number_advice([text for texts in whole.values() for text in islice(texts.cells.values(), LOOKED_AT)])
    if not advice and any(not texts.cells for texts in whole.values()):
        advice = f"{'It holds' if one else 'They hold'} numbers as text: turn {'it' if one else 'them'} into numbers."
    if not advice:
        advice = f"Leave {'it' if one else 'them'} out"
        advice += (
            f", or pass label={next(iter(whole))!r} if that is the samples' known class." if may_have_label else "."
        )
    return (
        f"{subject} has {plural(len(whole), 'column')} that {'is' if one else 'are'} not numeric: "
        f"{examples}{more}. {advice}"
    )


def text_sentence(places: Sequence[tuple[str, str, str]], subject: str) -> str:
    """Say that a few cells, each with its sample and feature, hold no numbers."""
    shown = [f"{cut(text)!r} at sample {sample!r}, feature {feature!r}" for text, sample, feature in places[:3]]
    more = f" and {len(places) - 3:,} more" if len(places) > 3 else ""
    there = (
        "a number there, or drop that sample or feature"
        if len(places) == 1
        else ("numbers there, or drop those samples or features")
    )
    advice = _number_advice([text for text, _, _ in places]) or f"Write {there}."
    is_ = "is" if len(places) == 1 else "are"
    return f"{subject} has {plural(len(places), 'value')} that {is_} not numeric: {'; '.join(shown)}{more}. {advice}"


def _number_advice(texts: Sequence[str]) -> str:
    """Say what to do about numbers that are written in a way that is not read; nothing of other texts."""
    if any(DECIMAL_COMMA.fullmatch(text) and not EITHER_COMMA.fullmatch(text) for text in texts):
        return "The numbers seem to have decimal commas: write them with points."
    if any(EITHER_COMMA.fullmatch(text) for text in texts):
        return (
            "The comma may be a thousands separator or a decimal comma: write the number without it, or with a point."
        )
    if any(THOUSANDS.fullmatch(text) for text in texts):
        return "The numbers seem to have thousands separators: write them without, and with decimal points."
    return ""


def check_finite(X: FloatArray, samples: Iterable[str], features: Iterable[str], subject: str) -> None:
    """Check that no value is missing or infinite."""
    bad = ~np.isfinite(X)
    if not bad.any():
        return
    samples, features = list(samples), list(features)
    n_missing = int(np.isnan(X).sum())
    n_infinite = int(bad.sum()) - n_missing
    kinds = [plural(n, f"{kind} value") for n, kind in ((n_missing, "missing"), (n_infinite, "infinite")) if n]
    places = [f"sample {samples[i]!r}, feature {features[j]!r}" for i, j in np.argwhere(bad)[:3]]
    rows, columns = int(bad.any(axis=1).sum()), int(bad.any(axis=0).sum())
    raise DataError(
        f"{subject} has {' and '.join(kinds)} in {plural(rows, 'sample')} and {plural(columns, 'feature')}, "
        f"first at {'; '.join(places)}. Fill them in, or drop those samples or features."
    )


def check_squares(X: FloatArray, samples: Sequence[str], features: Sequence[str], subject: str) -> None:
    """Check that distances can be computed: that no value is too large to be squared."""
    if X.size == 0 or max(float(X.max()), -float(X.min())) <= LARGEST:
        return
    bad = np.abs(X) > LARGEST
    i, j = np.argwhere(bad)[0]
    raise DataError(
        f"{subject} has {plural(int(bad.sum()), 'value')} beyond {LARGEST:g}, first at sample {samples[i]!r}, feature "
        f"{features[j]!r}: distances between such values can't be computed. Correct them, or choose another unit."
    )
