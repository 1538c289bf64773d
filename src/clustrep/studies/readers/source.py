"""Files before their format is known: their names, their first bytes, their text, and what reading them needs."""

from __future__ import annotations

import gzip
import importlib
import re
import zlib
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from clustrep.checks import check_names_differ
from clustrep.errors import DataError
from clustrep.text import listing

PARQUET_MAGIC = b"PAR1"

HDF5_MAGIC = b"\x89HDF"

GZIP_MAGIC = b"\x1f\x8b"

SPREADSHEETS = {b"PK\x03\x04": "an Excel or zip file", b"\xd0\xcf\x11\xe0": "an Excel file"}

BEGINNING = 4096  # bytes: enough to recognise any format

AGAIN = "save or download it again"

# How other things begin that are often saved in place of a table.
WEB_PAGE = re.compile(r"\s*(<!doctype html|<html)", re.IGNORECASE)

LFS_POINTER = re.compile(r"version https://git-lfs")


class Beginning(NamedTuple):
    """The beginning of a file, by which its format is recognised."""

    raw: bytes
    text: str  # of what `raw` holds, unpacked if that is gzip; not meaningful if it is not text


def study_names(paths: Sequence[str | PathLike[str]]) -> list[str]:
    """Name each study after its file; where two would have the same name, with as much of the path as needed."""
    files = [Path(path) for path in paths]
    for file in files:
        if any("\ud800" <= letter <= "\udfff" for letter in str(file)):
            raise DataError(f"The name of the file {file} is not text in this system's encoding: rename it.")
    stems = [file.name.removesuffix(".gz").rsplit(".", 1)[0] or file.name for file in files]
    for file, stem in zip(files, stems, strict=True):
        if not stem.strip():
            raise DataError(f"The file {str(file)!r} has no name that its study could have: rename it.")
    longer_names = [
        [f"{file.parent.name}/{stem}" for file, stem in zip(files, stems, strict=True)],
        [file.name for file in files],
        [file.as_posix() for file in files],
    ]
    names = stems
    for longer in longer_names:
        names = [longer[i] if names.count(name) > 1 else name for i, name in enumerate(names)]
    check_names_differ(names, "file", parameter="paths")
    return names


def beginning_of(path: str | PathLike[str]) -> Beginning:
    """Read the beginning of a file."""
    file = Path(path)
    if file.is_dir():
        raise DataError(f"{path} is a folder: name the files in it.")
    if not file.exists():
        if not file.parent.is_dir():
            raise DataError(f"There is no file {path}: there is no folder {file.parent}. Check the path.")
        siblings = sorted(entry.name for entry in file.parent.iterdir())
        folder = "This folder" if file.parent == Path() else file.parent
        contents = f" {folder} holds {listing(siblings)}." if siblings else ""
        raise DataError(f"There is no file {path}.{contents}")
    if not file.is_file():
        raise DataError(f"{path} is a pipe or device, which is read only once: write it to a file first.")
    try:
        with file.open("rb") as stream:
            raw = stream.read(BEGINNING)
    except OSError as error:
        raise _unreadable(path, error) from None
    return Beginning(raw, _first_text(raw))


def _first_text(raw: bytes) -> str:
    """Decode as much as possible; what is wrong with a file is said when it is read."""
    if raw.startswith(GZIP_MAGIC):
        try:
            raw = zlib.decompressobj(wbits=31).decompress(raw)
        except zlib.error:
            return ""
    return raw.decode(_encoding(raw), errors="replace")


def _encoding(raw: bytes) -> str:
    return "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"


def read_text(path: str | PathLike[str]) -> str:
    """Return the text of a file, gzipped or not, with plain line ends."""
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None
    for magic, kind in SPREADSHEETS.items():
        if raw.startswith(magic):
            raise DataError(f"{path} is {kind}, not delimited text: save the table as CSV.")
    if raw.startswith(GZIP_MAGIC):
        raw = _unpacked(raw, path)
    encoding = _encoding(raw)
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        its_name = encoding.removesuffix("-sig").upper()
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


def _unpacked(raw: bytes, path: str | PathLike[str]) -> bytes:
    try:
        unpacked = gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"{path} is a damaged gzip file: {str(error).rstrip('.')}. {AGAIN[0].upper()}{AGAIN[1:]}."
        ) from None
    if unpacked.startswith((*SPREADSHEETS, PARQUET_MAGIC, HDF5_MAGIC)):
        raise DataError(f"{path} is a gzip file with something other than text in it: unpack it first.")
    return unpacked


def _unreadable(path: str | PathLike[str], error: OSError) -> DataError:
    return DataError(f"{path} can't be read: {error.strerror}.")


# ---------------------------------------------------------------------------------------------------------------------
# libraries that read a format


def import_for(path: str | PathLike[str], kind: str, module: str, *, extra: str) -> Any:
    """Import the library that reads this kind of file; where it is missing, say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise DataError(
            f'{path} is {kind}: to read it, install {module} with pip install "clustrep[{extra}]".'
        ) from None


def in_brief(error: Exception) -> str:
    """Return the first line of a library's error, without its full stop and the names and numbers internal to it."""
    words = (str(error).strip().splitlines() or [""])[0].rstrip(".")
    words = re.sub(r"^.*'<Buffer>': |: eof = [^)]*", "", words)
    return f"{type(error).__name__}: {words[:200]}" if words else type(error).__name__
