"""What some settings of the paper take with a plain scikit-learn loop: measured on a part, beside the library."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks import loops
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix
from threadpoolctl import threadpool_limits

import clustrep as cr
from clustrep.errors import DataError
from paper.a3.runs import mixture, points
from paper.common import SEED, make_rng
from paper.fig3.runs import WRITTEN, grid


@dataclass(frozen=True)
class Sizes:
    """How large the settings are, and how many seconds a loop may run (Fig. 4 has a fixed part instead)."""

    ks: range = range(2, 41)
    n_resamples: int = 100
    n_grid: int = 250
    draw_ks: range = range(2, 51)
    n_points: int = 100
    n_draws: int = 100
    strength_ks: range = range(2, 21)
    n_splits: int = 200
    longest: float = 12.0


FULL = Sizes()


def ratios(sizes: Sizes = FULL) -> list[str]:
    """Return rows of a table: settings, seconds with the library, seconds of the loop, their ratio, the part run."""
    rows = [
        "| settings, one thread | library, s | plain loop, s | ratio | part of the loop run |",
        "|---|---|---|---|---|",
    ]
    whole, source = plane()
    with threadpool_limits(1):
        for name, clusterer in {"k-means": KMeans(n_init=10), "agglomerative": AgglomerativeClustering()}.items():
            rows.append(halves_row(whole, source, name, clusterer, sizes))
        rows += [local_row(sizes), draws_row(sizes), strength_row(whole, source, sizes)]
    return rows


def plane() -> tuple[cr.Study, str]:
    """Load r15, or simulate as many points where the file is absent."""
    try:
        return cr.datasets.load_shape("r15"), "r15"
    except DataError:
        X, labels = make_blobs(600, 2, centers=4, center_box=(32.0, 222.0), cluster_std=2.0, random_state=SEED)
        return cr.Study(X, "simulated", labels=labels), "600 simulated points"


def halves_row(whole: cr.Study, source: str, name: str, clusterer: Any, sizes: Sizes) -> str:
    """Fig. 1: two halves of a data set, all k."""
    halves = cr.Studies.split(whole, rng=SEED)

    def run(ks: Sequence[int], n_resamples: int) -> Any:
        options: dict[str, Any] = {"agreement": "ari", "diagonal": False, "rng": SEED}
        options["resampling"] = cr.resampling.Bootstrap()
        return cr.compare(clusterer, halves, n_clusters=ks, n_resamples=n_resamples, **options)

    run([2], 1)  # compiles
    ours = _seconds(lambda: run(sizes.ks, sizes.n_resamples))
    tables = [study.X for study in halves.values()]
    plain = loops.global_loop(clusterer, tables, list(sizes.ks), sizes.n_resamples, sizes.longest)
    return _row(f"Fig. 1, {source} in halves, {name}, k = {_range(sizes.ks)}, B = {sizes.n_resamples}", ours, plain)


def local_row(sizes: Sizes) -> str:
    """Fig. 4: its data sets, its grid."""
    train, test = WRITTEN.studies().values()
    at = grid(sizes.n_grid)
    WRITTEN.local(at[:2], 1)  # compiles
    ours = _seconds(lambda: WRITTEN.local(at, sizes.n_resamples).mean)
    plain = loops.local_loop(WRITTEN.clusterer, train.X, test.X, at, sizes.n_resamples)
    return _row(f"Fig. 4, grid of {sizes.n_grid} × {sizes.n_grid}, B = {sizes.n_resamples}", ours, plain)


def draws_row(sizes: Sizes) -> str:
    """A.3: fresh pairs of data sets, all k."""
    clusterer, rng = KMeans(n_init=10), make_rng(90)
    studies = {name: points(sizes.n_points, rng) for name in ("train", "test")}
    options: dict[str, Any] = {"agreement": "ari", "diagonal": False, "rng": SEED}
    ours = _seconds(
        lambda: cr.compare(
            clusterer,
            studies,
            n_clusters=sizes.draw_ks,
            resampling=cr.resampling.Simulate(mixture),
            n_resamples=sizes.n_draws,
            **options,
        )
    )

    def pieces() -> Iterator[None]:
        for _ in range(sizes.n_draws):
            train, test = points(sizes.n_points, rng), points(sizes.n_points, rng)
            for k in rng.permutation(sizes.draw_ks):  # so that a part of a draw costs what the whole would
                trained, tested = (loops.fit(clusterer, X, int(k)) for X in (train, test))
                adjusted_rand_score(trained.predict(test), tested.predict(test))
                yield None

    plain = loops.timed_loop(sizes.n_draws * len(sizes.draw_ks), pieces(), sizes.longest)
    settings = f"A.3, n = {sizes.n_points}, k = {_range(sizes.draw_ks)}, {sizes.n_draws} pairs of data sets"
    return _row(settings, ours, plain)


def strength_row(whole: cr.Study, source: str, sizes: Sizes) -> str:
    """C.2: prediction strength over k."""
    clusterer, rng, X = KMeans(n_init=10), make_rng(91), np.asarray(whole.X)
    options: dict[str, Any] = {"both_directions": False, "rng": SEED}
    ours = _seconds(
        lambda: (
            cr.stability.prediction_strength(
                clusterer, X, n_clusters=sizes.strength_ks, n_splits=sizes.n_splits, **options
            ).distribution
        )
    )

    def pieces() -> Iterator[float]:
        for _ in range(sizes.n_splits):
            train, test = np.array_split(rng.permutation(X), 2)
            for k in rng.permutation(sizes.strength_ks):
                trained, tested = (loops.fit(clusterer, half, int(k)) for half in (train, test))
                table = contingency_matrix(tested.labels_, trained.predict(test))
                size = table.sum(axis=1)
                pairs = (size * (size - 1))[size > 1]
                yield float(((table * (table - 1)).sum(axis=1)[size > 1] / pairs).min())

    plain = loops.timed_loop(sizes.n_splits * len(sizes.strength_ks), pieces(), sizes.longest)
    settings = f"C.2, prediction strength of {source}, k = {_range(sizes.strength_ks)}, {sizes.n_splits} splits"
    return _row(settings, ours, plain)


def _seconds(run: Callable[[], Any]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _range(ks: range) -> str:
    return f"{ks[0]}…{ks[-1]}"


def _row(settings: str, ours: float, plain: loops.Loop) -> str:
    return f"| {settings} | {ours:.1f} | {plain.seconds:,.0f} | {plain.seconds / ours:.0f} | {plain.share:.2%} |"
