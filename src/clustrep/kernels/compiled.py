"""How kernels are compiled."""

from __future__ import annotations

import contextlib
import errno
import gc
import hashlib
import inspect
import io
import logging
import os
import stat
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

from llvmlite import ir
from numba import njit, types
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import intrinsic, overload

from clustrep.errors import MachineWarning, warn
from clustrep.execution.context import shows_progress, write_progress

SENTENCE = "Compiling kernels for this machine, up to a minute: they are cached, and later runs start at once …"

logger = logging.getLogger("clustrep")


def compiled(function: Callable[..., Any], fastmath: Any = False) -> Any:
    """Compile a kernel that lets other threads run, and cache it on disk where there is a place for it.

    What other kernels call is a part of theirs, without machine code of its own: kernels call each other six deep, and
    numba would optimise and translate the innermost once for each of these levels.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath, "no_cfunc_wrapper": True}
    as_part: dict[str, Any] = {**options, "no_cpython_wrapper": True, "pipeline_class": PartCompiler}
    kernel: Any = njit(**options)(function)
    part: Any = njit(**as_part)(function)
    kernel.get_call_template, kernel.get_overload = part.get_call_template, part.get_overload
    kernel.compile = partial(_without_collector, kernel.compile)
    try:
        kernel._cache = KernelFiles(function)  # what `cache=True` sets, with errors that are not fatal
    except (RuntimeError, OSError):  # neither the package's folder nor the user's cache can be written to
        kernel._cache = NoFiles()
    return kernel


def vectorised(function: Callable[..., Any]) -> Any:
    """Compile a kernel whose sums may be taken in the order that suits the processor's vectors.

    Its last bits may differ from one kind of processor to the next; on one machine they are always the same.
    """
    return compiled(function, fastmath={"reassoc", "contract", "nsz"})


def _without_collector(compile_for: Callable[[Any], Any], signature: Any) -> Any:
    """Compile without looking for garbage in between, which takes a fifth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return compile_for(signature)
    finally:
        if was_enabled:
            gc.enable()


class PartLibrary(JITCodeLibrary):
    """The code of a kernel as a part of others: linked into theirs, and optimised and translated with it."""

    codegen = SimpleNamespace(set_env=lambda *_: None)  # nothing of it is executed by itself

    def finalize(self) -> None:
        """Link what it calls, and nothing else."""
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        self._ensure_finalized()
        return 0


class PartCompiler(Compiler):
    """Compiles a kernel as a part of others."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.state.library = PartLibrary(self.state.targetctx.codegen(), "part")


# ---------------------------------------------------------------------------------------------------------------------
# one rounding instead of two


def fused(a: float, b: float, c: float) -> float:
    """Return a · b + c, in compiled code rounded once where the processor can do that.

    Left to itself, the compiler chooses which product of a sum to fuse, and may choose otherwise in the next version.
    """
    return a * b + c


@intrinsic
def _multiply_add(context: Any, a: Any, b: Any, c: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType()
        kind = ir.FunctionType(double, [double] * 3)
        function = builder.module.declare_intrinsic("llvm.fmuladd", [double], kind)
        return builder.call(function, arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


@overload(fused)
def _fused(a: Any, b: Any, c: Any) -> Any:
    def implementation(a: Any, b: Any, c: Any) -> Any:
        return _multiply_add(a, b, c)  # type: ignore[call-arg]  # numba passes the context

    return implementation


# ---------------------------------------------------------------------------------------------------------------------
# Compiled kernels on disk
#
# Numba's own files are pickles and machine code that it trusts. Measured with numba 0.68 on a kernel of one line: all
# of 8 truncated or replaced files end the program with an error; of 24 flipped bits 3 do, and one with a segmentation
# fault. So each file ends with a digest, and a file that is not what was written is compiled again. A digest does not
# stop whoever can write to the folder, so the folder is the user's alone.


FOLDER = "clustrep"  # within numba's place: beside the package, in the user's cache or in NUMBA_CACHE_DIR

DAMAGED = "Compiled kernels in {folder} can't be used ({cause}): they are compiled again."
NOT_KEPT = (
    "Compiled kernels can't be kept in {folder} ({cause}): every run compiles them again. "
    "Set NUMBA_CACHE_DIR to a folder that has space, that can be written to, and that belongs to you."
)
_said: set[str] = set()


def _announce() -> None:
    """Say once why the first run takes longer: to those who listen to the log, else to those who see progress."""
    if SENTENCE not in _said and (logger.isEnabledFor(logging.INFO) or shows_progress()):
        _said.add(SENTENCE)
        (logger.info if logger.isEnabledFor(logging.INFO) else write_progress)(SENTENCE)


def _say_once(sentence: str, **details: object) -> None:
    """Warn once in a process; what workers say as well is told once for all of them."""
    if sentence not in _said:
        _said.add(sentence)
        warn(sentence.format(**details), MachineWarning)


@cache
def _sources(folder: Path) -> bytes:
    """Digest the modules of a folder: a kernel holds the code of those that it calls, which numba's cache ignores."""
    texts = [path.read_bytes() for path in sorted(folder.glob("*.py"))]
    return hashlib.sha256(b"".join(hashlib.sha256(text).digest() for text in texts)).digest()


class CheckedFiles(IndexDataCacheFile):
    """The index of a kernel and its machine code; each file ends with the digest of what comes before."""

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
        with contextlib.suppress(FileNotFoundError):  # not compiled yet
            content = Path(path).read_bytes()
            size = hashlib.sha256().digest_size
            if hashlib.sha256(content[:-size]).digest() != content[-size:]:
                raise ValueError(f"{os.path.basename(path)} is damaged")


class KernelFiles(FunctionCache):
    """Where a kernel is cached: whatever goes wrong with its files, it is compiled instead, with one warning."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__(function)
        self._cache_path = os.path.join(self._cache_path, FOLDER)
        self._cache_file = CheckedFiles(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=(self._impl.locator.get_source_stamp(), _sources(Path(inspect.getfile(function)).parent)),
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load a kernel for the types of its arguments; None where there is none that can be used."""
        try:
            _check_private(self._cache_path)
            if (kernel := super().load_overload(sig, target_context)) is not None:
                return kernel
        except OSError:  # then it can't be kept either, which is what will be said
            pass
        except Exception as error:  # of the digest, of unpickling, of the linker
            _say_once(DAMAGED, folder=self.cache_path, cause=error)
            with contextlib.suppress(OSError):
                self.flush()  # an index that can't be read can't be extended either
        _announce()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel where that is possible."""
        try:
            self._impl.locator.ensure_cache_path()
            os.makedirs(self._cache_path, mode=0o700, exist_ok=True)
            _check_private(self._cache_path)
            super().save_overload(sig, data)
        except Exception as error:
            _say_once(NOT_KEPT, folder=self.cache_path, cause=getattr(error, "strerror", None) or error)


def _check_private(folder: str) -> None:
    """Check that nobody else can write to a folder: its files are run."""
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if os.name == "posix" and (status.st_uid != os.geteuid() or status.st_mode & 0o022):
        raise PermissionError(errno.EPERM, "others can write to it")


class NoFiles(NullCache):
    """Stands for files where there is no place for them."""

    def load_overload(self, sig: Any, target_context: Any) -> None:
        """Return None: the kernel is compiled."""
        _announce()

    def save_overload(self, sig: Any, data: Any) -> None:
        """Say that nothing is kept."""
        _say_once(NOT_KEPT, folder="the package's folder or the user's cache", cause="no permission")
