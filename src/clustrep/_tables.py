"""Reading a table from a file as people have it."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Literal

import pandas as pd

from clustrep._validation import check_unique, listing
from clustrep.errors import DataError

NAME_OF_SAMPLES = re.compile(
    r"|index|row[ _.]?names?|(sample|patient|subject|cell|case|donor)?s?[ _.]?(id|name|barcode|accession)?s?",
    re.IGNORECASE,
)
MISSING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "none", "n/a", "#N/A", "?", ".", "-")
OTHER_FORMATS = {
    b"PK\x03\x04": "an Excel or zip file",
    b"\xd0\xcf\x11\xe0": "an Excel file",
    b"PAR1": "a Parquet file",
    b"\x89HDF": "an HDF5 file",
}


def study_names(paths: Sequence[str | PathLike[str]]) -> list[str]:
    """Name each study after its file; after folder and file where two files have the same name."""
    stems = []
    for path in map(Path, paths):
        name = path.name.removesuffix(".gz")
        stems.append(name.rsplit(".", 1)[0] or name)
    if len(set(stems)) == len(stems):
        return stems
    return [
        f"{Path(path).parent.name}/{stem}" if stems.count(stem) > 1 else stem
        for stem, path in zip(stems, paths, strict=True)
    ]


def read_table(
    path: str | PathLike[str],
    study: str,
    *,
    label: str | Literal[False] | None,
    transpose: bool,
    header: bool | None,
) -> pd.DataFrame:
    """Read delimited text into a frame: sample names as index, feature names as columns."""
    text = _text(Path(path))
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise DataError(f"{path} is empty.")
    delimiter = _delimiter(lines[0])
    first = _cells(lines[0], delimiter)
    if header is None:
        header = not _is_data(first)
    body = lines[1:] if header else lines
    if not body:
        raise DataError(f"{path} has a header but no samples.")
    second = _cells(body[0], delimiter)
    frame = _parse(path, body, delimiter)
    if header and len(first) == frame.shape[1] - 1:
        first = ["", *first]  # as R writes row names: the header is one cell short
    if header and len(first) != frame.shape[1]:
        raise DataError(f"{path} has {len(first)} cells in its header but {len(second)} in line 2.")
    columns = first if header else [str(j) for j in range(1, frame.shape[1] + 1)]
    frame.columns = pd.Index(columns)
    if not transpose:
        # pandas would rename the second of two equal names: say it while it can be seen.
        check_unique([column for column in columns[1:] if column], "feature", study)
    if _names_samples(frame, columns[0], label, header):
        frame = frame.set_index(frame.columns[0])
        frame.index = frame.index.astype(str)
        if not header:
            frame.columns = pd.RangeIndex(frame.shape[1])
    elif not header:
        frame.columns = pd.RangeIndex(frame.shape[1])
    if transpose:
        frame = frame.T.apply(_numbers_if_possible)
    return frame


def _text(path: Path) -> str:
    if path.is_dir():
        raise DataError(f"{path} is a folder: name the files in it.")
    if not path.exists():
        siblings = sorted(entry.name for entry in path.parent.iterdir()) if path.parent.is_dir() else []
        there = f" {path.parent} holds {listing(siblings)}." if siblings else ""
        raise DataError(f"There is no file {path}.{there}")
    raw = path.read_bytes()
    for magic, kind in OTHER_FORMATS.items():
        if raw.startswith(magic):
            raise DataError(f"{path} is {kind}, not delimited text: save the table as CSV.")
    if raw.startswith(b"\x1f\x8b"):
        try:
            raw = gzip.decompress(raw)
        except (OSError, EOFError) as error:
            raise DataError(f"{path} is a damaged gzip file: {error}.") from None
    for encoding in ("utf-16",) if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else ("utf-8-sig",):
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError as error:
            raise DataError(
                f"{path} is not text in UTF-8 (byte {error.start:,}): save it again with that encoding."
            ) from None
    if "\0" in text:
        raise DataError(f"{path} holds zero bytes: it is not delimited text.")
    return text


def _delimiter(line: str) -> str | None:
    """Return the delimiter that a line uses; None means white space."""
    outside_quotes = re.sub(r'"[^"]*"', "", line)
    counts = {delimiter: outside_quotes.count(delimiter) for delimiter in "\t;,"}
    best = max(counts, key=lambda delimiter: counts[delimiter])
    return best if counts[best] else None


def _cells(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return next(csv.reader([" ".join(line.split())], delimiter=" "))
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_data(cells: Sequence[str]) -> bool:
    """Whether a first line is data: numbers throughout, or numbers with a fraction behind a sample's name."""
    if all(_is_number(cell) for cell in cells):
        return True
    rest = cells[1:]
    return (
        bool(rest)
        and not NAME_OF_SAMPLES.fullmatch(cells[0])
        and all(_is_number(cell) for cell in rest)
        and any(not float(cell).is_integer() for cell in rest)
    )


def _parse(path: str | PathLike[str], body: Sequence[str], delimiter: str | None) -> pd.DataFrame:
    try:
        return pd.read_csv(
            io.StringIO("\n".join(body)),
            sep=r"\s+" if delimiter is None else delimiter,
            header=None,
            index_col=False,
            na_values=list(MISSING),
            keep_default_na=False,
            skipinitialspace=True,
            low_memory=False,
            on_bad_lines="error",
        )
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        reason = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        raise DataError(f"{path} can't be read as a table: {reason} (counted from the first line of data).") from None


def _names_samples(frame: pd.DataFrame, name: str, label: str | Literal[False] | None, header: bool) -> bool:
    """Whether the first column names the samples: by its own name, or because it is text while others are numbers."""
    if frame.shape[1] == 1 or (label and name == label):
        return False
    if header and NAME_OF_SAMPLES.fullmatch(name):
        return True
    return not pd.api.types.is_numeric_dtype(frame.dtypes.iloc[0])


def _numbers_if_possible(column: pd.Series[str]) -> pd.Series[str]:
    try:
        return pd.to_numeric(column)
    except (TypeError, ValueError):
        return column
