"""The in-group proportions of appendix C.2: runs, claims and figure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from paper.appendix_c_common import (
    CLOSE,
    SPURIOUS_MARK,
    draw_clusters,
    draw_stems,
    is_spurious,
    means,
    on_which,
    share_of_pairs,
    weights_of,
)
from paper.common import Claim, clearly_positive, make_seed, number, save, verdict_of

NEIGHBOURS = (1, 2, 5, 10)
KS = {"aggregation": (3, 5, 7, 10), "compound": (3, 6, 8, 10), "r15": (8, 12, 15, 18)}
METRICS = ("euclidean", "cityblock", "chebyshev")
Proportions = dict[str, dict[int, list[cr.results.InGroupProportion]]]  # data set, k, draws of starts

OVERCONFIDENT = (
    "The in-group proportion is overconfident: often close to 1 also for spurious clusters, as on aggregation, k = 10."
)
NEIGHBOURHOOD = "The in-group proportion should be computed with all j nearest neighbours, too, for several j."
CLAIMS = (OVERCONFIDENT, NEIGHBOURHOOD)


def proportions(shapes: Mapping[str, cr.Study], n: int) -> Proportions:
    """Compute in-group proportions for several draws of ten k-means starts, the only thing that is random."""
    return {
        name: {k: [of_clusters(study, k, make_seed(33, i), n_neighbors=NEIGHBOURS) for i in range(n)] for k in KS[name]}
        for name, study in shapes.items()
    }


def of_clusters(study: cr.Study, k: int, rng: int, **options: Any) -> cr.results.InGroupProportion:
    """Compute the in-group proportions of k clusters."""
    return cr.in_group_proportion(study, clusterer=KMeans(k, n_init=10), rng=rng, **options)


def noisy_copies(shapes: Mapping[str, cr.Study], n: int, n_jobs: int) -> dict[str, list[cr.results.InGroupStability]]:
    """Compute in-group proportions in copies with noise, each clustered again."""
    options: dict[str, Any] = {"n_resamples": n, "rng": make_seed(33, 0), "n_jobs": n_jobs}
    return {
        name: [cr.in_group_stability(study, clusterer=KMeans(k, n_init=10), **options) for k in KS[name]]
        for name, study in shapes.items()
    }


def gains_of_copies(copies: Mapping[str, list[cr.results.InGroupStability]], truth: Any) -> dict[str, Any]:
    """Estimate how many more pairs (spurious, real) are in the right order by the mean over copies than by the data."""
    gains = {}
    for name, results in copies.items():
        spurious = [is_spurious(result.labels, truth[name]) for result in results]
        averages = [-means(result.distribution, weights_of(len(result.distribution))) for result in results]
        gains[name] = share_of_pairs(averages, spurious) - share_of_pairs(
            [-result.proportions[None] for result in results], spurious
        )
    return gains


def lowest_by_metric(shapes: Mapping[str, cr.Study], groups: Proportions) -> dict[str, list[bool]]:
    """Say for every k whether the same clusters have the lowest proportion by all distances."""
    same: dict[str, list[bool]] = {}
    for name, by_k in groups.items():
        same[name] = []
        for first, *_ in by_k.values():
            by_metric = [cr.in_group_proportion(shapes[name].X, first.labels, metric=m).proportions for m in METRICS]
            lowest = [values == values.min() for values in by_metric]
            same[name].append(all(np.array_equal(flags, lowest[0]) for flags in lowest))
    return same


def clearly_above(values: Any, level: float) -> bool:
    """Whether a mean over draws is above a level by two errors; of a single draw it is unknown."""
    return len(values) > 1 and bool(clearly_positive(np.asarray(values) - level))


def overconfident_claim(groups: Proportions, truth: Any, figures: tuple[str, ...]) -> Claim:
    """Report how many spurious clusters have proportions close to 1."""
    close: dict[tuple[str, int], list[float]] = {}  # share of the spurious clusters, for every draw that has some
    for name, by_k in groups.items():
        for k, draws in by_k.items():
            scores = [result.proportions[0][is_spurious(result.labels, truth[name])] for result in draws]
            if any(map(len, scores)):
                close[name, k] = [float(np.mean(values >= CLOSE)) for values in scores if len(values)]
    ten = [
        result.proportions[0][is_spurious(result.labels, truth["aggregation"])] for result in groups["aggregation"][10]
    ]
    some = [values for values in ten if len(values)]
    most = {key: clearly_above(values, 0.5) for key, values in close.items()}
    apart_from = "; ".join(f"{name}, k = {k}" for (name, k), flag in most.items() if not flag)
    return Claim(
        "C.2, in-group proportion",
        OVERCONFIDENT,
        f"share of spurious clusters with at least {CLOSE}: "
        + "; ".join(
            f"{name}, k = {', '.join(str(k) for other, k in close if other == name)}: "
            + ", ".join(number(values) for (other, _), values in close.items() if other == name)
            for name in groups
        )
        + f" (± over {len(ten)} draws of k-means starts, all that is random)",
        "",
        verdict_of(most.values()),
        "share above one half, by two errors; for each data set and k with spurious clusters",
        f"Most spurious clusters score at least {CLOSE} in {sum(most.values())} of {len(most)} cases"
        + (f" (not clearly: {apart_from})" if apart_from else "")
        + f". Aggregation, k = 10: {number([len(values) for values in ten], 1)} of 10 clusters spurious, their lowest "
        f"proportion {number([values.min() for values in some])}.",
        figures,
        {"close": {key: np.array(values) for key, values in close.items()}, "ten": some},
    )


def neighbours_claim(groups: Proportions, truth: Any) -> Claim:
    """Report what more neighbours change: pairs in the right order, and how far proportions fall."""
    apart, falls, counts = {}, {}, {}
    for name, by_k in groups.items():
        draws = list(zip(*by_k.values(), strict=True))  # of all k
        spurious = [[is_spurious(result.labels, truth[name]) for result in results] for results in draws]
        apart[name] = np.array(
            [
                share_of_pairs([-result.proportions for result in results], flags)
                for results, flags in zip(draws, spurious, strict=True)
            ]
        )  # (draw, j)
        fall = [
            np.concatenate([result.proportions[0] - result.proportions[-1] for result in results]) for results in draws
        ]
        flags = [np.concatenate(by_k_flags) for by_k_flags in spurious]
        falls[name] = [
            [float(values[flag == is_it].mean()) for values, flag in zip(fall, flags, strict=True)]
            for is_it in (True, False)
        ]
        counts[name] = f"{number([flag.sum() for flag in flags], 1)} of {len(flags[0])}"
    gain = {name: values[:, -1] - values[:, 0] for name, values in apart.items()}
    better = {name: clearly_above(values, 0) for name, values in gain.items()}
    farther = {name: clearly_above(np.subtract(a, b), 0) for name, (a, b) in falls.items()}
    return Claim(
        "C.2, in-group proportion",
        NEIGHBOURHOOD,
        "share of pairs (spurious, real) of the same k in which the spurious one has the lower proportion, with "
        f"j = {NEIGHBOURS[0]} and {NEIGHBOURS[-1]}: "
        + ", ".join(f"{name} {number(values[:, 0])} and {number(values[:, -1])}" for name, values in apart.items()),
        "",
        verdict_of(better.values()),
        f"share higher with j = {NEIGHBOURS[-1]} than with 1, by two errors; for each data set",
        f"With more neighbours, proportions fall farther for spurious clusters than for real ones on "
        f"{on_which(farther)}, and mark them better on {on_which(better)}. "
        f"Fall from j = {NEIGHBOURS[0]} to {NEIGHBOURS[-1]}, mean of spurious and of real clusters: "
        + ", ".join(f"{name} {number(a)} and {number(b)}" for name, (a, b) in falls.items())
        + ". Spurious clusters: "
        + ", ".join(f"{name} {text}" for name, text in counts.items())
        + ".",
        values={
            "apart": {name: values.mean(axis=0).tolist() for name, values in apart.items()},
            "falls": falls,
            "gain": gain,
        },
    )


def draw(shapes: Mapping[str, cr.Study], groups: Proportions, out: Path) -> str:
    """Draw clusters above their in-group proportions, in the same colours; hollow with ten neighbours."""
    figure, axes = plt.subplots(6, 4, figsize=(9, 11), layout="constrained")
    figure.suptitle(
        "In-group proportions of k-means clusters, as written: a stem for each cluster, j = 1\n"
        f"(hollow circle: all of j = {NEIGHBOURS[-1]} neighbours; {SPURIOUS_MARK})",
        fontsize=10,
    )
    for i, (name, by_k) in enumerate(groups.items()):
        for column, (k, (first, *_)) in enumerate(by_k.items()):
            clusters, stems = axes[2 * i : 2 * i + 2, column]
            colours = draw_clusters(clusters, shapes[name].X, first.labels, f"{name}, k = {k}")
            spurious = is_spurious(first.labels, np.asarray(shapes[name].labels))
            draw_stems(stems, first.proportions[0], colours, spurious, "" if column else "in-group\nproportion")
            stems.set_xlabel("cluster")
            stems.scatter(range(k), first.proportions[-1], facecolors="none", edgecolors=colours, s=14)
    return save(figure, out, "appendix_c2_in_group")
