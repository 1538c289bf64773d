"""Coordinates in which clusters are looked for: without typing errors and ties, on the axes that exceed noise."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clustrep.execution.seeds import make_generator
from clustrep.separation.valleys import spread_ties, usual_steps
from clustrep.statistics import thin_svd
from clustrep.types import FloatArray, IntArray

# A value this many robust standard deviations from its study's median is an error of entry, where at most this share
# is: it is drawn to the border. A normal sample of 1,000 exceeds 10 sd with a probability below 1e-19; a cluster of 1
# % of the samples is still kept.
EXTREME, EXTREME_SHARE = 10.0, 0.01
# Ties are spread up to this many features: with more, no single feature makes a valley.
MOST_FEATURES_WITH_TIES = 50
# More features than this are reduced to principal axes, of which this many at least and at most are kept.
FEATURES_AS_THEY_ARE, FEWEST_AXES, MOST_AXES = 10, 2, 15
# Features whose standard deviations within studies differ by more than this factor are also tried on one scale.
SCALES_DIFFER = 1.5
AS_GIVEN, BY_SPREAD = "as given", "divided by the standard deviation within studies"


@dataclass(frozen=True, eq=False)
class Coordinates:
    """All samples in the space in which clusters are looked for.

    scaling : which scale the features have
    X : (n_samples, n_coordinates), study by study
    study : (n_samples,)
    divisor : (n_features,): what features were divided by
    axes : (n_coordinates, n_features), orthonormal rows: coordinates = (features / divisor) @ axes.T, up to a constant
    """

    scaling: str
    X: FloatArray
    study: IntArray
    divisor: FloatArray
    axes: FloatArray

    @property
    def by_study(self) -> list[FloatArray]:
        """The coordinates of each study's samples."""
        return [self.X[self.study == s] for s in range(int(self.study.max()) + 1)]


def coordinates_of(tables: Sequence[FloatArray], scale: str, rng: np.random.Generator) -> list[Coordinates]:
    """Return one or two sets of coordinates: features as given, and divided by their spread within studies.

    Parameters
    ----------
    tables : sequence of ndarray, (n_samples, n_features)
        The studies.
    scale : {"auto", "none", "pooled"}
        "none" leaves the features, "pooled" divides them; "auto" returns both where the features' spreads differ.
    rng : Generator
        Spreads ties.
    """
    study = np.repeat(np.arange(len(tables)), [len(X) for X in tables])
    X = np.concatenate(tables).astype(float)
    varies = np.any([np.ptp(table, axis=0) > 0 for table in tables], axis=0)  # within a study: a shift is no variance
    if not varies.any():
        varies[0] = True
    X = without_extremes(X[:, varies], study)
    if X.shape[1] <= MOST_FEATURES_WITH_TIES:
        uniform = uniform_by_study([table[:, varies] for table in tables], int(rng.integers(2**31)))
        by_study = [X[study == s] for s in range(len(tables))]
        steps = usual_steps(by_study)
        for s, values in enumerate(by_study):  # each by itself: a constant added to a study changes no ties
            X[study == s] = spread_ties(values, uniform[study == s], steps)
    sd = within_sd(X, study)
    divisors = {AS_GIVEN: np.ones(len(sd)), BY_SPREAD: sd}
    if scale == "none" or (scale == "auto" and sd.max() <= SCALES_DIFFER * sd.min()):
        del divisors[BY_SPREAD]
    elif scale == "pooled":
        del divisors[AS_GIVEN]
    coordinates = []
    for scaling, divisor in divisors.items():
        axes = principal_axes(X / divisor, study)
        whole = np.zeros((len(axes), len(varies)))
        whole[:, varies] = axes
        full = np.ones(len(varies))
        full[varies] = divisor
        coordinates.append(Coordinates(scaling, X / divisor @ axes.T, study, full, whole))
    return coordinates


def uniform_by_study(tables: Sequence[FloatArray], seed: int) -> FloatArray:
    """Draw one number between 0 and 1 for every value: equal studies have equal ones, wherever they lie."""
    draws = []
    for table in tables:
        moved = table - table[:1]
        content = (moved / (np.abs(moved).max() or 1.0)).astype(np.float32).tobytes()
        draws.append(make_generator(np.random.SeedSequence([seed, zlib.crc32(content)])).random(table.shape))
    return np.concatenate(draws)


def without_extremes(X: FloatArray, study: IntArray) -> FloatArray:
    """Draw values that are errors of entry to the border of plausible values in their study."""
    X = X.copy()
    for s in np.unique(study):
        rows = study == s
        low, middle, high = np.quantile(X[rows], [0.25, 0.5, 0.75], axis=0)
        sd = (high - low) / 1.349  # of a normal distribution
        far = is_extreme(X[rows])
        border = middle + EXTREME * sd * np.sign(X[rows] - middle)
        X[rows] = np.where(far, border, X[rows])
    return X


def is_extreme(X: FloatArray) -> FloatArray:
    """Whether each value of one study is an error of entry, (n_samples, n_features)."""
    low, middle, high = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
    sd = (high - low) / 1.349
    far = (np.abs(X - middle) > EXTREME * sd) & (sd > 0)
    return np.asarray(far & (far.sum(axis=0) <= max(1, EXTREME_SHARE * len(X))))


def within_sd(X: FloatArray, group: IntArray) -> FloatArray:
    """Return the pooled standard deviation within groups of every feature, (n_features,); 1 where nothing varies."""
    groups = np.unique(group)
    squares = np.sum([((X[group == g] - X[group == g].mean(axis=0)) ** 2).sum(axis=0) for g in groups], axis=0)
    sd = np.sqrt(squares / max(len(X) - len(groups), 1))
    rounding = 1e-12 * np.abs(X).max(axis=0)
    return np.asarray(np.where(sd > rounding, sd, 1.0))


def principal_axes(X: FloatArray, study: IntArray) -> FloatArray:
    """Return the principal axes of the data centred within studies that exceed noise, (n_axes, n_features).

    An axis is kept if its variance exceeds the Marčenko–Pastur edge of the variance beside the axes that are kept. Up
    to 10 features stay unchanged.
    """
    n, p = X.shape
    if p <= FEATURES_AS_THEY_ARE:
        return np.eye(p)
    studies = np.unique(study)
    centred = np.concatenate([X[study == s] - X[study == s].mean(axis=0) for s in studies])
    _, singular, axes = thin_svd(centred)
    free = max(n - len(studies), 1)
    variances = singular**2 / free
    kept = 0
    while True:
        noise = variances[kept:].sum() / max(p - kept, 1) / max(1 - kept / free, 0.5)
        now = int((variances > noise * (1 + np.sqrt(p / free)) ** 2).sum())
        if now <= kept:
            break
        kept = now
    signs = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
    return np.asarray((axes * signs[:, None])[: int(np.clip(kept, FEWEST_AXES, MOST_AXES))])
