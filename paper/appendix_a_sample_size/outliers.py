"""From the discussion: what outliers in one of the studies take from R̂, and what from the bootstrap mean."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from paper.appendix_a_calibration.runs import WRITTEN
from paper.common import Claim, clearly_positive, error_of, make_rng, number, save, verdict_of

N, K = 100, 4
DISTANCES = (8.0, 12.0, 16.0, 24.0, 40.0)  # from the study's mean
MANY = 5
CASES = (*((1, distance) for distance in DISTANCES), (MANY, DISTANCES[-1]))  # number of outliers, distance
SIDES = ("train", "test")
KEY_DATA, KEY_ANGLES, KEY_RUN = range(51, 54)
CLAIM = "The bootstrap mitigates what outliers do to the scores"


@dataclass(frozen=True, eq=False)
class Losses:
    """What outliers take: clean score minus that with outliers, on the same data sets."""

    both: np.ndarray  # (side, case, data set, R̂ or bootstrap mean)
    twice: np.ndarray  # (distance, data set): of R̂, one outlier twice in the training study

    @property
    def saved(self) -> np.ndarray:
        """What the bootstrap mean loses less than R̂, (side, case, data set)."""
        return self.both[..., 0] - self.both[..., 1]


def with_outliers(
    clean: dict[str, np.ndarray], side: str, distance: float, angles: np.ndarray
) -> dict[str, np.ndarray]:
    """Put outliers around one of two studies."""
    far = clean[side].mean(axis=0) + distance * np.column_stack([np.cos(angles), np.sin(angles)])
    return clean | {side: np.vstack([clean[side], far])}


def losses(n_sets: int, n_resamples: int, n_jobs: int) -> Losses:
    """Score data sets without outliers and with, the same data sets in all cases."""
    both = np.empty((len(SIDES), len(CASES), n_sets, 2))
    twice = np.empty((len(DISTANCES), n_sets))
    for i in range(n_sets):

        def score(data: dict[str, np.ndarray], n: int = n_resamples, i: int = i) -> np.ndarray:
            rng = make_rng(KEY_RUN, i)
            options: dict[str, Any] = {"resampling": cr.Bootstrap(), "rng": rng, "n_jobs": n_jobs}
            run = cr.replicability(KMeans(K, n_init=10), data, n_resamples=n, diagonal=False, **options)
            return np.array([run.estimate[0, 1], run.mean[0, 1]])

        rng = make_rng(KEY_DATA, i)
        clean = {name: WRITTEN[0].points(name, N, rng) for name in SIDES}
        angles = make_rng(KEY_ANGLES, i).uniform(0, 2 * np.pi, size=MANY)
        before = score(clean)
        for s, side in enumerate(SIDES):
            for c, (count, distance) in enumerate(CASES):
                both[s, c, i] = before - score(with_outliers(clean, side, distance, angles[:count]))
        for c, distance in enumerate(DISTANCES):
            copies = with_outliers(clean, "train", distance, np.repeat(angles[:1], 2))
            twice[c, i] = (before - score(copies, 1))[0]
    return Losses(both, twice)


def draw(lost: Losses, out: Path) -> str:
    """Draw the losses to one outlier over its distance, and those to several far ones as crosses."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained", sharey=True)
    for s, ax in enumerate(axes):
        for j, label in enumerate(("R̂", "bootstrap mean")):
            values = lost.both[s, ..., j]
            mean, error = values.mean(axis=-1), error_of(values)
            ax.errorbar(DISTANCES, mean[:-1], error[:-1], color=f"C{j}", marker=".", label=f"{label}, one outlier")
            ax.errorbar(
                DISTANCES[-1], mean[-1], error[-1], color=f"C{j}", marker="x", label=f"{label}, {MANY} outliers"
            )
        ax.set(title=f"outliers in the {('training', 'test')[s]} study", ylabel="ARI lost (bars: ± standard error)")
        ax.set_xlabel("distance of the outliers from the study's mean")
    axes[0].plot(DISTANCES, lost.twice.mean(axis=-1), "C0:", label="R̂, one outlier twice (training study only)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    figure.suptitle(f"What outliers take from the scores: A.1, setting 1, n = {N}, k = {K}", fontsize=11)
    return save(figure, out, "appendix_a_outliers")


def described(values: np.ndarray) -> str:
    """Write what a quantity is for one outlier at every distance, and for several, (case, data set)."""
    return f"{', '.join(number(case) for case in values[:-1])}; {MANY} at {DISTANCES[-1]:.0f}: {number(values[-1])}"


def on_the_distances(lost: Losses) -> str:
    """Say at which distances of one outlier the bootstrap mean loses clearly less than R̂, and clearly more."""
    saved = lost.saved[:, : len(DISTANCES)]  # (side, distance, data set)
    parts = []
    for words, flags in (("less", clearly_positive(saved)), ("more", clearly_positive(-saved))):
        listed = (", ".join(f"{d:.0f}" for d, flag in zip(DISTANCES, side, strict=True) if flag) for side in flags)
        train, test = (text or "none" for text in listed)
        parts.append(f"clearly {words} than R̂ at distance {train} ({test} in the test study)")
    return f"To one outlier in the training study the bootstrap mean loses {', '.join(parts)}."


def claim(n_sets: int, n_resamples: int, n_jobs: int, out: Path) -> Claim:
    """Compare what outliers take from R̂ with what they take from the bootstrap mean."""
    lost = losses(n_sets, n_resamples, n_jobs)
    asked = clearly_positive(lost.both[..., 0]) | clearly_positive(lost.both[..., 1])  # (side, case)
    spared = clearly_positive(lost.saved)
    n = N + 1
    lacking, once = (1 - 1 / n) ** n, (1 - 1 / n) ** (n - 1)
    c = int(lost.saved[0, : len(DISTANCES)].mean(axis=-1).argmin())
    distances = ", ".join(f"{distance:.0f}" for distance in DISTANCES)
    return Claim(
        "Discussion, outliers",
        CLAIM,
        f"Loss of R̂ minus loss of the bootstrap mean, one outlier at distance {distances} in the training study: "
        f"{described(lost.saved[0])}. In the test study: {described(lost.saved[1])} (A.1, setting 1, n = {N}, "
        f"k = {K}, {n_sets} data sets)",
        "",
        verdict_of(spared[asked]),
        "bootstrap mean loses less than R̂, by over two standard errors (paired); in every case where R̂ or the "
        "bootstrap mean is lower with the outliers than without, by over two standard errors",
        f"{on_the_distances(lost)} "
        f"R̂ itself loses, training study: {described(lost.both[0, ..., 0])}. An outlier is absent from {lacking:.1%} "
        f"of resamples, and in {1 - lacking - once:.1%} twice or more (exact). At distance {DISTANCES[c]:.0f} R̂ loses "
        f"{number(lost.both[0, c, :, 0])} to it once, {number(lost.twice[c])} to it twice.",
        (draw(lost, out),),
        {"both": lost.both, "twice": lost.twice, "saved": lost.saved},
    )
