"""The rule of atoms: whatever was released about a study is about groups of a least number of samples.

Every released number is a size or a sum over a cell of one of the partitions that were released. Atoms are the cells of
their common refinement. Each linear combination of all released numbers weights all samples of an atom alike, so that
nothing computed by linear algebra, by differences of clusters, of their unions and complements or of any combination,
is about fewer samples than the smallest atom has. The table of atoms obeys the rules of official statistics for tables
of magnitudes: minimum frequency, group disclosure and dominance (Hundepool et al. 2012, ch. 4).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clustrep.types import FloatArray, IntArray

DOMINANCE = 0.5  # of all absolute deviations from the median in a cell: more is mostly the value of one sample
SMALL = "withheld: with all that was released, it would tell of fewer than {least} samples"
ALIKE = "withheld: in a cluster, fewer than {least} samples differ from the most frequent value of a feature"
DOMINATED = "withheld: one sample has more than half of a feature's deviations in a cluster"


def atoms(partitions: Sequence[IntArray]) -> IntArray:
    """Number the cells of the common refinement of partitions.

    Parameters
    ----------
    partitions : sequence of ndarray of int, (n_samples,)
        At least one.

    Returns
    -------
    ndarray of int, (n_samples,)

    Examples
    --------
    >>> atoms([np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])]).tolist()
    [0, 1, 2, 2]
    """
    return np.unique(np.column_stack(partitions), axis=0, return_inverse=True)[1].reshape(-1)


def objection(X: FloatArray, released: Sequence[IntArray], partition: IntArray, least: int, differing: int) -> str:
    """Say why a partition must not be released beside others; empty where it may.

    Parameters
    ----------
    X : ndarray, (n_samples, n_features)
        In original units.
    released : sequence of ndarray of int, (n_samples,)
        All partitions that were released about the study, ever.
    partition : ndarray of int, (n_samples,)
        The next one.
    least : int
        How many samples an atom must have.
    differing : int
        How many of them must differ from the most frequent value of every feature.
    """
    cells = atoms([*released, partition])
    if np.bincount(cells).min() < least:
        return SMALL.format(least=least)
    for cell in range(cells.max() + 1):
        for values in X[cells == cell].T:
            if len(values) - np.unique(values, return_counts=True)[1].max() < differing:
                return ALIKE.format(least=differing)
            deviations = np.abs(values - np.median(values))
            if deviations.max() > DOMINANCE * deviations.sum():
                return DOMINATED
    return ""
