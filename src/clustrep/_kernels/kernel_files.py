"""Compiled kernels on disk: numba's files with a digest, of which a damaged one is compiled again.

A kernel that can't be kept, or can't be read back, is slower and never wrong: neither is an error of any replicate.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import io
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import IO, Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

from clustrep.errors import MachineWarning, warn

DAMAGED = "Compiled kernels in {folder} can't be used ({cause}): they are compiled again."
NOT_KEPT = (
    "Compiled kernels can't be kept in {folder} ({cause}): every run compiles them again. "
    "Set NUMBA_CACHE_DIR to a folder that has space and can be written to."
)
NO_FOLDER = (
    "Compiled kernels can't be kept, because neither the package's folder nor the user's cache can be written to: "
    "every run compiles them again. Set NUMBA_CACHE_DIR to a folder that can be written to."
)
_said: set[str] = set()


def _say_once(sentence: str, **details: object) -> None:
    """Warn once in a process; what workers say as well is told once for all of them."""
    if sentence not in _said:
        _said.add(sentence)
        warn(sentence.format(**details), MachineWarning)


@cache
def _sources(folder: Path) -> bytes:
    """Digest the modules of a folder: a kernel holds the code of those that it calls, of which numba knows nothing."""
    texts = [path.read_bytes() for path in sorted(folder.glob("*.py"))]
    return hashlib.sha256(b"".join(hashlib.sha256(text).digest() for text in texts)).digest()


class DamagedFileError(Exception):
    """A file is not what was written."""


class CheckedFiles(IndexDataCacheFile):
    """The index of a kernel and its machine code; each file ends with the digest of what comes before.

    Without it, a changed byte in machine code is executed, and one in an index is unpickled.
    """

    @contextlib.contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[IO[bytes]]:
        content = io.BytesIO()
        yield content
        with super()._open_for_write(filepath) as file:
            file.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())

    def _load_index(self) -> Any:
        self._check(self._index_path)
        return super()._load_index()

    def _load_data(self, name: str) -> Any:
        self._check(self._data_path(name))
        return super()._load_data(name)  # what follows a pickle is not read

    def _check(self, path: str) -> None:
        if not os.path.exists(path):
            return  # not compiled yet
        content = Path(path).read_bytes()
        size = hashlib.sha256().digest_size
        if hashlib.sha256(content[:-size]).digest() != content[-size:]:
            raise DamagedFileError(f"{os.path.basename(path)} is damaged")


class KernelFiles(FunctionCache):
    """Where a kernel is kept: whatever goes wrong with its files, it is compiled instead, and that is said once."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__(function)
        self._cache_file = CheckedFiles(
            cache_path=self._cache_path,
            filename_base=f"{self._impl.filename_base}.checked",  # numba's own files have no digest
            source_stamp=(self._impl.locator.get_source_stamp(), _sources(Path(inspect.getfile(function)).parent)),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load a kernel for the types of its arguments; None where there is none that can be used."""
        try:
            return super().load_overload(sig, target_context)
        except OSError:  # then it can't be kept either, which is what will be said
            return None
        except Exception as error:  # of the digest, of unpickling, of the linker
            _say_once(DAMAGED, folder=self.cache_path, cause=error)
            with contextlib.suppress(OSError):
                self.flush()  # an index that can't be read can't be extended either
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel where that is possible."""
        try:
            super().save_overload(sig, data)
        except Exception as error:
            _say_once(NOT_KEPT, folder=self.cache_path, cause=getattr(error, "strerror", None) or error)


class NoFiles:
    """Stands for files where there is no place for them."""

    cache_path = None

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Find nothing."""

    def save_overload(self, sig: Any, data: Any) -> None:
        """Say that nothing is kept."""
        _say_once(NO_FOLDER)

    def flush(self) -> None:
        """Have nothing to forget."""


def kernel_files(function: Callable[..., Any]) -> KernelFiles | NoFiles:
    """Find a place for a compiled kernel."""
    try:
        return KernelFiles(function)
    except (RuntimeError, OSError):  # neither the package's folder nor the user's cache can be written to
        return NoFiles()
