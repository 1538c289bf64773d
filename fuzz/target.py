"""What a target is: how many cases it has, and what one of them does."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clustrep.errors import ClustrepError

Rng = np.random.Generator


@dataclass(frozen=True)
class Target:
    """One kind of input.

    Attributes
    ----------
    name : str
        Its name in the table and on the command line.
    n_cases, n_quick : int
        How many cases a full and a quick run try.
    prepare : function of a folder
        Returns what all cases share. Where `attempt_file` is set, with `keep=True` a corpus that grows.
    attempt : function of (rng, folder, shared)
        Runs one case; an error of the library's own is a refusal, any other a failure.
    seconds : int
        How long a case may take before it counts as a hang.
    attempt_file : function of (content, folder), optional
        Reads one file again.
    """

    name: str
    n_cases: int
    n_quick: int
    prepare: Callable[..., Any]
    attempt: Callable[[Rng, Path, Any], None]
    seconds: int = 30
    attempt_file: Callable[[bytes, Path], None] | None = None

    def rng(self, seed: int, case: int) -> Rng:
        """Return the generator of a case, which nothing else has a part in."""
        return np.random.default_rng([seed, zlib.crc32(self.name.encode()), case])

    def shared(self, folder: Path, *, keep: bool) -> Any:
        """Return what all cases share: for files, the corpus that was kept, where it is to be used."""
        return self.prepare(folder, keep=True) if keep and self.attempt_file else self.prepare(folder)

    def outcome(self, seed: int, case: int, folder: Path, shared: Any) -> str:
        """Run a case: "read", "refused", or what is wrong."""
        return outcome_of(lambda: self.attempt(self.rng(seed, case), folder, shared))


def outcome_of(attempt: Callable[[], None]) -> str:
    """Say how an attempt ends: "read", "refused", or what is wrong."""
    try:
        attempt()
    except ClustrepError:
        return "refused"
    except BaseException as error:
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = "" if place is None else f" ({Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno})"
        return f"{type(error).__name__}: {str(error)[:300]!r}{where}"
    return "read"
