"""Delimited text: any delimiter, with or without names.

A table that can be read in two ways is refused; the error says which parameter decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from clustrep.checks import check_unique
from clustrep.errors import DataError
from clustrep.sentences import argument
from clustrep.studies.readers.records import Records, read_records
from clustrep.studies.readers.source import AGAIN, Beginning, Text, read_text
from clustrep.studies.readers.table import (
    NAMES_SAMPLES,
    UNNAMED,
    Path,
    Reader,
    Request,
    Table,
    are_row_numbers,
    as_labels,
    check_no_measurements,
    check_sample_names,
    has_fraction,
    names_rows,
    number,
)
from clustrep.studies.study import Label
from clustrep.text import cut, from_spreadsheet, listing
from clustrep.types import FloatArray

COMMENT = re.compile(r"#(#|\s|$)")


class Grid(NamedTuple):
    """The cells of a file, (n_rows, n_columns), and the names beside them; None where it has none."""

    numbers: FloatArray  # NaN where a cell is missing or text
    texts: Mapping[tuple[int, int], str]  # the cells that are text, by row and column
    kept: Mapping[tuple[int, int], str]  # cells, numbers or not, whose text is needed
    row_names: list[str] | None
    column_names: list[str] | None

    def transposed(self) -> Grid:
        """Return the same cells with columns as rows."""
        texts, kept = ({(j, i): text for (i, j), text in cells.items()} for cells in (self.texts, self.kept))
        return Grid(self.numbers.T, texts, kept, self.column_names, self.row_names)


def may_be_text(beginning: Beginning) -> bool:
    """Take every file that no other reader recognises: what is not text is refused when it is read."""
    return True


def read_delimited(path: Path, study: str, request: Request) -> list[Table]:
    """Read a table: sample names as index, feature names as columns, the label column aside."""
    transpose = request.transposes(study)
    text = read_text(path)
    _check_no_comment(text, path)
    records = read_records(text, path, _cells_to_keep(request.label, transpose))
    del text
    if request.header is False:
        _check_no_header(records, path, study)
    header = _has_header(records, path) if request.header is None else request.header
    if header and records.n_records == 1:
        raise DataError(f"{path} has a header but no samples: {AGAIN}.")
    records.points.check(path, transpose=transpose)
    cells = _cells(records, study, request.aside, header=header, transpose=transpose)
    return [_table(cells.transposed() if transpose else cells, study, request.label)]


def _cells_to_keep(label: Label, transpose: bool) -> Callable[[int, Sequence[str]], set[int]]:
    """Say which cells of a record may be labels: the text of a label counts, also where it is a number.

    Whether the first line is a header and the first column holds names is known only when all is read, so a label may
    stand at either of two places.
    """
    numbered = {int(label) - 1, int(label)} if label and re.fullmatch(r"\d{1,9}", label) else set()
    places = set(numbered)

    def columns(row: int, cells: Sequence[str]) -> set[int]:
        if row == 0:
            named = {place for place, cell in enumerate(cells) if from_spreadsheet(cell) == label}
            places.update(named, {place + 1 for place in named})
        return {place for place in places if 0 <= place < len(cells)}

    def rows(row: int, cells: Sequence[str]) -> set[int]:
        return set(range(len(cells))) if row in numbered or from_spreadsheet(cells[0]) == label else set()

    if not label:
        return lambda row, cells: set()
    return rows if transpose else columns


def _cells(records: Records, study: str, aside: Sequence[object], *, header: bool, transpose: bool) -> Grid:
    """Separate the names of columns and rows from the values."""
    width = records.width
    columns = records.head[0] if header else [str(j) for j in range(1, width + 1)]
    if header and len(columns) == width - 1:
        columns = ["", *columns]  # as R writes row names: the header is one cell short
    columns = [from_spreadsheet(name) for name in columns]
    values = records.numbers[-(records.n_records - header) :]
    first = records.first[header:]
    may_be_names = len(columns) > 1 and columns[0] not in aside
    if not may_be_names or not names_rows(first, columns[0], header=header, transpose=transpose):
        texts = _behind(records.texts, header, 0)
        texts |= {(i, 0): cell for i, cell in enumerate(first) if number(cell) is None}
        return Grid(values, texts, _behind(records.kept, header, 0), None, columns if header else None)
    if header and not transpose:
        check_no_measurements(first, columns[0], study)
    are_numbers = header and columns[0] in UNNAMED and not transpose and are_row_numbers(first)
    if not are_numbers and not transpose:
        check_sample_names(first, study, columns[0] if header else "")
    return Grid(
        values[:, 1:],
        _behind(records.texts, header, 1),
        _behind(records.kept, header, 1),
        None if are_numbers else [from_spreadsheet(name) for name in first],
        columns[1:] if header else None,
    )


def _behind(cells: Mapping[tuple[int, int], str], header: bool, n_names: int) -> dict[tuple[int, int], str]:
    """Number cells from the first that is neither in the header nor among the names."""
    return {(i - header, j - n_names): text for (i, j), text in cells.items() if i >= header and j >= n_names}


def _table(cells: Grid, study: str, label: Label) -> Table:
    """Take cells, samples by features, as numbers, column by column; a column with anything else in it stays text."""
    values, samples, features = cells.numbers, cells.row_names, cells.column_names
    columns = features or [str(j) for j in range(1, values.shape[1] + 1)]
    labels, place = None, None
    if label and label in columns:
        check_unique([name for name in columns if name == label], "feature", f"Study {study!r}")
        place = columns.index(label)
        labels = as_labels([from_spreadsheet(cells.kept[i, place]) for i in range(len(values))])
        values = np.delete(values, place, axis=1)
        features = features and [name for name in features if name != label]
    frame = pd.DataFrame(values, index=samples)
    for j, column in _columns_with_text(cells, place).items():
        frame[j] = column
    frame.columns = pd.RangeIndex(values.shape[1]) if features is None else pd.Index(features, dtype=object)
    return Table(study, frame, labels)


def _columns_with_text(cells: Grid, label_place: int | None) -> dict[int, list[float | str]]:
    """Return the columns that hold text beside numbers, by their places without the label."""
    columns: dict[int, list[float | str]] = {}
    for (i, j), text in cells.texts.items():
        if j != label_place:
            place = j - (label_place is not None and j > label_place)
            columns.setdefault(place, cells.numbers[:, j].tolist())[i] = text
    return columns


def _check_no_comment(text: Text, path: Path) -> None:
    line, first = next((i, line.strip()) for i, line in enumerate(text.lines(), 1) if line.strip())
    if COMMENT.match(first):
        raise DataError(
            f"Line {line} of {path} begins with #: remove the line if it is a comment ({cut(first)}), or the # if "
            "it is the header."
        )


# ---------------------------------------------------------------------------------------------------------------------
# what the first line and the first column are


def _has_header(records: Records, path: Path) -> bool:
    """Whether the first line names the features; refuse to guess between names that are numbers and data."""
    first = records.head[0]
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
    if not texts:
        if len(set(first)) == len(first) > 1 and has_fraction(second):
            raise _ambiguous_header(path)
        return False
    if texts == [0] and len(first) > 1 and not NAMES_SAMPLES.fullmatch(first[0]):
        if has_fraction(second[1:]):
            return True
        raise _ambiguous_header(path)
    return True


def _ambiguous_header(path: Path) -> DataError:
    return DataError(
        f"The first line of {path} may be a header of numbers or a sample: use {argument('header', True)} if it names "
        f"the features, or {argument('header', False)} if it is data."
    )


def _check_no_header(records: Records, path: Path, study: str) -> None:
    """Refuse header=False if the first line has text wherever the next has numbers: it must be a header."""
    rows = records.head
    if len(rows) < 2:
        return
    numeric = [j for j, cell in enumerate(rows[1]) if number(cell) is not None]
    if len(rows[0]) < len(rows[1]) or (numeric and all(number(rows[0][j]) is None for j in numeric)):
        names = listing([rows[0][j] for j in numeric if j < len(rows[0])], 3)
        raise DataError(
            f"The first line of {path}, study {study!r}, names the features ({names}): leave "
            f"{argument('header', False)} out."
        )


DELIMITED = Reader(
    kind="delimited text",
    files="delimited text",
    sniff=may_be_text,
    read=read_delimited,
    takes=frozenset(["header"]),
)
