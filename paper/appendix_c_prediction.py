"""Appendix C.2: prediction strength and in-group proportion of k-means on three benchmark shapes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import clustrep as cr
from clustrep.errors import DataError
from paper import appendix_c_in_group as in_group
from paper.appendix_c_common import GROUPS, NO_DATA, above, listed, load_shapes, means, weights_of
from paper.common import Claim, make_seed, not_run, number, save, share, verdict_of

NUMBERS = range(1, 21)
SOME = slice(1, None)  # without one cluster, whose strength is always 1
Strengths = Mapping[str, cr.PredictionStrength]

FEW = "Prediction strength tends to favour few clusters, also where they are not better, in all experiments."
MINIMUM = "The preference for few clusters comes from the minimum over clusters."
PARAMETERS = "Prediction strength and in-group proportion need no parameter but the clustering algorithm."
PERTURBED = "It may be good practice to compute both scores on perturbed versions of the data, too."


def main(out: Path, quick: bool = False) -> list[Claim]:
    """Compute prediction strength over k, and the in-group proportions of some k."""
    try:
        shapes = load_shapes()
    except DataError:
        return not_run("C.2", [FEW, MINIMUM, *in_group.CLAIMS, PARAMETERS, PERTURBED], NO_DATA)
    n, n_starts, n_jobs = (24, 6, 1) if quick else (200, 20, -1)
    written = {name: strength(study, n, 10, n_jobs) for name, study in shapes.items()}
    noisy = {name: strength(study, n, 10, n_jobs, cr.Jitter()) for name, study in shapes.items()}
    n_published = 5 if quick else 20
    published = {name: with_self_pairs(strength(study, n_published, 50, n_jobs)) for name, study in shapes.items()}
    groups = in_group.proportions(shapes, n_starts)
    copies = in_group.noisy_copies(shapes, n, n_jobs)
    truth = {name: np.asarray(study.labels) for name, study in shapes.items()}
    figures = (draw_strength(shapes, written, published, out), in_group.draw(shapes, groups, out))
    fit = {
        name: {k: agreement_with_groups(shapes[name], k) for k in (result.best_n_clusters, GROUPS[name])}
        for name, result in written.items()
    }
    return [
        few_claim(written, published, fit, figures),
        minimum_claim(written),
        in_group.overconfident_claim(groups, truth),
        in_group.neighbours_claim(groups, truth),
        parameters_claim(written, in_group.lowest_by_metric(shapes, groups)),
        perturbed_claim(written, noisy, in_group.gains_of_copies(copies, truth)),
    ]


def strength(study: cr.Study, n: int, n_init: int, n_jobs: int, noise: Any = None) -> cr.PredictionStrength:
    """Compute equation (4) on random half-splits."""
    return cr.prediction_strength(
        KMeans(n_init=n_init),
        study.X,
        n_clusters=NUMBERS,
        n_splits=n,
        both_directions=False,
        perturbation=noise,
        rng=make_seed(32, n_init),
        n_jobs=n_jobs,
    )


def with_self_pairs(result: cr.PredictionStrength) -> Any:
    """Return the strength of every k in every split, each point paired with itself, too, (n_splits, number of k).

    A cluster of m points with share s of its m(m − 1)/2 pairs then has (s(m − 1) + 2)/(m + 1), one of a single point 1.
    """
    shares, sizes = result.cluster_strengths[:, 0], result.cluster_sizes[:, 0]
    padded = (np.nan_to_num(shares) * (sizes - 1) + 2) / (sizes + 1)
    return np.where(sizes > 0, padded, np.inf).min(axis=2)


def best_of(strengths: Any) -> Any:
    """Return the best k above 1 of every row, the smallest of several."""
    return np.array(NUMBERS)[SOME][np.argmax(np.nan_to_num(strengths)[..., SOME], axis=-1)]


def agreement_with_groups(study: cr.Study, k: int) -> list[float]:
    """Return the ARI of k-means on all points with the true groups, for several draws of ten starts."""
    return [
        adjusted_rand_score(study.labels, in_group.of_clusters(study, k, make_seed(34, i)).labels) for i in range(5)
    ]


def prefers_few(strengths: Any, groups: int) -> bool:
    """Say whether strengths, (n_splits, number of k), are best below the number of groups, by two errors."""
    k = int(best_of(strengths.mean(axis=0)))
    gain = (strengths[:, NUMBERS.index(k)] - strengths[:, NUMBERS.index(groups)])[:, None]
    return k < groups and above(means(gain, weights_of(len(gain)))[:, 0], 0)


def how_often(ks: Any, groups: int) -> str:
    """Write how often the best k is below the number of groups, where it sometimes is."""
    return f", below {groups} in {share(ks < groups)}" if 0 < (ks < groups).sum() < len(ks) else ""


def few_claim(written: Strengths, published: Mapping[str, Any], fit: Any, figures: tuple[str, ...]) -> Claim:
    """Report the k of the highest prediction strength."""
    texts, parts, agreement, values = [], [], [], {}
    for name, result in written.items():
        k, groups = result.best_n_clusters, GROUPS[name]
        best, at_groups = (result.distribution[:, NUMBERS.index(i)] for i in (k, groups))
        better = np.mean(fit[name][k]) > np.mean(fit[name][groups])
        parts.append(prefers_few(result.distribution, groups) and not better)
        texts.append(f"{name}: best k = {k} ({number(best)}), at its {groups} groups {number(at_groups)}")
        agreement.append(f"{name} {number(fit[name][k])} and {number(fit[name][groups])}")
        values[name] = {"best": k, "at best": float(best.mean()), "at groups": float(at_groups.mean())}
    again = {name: best_of(strengths) for name, strengths in published.items()}
    return Claim(
        "C.2, prediction strength",
        FEW,
        f"mean of {len(best)} splits: " + "; ".join(texts),
        f"no number printed; ours, {len(again['r15'])} single splits, self-pairs counted, best k: "
        + "; ".join(f"{name} {ks.min()} to {ks.max()}{how_often(ks, GROUPS[name])}" for name, ks in again.items()),
        verdict_of(parts),
        "strength highest below the number of groups, by two errors, where ARI with the groups is not higher; "
        "for each data set",
        f"ARI of k-means on all points with the groups, at best k and at their number: {', '.join(agreement)}.",
        figures,
        {"parts": dict(zip(written, parts, strict=True)), "published": again, **values},
    )


def minimum_claim(written: Strengths) -> Claim:
    """Ask whether an average over clusters, instead of the minimum, no longer prefers few."""
    texts, parts, values = [], {}, {}
    for name, result in written.items():
        strengths, sizes = result.cluster_strengths[:, 0], result.cluster_sizes[:, 0]
        counted = np.where(np.isfinite(strengths), sizes, 0)  # without clusters of one point, which have no pairs
        averages = [
            np.nansum(strengths * weights, axis=2) / weights.sum(axis=2) for weights in (counted, np.sign(counted))
        ]
        k, i = result.best_n_clusters, NUMBERS.index(GROUPS[name])
        instead = [int(best_of(average.mean(axis=0))) for average in averages]
        for j, average in enumerate(averages):
            by_minimum = prefers_few(result.distribution, GROUPS[name])
            parts[name, j] = by_minimum and not prefers_few(average, GROUPS[name])
        smallest, average = result.distribution[:, i], averages[0][:, i]
        texts.append(f"{name} {k}, {instead[0]}, {instead[1]} (at its groups {number(smallest)}, {number(average)})")
        values[name] = {"minimum": smallest, "average": average, "best": instead}
    return Claim(
        "C.2, prediction strength",
        MINIMUM,
        "best k by minimum, average weighted by size, plain average: " + "; ".join(texts),
        "",
        verdict_of(parts.values()),
        "highest below the number of groups, by two errors, is the minimum, not the average; for each average and data "
        "set",
        "Averages leave out clusters of one point, as the minimum does; in brackets minimum and weighted average. The "
        "paper advises to look at all clusters' values.",
        values={"parts": parts, **values},
    )


def parameters_claim(written: Strengths, same_lowest: Mapping[str, list[bool]]) -> Claim:
    """Ask whether what has to be chosen besides the algorithm, a split or a distance, changes the answer."""
    single = {name: best_of(result.distribution) for name, result in written.items()}
    parts = [*(np.ptp(ks) == 0 for ks in single.values()), *(all(same) for same in same_lowest.values())]
    return Claim(
        "C.2",
        PARAMETERS,
        "best k of prediction strength, single splits: "
        + ", ".join(f"{name} {ks.min()} to {ks.max()}" for name, ks in single.items())
        + "; the same cluster has the lowest in-group proportion by three distances: "
        + ", ".join(f"{name} at {sum(same)} of {len(same)} k" for name, same in same_lowest.items()),
        "",
        verdict_of(parts),
        "same best k for all splits; same lowest clusters for Euclidean, Manhattan and maximum distance, at all k; "
        "for each data set",
        "A split and a distance have to be chosen. Both counts are exact for the splits and clusters drawn.",
        values={"splits": {name: np.unique(ks).tolist() for name, ks in single.items()}, "same": dict(same_lowest)},
    )


def perturbed_claim(written: Strengths, noisy: Strengths, gains: Mapping[str, Any]) -> Claim:
    """Ask whether copies with noise tell more: a best k nearer to the number of groups, more pairs told apart."""
    both = {name: (result.best_n_clusters, noisy[name].best_n_clusters) for name, result in written.items()}
    nearer = [abs(after - GROUPS[name]) < abs(before - GROUPS[name]) for name, (before, after) in both.items()]
    texts = {name: f"{before} and {after}" for name, (before, after) in both.items()}
    return Claim(
        "C.2",
        PERTURBED,
        "prediction strength, best k without and with noise: "
        + ", ".join(f"{name} {text}" for name, text in texts.items())
        + f"; in-group proportion, share of pairs (spurious, real) told apart, gain by noise: {listed(gains)}",
        "",
        verdict_of([*nearer, *(above(gain, 0) for gain in gains.values())]),
        "best k nearer to the number of groups; more pairs told apart, by two errors; for each data set",
        "Noise of half the variance, as for R and D; every copy is clustered again.",
        values={"best": both, "gains": {name: float(gain[0]) for name, gain in gains.items()}},
    )


def draw_strength(shapes: Any, written: Strengths, published: Mapping[str, Any], out: Path) -> str:
    """Draw the data above their prediction strengths."""
    figure, axes = plt.subplots(2, 3, figsize=(11, 6), layout="constrained")
    for (data, scores), (name, study) in zip(axes.T, shapes.items(), strict=True):
        data.scatter(*study.X.T, s=2, c="0.3")
        data.set(title=name, xticks=[], yticks=[])
        written[name].plot(scores)
        scores.plot(NUMBERS, published[name][0], "x", color="0.3", label="as published, one split")
        scores.legend(fontsize=7)
    return save(figure, out, "appendix_c2_prediction_strength")
