"""The in-group proportions of appendix C.2: runs, claims and figure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from paper.appendix_c_common import CLOSE, draw_clusters, draw_stems, is_spurious, means, share_of_pairs, weights_of
from paper.common import Claim, make_seed, number, save, verdict_of

NEIGHBOURS = (1, 2, 5, 10)
KS = {"aggregation": (3, 5, 7, 10), "compound": (3, 6, 8, 10), "r15": (8, 12, 15, 18)}
METRICS = ("euclidean", "cityblock", "chebyshev")
Proportions = dict[str, dict[int, list[cr.InGroupProportion]]]  # data set, k, draws of starts

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


def of_clusters(study: cr.Study, k: int, rng: int, **options: Any) -> cr.InGroupProportion:
    """Compute the in-group proportions of k clusters."""
    return cr.in_group_proportion(study, clusterer=KMeans(k, n_init=10), rng=rng, **options)


def noisy_copies(shapes: Mapping[str, cr.Study], n: int, n_jobs: int) -> dict[str, list[cr.InGroupProportion]]:
    """Compute in-group proportions in copies with noise, each clustered again."""
    options = {"perturbation": cr.Jitter(), "n_resamples": n, "n_jobs": n_jobs}
    return {
        name: [of_clusters(study, k, make_seed(33, 0), **options) for k in KS[name]] for name, study in shapes.items()
    }


def gains_of_copies(copies: Mapping[str, list[cr.InGroupProportion]], truth: Any) -> dict[str, Any]:
    """Estimate how many more pairs (spurious, real) are told apart by the mean over copies than by the data."""
    gains = {}
    for name, found in copies.items():
        spurious = [is_spurious(one.labels, truth[name]) for one in found]
        averages = [-means(one.distribution, weights_of(len(one.distribution))) for one in found]
        gains[name] = share_of_pairs(averages, spurious) - share_of_pairs(
            [-one.proportions[None] for one in found], spurious
        )
    return gains


def lowest_by_metric(shapes: Mapping[str, cr.Study], groups: Proportions) -> dict[str, list[bool]]:
    """Say for every k whether the same clusters have the lowest proportion by all distances."""
    same: dict[str, list[bool]] = {}
    for name, by_k in groups.items():
        same[name] = []
        for first, *_ in by_k.values():
            found = [cr.in_group_proportion(shapes[name].X, first.labels, metric=m).proportions for m in METRICS]
            lowest = [values == values.min() for values in found]
            same[name].append(all(np.array_equal(one, lowest[0]) for one in lowest))
    return same


def error(values: Any) -> float:
    """Return the standard error of a mean over draws; of a single one unknown."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.inf


def overconfident_claim(groups: Proportions, truth: Any) -> Claim:
    """Report how many spurious clusters have proportions close to 1."""
    close: dict[tuple[str, int], list[float]] = {}  # share of the spurious clusters, for every draw that has some
    for name, by_k in groups.items():
        for k, draws in by_k.items():
            scores = [one.proportions[0][is_spurious(one.labels, truth[name])] for one in draws]
            if any(map(len, scores)):
                close[name, k] = [float(np.mean(values >= CLOSE)) for values in scores if len(values)]
    ten = [one.proportions[0][is_spurious(one.labels, truth["aggregation"])] for one in groups["aggregation"][10]]
    some = [values for values in ten if len(values)]
    return Claim(
        "C.2, in-group proportion",
        OVERCONFIDENT,
        f"share of spurious clusters with at least {CLOSE}: "
        + "; ".join(
            f"{name}, k = {', '.join(str(k) for other, k in close if other == name)}: "
            + ", ".join(number(values) for (other, _), values in close.items() if other == name)
            for name in groups
        ),
        "",
        verdict_of(np.mean(values) - 0.5 > 2 * error(values) for values in close.values()),
        "share above one half, by two errors; for each data set and k with spurious clusters",
        f"Aggregation, k = 10: {number([len(values) for values in ten], 1)} of 10 clusters spurious, their lowest "
        f"proportion {number([values.min() for values in some])}. ± is over {len(ten)} draws of k-means' starts, all "
        "that is random.",
        values={"close": {key: float(np.mean(values)) for key, values in close.items()}, "ten": some},
    )


def neighbours_claim(groups: Proportions, truth: Any) -> Claim:
    """Report what more neighbours change: pairs told apart, and how far proportions fall."""
    apart, falls, counts = {}, {}, {}
    for name, by_k in groups.items():
        draws = list(zip(*by_k.values(), strict=True))  # of all k
        spurious = [[is_spurious(one.labels, truth[name]) for one in draw] for draw in draws]
        apart[name] = np.array(
            [
                share_of_pairs([-one.proportions for one in draw], found)
                for draw, found in zip(draws, spurious, strict=True)
            ]
        )  # (draw, j)
        fall = [np.concatenate([one.proportions[0] - one.proportions[-1] for one in draw]) for draw in draws]
        flags = [np.concatenate(found) for found in spurious]
        falls[name] = [
            [float(values[flag == is_it].mean()) for values, flag in zip(fall, flags, strict=True)]
            for is_it in (True, False)
        ]
        counts[name] = f"{number([flag.sum() for flag in flags], 1)} of {len(flags[0])}"
    gain = {name: values[:, -1] - values[:, 0] for name, values in apart.items()}
    return Claim(
        "C.2, in-group proportion",
        NEIGHBOURHOOD,
        f"share of pairs (spurious, real) of the same k told apart with j = {NEIGHBOURS[0]} and {NEIGHBOURS[-1]}: "
        + ", ".join(f"{name} {number(values[:, 0])} and {number(values[:, -1])}" for name, values in apart.items()),
        "",
        verdict_of(values.mean() > 2 * error(values) for values in gain.values()),
        f"more pairs told apart with j = {NEIGHBOURS[-1]} than with 1, by two errors; for each data set",
        f"Fall from j = {NEIGHBOURS[0]} to {NEIGHBOURS[-1]}, mean of spurious and of real clusters: "
        + ", ".join(f"{name} {number(a)} and {number(b)}" for name, (a, b) in falls.items())
        + ". Spurious: "
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
    for i, (name, by_k) in enumerate(groups.items()):
        for column, (k, (first, *_)) in enumerate(by_k.items()):
            clusters, stems = axes[2 * i : 2 * i + 2, column]
            colours = draw_clusters(clusters, shapes[name].X, first.labels, f"{name}, k = {k}")
            draw_stems(stems, first.proportions[0], colours, "" if column else "in-group\nproportion")
            stems.scatter(range(k), first.proportions[-1], facecolors="none", edgecolors=colours, s=14)
    return save(figure, out, "appendix_c2_in_group")
