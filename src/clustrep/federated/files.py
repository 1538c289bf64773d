"""Files that travel between sites: clustering functions, and scores. Arrays and JSON, never a pickle.

`docs/federated.md` has the schema; `reading` reads them. `check` of every kind has the rules that its numbers obey,
and a digest detects damage; it does not detect forgery, because whoever writes a file computes it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from clustrep.cached import cached_property
from clustrep.checks import check_name, freeze, is_whole
from clustrep.execution.seeds import Failed
from clustrep.federated.disclosure import LogEntry, check_rules, entries_of
from clustrep.federated.forms import FORMS, INTEGERS, Form
from clustrep.federated.inquiry import Inquiry
from clustrep.federated.suppression import NOT_TOLD
from clustrep.files.saved import Saved
from clustrep.types import BoolArray, FloatArray, IntArray

VERSION = 1
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Packed:
    """One array of many functions, one after the other along the first axis."""

    name: str
    stacked: NDArray[Any]
    lengths: IntArray  # (n_functions,)

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, eq=False)
class Shelf:
    """The functions of one configuration in all replicates.

    Attributes
    ----------
    form : str
        What the functions are: a key of `FORMS`.
    status : ndarray of int, (n_replicates,)
        0 where there is a function, else the number of the cause in the file's `causes`, from 1.
    arrays : tuple of Packed
        The functions that there are, in the order of replicates.
    sizes : ndarray of int, (n_groups,)
        How many samples are behind each group of numbers of the first function, that of the study as it is.
    smallest : int
        The fewest samples behind any number of any function.
    """

    form: str
    status: IntArray
    arrays: tuple[Packed, ...]
    sizes: IntArray
    smallest: int

    def __post_init__(self) -> None:
        freeze(self)

    @classmethod
    def of(
        cls, forms: Sequence[Form | None], status: Sequence[int], sizes: Sequence[IntArray | None], dtype: Any
    ) -> Shelf:
        """Pack functions; measurements in the precision given."""
        there = [form for form in forms if form is not None]
        known = [size for size in sizes if size is not None and len(size)]
        name = type(there[0]).__name__ if there else next(iter(FORMS))
        packed = []
        for part in dataclasses.fields(FORMS[name]):  # type: ignore[arg-type]
            arrays = [np.asarray(getattr(form, part.name)) for form in there]
            kind = np.dtype(np.int32) if part.name in INTEGERS else dtype
            if arrays:
                lengths = np.array([len(array) for array in arrays])
                packed.append(Packed(part.name, np.concatenate(arrays).astype(kind), lengths))
        return cls(
            name,
            np.asarray(status, dtype=np.int64),
            tuple(packed),
            np.asarray(sizes[0] if len(sizes) and sizes[0] is not None else [], dtype=np.int64),
            min((int(size.min()) for size in known), default=0),
        )

    def functions(self) -> list[Form | None]:
        """Unpack the functions, one for every replicate; None where there is none."""
        parts = {
            packed.name: np.split(np.asarray(packed.stacked), np.cumsum(packed.lengths)[:-1]) for packed in self.arrays
        }
        forms = iter(
            [FORMS[self.form](**dict(zip(parts, arrays, strict=True))) for arrays in zip(*parts.values(), strict=True)]
        )
        return [next(forms) if status == 0 else None for status in self.status]

    @property
    def n_numbers(self) -> int:
        """How many measurements are inside."""
        return sum(packed.stacked.size for packed in self.arrays if packed.name not in INTEGERS)

    def check(self, n_replicates: int, n_features: int, n_causes: int) -> None:
        """Raise an error of any kind where the arrays do not fit together."""
        n_there = int(np.count_nonzero(self.status == 0))
        expected = [part.name for part in dataclasses.fields(FORMS[self.form])] if n_there else []  # type: ignore[arg-type]
        fits = (
            self.status.shape == (n_replicates,)
            and _codes(self.status, n_causes + 1)
            and [packed.name for packed in self.arrays] == expected
            and all(_packed_fits(packed, n_there) for packed in self.arrays)
            and _counts_fit(self.sizes, 1)
            and is_whole(self.smallest, at_least=0)
        )
        functions = self.functions() if fits else []
        if not fits or not all(form is None or form.check(n_features) for form in functions):
            raise ValueError
        first = functions[0] if functions else None
        if len(self.sizes) != (0 if first is None else first.n_groups):
            raise ValueError


def _packed_fits(packed: Packed, n_there: int) -> bool:
    kind = "i" if packed.name in INTEGERS else "f"
    return (
        packed.stacked.dtype.kind == kind
        and packed.lengths.dtype.kind == "i"
        and packed.lengths.shape == (n_there,)
        and bool((packed.lengths > 0).all())
        and int(packed.lengths.sum()) == len(packed.stacked)
    )


def _codes(codes: NDArray[Any], n_codes: int) -> bool:
    return codes.dtype.kind == "i" and bool(((codes >= 0) & (codes < n_codes)).all())


def _counts_fit(counts: NDArray[Any], ndim: int, *, at_least: int = 0) -> bool:
    return counts.dtype.kind == "i" and counts.ndim == ndim and bool((counts >= at_least).all())


def _are_texts(texts: Any) -> bool:
    return all(isinstance(text, str) for text in texts)


class SiteFile(Saved):
    """What files of functions and of scores have in common."""

    study: str
    n_samples: int
    inquiry: Mapping[str, Any]
    rules: Mapping[str, Any]
    causes: tuple[str, ...]
    log: tuple[Any, ...]
    versions: Mapping[str, str]
    digest: str

    def check_header(self) -> Inquiry:
        """Raise an error of any kind where what all files have does not fit together; return the question."""
        check_name(self.study, "study")
        check_rules(self.rules)
        entries_of(self.log)
        if not (is_whole(self.n_samples, at_least=1) and _are_texts((*self.causes, *self.versions.values()))):
            raise ValueError
        return self.question

    def sealed(self: T) -> T:
        """Return the same with its digest."""
        return dataclasses.replace(self, digest=digest_of(self))  # type: ignore[type-var]

    @cached_property
    def question(self) -> Inquiry:
        """The question that it answers."""
        return Inquiry.from_fields(self.inquiry)

    @property
    def disclosure_log(self) -> tuple[LogEntry, ...]:
        """Everything that was withheld or changed, and why."""
        return entries_of(self.log)


@dataclass(frozen=True, eq=False, repr=False)
class SiteFunctions(SiteFile):
    """The clustering functions of one site, ready to travel: what `learn` returns.

    Attributes
    ----------
    version : int
        Of the schema.
    study : str
        The study's name.
    n_samples : int
        How many samples it has.
    inquiry : dict
        The question: see `Inquiry`.
    rules : dict
        The rules of disclosure that were obeyed.
    shelves : tuple of Shelf
        The functions, for every configuration.
    null_shelves : tuple of Shelf
        Functions learned on simulated data without clusters: for every model and configuration.
    causes : tuple of str
        Why functions are missing.
    log : tuple
        The disclosure log: what, how many, of how many, why.
    versions : dict
        Of Python and the packages that numbers depend on.
    digest : str
        SHA-256 over everything else.
    """

    version: int
    study: str
    n_samples: int
    inquiry: Mapping[str, Any]
    rules: Mapping[str, Any]
    shelves: tuple[Shelf, ...]
    null_shelves: tuple[Shelf, ...]
    causes: tuple[str, ...]
    log: tuple[Any, ...]
    versions: Mapping[str, str]
    digest: str = ""

    def functions(self, c: int) -> list[Form | Failed]:
        """Return the functions of a configuration in all replicates, or why there is none."""
        return _or_causes(self.shelves[c], self.causes)

    def null_functions(self, model: int, c: int) -> list[Form | Failed]:
        """Return the functions of a configuration on all simulated studies of a model."""
        return _or_causes(self.null_shelves[model * len(self.shelves) + c], self.causes)

    def check(self) -> None:
        """Raise an error of any kind where the fields do not fit together."""
        question = self.check_header()
        n_features, n_null = len(question.features), len(question.null) * len(question.clusterers)
        if len(self.shelves) != len(question.clusterers) or len(self.null_shelves) != n_null:
            raise ValueError
        for shelf in self.shelves:
            shelf.check(question.n_replicates, n_features, len(self.causes))
        for shelf in self.null_shelves:
            shelf.check(question.n_null, n_features, len(self.causes))

    def __repr__(self) -> str:
        from clustrep.federated.file_summary import summary_of_functions

        return summary_of_functions(self)


def _or_causes(shelf: Shelf, causes: Sequence[str]) -> list[Form | Failed]:
    functions = zip(shelf.functions(), shelf.status, strict=True)
    return [Failed(causes[status - 1]) if form is None else form for form, status in functions]


@dataclass(frozen=True, eq=False)
class ClusterTable:
    """The clusters of one training site at one test site, for one configuration.

    sizes : how many test samples fall into each cluster, −1 where that is not told
    estimate, distribution : mean local score of these samples, observed and in every resample
    """

    train: str
    configuration: int
    sizes: IntArray  # (k,)
    estimate: FloatArray  # (k,)
    distribution: FloatArray  # (n_resamples, k)

    def __post_init__(self) -> None:
        freeze(self)

    def fits(self, n_resamples: int) -> bool:
        """Whether the arrays fit together."""
        k = len(self.sizes)
        return (
            _counts_fit(self.sizes, 1, at_least=NOT_TOLD)
            and (self.estimate.shape, self.distribution.shape) == ((k,), (n_resamples, k))
            and self.estimate.dtype.kind == self.distribution.dtype.kind == "f"
        )


@dataclass(frozen=True, eq=False)
class GapTable:
    """Test samples between the centres of neighbouring clusters of a training site, for one configuration."""

    train: str
    configuration: int
    edges: IntArray  # (n_edges, 2): clusters
    counts: IntArray  # (n_edges, 3): around the first centre, in the middle, around the second

    def __post_init__(self) -> None:
        freeze(self)

    def fits(self, n_resamples: int) -> bool:
        """Whether the arrays fit together."""
        E = len(self.edges)
        shapes = (self.edges.shape, self.counts.shape) == ((E, 2), (E, 3))
        return shapes and _counts_fit(self.edges, 2) and _counts_fit(self.counts, 2)


@dataclass(frozen=True, eq=False)
class CrossTable:
    """Test samples by the clusters of a training site and by those of their own site; −1 where a count is not told."""

    train: str
    configuration: int
    counts: IntArray  # (k_train, k_test)

    def __post_init__(self) -> None:
        freeze(self)

    def fits(self, n_resamples: int) -> bool:
        """Whether the counts are counts."""
        return _counts_fit(self.counts, 2, at_least=NOT_TOLD)


ScorePart: TypeAlias = ClusterTable | GapTable | CrossTable


def _are_different(parts: Sequence[ScorePart]) -> bool:
    return len({(part.train, part.configuration) for part in parts}) == len(parts)


@dataclass(frozen=True, eq=False, repr=False)
class SiteScores(SiteFile):
    """What one site says of the functions of others: what `score` returns.

    Attributes
    ----------
    version, study, n_samples, inquiry, rules, causes, log, versions, digest
        As in `SiteFunctions`.
    trains, train_digests : tuple of str
        The sites whose functions were scored, and the digests of their files.
    train_logs : tuple
        The disclosure logs of these files.
    agreements : tuple of str
        How partitions were compared.
    decimals : int or None
        To how many decimals scores are rounded; None: not at all.
    diagonal : bool
        Whether the site scored itself.
    scores : ndarray, (n_configurations, n_agreements, n_replicates, n_trains + 1)
        The last column is the site itself.
    trivial : ndarray of bool, (n_configurations, n_replicates, n_trains + 1)
    failed : ndarray of int, like `scores`
        0, or the number of the cause in `causes`, from 1.
    clusters_found : ndarray of int, (n_configurations, n_replicates)
    separateness : ndarray, (n_configurations, n_trains)
    null_scores : ndarray, (n_models, n_null, n_configurations, n_agreements, n_trains)
        The same on simulated data without clusters; single-cluster scores count 0.
    null_separateness : ndarray, (n_models, n_null, n_configurations, n_trains)
    clusters, gaps, tables : tuple
        Scores of single clusters; counts between clusters; contingency tables: where these were asked for.
    """

    version: int
    study: str
    n_samples: int
    inquiry: Mapping[str, Any]
    rules: Mapping[str, Any]
    trains: tuple[str, ...]
    train_digests: tuple[str, ...]
    train_logs: tuple[Any, ...]
    agreements: tuple[str, ...]
    decimals: int | None
    diagonal: bool
    scores: FloatArray
    trivial: BoolArray
    failed: IntArray
    clusters_found: IntArray
    separateness: FloatArray
    null_scores: FloatArray
    null_separateness: FloatArray
    causes: tuple[str, ...]
    clusters: tuple[ClusterTable, ...]
    gaps: tuple[GapTable, ...]
    tables: tuple[CrossTable, ...]
    log: tuple[Any, ...]
    versions: Mapping[str, str]
    digest: str = ""

    def __post_init__(self) -> None:
        freeze(self)

    def check(self) -> None:
        """Raise an error of any kind where the fields do not fit together."""
        question = self.check_header()
        C, A, R = len(question.clusterers), len(self.agreements), question.n_replicates
        T, M = len(self.trains), len(question.null)
        shapes = {
            "scores": (C, A, R, T + 1),
            "trivial": (C, R, T + 1),
            "failed": (C, A, R, T + 1),
            "clusters_found": (C, R),
            "separateness": (C, T),
            "null_scores": (M, question.n_null if M else 0, C, A, T),
            "null_separateness": (M, question.n_null if M else 0, C, T),
        }
        kinds = {"trivial": "b", "failed": "i", "clusters_found": "i"}
        fits = all(
            getattr(self, name).shape == shape and getattr(self, name).dtype.kind == kinds.get(name, "f")
            for name, shape in shapes.items()
        )
        whole = fits and np.array_equal(np.isnan(self.scores), self.failed > 0) if self.diagonal else fits
        whole = whole and _codes(self.failed, len(self.causes) + 1) and not np.isinf(self.scores).any()
        groups: list[tuple[ScorePart, ...]] = [self.clusters, self.gaps, self.tables]
        parts_fit = all(_are_different(parts) for parts in groups) and all(
            part.train in self.trains and 0 <= part.configuration < C and part.fits(question.n_resamples)
            for parts in groups
            for part in parts
        )
        if not (whole and parts_fit and len(self.train_digests) == len(self.train_logs) == T == len(set(self.trains))):
            raise ValueError
        texts = _are_texts((*self.agreements, *self.trains, *self.train_digests))
        if not (texts and (self.decimals is None or is_whole(self.decimals, at_least=1))):
            raise ValueError
        for log in self.train_logs:
            entries_of(log)

    def __repr__(self) -> str:
        from clustrep.federated.file_summary import summary_of_scores

        return summary_of_scores(self)


# ---------------------------------------------------------------------------------------------------------------------
# digests


def digest_of(part: Any) -> str:
    """Return the SHA-256 over all fields of a file but its digest."""
    digest = hashlib.sha256()
    _digest(part, digest.update)
    return digest.hexdigest()


def _digest(value: Any, update: Callable[[bytes], None]) -> None:
    if dataclasses.is_dataclass(value):
        for part in dataclasses.fields(value):
            if part.name != "digest":
                update(f"\n{part.name}:".encode())
                _digest(getattr(value, part.name), update)
    elif isinstance(value, np.ndarray):
        update(f"{value.dtype.str}{value.shape}".encode())
        update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0]):
        for item in value:
            _digest(item, update)
    else:
        update(json.dumps(value, sort_keys=True).encode())
