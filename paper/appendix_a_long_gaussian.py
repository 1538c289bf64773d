"""A remark to appendix A.2: one long Gaussian scores high, though it has no clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from paper.common import Claim, make_rng, number, plain, save, share, verdict_of

LOW = 0.2
BORROWED = "borrowed: the end of “slight” agreement on Landis and Koch's scale of kappa, 1977"
LEVEL = 0.05
LONG = np.array([3.0, 1.0])  # standard deviations
KEY = 34
KS = range(2, 7)


def studies(n: int, scales: np.ndarray, rng: np.random.Generator) -> cr.Studies:
    """Draw two studies from one Gaussian."""
    return cr.Studies({name: rng.normal(size=(n, len(scales))) * scales for name in ("train", "test")})


def draw(ks: range, scores: np.ndarray, null: np.ndarray, out: Path) -> str:
    """Draw the score of a data set over k, beside those without clusters, (draw, k)."""
    figure, ax = plt.subplots(figsize=(6.5, 4.4), layout="constrained")
    low, high = np.nanquantile(null, (0.025, 0.975), axis=0)
    ax.fill_between(ks, low, high, color="0.85", lw=0, label="central 95 %, data without clusters (null reference)")
    ax.plot(ks, np.nanmean(null, axis=0), "--", color="0.35", label="mean, data without clusters")
    ax.plot(ks, scores, "o-", label="R̂ of the first data set, both directions averaged")
    ax.set(xlabel="number of clusters k", ylabel="ARI", ylim=(0, 1.05), xticks=list(ks))
    figure.legend(loc="outside lower center", fontsize=8)
    figure.suptitle("One Gaussian with variances 9 and 1, n = 200: scores without clusters", fontsize=11)
    return save(figure, out, "appendix_a_no_structure_long")


def long_gaussian(n_sets: int, n_null: int, n_jobs: int, out: Path) -> Claim:
    """Score a single Gaussian with variances 9 and 1, and compare with data without clusters."""
    scores, nulls, pvalues = [], [], []
    for i in range(n_sets):
        rng = make_rng(KEY, i)
        options: dict[str, Any] = {"rng": rng, "n_jobs": n_jobs, "progress": False}
        result = cr.compare(
            KMeans(n_init=10),
            studies(200, LONG, rng),
            n_clusters=KS,
            agreement="ari",
            n_resamples=1,  # R̂ is all that is asked
            diagonal=False,
            **options,
        )
        reference = cr.null_reference(result, n=n_null, **options)
        scores.append(result.estimate[0, 0, 0, 1])
        nulls.append(reference.mean[0, 0, 0, 1])
        pvalues.append(reference.overall_pvalue[0, 0])
        if i == 0:
            name = draw(KS, reference.overall[:, 0], reference.overall_distribution[:, :, 0], out)
    found = {"scores": np.array(scores), "null": np.array(nulls), "pvalues": np.array(pvalues)}
    return Claim(
        "A.2, one long Gaussian",
        "Without clusters scores are low, so that a high score is evidence of clusters: variances 9 and 1",
        f"n = 200, k = 2, {n_sets} data sets: R̂ {number(scores)}, {plain(min(scores))} to {plain(max(scores))}; over "
        f"k = 2 to 6, null_reference finds clusters (p at most 5 %) in {share(found['pvalues'] <= LEVEL)}",
        "",
        verdict_of(found["scores"] <= LOW),
        f"R̂ at most {LOW} ({BORROWED}) at k = 2, for every data set",
        f"In {np.sum(found['scores'] > LOW)} of {n_sets} data sets a Gaussian without clusters, but long, scores above "
        f"{LOW}. Data without clusters, as long as these, score {number(nulls)} on average (null_reference).",
        (name,),
        found,
        ours=True,
    )
