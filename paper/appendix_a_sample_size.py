"""Appendix A.3: what the number of samples does to the best k. And, from the discussion: what a few outliers do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep._engine import make_generator
from paper.appendix_a_calibration import WRITTEN
from paper.common import DEPENDS, FAILS, HOLDS, SEED, Claim, number, save

SIZES, COMPONENTS, SPACING = (50, 100, 1000), 25, 15.0
PRINTED = {50: (22, 0.807), 100: (25, 0.966), 1000: (25, 1.000)}
GRID = SPACING * np.stack(np.meshgrid(np.arange(5), np.arange(5)), axis=-1).reshape(-1, 2)
# number of outliers, and how far from the data's middle
OUTLIERS = {"1 near": (1, 16.0), "1 far": (1, 40.0), "5 far": (5, 40.0)}


def mixture(study: cr.Study, rng: np.random.Generator) -> np.ndarray:
    """Draw from 25 Gaussians with unit variance on a grid, as `Simulate` asks for it."""
    return points(len(study), rng)


def points(n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw n points from the 25 Gaussians."""
    return GRID[rng.integers(COMPONENTS, size=n)] + rng.normal(size=(n, 2))


def scores(n: int, ks: range, n_init: int, n_draws: int) -> np.ndarray:
    """Return the scores of fresh pairs of studies, (k, agreement, draw)."""
    rng = make_generator(SEED)
    options: dict[str, Any] = {"n_clusters": ks, "diagonal": False, "n_jobs": -1 if n_draws >= 100 else 1}
    result = cr.compare(
        KMeans(n_init=n_init),
        {"train": points(n, rng), "test": points(n, rng)},
        resampling=cr.Simulate(mixture),
        n_resamples=n_draws,
        rng=SEED,
        progress=False,
        **options,
    )
    return result.distribution[..., 0, 1]


def best(found: np.ndarray, ks: range) -> tuple[int, np.ndarray]:
    """Return the k with the highest mean ARI, and its scores."""
    c = int(np.nanmean(found[:, 0], axis=-1).argmax())
    return ks[c], found[c, 0]


def draw(found: dict[int, np.ndarray], ks: range, out: Path) -> tuple[str, str]:
    """Draw three data sets; and the scores over k, with centred 95 % intervals."""
    rng = make_generator(SEED)
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained")
    for n, ax in zip(found, axes, strict=True):
        ax.scatter(*points(n, rng).T, s=4)
        ax.set(title=f"n = {n}", aspect="equal")
    data = save(figure, out, "appendix_a_sample_size_data")
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
    for a, ax in enumerate(axes):
        for n, values in found.items():
            ax.plot(ks, np.nanmean(values[:, a], axis=-1), label=f"n = {n}")
            ax.fill_between(ks, *np.nanquantile(values[:, a], (0.025, 0.975), axis=-1), alpha=0.2, lw=0)
        ax.axvline(COMPONENTS, color="0.7", lw=0.8, zorder=0)
        ax.set(title=("ARI", "AMI")[a], xlabel="k", ylim=(-0.05, 1.05))
    axes[0].legend(loc="lower right")
    return data, save(figure, out, "appendix_a_sample_size")


def size_claim(found: dict[int, np.ndarray], published: dict[int, np.ndarray], ks: Any, near: Any, out: Path) -> Claim:
    """Say where the best k lies for every n."""
    ours = {n: best(values, ks) for n, values in found.items()}
    theirs = {n: best(values, near) for n, values in published.items()}
    ks_found = [k for k, _ in ours.values()]
    fewer = found[50][:, 0][: list(ks).index(COMPONENTS)].mean(axis=-1).max()
    full = found[50][list(ks).index(COMPONENTS), 0]
    holds = ks_found[0] < COMPONENTS and ks_found[-1] == COMPONENTS
    return Claim(
        "A.3",
        "With few samples some k below 25 may replicate better than the 25 components; with many, 25 is best",
        "; ".join(f"n = {n}: best k {k}, ARI {number(values, 3)}" for n, (k, values) in ours.items())
        + f"; n = 50 at k = 25: {number(full, 3)}",
        "; ".join(
            f"n = {n}: printed {PRINTED[n][0]} ({PRINTED[n][1]:.3f}), ours with 50 starts {k} ({number(values, 3)})"
            for n, (k, values) in theirs.items()
        ),
        HOLDS if holds else FAILS,
        "With 50 points a study lacks three components on average, each study other ones; with 1,000 none.",
        draw(found, ks, out),
        {
            "best": ks_found,
            "scores": [values.mean() for _, values in ours.values()],
            "below": fewer,
            "full": full.mean(),
        }
        | {"published_best": [k for k, _ in theirs.values()], "published": [v.mean() for _, v in theirs.values()]},
    )


def losses(count: int, distance: float, n_sets: int, n_resamples: int) -> np.ndarray:
    """Return what outliers in the training study take from R̂ and from the bootstrap mean, (data set, 2)."""
    rng = make_generator(SEED)
    found = []
    for i in range(n_sets):
        clean = {name: WRITTEN[0].points(name, 100, rng) for name in ("train", "test")}
        angles = rng.uniform(0, 2 * np.pi, size=count)
        far = clean["train"].mean(axis=0) + distance * np.column_stack([np.cos(angles), np.sin(angles)])
        dirty = clean | {"train": np.vstack([clean["train"], far])}
        runs = [
            cr.replicability(
                KMeans(4, n_init=10), data, n_resamples=n_resamples, diagonal=False, rng=SEED + i, progress=False
            )
            for data in (clean, dirty)
        ]
        before, after = ([run.estimate[0, 1], run.mean[0, 1]] for run in runs)
        found.append(np.subtract(before, after))
    return np.array(found)


def outlier_claim(n_sets: int, n_resamples: int, out: Path) -> Claim:
    """Compare what outliers take from R̂ with what they take from the bootstrap mean."""
    found = {name: losses(*case, n_sets, n_resamples) for name, case in OUTLIERS.items()}
    figure, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
    for j, label in enumerate(("R̂", "bootstrap mean")):
        mean = [values[:, j].mean() for values in found.values()]
        error = [values[:, j].std(ddof=1) / np.sqrt(n_sets) for values in found.values()]
        ax.bar(np.arange(len(found)) + 0.4 * j, mean, 0.36, yerr=error, label=label)
    ax.set_xticks(np.arange(len(found)) + 0.2, list(found))
    ax.set(ylabel="ARI lost", xlabel="outliers in the training study")
    ax.legend()
    saved = {name: values[:, 0] - values[:, 1] for name, values in found.items()}
    helps = [x.mean() > 3 * x.std(ddof=1) / np.sqrt(n_sets) for x in saved.values()]
    return Claim(
        "Discussion, outliers",
        "The bootstrap mitigates what outliers do to the scores",
        "; ".join(
            f"{name}: R̂ loses {number(values[:, 0])}, the bootstrap mean {number(values[:, 1])}"
            for name, values in found.items()
        )
        + f" (A.1, setting 1, n = 100, k = 4, {n_sets} data sets)",
        "",
        HOLDS if all(helps) else DEPENDS if any(helps) else FAILS,
        "A far outlier takes a cluster of its own; 37 % of bootstrap samples lack it, so less is lost, the less so the "
        "more outliers there are. One that is just not far enough to take a cluster does so where it is drawn twice or "
        "more: there the bootstrap does harm.",
        (save(figure, out, "appendix_a_outliers"),),
        found,
    )


def main(out: Path, quick: bool = False) -> list[Claim]:
    """Draw fresh pairs for three sizes, as written and with 50 starts; then add outliers."""
    ks = range(16, 29) if quick else range(2, 51)
    near = range(20, 27)  # draws and seeds depend on k alone, so a part of the curve is what the whole would have there
    found = {n: scores(n, ks, 10, 16 if quick else 100) for n in SIZES}
    published = {n: scores(n, near, 50, 8 if quick else 100) for n in SIZES}
    return [size_claim(found, published, ks, near, out), outlier_claim(*((15, 40) if quick else (50, 100)), out)]
