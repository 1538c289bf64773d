"""How much two partitions of the same samples agree: one number from their contingency table.

No score depends on the labels' names, or on whether a sample is repeated or weighted; all but the
prediction strength is symmetric in its two labelings. For all but the mutual
information itself, identical partitions score 1; a single cluster, or clusters of one sample only, score 0 against
anything else once adjusted for chance. No score is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from clustrep.agreement.cluster_indices import matched_samples, matching_distances_of
from clustrep.agreement.contingency import Counts, check_labelings
from clustrep.checks import check_choice, check_names_differ
from clustrep.errors import ParameterError
from clustrep.execution.seeds import Failed, attempt
from clustrep.kernels import information
from clustrep.types import BoolArray, FloatArray, IntArray, Labels

TableScore: TypeAlias = Callable[[Counts], FloatArray]

LabelingScore: TypeAlias = Callable[[Labels, Labels], float]

AgreementSpec: TypeAlias = str | LabelingScore


class PairCounts(NamedTuple):
    """N_11, N_10, N_01 and N_00 of section 3.1: pairs of samples together in both, in U only, in V only, in neither.

    As floats: below 90 million samples every one is a whole number that a float holds exactly, and the products of two,
    which would overflow an int64 already at 100,000 samples, are exact enough for a score in [−1, 1].
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
        apart = n**2 - rows - columns + squares
        return cls((squares - n) / 2, (rows - squares) / 2, (columns - squares) / 2, apart / 2)

    @property
    def trivial(self) -> BoolArray:
        """Whether one of the two is a single cluster, or has clusters of one sample only."""
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
    both, first, second, neither = PairCounts.of(counts)
    numerator = 2 * (both * neither - first * second)
    denominator = (both + first) * (first + neither) + (both + second) * (second + neither)
    return np.where(counts.identical, 1.0, _divide(numerator, denominator))


def _mutual_information(counts: Counts) -> FloatArray:
    """Equation (6)."""
    cells, margins = (counts.cells, counts.row_of_cell, counts.column_of_cell), (counts.rows, counts.columns)
    return np.asarray(information.mutual_information(*cells, *margins, counts.totals))


def _adjusted_mutual_information(counts: Counts, average: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
    """Vinh, Epps & Bailey (2010): r* of section 3.1 with an average of the entropies as the upper bound."""
    expected = information.expected_mutual_information(counts.rows, counts.columns, counts.totals)
    bound = average(*(information.entropy(sizes, counts.totals) for sizes in (counts.rows, counts.columns)))
    score = _divide(_mutual_information(counts) - expected, bound - expected)
    return np.where(counts.identical, 1.0, np.where(PairCounts.of(counts).trivial, 0.0, score))


def _ami(counts: Counts) -> FloatArray:
    return _adjusted_mutual_information(counts, lambda h_u, h_v: (h_u + h_v) / 2)


_ami_max = partial(_adjusted_mutual_information, average=np.maximum)


def _prediction_strength(counts: Counts) -> FloatArray:
    """Equation (4): of the pairs in each cluster of V, Ψ(X′; X′), the share that U, Ψ(X′; X), keeps; the smallest.

    A cluster of one sample has no pairs, and is omitted; 0 where no cluster has any (`prediction_strength` counts these
    a split as failed). Tibshirani & Walther (2005).
    """
    n_tables, k_v = counts.columns.shape
    place = np.arange(n_tables)[:, None] * k_v + counts.column_of_cell
    kept = np.bincount(place.ravel(), (counts.cells * (counts.cells - 1)).ravel(), minlength=n_tables * k_v)
    pairs = counts.columns * (counts.columns - 1)
    smallest = np.where(pairs > 0, _divide(kept.reshape(n_tables, k_v).astype(float), pairs), np.inf).min(axis=1)
    return np.where(counts.identical, 1.0, np.where(np.isinf(smallest), 0.0, smallest))


def _matching(counts: Counts) -> FloatArray:
    """The share of samples that keep their label in the best matching: 1 less the distance of equation (3), relative.

    Meilă & Heckerman (2001).
    """
    n_tables, k_u, k_v = len(counts.cells), counts.rows.shape[1], counts.columns.shape[1]
    if counts.cells.shape[1] < k_u * k_v:  # occupied cells alone: there may be as many labels as samples
        kept = [matched_samples(cells, counts.row_of_cell, counts.column_of_cell) for cells in counts.cells]
        return np.asarray(1 - (counts.totals - np.array(kept)) / counts.totals)
    return 1 - matching_distances_of(counts.cells.reshape(n_tables, k_u, k_v)) / counts.totals


def _divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide, and give 0 where there is nothing to divide by."""
    empty = denominator == 0
    return np.where(empty, 0.0, numerator / np.where(empty, 1.0, denominator))


@dataclass(frozen=True)
class Agreement:
    """How two partitions are compared: a function of contingency tables, or a user's function of two labelings.

    The rest of the library reads names and bounds here.

    Attributes
    ----------
    name : str
        What users pass as `agreement`.
    label, long_name : str
        How it is written in tables and figures, and in sentences.
    of_counts : callable or None
        The score of tables of counts; None for a user's function.
    of_labelings : callable or None
        A user's function.
    adjusted : bool, default=False
        Whether its expectation is 0 for independent partitions.
    bounds : tuple of float, default=(0.0, 1.0)
        The smallest and the largest value that it can have.
    compiled : bool, default=False
        Whether it runs in compiled kernels.
    """

    name: str
    label: str
    long_name: str
    of_counts: TableScore | None = None
    of_labelings: LabelingScore | None = None
    adjusted: bool = False
    bounds: tuple[float, float] = (0.0, 1.0)
    compiled: bool = False

    def of_tables(self, tables: FloatArray) -> FloatArray:
        """Score dense tables, (..., k_u, k_v) -> (...)."""
        flat = tables.reshape(-1, *tables.shape[-2:])
        return self.of_counted(flat, Counts.from_tables(flat)).reshape(tables.shape[:-2])

    def of_counted(self, tables: FloatArray, counts: Counts) -> FloatArray:
        """Score dense tables, (n_tables, k_u, k_v), that were counted for several agreements."""
        if self.of_counts is not None:
            return self.of_counts(counts)
        u, v = np.indices(tables.shape[1:]).reshape(2, -1)  # written out as labelings: nothing else matters
        times = tables.astype(np.int64).reshape(len(tables), -1)
        return np.array([self.of_codes(np.repeat(u, n), np.repeat(v, n)) for n in times])

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


_AMI, _AMI_MAX = "adjusted mutual information", "adjusted mutual information, with the larger entropy as its bound"
# To add an agreement, add a record: nothing else in the library lists them. The smallest adjusted Rand index is that
# of Chacón & Rastrojo (2023).
AGREEMENTS: dict[str, Agreement] = {
    record.name: record
    for record in (
        Agreement("ari", "ARI", "the adjusted Rand index", _adjusted_rand, adjusted=True, bounds=(-0.5, 1.0)),
        Agreement("ami", "AMI", _AMI, _ami, adjusted=True, bounds=(-1.0, 1.0), compiled=True),
        Agreement("ami_max", "AMI_MAX", _AMI_MAX, _ami_max, adjusted=True, bounds=(-1.0, 1.0), compiled=True),
        Agreement("ri", "RI", "the Rand index", _rand),
        Agreement("mi", "MI", "mutual information", _mutual_information, bounds=(0.0, float("inf")), compiled=True),
        Agreement("prediction_strength", "prediction strength", "prediction strength", _prediction_strength),
        Agreement("matching", "matching", "the share of samples inside the best matching of clusters", _matching),
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


def resolve_agreement(spec: AgreementSpec) -> Agreement:
    """Find an agreement by its name, or take a function of two labelings."""
    if callable(spec):
        name = getattr(spec, "__name__", type(spec).__name__)
        return Agreement(name, name, name, of_labelings=spec)
    check_choice(spec, "agreement", AGREEMENTS, or_else="a function of two labelings")
    return AGREEMENTS[spec]


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
# two labelings of the same samples, for use alone


def rand_index(u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Rand index: the share of pairs of samples on which two partitions agree, equation (5) of the paper.

    With N_11 pairs together in both partitions, N_00 apart in both, and n points::

        RI = (N_11 + N_00) / (n (n − 1) / 2)

    Parameters
    ----------
    u, v : array-like of shape (n_samples,)
        Two labelings of the same samples; labels of any kind.
    weights : array-like of int, shape (n_samples,), default=None
        How many times each sample counts.

    Returns
    -------
    float
        Between 0 and 1; 1 for identical partitions.

    See Also
    --------
    adjusted_rand_index : The same, adjusted for chance.

    Notes
    -----
    Not adjusted for chance: most pairs of samples are apart in any two partitions with many clusters, so that the
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

    With N_11, N_10, N_01 and N_00 pairs of samples together in both partitions, in `u` only, in `v` only and in
    neither::

        ARI = (RI − E[RI]) / (1 − E[RI])
            = 2 (N_11 N_00 − N_10 N_01) / ((N_11 + N_10)(N_10 + N_00) + (N_11 + N_01)(N_01 + N_00))

    where the expectation is over random partitions with the same cluster sizes.

    Parameters
    ----------
    u, v : array-like of shape (n_samples,)
        Two labelings of the same samples; labels of any kind.
    weights : array-like of int, shape (n_samples,), default=None
        How many times each sample counts.

    Returns
    -------
    float
        At most 1, at least −1/2. A single cluster, or only clusters of one sample, scores 0 against any but itself.

    See Also
    --------
    rand_index : Without the adjustment.
    adjusted_mutual_information : Depends less on the large clusters.

    Notes
    -----
    The default score of `replicability`. Large clusters have most of the pairs and dominate it: a small cluster that
    is lost hardly lowers the score. A score of 0 means that the partitions agree no more than random ones of the same
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

    With n_ij of the n samples in cluster i of `u` and j of `v`, and n_i and n_j samples in either::

        MI = Σ_ij (n_ij / n) log(n n_ij / (n_i n_j))

    Parameters
    ----------
    u, v : array-like of shape (n_samples,)
        Two labelings of the same samples; labels of any kind.
    weights : array-like of int, shape (n_samples,), default=None
        How many times each sample counts.

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
    u, v : array-like of shape (n_samples,)
        Two labelings of the same samples; labels of any kind.
    weights : array-like of int, shape (n_samples,), default=None
        How many times each sample counts.
    average : {"arithmetic", "max"}, default="arithmetic"
        Which average of the two entropies is the upper bound. "max" is what the paper's table 1 uses; it is
        ``agreement="ami_max"`` elsewhere, where "ami" is the arithmetic one.

    Returns
    -------
    float
        At most 1. A single cluster, or only clusters of one sample, scores 0 against anything but itself.

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
    of_counts = AGREEMENTS[name].of_counts
    assert of_counts is not None
    first, second, counts = check_labelings(u, v, weights)
    return float(of_counts(Counts.from_codes(first.codes, second.codes, counts))[0])
