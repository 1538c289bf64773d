"""The log of what left: lines are appended and never changed, and each names the one before."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from clustrep.errors import DataError
from clustrep.federated.keys import open_private
from clustrep.types import IntArray

FIRST = "0" * 64  # what the first line names as the one before
ENDING, HEAD, LOCK = ".log", ".log.head", ".log.lock"


@dataclass(frozen=True)
class Record:
    """What left a site: one log for one policy and one table.

    Attributes
    ----------
    path : Path
        Beside the policy: its name with `.log`; the last line's digest is in `.log.head`.
    lines : tuple of dict
        Everything that left, ever.
    """

    path: Path
    lines: tuple[Mapping[str, Any], ...]

    @classmethod
    @contextlib.contextmanager
    def opened(cls, policy: Path, table: str) -> Iterator[Record]:
        """Read the log, and hold it until something was appended, or nothing.

        Parameters
        ----------
        policy : Path
        table : str
            Digest of the table: another one than that of the first line is refused.
        """
        path = policy.with_name(policy.name + ENDING)
        with FileLock(policy.with_name(policy.name + LOCK), mode=0o600):
            record = cls(path, _read(path))
            if any(line["table"] != table for line in record.lines):
                raise DataError(
                    f"{path} is about another table: what left of both would tell of the samples in which they differ. "
                    "Use the table as it was, or a new policy for samples of which nothing has left."
                )
            yield record

    def partitions(self) -> list[IntArray]:
        """Return all partitions that were released, each (n_samples,)."""
        return [np.array(labels) for line in self.lines for labels in line.get("partitions", [])]

    def functions(self) -> dict[str, set[str]]:
        """Return which functions of every partner were scored."""
        scored: dict[str, set[str]] = {}
        for line in self.lines:
            for partner, functions in line.get("scored", {}).items():
                scored.setdefault(partner, set()).update(functions)
        return scored

    def append(self, **entries: Any) -> None:
        """Write down what leaves, before it leaves."""
        before = FIRST if not self.lines else str(self.lines[-1]["digest"])
        line = {"before": before, "at": datetime.now(UTC).isoformat(timespec="seconds"), **entries}
        text = json.dumps({**line, "digest": _digest(line)}) + "\n"
        _written(self.path, text, os.O_APPEND)
        _written(self.path.with_name(self.path.name + ".head"), f"{len(self.lines) + 1} {_digest(line)}\n", os.O_TRUNC)


def _digest(line: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(line, sort_keys=True).encode()).hexdigest()


def _written(path: Path, text: str, how: int) -> None:
    try:
        with open_private(path, "the log", os.O_RDWR | os.O_CREAT | how) as stream:
            stream.write(text.encode())
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise DataError(f"{path} can't be written ({error.strerror}), so nothing leaves: make space for it.") from None


def _read(path: Path) -> tuple[Mapping[str, Any], ...]:
    """Read all lines, and check that none is missing or was changed."""
    head = path.with_name(path.name + ".head")
    if not os.path.lexists(path) and not os.path.lexists(head):
        return ()
    changed = (
        f"{path} was changed, or is damaged: restore it with {head.name}, because nothing more may leave without it."
    )
    with open_private(path, "the log of what left") as stream, open_private(head, "the end of the log") as last:
        try:
            lines = [json.loads(line) for line in stream.read().splitlines()]
            number, digest = last.read().decode().split()
            before = FIRST
            for line in lines:
                told = line["digest"]
                if line["before"] != before or _digest({k: v for k, v in line.items() if k != "digest"}) != told:
                    raise ValueError
                before = told
            # The head is written after the line: an interruption between both leaves one line more.
            at = int(number)
            if not 1 <= at <= len(lines) <= at + 1 or lines[at - 1]["digest"] != digest:
                raise ValueError
        except Exception:  # of any kind, where lines are not what they should be
            raise DataError(changed) from None
    return tuple(lines)
