"""Appendix A.1: bootstrap means, quantiles and intervals, compared with those of fresh pairs of studies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep._engine import make_generator
from paper.common import DEPENDS, FAILS, HOLDS, SEED, Claim, number, save

N = 500
CLOSE = 0.15  # one data set against the mean over many; set after a trial run
TAILS = (0.025, 0.975)
LEVELS = np.linspace(0, 1, 101)
COLOURS = {"ari": "C3", "ami": "C0"}


@dataclass(frozen=True)
class Setting:
    """Two mixtures of Gaussians with equal weights: what training and test studies are drawn from."""

    name: str
    train: tuple[tuple[float, float], ...]
    test: tuple[tuple[float, float], ...]
    variance: float = 1.0
    n_init: int = 10

    def __call__(self, study: cr.Study, rng: np.random.Generator) -> np.ndarray:
        """Draw a study, as `Simulate` asks for it."""
        return self.points(study.name, len(study), rng)

    def points(self, name: str, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw n points of the training or of the test study."""
        centres = np.array({"train": self.train, "test": self.test}[name])
        return centres[rng.integers(len(centres), size=n)] + np.sqrt(self.variance) * rng.normal(size=(n, 2))

    def studies(self, rng: np.random.Generator) -> cr.Studies:
        """Draw both studies."""
        return cr.Studies({name: self.points(name, N, rng) for name in ("train", "test")})


FOUR, THREE = ((0, -7), (3.5, 3), (-2, 2), (2, -2)), ((0, -7), (3.5, -2), (2, -2))
SPREAD = ((0, -7), (3.5, -2), (-2, 2))  # NOTES.md: the published third component
WRITTEN = (
    Setting("setting 1, as written", FOUR, ((-1, -7), (4.2, 3.3), (-2.5, 1.8), (2.2, -3))),
    Setting("setting 2, as written", THREE, ((-1, -7), (4.2, -1.8), (-2.5, 1.8))),
)
PUBLISHED = (
    Setting("setting 1, as published", FOUR, ((-1, -7), (4.2, 3.3), *FOUR[2:]), n_init=50),
    Setting("setting 2, as published", SPREAD, ((-1, -7), (4.2, -1.8), (-2, 2)), variance=2.0, n_init=50),
)
PRINTED = ({2: (0.477, 0.729), 4: (0.991, 0.993), 10: (0.570, 0.562)}, {3: (0.997, 0.990), 10: (0.543, 0.542)})


class Scores:
    """Scores from train to test: fresh draws, and bootstrap replicates of several data sets.

    Of ARI alone:

    truth : R, the mean over fresh draws, (k,)
    means : bootstrap means, (data set, k)
    covered : whether a data set's 95 % interval holds R, (data set, k)
    gap : mean distance of a data set's quantiles to those of fresh draws, (k,)
    """

    def __init__(self, setting: Setting, ks: tuple[int, ...], n_sets: int, n_resamples: int, n_fresh: int):
        rng = make_generator(SEED)
        clusterer = KMeans(n_init=setting.n_init)
        options: dict[str, Any] = {"n_clusters": ks, "diagonal": False, "progress": False}
        options["n_jobs"] = -1 if n_fresh >= 1000 else 1
        collections = [setting.studies(rng) for _ in range(n_sets)]
        resampling = cr.Simulate(setting)
        fresh = cr.compare(clusterer, collections[0], resampling=resampling, n_resamples=n_fresh, rng=SEED, **options)
        runs = [
            cr.compare(clusterer, studies, n_resamples=n_resamples, rng=SEED + i, **options)
            for i, studies in enumerate(collections)
        ]
        self.ks, self.studies = ks, collections[0]
        self.fresh = fresh.distribution[..., 0, 1]  # (k, agreement, draw)
        self.bootstrap = np.array([run.distribution[..., 0, 1] for run in runs])  # (data set, k, agreement, replicate)
        self.truth, self.means = self.fresh[:, 0].mean(axis=-1), self.bootstrap[:, :, 0].mean(axis=-1)
        low, high = np.quantile(self.bootstrap[:, :, 0], TAILS, axis=-1)
        self.covered = (low <= self.truth) & (self.truth <= high)
        ours, theirs = (np.quantile(x, LEVELS, axis=-1) for x in (self.bootstrap[:, :, 0], self.fresh[:, 0]))
        self.gap = np.abs(ours - theirs[:, None]).mean(axis=(0, 1))


def draw_curves(name: str, found: dict[str, Scores], out: Path) -> str:
    """Draw the data, and the scores over k: one row as written, one as published."""
    figure, axes = plt.subplots(len(found), 3, figsize=(11, 3.2 * len(found)), layout="constrained", squeeze=False)
    for row, (title, one) in zip(axes, found.items(), strict=True):
        for study, colour in (("train", "C0"), ("test", "C1")):
            row[0].scatter(*one.studies[study].X.T, s=4, color=colour, label=study)
        row[0].set(title=title, aspect="equal")
        for a, ax in enumerate(row[1:]):
            ax.plot(one.ks, one.bootstrap[1:, :, a].mean(axis=-1).T, color="0.8", lw=0.6, zorder=0)
            for values, colour, style, label in (
                (one.bootstrap[0, :, a], "C0", "-", "bootstrap, data set on the left"),
                (one.fresh[:, a], "C1", ":", "Monte Carlo"),
            ):
                ax.plot(one.ks, values.mean(axis=-1), style, color=colour, label=label)
                ax.fill_between(one.ks, *np.quantile(values, TAILS, axis=-1), color=colour, alpha=0.2, lw=0)
            ax.set(title=("ARI", "AMI")[a], xlabel="k", ylim=(-0.05, 1.05))
    axes[0, 0].legend(fontsize=7)
    axes[0, 1].plot([], [], color="0.8", label="bootstrap means, other data sets")
    axes[0, 1].legend(fontsize=7, loc="lower left")
    return save(figure, out, name)


def draw_quantiles(name: str, one: Scores, out: Path) -> str:
    """Draw the quantiles of one data set's bootstrap beside those of fresh draws."""
    columns = min(3, len(one.ks))
    rows = -(-len(one.ks) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(9, 2.6 * rows), layout="constrained", squeeze=False)
    for c, (k, ax) in enumerate(zip(one.ks, axes.flat, strict=False)):
        for a, (agreement, colour) in enumerate(COLOURS.items()):
            for values, style, label in ((one.bootstrap[0], "-", "bootstrap"), (one.fresh, ":", "Monte Carlo")):
                curve = np.quantile(values[c, a], LEVELS)
                ax.plot(LEVELS, curve, style, color=colour, label=f"{agreement.upper()}, {label}")
        ax.set(title=f"k = {k}", ylim=(-0.05, 1.05))
    axes[0, 0].legend(fontsize=6, loc="lower right")
    figure.supxlabel("quantile")
    return save(figure, out, name)


def claims_of(i: int, written: Scores, published: Scores, figures: tuple[str, str]) -> list[Claim]:
    """Say for one setting how close means, intervals and quantiles are."""
    k, ks = (4, 3)[i], np.array(written.ks)
    place, enough = written.ks.index(k), ks >= k
    apart = np.abs(written.means.mean(axis=0) - written.truth)
    farthest = np.abs(written.means - written.truth).max(axis=0)
    below = "; ".join(
        f"k = {ks[c]}: {number(written.means[:, c])}, single data sets {written.means[:, c].min():.2f} to "
        f"{written.means[:, c].max():.2f}, Monte Carlo {number(written.fresh[c, 0])}"
        for c in np.flatnonzero(~enough)
    )
    printed = []
    for at, (bootstrap, monte_carlo) in PRINTED[i].items():
        own, truth = published.means[:, published.ks.index(at)], published.fresh[published.ks.index(at), 0]
        printed.append(
            f"k = {at}: printed {bootstrap:.3f} / {monte_carlo:.3f}, ours {number(own, 3)} / {number(truth, 3)} "
            f"(single data sets {own.min():.3f} to {own.max():.3f})"
        )
    means = Claim(
        f"A.1, setting {i + 1}",
        "For every k, the bootstrap mean of one pair of studies is close to the mean over fresh pairs",
        f"k = {k}: {number(written.means[:, place], 3)} over {len(written.means)} data sets, Monte Carlo "
        f"{number(written.fresh[place, 0], 3)}. From k = {k} on, averages over data sets differ by at most "
        f"{apart[enough].max():.3f}, single data sets by {farthest[enough].max():.2f}. Below, {below}",
        "; ".join(printed),
        HOLDS if farthest.max() < CLOSE else DEPENDS if farthest[enough].max() < CLOSE else FAILS,
        f"Close from the true number, k = {k}, on. Below it single data sets are far off, probably because which "
        "components k-means joins there is a near tie, which a pair of studies tips one way or the other.",
        figures[:1],
        {"k": ks, "truth": written.truth, "means": written.means}
        | {"published_truth": published.truth, "published_means": published.means},
    )
    covered, gap = written.covered, written.gap
    quantiles = Claim(
        f"A.1, setting {i + 1}, quantiles",
        "Bootstrap quantiles are close to Monte Carlo quantiles: intervals are calibrated",
        f"95 % intervals hold R in {covered[:, place].mean():.0%} of data sets at k = {k}, in "
        f"{covered[:, ks > k].mean():.0%} above, in {covered[:, ks < k].mean():.0%} below; quantiles differ by "
        f"{gap[enough].mean():.3f} on average from k = {k} on, by {gap[~enough].mean():.3f} below",
        "",
        HOLDS if gap.max() < CLOSE / 2 else DEPENDS if gap[enough].max() < CLOSE / 2 else FAILS,
        f"Close from k = {k} on, far below it. Above {k} intervals are wider than R needs: as wide as single scores "
        "spread, while bootstrap means vary less from data set to data set.",
        figures[1:],
        {"k": ks, "covered": covered, "gap": gap},
    )
    return [means, quantiles]


def main(out: Path, quick: bool = False) -> list[Claim]:
    """Run both settings, as written and as published."""
    claims = []
    for i, (written, published) in enumerate(zip(WRITTEN, PUBLISHED, strict=True)):
        ks = (2, (4, 3)[i], 10) if quick else tuple(range(2, 11))
        sizes = (8, 40, 100) if quick else (20, 1000, 1000)
        found = {
            written.name: Scores(written, ks, *sizes),
            published.name: Scores(published, ks, *((6, 20, 60) if quick else (20, 100, 1000))),
        }
        figures = (
            draw_curves(f"appendix_a_calibration_{i + 1}", found, out),
            draw_quantiles(f"appendix_a_calibration_{i + 1}_quantiles", found[written.name], out),
        )
        claims += claims_of(i, *found.values(), figures)
    return claims
