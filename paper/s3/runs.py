"""Section 3: scores within and across studies, both ways, and indices of independent random partitions."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, mutual_info_score, rand_score

import clustrep as cr
from paper.a1.runs import WRITTEN as CALIBRATION
from paper.common import SEED, make_rng
from paper.fig3.runs import PUBLISHED, WRITTEN
from paper.store import Facts

INDICES = {
    "RI": rand_score,
    "MI": mutual_info_score,
    "ARI": adjusted_rand_score,
    "AMI": adjusted_mutual_info_score,
}
KS = (2, 5, 10)
N_POINTS = 100


def run(*, quick: bool) -> Facts:
    """Score fresh pairs of Fig. 3's data sets; draw random partitions."""
    n = 80 if quick else 1000
    facts: Facts = {"ks": KS}
    for mixtures in (WRITTEN, PUBLISHED):
        facts |= {f"{mixtures.name}/{key}": values for key, values in mixtures.on_fresh(n).items()}
    facts["second/whole"] = second_example(40 if quick else 200)
    return facts | {f"random/{name}": values for name, values in random_partitions(60 if quick else 400).items()}


def second_example(n: int) -> np.ndarray:
    """Score fresh pairs of A.1's second setting, k-means with k = 3, both ways, (n, 2, 2)."""
    setting = CALIBRATION[1]
    options = {"n_resamples": n, "resampling": cr.resampling.Simulate(setting), "diagonal": False, "rng": SEED}
    return cr.replicability(KMeans(setting.n_components, n_init=10), setting.studies(0), **options).distribution


def random_partitions(n: int) -> Facts:
    """Each index of independent random partitions into k clusters, (k, draw)."""
    rng = make_rng(3, 0)
    drawn = [[rng.integers(k, size=(2, N_POINTS)) for _ in range(n)] for k in KS]
    return {name: np.array([[index(*pair) for pair in pairs] for pairs in drawn]) for name, index in INDICES.items()}
