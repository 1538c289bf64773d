"""Delimited text: any delimiter, with or without names.

A table that can be read in two ways is refused; the error says which parameter decides.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.checks import check_unique
from clustrep.errors import DataError
from clustrep.sentences import argument
from clustrep.studies.readers.source import AGAIN, Beginning, read_text
from clustrep.studies.readers.table import (
    MAY_NAME_SAMPLES,
    NAMES_SAMPLES,
    UNNAMED,
    Path,
    Reader,
    Request,
    Table,
    are_row_numbers,
    as_labels,
    as_numbers,
    check_sample_names,
    has_fraction,
    names_rows,
    number,
)
from clustrep.studies.study import Label
from clustrep.text import cut, listing, plural

MARKS = ("\t", ";", ",")

COMMENT = re.compile(r"#(#|\s|$)")


class Grid(NamedTuple):
    """The cells of a file, (n_rows, n_columns) of text, and the names beside them; None where it has none."""

    texts: NDArray[np.object_]
    row_names: list[str] | None
    column_names: list[str] | None

    def transposed(self) -> Grid:
        """Return the same cells with columns as rows."""
        return Grid(self.texts.T, self.column_names, self.row_names)


def may_be_text(beginning: Beginning) -> bool:
    """Take every file that no other reader recognises: what is not text is refused when it is read."""
    return True


def read_delimited(path: Path, study: str, request: Request) -> list[Table]:
    """Read a table: sample names as index, feature names as columns, the label column aside."""
    text = read_text(path)
    _check_no_comment(text, path)
    rows = _rows(text, path)
    if request.header is False:
        _check_no_header(rows, path, study)
    header = _has_header(rows, path) if request.header is None else request.header
    if header and len(rows) == 1:
        raise DataError(f"{path} has a header but no samples: {AGAIN}.")
    cells = _cells(rows, study, request.label, header=header, transpose=request.transposes(study))
    return [_table(cells.transposed() if request.transposes(study) else cells, study, request.label)]


def _cells(rows: list[list[str]], study: str, label: Label, *, header: bool, transpose: bool) -> Grid:
    """Separate the names of columns and rows from the values."""
    columns = rows[0] if header else [str(j) for j in range(1, len(rows[0]) + 1)]
    texts = np.array(rows[1:] if header else rows, dtype=object)
    if header and len(columns) == texts.shape[1] - 1:
        columns = ["", *columns]  # as R writes row names: the header is one cell short
    first = texts[:, 0].tolist()
    may_be_names = len(columns) > 1 and columns[0] != label
    if not may_be_names or not names_rows(first, columns[0], header=header, transpose=transpose):
        return Grid(texts, None, columns if header else None)
    are_numbers = header and columns[0] in UNNAMED and not transpose and are_row_numbers(first)
    if not are_numbers and not transpose:
        check_sample_names(first, study, columns[0] if header else "")
    return Grid(texts[:, 1:], None if are_numbers else first, columns[1:] if header else None)


def _table(cells: Grid, study: str, label: Label) -> Table:
    """Take cells, samples by features, as numbers, column by column; a column with anything else in it stays text."""
    texts, samples, features = cells
    columns = features or [str(j) for j in range(1, texts.shape[1] + 1)]
    labels = None
    if label and label in columns:
        check_unique([name for name in columns if name == label], "feature", f"Study {study!r}")
        place = columns.index(label)
        labels = as_labels(texts[:, place].tolist())
        texts = np.delete(texts, place, axis=1)
        features = features and [name for name in features if name != label]
    frame = pd.DataFrame({j: as_numbers(texts[:, j]) for j in range(texts.shape[1])}, index=samples)
    frame.columns = pd.RangeIndex(texts.shape[1]) if features is None else pd.Index(features, dtype=object)
    return Table(study, frame, labels)


# ---------------------------------------------------------------------------------------------------------------------
# records, columns


def _check_no_comment(text: str, path: Path) -> None:
    first = text.lstrip().partition("\n")[0]
    if COMMENT.match(first):
        line = text[: text.index("#")].count("\n") + 1
        raise DataError(
            f"Line {line} of {path} begins with #: remove the line if it is a comment ({cut(first)}), or the # if "
            "it is the header."
        )


def _rows(text: str, path: Path) -> list[list[str]]:
    """Split text into cells; blank lines are skipped, and all lines but a header must have the same number of cells."""
    delimiter = _delimiter(text)
    if delimiter is None:
        text = re.sub(r"[ \t]+", " ", re.sub(r"^[ \t]+|[ \t]+$", "", text, flags=re.MULTILINE))
    reader = csv.reader(io.StringIO(text), delimiter=delimiter or " ", skipinitialspace=True, strict=True)
    rows: list[list[str]] = []
    limit = csv.field_size_limit(2**31 - 1)
    begin = 0  # of the record, in lines
    try:
        for record in reader:
            cells = [cell.strip() for cell in record]
            if any(cells):
                if rows and len(cells) != len(rows[-1]) and not _follows_short_header(cells, rows):
                    raise _length_error(cells, rows, path, reader.line_num, delimiter)
                rows.append(cells)
            begin = reader.line_num
    except csv.Error as error:
        raise _quotation_error(error, text, path, begin, reader.line_num) from None
    finally:
        csv.field_size_limit(limit)
    if len(rows) > 1 and delimiter and all(len(row) > 1 and not row[-1] for row in rows):
        raise DataError(f"{path} has a delimiter at the end of every line: remove it.")
    if len(rows) > 1 and len(rows[1]) > len(rows[0]) and not any(row[-1] for row in rows[1:]):
        raise DataError(f"{path} has a delimiter at the end of every line from line 2 on: remove it.")
    return rows


def _follows_short_header(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first line is a header as R writes it, without a cell above the row names."""
    if len(rows) > 1 or len(cells) != len(rows[0]) + 1:
        return False
    first = rows[0][0]
    names_samples = NAMES_SAMPLES.fullmatch(first) or MAY_NAME_SAMPLES.fullmatch(first)
    return not names_samples and not any(mark in first for mark in MARKS)


def _length_error(
    cells: Sequence[str], rows: Sequence[Sequence[str]], path: Path, line: int, delimiter: str | None
) -> DataError:
    first, before = rows[0], "in its first line"
    if len(rows[-1]) != len(first):  # which is a header that R wrote
        first, before = rows[-1], "in the lines before"
    other = [mark for mark in MARKS if mark != delimiter and mark in (cells if len(cells) < len(first) else first)[0]]
    if first[0].startswith("#"):
        advice = "its first line begins with #: if that is a comment, remove it"
    elif cells[0].startswith("#"):
        advice = "if that is a comment, remove it"
    elif other:
        advice = f"use one delimiter throughout, {delimiter!r} or {other[0]!r}"
    elif len(cells) > len(first) and not cells[-1]:
        advice = "remove the delimiter at the end of that line"
    elif len(rows) > 1:
        advice = "correct that line"
    elif len(cells) > len(first) and delimiter == ",":
        advice = "correct one of them; numbers need decimal points, not commas"
    else:
        advice = "correct one of them"
    return DataError(f"{path} has {plural(len(first), 'cell')} {before} but {len(cells):,} in line {line}: {advice}.")


def _quotation_error(error: csv.Error, text: str, path: Path, begin: int, end: int) -> DataError:
    """Say which quotation mark is wrong: the line that opens one which is never closed, or that has one in a cell."""
    if "expected after" in str(error):
        return DataError(
            f"{path} can't be read as a table: line {end} has a quotation mark inside a cell. Double it, or remove it."
        )
    opening = None
    for i, line in enumerate(text.split("\n")[begin:end], begin + 1):
        for _ in range(line.count('"')):
            opening = i if opening is None else None
    if opening is not None:
        return DataError(
            f"{path} can't be read as a table: line {opening} opens a quotation mark that is never closed. Close it, "
            "or remove it."
        )
    return DataError(f"{path} can't be read as a table: line {end}: {error}. Correct that line.")


def _delimiter(text: str) -> str | None:
    """Find the character that separates cells; None stands for white space."""
    lines = [line for line in text[: 2**22].split("\n") if line.strip()][:2]
    first, second = [
        {mark: re.sub(r'"[^"]*"', "", line).count(mark) for mark in MARKS} for line in (lines[0], lines[-1])
    ]
    # As many in the second line as in the first, or one more behind a header without a cell for row names.
    regular = [mark for mark in first if first[mark] + second[mark] and second[mark] - first[mark] in (0, 1)]
    most = max(first, key=lambda mark: first[mark])
    return regular[0] if regular else most if first[most] else None


# ---------------------------------------------------------------------------------------------------------------------
# what the first line and the first column are


def _has_header(rows: Sequence[Sequence[str]], path: Path) -> bool:
    """Whether the first line names the features; refuse to guess between names that are numbers and data."""
    first = rows[0]
    texts = [j for j, cell in enumerate(first) if number(cell) is None]
    if len(rows) == 1:
        return len(texts) > 1 or (bool(texts) and len(first) == 1)
    second = rows[1]
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


def _check_no_header(rows: Sequence[Sequence[str]], path: Path, study: str) -> None:
    """Refuse header=False if the first line has text wherever the next has numbers: it must be a header."""
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
