"""Appendix A.3: what the number of samples does to the best k. And outliers, from the discussion."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from paper import appendix_a_outliers as outliers
from paper.appendix_a_sample_size_runs import COMPONENTS, Curve, component_chances, curve, points
from paper.common import Claim, clearly_positive, make_rng, number, save, verdict_of, with_error

SIZES = FEW, MORE, MANY = (50, 100, 1000)
PRINTED = {50: (22, 0.807), 100: (25, 0.966), 1000: (25, 1.000)}
AGREEMENTS = ("ARI", "AMI")
PROBABLE = 0.95
KEY_WRITTEN, KEY_PUBLISHED, KEY_FIGURE = range(41, 44)
MISSING = (
    "With n = 50, with high probability the training study has components that the test study lacks, and vice versa; "
    "as n increases, both have all"
)
FEWER = "With n = 50, some k below the 25 components scores higher than k = 25"
BEST = "As n increases, k = 25 has the highest score"
DEPENDENT = "The replicability index depends on the sample sizes"


def draw(found: dict[int, Curve], out: Path) -> tuple[str, str]:
    """Draw three data sets; and the scores over k, with centred 95 % intervals."""
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
    for n, ax in zip(found, axes, strict=True):
        ax.scatter(*points(n, make_rng(KEY_FIGURE, n)).T, s=4)
        ax.set(title=f"n = {n}", aspect="equal")
    data = save(figure, out, "appendix_a_sample_size_data")
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
    for a, ax in enumerate(axes):
        for n, one in found.items():
            ax.plot(one.ks, one.scores[:, a].mean(axis=-1), label=f"n = {n}")
            ax.fill_between(one.ks, *np.quantile(one.scores[:, a], (0.025, 0.975), axis=-1), alpha=0.2, lw=0)
        ax.axvline(COMPONENTS, color="0.7", lw=0.8, zorder=0)
        ax.set(title=AGREEMENTS[a], xlabel="k", ylim=(-0.05, 1.05))
    axes[0].legend(loc="lower right")
    return data, save(figure, out, "appendix_a_sample_size")


def missing_claim(figure: str) -> Claim:
    """Say how probable it is that studies lack components."""
    chances = {n: component_chances(n) for n in SIZES}
    listed = "; ".join(f"n = {n}: {one.more:.1%}, {one.all:.1%}" for n, one in chances.items())
    lacking = ", ".join(f"{COMPONENTS * (1 - 1 / COMPONENTS) ** n:.1f}" for n in SIZES)
    return Claim(
        "A.3, components",
        MISSING,
        f"Training has what test lacks (vice versa is as probable), both have all; exact: {listed}",
        "",
        verdict_of([chances[FEW].more > PROBABLE, chances[MANY].all > PROBABLE]),
        f"exact probability above {PROBABLE:.0%}: of the one at n = {FEW}, of the other at n = {MANY}",
        f"Both at once, each has what the other lacks, at n = {FEW}: {chances[FEW].both:.1%}. Studies lack {lacking} "
        f"components on average at n = {', '.join(map(str, SIZES))} (exact).",
        (figure,),
        {"chances": chances},
    )


def fewer_claim(written: Curve, published: Curve, figure: str) -> Claim:
    """Say whether fewer clusters than components score higher with few samples."""
    best = [written.best(a, COMPONENTS) for a in (0, 1)]
    gains = [written.at(k, a) - written.at(COMPONENTS, a) for a, k in enumerate(best)]
    texts = (
        f"{name} {number(written.at(best[a], a), 3)} @{best[a]}, {number(written.at(COMPONENTS, a), 3)} @25, paired "
        f"difference {number(gains[a], 3)}"
        for a, name in enumerate(AGREEMENTS)
    )
    return Claim(
        f"A.3, n = {FEW}",
        FEWER,
        f"{'; '.join(texts)} ({len(gains[0])} draws)",
        on_the_printed(FEW, published),
        verdict_of(clearly_positive(gain) for gain in gains),
        "best k below 25 above k = 25 by over two standard errors (paired), by ARI and by AMI",
        f"Of all k run, {written.ks[0]} to {written.ks[-1]}, the best is {written.best(0)} by ARI, "
        f"{written.best(1)} by AMI.",
        (figure,),
        {"best": best, "gains": gains, "published": published},
    )


def best_claim(found: dict[int, Curve], published: dict[int, Curve], figure: str) -> Claim:
    """Say whether the number of components scores highest with many samples."""
    texts, leads = [], {}
    for n in (MORE, MANY):
        for a, name in enumerate(AGREEMENTS):
            one, rival = found[n], found[n].rival(a)
            leads[n, a] = one.at(COMPONENTS, a) - one.at(rival, a)
            score = number(one.at(COMPONENTS, a), 3)
            texts.append(f"n = {n}: {name} {score}, above the next best, k = {rival}, by {number(leads[n, a], 3)}")
    return Claim(
        "A.3, larger n",
        BEST,
        "At k = 25, " + "; ".join(texts),
        "; ".join(on_the_printed(n, published[n]) for n in (MORE, MANY)),
        verdict_of(found[n].leads(a) for n, a in leads),
        f"k = 25 above every other k by over two standard errors (paired), n = {MORE} and {MANY}, ARI and AMI",
        f"k = {found[MANY].ks[0]} to {found[MANY].ks[-1]} run. Both studies have all components with probability "
        f"{component_chances(MORE).all:.1%} at n = {MORE}, {component_chances(MANY).all:.1%} at n = {MANY} (exact).",
        (figure,),
        {"leads": leads, "best": {n: one.best() for n, one in found.items()}, "published": published},
    )


def dependence_claim(found: dict[int, Curve], figure: str) -> Claim:
    """Say whether scores at the number of components grow with the sample sizes."""
    at = [found[n].scores[found[n].ks.index(COMPONENTS)] for n in SIZES]  # (agreement, draw) each
    means = np.array([one.mean(axis=1) for one in at])
    errors = np.array([one.std(axis=1, ddof=1) / np.sqrt(one.shape[1]) for one in at])
    rises, uncertain = np.diff(means, axis=0), np.hypot(errors[1:], errors[:-1])  # (step, agreement)
    rows = (f"{name} {', '.join(number(one[a], 3) for one in at)}" for a, name in enumerate(AGREEMENTS))
    steps = ", ".join(with_error(*step, 3) for step in zip(rises[:, 0], uncertain[:, 0], strict=True))
    return Claim(
        "section 3, A.3",
        DEPENDENT,
        f"At k = 25, n = {', '.join(map(str, SIZES))}: {'; '.join(rows)}",
        "",
        verdict_of((rises > 2 * uncertain).ravel()),
        "score at k = 25 rises by over two standard errors with each n, ARI and AMI",
        f"ARI rises by {steps}.",
        (figure,),
        {"rises": rises},
    )


def on_the_printed(n: int, one: Curve) -> str:
    """Compare the printed best k and score with ours."""
    k, score = PRINTED[n]
    best = one.best()
    return (
        f"n = {n}: printed {score:.3f} @{k}, ours with 50 starts {number(one.at(best), 3)} @{best} "
        f"(k = {one.ks[0]} to {one.ks[-1]} run)"
    )


def main(out: Path, quick: bool = False) -> list[Claim]:
    """Draw fresh pairs for three sizes, as written and with 50 starts; then add outliers."""
    ks = range(20, 28) if quick else range(2, 51)
    n_jobs = 1 if quick else -1
    n_draws = {FEW: 60, MORE: 60, MANY: 15} if quick else dict.fromkeys(SIZES, 100)
    found = {n: curve(KEY_WRITTEN, n, ks, 10, n_draws[n], n_jobs) for n in SIZES}
    near = range(22, 27) if quick else range(20, 31)  # the rest takes long at n = 1,000
    published = {
        n: curve(KEY_PUBLISHED, n, near if quick or n == MANY else ks, 50, 8 if quick else 100, n_jobs) for n in SIZES
    }
    data, scores = draw(found, out)
    return [
        missing_claim(data),
        fewer_claim(found[FEW], published[FEW], scores),
        best_claim(found, published, scores),
        dependence_claim(found, scores),
        outliers.claim(*((16, 20) if quick else (40, 100)), n_jobs, out),
    ]
