"""Fig. 1 as published: the class left in as a feature, over several splits, as the authors' split is unknown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, KMeans, MiniBatchKMeans

import clustrep as cr
from paper import common
from paper.common import number, share
from paper.fig1_benchmark_sets.runs import CLUSTERERS

# Highest ARI and its k, in the order of CLUSTERERS.
PRINTED = {
    "d31": ((1.000, 31), (0.981, 31), (0.997, 31), (0.438, 3)),
    "r15": ((1.000, 15), (0.997, 15), (0.999, 15), (0.690, 3)),
    "aggregation": ((0.957, 3), (0.933, 3), (0.909, 4), (0.957, 2)),
    "spiral": ((0.575, 4), (0.528, 4), (0.486, 11), (0.347, 3)),
}
# The printed peaks, and a few others; for trees the least numbers, where theirs are.
KS = {"d31": (3, 30, 31, 32), "r15": (3, 14, 15, 16), "aggregation": (2, 3, 4, 5, 7), "spiral": (3, 4, 11, 20, 31, 40)}
QUICK_KS = {"d31": (31,), "r15": (15,), "aggregation": (3, 4), "spiral": (4, 11)}
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


def as_published(study: cr.Study, ks: tuple[int, ...], n_splits: int, n_resamples: int, n_jobs: int) -> pd.DataFrame:
    """A row for every split, clusterer and k: the mean over resamples, and the score of the halves as they are."""
    frames = []
    for split in range(1, n_splits + 1):
        halves = cr.Studies.split(with_class(study), rng=common.SEED + split, label=False)
        test = frozenset(map(tuple, halves["2"].X))
        options: Any = {"agreement": "ari", "n_resamples": n_resamples, "diagonal": False}
        options |= {"resampling": cr.Bootstrap(), "rng": common.SEED + split, "n_jobs": n_jobs}
        flat = {"k-means": KMeans(n_init=50), "mini-batch": MiniBatchKMeans(n_init=3), "Birch": Birch()}
        trees = {str(k): TwoOnTest(k, test) for k in TREE_KS}
        frames.append(_rows(cr.compare(flat, halves, n_clusters=ks, **options)))
        tree_rows = _rows(cr.compare(trees, halves, **options))
        frames.append(tree_rows.assign(k=tree_rows["clusterer"].astype(int), clusterer="agglomerative"))
    return pd.concat(frames, ignore_index=True)


def with_class(study: cr.Study) -> cr.Study:
    """Leave the class in as a feature: the mistake behind the published curves."""
    return cr.Study(np.column_stack([study.X, np.asarray(study.labels, dtype=float)]), study.name, label=False)


def _rows(comparison: cr.results.Comparison) -> pd.DataFrame:
    means = pd.DataFrame(comparison.distribution[:, 0, :, 0, 1]).mean(axis=1)  # none where all resamples fail
    whole = comparison.estimate[:, 0, 0, 1]
    return pd.DataFrame({"clusterer": comparison.clusterers, "k": comparison.n_clusters, "mean": means, "whole": whole})


@dataclass(frozen=True)
class Beside:
    """The printed peak of an algorithm, and ours at the same k in every split."""

    clusterer: str
    printed: float
    k: int
    ours: Any  # (n_splits,)
    whole: Any  # (n_splits,): without resampling
    highest: int  # our best k among those run

    @property
    def inside(self) -> bool:
        """Whether the printed score, of three digits, is within the range over splits."""
        return bool(self.ours.min() - 0.0005 <= self.printed <= self.ours.max() + 0.0005)

    @property
    def inside_whole(self) -> bool:
        """Whether it is within that of the halves as they are."""
        return bool(self.whole.min() - 0.0005 <= self.printed <= self.whole.max() + 0.0005)


def beside(name: str, rows: pd.DataFrame) -> list[Beside]:
    """Put the printed peaks of a set beside ours."""
    pairs = []
    for clusterer, (printed, k) in zip(CLUSTERERS, PRINTED[name], strict=True):
        rows_of_clusterer = rows[rows["clusterer"] == clusterer]
        at = rows_of_clusterer[rows_of_clusterer["k"] == k].dropna()
        highest = int(rows_of_clusterer.groupby("k")["mean"].mean().idxmax())
        pairs.append(Beside(clusterer, printed, k, at["mean"].to_numpy(), at["whole"].to_numpy(), highest))
    return pairs


def cell(name: str, rows: pd.DataFrame, n_resamples: int) -> str:
    """Write printed scores and ours, with the range over splits."""
    pairs = beside(name, rows)
    ks = sorted(set(rows.loc[rows["clusterer"] != "agglomerative", "k"]))
    listed = "; ".join(
        f"{pair.clusterer} {pair.printed:.3f} @{pair.k}, {number(pair.ours)} ({_range(pair.ours)})" for pair in pairs
    )
    return (
        "The class label left in the data as a feature, as in the authors' files; 50 k-means starts; agglomerative "
        "clustering of the test half is always Ward's with k = 2. Printed (one split, B = 100), ours (range over "
        f"{len(pairs[0].ours)} splits with B = {n_resamples}): {listed}. Run: k = {', '.join(map(str, ks))}; "
        f"agglomerative {', '.join(map(str, TREE_KS))}. {outside(pairs)}"
    )


def _range(values: Any) -> str:
    return f"{values.min():.3f} to {values.max():.3f}"


def outside(pairs: list[Beside]) -> str:
    """Say which printed scores are outside our range, and which of our scores peak at another k."""
    missed = [
        f"{pair.clusterer}, {abs(pair.printed - pair.ours.mean()):.3f} from our mean (range without resampling "
        f"{_range(pair.whole)}: {'inside' if pair.inside_whole else 'outside, too'})"
        for pair in pairs
        if not pair.inside
    ]
    elsewhere = [f"{pair.clusterer} @{pair.highest}" for pair in pairs if pair.highest != pair.k]
    said = "Printed scores: " + (f"outside our range are {'; '.join(missed)}" if missed else "all inside our range")
    return said + (f". Ours are highest, of the k run, at another: {', '.join(elsewhere)}." if elsewhere else ".")


def density_as_published(study: cr.Study, all_eps: Any, n_splits: int) -> pd.DataFrame:
    """DBSCAN on halves standardised separately, each clustered once: a row for every split, with and without class.

    three : whether some eps has three clusters in both halves; score : the mean score of such eps
    """
    rows = []
    for split in range(1, n_splits + 1):
        for with_label, whole in ((True, with_class(study)), (False, study)):
            once = cr.compare(
                {f"{eps:.3f}": DBSCAN(eps=eps, min_samples=1) for eps in all_eps},
                cr.Studies.split(whole, rng=common.SEED + split, label=False, scale="zscore"),
                n_resamples=1,
                resampling=cr.Rerun(),
                agreement="ari",
                diagonal=False,
                rng=common.SEED + split,
            )
            three = (once.clusters_found[:, 0] == 3).all(axis=1)  # (n_eps,)
            score = once.estimate[three, 0, 0, 1].mean() if three.any() else np.nan
            rows.append({"with_class": with_label, "three": three.any(), "score": score})
    return pd.DataFrame(rows)


def density_cell(rows: pd.DataFrame) -> str:
    """Write in how many splits DBSCAN has three clusters, with the class and without."""
    left_in, left_out = rows[rows["with_class"]], rows[~rows["with_class"]]
    return (
        "Halves standardised separately, clustered once. Splits where some eps has three clusters in both halves, "
        f"with the class label left in the data as a feature, as in the authors' files: {_three(left_in)}; without it: "
        f"{_three(left_out)}. No score is printed."
    )


def _three(rows: pd.DataFrame) -> str:
    return share(rows["three"]) + (f", score {number(rows['score'])}" if rows["three"].any() else "")
