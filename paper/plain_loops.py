"""What some settings of the paper take with a plain scikit-learn loop: measured on a part, beside the library."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks import loops
from sklearn.cluster import AgglomerativeClustering, KMeans

import clustrep as cr
from clustrep.errors import DataError
from paper.common import SEED

LONGEST = 20.0  # seconds for the part of a loop
KS = range(2, 41)


def ratios() -> list[str]:
    """Return rows of a table: settings, seconds with the library, seconds of the loop, their ratio, the part run."""
    loops.LONGEST = LONGEST
    rows = [
        "| settings, one process | library, s | plain loop, s | ratio | part of the loop run |",
        "|---|---|---|---|---|",
    ]
    try:
        r15 = cr.Studies.split(cr.datasets.load_shape("r15"), rng=SEED)
    except DataError:
        r15 = cr.Studies.split(cr.datasets.simulate_dim(2, 4, 600, rng=SEED), rng=SEED)
    halves = [study.X for study in r15.values()]
    for name, clusterer in {"k-means": KMeans(n_init=10), "agglomerative": AgglomerativeClustering()}.items():
        options: dict[str, Any] = {"agreement": "ari", "diagonal": False, "rng": SEED, "progress": False}
        cr.compare(clusterer, r15, n_clusters=[2], n_resamples=1, **options)  # compiles
        ours = _seconds(lambda: cr.compare(clusterer, r15, n_clusters=KS, n_resamples=100, **options))  # noqa: B023
        plain = loops.global_loop(clusterer, halves, list(KS), 100)
        rows.append(_row(f"Fig. 1, r15 in halves, {name}, k = 2…40, B = 100", ours, plain))
    grid = np.stack(np.meshgrid(*np.quantile(halves[0], np.linspace(0, 1, 250), axis=0).T), axis=-1).reshape(-1, 2)
    clusterer = KMeans(3, n_init=10)
    train, test = r15.values()
    ours = _seconds(
        lambda: (
            cr.local_replicability(
                clusterer, train=train, test=test, at=grid, n_resamples=100, rng=SEED, progress=False
            ).mean
        )
    )
    rows.append(_row("Fig. 4, grid of 250 × 250, B = 100", ours, loops.local_loop(clusterer, *halves, grid, 100)))
    return rows


def _seconds(run: Callable[[], Any]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _row(settings: str, ours: float, plain: loops.Loop) -> str:
    return f"| {settings} | {ours:.1f} | {plain.seconds:,.0f} | {plain.seconds / ours:.0f} | {plain.share:.2%} |"
