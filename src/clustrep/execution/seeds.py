"""What belongs to one replicate: its seeds, its failure, its single thread. Workers are not known here."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from clustrep.errors import ClustrepError, invalid
from clustrep.text import said_by

T = TypeVar("T")
Rng: TypeAlias = int | np.random.Generator | np.random.SeedSequence | None

# Replicate 0 is the studies without resampling, replicate b + 1 is resample b.
FULL_STUDY = 0


# ---------------------------------------------------------------------------------------------------------------------
# seeds: they belong to the replicate, never to the worker


class Stream(IntEnum):
    """What a seed is for. The numbers are part of every result: never change one."""

    DRAW = 0
    SECOND_DRAW = 1
    FIT = 2
    SECOND_FIT = 3
    SPLIT = 4
    NULL = 5
    PAIRS = 6
    TIES = 7
    LANDMARKS = 8
    TRANSFORM = 9
    SUBCLUSTERS = 10
    NEIGHBOURS = 11


def root_entropy(rng: Rng) -> int:
    """Return the one number that a whole run follows from.

    Parameters
    ----------
    rng : int, Generator, SeedSequence or None
        What the user passed: a seed; a generator, from which the number is drawn; None for a fresh number.

    Returns
    -------
    int

    Examples
    --------
    >>> root_entropy(7)
    7
    >>> root_entropy(-1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    clustrep.errors.ParameterError: rng must be a non-negative integer, ... or None, got -1.
    """
    if rng is None:
        return _entropy(np.random.SeedSequence())
    if isinstance(rng, np.random.SeedSequence):
        return _entropy(rng)
    if isinstance(rng, np.random.Generator):
        return int.from_bytes(rng.bytes(16), "little")
    if isinstance(rng, Integral) and not isinstance(rng, bool) and rng >= 0:
        return int(rng)
    raise invalid("rng", "a non-negative integer, a numpy Generator, a SeedSequence or None", rng)


def _entropy(sequence: np.random.SeedSequence) -> int:
    if isinstance(sequence.entropy, int) and not sequence.spawn_key:
        return sequence.entropy
    return int.from_bytes(sequence.generate_state(4).tobytes(), "little")


def seed_of(
    root: int, stream: Stream, study: str, replicate: int, n_clusters: int | None = None
) -> np.random.SeedSequence:
    """Return the seed of one study in one resample.

    Parameters
    ----------
    root : int
        Of `root_entropy`.
    stream : Stream
        What the seed is for.
    study : str
        The name of the study.
    replicate : int
        The number of the resample; 0 is the studies without resampling.
    n_clusters : int, default=None
        The number of clusters that a clusterer is to find, where it has one.

    Returns
    -------
    SeedSequence

    Notes
    -----
    The key holds the name of the study, not its place among the others, and neither workers nor blocks: a run on two
    studies is a part of the run on three, and the first 100 of 200 resamples are those of a run of 100.

    Examples
    --------
    >>> seed_of(0, Stream.DRAW, "mainz", 1).generate_state(1) == seed_of(0, Stream.DRAW, "vdx", 1).generate_state(1)
    array([False])
    """
    key = (int(stream), *_numbers_of(study), replicate, n_clusters or 0)
    return np.random.SeedSequence(root, spawn_key=key)


def seed_words(root: int, stream: Stream, study: str, replicate: int) -> tuple[int, ...]:
    """Return the words that NumPy mixes into the seed of one study in one replicate, up to the number of clusters.

    `seed_of` for a number of clusters mixes these and that number: compiled batches seed many fits from them.
    """
    return (*_root_words(root), int(stream), *_numbers_of(study), replicate)


def words_of(seed: np.random.SeedSequence | int) -> tuple[int, ...]:
    """Return the words that NumPy mixes into a seed."""
    if isinstance(seed, np.random.SeedSequence):
        if not isinstance(seed.entropy, int):
            raise TypeError(f"The entropy of a seed must be one number here, got {seed.entropy!r}.")
        return (*_root_words(seed.entropy), *seed.spawn_key) if seed.spawn_key else _words(seed.entropy)
    return _words(seed)


@cache
def _root_words(root: int) -> tuple[int, ...]:
    """Return a root in words of 32 bits, at least as many as the pool that NumPy mixes them into has."""
    words = _words(root)
    return words + (0,) * (4 - len(words))


def _words(number: int) -> tuple[int, ...]:
    words = [number & 0xFFFFFFFF]
    while number := number >> 32:
        words.append(number & 0xFFFFFFFF)
    return tuple(words)


def derived_root(root: int, stream: Stream, number: int = 0) -> int:
    """Return the root of a run within a run: another seed that follows from the first."""
    return _entropy(np.random.SeedSequence(root, spawn_key=(int(stream), number)))


@cache
def _numbers_of(name: str) -> tuple[int, ...]:
    return tuple(np.frombuffer(hashlib.sha256(name.encode()).digest()[:16], dtype="<u4").tolist())


def make_generator(rng: Rng) -> np.random.Generator:
    """Return a generator of random numbers.

    Parameters
    ----------
    rng : int, Generator, SeedSequence or None
        A seed; a generator, which is returned itself, so that its earlier draws count; None for a fresh seed.

    Returns
    -------
    Generator
    """
    if isinstance(rng, np.random.Generator | np.random.SeedSequence):
        return np.random.default_rng(rng)
    return np.random.default_rng(root_entropy(rng))


# ---------------------------------------------------------------------------------------------------------------------
# failures


class ReplicateFailure(Exception):  # noqa: N818 - counted, not an error of the program
    """A fit that gave no clustering function; its text is the cause that results count."""


@dataclass(frozen=True)
class Failed:
    """Represents a value whose computation failed; values derived from it have failed, too."""

    cause: str

    def at(self, place: int) -> Failed:
        """Return this failure; the counterpart of `Labelled.at`."""
        return self


def attempt(function: Callable[..., T], *args: Any, **kwargs: Any) -> T | Failed:
    """Call a user's code; an error in it is a failure of this resample, not of the run.

    Returns
    -------
    object
        What the function returns, or `Failed` with the cause that results count.

    Examples
    --------
    >>> attempt(int, "7"), attempt(int, "seven").cause
    (7, "ValueError: invalid literal for int() with base 10: 'seven'")
    """
    try:
        return function(*args, **kwargs)
    except ReplicateFailure as failure:
        return Failed(str(failure))
    except (ClustrepError, MemoryError):
        raise
    except (Exception, SystemExit) as error:  # a clusterer that calls sys.exit has failed, and ends nothing
        first_line = said_by(error)
        return Failed(f"{type(error).__name__}: {first_line}" if first_line else type(error).__name__)


OWN_MARKER = uuid.uuid4().hex


class Run(NamedTuple):
    """One call of `engine.run.run`."""

    process: int
    number: int
    marker: str = OWN_MARKER  # processes on two machines may have the same number

    @property
    def is_of_this_process(self) -> bool:
        """Whether this process started the run."""
        return self.process == os.getpid() and self.marker == OWN_MARKER


class _Abandoned(BaseException):
    """Ends a thread whose run is over, because of an interrupt or an error elsewhere."""


abandoned: set[Run] = set()

current = threading.local()

one_at_a_time = threading.Lock()  # for what a library keeps once for all threads of a process


def breathe() -> None:
    """Pause between two pieces of long work: interrupts are handled here, and threads of an abandoned run end."""
    if getattr(current, "run", None) in abandoned:
        raise _Abandoned


def run_in_pieces(kernel: Callable[..., bool], *arguments: Any) -> None:
    """Call a kernel until it returns that it has finished."""
    while not kernel(*arguments):
        breathe()


def one_thread() -> contextlib.AbstractContextManager[Any]:
    """Limit BLAS and OpenMP to one thread: their sums must not depend on it, and workers must not compete for cores."""
    limits: contextlib.AbstractContextManager[Any] = thread_pools().limit(limits=1)
    return limits


@cache
def thread_pools() -> Any:
    """Find the libraries that have thread pools: after scikit-learn has loaded them, not before."""
    import sklearn.cluster  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
