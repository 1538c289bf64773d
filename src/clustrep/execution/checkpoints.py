r"""Finished replicates in a folder, so that a run that was ended continues where it stopped.

    folder/manifest.json           what the run is about: data, seed, versions, clusterers, code; and its own SHA-256
    folder/replicability-…/        one folder a step, named after a digest of everything that its values follow from
    folder/replicability-…/0-17-….npz   some replicates as JSON, compressed, and the SHA-256 of the whole file

A file is written whole or not at all, and holds no pickle. One that is damaged is named, removed, and its replicates
are computed again. A step's values are kept by parts, its configurations, so that another number of clusters or another
clusterer needs no more than its own replicates.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import hashlib
import json
import logging
import math
import re
import shutil
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clustrep.errors import AllReplicatesFailed, DataError, OtherRun, ParameterError
from clustrep.execution.context import config, in_force
from clustrep.execution.seeds import FULL_STUDY, Failed
from clustrep.files.archives import KINDS, check_seal, declared_arrays, read_array, write_archive
from clustrep.files.folders import claimed
from clustrep.files.saved import written_whole
from clustrep.text import argument, listing

if TYPE_CHECKING:
    from clustrep.execution.run import Plan

FORMAT = 3

MANIFEST = "manifest.json"

HEADER = "clustrep"

WRITTEN_EVERY = 1.0  # seconds of work that an end at any moment may cost

LEFTOVERS = ".clustrep-*"  # what `written_whole` leaves where its process is killed

BLOCKS = "*.npz"

# How the names of what computes begin, in questions.
VERSION, CODE, VALUE = "the version of", "the code of", "the value of"

STEP_NAME = re.compile(r".*-[0-9a-f]{16}")

logger = logging.getLogger("clustrep")


class Manifest(NamedTuple):
    """What a run in a folder is about: facts that may not change, and clusterers, to which others may be added.

    The digests in facts and clusterers cover the code; by its names, differences in it can be named.
    """

    facts: Mapping[str, str]
    clusterers: Mapping[str, str]
    code: Mapping[str, str] = MappingProxyType({})  # digests or versions; several where definitions share a name


Keep: TypeAlias = Callable[[Sequence[int], Any], None]
# Computes replicates, hands over each block as it is finished, and returns warnings that belong to none.
Compute: TypeAlias = Callable[[Any, Sequence[int], Keep], list[tuple[str, str]]]


# ---------------------------------------------------------------------------------------------------------------------
# the folder of a run


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A folder in which the run that is in progress keeps what it has finished."""

    folder: Path
    shard: Shard | None = None
    totals: Mapping[str, int] = field(default_factory=dict)  # of several calls, by unit
    definitions: dict[int, Any] = field(default_factory=dict)  # that were looked at in this run, by their id
    _looked_at: set[str] = field(default_factory=set)
    _latest: dict[str, str] = field(default_factory=dict)  # how much is finished, by computation

    def completed(
        self, plan: Plan[Any], facts: Mapping[str, str], numbers: Sequence[int], compute: Compute
    ) -> tuple[list[Any], list[tuple[str, str]]]:
        """Return the values of replicates, of which only those that are not in the folder are computed."""
        step, parts = Step.of(self.folder, plan, facts), plan.parts
        finished = step.read(plan, numbers)
        self._say(plan, step, numbers, finished)
        missing: dict[tuple[bool, tuple[int, ...]], list[int]] = {}
        for number in numbers:
            places = tuple(i for i, part in enumerate(parts) if (part, number) not in finished.values)
            # All shards have resample 0: in a separate file, which is the same in all of them.
            is_common = self.shard is not None and number == FULL_STUDY
            if places:
                missing.setdefault((is_common, places), []).append(number)
        messages: list[tuple[str, str]] = []
        for (_, places), of_places in missing.items():
            needed = plan if len(places) == len(parts) else plan.only(places)
            try:
                with Writer(step, needed, finished) as writer:
                    messages += compute(needed, of_places, writer.add)
            finally:
                if finished.values:
                    self._latest[plan.description] = self._part_done(plan, numbers, finished)
        values = [plan.join_values([finished.values[part, number] for part in parts]) for number in numbers]
        return values, [*finished.warnings, *messages]

    def _say(self, plan: Plan[Any], step: Step, numbers: Sequence[int], finished: Finished) -> None:
        """Say how much of a step was done before this run."""
        if step.digest in self._looked_at:
            return
        self._looked_at.add(step.digest)
        text = f"{self._part_done(plan, numbers, finished)} were done."
        if finished.values and text not in self._looked_at:
            self._looked_at.add(text)
            logger.info("%s", text)

    def say_latest(self) -> None:
        """Say how much is finished of everything that was computed."""
        for text in self._latest.values():
            logger.info("%s are done.", text)

    def _part_done(self, plan: Plan[Any], numbers: Sequence[int], finished: Finished) -> str:
        """Write how much of a step is finished: "replicability: 61 of 100 resamples"."""
        first, parts = 1 if numbers and numbers[0] == FULL_STUDY else 0, set(plan.parts)
        asked: Sequence[int] = numbers[first:]
        if self.shard is None and plan.unit in self.totals:  # of which this call may ask for the first ones only
            asked = range(1, 1 + self.totals[plan.unit])
        # Quick even where much is asked for: an interrupt within it would hide how much is done.
        n_parts = Counter(number for part, number in finished.values if part in parts)
        within = asked if isinstance(asked, range) else set(asked)
        n_done = sum(n == len(parts) and number in within for number, n in n_parts.items())
        return f"{plan.description}: {n_done} of {len(asked)} {plan.unit}"


@contextlib.contextmanager
def checkpointing(
    manifest: Callable[[], Manifest],
    rng: Any,
    totals: Mapping[str, int] | None = None,
    shard: Shard | None = None,
) -> Iterator[None]:
    """Keep whatever is computed in the folder of `config_context`, and take from there what was computed before.

    Without a folder nothing is kept; within another run, its checkpoint is this one's.

    totals : how many replicates all calls within ask for together, by their unit
    shard : compute this share of the replicates alone, and return no others

    Raises
    ------
    OtherRun
        Where the folder is another run's; the difference is named.
    """
    folder = config().checkpoint
    if folder is None or config().in_progress is not None:
        yield
        return
    if rng is None:
        raise ParameterError(
            f"checkpoint needs a fixed seed: pass {argument('rng', 0)}, or another whole number.", parameter="rng"
        )
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise ParameterError(f"checkpoint must be the name of a folder, {path} is a file.", parameter="checkpoint")
    with claimed(path, "checkpoint"):
        for folder_of_files in (path, *_steps(path)):
            _remove_files(folder_of_files, LEFTOVERS)
        is_new = not (path / MANIFEST).exists()
        checkpoint = Checkpoint(path, shard, totals or {})
        with in_force(replace(config(), in_progress=checkpoint)):
            _check_manifest(path, manifest())
            try:
                yield
            except KeyboardInterrupt:
                checkpoint.say_latest()
                raise
            except (DataError, AllReplicatesFailed):
                if is_new:  # asking the same again would end here again
                    _discard(path)
                raise
            finally:
                if not holds_replicates(path):
                    _discard(path)


def holds_replicates(folder: Path) -> bool:
    """Whether something that a run has finished is kept in a folder."""
    return any(any(step.glob(BLOCKS)) for step in _steps(folder))


def _steps(folder: Path) -> list[Path]:
    """Return the folders of steps; the user may have others beside them."""
    return [path for path in sorted(folder.glob("*-*")) if STEP_NAME.fullmatch(path.name) and path.is_dir()]


def _remove_files(folder: Path, pattern: str) -> None:
    for path in folder.glob(pattern):
        if path.is_file():
            path.unlink(missing_ok=True)


def _discard(folder: Path) -> None:
    """Remove what was kept in a folder, so that it is free for another manifest; the user's own files stay."""
    for step in _steps(folder):
        _remove_files(step, BLOCKS)
        with contextlib.suppress(OSError):  # where there is something else in it
            step.rmdir()
    (folder / MANIFEST).unlink(missing_ok=True)


def _check_manifest(folder: Path, manifest: Manifest) -> None:
    """Check that a folder is this run's, or write down that it is."""
    before = read_manifest(folder)
    if before is not None:
        differences = differences_between(before, manifest)
        if differences:
            raise OtherRun(
                f"{folder} holds the checkpoint of another run: {listing(differences)}. Ask the same again, or "
                "name another folder.",
                parameter="checkpoint",
                differences=listing(differences),
            )
    both = manifest if before is None else _joined(before, manifest)
    if both != before:
        body = {"format": FORMAT, **{name: dict(content) for name, content in both._asdict().items()}}
        with written_whole(folder / MANIFEST) as stream:
            stream.write(json.dumps({**body, "sha256": _digest(body)}, indent=1).encode())


def _joined(before: Manifest, now: Manifest) -> Manifest:
    """Return what two runs in one folder are about."""
    code = {
        name: " ".join(sorted({*text.split(), *before.code.get(name, "").split()})) for name, text in now.code.items()
    }
    return Manifest(now.facts, {**before.clusterers, **now.clusterers}, {**before.code, **code})


def differences_between(before: Manifest, now: Manifest) -> list[str]:
    """Name what differs between two runs; further clusterers, and what computes in these, are no difference."""
    named: list[str] = []
    for name in (name for name in now.code if name in before.code):
        here, there = now.code[name], before.code[name]
        if set(here.split()) <= set(there.split()) or set(there.split()) <= set(here.split()):
            continue  # the same, or further functions of that name
        named.append(f"{name} is {here}, was {there}" if name.startswith(VERSION) else f"{name} has changed")
    is_explained = bool(named)
    facts = [(name, now.facts.get(name), before.facts.get(name)) for name in {**now.facts, **before.facts}]
    clusterers = [
        (f"clusterer {name}", here, before.clusterers.get(name, here)) for name, here in now.clusterers.items()
    ]
    for name, described, former in [*facts, *clusterers]:
        if described is None or former is None:
            named.append(f"{name} is {'new' if former is None else 'missing'}")
            continue
        differ_in_digest = described.rpartition(" [")[0] == former.rpartition(" [")[0] != ""
        if described != former and not (is_explained and differ_in_digest):
            named.append(f"{name} is {described}, was {former}")
    return named


def read_manifest(folder: Path) -> Manifest | None:
    """Read the manifest of a folder; None where there is none, or with a warning where it is damaged.

    The files of steps say themselves what they are about: without a manifest, none is used for another manifest.
    """
    path = folder / MANIFEST
    if not path.exists():
        return None
    try:
        body = json.loads(path.read_bytes())
        if body.pop("sha256") != _digest(body):
            raise ValueError
        if body["format"] != FORMAT:
            logger.warning("%s is of another version of clustrep, and is written anew.", path)
            return None
        return Manifest(*(dict(body[name]) for name in Manifest._fields))
    except Exception:  # a damaged file can raise almost anything
        logger.warning("%s is damaged, and is written anew.", path)
        return None


# ---------------------------------------------------------------------------------------------------------------------
# shards


@dataclass(frozen=True)
class Shard:
    """One of several shares of all replicates: number i of n has every n-th of them, from the i-th."""

    number: int
    of: int

    def share_of(self, numbers: Sequence[int]) -> list[int]:
        """Return the numbers of this share; number 0, the studies without resampling, belongs to every one."""
        is_full = bool(numbers) and numbers[0] == FULL_STUDY
        rest = numbers[1:] if is_full else numbers
        return [*([FULL_STUDY] if is_full else []), *rest[self.number - 1 :: self.of]]


def share_of(numbers: Sequence[int]) -> Sequence[int]:
    """Return the replicates that this process is to compute of those that are asked for."""
    checkpoint = config().in_progress
    return numbers if checkpoint is None or checkpoint.shard is None else checkpoint.shard.share_of(numbers)


def computes_a_share() -> bool:
    """Whether this process computes a share of a run: replicates that all fail here may not be all that there are."""
    checkpoint = config().in_progress
    return checkpoint is not None and checkpoint.shard is not None


def merge_into(folder: Path, shards: Sequence[Path]) -> None:
    """Copy what shards of one run have finished into one folder.

    Raises
    ------
    DataError
        Where a folder has no checkpoints, or those of another run; the difference is named.
    """
    first: Manifest | None = None
    for shard in shards:
        manifest = read_manifest(shard)
        if manifest is None:
            raise DataError(
                f"{shard} holds no checkpoint of a run, or its {MANIFEST} is damaged: compute that shard "
                "again, or leave it out, and its replicates are computed now."
            )
        first = first or manifest
        differences = differences_between(first, manifest) or differences_between(manifest, first)
        if differences:
            raise DataError(
                f"{shards[0]} and {shard} are of different runs: {listing(differences)}. Name shards of one run."
            )
    if first is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    _check_manifest(folder, first)
    for path in (path for shard in shards for step in _steps(shard) for path in sorted(step.glob(BLOCKS))):
        target = folder / path.parent.name / path.name
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            with written_whole(target) as stream, open(path, "rb") as source:
                shutil.copyfileobj(source, stream)


# ---------------------------------------------------------------------------------------------------------------------
# steps


@dataclass(eq=False)
class Finished:
    """Values of a step by part and number, and what was warned meanwhile."""

    values: dict[tuple[str, int], Any] = field(default_factory=dict)
    warnings: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Step:
    """The files of one plan."""

    folder: Path
    digest: str

    @classmethod
    def of(cls, folder: Path, plan: Plan[Any], facts: Mapping[str, str]) -> Step:
        """Find the folder of a plan."""
        digest = _digest({"kind": type(plan).__name__, "question": dict(facts)})
        kind = re.sub(r"\W+", "-", plan.description)
        return cls(folder / f"{kind}-{digest[:16]}", digest)

    def read(self, plan: Plan[Any], numbers: Sequence[int]) -> Finished:
        """Read the blocks of these replicates; damaged files are named and removed.

        What was warned belongs to all replicates of a file: one with warnings is used as a whole, or not at all.
        """
        finished, wanted_numbers, wanted_parts = Finished(), set(numbers), set(plan.parts)
        for path in sorted(self.folder.glob(BLOCKS)):
            try:
                block = self._read_block(path, plan)
            except MemoryError:
                raise
            except Exception as error:  # a damaged archive can raise almost anything
                said = f"can't be read ({error.strerror})" if isinstance(error, OSError) else "is damaged"
                logger.warning("%s %s: its replicates are computed again.", path, said)
                with contextlib.suppress(OSError):
                    path.unlink()
                continue
            is_whole = {number for _, number in block.values} <= wanted_numbers
            is_whole = is_whole and {part for part, _ in block.values} <= wanted_parts
            is_new = not any(key in finished.values for key in block.values)
            if block.warnings and not (is_whole and is_new):
                continue
            finished.values.update(block.values)
            finished.warnings += block.warnings
        return finished

    def _read_block(self, path: Path, plan: Plan[Any]) -> Finished:
        with open(path, "rb") as stream:
            check_seal(stream)
            with zipfile.ZipFile(stream) as archive:
                declared_arrays(archive, None)
                header = json.loads(read_array(archive, HEADER).tobytes())
        if header["format"] != FORMAT or header["step"] != self.digest:
            raise ValueError("of another step")
        keys = [(part, number) for part in header["parts"] for number in header["numbers"]]
        values = unpack(header["values"], (*plan.records, Failed))
        return Finished(dict(zip(keys, values, strict=True)), [tuple(message) for message in header["warnings"]])

    def write(self, parts: Sequence[str], numbers: Sequence[int], finished: Finished) -> None:
        """Write some replicates to a new file."""
        header = {
            "format": FORMAT,
            "step": self.digest,
            "parts": list(parts),
            "numbers": list(numbers),
            "values": pack([finished.values[part, number] for part in parts for number in numbers]),
            "warnings": finished.warnings,
        }
        name = f"{numbers[0]}-{numbers[-1]}-{_digest([*parts, *numbers])[:8]}.npz"
        self.folder.mkdir(exist_ok=True)
        with written_whole(self.folder / name) as stream:
            write_archive(stream, {HEADER: np.frombuffer(json.dumps(header).encode(), np.uint8)})


class Writer(contextlib.AbstractContextManager["Writer"]):
    """Takes finished blocks, and writes them from time to time, and at the end, whatever ends the run."""

    def __init__(self, step: Step, plan: Plan[Any], finished: Finished):
        self._step, self._plan, self._finished = step, plan, finished
        self._parts = plan.parts  # digests, which take their time
        self._pending, self._numbers = Finished(), list[int]()
        self._written = time.monotonic()
        self._works = True

    def add(self, numbers: Sequence[int], outcome: Any) -> None:
        """Take a block: its numbers, and its values with their warnings. What was lost is not written."""
        values: dict[tuple[str, int], Any] = {}
        for number, value in zip(numbers, outcome.values, strict=True):
            parts = zip(self._parts, self._plan.split_value(value), strict=True)
            values.update({(part, number): of_part for part, of_part in parts})
        if outcome.lost:
            self._finished.values.update(values)
            return
        self._pending.values.update(values)
        self._numbers += numbers
        self._pending.warnings += outcome.warnings
        if time.monotonic() - self._written >= WRITTEN_EVERY:
            self.write()

    def write(self) -> None:
        """Write pending blocks; where that fails, the run goes on without a checkpoint."""
        if not self._numbers:
            return
        if self._works:
            try:
                self._step.write(tuple(dict.fromkeys(self._parts)), self._numbers, self._pending)
            except (OSError, DataError) as error:
                self._works = False
                reason = str(getattr(error, "strerror", None) or error).rstrip(".")
                logger.warning("%s can't be written to (%s): the run goes on without.", self._step.folder, reason)
        self._finished.values.update(self._pending.values)
        self._finished.warnings += self._pending.warnings
        self._pending, self._numbers, self._written = Finished(), [], time.monotonic()

    def __exit__(self, *_: object) -> None:
        """Write pending blocks."""
        self.write()


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


# ---------------------------------------------------------------------------------------------------------------------
# Values of replicates as JSON: tuples, lists, texts, numbers, arrays and records of known types


def pack(value: Any) -> Any:
    """Describe a value in JSON's types; arrays by their bytes."""
    if isinstance(value, np.generic):  # before Python's: some of NumPy's floats are both
        return ["number", *_pack_array(np.asarray(value))]
    if value is None or isinstance(value, bool | int | float | str):
        return ["plain", value]
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        items = value.ravel().tolist()
        if not all(type(item) is str for item in items):
            raise TypeError("an array of Python objects other than texts can't be stored")
        return ["texts", list(value.shape), items]
    if isinstance(value, np.ndarray):
        return ["array", *_pack_array(value)]
    if hasattr(value, "_fields"):
        return ["record", type(value).__name__, [pack(item) for item in value]]
    if dataclasses.is_dataclass(value):
        fields = [getattr(value, field.name) for field in dataclasses.fields(value) if field.init]
        return ["record", type(value).__name__, [pack(item) for item in fields]]
    if isinstance(value, list | tuple):
        return [type(value).__name__, [pack(item) for item in value]]
    raise TypeError(f"{type(value).__name__} can't be stored")


def _pack_array(array: NDArray[Any]) -> list[Any]:
    if array.dtype.kind not in KINDS:
        raise TypeError(f"arrays of type {array.dtype} can't be stored")
    stored = array.astype(array.dtype.newbyteorder("<"))
    return [stored.dtype.str, list(array.shape), base64.b64encode(stored.tobytes()).decode()]


def unpack(described: Any, types: Iterable[type]) -> Any:
    """Return the value that was described; what does not fit together raises an error of any kind."""
    by_name = {known.__name__: known for known in types}

    def value_of(node: Any) -> Any:
        kind, *content = node
        if kind == "plain":
            return content[0]
        if kind in ("array", "number"):
            dtype, shape, encoded = np.dtype(content[0]), content[1], base64.b64decode(content[2])
            if dtype.kind not in KINDS or len(encoded) != math.prod(shape) * dtype.itemsize:
                raise ValueError("an array of another type or length")
            array = np.ndarray(shape, dtype, encoded).astype(dtype.newbyteorder("="))  # a copy that can be written to
            return array if kind == "array" else array[()]
        if kind == "texts":
            return np.array([*content[1], None], dtype=object)[:-1].reshape(content[0])
        if kind == "record":
            name, fields = content
            return by_name[name](*map(value_of, fields))
        return {"list": list, "tuple": tuple}[kind](map(value_of, content[0]))

    return value_of(described)
