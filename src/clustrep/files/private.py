"""Files that belong to the user alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from clustrep.errors import DataError


def open_private(path: Path, what: str, flags: int = os.O_RDONLY) -> BinaryIO:
    """Open a file that must be a plain file of the user, which others can neither read nor write.

    Parameters
    ----------
    path : Path
    what : str
        What it is to be, for the error where there is none.
    flags : int, default=os.O_RDONLY
        As in `os.open`. Symbolic links are not followed.

    Raises
    ------
    DataError
        If it is missing, a link, another's, or open to others.
    """
    try:
        handle = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o600)
    except FileNotFoundError:
        raise DataError(f"There is no file {path}: it is to hold {what}.") from None
    except OSError as error:
        raise DataError(f"{path} can't be opened ({error.strerror}): it must be a file, and no link.") from None
    status = os.fstat(handle)
    theirs = os.name == "posix" and (status.st_uid != os.geteuid() or status.st_mode & 0o077)
    if not stat.S_ISREG(status.st_mode) or theirs:
        os.close(handle)
        raise DataError(f"{path} must be a file that only you can read and write: chmod 600 {path}.")
    mode = "rb" if flags & 3 == os.O_RDONLY else ("ab+" if flags & os.O_APPEND else "rb+")
    return os.fdopen(handle, mode)  # type: ignore[return-value]
