"""Files that reached something new, kept from run to run: the next changes begin there.

New is a line of `clustrep.data` that no file before it reached, or a sentence of another form. What is read in a
process of its own (h5ad, Zarr) shows its sentences alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any

import clustrep.data
from clustrep.errors import ClustrepError
from fuzz.target import Rng

CORPUS = Path(__file__).parent / "corpus"
WATCHED = str(Path(clustrep.data.__file__).parent)
LARGEST = 200_000  # bytes of a file that is kept


def rng_of(content: bytes) -> Rng:
    """Return a generator that follows from a file alone, so that the file is all that it takes to try it again."""
    import numpy as np

    return np.random.default_rng(list(sha256(content).digest()))


class Corpus:
    """Files to change: those that a target begins with, and those kept in a folder.

    Without a folder, nothing is kept, and a case follows from the seed and its number alone.
    """

    def __init__(self, contents: list[bytes], folder: Path | None = None):
        self.contents, self.folder = list(contents), folder
        self.seen: set[Any] = set()
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self.contents += [path.read_bytes() for path in sorted(folder.glob("new-*"))]

    def keep(self, content: bytes, kind: str) -> None:
        """Write a file into the folder: "new", or "failed"."""
        if self.folder is not None:
            (self.folder / f"{kind}-{sha256(content).hexdigest()[:16]}").write_bytes(content)

    def watch(self, content: bytes, attempt: Callable[[], None]) -> None:
        """Try a file; keep it where it reaches something new."""
        reached: set[Any] = set()

        def traced(frame: FrameType, event: str, _: Any) -> Any:
            if not frame.f_code.co_filename.startswith(WATCHED):
                return None
            reached.add((frame.f_code.co_filename, frame.f_lineno))
            return traced

        if self.folder is not None:
            sys.settrace(traced)
        try:
            attempt()
        except ClustrepError as error:
            reached.add(re.sub(r"'[^']*'|\([^)]*\)|[\d,.]+", "", str(error))[:80])
            raise
        except BaseException:
            self.keep(content, "failed")
            raise
        finally:
            sys.settrace(None)
            if reached - self.seen and len(content) < LARGEST and self.folder is not None:
                self.keep(content, "new")
                self.contents.append(content)
            self.seen |= reached
