"""How much two partitions of the same points agree: one number from their contingency table.

No score depends on the labels' names, or on whether a point is repeated or weighted; all but the
prediction strength is symmetric in its two labelings. Trivial cases, for all but the mutual information
itself: identical partitions score 1; one block, or all singletons, against anything else scores 0 once adjusted for
chance. No score is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TypeAlias

import numpy as np

from clustrep._kernels import information
from clustrep.checks import check_choice, check_names_differ
from clustrep.engine.replicates import Failed, attempt
from clustrep.errors import ParameterError
from clustrep.tables.cluster_indices import matched_points, matching_distance_of
from clustrep.tables.contingency import Counts
from clustrep.types import BoolArray, FloatArray, IntArray, Labels

TableScore: TypeAlias = Callable[[Counts], FloatArray]

LabelingScore: TypeAlias = Callable[[Labels, Labels], float]

AgreementSpec: TypeAlias = str | LabelingScore


@dataclass(frozen=True)
class PairCounts:
    """N_11, N_10, N_01 and N_00 of section 3.1: pairs of points together in both, in U only, in V only, in neither.

    As floats: below 90 million points every one is a whole number that a float holds exactly, and the products of two,
    which would overflow an int64 already at 100,000 points, are exact enough for a score in [−1, 1].
    """

    both: FloatArray
    first: FloatArray
    second: FloatArray
    neither: FloatArray

    @classmethod
    def of(cls, counts: Counts) -> PairCounts:
        """Count unordered pairs in every table."""
        squares = (counts.cells**2).sum(axis=1)
        rows, columns = (counts.rows**2).sum(axis=1), (counts.columns**2).sum(axis=1)
        n = counts.totals
        return cls(
            both=(squares - n) / 2,
            first=(rows - squares) / 2,
            second=(columns - squares) / 2,
            neither=(n**2 - rows - columns + squares) / 2,
        )

    @property
    def trivial(self) -> BoolArray:
        """Whether one of the two is a single block or all singletons."""
        together_u, together_v = self.both + self.first, self.both + self.second
        apart_u, apart_v = self.second + self.neither, self.first + self.neither
        return np.asarray((together_u == 0) | (together_v == 0) | (apart_u == 0) | (apart_v == 0))


def _rand(counts: Counts) -> FloatArray:
    """Equation (5)."""
    pairs = PairCounts.of(counts)
    agreeing = pairs.both + pairs.neither
    return np.where(counts.identical, 1.0, _divide(agreeing, agreeing + pairs.first + pairs.second))


def _adjusted_rand(counts: Counts) -> FloatArray:
    """Hubert & Arabie (1985), as a ratio of pair counts without differences of large numbers."""
    pairs = PairCounts.of(counts)
    together_u, together_v = pairs.both + pairs.first, pairs.both + pairs.second
    apart_u, apart_v = pairs.second + pairs.neither, pairs.first + pairs.neither
    numerator = 2 * (pairs.both * pairs.neither - pairs.first * pairs.second)
    return np.where(counts.identical, 1.0, _divide(numerator, together_u * apart_v + together_v * apart_u))


def _mutual_information(counts: Counts) -> FloatArray:
    """Equation (6)."""
    return np.asarray(
        information.mutual_information(
            counts.cells, counts.row_of_cell, counts.column_of_cell, counts.rows, counts.columns, counts.totals
        )
    )


def _adjusted_mutual_information(counts: Counts, average: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
    """Vinh, Epps & Bailey (2010): r* of section 3.1 with an average of the entropies as the upper bound."""
    expected = information.expected_mutual_information(counts.rows, counts.columns, counts.totals)
    bound = average(
        information.entropy(counts.rows, counts.totals),
        information.entropy(counts.columns, counts.totals),
    )
    score = _divide(_mutual_information(counts) - expected, bound - expected)
    return np.where(counts.identical, 1.0, np.where(PairCounts.of(counts).trivial, 0.0, score))


def _ami_arithmetic(counts: Counts) -> FloatArray:
    return _adjusted_mutual_information(counts, lambda h_u, h_v: (h_u + h_v) / 2)


def _ami_max(counts: Counts) -> FloatArray:
    return _adjusted_mutual_information(counts, np.maximum)


def _prediction_strength(counts: Counts) -> FloatArray:
    """Equation (4): of the pairs in each cluster of V, Ψ(X′; X′), the share that U, Ψ(X′; X), keeps; the smallest.

    A cluster of one point has no pairs, and is omitted; 0 where no cluster has any (`prediction_strength` counts such
    a split as failed).
    """
    n_tables, k_v = counts.columns.shape
    place = np.arange(n_tables)[:, None] * k_v + counts.column_of_cell
    kept = np.bincount(place.ravel(), (counts.cells * (counts.cells - 1)).ravel(), minlength=n_tables * k_v).astype(
        float
    )
    pairs = counts.columns * (counts.columns - 1)
    shares = np.where(pairs > 0, _divide(kept.reshape(n_tables, k_v), pairs), np.inf)
    smallest = shares.min(axis=1)
    return np.where(counts.identical, 1.0, np.where(np.isinf(smallest), 0.0, smallest))


def _matching(counts: Counts) -> FloatArray:
    """The share of points that keep their label in the best matching: 1 less the distance of equation (3), relative."""
    n_tables, k_u, k_v = len(counts.cells), counts.rows.shape[1], counts.columns.shape[1]
    if counts.cells.shape[1] < k_u * k_v:  # occupied cells alone: there may be as many labels as points
        kept = [matched_points(cells, counts.row_of_cell, counts.column_of_cell) for cells in counts.cells]
        return np.asarray(1 - (counts.totals - np.array(kept)) / counts.totals)
    tables = counts.cells.reshape(n_tables, k_u, k_v)
    return 1 - np.array([matching_distance_of(table) for table in tables]) / counts.totals


def _divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide, and give 0 where there is nothing to divide by."""
    empty = denominator == 0
    return np.where(empty, 0.0, numerator / np.where(empty, 1.0, denominator))


@dataclass(frozen=True)
class AgreementRecord:
    """What is known about an agreement: the rest of the library reads names and bounds here.

    Attributes
    ----------
    name : str
        What users pass as `agreement`.
    label, long_name : str
        How it is written in tables and figures, and in sentences.
    of_counts : callable
        The score of tables of counts.
    adjusted : bool
        Whether its expectation is 0 for independent partitions.
    bounds : tuple of float
        The smallest and the largest value that it can have.
    reference : str
        Where it was proposed.
    compiled : bool
        Whether it runs in compiled kernels.
    higher_is_better : bool
    """

    name: str
    label: str
    long_name: str
    of_counts: TableScore
    adjusted: bool
    bounds: tuple[float, float]
    reference: str
    compiled: bool = False
    higher_is_better: bool = True


# To add an agreement, add a record: nothing else in the library lists them.
AGREEMENTS: dict[str, AgreementRecord] = {
    record.name: record
    for record in (
        AgreementRecord(
            name="ari",
            label="ARI",
            long_name="the adjusted Rand index",
            of_counts=_adjusted_rand,
            adjusted=True,
            bounds=(-0.5, 1.0),  # Chacón & Rastrojo (2023)
            reference="Hubert and Arabie (1985)",
        ),
        AgreementRecord(
            name="ami",
            label="AMI",
            long_name="adjusted mutual information",
            of_counts=_ami_arithmetic,
            adjusted=True,
            bounds=(-1.0, 1.0),
            reference="Vinh, Epps and Bailey (2010)",
            compiled=True,
        ),
        AgreementRecord(
            name="ami_max",
            label="AMI_MAX",
            long_name="adjusted mutual information, with the larger entropy as its bound",
            of_counts=_ami_max,
            adjusted=True,
            bounds=(-1.0, 1.0),
            reference="Vinh, Epps and Bailey (2010)",
            compiled=True,
        ),
        AgreementRecord(
            name="ri",
            label="RI",
            long_name="the Rand index",
            of_counts=_rand,
            adjusted=False,
            bounds=(0.0, 1.0),
            reference="Rand (1971)",
        ),
        AgreementRecord(
            name="mi",
            label="MI",
            long_name="mutual information",
            of_counts=_mutual_information,
            adjusted=False,
            bounds=(0.0, float("inf")),
            reference="Cover and Thomas (2006)",
            compiled=True,
        ),
        AgreementRecord(
            name="prediction_strength",
            label="prediction strength",
            long_name="prediction strength",
            of_counts=_prediction_strength,
            adjusted=False,
            bounds=(0.0, 1.0),
            reference="Tibshirani and Walther (2005)",
        ),
        AgreementRecord(
            name="matching",
            label="matching",
            long_name="the share of points inside the best matching of clusters",
            of_counts=_matching,
            adjusted=False,
            bounds=(0.0, 1.0),
            reference="Meilă and Heckerman (2001)",
        ),
    )
}


def shown(name: str) -> str:
    """Return the label of an agreement; of a user's function, its name."""
    return AGREEMENTS[name].label if name in AGREEMENTS else name


def in_sentence(name: str) -> str:
    """Write an agreement's name in full, with its label where that differs; a user's function keeps its name.

    Examples
    --------
    >>> in_sentence("ari")
    'the adjusted Rand index (ARI)'
    >>> in_sentence("prediction_strength")
    'prediction strength'
    """
    if name not in AGREEMENTS:
        return name
    record = AGREEMENTS[name]
    return record.long_name if record.label == record.long_name else f"{record.long_name} ({record.label})"


def is_adjusted(name: str) -> bool:
    """Whether an agreement is 0 on average for independent partitions; not known of a user's function, so False."""
    return name in AGREEMENTS and AGREEMENTS[name].adjusted


def is_unbounded(name: str) -> bool:
    """Whether an agreement is known to have no largest value; of a user's function it is not, so False."""
    return name in AGREEMENTS and AGREEMENTS[name].bounds[1] == float("inf")


@dataclass(frozen=True)
class Agreement:
    """An agreement that was asked for: a function of tables, or a user's function of two labelings."""

    name: str
    of_counts: TableScore | None = None
    of_labelings: LabelingScore | None = None
    compiled: bool = False  # in kernels

    def of_tables(self, tables: FloatArray) -> FloatArray:
        """Score dense tables, (..., k_u, k_v) -> (...)."""
        flat = tables.reshape(-1, *tables.shape[-2:])
        return self.of_counted(flat, Counts.from_tables(flat)).reshape(tables.shape[:-2])

    def of_counted(self, tables: FloatArray, counts: Counts) -> FloatArray:
        """Score dense tables, (n_tables, k_u, k_v), that were counted for several agreements."""
        if self.of_counts is not None:
            return self.of_counts(counts)
        return np.array([self._of_table(table) for table in tables])

    def of_codes(self, u: IntArray, v: IntArray) -> float:
        """Score two labelings given as codes."""
        if self.of_counts is not None:
            return float(self.of_counts(Counts.from_codes(u, v))[0])
        assert self.of_labelings is not None
        score = attempt(self.of_labelings, u, v)
        if isinstance(score, Failed):  # as a failed fit: this score is missing, the run continues
            return float("nan")
        if isinstance(score, Real) or (np.ndim(score) == 0 and np.asarray(score).dtype.kind in "iuf"):
            return float(score)
        raise ParameterError(f"agreement {self.name!r} must return a number, got {score!r}.", parameter="agreement")

    def _of_table(self, table: FloatArray) -> float:
        """Write the table out as two labelings: an agreement depends on nothing else."""
        u, v = np.indices(table.shape).reshape(2, -1)
        times = table.astype(np.int64).ravel()
        return self.of_codes(np.repeat(u, times), np.repeat(v, times))


def resolve_agreement(spec: AgreementSpec) -> Agreement:
    """Find an agreement by its name, or take a function of two labelings."""
    if callable(spec):
        return Agreement(getattr(spec, "__name__", type(spec).__name__), of_labelings=spec)
    check_choice(spec, "agreement", AGREEMENTS, or_else="a function of two labelings")
    record = AGREEMENTS[spec]
    return Agreement(record.name, of_counts=record.of_counts, compiled=record.compiled)


def resolve_agreements(specs: AgreementSpec | tuple[AgreementSpec, ...] | list[AgreementSpec]) -> tuple[Agreement, ...]:
    """Find one agreement or several; their names must differ, because results are kept by name."""
    if isinstance(specs, str) or callable(specs):
        return (resolve_agreement(specs),)
    if not isinstance(specs, tuple | list) or not specs:
        raise ParameterError(
            f"agreement must be one of {', '.join(AGREEMENTS)}, a function of two labelings, or a tuple of these; "
            f"got {specs!r}.",
            parameter="agreement",
        )
    agreements = tuple(resolve_agreement(spec) for spec in specs)
    check_names_differ([agreement.name for agreement in agreements], "agreement", parameter="agreement")
    return agreements
