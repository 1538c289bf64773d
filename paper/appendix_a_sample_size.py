"""Appendix A.3: what the number of samples does to the best k. And outliers, from the discussion."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from paper import appendix_a_outliers as outliers
from paper.appendix_a_calibration_runs import AGREEMENTS
from paper.appendix_a_sample_size_runs import COMPONENTS, Curve, component_chances, curve, points
from paper.common import Claim, clearly_positive, error_of, make_rng, number, save, verdict_of, with_error

SIZES = FEW, MORE, MANY = (50, 100, 1000)
PRINTED = {50: (22, 0.807), 100: (25, 0.966), 1000: (25, 1.000)}
PROBABLE = 0.95
KEY_WRITTEN, KEY_PUBLISHED, KEY_FIGURE = range(41, 44)
MISSING = (
    "With n = 50, with high probability the training study has components that the test study lacks, and vice versa; "
    "as n increases, both have all"
)
FEWER = f"With n = 50, some k below the {COMPONENTS} components scores higher than k = {COMPONENTS}"
BEST = f"As n increases, k = {COMPONENTS} has the highest score"
DEPENDENT = "The replicability index depends on the sample sizes"


def draw(found: dict[int, Curve], out: Path) -> tuple[str, str]:
    """Draw three data sets; and the scores over k, with centred 95 % intervals."""
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.8), layout="constrained", sharex=True, sharey=True)
    for n, ax in zip(found, axes, strict=True):
        ax.scatter(*points(n, make_rng(KEY_FIGURE, n)).T, s=4)
        ax.set(title=f"n = {n}", aspect="equal", xlabel="first coordinate")
    axes[0].set_ylabel("second coordinate")
    figure.suptitle(f"A.3, as written: a study of each size from {COMPONENTS} Gaussians", fontsize=11)
    data = save(figure, out, "appendix_a_sample_size_data")
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained", sharey=True)
    for a, ax in enumerate(axes):
        for n, one in found.items():
            ax.plot(one.ks, one.scores[:, a].mean(axis=-1), label=f"mean, n = {n}")
            ax.fill_between(one.ks, *np.quantile(one.scores[:, a], (0.025, 0.975), axis=-1), alpha=0.2, lw=0)
        ax.axvline(COMPONENTS, color="0.7", lw=0.8, zorder=0, label=f"{COMPONENTS} components")
        ax.set(title=AGREEMENTS[a], xlabel="number of clusters k", ylabel=AGREEMENTS[a], ylim=(-0.05, 1.05))
    axes[0].fill_between([], [], [], color="0.8", label="central 95 % of draws")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8)
    figure.suptitle("A.3, as written: scores of fresh pairs of studies", fontsize=11)
    return data, save(figure, out, "appendix_a_sample_size")


def missing_claim(figure: str) -> Claim:
    """Say how probable it is that studies lack components."""
    chances = {n: component_chances(n) for n in SIZES}
    more, both, complete = (
        ", ".join(f"{getattr(one, name):.1%}" for one in chances.values()) for name in ("more", "both", "all")
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
        f"At k = {COMPONENTS}, " + "; ".join(texts),
        "; ".join(on_the_printed(n, published[n]) for n in (MORE, MANY)),
        verdict_of(found[n].leads(a) for n, a in leads),
        f"k = {COMPONENTS} above every other k by over two standard errors (paired), n = {MORE} and {MANY}, ARI and "
        "AMI",
        f"k = {COMPONENTS} is clearly the best in {sum(found[n].leads(a) for n, a in leads)} of {len(leads)} cases, of "
        f"k = {found[MANY].ks[0]} to {found[MANY].ks[-1]}. Both studies have all components with probability "
        f"{component_chances(MORE).all:.1%} at n = {MORE}, {component_chances(MANY).all:.1%} at n = {MANY} (exact).",
        (figure,),
        {"leads": leads, "best": {n: one.best() for n, one in found.items()}, "written": found, "published": published},
    )


def dependence_claim(found: dict[int, Curve], figure: str) -> Claim:
    """Say whether scores at the number of components grow with the sample sizes."""
    at = [found[n].scores[found[n].ks.index(COMPONENTS)] for n in SIZES]  # (agreement, draw) each
    means = np.array([one.mean(axis=1) for one in at])
    errors = np.array([error_of(one) for one in at])
    rises, uncertain = np.diff(means, axis=0), np.hypot(errors[1:], errors[:-1])  # (step, agreement)
    rows = (f"{name} {', '.join(number(one[a], 3) for one in at)}" for a, name in enumerate(AGREEMENTS))
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
        {"rises": rises},
    )


def on_the_printed(n: int, one: Curve) -> str:
    """Compare the printed best k and score with ours."""
    k, score = PRINTED[n]
    best = one.best()
    return (
        f"n = {n}: printed {score:.3f} @{k}, ours with 50 k-means starts {number(one.at(best), 3)} @{best} "
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
        n: curve(KEY_PUBLISHED, n, near if quick or n == MANY else ks, 50, 12 if quick else 100, n_jobs) for n in SIZES
    }
    data, scores = draw(found, out)
    return [
        missing_claim(data),
        fewer_claim(found[FEW], published[FEW], scores),
        best_claim(found, published, scores),
        dependence_claim(found, scores),
        outliers.claim(*((24, 20) if quick else (40, 100)), n_jobs, out),
    ]
