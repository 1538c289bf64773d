"""Reading a table from a file as people have it. One that can be read in two ways is refused, with the choice."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.checks import check_names_differ, check_unique
from clustrep.errors import DataError
from clustrep.sentences import argument
from clustrep.text import cut, listing, plural
from clustrep.types import Labels

# Names of a first column that holds the samples' names; the second kind only where it holds no fractions.
NAMES_SAMPLES = re.compile(
    r"|unnamed: 0|index|row[ _.-]?names?|samples?|(\w+[ _.-])?(sample|patient|subject|cell|case|donor|array)?s?[ _.-]?"
    r"(id|name|barcode|accession)s?",
    re.IGNORECASE,
)

MAY_NAME_SAMPLES = re.compile(r"(patient|subject|cell|case|donor|array|tumou?r)s?", re.IGNORECASE)

MISSING = frozenset(["", "na", "n/a", "#n/a", "nan", "null", "none", "?", ".", "-"])

MISSING_LABEL = frozenset(["", "na", "n/a", "#n/a", "nan"])

UNNAMED = ("", "Unnamed: 0")  # as row numbers are written by default, and by pandas when it has read them as data

OTHER_FORMATS = {b"PK\x03\x04": "an Excel or zip file", b"\xd0\xcf\x11\xe0": "an Excel file"}

PARQUET = b"PAR1"

HDF5 = b"\x89HDF"

AGAIN = "save or download it again"

MARKS = ("\t", ";", ",")
# How other things begin that are often saved in place of a table.
WEB_PAGE = re.compile(r"\s*(<!doctype html|<html)", re.IGNORECASE)

LFS_POINTER = re.compile(r"version https://git-lfs")

COMMENT = re.compile(r"#(#|\s|$)")


class Table(NamedTuple):
    """One study as a file holds it: names that it does not have are a `RangeIndex`."""

    name: str
    frame: pd.DataFrame
    labels: Labels | None
    annotations: tuple[str, ...] | None = None  # what can be the label, where that is never a feature


def study_names(paths: Sequence[str | PathLike[str]]) -> list[str]:
    """Name each study after its file; where two would have the same name, by ever more of the path."""
    files = [Path(path) for path in paths]
    for file in files:
        if any("\ud800" <= letter <= "\udfff" for letter in str(file)):
            raise DataError(f"The name of the file {file} is no text in this system's encoding: rename it.")
    stems = [file.name.removesuffix(".gz").rsplit(".", 1)[0] or file.name for file in files]
    for file, stem in zip(files, stems, strict=True):
        if not stem.strip():
            raise DataError(f"The file {str(file)!r} has no name that its study could have: rename it.")
    longer = [
        [f"{file.parent.name}/{stem}" for file, stem in zip(files, stems, strict=True)],
        [file.name for file in files],
        [file.as_posix() for file in files],
    ]
    names = stems
    for other in longer:
        names = [other[i] if names.count(name) > 1 else name for i, name in enumerate(names)]
    check_names_differ(names, "file", parameter="paths")
    return names


def beginning(path: str | PathLike[str]) -> bytes:
    """Return the first bytes of a file, which tell its format."""
    file = Path(path)
    if file.is_dir():
        raise DataError(f"{path} is a folder: name the files in it.")
    if not file.exists():
        if not file.parent.is_dir():
            raise DataError(f"There is no file {path}: there is no folder {file.parent}. Check the path.")
        siblings = sorted(entry.name for entry in file.parent.iterdir())
        folder = "This folder" if file.parent == Path() else file.parent
        there = f" {folder} holds {listing(siblings)}." if siblings else ""
        raise DataError(f"There is no file {path}.{there}")
    if not file.is_file():
        raise DataError(f"{path} is a pipe or device, which is read only once: write it to a file first.")
    try:
        with file.open("rb") as stream:
            return stream.read(8)
    except OSError as error:
        raise _unreadable(path, error) from None


def read_text(path: str | PathLike[str]) -> str:
    """Return the text of a file, gzipped or not, with plain line ends."""
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None
    for magic, kind in OTHER_FORMATS.items():
        if raw.startswith(magic):
            raise DataError(f"{path} is {kind}, not delimited text: save the table as CSV.")
    if raw.startswith(b"\x1f\x8b"):
        try:
            raw = gzip.decompress(raw)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(
                f"{path} is a damaged gzip file: {str(error).rstrip('.')}. Save or download it again."
            ) from None
        if raw.startswith((*OTHER_FORMATS, PARQUET, HDF5)):
            raise DataError(f"{path} is a gzip file with something other than text in it: unpack it first.")
    encoding, its_name = ("utf-16", "UTF-16") if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "UTF-8")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not text in {its_name} (byte {error.start:,}): save it again with that encoding."
        ) from None
    if text.count("\0") > len(text) / 3:
        raise DataError(f"{path} holds zero bytes: it is probably text in UTF-16. Save it again as UTF-8.")
    if "\0" in text:
        raise DataError(f"{path} holds zero bytes: it is not delimited text. Save the table as CSV.")
    lines = re.sub(r"\r\n?", "\n", text)
    if not lines.strip():
        raise DataError(f"{path} is empty: {AGAIN}.")
    if WEB_PAGE.match(lines):
        raise DataError(f"{path} is a web page (HTML), not a table: download the table itself.")
    if LFS_POINTER.match(lines):
        raise DataError(f"{path} is only a pointer of Git LFS to a table: fetch the table with git lfs pull.")
    return lines


def _unreadable(path: str | PathLike[str], error: OSError) -> DataError:
    return DataError(f"{path} can't be read: {error.strerror}.")


def read_table(
    text: str,
    path: str | PathLike[str],
    study: str,
    *,
    label: str | Literal[False] | None,
    transpose: bool,
    header: bool | None,
) -> Table:
    """Take delimited text as a table: sample names as index, feature names as columns, the label column aside."""
    _check_no_comment(text, path)
    rows = _rows(text, path)
    if header is False:
        _check_no_header(rows, path, study)
    if header is None:
        header = _has_header(rows, path)
    columns = rows.pop(0) if header else [str(j) for j in range(1, len(rows[0]) + 1)]
    if not rows:
        raise DataError(f"{path} has a header but no samples: {AGAIN}.")
    if header and len(columns) == len(rows[0]) - 1:
        columns.insert(0, "")  # as R writes row names: the header is one cell short
    cells = np.array(rows, dtype=object)  # (n_rows, n_columns) of text
    names, first = None, ""
    if len(columns) > 1 and columns[0] != label and is_names(cells[:, 0].tolist(), columns[0], header, transpose):
        if not (header and columns[0] in UNNAMED and not transpose and are_row_numbers(cells[:, 0].tolist())):
            names = cells[:, 0].tolist()
        first, cells, columns = columns[0] if header else "", cells[:, 1:], columns[1:]
    column_names = columns if header else None
    if names is not None and not transpose:
        check_sample_names(names, study, first)
    if transpose:
        cells, names, column_names = cells.T, column_names, names
    known = column_names or [str(j) for j in range(1, cells.shape[1] + 1)]
    labels = None
    if label and label in known:
        place = known.index(label)
        check_unique([name for name in known if name == label], "feature", f"Study {study!r}")
        labels = as_labels(cells[:, place].tolist())
        cells = np.delete(cells, place, axis=1)
        column_names = column_names and [name for name in column_names if name != label]
    return Table(study, _as_frame(cells, names, column_names), labels)


# ---------------------------------------------------------------------------------------------------------------------
# records, columns


def _check_no_comment(text: str, path: str | PathLike[str]) -> None:
    first = text.lstrip().partition("\n")[0]
    if COMMENT.match(first):
        line = text[: text.index("#")].count("\n") + 1
        raise DataError(
            f"Line {line} of {path} begins with #: take it away if it is a comment ({cut(first)}), or the # if it is "
            "the header."
        )


def _rows(text: str, path: str | PathLike[str]) -> list[list[str]]:
    """Split text into cells; blank lines are left out, and all lines but a header must have as many cells."""
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
                if rows and len(cells) != len(rows[-1]) and not _is_behind_short_header(cells, rows):
                    raise _other_length(cells, rows, path, reader.line_num, delimiter)
                rows.append(cells)
            begin = reader.line_num
    except csv.Error as error:
        raise _not_separable(error, text, path, begin, reader.line_num) from None
    finally:
        csv.field_size_limit(limit)
    if len(rows) > 1 and delimiter and all(len(row) > 1 and not row[-1] for row in rows):
        raise DataError(f"{path} has a delimiter at the end of every line: take it away.")
    if len(rows) > 1 and len(rows[1]) > len(rows[0]) and not any(row[-1] for row in rows[1:]):
        raise DataError(f"{path} has a delimiter at the end of every line from line 2 on: take it away.")
    return rows


def _is_behind_short_header(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the header has no cell for the row names, as R writes it: so none that names them."""
    if len(rows) > 1 or len(cells) != len(rows[0]) + 1:
        return False
    first = rows[0][0]
    names_samples = NAMES_SAMPLES.fullmatch(first) or MAY_NAME_SAMPLES.fullmatch(first)
    return not names_samples and not any(mark in first for mark in MARKS)


def _other_length(
    cells: Sequence[str], rows: Sequence[Sequence[str]], path: str | PathLike[str], line: int, delimiter: str | None
) -> DataError:
    first, before = rows[0], "in its first line"
    if len(rows[-1]) != len(first):  # which is a header that R wrote
        first, before = rows[-1], "in the lines before"
    other = [mark for mark in MARKS if mark != delimiter and mark in (cells if len(cells) < len(first) else first)[0]]
    if first[0].startswith("#"):
        advice = "its first line begins with #: if that is a comment, take it away"
    elif cells[0].startswith("#"):
        advice = "if that is a comment, take it away"
    elif other:
        advice = f"use one delimiter throughout, {delimiter!r} or {other[0]!r}"
    elif len(cells) > len(first) and not cells[-1]:
        advice = "take the delimiter at the end of that line away"
    elif len(rows) > 1:
        advice = "correct that line"
    elif len(cells) > len(first) and delimiter == ",":
        advice = "correct one of them; numbers need decimal points, not commas"
    else:
        advice = "correct one of them"
    return DataError(f"{path} has {plural(len(first), 'cell')} {before} but {len(cells):,} in line {line}: {advice}.")


def _not_separable(error: csv.Error, text: str, path: str | PathLike[str], begin: int, end: int) -> DataError:
    """Say which quotation mark is wrong: one that is never closed, in the line where it opens, or one in a cell."""
    if "expected after" in str(error):
        return DataError(
            f"{path} can't be read as a table: line {end} has a quotation mark inside a cell. Double it, or take it "
            "away."
        )
    opening = None
    for i, line in enumerate(text.split("\n")[begin:end], begin + 1):
        for _ in range(line.count('"')):
            opening = i if opening is None else None
    if opening is not None:
        return DataError(
            f"{path} can't be read as a table: line {opening} opens a quotation mark that is never closed. Close it, "
            "or take it away."
        )
    return DataError(f"{path} can't be read as a table: line {end}: {error}. Correct that line.")


def _delimiter(text: str) -> str | None:
    """Find what separates the cells; None is white space."""
    lines = [line for line in text[: 2**22].split("\n") if line.strip()][:2]
    first, second = [
        {mark: re.sub(r'"[^"]*"', "", line).count(mark) for mark in MARKS} for line in (lines[0], lines[-1])
    ]
    # As many in the second line as in the first, or one more behind a header without a cell for row names.
    regular = [mark for mark in first if first[mark] + second[mark] and second[mark] - first[mark] in (0, 1)]
    most = max(first, key=lambda mark: first[mark])
    return regular[0] if regular else most if first[most] else None


def _as_frame(cells: NDArray[np.object_], names: list[str] | None, columns: list[str] | None) -> pd.DataFrame:
    """Turn cells into numbers, column by column; a column with anything else in it stays text."""
    frame = pd.DataFrame({j: as_numbers(cells[:, j]) for j in range(cells.shape[1])}, index=names)
    frame.columns = pd.RangeIndex(cells.shape[1]) if columns is None else pd.Index(columns, dtype=object)
    return frame


def as_numbers(cells: NDArray[np.object_]) -> NDArray[Any]:
    """Turn cells into numbers, each that is one; as objects where some are text."""
    try:
        if "_" not in "".join(cells):
            return cells.astype(float)
    except ValueError:
        pass
    values = [cell if (value := number(cell)) is None else value for cell in cells]
    return np.array(values, dtype=object if any(isinstance(value, str) for value in values) else float)


def as_labels(cells: Sequence[str]) -> Labels:
    """Take cells as labels: numbers where all are, else text; None for a missing one."""
    known = [None if cell.lower() in MISSING_LABEL else cell for cell in cells]
    numbers = [None if cell is None else number(cell) for cell in known]
    if all(value is not None and value.is_integer() for value in numbers):
        return np.array(numbers).astype(np.int64)
    if all(cell is None or (value is not None and value == value) for value, cell in zip(numbers, known, strict=True)):
        return np.array(numbers, dtype=object)
    return np.array(known, dtype=object)


# ---------------------------------------------------------------------------------------------------------------------
# what the first line and the first column are


def number(cell: str) -> float | None:
    """Read a cell as a number; None for text, NaN for a missing value."""
    if cell.lower() in MISSING:
        return float("nan")
    if "_" in cell:
        return None  # 1_000 is a number only in Python; 1_1 may be a name
    try:
        return float(cell)
    except ValueError:
        return None


def _has_fraction(cells: Sequence[str]) -> bool:
    numbers = [value for value in map(number, cells) if value is not None and np.isfinite(value)]
    return any(not value.is_integer() for value in numbers)


def _has_header(rows: Sequence[Sequence[str]], path: str | PathLike[str]) -> bool:
    """Whether the first line names the features; refuse to guess between names that are numbers and data."""
    first = rows[0]
    texts = [j for j, cell in enumerate(first) if number(cell) is None]
    if len(rows) == 1:
        return len(texts) > 1 or (bool(texts) and len(first) == 1)
    second = rows[1]
    if len(first) == len(second) - 1:
        return True
    if _has_fraction(first):
        return False
    if first[0] == "" and any(first[1:]):
        return True
    if not texts:
        if len(set(first)) == len(first) > 1 and _has_fraction(second):
            raise _either_way(path)
        return False
    if texts == [0] and len(first) > 1 and not NAMES_SAMPLES.fullmatch(first[0]):
        if _has_fraction(second[1:]):
            return True
        raise _either_way(path)
    return True


def _either_way(path: str | PathLike[str]) -> DataError:
    return DataError(
        f"The first line of {path} may be a header of numbers or a sample: use {argument('header', True)} if it names "
        f"the features, or {argument('header', False)} if it is data."
    )


def _check_no_header(rows: Sequence[Sequence[str]], path: str | PathLike[str], study: str) -> None:
    """Refuse a first line that has text wherever the next has numbers: it is a header, whatever the user says."""
    if len(rows) < 2:
        return
    numeric = [j for j, cell in enumerate(rows[1]) if number(cell) is not None]
    if len(rows[0]) < len(rows[1]) or (numeric and all(number(rows[0][j]) is None for j in numeric)):
        names = listing([rows[0][j] for j in numeric if j < len(rows[0])], 3)
        raise DataError(
            f"The first line of {path}, study {study!r}, names the features ({names}): leave "
            f"{argument('header', False)} out."
        )


def is_names(cells: Sequence[str], name: str, header: bool, transpose: bool) -> bool:
    """Whether the first column names the rows: by its own name, or because it holds text."""
    if header and (transpose or NAMES_SAMPLES.fullmatch(name)):
        return True
    if header and MAY_NAME_SAMPLES.fullmatch(name):
        return not _has_fraction(cells)
    return any(number(cell) is None for cell in cells)


def are_row_numbers(names: Sequence[str]) -> bool:
    """Whether these are the numbers that pandas or R write where rows have no names."""
    return any(list(names) == [str(i + start) for i in range(len(names))] for start in (0, 1))


def check_sample_names(names: Sequence[str], study: str, column: str) -> None:
    """Check that no sample is named twice, and say what else a first column may be."""
    try:
        check_unique(names, "sample", f"Study {study!r}")
    except DataError as error:
        if column and NAMES_SAMPLES.fullmatch(column):
            raise
        advice = f"use {argument('label', column)}" if column else "give it a name, to be the label"
        raise DataError(f"{error.sentence} If the first column is the samples' known class, {advice}.") from None
