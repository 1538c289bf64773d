"""How kernels are compiled."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import event
from numba.extending import intrinsic, overload

from clustrep._kernels.kernel_files import kernel_files
from clustrep.engine.run import shows_progress, write_progress

SENTENCE = "Compiling kernels for this machine, up to a minute: they are kept, and later runs start at once …"

logger = logging.getLogger("clustrep")


class _Announcement(event.Listener):
    """Says why the first run takes longer: to those who listen to the log, else to those who see progress."""

    def __init__(self) -> None:
        self.made = False

    def on_start(self, compilation: Any) -> None:
        function = getattr(compilation.data.get("dispatcher"), "py_func", None)
        if self.made or not str(getattr(function, "__module__", "")).startswith("clustrep."):  # not what others compile
            return
        if logger.isEnabledFor(logging.INFO):  # as at the command line, which writes it to stderr unless it is quiet
            logger.info(SENTENCE)
        elif shows_progress():
            write_progress(SENTENCE)
        else:
            return
        self.made = True

    def on_end(self, compilation: Any) -> None:
        """Say nothing: what comes next speaks for itself."""


event.register("numba:compile", _Announcement())


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a kernel that lets other threads run, and keep it on disk where there is a place for it."""
    return _compile(function, fastmath=False)


def vectorised(function: Callable[..., Any]) -> Any:
    """Compile a kernel whose sums may be taken in the order that suits the processor's vectors.

    Its last bits may differ from one kind of processor to the next; on one machine they are always the same.
    """
    return _compile(function, fastmath={"reassoc", "contract", "nsz"})


def _compile(function: Callable[..., Any], fastmath: Any) -> Any:
    kernel: Any = njit(nogil=True, error_model="numpy", fastmath=fastmath)(function)
    kernel._cache = kernel_files(function)  # what `cache=True` sets, with errors that are not fatal
    return kernel


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
