"""Studies, comparisons and references that several tests of null models share."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans

import clustrep as cr
from clustrep.algorithms.comparison import Comparison
from clustrep.execution.seeds import one_thread
from clustrep.null.null_scores import NullReference
from clustrep.provenance import Provenance

CENTRES = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
WARD = AgglomerativeClustering(3)


def mixtures(seed, sizes=(30, 30), n_features=2, separation=1.0):
    """Studies that share three clusters, far from each other."""
    rng = np.random.default_rng([seed, 5])
    centres = np.zeros((3, n_features))
    centres[:, :2] = separation * CENTRES
    return [centres[np.arange(n) % 3] + rng.normal(size=(n, n_features)) for n in sizes]


def gaussians(seed, sd, sizes=(40, 40), *, turned=False):
    """Studies of the same Gaussian: no clusters."""
    rng = np.random.default_rng([seed, 11])
    with one_thread():  # small matrices: threads only wait for each other
        turn = np.linalg.qr(rng.normal(size=(len(sd), len(sd))))[0] if turned else np.eye(len(sd))
    return [(rng.normal(size=(n, len(sd))) * sd) @ turn for n in sizes]


def compared(tables, ks=(2, 3, 4), seed=0, clusterer=None, **options):
    run = {"agreement": "ari", "n_resamples": 1, "diagonal": False, "rng": seed, **options}
    return cr.compare(clusterer or KMeans(n_init=2), tables, n_clusters=ks, **run)


def off_diagonal(values):
    return values[..., ~np.eye(values.shape[-1], dtype=bool)]


def comparison_by_hand(averages, n_clusters, *, clusterers=None, agreements=("ari",), trivial=None):
    """Two studies, equal scores in both directions: averages (n_configurations, n_agreements, n_resamples).

    `trivial` tells how many of the first resamples of each configuration have a single cluster.
    """
    averages = np.asarray(averages, dtype=float)
    if averages.ndim == 2:
        averages = averages[:, None]
    C, A, B = averages.shape
    distribution = np.repeat(np.repeat(averages[..., None, None], 2, axis=-1), 2, axis=-2)
    known = np.isfinite(distribution).sum(axis=2)
    n_trivial = np.zeros(C) if trivial is None else np.asarray(trivial)
    return Comparison(
        names=("a", "b"),
        agreements=agreements,
        clusterers=clusterers or ("ward",) * C,
        n_clusters=tuple(n_clusters),
        estimate=np.where(known > 0, np.nansum(distribution, axis=2) / np.maximum(known, 1), np.nan),
        distribution=distribution,
        trivial=np.repeat(np.arange(B) < n_trivial[:, None], 4, axis=1).reshape(C, B, 2, 2),
        clusters_found=np.full((C, B, 2), 2),
        failed=np.zeros((C, A, B + 1, 2, 2), dtype=int),
        causes=(),
        provenance=Provenance(seed=1),
    )


def reference_by_hand(comparison, observed, simulated):
    """Scores of every configuration and agreement, and those of simulated data sets, the same for both pairs.

    Separateness is the same everywhere, and so tells nothing.
    """
    spread = [np.repeat(np.repeat(np.asarray(x, float)[..., None, None], 2, -1), 2, -2) for x in (observed, simulated)]
    return NullReference(
        statistic="estimate",
        names=comparison.names,
        agreements=comparison.agreements,
        clusterers=comparison.clusterers,
        n_clusters=comparison.n_clusters,
        observed=spread[0],
        distribution=spread[1],
        provenance={"null": "'gaussian'", "seed": 1, "of": comparison._fingerprint},
        separateness=np.zeros(len(comparison.clusterers)),
        separateness_distribution=np.zeros((len(simulated), len(comparison.clusterers))),
    )
