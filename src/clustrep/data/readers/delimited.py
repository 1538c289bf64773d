"""Delimited text: any delimiter, with or without names.

A table that can be read in two ways is refused; the error names the parameter that decides.

Records are read twice, first for their shape and names, then for their numbers: as text, cells take many times the size
of their file. The csv module reads them, because pandas fills short rows with missing values without a word, and tells
no line (measured with pandas 2.3).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
import pandas as pd

from clustrep.checks import check_unique
from clustrep.data.readers.source import AGAIN, Text, read_text
from clustrep.data.readers.table import (
    MAY_NAME_SAMPLES,
    NAMES_SAMPLES,
    UNNAMED,
    Path,
    Reader,
    Request,
    Table,
    are_row_numbers,
    as_labels,
    by_study,
    check_no_measurements,
    check_sample_names,
    has_fraction,
    names_rows,
    number,
)
from clustrep.errors import DataError
from clustrep.text import NUMBER, argument, cut, from_spreadsheet, listing, plural
from clustrep.types import FloatArray

COMMENT = re.compile(r"#(#|\s|$)")

MARKS = ("\t", ";", ",")

FIRST_LETTERS = 2**22  # among which the delimiter is looked for

DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)

MAY_BE_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")

BELOW_THOUSAND = re.compile(r"[+-]?\d{1,3}")


def read_delimited(path: Path, study: str, request: Request) -> Iterable[Table]:
    """Read a table: sample names as index, feature names as columns, the label column aside."""
    text = read_text(path)
    line, first = next((i, line.strip()) for i, line in enumerate(text.lines(), 1) if line.strip())
    if COMMENT.match(first):
        raise DataError(
            f"Line {line} of {path} begins with #: remove the line if it is a comment ({cut(first)}), or the # if "
            "it is the header."
        )
    return by_study(table_of(Records(text.lines, path, find_delimiter(text)), study, request), request, str(path))


def table_of(records: Records, study: str, request: Request) -> Table:
    """Make a table of records: find its names, read its numbers, and set the label column aside."""
    transpose = request.transposes(study)
    if request.header is False:
        _check_no_header(records, study)
    header = _has_header(records) if request.header is None else request.header
    if header and records.n_records == 1:
        raise DataError(f"{records.path} has a header but no samples: {AGAIN}.")
    _check_number_signs(records.first[header:], records.path)
    if records.delimiter == ";":
        _check_points(records, transpose=transpose)
    rows, columns, n_before = _names(records, study, request.aside, header=header, transpose=transpose)
    rows, columns = (columns, rows) if transpose else (rows, columns)
    n_rows, n_columns = records.n_records - header, records.width - n_before
    features = columns or [str(j + 1) for j in range(n_rows if transpose else n_columns)]
    place = None
    if request.label and request.label in features:
        check_unique([name for name in features if name == request.label], "feature", f"Study {study!r}")
        place = features.index(request.label)
    values, texts, labels = read_values(records, n_before, place, header=header, transpose=transpose)
    frame = pd.DataFrame(values, index=rows)
    for j, cells in texts.items():
        frame[j] = [cells.get(i, value) for i, value in enumerate(values[:, j].tolist())]
    frame.columns = pd.RangeIndex(len(features)) if columns is None else pd.Index(columns, dtype=object)
    if place is None:
        return Table(study, frame, None)
    frame = frame.iloc[:, [j for j in range(len(features)) if j != place]]
    if columns is None:
        frame.columns = pd.RangeIndex(frame.shape[1])
    return Table(study, frame, as_labels([from_spreadsheet(cell) for cell in labels]))


def _names(
    records: Records, study: str, aside: Sequence[object], *, header: bool, transpose: bool
) -> tuple[list[str] | None, list[str] | None, int]:
    """Return the names of rows and columns, and 1 if the first column names the rows, else 0."""
    columns = records.head[0] if header else [str(j) for j in range(1, records.width + 1)]
    if header and len(columns) == records.width - 1:
        columns = ["", *columns]  # as R writes row names: the header is one cell short
    columns = [from_spreadsheet(name) for name in columns]
    first = records.first[header:]
    may_be_names = len(columns) > 1 and columns[0] not in aside
    if not may_be_names or not names_rows(first, columns[0], header=header, transpose=transpose):
        return None, columns if header else None, 0
    if header and not transpose:
        check_no_measurements(first, columns[0], study)
    are_numbers = header and columns[0] in UNNAMED and not transpose and are_row_numbers(first)
    if not are_numbers and not transpose:
        check_sample_names(first, study, columns[0] if header else "")
    rows = None if are_numbers else [from_spreadsheet(name) for name in first]
    return rows, columns[1:] if header else None, 1


def read_values(
    records: Records, n_before: int, place: int | None = None, *, header: bool, transpose: bool
) -> tuple[FloatArray, Mapping[int, Mapping[int, str]], list[str]]:
    """Read samples by features: numbers, NaN for the rest; texts by feature and sample; the labels at `place`."""
    values = np.empty((records.n_records - header, records.width - n_before))
    texts: dict[int, dict[int, str]] = {}
    labels: list[str] = []
    for i, record in enumerate(islice(records, int(header), None)):
        cells = record[n_before:]
        if place is not None and (not transpose or i == place):
            labels += cells if transpose else [cells[place]]
        try:
            if "_" in "".join(cells):
                raise ValueError  # 1_000 is a number only in Python
            values[i] = np.fromiter(map(float, cells), float, len(cells))
        except ValueError:
            for j, cell in enumerate(cells):
                value = number(cell)
                values[i, j] = np.nan if value is None else value
                if value is None:
                    feature, sample = (i, j) if transpose else (j, i)
                    texts.setdefault(feature, {})[sample] = cell
    return values.T if transpose else values, texts, labels


def _check_points(records: Records, *, transpose: bool) -> None:
    """Refuse a feature that holds numbers such as 1.698 beside numbers such as 893, and none that decides.

    Where semicolons separate cells, the comma may be the decimal mark, and the point may separate thousands.
    """
    thousands: dict[int, str] = {}  # by feature
    whole: dict[int, str] = {}
    for i, cells in enumerate(records):
        for j, cell in enumerate(cells[1:]):
            feature = i if transpose else j
            if MAY_BE_THOUSANDS.fullmatch(cell):
                thousands.setdefault(feature, cell)
            elif BELOW_THOUSAND.fullmatch(cell):
                whole.setdefault(feature, cell)
            elif (value := number(cell)) is not None and value == value:
                return  # its point, or none, is as only decimal points are
    feature = next((feature for feature in thousands if feature in whole), -1)
    if feature >= 0:
        cell = thousands[feature]
        raise DataError(
            f"{records.path} has semicolons between its cells, and {cell!r} beside {whole[feature]!r}: the point may "
            f"separate thousands. Write {cell.replace('.', '')} if it does, or {cell}0 if it is a decimal point, in at "
            "least one cell."
        )


def _check_number_signs(first: Sequence[str], path: Path) -> None:
    """Refuse a record that begins with #, as comments do, among others that do not."""
    marked = [cell for cell in first if cell.startswith("#")]
    if 0 < len(marked) < len(first):
        raise DataError(
            f"{path} has {plural(len(marked), 'line')} that begin{'s' * (len(marked) == 1)} with # among those of its "
            f"table ({listing(marked, 3)}): remove comments, or the # before data."
        )


# ---------------------------------------------------------------------------------------------------------------------
# what the first line is


def _has_header(records: Records) -> bool:
    """Whether the first line names the features; refuse to guess between names that are numbers and data."""
    first = records.head[0]
    if len(first) > 2 and first[0].strip() and not any(cell.strip() for cell in first[1:]) and number(first[0]) is None:
        raise DataError(
            f"{records.path} has a title in its first line ({first[0]!r}): remove all lines above the names of the "
            "features."
        )
    texts = [j for j, cell in enumerate(first) if number(cell) is None]
    if records.n_records == 1:
        return len(texts) > 1 or (bool(texts) and len(first) == 1)
    second = records.head[1]
    if len(first) == len(second) - 1:
        return True
    if has_fraction(first):
        return False
    if first[0] == "" and any(first[1:]):
        return True
    if not texts and not (len(set(first)) == len(first) > 1 and has_fraction(second)):
        return False
    may_be_sample = texts == [0] and len(first) > 1 and not NAMES_SAMPLES.fullmatch(first[0])
    if texts and not (may_be_sample and not has_fraction(second[1:])):
        return True
    raise DataError(
        f"The first line of {records.path} may be a header of numbers or a sample: use {argument('header', True)} if "
        f"it names the features, or {argument('header', False)} if it is data."
    )


def _check_no_header(records: Records, study: str) -> None:
    """Refuse header=False if the first line has text wherever the next has numbers: it must be a header."""
    rows = records.head
    if len(rows) < 2:
        return
    numeric = [j for j, cell in enumerate(rows[1]) if number(cell) is not None]
    if len(rows[0]) < len(rows[1]) or (numeric and all(number(rows[0][j]) is None for j in numeric)):
        names = listing([rows[0][j] for j in numeric if j < len(rows[0])], 3)
        raise DataError(
            f"The first line of {records.path}, study {study!r}, names the features ({names}): leave "
            f"{argument('header', False)} out."
        )


DELIMITED = Reader(
    kind="delimited text",
    files="delimited text",
    sniff=lambda beginning: True,  # other content is refused when it is read
    read=read_delimited,
    takes=frozenset(["header", "study_key"]),
)


# ---------------------------------------------------------------------------------------------------------------------
# from text to records


class Records:
    """The records of delimited text: lists of cells, without blank lines.

    All have the same number of cells, except that the first may be one short: a header as R writes it. Where commas do
    not separate cells and one of them is a decimal mark, in any cell, numbers are given points.
    """

    def __init__(self, lines: Callable[[], Iterator[str]], path: Path, delimiter: str | None, n_lines_before: int = 0):
        self.path, self.delimiter, self._lines, self._n_lines_before = path, delimiter, lines, n_lines_before
        self.head: list[list[str]] = []  # the first two records
        self.first: list[str] = []  # the first cell of every record
        self._comma = comma = ""  # a cell with a decimal comma, if there is one
        ends_empty = True  # of the records behind the first
        for cells in self:
            ends_empty = ends_empty and (not self.first or not cells[-1])
            self.head += [cells] if len(self.first) < 2 else []
            if self.first and not comma and delimiter != ",":
                comma = next(filter(has_decimal_comma, cells), "")
            self.first.append(cells[0])
        if not self.first:
            raise DataError(f"{path} is empty, except for delimiters: {AGAIN}.")
        is_short = len(self.head[0]) < self.width
        if self.n_records > 1 and self.delimiter and ends_empty and (is_short or not self.head[0][-1]):
            raise DataError(
                f"{path} has a delimiter at the end of every line{' from line 2 on' * is_short}: remove it."
            )
        if comma:
            self._comma = comma
            self.head, self.first = [*map(self._with_points, self.head)], self._with_points(self.first)

    @property
    def n_records(self) -> int:
        """The number of records, a header included."""
        return len(self.first)

    @property
    def width(self) -> int:
        """The number of cells in a record; of the second where the first is shorter."""
        return len(self.head[-1])

    def _with_points(self, cells: list[str]) -> list[str]:
        """Write numbers with decimal commas with points; what has a point already may be thousands."""
        for cell in cells:
            if "." in cell and NUMBER.fullmatch(cell):
                raise DataError(
                    f"{self.path} has decimal commas ({self._comma!r}) and points in numbers ({cell!r}), which may "
                    "separate thousands: write all numbers alike, and without separators of thousands."
                )
        return [cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell for cell in cells]

    def __iter__(self) -> Iterator[list[str]]:
        """Split the text into cells."""
        lines = self._lines()
        if self.delimiter is None:  # white space separates cells
            lines = (re.sub(r"[ \t]+", " ", line.rstrip("\n").strip(" \t")) + "\n" for line in lines)
        reader = csv.reader(lines, delimiter=self.delimiter or " ", skipinitialspace=True, strict=True)
        limit = csv.field_size_limit(2**31 - 1)
        first: list[str] = []
        n_records = width = line = 0
        try:
            for record in reader:
                joined = "\0".join(record)
                # Most records have no white space: found at once, it takes a third of the time of stripping each cell.
                cells = record if joined.split(None, 1) == [joined] else [cell.strip() for cell in record]
                line = reader.line_num + self._n_lines_before
                if not any(cells):
                    continue
                if n_records == 0:
                    width = len(cells)
                elif n_records == 1 and len(cells) == width + 1:  # perhaps a header as R writes it: nothing above names
                    names_samples = NAMES_SAMPLES.fullmatch(first[0]) or MAY_NAME_SAMPLES.fullmatch(first[0])
                    width += not names_samples and not any(mark in first[0] for mark in MARKS)
                if len(cells) != width:
                    before = "in its first line" if len(first) == width else "in the lines before"
                    if first[0].startswith("#") or cells[0].startswith("#"):
                        advice = "if the line that begins with # is a comment, remove it"
                    elif len(cells) > width and not cells[-1]:
                        advice = "remove the delimiter at the end of that line"
                    elif n_records > 1:
                        advice = "correct that line"
                    else:
                        advice = "use one delimiter throughout, and decimal points, not commas"
                    sizes = f"{plural(width, 'cell')} {before} but {len(cells):,} in line {line}"
                    raise DataError(f"{self.path} has {sizes}: {advice}.")
                first = first or cells
                n_records += 1
                yield self._with_points(cells) if self._comma else cells
        except csv.Error as error:
            if "expected after" in str(error):
                line = reader.line_num + self._n_lines_before
                problem = f"line {line} has a quotation mark inside a cell. Double it, or remove it"
            else:
                problem = f"line {line + 1} opens a quotation mark that is never closed. Close it, or remove it"
            raise DataError(f"{self.path} can't be read as a table: {problem}.") from None
        finally:
            csv.field_size_limit(limit)


def has_decimal_comma(cell: str) -> bool:
    """Whether the comma in a number can't separate thousands."""
    return "," in cell and bool(DECIMAL_COMMA.fullmatch(cell)) and not MAY_BE_THOUSANDS.fullmatch(cell)


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
