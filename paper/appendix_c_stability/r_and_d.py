"""The claims of appendix C.1 about the R and the D index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import rankdata

import clustrep as cr
from paper.appendix_c_common import (
    LESS_NOISE,
    above,
    counted,
    error_over_draws,
    is_spurious,
    listed,
    means,
    on_which,
    share_of_pairs,
    weights_of,
)
from paper.appendix_c_stability.runs import CURVE_K, N_BEST, SCALES, Results
from paper.common import Claim, number, row, verdict_of

AS_WRITTEN = SCALES.index(0.7071)  # the text's noise, of half the variance

D_TELLS = "The D index can be useful to find spurious clusters."
UNFAIR = "The absolute D index can make the comparison of clusters unfair, especially if their sizes are unbalanced."
RELATIVE = "D relative to the size of clusters allows a more effective comparison of their stability."
R_TELLS = "The R index can be useful to say which clusters are more stable."
MISLEADS = "R can mislead: on aggregation with k = 5 it is not particularly low, though not all clusters are groups."
HIGH = "Such values of R may lead to problems of interpretation in high dimensions."
NOISE = "What R and D find depends heavily on the variance of the noise."
CLAIMS = (D_TELLS, UNFAIR, RELATIVE, R_TELLS, MISLEADS, NOISE)


def told_apart(results: Results, index: str, truth: Any, *, relative: bool = False) -> dict[str, Any]:
    """Estimate for each data set how often a spurious cluster has a worse value than a real one of the same k."""
    estimates = {}
    for name in results:
        by_k = list(results[name][index].values())
        weights = weights_of(len(by_k[0].distribution))
        worse = 1 if index == "d" else -1
        badness = [worse * means(result.distribution, weights) / (result.sizes if relative else 1) for result in by_k]
        estimates[name] = share_of_pairs(badness, [is_spurious(result.labels, truth[name]) for result in by_k])
    return estimates


def compared(results: Results, index: str, truth: Any) -> str:
    """Write how many clusters of every data set are compared."""
    spurious_by_k = {
        name: [is_spurious(r.labels, truth[name]) for r in results[name][index].values()] for name in results
    }
    ks = {name: list(results[name][index]) for name in results}
    return ", ".join(
        f"{name} {counted(spurious)} ({len(ks[name])} k, {min(ks[name])} to {max(ks[name])})"
        for name, spurious in spurious_by_k.items()
    )


def telling_claim(index: str, written: Results, published: Results, truth: Any, ratios: Any) -> Claim:
    """Report how well R or D tells spurious clusters from real ones."""
    ours, theirs = told_apart(written, index, truth), told_apart(published, index, truth)
    times = ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items())
    better = {name: above(estimate, 0.5) for name, estimate in ours.items()}
    higher = {
        name: theirs[name][0] - estimate[0] > 2 * np.hypot(error_over_draws(estimate), error_over_draws(theirs[name]))
        for name, estimate in ours.items()
    }
    noise = f" Variance of the text's noise over the published: {times}."
    taken = " Stable is taken to mean not spurious."
    return Claim(
        f"C.1, {index.upper()} index",
        D_TELLS if index == "d" else R_TELLS,
        f"share of pairs (spurious, real) of the same k in which the spurious one has the worse value: {listed(ours)} "
        f"(± over resamples; clusters: the best of {N_BEST:,} k-means starts)",
        f"no number printed; ours, {LESS_NOISE}, 50 k-means starts, for r15 half as many copies: {listed(theirs)}",
        verdict_of(better.values()),
        "share above 0.5, that of chance, by two errors; for each data set",
        f"Spurious clusters have the worse value more often than by chance on {on_which(better)}; as published the "
        f"share is higher, by two errors, on {on_which(higher)}.{noise if index == 'd' else taken} Numbers of "
        f"spurious/real clusters/pairs: {compared(written, index, truth)}.",
        values={"written": ours, "published": theirs, "ratios": ratios},
    )


def with_size(results: Results, *, relative: bool = False) -> dict[str, Any]:
    """Estimate for each data set the rank correlation of D with the size, averaged over all k where sizes differ."""
    estimates = {}
    for name in results:
        each = []
        for result in (result for result in results[name]["d"].values() if np.ptp(result.sizes)):
            d = means(result.distribution, weights_of(len(result.distribution))) / (result.sizes if relative else 1)
            ranks, sizes = (
                rankdata(d, axis=1) - (len(result.sizes) + 1) / 2,
                rankdata(result.sizes) - (len(result.sizes) + 1) / 2,
            )
            each.append(ranks @ sizes / np.sqrt((ranks**2).sum(axis=1) * (sizes**2).sum()))
        estimates[name] = np.mean(each, axis=0)
    return estimates


def unfair_claim(written: Results, published: Results) -> Claim:
    """Report how absolute D goes with the size of clusters."""
    ours, theirs, relative = with_size(written), with_size(published), with_size(written, relative=True)
    grows = {name: above(estimate, 0) for name, estimate in ours.items()}
    falls = {name: above(-estimate, 0) for name, estimate in relative.items()}
    spread = {name: [r.sizes.max() / r.sizes.min() for r in written[name]["d"].values()] for name in written}
    return Claim(
        "C.1, D index",
        UNFAIR,
        f"rank correlation of D with size, mean over k: {listed(ours)}",
        f"no number printed; ours: {listed(theirs)}",
        verdict_of(grows.values()),
        "correlation above 0 by two errors; for each data set",
        f"Larger clusters tend to have a higher D on {on_which(grows)}; divided by the size, a lower one on "
        f"{on_which(falls)}. Largest cluster over smallest, mean over k: "
        + ", ".join(f"{name} {np.mean(ratios):.1f}" for name, ratios in spread.items())
        + f". Correlation after division: {listed(relative)}.",
        values={"absolute": ours, "relative": relative, "published": theirs},
    )


def relative_claim(written: Results, published: Results, truth: Any) -> Claim:
    """Compare how well relative and absolute D tell spurious clusters from real ones."""
    texts, gains = {}, {}
    for words, results in (("written", written), ("published", published)):
        relative, absolute = (told_apart(results, "d", truth, relative=flag) for flag in (True, False))
        gains[words] = {name: relative[name] - absolute[name] for name in relative}
        texts[words] = f"{listed(relative)}; gain {listed(gains[words])}"
    better, worse = ({name: above(sign * gain, 0) for name, gain in gains["written"].items()} for sign in (1, -1))
    return Claim(
        "C.1, D index",
        RELATIVE,
        f"share of pairs (spurious, real) of the same k in which the spurious one has the worse relative D: "
        f"{texts['written']} over absolute D (paired, on the same resamples)",
        f"no number printed; ours: {texts['published']}",
        verdict_of(better.values()),
        "share higher than with absolute D, by two errors; for each data set",
        f"Division by the size marks spurious clusters better on {on_which(better)}, worse on {on_which(worse)}"
        + (
            "."
            if all(map(any, zip(better.values(), worse.values(), strict=True)))
            else "; the rest is within two errors."
        ),
        values=gains,
    )


def misleading_claim(written: Results, published: Results, truth: Any) -> Claim:
    """Ask whether R of the worst cluster of aggregation at k = 5 is low: by itself, and among the others."""
    texts, parts = {}, {}
    for words, results in (("written", written), ("published", published)):
        result = results["aggregation"]["r"][5]
        fit = cr.jaccard(result.labels, truth)
        worst = int(np.argmin(fit))
        r = result.distribution
        others = np.delete(r, worst, axis=1)
        estimate = means(others - r[:, [worst]], weights_of(len(r)))  # (1 + N_AGAIN, 4)
        parts[words] = {
            "absolute": bool(result.per_cluster[worst] > 0.5),
            "relative": not all(above(column, 0) for column in estimate.T),
        }
        texts[words] = (
            f"{number(r[:, worst])} (Jaccard with its group {fit[worst]:.2f}); others "
            + ", ".join(number(column) for column in others.T)
            + f"; {'above' if parts[words]['absolute'] else 'not above'} 0.5, "
            + ("not the lowest by two errors" if parts[words]["relative"] else "the lowest by two errors")
        )
    absolute, relative = parts["written"].values()
    return Claim(
        "C.1, R index",
        MISLEADS,
        f"R of the cluster that is least like a group: {texts['written']}",
        f"no number printed; ours, {LESS_NOISE}: {texts['published']}",
        verdict_of(parts["written"].values()),
        "R of that cluster above 0.5, most of its pairs kept; and not the lowest by two errors",
        f"That cluster {'keeps most' if absolute else 'loses half or more'} of its pairs under the text's noise, "
        f"{'but' if absolute != relative else 'and'} its R is {'not ' if relative else ''}clearly the lowest of the "
        "five. “Not particularly low” can be meant by itself, or among the clusters: two questions.",
        values=parts,
    )


def noise_claim(curves: Mapping[tuple[str, str], cr.results.Sensitivity], figures: tuple[str, ...]) -> Claim:
    """Report R and relative D over the scale of the noise."""
    steps, texts = {}, []
    for (name, index), curve in curves.items():
        r = curve.overall_distribution  # (resample, scale): the same noise at all scales, larger or smaller
        worse = np.diff(r, axis=1) * (1 if index == "d" else -1)
        estimate = means(worse, weights_of(len(worse)))
        steps[name, index] = [above(column, 0) for column in estimate.T]
        letter = "R" if index == "r" else "relative D"
        if name == "aggregation":
            texts.append(f"{letter} {number(r[:, 0])} and {number(r[:, AS_WRITTEN])}")
    n_worse, n_steps = sum(map(sum, steps.values())), sum(map(len, steps.values()))
    return Claim(
        "C.1, R and D",
        NOISE,
        f"aggregation, k = {CURVE_K}, noise of {SCALES[0]:g} and, as in the text, {SCALES[AS_WRITTEN]:.2f} standard "
        f"deviations: {'; '.join(texts)}; the other data sets in the figure",
        "",
        verdict_of(step for of_curve in steps.values() for step in of_curve),
        f"worse by two errors at every step of the scale, {row(SCALES, 1)}; for each index and data set",
        f"More noise makes the index clearly worse at {'every one' if n_worse == n_steps else n_worse} of {n_steps} "
        "steps. How much is “heavily” is left to the reader.",
        figures,
        {key: curve.overall_distribution[:, [0, AS_WRITTEN]] for key, curve in curves.items()},
    )
