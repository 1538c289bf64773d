"""Archives of arrays (npz) that are checked before they are read: a checksum, then names, types and declared sizes.

An archive ends with the SHA-256 of everything before it, as the comment of the zip file, so that any changed byte is
found. A checksum does not make a file trustworthy, because anyone can compute one: a small file can still declare
gigabytes. So nothing is decompressed before the sizes of all arrays are known and allowed.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from clustrep.errors import DataError
from clustrep.text import listing

SEAL_LENGTH = 64  # hexadecimal digits of a SHA-256

KINDS = "biufU"  # of NumPy's types: bool, integers, floats, text; never Python objects, which are pickles

ALWAYS_ALLOWED = 2**30  # bytes of arrays in any file

ALLOWED_RATIO = 20  # times the file's size, where that is more: memory in proportion to the file


class Declared(NamedTuple):
    """What an archive says of an array that has not been read: its dimensions and its type."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class TooLarge(Exception):  # noqa: N818 - a name that reads as the fault
    """An archive declares more bytes than it may have: its arguments are both numbers."""


def write_archive(stream: IO[bytes], arrays: Mapping[str, Any]) -> None:
    """Write arrays and the checksum of the file into an empty stream that can be read, too."""
    np.savez_compressed(stream, **arrays)
    seal(stream)


def seal(stream: IO[bytes]) -> None:
    """Put the checksum of an archive at its end."""
    with zipfile.ZipFile(stream, "a") as archive:
        archive.comment = b"0" * SEAL_LENGTH
    stream.flush()
    digest = _digest_without_seal(stream)
    stream.seek(-SEAL_LENGTH, os.SEEK_END)
    stream.write(digest)


def check_seal(stream: IO[bytes]) -> None:
    """Check that an archive is the one whose checksum is at its end."""
    digest = _digest_without_seal(stream)
    if stream.read(SEAL_LENGTH) != digest:
        raise ValueError("the checksum differs")


def _digest_without_seal(stream: IO[bytes]) -> bytes:
    """Return the digest of everything before the seal, where the stream then stands."""
    left = stream.seek(0, os.SEEK_END) - SEAL_LENGTH
    stream.seek(0)
    digest = hashlib.sha256()
    while left > 0 and (block := stream.read(min(left, 2**20))):
        digest.update(block)
        left -= len(block)
    return digest.hexdigest().encode()


def declared_arrays(archive: zipfile.ZipFile, max_bytes: int | None) -> dict[str, Declared]:
    """Return the names of all arrays with their declared type and shape; nothing but their headers is decompressed."""
    members = archive.infolist()
    size, compressed = (sum(getattr(member, kind) for member in members) for kind in ("file_size", "compress_size"))
    allowed = max(ALWAYS_ALLOWED, ALLOWED_RATIO * compressed) if max_bytes is None else max_bytes
    if size > allowed:
        raise TooLarge(size, allowed)
    declared: dict[str, Declared] = {}
    for member in members:
        name = member.filename.removesuffix(".npy")
        if name == member.filename or name in declared:
            raise ValueError(f"{member.filename} is no array, or occurs twice")
        declared[name] = _declared(archive, member)
    return declared


def _declared(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Declared:
    """Read the header of an array, which must agree with the size of its member."""
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("another compression, whose ratio has other limits")
    with archive.open(member) as stream:
        if npy.read_magic(stream) != (1, 0):
            raise ValueError("another version of NumPy's format")
        shape, _, dtype = npy.read_array_header_1_0(stream)
        length = stream.tell()
    if dtype.kind not in KINDS:
        raise ValueError(f"arrays of type {dtype} are not results")
    if min(shape, default=0) < 0 or member.file_size != length + math.prod(shape) * dtype.itemsize:
        raise ValueError("the size of an array is not that of its member")
    return Declared(shape, dtype)


def read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Read an array whose header has been checked."""
    with archive.open(f"{name}.npy") as stream:
        return np.asarray(npy.read_array(stream, allow_pickle=False))


# ---------------------------------------------------------------------------------------------------------------------
# The SHA-256 of every file in a folder, in a file that `sha256sum --check` reads, too


SUMS = "SHA256SUMS"

MARK = "# clustrep "

LINE = re.compile(r"([0-9a-f]{64})  ([^\\\n]+)")


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def text_of(sums: Mapping[str, str]) -> str:
    """Write the names of files with their checksums.

    Examples
    --------
    >>> print(text_of({"a.csv": "0" * 64}).splitlines()[1][-12:])
    00000  a.csv
    """
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
    return f"{MARK}{_digest_of_text(lines)}\n{lines}"


def has_sums(folder: Path) -> bool:
    """Whether a folder has a list of checksums that this package wrote, damaged or not."""
    try:
        with open(folder / SUMS, "rb") as stream:
            return stream.read(len(MARK)) == MARK.encode()
    except OSError:
        return False


def read_sums(folder: Path) -> dict[str, str]:
    """Return the checksums by the files' names, relative to the folder and never outside it."""
    damaged = DataError(f"{folder / SUMS} is damaged, so the files beside it can't be checked: run it again.")
    try:
        first, _, lines = (folder / SUMS).read_bytes().decode().partition("\n")
    except UnicodeDecodeError:
        raise damaged from None
    except OSError as error:
        raise DataError.unreadable(folder / SUMS, error) from None
    entries = [LINE.fullmatch(line) for line in lines.splitlines()]
    sums = {entry[2]: entry[1] for entry in entries if entry}
    paths = [PurePosixPath(name) for name in sums]
    are_inside = all(not path.is_absolute() and ".." not in path.parts for path in paths)
    are_plain = len(sums) == len(entries) and list(sums) == [path.as_posix() for path in paths]
    if first != f"{MARK}{_digest_of_text(lines)}" or not are_inside or not are_plain:
        raise damaged
    return sums


def check_files(folder: Path, needed: re.Pattern[str]) -> list[str]:
    """Check the files of a folder against its checksums, and return the names of those that are needed.

    A file that is not needed may be missing, because deleting it mixes nothing; a changed one is refused.
    """
    sums = read_sums(folder)
    missing = [name for name in sums if not (folder / name).is_file()]
    lacking = [name for name in missing if needed.fullmatch(name)]
    changed = [name for name in sums if name not in missing and digest_of(folder / name) != sums[name]]
    if changed or lacking:
        differing = [*(f"{name} has changed" for name in changed), *(f"{name} is missing" for name in lacking)]
        raise DataError(
            f"{folder} is not as the run left it: {listing(differing)}. Put back the original files, delete those "
            "that the report does not need, or run it again."
        )
    return [name for name in sums if needed.fullmatch(name)]


def _digest_of_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
