"""A remark to appendix A.2: one long Gaussian scores high, though it has no clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from paper.common import Claim, make_rng, number, plain, save, share, verdict_of

LOW = 0.2  # the end of "slight agreement": Landis & Koch (1977)
LEVEL = 0.05
LONG = np.array([3.0, 1.0])  # standard deviations
KEY = 34


def studies(n: int, scales: np.ndarray, rng: np.random.Generator) -> cr.Studies:
    """Draw two studies from one Gaussian."""
    return cr.Studies({name: rng.normal(size=(n, len(scales))) * scales for name in ("train", "test")})


def long_gaussian(n_sets: int, n_null: int, n_jobs: int, out: Path) -> Claim:
    """Score a single Gaussian with variances 9 and 1, and compare with data without clusters."""
    scores, nulls, pvalues = [], [], []
    for i in range(n_sets):
        rng = make_rng(KEY, i)
        options: dict[str, Any] = {"rng": rng, "n_jobs": n_jobs, "progress": False}
        result = cr.compare(
            KMeans(n_init=10),
            studies(200, LONG, rng),
            n_clusters=range(2, 7),
            agreement="ari",
            n_resamples=100 if i == 0 else 1,  # for the figure
            diagonal=False,
            **options,
        )
        reference = cr.null_reference(result, n=n_null, **options)
        scores.append(result.estimate[0, 0, 0, 1])
        nulls.append(reference.mean[0, 0, 0, 1])
        pvalues.append(reference.overall_pvalue[0, 0])
        if i == 0:
            figure, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
            result.plot(ax=ax, reference=reference)
            name = save(figure, out, "appendix_a_no_structure_long")
    found = {"scores": np.array(scores), "null": np.array(nulls), "pvalues": np.array(pvalues)}
    return Claim(
        "A.2, one long Gaussian",
        "Without clusters scores are low, so that a high score is evidence of clusters: variances 9 and 1",
        f"n = 200, k = 2, {n_sets} data sets: R̂ {number(scores)}, {plain(min(scores))} to {plain(max(scores))}; over "
        f"k = 2 to 6, null_reference finds clusters (p at most 5 %) in {share(found['pvalues'] <= LEVEL)}",
        "",
        verdict_of(found["scores"] <= LOW),
        f"R̂ at most {LOW} at k = 2, for every data set",
        f"The paper has round Gaussians alone. R̂ of data without clusters but as long as these, from null_reference: "
        f"{number(nulls)}.",
        (name,),
        found,
        ours=True,
    )
