"""Fig. 1, spiral: whether DBSCAN finds the arms in half of the points, and replicates at two or three clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import clustrep as cr
from paper.common import FAILS, HOLDS, Claim, clearly_positive, make_rng, number, share, verdict_of
from paper.fig1_benchmark_sets.published import cell, density_cell
from paper.fig1_benchmark_sets.runs import CLUSTERERS, EPS, best, in_deviations, scores

ARMS = "spiral: DBSCAN finds the three arms, and no other algorithm does."
FEW = "spiral: DBSCAN replicates well at k = 2, 3, and better than the other algorithms."
SETTINGS = (
    "The text has no settings of DBSCAN; the published files' are used: coordinates in standard deviations (sd), "
    "min_samples 1, eps from 0.3 to 1.5 sd."
)


def gaps(X: Any, classes: Any) -> tuple[float, float]:
    """The widest step within a class, and the narrowest between two: eps between them gives the classes."""
    within = max(linkage(X[classes == label], "single")[-1, 2] for label in np.unique(classes))
    between = min(cdist(X[classes == label], X[classes != label]).min() for label in np.unique(classes))
    return float(within), float(between)


@threadpool_limits.wrap(limits=1)  # more are slower at these sizes
def arms_in_halves(study: cr.Study, n_splits: int) -> pd.DataFrame:
    """A row for every split: gaps in both halves, and the ARI with the arms in the training half.

    DBSCAN with min_samples = 1 is single linkage cut at eps: its gaps tell for every eps, not for those of a grid.
    """
    X, classes, rows = in_deviations(study).X, np.asarray(study.labels), []
    for split in range(n_splits):
        parts = np.array_split(make_rng(1, 2, split).permutation(len(X)), 2)
        within, between = np.transpose([gaps(X[part], classes[part]) for part in parts])  # (2,) each
        train = parts[0]
        tree = linkage(X[train], "single")
        row = {
            "within": within.mean(),
            "between": between.mean(),
            "found": within.max() < between.min(),
            "DBSCAN": max(_ari(classes[train], fcluster(tree, eps, "distance")) for eps in EPS),
        }
        for name, clusterer in CLUSTERERS.items():
            three = clone(clusterer).set_params(n_clusters=3)
            if "random_state" in three.get_params():
                three.set_params(random_state=split)
            row[name] = _ari(classes[train], three.fit_predict(study.X[train]))
        rows.append(row)
    return pd.DataFrame(rows)


def _ari(classes: Any, labels: Any) -> float:
    return float(cr.adjusted_rand_index(classes, labels))


def arms_claim(study: cr.Study, rows: pd.DataFrame, published: pd.DataFrame) -> Claim:
    """In how many splits some eps gives the arms in both halves, and nothing else does."""
    others = rows[list(CLUSTERERS)]
    alone = rows["found"] & (others < 1 - 1e-9).all(axis=1)
    full = gaps(in_deviations(study).X, np.asarray(study.labels))
    n, verdict = len(rows), verdict_of(alone)
    if not rows["found"].any() and clearly_positive(rows["within"] - rows["between"]):
        plainly = "In half of the points gaps within an arm are wider than between arms, so no eps separates the arms."
    else:
        plainly = f"In {alone.sum()} of {n} splits some eps separates the arms, and no other algorithm does."
    return Claim(
        "Fig. 1, Section 4.1",
        ARMS,
        f"Splits where some eps, of any size, separates the arms in both halves: {share(rows['found'])}. ARI with the "
        f"arms at the best of {len(EPS)} eps: {number(rows['DBSCAN'])}; at k = 3: "
        + ", ".join(f"{name} {number(values)}" for name, values in others.items())
        + f". {SETTINGS}",
        density_cell(published),
        verdict,
        f"some eps gives the arms in both halves, no other algorithm does with k = 3; each of {n} splits",
        f"{plainly} Widest gap within an arm against the narrowest between arms: {number(rows['within'])} and "
        f"{number(rows['between'])} sd in halves, {full[0]:.2f} and {full[1]:.2f} (exact) in all points.",
        values={"found": int(rows["found"].sum()), "splits": n, "full": full}
        | {name: rows[name].to_numpy() for name in ("within", "between")}
        | {"with class": published[published["with_class"]], "without class": published[~published["with_class"]]},
    )


def few_claim(
    written: cr.results.Comparison, density: cr.results.Comparison, published: pd.DataFrame, n_resamples: int
) -> Claim:
    """DBSCAN's scores where both halves have two, or three, clusters, against the others' in the same resamples."""
    curves = scores(written)
    all_scores = density.distribution[:, 0, :, 0, 1]  # (n_eps, n_resamples)
    parts, said, values = [], [], {}
    for k in (2, 3):
        at = (density.clusters_found == k).all(axis=2)  # (n_eps, n_resamples)
        with_k = pd.DataFrame(np.where(at, all_scores, np.nan)).mean()  # (n_resamples,)
        others = curves.xs(k, level=1) if k in curves.index.get_level_values(1) else curves.iloc[:0]
        ahead = (with_k - others.loc[best(others)]).dropna() if len(others) else pd.Series(dtype=float)
        parts.append(len(ahead) > 1 and ahead.mean() > 2 * ahead.sem())
        score = f", score {number(with_k)}{' (one value)' if with_k.count() == 1 else ''}" if at.any() else ""
        rival = f"{best(others)} {number(others.loc[best(others)])}" if len(others) else "none"
        said.append(f"k = {k}: {share(at.any(axis=0))}{score}; highest other {rival}")
        values[k] = at.any(axis=0)
    rows = scores(density)
    top, name = best(rows), best(curves)
    n_clusters = density.clusters_found[density.clusterers.index(top), :, 0].mean()
    verdict, n = verdict_of(parts), all_scores.shape[1]
    if not any(flags.any() for flags in values.values()):
        plainly = "In no resample DBSCAN has two, or three, clusters in both halves: there is nothing to score."
    elif verdict == FAILS:
        two, three = (flags.sum() for flags in values.values())
        plainly = (
            f"DBSCAN seldom comes to it: two clusters in both halves in {two}, three in {three} of {n} resamples, and "
        )
        plainly += "there it does not score clearly above the best other."
        if max(two, three) > n / 2:
            plainly = "With two or three clusters in both halves DBSCAN does not score clearly above the best other."
    elif verdict == HOLDS:
        plainly = "Where DBSCAN has two or three clusters in both halves, it scores above the best other."
    else:
        plainly = f"DBSCAN scores above the best other at k = {2 if parts[0] else 3} only."
    return Claim(
        "Fig. 1, Section 4.1",
        FEW,
        f"Resamples where both halves have k clusters at one of {len(density.clusterers)} eps: {'. '.join(said)}.",
        cell("spiral", published, n_resamples),
        verdict,
        "DBSCAN with k clusters in both halves is above the highest other at this k, in the same resamples, by two "
        "standard errors; k = 2, 3",
        f"{plainly} At any number of clusters, DBSCAN's highest score is {number(rows.loc[top])} (eps {top}, "
        f"{n_clusters:.0f} clusters), the others' "
        f"{number(curves.loc[name])} ({name[0]} @{name[1]}); eps that leave one block in over 5 % of the resamples are "
        "not counted.",
        values={"resamples": values, "dbscan": float(rows.loc[top].mean()), "others": float(curves.loc[name].mean())},
    )
