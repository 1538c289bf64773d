"""Appendix A.2: scores where there are no clusters, and what they say of one long Gaussian."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import friedmanchisquare

from paper.appendix_a_calibration.runs import AGREEMENTS
from paper.appendix_a_no_structure.figures import draw
from paper.appendix_a_no_structure.long_gaussian import BORROWED, LEVEL, LOW, long_gaussian
from paper.appendix_a_no_structure.runs import Curves, curves
from paper.common import Claim, clearly_positive, number, plain, verdict_of

N, DIMENSIONS = (200, 350, 500), (5, 10, 15)
KEY_WRITTEN, KEY_PUBLISHED, KEY_DIMENSIONS = range(31, 34)
SCORES_LOW = "Without clusters, scores are low: "
SCORES_SAME = "Without clusters, scores are the same for all k: "
SCALE = "The scale is for Cohen's kappa, which ARI is for pairs of points (Warrens, 2008); AMI is no kappa."


@dataclass(frozen=True, eq=False)
class Experiment:
    """Curves over k for three numbers of points, or of dimensions."""

    where: str
    what: str  # what is fixed
    each: str  # what is varied
    ks: range
    written: Curves
    published: Curves
    figures: tuple[str, ...]

    def on_the_published(self, write: Callable[[np.ndarray, range], str]) -> str:
        """Write what the published variant gives."""
        if not self.published:
            return ""
        return f"No number printed. Five dimensions, 50 k-means starts, {described(self.published, self.ks, write)}"


def highest(means: np.ndarray, ks: range) -> str:
    """Write the highest score over k, (data set, k)."""
    c = means.mean(axis=0).argmax()
    return f"at most {number(means[:, c])} @{ks[c]}"


def extremes(means: np.ndarray, ks: range) -> str:
    """Write the lowest and the highest score over k, (data set, k)."""
    low, high = means.mean(axis=0).argmin(), means.mean(axis=0).argmax()
    return f"{number(means[:, low])} @{ks[low]} to {number(means[:, high])} @{ks[high]}"


def tested(means: np.ndarray, ks: range) -> str:
    """Write the lowest and the highest score, and the p-value of a difference between the ks."""
    return f"{extremes(means, ks)} (p {written_p(friedman(means))})"


def described(by_label: Curves, ks: range, write: Callable[[np.ndarray, range], str]) -> str:
    """Write both agreements of every curve."""
    parts = []
    for label, values in by_label.items():
        texts = (f"{name} {write(values[:, :, a].mean(axis=-1), ks)}" for a, name in enumerate(AGREEMENTS))
        parts.append(f"{label}: {', '.join(texts)}")
    return f"{len(values)} data sets: {'; '.join(parts)}"


def friedman(means: np.ndarray) -> float:
    """Return the p-value of a difference between the ks, in the same order over data sets, (data set, k)."""
    return float(friedmanchisquare(*means.T).pvalue)


def written_p(p: float) -> str:
    """Write a p-value."""
    return "< 0.001" if p < 0.001 else f"= {plain(p, 3)}"


def changes(by_label: Curves, ks: range) -> str:
    """Write the paired differences between the last k and the first."""
    parts = []
    for label, values in by_label.items():
        means = values.mean(axis=-1)
        steps = (f"{name} {number(means[:, -1, a] - means[:, 0, a])}" for a, name in enumerate(AGREEMENTS))
        parts.append(f"{label}: {', '.join(steps)}")
    return f"{directions(by_label, ks)} Changes, {'; '.join(parts)}."


def directions(by_label: Curves, ks: range) -> str:
    """Say in how many curves scores clearly rise or fall from the first k to the last."""
    parts = []
    for a, name in enumerate(AGREEMENTS):
        steps = [means[:, -1, a] - means[:, 0, a] for means in (values.mean(axis=-1) for values in by_label.values())]
        up, down = (sum(bool(clearly_positive(sign * step)) for step in steps) for sign in (1, -1))
        parts.append(f"{name} clearly rises in {up} of {len(steps)} cases" + (f" and falls in {down}" if down else ""))
    return f"From k = {ks[0]} to {ks[-1]}, {', '.join(parts)}."


def where_low(by_label: Curves) -> str:
    """Say which curves are low at every k."""
    low = averages(by_label).max(axis=1) <= LOW  # (curve, agreement)
    if not low.any():
        return f"Even without clusters, every curve goes above {LOW}."
    if low.all():
        return f"Without clusters, no curve goes above {LOW}."
    parts = (
        f"{name} {'only ' if flags.any() and not flags.all() else ''}at "
        f"{', '.join(label for label, flag in zip(by_label, flags, strict=True) if flag) or 'none'}"
        for name, flags in zip(AGREEMENTS, low.T, strict=True)
    )
    return f"Scores stay at or below {LOW} at every k: {', '.join(parts)}."


def averages(by_label: Curves) -> np.ndarray:
    """Return the mean scores, (curve, k, agreement)."""
    return np.array([values.mean(axis=(0, -1)) for values in by_label.values()])


def by_data_set(by_label: Curves) -> list[np.ndarray]:
    """Return the mean scores over resamples of every curve, (data set, k, agreement) each."""
    return [values.mean(axis=-1) for values in by_label.values()]


def low_claim(experiment: Experiment) -> Claim:
    """Say whether scores are low."""
    written = averages(experiment.written)
    return Claim(
        experiment.where,
        SCORES_LOW + experiment.what,
        described(experiment.written, experiment.ks, highest),
        experiment.on_the_published(highest),
        verdict_of((written.max(axis=1) <= LOW).ravel()),
        f"highest score over k at most {LOW} ({BORROWED}), for every {experiment.each}, ARI and AMI",
        f"{where_low(experiment.written)} {SCALE}",
        experiment.figures,
        {"written": by_data_set(experiment.written), "published": by_data_set(experiment.published)},
    )


def same_claim(experiment: Experiment) -> Claim:
    """Say whether scores are the same for all k."""
    means = by_data_set(experiment.written)
    pvalues = np.array([[friedman(curve[:, :, a]) for a in (0, 1)] for curve in means])
    return Claim(
        experiment.where,
        SCORES_SAME + experiment.what,
        described(experiment.written, experiment.ks, tested),
        experiment.on_the_published(extremes),
        verdict_of((pvalues >= LEVEL).ravel()),
        f"no difference between the ks (Friedman test over data sets, 5 %), for every {experiment.each}, ARI and AMI",
        changes(experiment.written, experiment.ks),
        experiment.figures,
        {"pvalues": pvalues, "written": by_data_set(experiment.written)},
    )


def main(out: Path, quick: bool = False) -> list[Claim]:
    """Vary the number of points and of dimensions, as written and as published; then one long Gaussian."""
    ks = range(2, 16, 6) if quick else range(2, 16)
    n_jobs = 1 if quick else -1
    sizes, few = ((5, 20, n_jobs), (2, 20, n_jobs)) if quick else ((8, 100, n_jobs), (3, 100, n_jobs))
    written = {f"n = {n}": curves(KEY_WRITTEN, n, 2, ks, 10, *sizes) for n in N}
    published = {f"n = {n}": curves(KEY_PUBLISHED, n, 5, ks, 50, *few) for n in N}
    dimensions = {f"d = {d}": curves(KEY_DIMENSIONS, 200, d, ks, 10, *sizes) for d in DIMENSIONS}
    figures = (
        draw("appendix_a_no_structure_n", "A.2, one round Gaussian, d = 2, as written", written, ks, out),
        draw("appendix_a_no_structure_n_published", "A.2, one round Gaussian, d = 5, as published", published, ks, out),
    )
    over_n = Experiment("A.2, over n", "d = 2", "n", ks, written, published, figures)
    title = "A.2, one round Gaussian in several dimensions, n = 200, as written"
    figure = draw("appendix_a_no_structure_d", title, dimensions, ks, out)
    over_d = Experiment("A.2, over d", "d = 5, 10, 15", "d", ks, dimensions, {}, (figure,))
    claims = [claim(experiment) for experiment in (over_n, over_d) for claim in (low_claim, same_claim)]
    return [*claims, long_gaussian(*((10, 29) if quick else (20, 199)), n_jobs, out)]
