"""Attacks of a curious partner: patients computed from honest files."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.execution.seeds import FULL_STUDY, Failed
from clustrep.federated.files import SiteFunctions

SECRET = 2**100 + 12345
KS = (2, 3, 4, 5, 6)
EXACT = 1e-6
GRID = 100  # values of two decimals
PLAUSIBLE = 10.0


def patients(n: int, p: int, seed: int, decimals: int | None = None) -> cr.Study:
    """Four groups that overlap."""
    rng = np.random.default_rng([seed, n, p])
    X = rng.normal(size=(n, p))
    X[:, :2] += 3 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[rng.integers(4, size=n)]
    return cr.Study(X if decimals is None else np.round(X, decimals), "mainz", label=False)


def told_sets(file: SiteFunctions) -> list[tuple[float, np.ndarray]]:
    """Return the size and the sum of every cluster, and of every union of clusters of one k, that a file tells."""
    sets = []
    for c, shelf in enumerate(file.shelves):
        form = file.functions(c)[FULL_STUDY]
        if not isinstance(form, Failed):
            sizes, sums = shelf.sizes, shelf.sizes[:, None] * form.centres(shelf.sizes)
            for r in range(1, len(sizes)):
                for chosen in map(list, combinations(range(len(sizes)), r)):
                    sets.append((sizes[chosen].sum(), sums[chosen].sum(axis=0)))
    return sets


def differences(file: SiteFunctions) -> np.ndarray:
    """Return what every two sets that differ by one patient say of that patient, (n_candidates, p)."""
    sets = told_sets(file)
    found = [np.sign(s - t) * (a - b) for (s, a), (t, b) in combinations(sets, 2) if abs(s - t) == 1]
    return np.array(found).reshape(len(found), -1)


def differenced(study: cr.Study, file: SiteFunctions) -> int:
    """Count the patients that a difference gives to 1e-6 of all features."""
    candidates = differences(file)
    if not candidates.size:
        return 0
    apart = np.abs(candidates[:, None] - study.X).max(axis=2)
    return int((apart.min(axis=0) < EXACT).sum())


def claimed(study: cr.Study, file: SiteFunctions) -> tuple[int, int]:
    """Claim plausible differences on the grid of two decimals as patients; count claims, and right ones."""
    candidates = differences(file)
    if not candidates.size:
        return 0, 0
    on_grid = (np.abs(candidates * GRID - np.round(candidates * GRID)) < 1e-4).all(axis=1)
    on_grid &= (np.abs(candidates) < PLAUSIBLE).all(axis=1)
    claims = np.unique(np.round(candidates[on_grid], 2), axis=0)
    right = [bool((np.abs(study.X - claim).max(axis=1) < EXACT).any()) for claim in claims]
    return len(claims), sum(right)


def learned(study: cr.Study) -> SiteFunctions:
    """Return what an honest site sends to partners whom it trusts."""
    rules = cr.federated.Disclosure(secret=SECRET)
    return cr.federated.learn(KMeans(n_init=5), study, n_clusters=KS, n_resamples=1, rng=7, disclosure=rules)
