"""Appendix C.3: the test for clusters, over the number of components and over the distance of their means."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

from paper.appendix_c_tests import runs
from paper.appendix_c_tests.figures import draw
from paper.appendix_c_tests.runs import APART, CLEAR, CLOSER, FIVE, ONE, PRINTED_DISTANCES, RANDOM, SEVERAL, VARIANCE
from paper.common import Claim, clearly_positive, error_of, number, row, share, verdict_of

LEVELS = (0.05, 0.1, 0.2)

KEEPS = "With one component, the test keeps the null hypothesis that there are no clusters."
REJECTS = "With several components, the test rejects the null hypothesis where there are clear clusters."
DISTANCE = "As the two means come closer, the p-value decreases."


def main(out: Path, quick: bool = False) -> list[Claim]:
    """Test mixtures as written, on many data sets, and as published, on one each."""
    written, published = runs.as_written(runs.QUICK if quick else runs.FULL), runs.as_published(quick)
    components = {"1 component": written[ONE]} | {f"{k} components": written[APART, k] for k in SEVERAL}
    distances = {f"distance {d:g} sd": written[CLOSER, d] for d in runs.DISTANCES}
    least = f"Gaussian components with means at least {CLEAR:g} standard deviations apart"
    figures = (
        draw(components, out, "appendix_c3_components", least),
        draw(distances, out, "appendix_c3_distance", "Two Gaussian components that come closer"),
    )
    single, five = written[ONE].pvalues, written[FIVE].pvalues
    apart, anywhere = ({k: written[kind, k].pvalues for k in SEVERAL} for kind in (APART, RANDOM))
    closer = {d: written[CLOSER, d].pvalues for d in runs.DISTANCES}
    return [
        keeps_claim(single, five, published[ONE], figures[:1]),
        rejects_claim(apart, anywhere, published[RANDOM]),
        distance_claim(closer, single, published[CLOSER], figures[1:]),
    ]


def lower_end(flags: Any) -> float:
    """Return the lower end of the 95 % interval of a probability."""
    return float(binomtest(int(flags.sum()), len(flags)).proportion_ci().low)


def keeps_claim(single: Any, five: Any, published: runs.Published, figures: tuple[str, ...]) -> Claim:
    """Report how often the test rejects without clusters."""
    conservative = [words for words, p in (("two", single), ("five", five)) if clearly_positive(p - 0.5)]
    too_often = [f"{level:.0%}" for level in LEVELS if lower_end(single <= level) > level]
    first = (
        f"It rejects too often at {', '.join(too_often)}" if too_often else "It rejects no more often than its level"
    )
    first += (
        f", and p-values are too high on average in {' and '.join(conservative)} dimensions: it is conservative there."
        if conservative
        else ", and p-values are not clearly too high on average."
    )
    return Claim(
        "C.3, components",
        KEEPS,
        f"rejected at 5 %: {share(single <= 0.05)}; mean p-value {number(single)}; in five dimensions, 500 points: "
        f"{share(five <= 0.05)}; {number(five)}",
        f"five dimensions: {published}",
        verdict_of(lower_end(single <= level) <= level for level in LEVELS),
        f"rejected no more often than the level, by a 95 % interval; for the levels {row(LEVELS)}",
        f"{first} (Too high: mean above 0.5 by two errors.)",
        figures,
        {"single": single, "five": five, "published": published},
    )


def rejects_claim(apart: Mapping[int, Any], anywhere: Mapping[int, Any], published: runs.Published) -> Claim:
    """Report how often the test rejects with several components."""
    rejected = [str(k) for k, p in apart.items() if lower_end(p <= 0.05) > 0.5]
    fewer = [str(k) for k in apart if (anywhere[k] <= 0.05).mean() < (apart[k] <= 0.05).mean()]
    return Claim(
        "C.3, components",
        REJECTS,
        f"rejected at 5 %, all means at least {CLEAR:g} standard deviations apart (our choice: variance "
        f"{VARIANCE}, as published, standard normal means): "
        + "; ".join(f"{k} components {share(p <= 0.05)}" for k, p in apart.items()),
        f"five dimensions, means drawn anew: {published}. Ours are at least 1/(B + 1)",
        verdict_of(lower_end(p <= 0.05) > 0.5 for p in apart.values()),
        f"more than half of the data sets rejected, by a 95 % interval; for {', '.join(map(str, apart))} components",
        f"Clear clusters are found in most data sets with {', '.join(rejected) or 'no number of'} components; with "
        f"means at any distance, fewer data sets are rejected with {', '.join(fewer) or 'none of these numbers of'} "
        "components: " + "; ".join(f"{k} components {share(p <= 0.05)}" for k, p in anywhere.items()) + ".",
        values={"apart": dict(apart), "random": dict(anywhere), "published": published},
    )


def distance_claim(
    closer: Mapping[float, Any], single: Any, published: runs.Published, figures: tuple[str, ...]
) -> Claim:
    """Report the p-value as two means come closer, the same noise around them."""
    steps = np.diff(np.array(list(closer.values())), axis=0)  # (distance, data set)
    falls, rises = clearly_positive(-steps), clearly_positive(steps)
    as_without = [
        f"{d:g}"
        for d, p in closer.items()
        if abs(p.mean() - single.mean()) <= 2 * np.hypot(error_of(p), error_of(single))
    ]
    low, high = np.quantile(closer[2.0], (0.1, 0.9))
    in_print = np.diff(PRINTED_DISTANCES)
    slip, too = rises.any() and not falls.any(), ", in print, too" if (in_print > 0).all() else ""
    first = f"A slip, probably: the p-value rises{too}. " if slip else ""
    return Claim(
        "C.3, distance",
        DISTANCE,
        f"mean p-value of {steps.shape[1]} data sets: "
        + ", ".join(f"{number(p)} at {d:g}" for d, p in closer.items())
        + " standard deviations",
        f"the authors' data sets drawn again: {published}",
        verdict_of(falls),
        "mean p-value lower by two errors, the same noise around the means; for each step",
        f"{first}It rises by two errors at {rises.sum()} of {len(steps)} steps, falls at {falls.sum()}; in print it "
        f"rises at {(in_print > 0).sum()} of {len(in_print)}. Within two errors of one component's mean at "
        f"{', '.join(as_without) or 'no distance'}. Single p-values at 2: 10 % below {low:.2f}, 10 % above {high:.2f}.",
        figures,
        {"closer": dict(closer), "falls": falls.tolist(), "rises": rises.tolist(), "published": published},
    )
