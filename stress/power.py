"""Cut the power: from a record of what runs did to files, the disks that a power cut at any moment could leave.

A library (`power.c`, compiled here) is preloaded into real runs and records what they do, in order. A disk then holds
every change before the last synchronisation of its file or folder. Of the later ones it holds, by chance, the first
few, or any of them: renames and new names may be lost, and data cut short or zero bytes. Only a rename is never half
done, as on all journaling file systems, and is safe once the folder that it goes to was synchronised.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

COMPILER = (shutil.which("cc") or shutil.which("gcc")) if sys.platform == "linux" else None


@dataclass(eq=False)
class Node:
    """A file with its changes, or a folder, and when it was synchronised."""

    is_folder: bool
    changes: list[tuple[int, int, bytes | None]] = field(default_factory=list)  # when, where, bytes or a new end
    syncs: list[int] = field(default_factory=list)

    def content(self, until: int) -> bytes:
        """Return the bytes before a moment."""
        return _changed(b"", [change for change in self.changes if change[0] < until])

    def remains(self, until: int, rng: np.random.Generator) -> bytes:
        """Return bytes that a disk could hold after a power cut."""
        safe = max((sync for sync in self.syncs if sync < until), default=0)
        later = [change for change in self.changes if safe <= change[0] < until]
        content = self.content(safe)
        if not later:
            return content
        whole = _changed(content, later)
        few = _changed(content, later[: rng.integers(len(later) + 1)])
        zeros = content + bytes(max(0, len(whole) - len(content)))  # its length was written, its bytes were not
        return (content, whole, few, few[: rng.integers(len(few) + 1)], zeros)[rng.integers(5)]


def _changed(content: bytes, changes: list[tuple[int, int, bytes | None]]) -> bytes:
    held = bytearray(content)
    for _, place, written in changes:
        held.extend(bytes(max(0, place - len(held))))
        held[place : None if written is None else place + len(written)] = written or b""
    return bytes(held)


class Naming(NamedTuple):
    """A name that is given, changed or taken away: from `name` to `goal`, in a folder."""

    moment: int
    name: str
    goal: str
    node: Node
    folder: Node  # that is to be synchronised


class Record:
    """What happened below a folder, in order."""

    def __init__(self, root: Path, log: bytes):
        self.root, self.names = str(root), {str(root): Node(True)}
        self.namings: list[Naming] = []
        open_files: dict[int, Node] = {}
        place = self.length = 0
        while place < len(log):
            end = log.index(b"\n", place)
            kind, first, second, name, goal = log[place:end].decode().split("\t")
            number, at, place, self.length = int(first), int(second), end + 1, self.length + 1
            if kind == "o":
                if name not in self.names:
                    self._name("", name, Node(False))
                node = open_files[number] = self.names[name]
                if at:
                    node.changes.append((self.length, 0, None))
            elif kind == "w":
                open_files[number].changes.append((self.length, at, log[place : place + int(name)]))
                place += int(name)
            elif kind == "t":
                open_files[number].changes.append((self.length, at, None))
            elif kind == "f":
                open_files[number].syncs.append(self.length)
            else:
                self._name("" if kind == "m" else name, {"m": name, "u": "", "r": goal}[kind])

    def _name(self, name: str, goal: str, new: Node | None = None) -> None:
        node = new or (self.names[name] if name else Node(True))
        folder = self.names[os.path.dirname(goal or name)]
        self.namings.append(Naming(self.length, name, goal, node, folder))
        _apply(self.names, self.namings[-1])

    def moment_of(self, name: str) -> int:
        """Return when a name was first given."""
        return next(naming.moment for naming in self.namings if naming.goal == f"{self.root}/{name}")

    def write(self, target: Path, until: int) -> None:
        """Write the files as they were before a moment."""
        self._write(target, [naming for naming in self.namings if naming.moment < until], lambda n: n.content(until))

    def disk(self, target: Path, until: int, rng: np.random.Generator) -> None:
        """Write files that a disk could hold after a power cut at a moment."""
        before = [naming for naming in self.namings if naming.moment < until]
        safe = [any(naming.moment < sync < until for sync in naming.folder.syncs) for naming in before]
        if rng.integers(2):  # in order, as a journal keeps them
            n_safe = max((i + 1 for i, is_safe in enumerate(safe) if is_safe), default=0)
            kept = before[: rng.integers(n_safe, len(before) + 1)]
        else:
            chance = rng.uniform()
            kept = [naming for naming, is_safe in zip(before, safe, strict=True) if is_safe or rng.uniform() < chance]
        self._write(target, kept, lambda node: node.remains(until, rng))

    def _write(self, target: Path, namings: list[Naming], content: Callable[[Node], bytes]) -> None:
        names = {self.root: self.names[self.root]}
        for naming in namings:
            _apply(names, naming)
        for name, node in sorted(names.items()):
            path = target / os.path.relpath(name, self.root)
            path.mkdir(parents=True, exist_ok=True) if node.is_folder else path.write_bytes(content(node))


def _apply(names: dict[str, Node], naming: Naming) -> None:
    """Give or take a name, where the names before it are there."""
    _, name, goal, node, _ = naming
    below = [path for path in names if name and path.startswith(f"{name}/")]
    if (name and names.get(name) is not node) or (goal and os.path.dirname(goal) not in names):
        return
    if not goal and below:
        return
    if goal and names.get(goal, node).is_folder != node.is_folder:
        return
    for path in below:
        names[goal + path[len(name) :]] = names.pop(path)
    if name:
        del names[name]
    if goal:
        names[goal] = node


def recorded(folder: Path, root: Path, script: str) -> Record:
    """Run Python code, and record what it does below a folder, which is empty before."""
    library, log = folder / "power.so", folder / "power.log"
    source = Path(__file__).with_suffix(".c")
    subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl", "-pthread"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library), "POWER_ROOT": str(root), "POWER_LOG": str(log)}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True, capture_output=True)
    return Record(root, log.read_bytes())
