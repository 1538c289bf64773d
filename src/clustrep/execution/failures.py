"""Values that failed: counted by cause, merged, and reported once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clustrep.errors import AllReplicatesFailed, ReplicateWarning, warn
from clustrep.text import plural
from clustrep.types import IntArray


@dataclass(frozen=True, eq=False, repr=False)
class Failures(Mapping[str, int]):
    """How many values failed, by cause: a read-only mapping of cause to count, equal to a dict of the same counts.

    Parameters
    ----------
    counts : mapping of str to int
        The number of failed values for every cause that occurred.
    n_values : int
        The number of values that were computed, failed ones included.

    Examples
    --------
    >>> failures = Failures({"too few points": 2}, n_values=10) + Failures({"no convergence": 1}, n_values=5)
    >>> failures == {"too few points": 2, "no convergence": 1}
    True
    >>> failures.total, failures.n_values
    (3, 15)
    >>> failures.sentence("score")
    '3 scores of 15 failed and were omitted: too few points (2); no convergence (1).'
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    n_values: int = 0

    @staticmethod
    def number(causes: NDArray[np.object_]) -> tuple[IntArray, tuple[str, ...]]:
        """Number causes from 1 in the order of their appearance; 0 where there is none, the empty text.

        Examples
        --------
        >>> failed, names = Failures.number(np.array(["", "no convergence", ""], dtype=object))
        >>> failed.tolist(), names
        ([0, 1, 0], ('no convergence',))
        """
        names = tuple(dict.fromkeys(cause for cause in causes.ravel() if cause))
        numbers = {"": 0, **{cause: i for i, cause in enumerate(names, 1)}}
        return np.vectorize(numbers.__getitem__, otypes=[np.int64])(causes), names

    @classmethod
    def count(cls, failed: IntArray, causes: Sequence[str], n_values: int | None = None) -> Failures:
        """Count numbered causes: 0 for no failure, i for `causes[i - 1]`; of `failed.size` values by default."""
        counts = Counter(failed[failed > 0].tolist())
        by_cause = {cause: counts[i] for i, cause in enumerate(causes, 1) if counts[i]}
        return cls(by_cause, failed.size if n_values is None else n_values)

    @classmethod
    def merge(cls, several: Sequence[Failures]) -> Failures:
        """Add the counts of several results, cause by cause."""
        return sum(several, start=cls())

    def __add__(self, other: Failures) -> Failures:
        return Failures(dict(Counter(self.counts) + Counter(other.counts)), self.n_values + other.n_values)

    def __getitem__(self, cause: str) -> int:
        return self.counts[cause]

    def __iter__(self) -> Iterator[str]:
        return iter(self.counts)

    def __len__(self) -> int:
        return len(self.counts)

    def __repr__(self) -> str:
        return repr(dict(self.counts))

    @property
    def total(self) -> int:
        """The number of failed values."""
        return sum(self.counts.values())

    def lines(self, noun: str) -> list[str]:
        """Write one line for every cause."""
        return [f"Failed: {plural(count, noun)}: {cause}" for cause, count in self.counts.items()]

    def sentence(self, noun: str) -> str:
        """Write the counts as a sentence; empty where nothing failed."""
        if not self.counts:
            return ""
        of_all = f" of {self.n_values:,}" if self.n_values else ""
        verb = "was" if self.total == 1 else "were"
        return f"{plural(self.total, noun)}{of_all} failed and {verb} omitted: {self._causes}."

    def report(self, noun: str, *, nothing_left: bool | None = None, where: str = "") -> None:
        """Warn once of everything that failed; raise where no resample is left.

        Parameters
        ----------
        noun : str
            What the values are: "score", "resample", "fit".
        nothing_left : bool, optional
            Whether no resample has a value; by default, whether all values failed.
        where : str
            A further sentence, such as which studies are concerned.

        Raises
        ------
        AllReplicatesFailed
        """
        if not self.counts:
            return
        if self.total == self.n_values if nothing_left is None else nothing_left:
            raise AllReplicatesFailed(f"All resamples failed: {self._causes}.{where}")
        warn(f"{self.sentence(noun)}{where}", ReplicateWarning)

    @property
    def _causes(self) -> str:
        return "; ".join(f"{cause} ({count:,})" for cause, count in self.counts.items())
