"""How much two labelings of the same points agree: the agreements of `replicability`, for use alone."""

from __future__ import annotations

from numpy.typing import ArrayLike

from clustrep.checks import check_choice
from clustrep.tables.agreement import AGREEMENTS
from clustrep.tables.contingency import Counts, check_labelings


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
