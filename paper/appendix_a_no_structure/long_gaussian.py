"""A remark to appendix A.2: one long Gaussian scores high, though it has no clusters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from paper.appendix_a_no_structure.figures import draw_long
from paper.appendix_a_no_structure.runs import studies
from paper.common import Claim, make_rng, number, plain, share, verdict_of

LOW = 0.2
BORROWED = "borrowed: the end of “slight” agreement on Landis and Koch's scale of kappa, 1977"
LEVEL = 0.05
LONG = np.array([3.0, 1.0])  # standard deviations
KEY = 34
KS = range(2, 7)


def long_gaussian(n_sets: int, n_null: int, n_jobs: int, out: Path) -> Claim:
    """Score a single Gaussian with variances 9 and 1, and compare with data without clusters."""
    scores, nulls, pvalues = [], [], []
    for i in range(n_sets):
        rng = make_rng(KEY, i)
        options: dict[str, Any] = {"rng": rng, "n_jobs": n_jobs}
        result = cr.compare(
            KMeans(n_init=10),
            studies(200, LONG, rng),
            n_clusters=KS,
            agreement="ari",
            n_resamples=1,  # R̂ is all that is asked
            diagonal=False,
            **options,
        )
        reference = cr.null_reference(result, n=n_null, null="gaussian", **options)
        scores.append(result.estimate[0, 0, 0, 1])
        nulls.append(reference.mean[0, 0, 0, 1])
        pvalues.append(reference.configuration_pvalue[0, 0])
        if i == 0:
            name = draw_long(KS, reference.overall[:, 0], reference.overall_distribution[:, :, 0], out)
    values = {"scores": np.array(scores), "null": np.array(nulls), "pvalues": np.array(pvalues)}
    return Claim(
        "A.2, one long Gaussian",
        "Without clusters scores are low, so that a high score is evidence of clusters: variances 9 and 1",
        f"n = 200, k = 2, {n_sets} data sets: R̂ {number(scores)}, {plain(min(scores))} to {plain(max(scores))}; over "
        f"k = 2 to 6, null_reference finds clusters (p at most 5 %) in {share(values['pvalues'] <= LEVEL)}",
        "",
        verdict_of(values["scores"] <= LOW),
        f"R̂ at most {LOW} ({BORROWED}) at k = 2, for every data set",
        f"In {np.sum(values['scores'] > LOW)} of {n_sets} data sets a Gaussian without clusters, but long, scores "
        f"above {LOW}. Data without clusters, as long as these, score {number(nulls)} on average (null_reference).",
        (name,),
        values,
        ours=True,
    )
