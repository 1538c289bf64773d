"""What a careful user would write today with scikit-learn: the loops that the table compares with."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from sklearn.base import clone
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import resample

# A loop is left after so many seconds, and its time scaled to the whole.
LONGEST = 60.0


@dataclass
class Loop:
    """A timed loop: seconds for the whole of it, the share that was run, and the scores that it found."""

    seconds: float = 0.0
    share: float = 1.0
    scores: list[float] = field(default_factory=list)


class Clock:
    """Times pieces of equal size until a minute is over."""

    def __init__(self, n_pieces: int):
        self.n_pieces = n_pieces
        self.done = 0
        self.begin = time.perf_counter()

    def more(self) -> bool:
        """Whether another piece should be run."""
        return self.done < self.n_pieces and time.perf_counter() - self.begin < LONGEST

    def stop(self, loop: Loop) -> Loop:
        """Scale the time of the pieces that were run to all of them."""
        loop.share = self.done / self.n_pieces
        loop.seconds = (time.perf_counter() - self.begin) / loop.share
        return loop


def global_loop(clusterer, studies: Sequence[np.ndarray], ks: Sequence[int], n_resamples: int, seed: int = 0) -> Loop:
    """Algorithm 2 for all pairs of studies: every study is fitted once per resample and number of clusters."""
    loop = Loop()
    # The parts that may be left out are whole resamples, or single numbers of clusters of one.
    jobs = [(b, k) for b in range(n_resamples) for k in np.random.default_rng(seed).permutation(ks)]
    clock = Clock(len(jobs))
    samples: list[np.ndarray] = []
    while clock.more():
        b, k = jobs[clock.done]
        if clock.done % len(ks) == 0:
            samples = [resample(X, random_state=seed + 1000 * b + s) for s, X in enumerate(studies)]
        predictors = [fit(clusterer, X, int(k)) for X in samples]
        for t, X in enumerate(samples):
            own = predictors[t].predict(X)
            for s in range(len(samples)):
                if s != t:
                    loop.scores.append(adjusted_rand_score(predictors[s].predict(X), own))
        clock.done += 1
    return clock.stop(loop)


def fit(clusterer, X: np.ndarray, k: int):
    """Fit, and give what has no `predict` the nearest neighbour's."""
    fitted = clone(clusterer).set_params(n_clusters=k).fit(X)
    return fitted if hasattr(fitted, "predict") else KNeighborsClassifier(1).fit(X, fitted.labels_)


def local_loop(
    clusterer, train: np.ndarray, test: np.ndarray, grid: np.ndarray, n_resamples: int, n_points: int
) -> Loop:
    """Algorithm 3, point by point, for the first points of the grid in the first resamples."""
    loop = Loop()
    rng = np.random.default_rng(0)
    clock = Clock(n_resamples)
    parts = min(n_resamples, 3)
    while clock.more() and clock.done < parts:
        one, other = (
            clone(clusterer).fit(resample(X, random_state=10 * clock.done + s)) for s, X in enumerate((train, test))
        )
        sample = resample(test, random_state=10 * clock.done + 1)
        u, v = one.predict(sample), other.predict(sample)
        for x in grid[rng.integers(len(grid), size=n_points)]:
            same_u = u == one.predict(x[None])[0]
            same_v = v == other.predict(x[None])[0]
            loop.scores.append(adjusted_rand_score(same_u, same_v))
        clock.done += 1
    loop = clock.stop(loop)
    loop.seconds *= len(grid) / n_points
    loop.share *= n_points / len(grid)
    return loop


def agreement_loop(u: np.ndarray, v: np.ndarray) -> Loop:
    """ARI and AMI, pair by pair."""
    loop = Loop()
    clock = Clock(len(u))
    while clock.more():
        i = clock.done
        loop.scores += [adjusted_rand_score(u[i], v[i]), adjusted_mutual_info_score(u[i], v[i])]
        clock.done += 1
    return clock.stop(loop)
