"""The runs behind Fig. 1, benchmark sets in halves, as written and as published; and the figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, KMeans, MiniBatchKMeans

import clustrep as cr
from paper.common import SEED, save

TRUTH = {"d31": 31, "r15": 15, "aggregation": 7, "spiral": 3}
FIGURE = "fig1_benchmark_sets"
CLUSTERERS = ("k-means", "mini-batch", "Birch", "agglomerative")
# Highest ARI and its k, in the order of CLUSTERERS.
PRINTED = {
    "d31": ((1.000, 31), (0.981, 31), (0.997, 31), (0.438, 3)),
    "r15": ((1.000, 15), (0.997, 15), (0.999, 15), (0.690, 3)),
    "aggregation": ((0.957, 3), (0.933, 3), (0.909, 4), (0.957, 2)),
    "spiral": ((0.575, 4), (0.528, 4), (0.486, 11), (0.347, 3)),
}
EPS = np.linspace(0.3, 1.5, 39)
# The published peaks of agglomerative clustering are at two and three.
TREE_KS = (2, 3, 4, 5)


@dataclass(frozen=True)
class TwoOnTest:
    """Complete linkage with k clusters on the training half; on the test half, always Ward's with two."""

    k: int
    test: frozenset[tuple[float, ...]] = field(repr=False)

    def __call__(self, X: Any) -> Any:
        """Cluster a draw of either half."""
        on_test = self.test.issuperset(map(tuple, X))
        tree = AgglomerativeClustering(2) if on_test else AgglomerativeClustering(self.k, linkage="complete")
        return tree.fit_predict(X)


def as_written(study: cr.Study, ks: tuple[int, ...], n_resamples: int) -> cr.Comparison:
    """Two coordinates, a random half split, ψ learned on both halves."""
    clusterers = {
        "k-means": KMeans(n_init=10),
        "mini-batch": MiniBatchKMeans(n_init=3),
        "Birch": Birch(),
        "agglomerative": AgglomerativeClustering(),
    }
    halves = cr.Studies.split(study, rng=SEED)
    return cr.compare(
        clusterers, halves, n_clusters=ks, n_resamples=n_resamples, diagonal=False, rng=SEED, n_jobs=-1, progress=False
    )


def as_published(study: cr.Study, ks: tuple[int, ...], n_resamples: int) -> pd.DataFrame:
    """The class left in as a third feature, 50 starts, and agglomerative clustering that differs on the test half."""
    halves = cr.Studies.split(with_class(study), rng=SEED, label=False)
    options = {"agreement": "ari", "n_resamples": n_resamples, "diagonal": False, "rng": SEED, "n_jobs": -1}
    clusterers = {"k-means": KMeans(n_init=50), "mini-batch": MiniBatchKMeans(n_init=3), "Birch": Birch()}
    test = frozenset(map(tuple, halves["2"].X))
    trees = cr.compare({str(k): TwoOnTest(k, test) for k in TREE_KS}, halves, progress=False, **options)
    with_tree = one_way(trees).assign(k=lambda rows: rows["clusterer"].astype(int), clusterer="agglomerative")
    return pd.concat(
        [one_way(cr.compare(clusterers, halves, n_clusters=ks, progress=False, **options)), with_tree],
        ignore_index=True,
    )


def density_as_written(study: cr.Study, all_eps: Sequence[float], n_resamples: int) -> cr.Comparison:
    """DBSCAN on two coordinates, in units of their standard deviation, with bootstrap."""
    whole = cr.Study(study.X / study.X.std(axis=0), study.name)
    return cr.compare(
        {f"{eps:.3f}": DBSCAN(eps=eps, min_samples=1) for eps in all_eps},
        cr.Studies.split(whole, rng=SEED),
        n_resamples=n_resamples,
        diagonal=False,
        rng=SEED,
        n_jobs=-1,
        progress=False,
    )


def density_as_published(study: cr.Study, *, with_label: bool) -> pd.DataFrame:
    """DBSCAN on halves that are standardised separately, each clustered once: R̂ for every eps, and clusters found."""
    whole = with_class(study) if with_label else study
    halves = cr.Studies.split(whole, rng=SEED, label=False, scale="zscore")
    once = cr.compare(
        {f"{eps:.3f}": DBSCAN(eps=eps, min_samples=1) for eps in EPS},
        halves,
        n_resamples=1,
        resampling=cr.Rerun(),
        agreement="ari",
        diagonal=False,
        rng=SEED,
        progress=False,
    )
    found = once.clusters_found[:, 0]  # (n_eps, 2)
    return pd.DataFrame(
        {"eps": EPS, "score": once.estimate[:, 0, 0, 1], "fewest": found.min(axis=1), "most": found.max(axis=1)}
    )


def with_class(study: cr.Study) -> cr.Study:
    """Leave the class in as a feature: the mistake behind the published curves."""
    return cr.Study(np.column_stack([study.X, np.asarray(study.labels, dtype=float)]), study.name, label=False)


def one_way(comparison: cr.Comparison, agreement: str = "ari") -> pd.DataFrame:
    """Rows of the first half as training, the second as test; without those that are trivial or mostly fail."""
    rows = comparison.to_frame().query("train == '1' and test == '2' and agreement == @agreement")
    n = comparison.distribution.shape[2]
    rows = rows[(rows["trivial"] <= 0.05 * n) & (rows["failed"] <= n / 2)]
    return rows.assign(error=rows["sd"] / np.sqrt(n - rows["failed"]))


def peaks(rows: pd.DataFrame) -> dict[str, Any]:
    """The row with the highest score of every clusterer."""
    best = rows.loc[rows.groupby("clusterer")["mean"].idxmax()].set_index("clusterer")
    return {name: best.loc[name] for name in CLUSTERERS}


def sentence(found: dict[str, Any]) -> str:
    """Write every clusterer's highest score."""
    return ", ".join(f"{name} {row['mean']:.3f} ± {row['error']:.3f} @{row['k']}" for name, row in found.items())


def printed_and_ours(name: str, rows: pd.DataFrame) -> tuple[str, dict[str, float]]:
    """Write the printed peaks beside our scores at the same k, and those at our own peak where it is another."""
    at = rows.set_index(["clusterer", "k"])["mean"]
    found, parts = peaks(rows), []
    for one, (score, k) in zip(CLUSTERERS, PRINTED[name], strict=True):
        own = found[one]
        higher = own["mean"] > at[one, k] + 0.005
        other = f" (highest: {own['mean']:.3f} @{own['k']})" if higher else ""
        parts.append(f"{one} {score:.3f} @{k}, ours {at[one, k]:.3f}{other}")
    ours = {one: float(at[one, k]) for one, (_, k) in zip(CLUSTERERS, PRINTED[name], strict=True)}
    return "; ".join(parts), ours


def draw(
    sets: dict[str, cr.Study], written: dict[str, cr.Comparison], density: dict[str, cr.Comparison], out: Path
) -> str:
    """Halves, AMI and ARI, a row for each set."""
    figure, axes = plt.subplots(len(sets), 3, figsize=(13, 14), layout="constrained")
    for (data, *scores), (name, study) in zip(axes, sets.items(), strict=True):
        for half, colour in zip(cr.Studies.split(study, rng=SEED).values(), ("tab:red", "tab:blue"), strict=True):
            data.plot(*half.X.T, ".", color=colour, markersize=2)
        data.set_title(f"{name}: {len(study)} points, {TRUTH[name]} classes")
        for ax, agreement in zip(scores, ("ami", "ari"), strict=True):
            written[name].plot(ax, agreement)
            if name in density:
                rows = one_way(density[name], agreement).query("clusters_found <= 40")
                ax.plot(rows["clusters_found"], rows["mean"], "x", color="purple", label="DBSCAN, clusters found")
            ax.axvline(TRUTH[name], color="0.6", lw=0.8, ls=":")
            if name == "spiral":
                ax.legend(fontsize=7)
    return save(figure, out, FIGURE)
