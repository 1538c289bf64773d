"""Files before their format is known: their names, their first bytes, their text, and what reading them needs."""

from __future__ import annotations

import bz2
import codecs
import gzip
import importlib
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import IO, Any, NamedTuple

from clustrep.checks import check_names_differ
from clustrep.errors import DataError
from clustrep.files.folders import nearest_entries
from clustrep.text import listing, plural

PARQUET_MAGIC = b"PAR1"

HDF5_MAGIC = b"\x89HDF"

# Files that say of a folder that it is a Zarr store, of versions 2 and 3.
ZARR_MARKS = (".zgroup", "zarr.json")

ZIP_MAGIC = b"PK\x03\x04"

# How old Excel files begin, and the members that tell newer ones, and those of OpenOffice, from other zip files.
OLD_WORKBOOK_MAGIC = b"\xd0\xcf\x11\xe0"
WORKBOOK_MEMBERS = frozenset(["xl/workbook.xml", "xl/workbook.bin", "content.xml"])

# How files begin that hold no text that the standard library can read.
NOT_TEXT = {b"\x28\xb5\x2f\xfd": "a Zstandard file", b"7z\xbc\xaf\x27\x1c": "a 7-Zip file", b"\x1f\x9d": "a .Z file"}

BEGINNING = 4096  # bytes: enough to recognise any format

BLOCK = 2**20  # bytes that are decoded at once

AGAIN = "save or download it again"

# How other things begin that are often saved in place of a table.
WEB_PAGE = re.compile(r"\s*(<!doctype html|<html)", re.IGNORECASE)

LFS_POINTER = re.compile(r"version https://git-lfs")


ALWAYS_UNPACKED, UNPACKED_RATIO = 2**30, 100  # bytes, and times the file's size where that is more: against bombs


class Packing(NamedTuple):
    """A way to pack a file, told by the bytes that it begins with."""

    name: str
    ending: str
    magic: bytes
    open: Callable[[IO[bytes]], Any]
    unpack: Callable[[bytes, int], bytes]  # to no more than one byte above a number


def _unpack_streams(new: Callable[[], Any], packed: bytes, most: int) -> bytes:
    """Unpack one stream after the other, to the end: the modules' own functions ignore what they can't read."""
    parts, left = [], most + 1
    while packed and left:
        stream = new()
        parts.append(stream.decompress(packed, left))
        left -= len(parts[-1])
        if left and not stream.eof:
            raise EOFError("it ends too early")
        packed = stream.unused_data.lstrip(b"\0")  # xz may pad
    return b"".join(parts)


class SeveralFiles(Exception):  # noqa: N818 - a name that reads as the finding
    """A zip file that does not hold exactly one file, with their names."""


def _open_member(stream: IO[bytes]) -> IO[bytes]:
    """Open the only file in a zip file; what macOS adds beside it does not count."""
    archive = zipfile.ZipFile(stream)
    names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    names = [name for name in names if not name.startswith("__MACOSX/")]
    if len(names) != 1:
        raise SeveralFiles(*names)
    return archive.open(names[0])


PACKINGS = (
    Packing(
        "zip", ".zip", ZIP_MAGIC, _open_member, lambda packed, most: _open_member(io.BytesIO(packed)).read(most + 1)
    ),
    Packing("gzip", ".gz", b"\x1f\x8b", gzip.open, partial(_unpack_streams, partial(zlib.decompressobj, wbits=31))),
    Packing("bzip2", ".bz2", b"BZh", bz2.open, partial(_unpack_streams, bz2.BZ2Decompressor)),
    Packing("xz", ".xz", b"\xfd7zXZ\0", lzma.open, partial(_unpack_streams, lzma.LZMADecompressor)),
)

UNPACKING_ERRORS = (
    *(OSError, EOFError, ValueError, zlib.error, lzma.LZMAError),
    *(zipfile.BadZipFile, RuntimeError, NotImplementedError),  # of zip files: damaged, encrypted, packed in another way
)


class Beginning(NamedTuple):
    """The beginning of a file, by which its format is recognised."""

    raw: bytes
    text: str  # of what `raw` holds, unpacked if that is packed; not meaningful if it is not text
    is_zarr: bool = False  # a folder that is a Zarr store
    is_workbook: bool = False  # a file of Excel or OpenOffice with sheets


def file_and_sheet(path: str | PathLike[str]) -> tuple[Path, str]:
    """Separate the name of a sheet, as in cohorts.xlsx:Mainz, from that of its file; "" without one."""
    file = Path(path)
    before, colon, sheet = file.name.rpartition(":")
    if not colon or not before or file.exists() or not file.with_name(before).is_file():
        return file, ""
    return file.with_name(before), sheet


def study_names(paths: Sequence[str | PathLike[str]]) -> list[str]:
    """Name each study after its file; where two would have the same name, with as much of the path as needed."""
    for file in map(Path, paths):
        if any("\ud800" <= letter <= "\udfff" for letter in str(file)):
            raise DataError(f"The name of the file {file} is not text in this system's encoding: rename it.")
        if "\0" in str(file):
            raise DataError(f"No file can be called {str(file)!r}, with a zero byte: correct the name.")
    files, sheets = zip(*map(file_and_sheet, paths), strict=True)
    endings = tuple(packing.ending for packing in PACKINGS)
    stems = [(file.stem if file.name.endswith(endings) else file.name).rsplit(".", 1)[0] or file.name for file in files]
    for file, stem in zip(files, stems, strict=True):
        if not stem.strip():
            raise DataError(f"The file {str(file)!r} has no name that its study could have: rename it.")
    longer_names = [
        [sheet or stem for sheet, stem in zip(sheets, stems, strict=True)],
        [f"{file.parent.name}/{stem}" for file, stem in zip(files, stems, strict=True)],
        [file.name for file in files],
        [Path(path).as_posix() for path in paths],
    ]
    names = stems
    for longer in longer_names:
        names = [longer[i] if names.count(name) > 1 else name for i, name in enumerate(names)]
    check_names_differ(names, "file", parameter="paths")
    return names


def beginning_of(path: str | PathLike[str]) -> Beginning:
    """Read the beginning of a file."""
    file, _ = file_and_sheet(path)
    try:
        if any((file / mark).is_file() for mark in ZARR_MARKS):
            return Beginning(b"", "", is_zarr=True)
        _check_is_file(file)
        with file.open("rb") as stream:
            raw = text = stream.read(BEGINNING)
            stream.seek(0)
            for packing in PACKINGS:
                if raw.startswith(packing.magic):
                    if packing.magic == ZIP_MAGIC and _is_workbook(stream):
                        return Beginning(raw, "", is_workbook=True)
                    try:
                        text = packing.open(stream).read(BEGINNING)
                    except (*UNPACKING_ERRORS, SeveralFiles):  # told when the file is read
                        text = b""
            is_workbook = raw.startswith(OLD_WORKBOOK_MAGIC)
            return Beginning(raw, text.decode(_encoding(text), errors="replace"), is_workbook=is_workbook)
    except OSError as error:
        raise DataError.unreadable(path, error) from None


def _is_workbook(stream: IO[bytes]) -> bool:
    try:
        return not WORKBOOK_MEMBERS.isdisjoint(zipfile.ZipFile(stream).namelist())
    except UNPACKING_ERRORS:
        return False
    finally:
        stream.seek(0)


def _check_is_file(file: Path) -> None:
    if file.is_dir():
        raise DataError(f"{file} is a folder: name the files in it.")
    try:
        file.stat()  # tells a missing file from one that can't be looked at, unlike `Path.exists` of Python 3.14
    except (FileNotFoundError, NotADirectoryError, ValueError):  # or no name of any file
        if not file.parent.is_dir():
            raise DataError(
                f"There is no file {file}: there is no folder {file.parent}. Check the path."
                f"{nearest_entries(file.parent, folders=True)}"
            ) from None
        siblings = sorted(entry.name for entry in file.parent.iterdir() if not entry.is_dir())
        folder = "This folder" if file.parent == Path() else file.parent
        contents = f" {folder} holds {listing(siblings)}." if siblings else ""
        raise DataError(f"There is no file {file}.{contents}{nearest_entries(file)}") from None
    if not file.is_file():
        raise DataError(f"{file} is a pipe or device, which is read only once: write it to a file first.")


def _encoding(raw: bytes) -> str:
    return "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"


class Text:
    """The text of a file as its bytes, decoded line by line: as text it may be four times as large."""

    def __init__(self, raw: bytes):
        self._raw, self._encoding = raw, _encoding(raw)

    def lines(self) -> io.TextIOWrapper:
        """Return the lines one by one, with plain line ends."""
        return io.TextIOWrapper(io.BytesIO(self._raw), encoding=self._encoding, newline=None)

    def beginning(self) -> str:
        """Return the beginning of the text."""
        return self._raw[:BEGINNING].decode(self._encoding, errors="ignore")

    def check(self, path: str | PathLike[str]) -> None:
        """Check that all bytes are text, and that there is some."""
        decoder = codecs.getincrementaldecoder(self._encoding)()
        n_letters = n_zeros = 0
        is_blank = True
        for place in range(0, len(self._raw), BLOCK):
            pending = len(decoder.getstate()[0])
            try:
                block = decoder.decode(self._raw[place : place + BLOCK], final=place + BLOCK >= len(self._raw))
            except UnicodeDecodeError as error:
                name = self._encoding.removesuffix("-sig").upper()
                raise DataError(
                    f"{path} is not text in {name} (byte {place - pending + error.start:,}): save it again with that "
                    "encoding."
                ) from None
            n_letters, n_zeros = n_letters + len(block), n_zeros + block.count("\0")
            is_blank = is_blank and not block.strip()
        if n_zeros > n_letters / 3:
            raise DataError(f"{path} holds zero bytes: it is probably text in UTF-16. Save it again as UTF-8.")
        if n_zeros:
            raise DataError(f"{path} holds zero bytes: it is not delimited text. Save the table as CSV.")
        if is_blank:
            raise DataError(f"{path} is empty: {AGAIN}.")


def read_text(path: str | PathLike[str]) -> Text:
    """Return the text of a file, packed or not."""
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise DataError.unreadable(path, error) from None
    for magic, kind in NOT_TEXT.items():
        if raw.startswith(magic):
            raise DataError(f"{path} is {kind}: unpack it first, or pack it with gzip, bzip2, xz or zip.")
    packing = next((packing for packing in PACKINGS if raw.startswith(packing.magic)), None)
    if packing is not None:
        most = max(ALWAYS_UNPACKED, UNPACKED_RATIO * len(raw))
        try:
            raw = packing.unpack(raw, most)
        except SeveralFiles as names:
            raise DataError(
                f"{path} is a zip file that holds {plural(len(names.args), 'file')} ({listing(names.args, 3)}): pack "
                "one table in it, or unpack it first."
            ) from None
        except UNPACKING_ERRORS as error:
            raise DataError(
                f"{path} is a damaged {packing.name} file: {str(error).rstrip('.')}. {AGAIN.capitalize()}."
            ) from None
        if len(raw) > most:
            raise DataError(
                f"{path} ({packing.name}) would unpack to more than {most:,} bytes, the larger of 1 GiB and "
                f"{UNPACKED_RATIO} times its size: if you trust it, unpack it and name the unpacked file."
            )
        if raw.startswith((ZIP_MAGIC, OLD_WORKBOOK_MAGIC, PARQUET_MAGIC, HDF5_MAGIC)):
            raise DataError(f"{path} is a {packing.name} file with something other than text in it: unpack it first.")
    text = Text(raw)
    text.check(path)
    beginning = text.beginning()
    if WEB_PAGE.match(beginning):
        raise DataError(f"{path} is a web page (HTML), not a table: download the table itself.")
    if LFS_POINTER.match(beginning):
        raise DataError(f"{path} is only a pointer of Git LFS to a table: fetch the table with git lfs pull.")
    return text


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
