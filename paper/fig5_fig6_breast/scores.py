"""Algorithm 1 on three breast cancer cohorts: the scores behind Figure 5 and the gold-standard figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.cluster import AgglomerativeClustering, Birch, KMeans

import clustrep as cr
from paper.common import error_of, make_rng, make_seed, with_error

CLUSTERERS = ("k-means", "Birch", "agglomerative")
KS = tuple(range(2, 9))
N_DRAWS = 200  # bootstrap draws of the resamples, for the errors of what is not a mean
Array = Any


@dataclass(frozen=True)
class Scores:
    """The scores of three clusterers with two to eight clusters on the six pairs of studies."""

    comparison: cr.results.Comparison
    pairs: tuple[tuple[str, str], ...]  # (training, test)
    ari: Array  # (n_clusterers, n_ks, n_pairs, n_resamples)
    ami: Array

    @property
    def n(self) -> int:
        """Return the number of resamples."""
        return int(self.ari.shape[-1])

    def swapped(self) -> list[int]:
        """Return the place of every pair with its studies in each other's roles."""
        return [self.pairs.index((test, train)) for train, test in self.pairs]


def written(studies: cr.Studies, n: int, n_jobs: int, key: int = 0) -> Scores:
    """Score as the text has it: bootstrap, ten starts, Ward's linkage."""
    return _scores(studies, (KMeans(n_init=10), Birch(), AgglomerativeClustering()), n, cr.Bootstrap(), n_jobs, key)


def published(studies: cr.Studies, n: int, n_jobs: int) -> Scores:
    """Score as the published files: permutations, fifty starts, complete linkage against Ward with two clusters."""
    clusterers = (KMeans(n_init=50), Birch(), AgglomerativeClustering(linkage="complete"))
    scores = _scores(studies, clusterers, n, cr.Subsample(1.0), n_jobs, 1)
    ward = {name: AgglomerativeClustering(2).fit_predict(studies[name].X) for name in studies.names}
    ari, last = scores.ari.copy(), CLUSTERERS.index("agglomerative")
    for j, k in enumerate(KS):
        trees = scores.comparison.replicability("agglomerative", k)  # which a permutation does not change
        for p, (train, test) in enumerate(scores.pairs):
            labels = trees.clustering_function(train)(studies[test].X)
            ari[last, j, p] = cr.adjusted_rand_index(labels, ward[test])
    ami = scores.ami.copy()
    ami[last] = np.nan
    return replace(scores, ari=ari, ami=ami)


def _scores(
    studies: cr.Studies, clusterers: Sequence[Any], n: int, resampling: cr.Resampling, n_jobs: int, key: int
) -> Scores:
    comparison = cr.compare(
        dict(zip(CLUSTERERS, clusterers, strict=True)),
        studies,
        n_clusters=KS,
        n_resamples=n,
        diagonal=False,
        resampling=resampling,
        rng=make_seed(5, key),
        n_jobs=n_jobs,
    )
    off = ~np.eye(len(studies), dtype=bool)
    pairs = tuple((studies.names[s], studies.names[t]) for s, t in zip(*np.nonzero(off), strict=True))
    ari, ami = (
        np.array([[comparison.replicability(c, k, a).distribution[:, off].T for k in KS] for c in CLUSTERERS])
        for a in ("ari", "ami")
    )
    return Scores(comparison, pairs, ari, ami)


# ---------------------------------------------------------------------------------------------------------------------
# errors


def mean(values: Array) -> Array:
    """Average over resamples, the last axis."""
    return np.nanmean(values, axis=-1)


def shown(values: Array) -> str:
    """Write a mean over resamples with its error."""
    return with_error(float(mean(values)), float(error_of(values)))


def draws(n: int, n_draws: int = N_DRAWS) -> Array:
    """Draw resamples with replacement, (n_draws, n), sorted; the same ones for all that is compared."""
    return np.sort(make_rng(5, 9).integers(n, size=(n_draws, n)), axis=1)
