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
from numpy.typing import ArrayLike

from clustrep.agreement.cluster_indices import matched_points, matching_distance_of
from clustrep.agreement.contingency import Counts, check_labelings
from clustrep.checks import check_choice, check_names_differ
from clustrep.errors import ParameterError
from clustrep.execution.seeds import Failed, attempt
from clustrep.kernels import information
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


# ---------------------------------------------------------------------------------------------------------------------
# two labelings of the same points, for use alone


def rand_index(u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Rand index: the share of pairs of points on which two partitions agree, equation (5) of the paper.

    With N_11 pairs together in both partitions, N_00 apart in both, and n points::

        RI = (N_11 + N_00) / (n (n − 1) / 2)

    Parameters
    ----------
    u, v : array_like, (n_points,)
        Two labelings of the same points; labels of any kind.
    weights : array_like of int, (n_points,), optional
        How many times each point counts.

    Returns
    -------
    float
        Between 0 and 1; 1 for identical partitions.

    See Also
    --------
    adjusted_rand_index : The same, adjusted for chance.

    Notes
    -----
    Not adjusted for chance: most pairs of points are apart in any two partitions with many clusters, so that the
    index approaches 1 for unrelated partitions as the number of clusters grows. Do not compare it between numbers of
    clusters.

    References
    ----------
    .. [1] Rand, W. M. (1971). Objective criteria for the evaluation of clustering methods. Journal of the American
       Statistical Association 66, 846-850.

    Examples
    --------
    >>> rand_index([0, 0, 1, 1], [0, 0, 1, 2])
    0.8333333333333334
    """
    return _score("ri", u, v, weights)


def adjusted_rand_index(u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Rand index adjusted for chance: 0 on average for independent partitions, 1 for identical ones.

    With N_11, N_10, N_01 and N_00 pairs of points together in both partitions, in `u` only, in `v` only and in
    neither::

        ARI = (RI − E[RI]) / (1 − E[RI])
            = 2 (N_11 N_00 − N_10 N_01) / ((N_11 + N_10)(N_10 + N_00) + (N_11 + N_01)(N_01 + N_00))

    where the expectation is over random partitions with the same cluster sizes.

    Parameters
    ----------
    u, v : array_like, (n_points,)
        Two labelings of the same points; labels of any kind.
    weights : array_like of int, (n_points,), optional
        How many times each point counts.

    Returns
    -------
    float
        At most 1, at least −1/2. A single cluster, or only clusters of one point, scores 0 against anything but itself.

    See Also
    --------
    rand_index : Without the adjustment.
    adjusted_mutual_information : Depends less on the large clusters.

    Notes
    -----
    The default score of `replicability`. Large clusters have most of the pairs and dominate it: a small cluster that
    is lost hardly lowers the score. A score of 0 says that the partitions agree no more than random ones of the same
    sizes, not that the data have no clusters; and data without clusters can score well above 0, because a clusterer
    cuts a single cloud in the same place again (see `null_reference`).

    References
    ----------
    .. [1] Hubert, L. and Arabie, P. (1985). Comparing partitions. Journal of Classification 2, 193-218.
    .. [2] Chacón, J. E. and Rastrojo, A. I. (2023). Minimum adjusted Rand index for two clusterings of a given size.
       Advances in Data Analysis and Classification 17, 125-133.

    Examples
    --------
    >>> adjusted_rand_index([0, 0, 1, 1], [0, 0, 1, 2])
    0.5714285714285714
    """
    return _score("ari", u, v, weights)


def mutual_information(u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Mutual information of two partitions in nats, equation (6) of the paper.

    With n_ij of the n points in cluster i of `u` and j of `v`, and n_i and n_j points in either::

        MI = Σ_ij (n_ij / n) log(n n_ij / (n_i n_j))

    Parameters
    ----------
    u, v : array_like, (n_points,)
        Two labelings of the same points; labels of any kind.
    weights : array_like of int, (n_points,), optional
        How many times each point counts.

    Returns
    -------
    float
        At least 0, at most the smaller entropy of the two partitions.

    See Also
    --------
    adjusted_mutual_information : The same, adjusted for chance and with an upper bound of 1.

    Notes
    -----
    Has no fixed upper bound, and grows with the number of clusters also for unrelated partitions: do not compare it
    between numbers of clusters. Identical partitions score their entropy, which is 0 for a single cluster.

    References
    ----------
    .. [1] Cover, T. M. and Thomas, J. A. (2006). Elements of Information Theory, 2nd ed. Wiley.

    Examples
    --------
    >>> round(mutual_information([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.693147
    """
    return _score("mi", u, v, weights)


def adjusted_mutual_information(
    u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None, average: str = "arithmetic"
) -> float:
    """Mutual information adjusted for chance: 0 on average for independent partitions, 1 for identical ones.

    With the entropies H(u) and H(v) of the two partitions::

        AMI = (MI − E[MI]) / (average(H(u), H(v)) − E[MI])

    where the expectation is over random partitions with the same cluster sizes.

    Parameters
    ----------
    u, v : array_like, (n_points,)
        Two labelings of the same points; labels of any kind.
    weights : array_like of int, (n_points,), optional
        How many times each point counts.
    average : {"arithmetic", "max"}
        Which average of the two entropies is the upper bound. "max" is what the paper's table 1 uses; it is
        ``agreement="ami_max"`` elsewhere, where "ami" is the arithmetic one.

    Returns
    -------
    float
        At most 1. A single cluster, or only clusters of one point, scores 0 against anything but itself.

    See Also
    --------
    mutual_information : Without the adjustment.
    adjusted_rand_index : Counts pairs; faster.

    Notes
    -----
    Compared with the adjusted Rand index, it gives small clusters more weight, and is advised where cluster sizes
    differ much [2]_. Values for different `average` are not comparable; "max" is never above "arithmetic" where the
    score is positive.

    References
    ----------
    .. [1] Vinh, N. X., Epps, J. and Bailey, J. (2010). Information theoretic measures for clusterings comparison:
       variants, properties, normalization and correction for chance. Journal of Machine Learning Research 11,
       2837-2854.
    .. [2] Romano, S., Vinh, N. X., Bailey, J. and Verspoor, K. (2016). Adjusting for chance clustering comparison
       measures. Journal of Machine Learning Research 17 (134), 1-32.

    Examples
    --------
    >>> round(adjusted_mutual_information([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.571429
    """
    names = {"arithmetic": "ami", "max": "ami_max"}
    check_choice(average, "average", names)
    return _score(names[average], u, v, weights)


def _score(name: str, u: ArrayLike, v: ArrayLike, weights: ArrayLike | None) -> float:
    return float(AGREEMENTS[name].of_counts(Counts.from_codes(*check_labelings(u, v, weights)))[0])
