"""Attacks of a malicious partner: functions that nobody learned, sent to be scored."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.federated.files import Shelf, SiteFunctions, SiteScores
from clustrep.federated.forms import NearestCentres

Score = Callable[[SiteFunctions], SiteScores]


def crafted(
    functions: Sequence[np.ndarray], features: Sequence[str], *, resampling: cr.resampling.Resampling | None = None
) -> SiteFunctions:
    """Write a file that asks for k = 2 and carries any centres: of the full study, then of every resample."""
    own = cr.Study(
        np.random.default_rng(0).normal(size=(200, len(features))) + 9 * (np.arange(200) < 100)[:, None],
        "mallory",
        features=list(features),
        label=False,
    )
    B = len(functions) - 1
    file = cr.federated.learn(KMeans(2, n_init=1), own, n_resamples=B, resampling=resampling, rng=7)
    forms = [NearestCentres(np.asarray(centres, dtype=float)) for centres in functions]
    sizes = [np.full(len(centres), 50) for centres in functions]
    shelf = Shelf.of(forms, np.zeros(B + 1), sizes, np.dtype(float))
    return dataclasses.replace(file, shelves=(shelf,)).sealed()


def cells(scores: SiteScores) -> np.ndarray:
    """Return which clusters of a crafted file hold at least one patient, as far as the scores tell."""
    return np.flatnonzero(scores.clusters[0].sizes != 0) if scores.clusters else np.array([], dtype=int)


def located(study: cr.Study, score: Score, near: float = 0.02) -> int:
    """Count patients within `near` sd of a cell that is told not to be empty, by a coarse and a fine grid."""
    sd = study.X.std(axis=0)
    low, high = -5.0, 8.0  # what the attacker takes for possible
    side = 64
    axis = np.linspace(low, high, side)
    coarse = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    occupied = cells(score(crafted([coarse, coarse], study.features)))
    step = np.linspace(-0.5, 0.5, 13) * (high - low) / (side - 1)
    fine = np.concatenate([coarse[i] + np.stack(np.meshgrid(step, step), axis=-1).reshape(-1, 2) for i in occupied])
    if not len(fine):
        return 0
    told = fine[cells(score(crafted([fine, fine], study.features)))]
    apart = np.sqrt((((study.X[:, None] - told) / sd) ** 2).sum(axis=2)).min(axis=1) if len(told) else np.inf
    return int((apart < near).sum())


def halves(feature: int, at: float, middle: np.ndarray) -> np.ndarray:
    """Return two centres whose border is a plane across one feature."""
    centres = np.array([middle, middle], dtype=float)
    centres[:, feature] = at - 20.0, at + 20.0
    return centres


def bisected(study: cr.Study, score: Score, n_planes: int = 200) -> float:
    """Return how far, in sd, the largest value of the first feature is from what flags of single clusters tell."""
    sd, truth = study.X[:, 0].std(), study.X[:, 0].max()
    planes = np.linspace(50.0, 75.0, n_planes)  # what the attacker takes for possible
    middle = np.full(study.X.shape[1], 50.0)
    scores = score(crafted([halves(0, at, middle) for at in (50.0, *planes)], study.features))
    beyond = planes[~scores.trivial[0, 1:, 0]]
    return float(abs(beyond.max() - truth) / sd) if 0 < len(beyond) < n_planes else np.inf


def counted(study: cr.Study, score: Score) -> tuple[int, ...]:
    """Return the sizes of the two groups of a column that nobody agreed on."""
    scores = score(crafted([[[0.0], [1.0]]] * 2, study.features[-1:]))
    return tuple(int(size) for size in scores.clusters[0].sizes)


def accepted_draw(study: cr.Study, score: Score) -> str:
    """Say whether the sender can choose a resampling of two patients."""
    two = cr.resampling.Subsample(2 / len(study))
    return "accepted" if score(crafted([[[0.0] * 2, [1.0] * 2]] * 2, study.features, resampling=two)) else "refused"
