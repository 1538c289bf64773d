"""Appendix A.3: what the number of samples does to the best k. And outliers, from the discussion."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from paper.appendix_a_calibration.runs import AGREEMENTS
from paper.appendix_a_sample_size import outliers
from paper.appendix_a_sample_size.figures import draw
from paper.appendix_a_sample_size.runs import COMPONENTS, Curve, component_chances, curve
from paper.common import Claim, clearly_positive, error_of, number, verdict_of, with_error

SIZES = FEW, MORE, MANY = (50, 100, 1000)
PRINTED = {50: (22, 0.807), 100: (25, 0.966), 1000: (25, 1.000)}
PROBABLE = 0.95
KEY_WRITTEN, KEY_PUBLISHED = 41, 42  # the figure's is 43
MISSING = (
    "With n = 50, with high probability the training study has components that the test study lacks, and vice versa; "
    "as n increases, both have all"
)
FEWER = f"With n = 50, some k below the {COMPONENTS} components scores higher than k = {COMPONENTS}"
BEST = f"As n increases, k = {COMPONENTS} has the highest score"
DEPENDENT = "The replicability index depends on the sample sizes"


def missing_claim(figure: str) -> Claim:
    """Say how probable it is that studies lack components."""
    chances = {n: component_chances(n) for n in SIZES}
    more, both, complete = (
        ", ".join(f"{getattr(at_n, name):.1%}" for at_n in chances.values()) for name in ("more", "both", "all")
    )
    lacking = ", ".join(f"{COMPONENTS * (1 - 1 / COMPONENTS) ** n:.1f}" for n in SIZES)
    return Claim(
        "A.3, components",
        MISSING,
        f"Exact probabilities at n = {', '.join(map(str, SIZES))}. Some component is in the training study alone: "
        f"{more}; some is in the test study alone: the same, by symmetry; both studies have all {COMPONENTS}: "
        f"{complete}",
        "",
        verdict_of(chance > PROBABLE for chance in (chances[FEW].more, chances[FEW].more, chances[MANY].all)),
        f"exact probability above {PROBABLE:.0%}, of each: at n = {FEW}, some component is in the training study "
        f"alone; at n = {FEW}, some component is in the test study alone; at n = {MANY}, both studies have all",
        f"With n = {', '.join(map(str, SIZES))}, a study lacks {lacking} of the {COMPONENTS} components on average. "
        f"Each has one that the other lacks, both at once, with probability {both} (exact).",
        (figure,),
        {"chances": chances},
    )


def fewer_claim(written: Curve, published: Curve, figure: str) -> Claim:
    """Say whether fewer clusters than components score higher with few samples."""
    best = [written.best(a, COMPONENTS) for a in (0, 1)]
    gains = [written.at(k, a) - written.at(COMPONENTS, a) for a, k in enumerate(best)]
    texts = (
        f"{name} {number(written.at(best[a], a), 3)} @{best[a]}, {number(written.at(COMPONENTS, a), 3)} @{COMPONENTS}, "
        f"paired difference {number(gains[a], 3)}"
        for a, name in enumerate(AGREEMENTS)
    )
    return Claim(
        f"A.3, n = {FEW}",
        FEWER,
        f"{'; '.join(texts)} ({len(gains[0])} draws)",
        on_the_printed(FEW, published),
        verdict_of(clearly_positive(gain) for gain in gains),
        f"best k below {COMPONENTS} above k = {COMPONENTS} by over two standard errors (paired), by ARI and by AMI",
        f"A study of {FEW} has {COMPONENTS - COMPONENTS * (1 - 1 / COMPONENTS) ** FEW:.1f} components on average "
        f"(exact), and the best k is {written.best(0)} by ARI, {written.best(1)} by AMI, of {written.ks[0]} to "
        f"{written.ks[-1]}.",
        (figure,),
        {"best": best, "gains": gains, "published": published},
    )


def best_claim(curves: dict[int, Curve], published: dict[int, Curve], figure: str) -> Claim:
    """Say whether the number of components scores highest with many samples."""
    texts, leads = [], {}
    for n in (MORE, MANY):
        for a, name in enumerate(AGREEMENTS):
            at_n, rival = curves[n], curves[n].rival(a)
            leads[n, a] = at_n.at(COMPONENTS, a) - at_n.at(rival, a)
            score = number(at_n.at(COMPONENTS, a), 3)
            texts.append(f"n = {n}: {name} {score}, above the next best, k = {rival}, by {number(leads[n, a], 3)}")
    return Claim(
        "A.3, larger n",
        BEST,
        f"At k = {COMPONENTS}, " + "; ".join(texts),
        "; ".join(on_the_printed(n, published[n]) for n in (MORE, MANY)),
        verdict_of(curves[n].leads(a) for n, a in leads),
        f"k = {COMPONENTS} above every other k by over two standard errors (paired), n = {MORE} and {MANY}, ARI and "
        "AMI",
        f"k = {COMPONENTS} is clearly the best in {sum(curves[n].leads(a) for n, a in leads)} of {len(leads)} cases, "
        f"of k = {curves[MANY].ks[0]} to {curves[MANY].ks[-1]}. Both studies have all components with probability "
        f"{component_chances(MORE).all:.1%} at n = {MORE}, {component_chances(MANY).all:.1%} at n = {MANY} (exact).",
        (figure,),
        {
            "leads": leads,
            "best": {n: at_n.best() for n, at_n in curves.items()},
            "written": curves,
            "published": published,
        },
    )


def dependence_claim(curves: dict[int, Curve], figure: str) -> Claim:
    """Say whether scores at the number of components grow with the sample sizes."""
    at = [curves[n].scores[curves[n].ks.index(COMPONENTS)] for n in SIZES]  # (agreement, draw) each
    means = np.array([scores.mean(axis=1) for scores in at])
    errors = np.array([error_of(scores) for scores in at])
    rises, uncertain = np.diff(means, axis=0), np.hypot(errors[1:], errors[:-1])  # (step, agreement)
    rows = (f"{name} {', '.join(number(scores[a], 3) for scores in at)}" for a, name in enumerate(AGREEMENTS))
    steps = ", ".join(with_error(*step, 3) for step in zip(rises[:, 0], uncertain[:, 0], strict=True))
    return Claim(
        "Section 3, A.3",
        DEPENDENT,
        f"At k = {COMPONENTS}, n = {', '.join(map(str, SIZES))}: {'; '.join(rows)}",
        "",
        verdict_of((rises > 2 * uncertain).ravel()),
        f"score at k = {COMPONENTS} rises by over two standard errors with each n, ARI and AMI",
        f"Scores clearly rise in {np.sum(rises > 2 * uncertain)} of {rises.size} steps to a larger n: ARI by {steps}.",
        (figure,),
        {"rises": rises, "errors": uncertain},
    )


def on_the_printed(n: int, scores: Curve) -> str:
    """Compare the printed best k and score with ours."""
    k, score = PRINTED[n]
    best = scores.best()
    return (
        f"n = {n}: printed {score:.3f} @{k}, ours with 50 k-means starts {number(scores.at(best), 3)} @{best} "
        f"(k = {scores.ks[0]} to {scores.ks[-1]} run)"
    )


def main(out: Path, quick: bool = False) -> list[Claim]:
    """Draw fresh pairs for three sizes, as written and with 50 starts; then add outliers."""
    ks = range(20, 28) if quick else range(2, 51)
    n_jobs = 1 if quick else -1
    n_draws = {FEW: 60, MORE: 60, MANY: 15} if quick else dict.fromkeys(SIZES, 100)
    written = {n: curve(KEY_WRITTEN, n, ks, 10, n_draws[n], n_jobs) for n in SIZES}
    near = range(22, 27) if quick else range(20, 31)  # the rest takes long at n = 1,000
    published = {
        n: curve(KEY_PUBLISHED, n, near if quick or n == MANY else ks, 50, 12 if quick else 100, n_jobs) for n in SIZES
    }
    data, scores = draw(written, out)
    return [
        missing_claim(data),
        fewer_claim(written[FEW], published[FEW], scores),
        best_claim(written, published, scores),
        dependence_claim(written, scores),
        outliers.claim(*((24, 20) if quick else (40, 100)), n_jobs, out),
    ]
