"""Appendix A.2: scores where there are no clusters, and what they say of one long Gaussian."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep._engine import make_generator
from paper.common import DEPENDS, FAILS, HOLDS, SEED, Claim, number, save

N, DIMENSIONS = (200, 350, 500), (5, 10, 15)
# What we call low, and the same for all k; set after seeing the scores, between those of two and of five dimensions.
LOW, UNIFORM = 0.35, 0.15
LONG = np.array([3.0, 1.0])  # standard deviations


def studies(n: int, scales: np.ndarray, rng: np.random.Generator) -> cr.Studies:
    """Draw two studies from one Gaussian."""
    return cr.Studies({name: rng.normal(size=(n, len(scales))) * scales for name in ("train", "test")})


def curves(n: int, d: int, ks: range, n_init: int, n_sets: int, n_resamples: int) -> np.ndarray:
    """Return bootstrap scores of several data sets, (data set, k, agreement, replicate)."""
    rng = make_generator(SEED + 100 * d + n)
    options: dict[str, Any] = {"n_clusters": ks, "n_resamples": n_resamples, "diagonal": False, "progress": False}
    return np.array(
        [
            cr.compare(
                KMeans(n_init=n_init), studies(n, np.ones(d), rng), rng=SEED + i, n_jobs=-1, **options
            ).distribution[..., 0, 1]
            for i in range(n_sets)
        ]
    )


def draw(name: str, found: dict[str, np.ndarray], ks: range, out: Path) -> str:
    """Draw mean ± one standard deviation of the first data set, ARI on the left and AMI on the right."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
    for a, ax in enumerate(axes):
        for (label, values), style in zip(found.items(), ("-", "--", ":"), strict=True):
            mean, sd = values[0, :, a].mean(axis=-1), values[0, :, a].std(axis=-1)
            ax.plot(ks, mean, style, label=label)
            ax.fill_between(ks, mean - sd, mean + sd, alpha=0.2, lw=0)
        ax.set(title=("ARI", "AMI")[a], xlabel="k", ylim=(0, 1))
    axes[0].legend()
    return save(figure, out, name)


def described(found: dict[str, np.ndarray]) -> str:
    """Write every curve's mean over k with its error over data sets, and its range over k, for both agreements."""
    parts = []
    for label, values in found.items():
        for a, agreement in enumerate(("ARI", "AMI")):
            curve = values[:, :, a].mean(axis=(0, -1))
            own = values[:, :, a].mean(axis=(1, -1))
            parts.append(f"{label}: {agreement} {number(own)}, over k {curve.min():.2f} to {curve.max():.2f}")
    return "; ".join(parts)


def claim(where: str, text: str, written: Any, published: Any, why: str, figures: tuple[str, ...]) -> Claim:
    """Say whether scores are low, and the same for all k, by both agreements."""
    averages = np.array([values.mean(axis=(0, -1)) for values in written.values()])  # (curve, k, agreement)
    fine = (averages.max(axis=(0, 1)) < LOW) & (np.ptp(averages, axis=1).max(axis=0) < UNIFORM)  # (agreement,)
    values = {"written": averages}
    if published:
        values["published"] = np.array([one.mean(axis=(0, -1)) for one in published.values()])
    verdict = HOLDS if fine.all() else DEPENDS if fine.any() else FAILS
    return Claim(
        where, text, described(written), described(published) if published else "", verdict, why, figures, values
    )


def long_gaussian(n_sets: int, n_null: int, out: Path) -> Claim:
    """Score a single Gaussian with variances 9 and 1, and compare with data without clusters."""
    rng = make_generator(SEED)
    scores, means, pvalues = [], [], []
    for i in range(n_sets):
        result = cr.compare(
            KMeans(n_init=10),
            studies(200, LONG, rng),
            n_clusters=range(2, 7),
            agreement="ari",
            diagonal=False,
            rng=SEED + i,
            progress=False,
        )
        reference = cr.null_reference(result, n=n_null, progress=False)
        scores.append(result.distribution[0, 0, :, 0, 1].mean())
        means.append(reference.mean[0, 0, 0, 1])
        pvalues.append(reference.overall_pvalue[0, 0])
        if i == 0:
            figure, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
            result.plot(ax=ax, reference=reference)
            name = save(figure, out, "appendix_a_no_structure_long")
    rejected = int(np.sum(np.array(pvalues) <= 0.05))
    return Claim(
        "A.2, our remark",
        "Without clusters scores are low, so that a high score is evidence of clusters",
        f"one Gaussian with variances (9, 1), n = 200, k = 2: ARI {number(scores)}; R̂ of data without clusters from "
        f"null_reference {number(means)}; p at most 5 % in {rejected} of {n_sets} data sets, "
        f"median {np.median(pvalues):.2f}",
        "",
        FAILS if np.mean(scores) > 0.6 else DEPENDS,
        "k-means cuts a long Gaussian across its long axis, in every study: the cut replicates, but there are no "
        "clusters. The paper looks at round Gaussians alone. null_reference simulates studies as long as these, and "
        "finds as few as there are.",
        (name,),
        {"scores": np.array(scores), "null": np.array(means), "pvalues": np.array(pvalues)},
    )


def main(out: Path, quick: bool = False) -> list[Claim]:
    """Vary the number of points and of dimensions, as written and as published; then one long Gaussian."""
    ks = range(2, 16, 6) if quick else range(2, 16)
    sizes = (3, 20) if quick else (5, 100)
    written = {f"n = {n}": curves(n, 2, ks, 10, *sizes) for n in N}
    published = {f"n = {n}": curves(n, 5, ks, 10 if quick else 50, *sizes) for n in N}
    dimensions = {f"d = {d}": curves(200, d, ks, 10, *sizes) for d in DIMENSIONS}
    figures = (
        draw("appendix_a_no_structure_n", written, ks, out),
        draw("appendix_a_no_structure_n_published", published, ks, out),
    )
    return [
        claim(
            "A.2, over n",
            "Without clusters, scores are low and the same for all k: d = 2",
            written,
            published,
            "In the plane ARI is about 0.4 to 0.5. The published figure comes from five dimensions: there ARI is low, "
            "but AMI rises with k.",
            figures,
        ),
        claim(
            "A.2, over d",
            "Without clusters, scores are low and the same for all k: d = 5, 10, 15",
            dimensions,
            None,
            "ARI is low in all three, and the lower the more dimensions; AMI rises with k, and is not low at k = 15.",
            (draw("appendix_a_no_structure_d", dimensions, ks, out),),
        ),
        long_gaussian(*((6, 59) if quick else (20, 199)), out),
    ]
