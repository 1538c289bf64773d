"""What the files of a site store, and the log of what they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from clustrep.agreement.batches import NO_NUMBER
from clustrep.agreement.contingency import ONLY_NOISE
from clustrep.checks import check_choice, check_integer, is_whole
from clustrep.errors import ParameterError
from clustrep.execution.seeds import derived_root_with
from clustrep.fitting.resample import FEW_DISTINCT_POINTS, FEWER_CLUSTERS, TOO_LARGE
from clustrep.text import plural

# A number that cannot be guessed has at least this number of bits.
SECRET_BITS = 64
# Causes of failures whose text names no sample and no value; of others only the kind of error is told.
HARMLESS = (FEWER_CLUSTERS, FEW_DISTINCT_POINTS, TOO_LARGE, ONLY_NOISE, NO_NUMBER)


@dataclass(frozen=True)
class Disclosure:
    """The rules by which a site decides what its files store.

    They do not make the files safe: these can reveal patients to a partner who tries, and are for partners who trust
    each other.

    Parameters
    ----------
    min_cluster_size : int
        Numbers of a cluster (or subcluster, leaf or component) of fewer different samples are withheld, and counts from
        1 to one less are not told; a count of 0 is. Sites use 3 to 11. Clusters of two functions that both pass can
        differ by a single sample, which then follows from their means and sizes.
    small : {"omit", "merge"}
        What becomes of a function with a small cluster: it is left out and counted; or the cluster is merged into the
        nearest, where the function consists of means.
    precision : {"double", "single"}
        In how many digits functions are written. Single precision halves the file, and may change labels of samples
        that lie on a border.
    secret : int, optional
        A number of at least 64 bits that this site keeps to itself and uses in every call: its draws then do not follow
        from the seed and the study's name. It does not protect the functions of the full study. Scores are as valid,
        but no longer those of the pooled run, bit for bit. `secrets.randbits(128)` makes one.

    See Also
    --------
    learn, score : The functions that obey it.

    Notes
    -----
    With k-means, k = 2 to 6, secret draws and the default rules, 162 of 200 files of 120 samples gave at least one
    sample exactly, by the difference of two clusters. docs/federated.md lists the attacks that were tried, with their
    rates.

    Examples
    --------
    >>> Disclosure(min_cluster_size=5, small="merge").min_cluster_size
    5
    """

    min_cluster_size: int = 10
    small: Literal["omit", "merge"] = "omit"
    precision: Literal["double", "single"] = "double"
    secret: int | None = None

    def __post_init__(self) -> None:
        check_integer(self.min_cluster_size, "min_cluster_size")
        check_choice(self.small, "small", ("omit", "merge"))
        check_choice(self.precision, "precision", ("double", "single"))
        if self.secret is not None and not is_whole(self.secret, at_least=2 ** (SECRET_BITS - 1)):
            raise ParameterError(
                f"secret must be a whole number of at least {SECRET_BITS} bits, which cannot be guessed: "
                "secrets.randbits(128) makes one.",
                parameter="secret",
            )

    def root(self, seed: int) -> int:
        """Return the number that this site's draws follow from."""
        return seed if self.secret is None else derived_root_with(seed, self.secret)

    def to_fields(self) -> dict[str, Any]:
        """Return the rules in plain types, for a file; never the secret."""
        return {
            "min_cluster_size": int(self.min_cluster_size),
            "small": self.small,
            "precision": self.precision,
            "secret_draws": self.secret is not None,
        }


def check_rules(plain: Mapping[str, Any]) -> None:
    """Check the rules of a file from elsewhere; if they are something else, the error may be of any kind."""
    expected = Disclosure().to_fields()
    if set(plain) != set(expected) or not isinstance(plain["secret_draws"], bool):
        raise ValueError
    Disclosure(plain["min_cluster_size"], plain["small"], plain["precision"])


def harmless(cause: str) -> str:
    """Return the cause of a failure without what it may tell of samples: of a foreign error only its kind."""
    if not cause or cause in HARMLESS or cause.startswith(WITHHELD):
        return cause
    return cause.partition(":")[0]


# ---------------------------------------------------------------------------------------------------------------------
# parts that are withheld, and why

WITHHELD = "withheld by the site"


def withheld(of_group: str, least: int) -> str:
    """Say why a function does not travel: the cause that results count."""
    return f"{WITHHELD}: a {of_group} of fewer than {plural(least, 'sample')}"


@dataclass(frozen=True)
class LogEntry:
    """One line of the disclosure log: what was withheld or changed, how many of how many, and why."""

    about: str
    count: int
    of: int
    why: str

    def __str__(self) -> str:
        return f"{self.about}: {self.count:,} of {self.of:,}, {self.why}"

    def to_fields(self) -> list[Any]:
        """Return the entry in plain types."""
        return [self.about, int(self.count), int(self.of), self.why]


def entries_of(plain: Sequence[Any]) -> tuple[LogEntry, ...]:
    """Read the log of a file."""
    return tuple(LogEntry(str(about), int(count), int(of), str(why)) for about, count, of, why in plain)


def rare_values(X: np.ndarray[Any, Any], groups: np.ndarray[Any, Any], least: int) -> tuple[int, int]:
    """Count means of two-valued features in which the rarer value has fewer samples than the rule, and all of them.

    The mean of this feature, times the size of its cluster, is a count of samples.
    """
    two_valued = [j for j in range(X.shape[1]) if len(np.unique(X[:, j])) == 2]
    small = total = 0
    for j in two_valued:
        ones = X[:, j] == X[:, j].max()
        for group in np.unique(groups):
            members = ones[groups == group]
            rarer = min(int(members.sum()), int((~members).sum()))
            small += 0 < rarer < least
            total += 1
    return small, total
