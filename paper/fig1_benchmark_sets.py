"""Fig. 1, Section 4.1: halves of four benchmark sets, five algorithms, k = 2, …, 40."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

import clustrep as cr
from clustrep.errors import DataError
from paper import fig1_asides, fig1_published, fig1_spiral, fig1_truth
from paper.common import ABSENT, FAILS, HOLDS, Claim, not_run, number, save, verdict_of, with_error
from paper.fig1_runs import (
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
    halves,
    scores,
)

WHERE = "Fig. 1, Section 4.1"
FIGURE = "fig1_benchmark_sets"
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
        theirs = [*PEAK.values(), FLAT, fig1_spiral.ARMS, fig1_spiral.FEW]
        return [
            *not_run(WHERE, theirs, ABSENT),
            *not_run(fig1_truth.WHERE, [fig1_truth.NUMBER, fig1_truth.ALGORITHM], ABSENT),
            *not_run(fig1_asides.WHERE, [fig1_asides.RANK, fig1_asides.ROLES], ABSENT, ours=True),
        ]
    ks, n_resamples, n_jobs = (QUICK_KS, 8, 1) if quick else (KS, 100, -1)
    n_splits, per_split, n_draws = (3, 1, 5) if quick else (10, 10, 30)
    steps = (9, 3) if quick else (3, 1)  # of eps: more of them on spiral
    published_ks = fig1_published.QUICK_KS if quick else fig1_published.KS
    written = {name: as_written(study, ks, n_resamples, n_jobs) for name, study in sets.items()}
    density = {
        name: density_as_written(study, EPS[:: steps[name == "spiral"]], n_resamples, n_jobs)
        for name, study in sets.items()
    }
    published = {
        name: fig1_published.as_published(study, published_ks[name], n_splits, per_split, n_jobs)
        for name, study in sets.items()
    }
    settings = [(one, k) for one in CLUSTERERS for k in ks]
    near = {name: fig1_truth.nearness(study, settings) for name, study in sets.items()}
    spiral, figure = sets["spiral"], draw(sets, written, density, out)
    arms = fig1_spiral.arms_in_halves(spiral, 20 if quick else 50)
    label_left_in = fig1_published.density_as_published(spiral, EPS[:: 6 if quick else 1], n_splits)
    return [
        *(peak_claim(name, written[name], published[name], per_split, figure) for name in PEAK),
        flat_claim(written, published["aggregation"], per_split),
        fig1_spiral.arms_claim(spiral, arms, label_left_in),
        fig1_spiral.few_claim(written["spiral"], density["spiral"], published["spiral"], per_split),
        fig1_truth.number_claim(written, near),
        fig1_truth.algorithm_claim(sets, written, density, near, n_draws),
        fig1_asides.rank_claim(written),
        fig1_asides.roles_claim(written),
    ]


def peak_claim(
    name: str, comparison: cr.results.Comparison, published: pd.DataFrame, per_split: int, figure: str
) -> Claim:
    """Well separated round clusters: the highest score is at their number."""
    truth = TRUTH[name]
    by_index = {index: scores(comparison, index) for index in ("ari", "ami")}
    parts = {(one, index): as_high(curve.loc[one], truth) for index, curve in by_index.items() for one in CLUSTERERS}
    curve = by_index["ari"]
    top = {index: {one: best(found.loc[one]) for one in CLUSTERERS} for index, found in by_index.items()}
    below = [f"{one} ({index.upper()})" for (one, index), holds in parts.items() if not holds]
    clear = sum(clearly_highest(found.loc[one], truth) for found in by_index.values() for one in CLUSTERERS)
    k_means = curve.loc["k-means"]
    beside = k_means.drop(index=truth, errors="ignore")
    n_resamples, verdict = comparison.distribution.shape[2], verdict_of(parts.values())
    if verdict == HOLDS:
        plainly = f"Every algorithm scores highest at {truth}, or is within Monte Carlo error of its highest there."
    else:
        plainly = f"Clearly below its highest score at {truth}, or without a score there: {', '.join(below)}."
    return Claim(
        WHERE,
        PEAK[name],
        f"At {truth}: {'; '.join(at_truth(one, curve.loc[one], truth) for one in CLUSTERERS)}. AMI is highest at "
        f"{', '.join(str(top['ami'][one]) for one in CLUSTERERS)}. One split, ± over its {n_resamples} resamples.",
        fig1_published.cell(name, published, per_split),
        verdict,
        f"at {truth} not below the highest by more than two standard errors of the resample-wise difference; each "
        "algorithm by ARI and by AMI",
        f"{plainly} At {truth} above every other k by two standard errors: {clear} of {len(parts)}. k-means' best "
        f"other k has {number(beside.loc[best(beside)])} @{best(beside)}.",
        (figure,) if name == "d31" else (),
        {"parts": parts, "peaks": top["ari"], "scores": curve.mean(axis=1), "ahead": behind(k_means, best(beside))}
        | {"published": {one.clusterer: one for one in fig1_published.beside(name, published)}},
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
    width = {(name, one): by_resampling(near_top, [curves[name].loc[one]]) for name in names for one in CLUSTERERS}
    parts = {}
    for other in PEAK:
        for one in CLUSTERERS:
            (flat, flat_error), (peaked, peaked_error) = width["aggregation", one], width[other, one]
            parts[one, other] = flat - peaked > 2 * np.hypot(flat_error, peaked_error)
    more = {other: ", ".join(one for one in CLUSTERERS if parts[one, other]) or "no algorithm" for other in PEAK}
    verdict = verdict_of(parts.values())
    if verdict == FAILS:
        plainly = "On aggregation no algorithm has clearly more k near its highest score than on d31 or r15."
    else:
        said = "; ".join(f"than on {other} for {who}" for other, who in more.items())
        plainly = f"On aggregation clearly more k are near the highest score {said}."
    tops = {name: [int(best(curves[name].loc[one])) for one in CLUSTERERS] for name in names}
    return Claim(
        WHERE,
        FLAT,
        f"How many k have a mean within one standard deviation of the highest, {', '.join(CLUSTERERS)}: "
        + "; ".join(f"{name} {', '.join(with_error(*width[name, one], 1) for one in CLUSTERERS)}" for name in names),
        fig1_published.cell("aggregation", published, per_split),
        verdict,
        "more such k than on the other set, by two standard errors; algorithm × d31, r15",
        f"{plainly} Best k: "
        + "; ".join(f"{name} {', '.join(map(str, tops[name]))}" for name in names)
        + ". aggregation has seven classes.",
        values={"parts": parts, "width": width, "peaks": tops},
    )


def draw(
    sets: dict[str, cr.Study],
    written: dict[str, cr.results.Comparison],
    density: dict[str, cr.results.Comparison],
    out: Path,
) -> str:
    """Halves, AMI and ARI, a row for each set."""
    figure, axes = plt.subplots(len(sets), 3, figsize=(11, 12), layout="constrained")
    colours = {"training half": "tab:red", "test half": "tab:blue"}
    for (data, *panels), (name, study) in zip(axes, sets.items(), strict=True):
        for half, colour in zip(halves(study).values(), colours.values(), strict=True):
            data.plot(*half.X.T, ".", color=colour, markersize=2)
        data.set(title=f"{name}: {len(study)} points, {TRUTH[name]} classes")
        data.set(xlabel="first coordinate", ylabel="second coordinate")
        found = density[name].clusters_found.mean(axis=(1, 2))
        clusters = pd.Series(found, index=density[name].clusterers)
        for ax, agreement in zip(panels, ("ami", "ari"), strict=True):
            written[name].plot(ax, agreement)
            means = sum(scores(density[name], agreement, swapped=way).mean(axis=1) for way in (False, True)) / 2
            means = means[clusters.reindex(means.index) <= 40].dropna()
            ax.plot(clusters[means.index], means, "x", color="purple")
            ax.axvline(TRUTH[name], color="0.4", lw=0.9, ls=":")
            ax.set(title=f"{name}: {agreement.upper()}", ylabel=f"{agreement.upper()}, mean of both directions")
            explained = list(ax.get_legend().legend_handles)
            ax.get_legend().remove()
    explained += [
        Line2D(
            [],
            [],
            color="purple",
            marker="x",
            ls="",
            label="DBSCAN: a cross for each eps, at the mean number of clusters found",
        ),
        Line2D([], [], color="0.4", lw=0.9, ls=":", label="number of classes"),
        *(Line2D([], [], color=colour, marker=".", ls="", label=half) for half, colour in colours.items()),
    ]
    figure.legend(handles=explained, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    figure.suptitle("Fig. 1 as written: halves of four benchmark sets, two coordinates")
    return save(figure, out, FIGURE)
