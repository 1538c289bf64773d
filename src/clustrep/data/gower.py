"""Gower's distance between samples with numbers and categories, as a table in which it is a Manhattan distance.

Gower's (1971) distance of two samples is the mean over columns of |x − y| / range for a number, and of 0 or 1 for equal
and different categories. Numbers divided by their range, and one column of 0 or ½ for every category, have exactly that
times p as their Manhattan distance: clusterers with `metric="manhattan"` cluster by it, at the speed of the kernels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from clustrep.checks import check_axis_names, check_finite, check_known
from clustrep.errors import DataError
from clustrep.types import FloatArray

# Two different categories differ in two columns.
HALF = 0.5


def gower_coded(tables: Mapping[str, Any], categorical: Sequence[str] = ()) -> dict[str, pd.DataFrame]:
    """Code the columns that all tables have, so that Manhattan distances are p times Gower's.

    A column is numeric where it holds numbers in all tables, and else categorical; flags are categories. Ranges and
    categories are those of all tables together. A missing number stays missing, and a missing category is half
    different from every category and equal to another missing one.

    Parameters
    ----------
    tables : mapping of name to frame or array
        Samples by columns.
    categorical : sequence of str, default=()
        Columns of numbers that are codes of categories.

    Returns
    -------
    dict of str to DataFrame
        With the columns "age" for numbers and "sex=f", "sex=m" for categories; indices are those of the tables.

    References
    ----------
    .. [1] Gower, J. C. (1971). A general coefficient of similarity and some of its properties. Biometrics 27(4),
       857-871.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [30, 50, 40], "sex": ["f", "m", "f"]})
    >>> gower_coded({"a": frame})["a"]
       age  sex=f  sex=m
    0  0.0    0.5    0.0
    1  1.0    0.0    0.5
    2  0.5    0.5    0.0
    """
    frames = {name: _framed(values, name) for name, values in tables.items()}
    first, *others = frames.values()
    shared = [column for column in first.columns if all(column in frame.columns for frame in others)]
    if not shared:
        raise DataError("The studies have no column in common: columns are matched by their names.")
    for column in categorical:
        check_known(column, "column of all studies", shared, parameter="categorical")
    coded: dict[str, FloatArray] = {}  # of all studies together, one after the other
    for column in shared:
        columns = {name: frame[column] for name, frame in frames.items()}
        are_numbers = column not in categorical and all(map(_is_numeric, columns.values()))
        further = _numbers(column, columns) if are_numbers else _categories(column, columns)
        if twice := coded.keys() & further.keys():
            raise DataError(
                f"Two columns are both coded as {min(twice)!r} for Gower's distance, one of them {column!r}: rename it."
            )
        coded |= further
    whole, ends = pd.DataFrame(coded), np.cumsum([len(frame) for frame in frames.values()])
    return {
        name: whole.iloc[end - len(frame) : end].set_axis(frame.index)
        for (name, frame), end in zip(frames.items(), ends, strict=True)
    }


def _framed(values: Any, name: str) -> pd.DataFrame:
    frame = values.copy(deep=False) if isinstance(values, pd.DataFrame) else pd.DataFrame(np.asarray(values))
    if isinstance(frame.columns, pd.RangeIndex):
        frame.columns = pd.Index(range(1, frame.shape[1] + 1))
    frame.columns = pd.Index(check_axis_names(frame.columns, "column", frame.shape[1], f"Study {name!r}"), dtype=object)
    return frame


def _is_numeric(column: pd.Series[Any]) -> bool:
    """Whether a column holds numbers, beside missing values."""
    if pd.api.types.is_bool_dtype(column.dtype):
        return False
    if pd.api.types.is_numeric_dtype(column.dtype):
        return True
    known = column.dropna()
    return column.dtype == object and all(
        isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in known
    )


def _numbers(column: str, columns: Mapping[str, pd.Series[Any]]) -> dict[str, FloatArray]:
    """Divide by the range of all tables together; a constant becomes 0."""
    tables = []
    for name, values in columns.items():
        numbers = values.to_numpy(dtype=float, na_value=np.nan)
        there = ~np.isnan(numbers)
        check_finite(numbers[there][:, None], map(str, values.index[there]), [column], f"Study {name!r}")
        tables.append(numbers)
    whole = np.concatenate(tables)
    low, high = (np.nanmin(whole), np.nanmax(whole)) if np.isfinite(whole).any() else (0.0, 0.0)
    return {column: (whole - low) / (high - low if high > low else 1.0)}


def _categories(column: str, columns: Mapping[str, pd.Series[Any]]) -> dict[str, FloatArray]:
    """Make a column of 0 and ½ for every category of any table, in the order of their names."""
    texts = [None if pd.isna(value) else _text(value) for values in columns.values() for value in values]
    levels = sorted({text for text in texts if text is not None})
    return {f"{column}={level}": HALF * np.array([text == level for text in texts], dtype=float) for level in levels}


def _text(value: Any) -> str:
    """Write a category; whole numbers without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
