"""Files that travel between sites: clustering functions, and scores. Arrays and JSON, never a pickle.

`docs/federated.md` has the schema; `reading` reads them. Every kind says in `check` what its numbers must be like, and
the signature of its site covers all of them, and the session.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from clustrep.agreement.agreements import AGREEMENTS
from clustrep.checks import freeze, is_whole
from clustrep.execution.seeds import Failed
from clustrep.federated.combined import TOLD
from clustrep.federated.forms import NEAREST, Centres
from clustrep.federated.keys import Key
from clustrep.federated.session import VERSION, Session, describe_written
from clustrep.files.saved import Saved
from clustrep.text import listing, plural, printable
from clustrep.types import BoolArray, FloatArray, IntArray

T = TypeVar("T", bound="SiteFile")
SCORE_STEP, SIZE_STEP = 0.05, 5  # to which scores and sizes are rounded
ROUNDING = 1e-9
MOST_SAMPLES = 2**53


class SiteFile(Saved):
    """What files of functions and of scores have in common."""

    version: int
    session: str
    study: str
    n_samples: int
    exact_numbers: bool
    log: tuple[str, ...]
    versions: Mapping[str, str]
    digest: str
    signature: str

    def check_header(self, session: Session) -> None:
        """Raise an error of any kind where what all files have does not fit together."""
        texts = (self.session, self.study, self.digest, self.signature, *self.log, *self.versions.values())
        fits = is_whole(self.n_samples, at_least=1) and self.n_samples <= MOST_SAMPLES
        fits = fits and isinstance(self.exact_numbers, bool)
        if not fits or self.version != VERSION or not all(isinstance(text, str) for text in texts):
            raise ValueError

    def signed(self: T, key: Key) -> T:
        """Return the same with its digest and the signature of its site."""
        digest = digest_of(self)
        return dataclasses.replace(self, digest=digest, signature=key.sign(digest))  # type: ignore[type-var]

    def _said(self, what: str, lines: list[str]) -> str:
        """Describe a file, in lines in which no text of it can pass for another line."""
        exact = ["Exact numbers: values of patients follow from them."] if self.exact_numbers else []
        head = f"{what} of study {self.study!r} ({plural(self.n_samples, 'sample')}), session {self.session[:16]}"
        withheld = ["Withheld:", *(f"  {line}" for line in self.log)] if self.log else ["Withheld: nothing"]
        told = [head, *exact, *lines, *withheld, f"SHA-256: {self.digest}"]
        return "\n".join(map(printable, told))


@dataclass(frozen=True, eq=False)
class Shelf:
    """The functions of one configuration.

    Attributes
    ----------
    kind : str
        How the nearest mean is found: a key of `NEAREST`.
    status : ndarray of int, (n_replicates,)
        0 where there is a function, else the number of the cause in the file's `causes`, from 1. The first is that of
        the study as it is; there are others where exact numbers leave alone.
    centroids : ndarray, (n_functions, k, n_features)
    sizes : ndarray of int, (k,)
        Samples of every cluster of the first function, rounded to 5; empty if there is none.
    spread : ndarray, (n_features,)
        Standard deviation within its clusters.
    """

    kind: str
    status: IntArray
    centroids: FloatArray
    sizes: IntArray
    spread: FloatArray

    def __post_init__(self) -> None:
        freeze(self)

    def functions(self, causes: tuple[str, ...]) -> list[Centres | Failed]:
        """Return the functions of all replicates, or why there is none."""
        there = iter(self.centroids)
        return [Centres(self.kind, next(there)) if i == 0 else Failed(causes[i - 1]) for i in self.status]

    def check(self, n_replicates: int, k: int, n_features: int, n_causes: int) -> None:
        """Raise an error of any kind where the arrays do not fit together."""
        n = int(np.count_nonzero(self.status == 0))
        first = n_replicates > 0 and self.status[0] == 0
        fits = (
            self.kind in NEAREST
            and self.status.shape == (n_replicates,)
            and _codes(self.status, n_causes + 1)
            and (self.centroids.shape, self.centroids.dtype.kind) == ((n, k, n_features), "f")
            and (self.sizes.shape, self.sizes.dtype.kind) == ((k if first else 0,), "i")
            and (self.spread.shape, self.spread.dtype.kind) == ((n_features if first else 0,), "f")
            and bool((self.sizes >= 0).all() and (self.spread >= 0).all())
            and bool(np.isfinite(self.centroids).all() and np.isfinite(self.spread).all())
        )
        if not fits:
            raise ValueError


def _codes(codes: NDArray[Any], n_codes: int) -> bool:
    return codes.dtype.kind == "i" and bool(((codes >= 0) & (codes < n_codes)).all())


@dataclass(frozen=True, eq=False, repr=False)
class SiteFunctions(SiteFile):
    """The clustering functions of one site, ready to travel: what `learn` returns.

    Attributes
    ----------
    version : int
        Of the schema.
    session : str
        The fingerprint of the session that it belongs to.
    study : str
        The study's name.
    n_samples : int
        How many samples it has, rounded to 5.
    exact_numbers : bool
        Whether exact numbers leave, from which values of single samples follow.
    shelves : tuple of Shelf
        The functions, for every configuration.
    causes, log : tuple of str
        Why functions are missing; how many of them.
    versions : dict
        Of Python and the packages that numbers depend on.
    digest, signature : str
        SHA-256 over everything else, signed by the site.
    """

    version: int
    session: str
    study: str
    n_samples: int
    exact_numbers: bool
    shelves: tuple[Shelf, ...]
    causes: tuple[str, ...]
    log: tuple[str, ...]
    versions: Mapping[str, str]
    digest: str = ""
    signature: str = ""

    def functions(self, c: int) -> list[Centres | Failed]:
        """Return the functions of a configuration, or why there is none."""
        return self.shelves[c].functions(self.causes)

    def check(self, session: Session) -> None:
        """Raise an error of any kind where the fields do not fit together."""
        self.check_header(session)
        if len(self.shelves) != len(session.configurations) or not all(isinstance(text, str) for text in self.causes):
            raise ValueError
        for shelf, configuration in zip(self.shelves, session.configurations, strict=True):
            n_replicates = 1 + session.n_resamples if self.exact_numbers else 1
            shelf.check(n_replicates, configuration.n_clusters or 0, len(session.features), len(self.causes))
            rounding = 0 if self.exact_numbers else SIZE_STEP * (1 + len(shelf.sizes)) / 2
            if (shelf.sizes > self.n_samples + rounding).any():
                raise ValueError
            if len(shelf.sizes) and abs(int(shelf.sizes.sum()) - self.n_samples) > rounding:
                raise ValueError

    def __repr__(self) -> str:
        lines = []
        for shelf in self.shelves:
            sizes = (
                f"of the study: {', '.join(map(str, shelf.sizes))} samples"
                if len(shelf.sizes)
                else "of the study: none"
            )
            lines.append(f"  {plural(len(shelf.centroids), 'function')}: the means of clusters; {sizes}")
        return self._said("Clustering functions", lines)


@dataclass(frozen=True, eq=False)
class ExactScores:
    """The exact scores of every resample; the last column of pairs is the site itself."""

    scores: FloatArray  # (n_configurations, n_agreements, n_replicates, n_trains + 1)
    trivial: BoolArray  # (n_configurations, n_replicates, n_trains + 1)
    failed: IntArray  # like scores: 0, or the number of a cause
    clusters_found: IntArray  # (n_configurations, n_replicates)
    causes: tuple[str, ...]

    def __post_init__(self) -> None:
        freeze(self)

    def check(self, C: int, A: int, R: int, T: int) -> None:
        """Raise an error of any kind where the arrays do not fit together."""
        shapes = {"scores": "f", "trivial": "b", "failed": "i", "clusters_found": "i"}
        sizes = [(C, A, R, T + 1), (C, R, T + 1), (C, A, R, T + 1), (C, R)]
        arrays = [getattr(self, name) for name in shapes]
        fits = [(a.shape, a.dtype.kind) for a in arrays] == list(zip(sizes, shapes.values(), strict=True))
        if not fits or not _codes(self.failed, len(self.causes) + 1):
            raise ValueError
        if not np.array_equal(np.isnan(self.scores), self.failed > 0) or not all(
            isinstance(t, str) for t in self.causes
        ):
            raise ValueError


@dataclass(frozen=True, eq=False, repr=False)
class SiteScores(SiteFile):
    """What one site says of the functions of others: what `score` returns.

    Attributes
    ----------
    version, session, study, n_samples, exact_numbers, log, versions, digest, signature
        As in `SiteFunctions`.
    trains, train_digests : tuple of str
        The sites whose functions were scored, and the digests of their files.
    scores : ndarray, (n_configurations, n_agreements, 3, n_trains)
        The mean over resamples, and the ends of the 95 % interval, in steps of 0.05; NaN where that is not told.
    exact : tuple of ExactScores
        One where exact numbers leave, else none.
    """

    version: int
    session: str
    study: str
    n_samples: int
    exact_numbers: bool
    trains: tuple[str, ...]
    train_digests: tuple[str, ...]
    scores: FloatArray
    exact: tuple[ExactScores, ...]
    log: tuple[str, ...]
    versions: Mapping[str, str]
    digest: str = ""
    signature: str = ""

    def __post_init__(self) -> None:
        freeze(self)

    def check(self, session: Session) -> None:
        """Raise an error of any kind where the fields do not fit together, or scores are out of range."""
        self.check_header(session)
        C, A, T = len(session.configurations), len(session.agreements), len(self.trains)
        texts = (*self.trains, *self.train_digests)
        fits = (
            (self.scores.shape, self.scores.dtype.kind) == ((C, A, len(TOLD), T), "f")
            and len(self.train_digests) == len(set(self.trains)) == T
            and set(self.trains) < set(session.sites) - {self.study} | {""}
            and all(isinstance(text, str) for text in texts)
            and len(self.exact) == self.exact_numbers
        )
        if not fits:
            raise ValueError
        for exact in self.exact:
            exact.check(C, A, 1 + session.n_resamples, T)
        steps, untold = self.scores / SCORE_STEP, np.isnan(self.scores)
        if not self.exact_numbers and (np.abs(steps - np.round(steps)) > ROUNDING).any():
            raise ValueError
        most = np.log([configuration.n_clusters or 1 for configuration in session.configurations]) + SCORE_STEP / 2
        for a, name in enumerate(session.agreements):
            low, high = AGREEMENTS[name].bounds
            for values in (self.scores[:, a], *(exact.scores[:, a] for exact in self.exact)):
                highest = most[:, None, None] if np.isinf(high) else high + ROUNDING  # of mutual information: log k
                if np.isinf(values).any() or (values < low - ROUNDING).any() or (values > highest).any():
                    raise ValueError
        if (self.scores[:, :, 1] > self.scores[:, :, 2] + ROUNDING).any() or (untold != untold[:, :, :1]).any():
            raise ValueError

    def __repr__(self) -> str:
        told = int(np.isfinite(self.scores[:, :, 0]).sum())
        lines = [
            f"  {told:,} of {self.scores[:, :, 0].size:,} scores of functions of {listing(map(repr, self.trains), 20)}"
        ]
        lines += [f"  and those of every resample: {exact.scores.size:,} numbers" for exact in self.exact]
        return self._said("Scores", lines)


def written(session: Session) -> list[str]:
    """Name the configurations of a session."""
    return [f"{name}, {describe_written(plain)}" for name, plain in session.clusterers]


# ---------------------------------------------------------------------------------------------------------------------
# digests


def digest_of(part: Any) -> str:
    """Return the SHA-256 over the kind and all fields of a file but its digest and signature."""
    digest = hashlib.sha256(type(part).__name__.encode())
    _digest(part, digest.update)
    return digest.hexdigest()


def _digest(value: Any, update: Callable[[bytes], None]) -> None:
    if dataclasses.is_dataclass(value):
        for part in dataclasses.fields(value):
            if part.name not in ("digest", "signature"):
                update(f"\n{part.name}:".encode())
                _digest(getattr(value, part.name), update)
    elif isinstance(value, np.ndarray):
        update(f"{value.dtype.str}{value.shape}".encode())
        update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0]):
        update(f"{len(value)}".encode())
        for item in value:
            _digest(item, update)
    else:
        update(json.dumps(value, sort_keys=True).encode())
