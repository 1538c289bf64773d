"""Fig. 1, Section 4.1: halves of four benchmark sets, five algorithms, k = 2, …, 40."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import clustrep as cr
from clustrep.errors import DataError
from paper.common import ABSENT, FAILS, HOLDS, Claim, not_run, number, verdict_of, with_error
from paper.fig1_benchmark_sets.figures import draw
from paper.fig1_benchmark_sets.published import KS as PUBLISHED_KS
from paper.fig1_benchmark_sets.published import QUICK_KS as PUBLISHED_QUICK_KS
from paper.fig1_benchmark_sets.published import as_published, beside, cell, density_as_published
from paper.fig1_benchmark_sets.remarks import RANK, ROLES, rank_claim, roles_claim
from paper.fig1_benchmark_sets.remarks import WHERE as BREAST
from paper.fig1_benchmark_sets.runs import (
    CLUSTERERS,
    EPS,
    TRUTH,
    as_high,
    as_written,
    behind,
    best,
    by_resampling,
    clearly_highest,
    density_as_written,
    scores,
)
from paper.fig1_benchmark_sets.spiral import ARMS, FEW, arms_claim, arms_in_halves, few_claim
from paper.fig1_benchmark_sets.truth import ALGORITHM, NUMBER, algorithm_claim, nearness, number_claim
from paper.fig1_benchmark_sets.truth import WHERE as HEADLINE

WHERE = "Fig. 1, Section 4.1"
PEAK = {
    name: f"{name}: clusters are well separated, their shape suits the algorithms; the score is highest at the true "
    f"number, {TRUTH[name]}."
    for name in ("d31", "r15")
}
FLAT = "aggregation: the number of clusters is less obvious, and scores are less peaked around one k."
KS = tuple(range(2, 41))
QUICK_KS = (2, 3, 5, 7, 15, 16, 31, 32)


def main(out: Path, quick: bool = False) -> list[Claim]:
    """Run the experiment as written and as published, and draw the figure."""
    try:
        sets = {name: cr.datasets.load_shape(name) for name in TRUTH}
    except DataError:
        theirs = [*PEAK.values(), FLAT, ARMS, FEW]
        return [
            *not_run(WHERE, theirs, ABSENT),
            *not_run(HEADLINE, [NUMBER, ALGORITHM], ABSENT),
            *not_run(BREAST, [RANK, ROLES], ABSENT, ours=True),
        ]
    ks, n_resamples, n_jobs = (QUICK_KS, 8, 1) if quick else (KS, 100, -1)
    n_splits, per_split, n_draws = (3, 1, 5) if quick else (10, 10, 30)
    steps = (9, 3) if quick else (3, 1)  # of eps: more of them on spiral
    published_ks = PUBLISHED_QUICK_KS if quick else PUBLISHED_KS
    written = {name: as_written(study, ks, n_resamples, n_jobs) for name, study in sets.items()}
    density = {
        name: density_as_written(study, EPS[:: steps[name == "spiral"]], n_resamples, n_jobs)
        for name, study in sets.items()
    }
    published = {
        name: as_published(study, published_ks[name], n_splits, per_split, n_jobs) for name, study in sets.items()
    }
    settings = [(clusterer, k) for clusterer in CLUSTERERS for k in ks]
    near = {name: nearness(study, settings) for name, study in sets.items()}
    spiral, figure = sets["spiral"], draw(sets, written, density, out)
    arms = arms_in_halves(spiral, 20 if quick else 50)
    label_left_in = density_as_published(spiral, EPS[:: 6 if quick else 1], n_splits)
    return [
        *(peak_claim(name, written[name], published[name], per_split, figure) for name in PEAK),
        flat_claim(written, published["aggregation"], per_split),
        arms_claim(spiral, arms, label_left_in),
        few_claim(written["spiral"], density["spiral"], published["spiral"], per_split),
        number_claim(written, near),
        algorithm_claim(sets, written, density, near, n_draws),
        rank_claim(written),
        roles_claim(written),
    ]


def peak_claim(
    name: str, comparison: cr.results.Comparison, published: pd.DataFrame, per_split: int, figure: str
) -> Claim:
    """Well separated round clusters: the highest score is at their number."""
    truth = TRUTH[name]
    by_index = {index: scores(comparison, index) for index in ("ari", "ami")}
    parts = {
        (clusterer, index): as_high(curve.loc[clusterer], truth)
        for index, curve in by_index.items()
        for clusterer in CLUSTERERS
    }
    curve = by_index["ari"]
    top = {
        index: {clusterer: best(scores_by_k.loc[clusterer]) for clusterer in CLUSTERERS}
        for index, scores_by_k in by_index.items()
    }
    below = [f"{clusterer} ({index.upper()})" for (clusterer, index), holds in parts.items() if not holds]
    clear = sum(
        clearly_highest(scores_by_k.loc[clusterer], truth)
        for scores_by_k in by_index.values()
        for clusterer in CLUSTERERS
    )
    k_means = curve.loc["k-means"]
    other_ks = k_means.drop(index=truth, errors="ignore")
    n_resamples, verdict = comparison.distribution.shape[2], verdict_of(parts.values())
    if verdict == HOLDS:
        plainly = f"Every algorithm scores highest at {truth}, or is within Monte Carlo error of its highest there."
    else:
        plainly = f"Clearly below its highest score at {truth}, or without a score there: {', '.join(below)}."
    listed = "; ".join(at_truth(clusterer, curve.loc[clusterer], truth) for clusterer in CLUSTERERS)
    return Claim(
        WHERE,
        PEAK[name],
        f"At {truth}: {listed}. AMI is highest at {', '.join(map(str, top['ami'].values()))}. One split, ± over its "
        f"{n_resamples} resamples.",
        cell(name, published, per_split),
        verdict,
        f"at {truth} not below the highest by more than two standard errors of the resample-wise difference; each "
        "algorithm by ARI and by AMI",
        f"{plainly} At {truth} above every other k by two standard errors: {clear} of {len(parts)}. k-means' best "
        f"other k has {number(other_ks.loc[best(other_ks)])} @{best(other_ks)}.",
        (figure,) if name == "d31" else (),
        {"parts": parts, "peaks": top["ari"], "scores": curve, "ahead": behind(k_means, best(other_ks))}
        | {"published": {clusterer.clusterer: clusterer for clusterer in beside(name, published)}},
    )


def at_truth(clusterer: str, curve: pd.DataFrame, truth: int) -> str:
    """Write the score at the true k, and how far below the highest it is."""
    if truth not in curve.index:
        return f"{clusterer} has none (one block, or fails)"
    top = best(curve)
    below = "" if top == truth else f", {with_error(*behind(curve, truth), 3)} below @{top}"
    return f"{clusterer} {number(curve.loc[truth])}{below}"


def near_top(scores_of_k: np.ndarray) -> float:
    """How many k have a mean within one standard deviation of the highest: the band that the paper's figure draws."""
    means = np.nanmean(scores_of_k, axis=1)
    top = means.argmax()
    return float((means >= means[top] - np.nanstd(scores_of_k[top], ddof=1)).sum())


def flat_claim(written: dict[str, cr.results.Comparison], published: pd.DataFrame, per_split: int) -> Claim:
    """Aggregation: more k come near the highest score than on the sets with well separated clusters."""
    names = ("aggregation", *PEAK)
    curves = {name: scores(written[name]) for name in names}
    width = {
        (name, clusterer): by_resampling(near_top, [curves[name].loc[clusterer]])
        for name in names
        for clusterer in CLUSTERERS
    }
    parts = {}
    for other in PEAK:
        for clusterer in CLUSTERERS:
            (flat, flat_error), (peaked, peaked_error) = width["aggregation", clusterer], width[other, clusterer]
            parts[clusterer, other] = flat - peaked > 2 * np.hypot(flat_error, peaked_error)
    more = {
        other: ", ".join(clusterer for clusterer in CLUSTERERS if parts[clusterer, other]) or "no algorithm"
        for other in PEAK
    }
    verdict = verdict_of(parts.values())
    if verdict == FAILS:
        plainly = "On aggregation no algorithm has clearly more k near its highest score than on d31 or r15."
    else:
        said = "; ".join(f"than on {other} for {who}" for other, who in more.items())
        plainly = f"On aggregation clearly more k are near the highest score {said}."
    tops = {name: [int(best(curves[name].loc[clusterer])) for clusterer in CLUSTERERS] for name in names}
    return Claim(
        WHERE,
        FLAT,
        f"How many k have a mean within one standard deviation of the highest, {', '.join(CLUSTERERS)}: "
        + "; ".join(
            f"{name} {', '.join(with_error(*width[name, clusterer], 1) for clusterer in CLUSTERERS)}" for name in names
        ),
        cell("aggregation", published, per_split),
        verdict,
        "more such k than on the other set, by two standard errors; algorithm × d31, r15",
        f"{plainly} Best k: "
        + "; ".join(f"{name} {', '.join(map(str, tops[name]))}" for name in names)
        + ". aggregation has seven classes.",
        values={"parts": parts, "width": width, "peaks": tops},
    )
