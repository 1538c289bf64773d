"""The SHA-256 of every file in a folder, in a file that `sha256sum --check` reads, too.

Its first line, which that program takes for a comment, holds the SHA-256 of the others: a list that was cut off or
changed is found.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from clustrep.errors import DataError
from clustrep.text import listing

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
        raise DataError(
            f"{folder / SUMS} can't be read: {error.strerror}. Name another file, or make it readable."
        ) from None
    entries = [LINE.fullmatch(line) for line in lines.splitlines()]
    sums = {entry[2]: entry[1] for entry in entries if entry}
    if first != f"{MARK}{_digest_of_text(lines)}" or len(sums) != len(entries) or not all(map(_is_inside, sums)):
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
            f"{folder} is not as the run left it: {listing(differing)}. Put back what was there, delete what is not "
            "needed for the report, or run it again."
        )
    return [name for name in sums if needed.fullmatch(name)]


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and path.as_posix() == name


def _digest_of_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
