"""Sentences about the cells of a table that are not numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from numbers import Number
from typing import Any, NamedTuple

import pandas as pd
from numpy.typing import NDArray

from clustrep.sentences import argument, wording
from clustrep.text import cut, plural

N_CELLS_EXAMINED = 1000  # of a column, to find out how its numbers are written

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?|nan", re.IGNORECASE)

DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")

EITHER_COMMA = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")

THOUSANDS = re.compile(r"[+-]?\d{1,3}([,. '’_]\d{3})+([.,]\d+)?")


class Texts(NamedTuple):
    """What a column holds besides numbers."""

    cells: dict[int, str]  # by row; none of those that are numbers written as text
    are_few: bool  # less than half of the column
    example: str


def texts_of(column: NDArray[Any]) -> Texts:
    """Collect the cells of a column that are not numbers."""
    values = column.tolist() if column.dtype.kind == "O" else [str(value) for value in column]
    present = {i: value for i, value in enumerate(values) if not (pd.api.types.is_scalar(value) and pd.isna(value))}
    cells = {i: str(value) for i, value in present.items() if not _is_number(value)}
    return Texts(cells, 0 < len(cells) < len(present) / 2, str(next(iter((cells or present).values()))))


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return NUMBER.fullmatch(value.strip()) is not None
    return isinstance(value, Number) and not isinstance(value, complex)


def not_numeric(columns: Mapping[str, Texts], samples: Sequence[str], subject: str, may_have_label: bool) -> str:
    """Say which columns, or where these are few, which cells, are not numbers."""
    whole = {name: texts for name, texts in columns.items() if not texts.are_few}
    if not whole:
        places = [(text, samples[i], name) for name, texts in columns.items() for i, text in texts.cells.items()]
        return text_sentence(places, subject)
    examples = ", ".join(f"{name!r} (such as {cut(texts.example)!r})" for name, texts in list(whole.items())[:3])
    more = f" and {len(whole) - 3} more" if len(whole) > 3 else ""
    are = "is" if len(whole) == 1 else "are"
    advice = _column_advice(whole, may_have_label)
    return f"{subject} has {plural(len(whole), 'column')} that {are} not numeric: {examples}{more}. {advice}"


def _column_advice(columns: Mapping[str, Texts], may_have_label: bool) -> str:
    they, them, hold = ("It", "it", "holds") if len(columns) == 1 else ("They", "them", "hold")
    examined = [text for texts in columns.values() for text in islice(texts.cells.values(), N_CELLS_EXAMINED)]
    if advice := _number_advice(examined):
        return advice
    if any(not texts.cells for texts in columns.values()):
        return f"{they} {hold} numbers as text: turn {them} into numbers."
    if not may_have_label:
        return f"Leave {them} out."
    by_gower = wording(python="`Studies(..., gower=True)` takes", command_line="`clustrep run` and `local` take")
    with_option = wording(command_line=" with --gower")
    return (
        f"Leave {them} out, or use {argument('label', next(iter(columns)))} if that is the samples' known class. "
        f"{by_gower} categories{with_option}, for Gower's distance."
    )


def text_sentence(places: Sequence[tuple[str, str, str]], subject: str) -> str:
    """Say that a few cells, each given with its sample and feature, are not numbers."""
    shown = [f"{cut(text)!r} at sample {sample!r}, feature {feature!r}" for text, sample, feature in places[:3]]
    more = f" and {len(places) - 3:,} more" if len(places) > 3 else ""
    are, remedy = "are", "Write numbers there, or drop those samples or features."
    if len(places) == 1:
        are, remedy = "is", "Write a number there, or drop that sample or feature."
    advice = _number_advice([text for text, _, _ in places]) or remedy
    return f"{subject} has {plural(len(places), 'value')} that {are} not numeric: {'; '.join(shown)}{more}. {advice}"


def _number_advice(texts: Sequence[str]) -> str:
    """Say what to do about numbers with decimal commas or thousands separators; return "" for other texts."""
    if any(DECIMAL_COMMA.fullmatch(text) and not EITHER_COMMA.fullmatch(text) for text in texts):
        return "The numbers seem to have decimal commas: write them with points."
    if any(EITHER_COMMA.fullmatch(text) for text in texts):
        return (
            "The comma may be a thousands separator or a decimal comma: write the number without it, or with a point."
        )
    if any(THOUSANDS.fullmatch(text) for text in texts):
        return "The numbers seem to have thousands separators: write them without, and with decimal points."
    return ""
