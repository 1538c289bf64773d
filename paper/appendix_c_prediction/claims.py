"""Appendix C.2: prediction strength and in-group proportion of k-means on three benchmark shapes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

import clustrep as cr
from clustrep.errors import DataError
from paper.appendix_c_common import GROUPS, above, listed, load_shapes, on_which
from paper.appendix_c_prediction import in_group
from paper.appendix_c_prediction.figures import draw_strength
from paper.appendix_c_prediction.runs import (
    NUMBERS,
    Strengths,
    averages_of,
    best_of,
    prefers_few,
    strength,
    with_self_pairs,
)
from paper.common import ABSENT, FAILS, HOLDS, NOT_RUN, Claim, make_seed, not_run, number, share, verdict_of

N_SINGLE = 20  # splits looked at one by one, at any size

FEW = "Prediction strength tends to favour few clusters, also where they are not better, in all experiments."
MINIMUM = "The preference for few clusters comes from the minimum over clusters."
PARAMETERS = "Prediction strength and in-group proportion need no parameter but the clustering algorithm."
PERTURBED = "It may be good practice to compute both scores on perturbed versions of the data, too."


def main(out: Path, quick: bool = False) -> list[Claim]:
    """Compute prediction strength over k, and the in-group proportions of some k."""
    try:
        shapes = load_shapes()
    except DataError:
        return not_run("C.2", [FEW, MINIMUM, *in_group.CLAIMS, PARAMETERS, PERTURBED], ABSENT)
    n, n_starts, n_jobs = (24, 6, 1) if quick else (200, 20, -1)
    written = {name: strength(study, n, 10, n_jobs) for name, study in shapes.items()}
    noisy = {name: strength(study, n, 10, n_jobs, cr.Jitter()) for name, study in shapes.items()}
    n_published = 5 if quick else 20
    published = {name: with_self_pairs(strength(study, n_published, 50, n_jobs)) for name, study in shapes.items()}
    groups = in_group.proportions(shapes, n_starts)
    copies = in_group.noisy_copies(shapes, n, n_jobs)
    truth = {name: np.asarray(study.labels) for name, study in shapes.items()}
    fit = {
        name: {k: agreement_with_groups(shapes[name], k) for k in (result.best_n_clusters, GROUPS[name])}
        for name, result in written.items()
    }
    return [
        few_claim(written, published, fit, (draw_strength(shapes, written, published, out),)),
        minimum_claim(written),
        in_group.overconfident_claim(groups, truth, (in_group.draw(shapes, groups, out),)),
        in_group.neighbours_claim(groups, truth),
        parameters_claim(written, in_group.lowest_by_metric(shapes, groups)),
        perturbed_claim(written, noisy, in_group.gains_of_copies(copies, truth)),
    ]


def agreement_with_groups(study: cr.Study, k: int) -> list[float]:
    """Return the ARI of k-means on all points with the true groups, for several draws of ten starts."""
    return [
        adjusted_rand_score(study.labels, in_group.of_clusters(study, k, make_seed(34, i)).labels) for i in range(5)
    ]


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
        values[name] = {"best": k, "at best": best, "at groups": at_groups}
    few = dict(zip(written, parts, strict=True))
    others = ", ".join(f"{values[name]['best']} on {name}" for name, flag in few.items() if not flag)
    again = {name: best_of(strengths) for name, strengths in published.items()}
    return Claim(
        "C.2, prediction strength",
        FEW,
        f"mean of {len(best)} splits: " + "; ".join(texts),
        f"no number printed; ours, {len(again['r15'])} single splits, each point also paired with itself, best k: "
        + "; ".join(f"{name} {ks.min()} to {ks.max()}{how_often(ks, GROUPS[name])}" for name, ks in again.items()),
        verdict_of(parts),
        "strength highest below the number of groups, by two errors, where ARI with the groups is not higher; "
        "for each data set",
        f"Fewer clusters than groups are preferred, without a better match, on {on_which(few)}"
        + (f"; the best k is {others}. " if others else ". ")
        + f"ARI of k-means on all points with the groups, at best k and at their number: {', '.join(agreement)}.",
        figures,
        {"parts": few, "published": again, **values},
    )


def minimum_claim(written: Strengths) -> Claim:
    """Ask whether an average over clusters, instead of the minimum, no longer prefers few, where the minimum does."""
    texts, parts, values = [], {}, {}
    few = [name for name, result in written.items() if prefers_few(result.distribution, GROUPS[name])]
    for name, result in written.items():
        averages = averages_of(result)
        i = NUMBERS.index(GROUPS[name])
        instead = [int(best_of(average.mean(axis=0))) for average in averages]
        if name in few:
            parts |= {(name, j): not prefers_few(average, GROUPS[name]) for j, average in enumerate(averages)}
        smallest, average = result.distribution[:, i], averages[0][:, i]
        texts.append(
            f"{name} {result.best_n_clusters}, {instead[0]}, {instead[1]} ({number(smallest)}, {number(average)})"
        )
        values[name] = {"minimum": smallest, "average": average, "best": instead}
    verdict = verdict_of(parts.values())  # not run where the minimum prefers few nowhere
    first = {
        HOLDS: "The minimum is the cause: averages over clusters no longer prefer few.",
        FAILS: "The minimum is not the cause: averages over clusters prefer few, too.",
        NOT_RUN: "The minimum prefers few on no data set, so that there is nothing to ask.",
    }.get(verdict, "The minimum is only part of the cause: some averages over clusters prefer few, too.")
    return Claim(
        "C.2, prediction strength",
        MINIMUM,
        "best k by minimum, by average weighted by size, by plain average (strength at the number of groups: minimum, "
        "weighted average; clusters of one point left out): " + "; ".join(texts),
        "",
        verdict,
        f"average not highest below the number of groups by two errors; for each average and each data set where the "
        f"minimum is: {', '.join(few)}"
        if few
        else "",
        f"{first} The paper advises to look at all clusters' values.",
        values={"parts": parts, **values},
    )


def parameters_claim(written: Strengths, same_lowest: Mapping[str, list[bool]]) -> Claim:
    """Ask whether what has to be chosen besides the algorithm, a split or a distance, changes the answer."""
    single = {name: best_of(result.distribution[:N_SINGLE]) for name, result in written.items()}
    by_split = {name: np.ptp(ks) > 0 for name, ks in single.items()}
    by_distance = {name: not all(same) for name, same in same_lowest.items()}
    parts = [not changed for changed in (*by_split.values(), *by_distance.values())]
    return Claim(
        "C.2",
        PARAMETERS,
        f"best k of prediction strength, each of {N_SINGLE} splits: "
        + ", ".join(f"{name} {ks.min()} to {ks.max()}" for name, ks in single.items())
        + "; the same clusters have the lowest in-group proportion by three distances: "
        + ", ".join(f"{name} at {sum(same)} of {len(same)} k" for name, same in same_lowest.items()),
        "",
        verdict_of(parts),
        f"same best k in {N_SINGLE} of {N_SINGLE} splits; same lowest clusters for Euclidean, Manhattan and maximum "
        "distance, at all k; for each data set",
        f"The split changes the best k on {on_which(by_split)}; the distance changes which cluster scores lowest on "
        f"{on_which(by_distance)}. That choices should not matter is our yardstick. Counts are exact for the splits "
        "and clusters drawn.",
        values={"splits": {name: np.unique(ks).tolist() for name, ks in single.items()}, "same": dict(same_lowest)},
    )


def perturbed_claim(written: Strengths, noisy: Strengths, gains: Mapping[str, Any]) -> Claim:
    """Ask whether copies with noise tell more: a best k nearer to the number of groups, more pairs in order."""
    both = {name: (result.best_n_clusters, noisy[name].best_n_clusters) for name, result in written.items()}
    nearer = {name: abs(after - GROUPS[name]) < abs(before - GROUPS[name]) for name, (before, after) in both.items()}
    better = {name: above(gain, 0) for name, gain in gains.items()}
    texts = {name: f"{before} and {after}" for name, (before, after) in both.items()}
    return Claim(
        "C.2",
        PERTURBED,
        "prediction strength, best k without and with noise: "
        + ", ".join(f"{name} {text}" for name, text in texts.items())
        + "; share of pairs (spurious, real) in which the spurious one has the lower in-group proportion, gain by "
        "noise: " + f"{listed(gains)}; noise of half the variance, every copy clustered again",
        "",
        verdict_of([*nearer.values(), *better.values()]),
        "best k nearer to the number of groups; share higher, by two errors; for each data set",
        f"Noise brings the best k nearer to the number of groups on {on_which(nearer)}, and marks spurious clusters "
        f"better on {on_which(better)}. The paper gives advice; this yardstick is ours.",
        values={"best": both, "gains": {name: float(gain[0]) for name, gain in gains.items()}},
    )
