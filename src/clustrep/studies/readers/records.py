"""The records of delimited text, kept as numbers: as text, cells take many times the size of their file."""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from clustrep.errors import DataError
from clustrep.studies.readers.source import AGAIN, Text
from clustrep.studies.readers.table import MAY_NAME_SAMPLES, NAMES_SAMPLES, Path, number
from clustrep.text import plural
from clustrep.types import FloatArray

MARKS = ("\t", ";", ",")

FIRST_LETTERS = 2**22  # among which the delimiter is looked for

NAN = float("nan")


@dataclass(eq=False)
class Records:
    """The cells of a file: numbers, and as text only those that are none, the first of each record, and some asked for.

    A number is NaN where the cell is missing or text. All records have the same number of cells, except that the
    first may be one short: a header as R writes it, which then is not among `numbers`.
    """

    keep: Callable[[int, Sequence[str]], set[int]]  # of a record: the places of the cells whose text is to be kept
    head: list[list[str]] = field(default_factory=list)  # the first two records
    first: list[str] = field(default_factory=list)  # the first cell of every record
    texts: dict[tuple[int, int], str] = field(default_factory=dict)  # by record and place, without the first cells
    kept: dict[tuple[int, int], str] = field(default_factory=dict)
    points: Points = field(default_factory=lambda: Points())
    _values: array[float] = field(default_factory=lambda: array("d"))

    @property
    def n_records(self) -> int:
        """The number of records, a header included."""
        return len(self.first)

    @property
    def width(self) -> int:
        """The number of cells in a record; of the second where the first is shorter."""
        return len(self.head[-1])

    @property
    def numbers(self) -> FloatArray:
        """The numbers, (n_records, width), or one record less where the first is shorter."""
        return np.frombuffer(self._values).reshape(-1, self.width)

    def add(self, cells: list[str], watch_points: bool) -> None:
        """Add a record."""
        if self.n_records == 1 and len(cells) > len(self.head[0]):  # the header is short: no row of values
            self._values = array("d")
            self.texts.clear()
        row = self.n_records
        if row < 2:
            self.head.append(cells)
        self.first.append(cells[0])
        for place in self.keep(row, cells):
            self.kept[row, place] = cells[place]
        self._values.append(_number_or_nan(cells[0]))
        self._values.extend(self._numbers(row, cells))
        if watch_points:
            self.points.watch(cells)

    def _numbers(self, row: int, cells: Sequence[str]) -> array[float]:
        """Read the cells behind the first; note which are text."""
        try:
            numbers = array("d", map(float, cells[1:]))
            if "_" not in "".join(cells):  # 1_000 is a number only in Python
                return numbers
        except ValueError:
            pass
        numbers = array("d")
        for place, cell in enumerate(cells[1:], 1):
            value = number(cell)
            if value is None:
                self.texts[row, place] = cell
            numbers.append(NAN if value is None else value)
        return numbers


def _number_or_nan(cell: str) -> float:
    value = number(cell)
    return NAN if value is None else value


# ---------------------------------------------------------------------------------------------------------------------
# points that may separate thousands


class Points:
    """What the points in numbers may mean, in files that come from where the comma is the decimal mark."""

    MAY_BE_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")

    BELOW_THOUSAND = re.compile(r"[+-]?\d{1,3}")

    def __init__(self) -> None:
        self._are_decimal = False  # some number has a point, or none, as only decimal points have it
        self._thousands: dict[int, str] = {}  # by place: a number whose point may separate thousands
        self._whole: dict[int, str] = {}  # by place: a number below 1000 without a point
        self._in_one_record: tuple[str, str] | None = None

    def watch(self, cells: Sequence[str]) -> None:
        """Look at the numbers of a record."""
        thousands, whole = "", ""
        for place, cell in enumerate(cells[1:], 1):
            if self.MAY_BE_THOUSANDS.fullmatch(cell):
                self._thousands.setdefault(place, cell)
                thousands = thousands or cell
            elif self.BELOW_THOUSAND.fullmatch(cell):
                self._whole.setdefault(place, cell)
                whole = whole or cell
            elif (value := number(cell)) is not None and value == value:
                self._are_decimal = True
        if thousands and whole and self._in_one_record is None:
            self._in_one_record = thousands, whole

    def check(self, path: Path, *, transpose: bool) -> None:
        """Refuse a feature that holds numbers such as 1.698 beside numbers such as 893, and none that decides."""
        pairs = [(self._thousands[place], self._whole[place]) for place in self._thousands if place in self._whole]
        if transpose:
            pairs = [self._in_one_record] if self._in_one_record else []
        if pairs and not self._are_decimal:
            thousands, whole = pairs[0]
            raise DataError(
                f"{path} has semicolons between its cells, and {thousands!r} beside {whole!r}: the point may separate "
                f"thousands. Write {thousands.replace('.', '')} if it does, or {thousands}0 if it is a decimal point, "
                "in at least one cell."
            )


# ---------------------------------------------------------------------------------------------------------------------
# from text to records


def read_records(text: Text, path: Path, keep: Callable[[int, Sequence[str]], set[int]]) -> Records:
    """Split text into cells; blank lines are skipped, and all lines but a header must have the same number of cells."""
    delimiter = find_delimiter(text)
    records = Records(keep)
    reader = csv.reader(_lines(text, delimiter), delimiter=delimiter or " ", skipinitialspace=True, strict=True)
    limit = csv.field_size_limit(2**31 - 1)
    begin = 0  # of the record, in lines
    all_end_empty = rows_end_empty = True
    try:
        for record in reader:
            cells = [cell.strip() for cell in record]
            if any(cells):
                if records.n_records and len(cells) != records.width and not _follows_short_header(cells, records):
                    raise _length_error(cells, records, path, reader.line_num, delimiter)
                all_end_empty = all_end_empty and len(cells) > 1 and not cells[-1]
                rows_end_empty = rows_end_empty and (records.n_records == 0 or not cells[-1])
                records.add(cells, watch_points=delimiter == ";")
            begin = reader.line_num
    except csv.Error as error:
        raise _quotation_error(error, text, path, begin, reader.line_num) from None
    finally:
        csv.field_size_limit(limit)
    if not records.n_records:
        raise DataError(f"{path} is empty, except for delimiters: {AGAIN}.")
    if records.n_records > 1 and delimiter and all_end_empty:
        raise DataError(f"{path} has a delimiter at the end of every line: remove it.")
    if records.n_records > 1 and len(records.head[1]) > len(records.head[0]) and rows_end_empty:
        raise DataError(f"{path} has a delimiter at the end of every line from line 2 on: remove it.")
    return records


def _lines(text: Text, delimiter: str | None) -> Iterator[str]:
    """Return the lines; where white space separates cells, with one space for each."""
    if delimiter is not None:
        return text.lines()
    return (re.sub(r"[ \t]+", " ", line.rstrip("\n").strip(" \t")) + "\n" for line in text.lines())


def find_delimiter(text: Text) -> str | None:
    """Find the character that separates cells; None stands for white space."""
    lines: list[str] = []
    n_letters = 0
    for line in text.lines():
        if line.strip():
            lines.append(line[: FIRST_LETTERS - n_letters])
        n_letters += len(line)
        if len(lines) == 2 or n_letters >= FIRST_LETTERS:
            break
    first, second = [
        {mark: re.sub(r'"[^"]*"', "", line).count(mark) for mark in MARKS} for line in (lines[0], lines[-1])
    ]
    # As many in the second line as in the first, or one more behind a header without a cell for row names.
    regular = [mark for mark in first if first[mark] + second[mark] and second[mark] - first[mark] in (0, 1)]
    most = max(first, key=lambda mark: first[mark])
    return regular[0] if regular else most if first[most] else None


def _follows_short_header(cells: Sequence[str], records: Records) -> bool:
    """Whether the first line is a header as R writes it, without a cell above the row names."""
    if records.n_records > 1 or len(cells) != records.width + 1:
        return False
    first = records.first[0]
    names_samples = NAMES_SAMPLES.fullmatch(first) or MAY_NAME_SAMPLES.fullmatch(first)
    return not names_samples and not any(mark in first for mark in MARKS)


def _length_error(cells: Sequence[str], records: Records, path: Path, line: int, delimiter: str | None) -> DataError:
    first, before = records.head[0], "in its first line"
    if records.width != len(first):  # which is a header that R wrote
        first, before = [records.first[-1], *[""] * (records.width - 1)], "in the lines before"
    other = [mark for mark in MARKS if mark != delimiter and mark in (cells if len(cells) < len(first) else first)[0]]
    if first[0].startswith("#"):
        advice = "its first line begins with #: if that is a comment, remove it"
    elif cells[0].startswith("#"):
        advice = "if that is a comment, remove it"
    elif other:
        advice = f"use one delimiter throughout, {delimiter!r} or {other[0]!r}"
    elif len(cells) > len(first) and not cells[-1]:
        advice = "remove the delimiter at the end of that line"
    elif records.n_records > 1:
        advice = "correct that line"
    elif len(cells) > len(first) and delimiter == ",":
        advice = "correct one of them; numbers need decimal points, not commas"
    else:
        advice = "correct one of them"
    return DataError(f"{path} has {plural(len(first), 'cell')} {before} but {len(cells):,} in line {line}: {advice}.")


def _quotation_error(error: csv.Error, text: Text, path: Path, begin: int, end: int) -> DataError:
    """Say which quotation mark is wrong: the line that opens one which is never closed, or that has one in a cell."""
    if "expected after" in str(error):
        return DataError(
            f"{path} can't be read as a table: line {end} has a quotation mark inside a cell. Double it, or remove it."
        )
    opening = None
    for i, line in enumerate(islice(text.lines(), begin, end), begin + 1):
        for _ in range(line.count('"')):
            opening = i if opening is None else None
    if opening is not None:
        return DataError(
            f"{path} can't be read as a table: line {opening} opens a quotation mark that is never closed. Close it, "
            "or remove it."
        )
    return DataError(f"{path} can't be read as a table: line {end}: {error}. Correct that line.")
