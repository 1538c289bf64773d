"""Separateness: how much of a held-out study's spread lies between the clusters that were learned elsewhere.

R̂ has a ceiling: a long Gaussian is cut into the same halves in every study, so two clear groups can't score higher.
Separateness can: halves of a Gaussian explain 2/π = 64 % of what one cut could, two points 100 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from clustrep.data.values import completed
from clustrep.execution.seeds import Failed
from clustrep.fitting.resample import Labelled, PointSet
from clustrep.types import FloatArray, IntArray


def separateness(X: FloatArray, codes: IntArray, n_clusters: int) -> float:
    """Return the share of a table's spread that clusters explain, divided by what k clusters could explain at most.

        Q = Σ_c n_c ‖m_c − m‖² / (λ_1 + … + λ_{k−1}),   λ the eigenvalues of Σ_i (x_i − m)(x_i − m)ᵀ

    The means of k clusters span k − 1 dimensions, so no partition explains more than the first k − 1 principal axes
    (Ding and He 2004): Q lies between 0 and 1, and a long table is no better cut than a round one.

    Parameters
    ----------
    X : ndarray, (n_samples, n_features)
    codes : ndarray of int, (n_samples,)
        Numbers below `n_clusters`: of clusters that were learned elsewhere.
    n_clusters : int
        The number of clusters k, also of those without a sample here.

    References
    ----------
    .. [1] Ding, C. and He, X. (2004). K-means clustering via principal component analysis. Proceedings of the 21st
       International Conference on Machine Learning.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.0], [1.0], [1.0]])
    >>> separateness(X, np.array([0, 0, 1, 1]), 2), separateness(X, np.array([0, 1, 0, 1]), 2)
    (1.0, 0.0)
    """
    return Spread.of(X).separateness(codes, n_clusters)


@dataclass(frozen=True, eq=False)
class Spread:
    """A study's spread, and how much of it the first principal axes have: computed once for all partitions."""

    centred: FloatArray = field(repr=False)  # (n_samples, n_features)
    by_axes: FloatArray  # (1 + n_axes,): the spread along no axis, the first, the first two, …

    @classmethod
    def of(cls, X: FloatArray) -> Spread:
        """Compute the spread along all principal axes, in as few dimensions as there are."""
        centred = X.astype(float) - X.mean(axis=0, dtype=float)
        products = centred @ centred.T if X.shape[1] > len(X) else centred.T @ centred
        along = np.maximum(np.linalg.eigvalsh(products)[::-1], 0)
        return cls(centred, np.concatenate([[0.0], np.cumsum(along)]))

    def attainable(self, n_clusters: int) -> float:
        """Return the largest spread that can lie between k clusters: that along k − 1 principal axes."""
        return float(self.by_axes[min(n_clusters, len(self.by_axes)) - 1])

    def between(self, codes: IntArray, n_clusters: int) -> float:
        """Return the spread between clusters, Σ_c n_c ‖m_c − m‖²."""
        members = np.empty((n_clusters, len(codes)))
        np.equal(codes, np.arange(n_clusters)[:, None], out=members)
        sizes = np.maximum(members.sum(axis=1), 1)
        sums = members @ self.centred
        return float((sums**2).sum(axis=1) @ (1 / sizes))

    def separateness(self, codes: IntArray, n_clusters: int) -> float:
        """Return the share of what k clusters could explain; 0 where there is nothing to explain."""
        most = self.attainable(n_clusters)
        return self.between(codes, n_clusters) / most if most > 0 else 0.0


def spread_of(points: PointSet) -> Spread:
    """Return the spread of a study, in the fewest coordinates that it has."""
    return Spread.of(completed(points.X) if points.rotated is None else points.rotated.X)


def separateness_of_pairs(functions: Sequence[Labelled | Failed], spreads: Sequence[Spread]) -> FloatArray:
    """Return the separateness of every study's clusters in every other study, (S, S): train, test.

    NaN on the diagonal, and where the training study could not be clustered.

    functions : of every training study, its labels of all studies' points
    """
    S = len(spreads)
    values = np.full((S, S), np.nan)
    for s, function in enumerate(functions):
        for t in range(S):
            partition = function.at(t)
            if s != t and not isinstance(partition, Failed):
                values[s, t] = spreads[t].separateness(partition.codes, partition.n_labels)
    return values


def shares_between(between: FloatArray, n_labels: Sequence[int], spreads: Sequence[Spread]) -> FloatArray:
    """Return the separateness of every study's clusters in every other one, from the spread between these clusters.

    between : (n_replicates, n_members, S, S), and NaN on the diagonal of the result
    n_labels : the number of clusters k of every member; spreads : of all studies, one replicate after the other
    """
    B, _, S, _ = between.shape
    most = [[spread.attainable(k) for spread in spreads] for k in n_labels]  # (n_members, n_replicates · S)
    attainable = np.moveaxis(np.reshape(most, (len(n_labels), B, 1, S)), 0, 1)
    shares: FloatArray = np.divide(between, attainable, out=np.zeros_like(between), where=attainable > 0)
    shares[..., np.arange(S), np.arange(S)] = np.nan
    return shares
