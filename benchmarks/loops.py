"""What a careful user would write today with scikit-learn: the loops that the table compares with."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import resample

# A loop is left after this number of seconds, unless told otherwise, and its time scaled to the whole.
LONGEST = 60.0


@dataclass
class Loop:
    """A timed loop: seconds for the whole of it, the share that was run, and the mean score of every resample."""

    seconds: float = 0.0
    share: float = 1.0
    means: list[float] = field(default_factory=list)  # or every value, where both sides compute the same


def timed_loop(n_pieces: int, pieces: Iterator[float | None], longest: float = LONGEST) -> Loop:
    """Run pieces of equal size until the time is over; those that complete a resample give its mean score."""
    loop = Loop()
    done = 0
    begin = time.process_time()
    for mean in pieces:
        done += 1
        if mean is not None:
            loop.means.append(mean)
        if time.process_time() - begin > longest:
            break
    loop.share = done / n_pieces
    loop.seconds = (time.process_time() - begin) / loop.share
    return loop


def global_loop(
    clusterer: Any, studies: Sequence[np.ndarray], ks: Sequence[int], n_resamples: int, longest: float = LONGEST
) -> Loop:
    """Algorithm 2 for all pairs of studies: every study is fitted once per resample and number of clusters.

    First come the studies without resampling, for the observed score beside the resamples.
    """
    # In a random order of k, so that a part of a resample costs what the whole would, in proportion.
    orders = [np.random.default_rng(b).permutation(ks) for b in range(n_resamples + 1)]

    def pieces() -> Iterator[float | None]:
        for b, order in enumerate(orders):
            samples = [resample(X, random_state=1000 * b + s) if b else X for s, X in enumerate(studies)]
            scores: list[float] = []
            for k in order:
                functions = [fit(clusterer, X, int(k)) for X in samples]
                for t, X in enumerate(samples):
                    own = functions[t].predict(X)
                    others = [function for s, function in enumerate(functions) if s != t]
                    scores += [adjusted_rand_score(other.predict(X), own) for other in others]
                yield float(np.mean(scores)) if b and k == order[-1] else None

    return timed_loop((n_resamples + 1) * len(ks), pieces(), longest)


def fit(clusterer: Any, X: np.ndarray, k: int) -> Any:
    """Fit, and give what has no `predict` the nearest neighbour's."""
    fitted = clone(clusterer).set_params(n_clusters=k).fit(X)
    return fitted if hasattr(fitted, "predict") else KNeighborsClassifier(1).fit(X, fitted.labels_)


def local_loop(clusterer: Any, train: np.ndarray, test: np.ndarray, grid: np.ndarray, n_resamples: int) -> Loop:
    """Algorithm 3: the grid is predicted at once, then scored point by point; a few points of a few resamples here."""
    n_tried, n_points = 20, 50
    rng = np.random.default_rng(0)
    fits = scores = 0.0
    means = []
    for b in range(n_tried):
        begin = time.process_time()
        samples = [resample(X, random_state=10 * b + s) for s, X in enumerate((train, test))]
        one, other = (clone(clusterer).fit(sample) for sample in samples)
        u, v = one.predict(samples[1]), other.predict(samples[1])
        grid_u, grid_v = one.predict(grid), other.predict(grid)
        middle = time.process_time()
        points = rng.integers(len(grid), size=n_points)
        means.append(float(np.mean([adjusted_rand_score(u == grid_u[i], v == grid_v[i]) for i in points])))
        fits += middle - begin
        scores += time.process_time() - middle
    whole = n_resamples / n_tried
    return Loop(whole * (fits + scores * len(grid) / n_points), n_points / len(grid) / whole, means)


def agreement_loop(u: np.ndarray, v: np.ndarray) -> Loop:
    """ARI and AMI, pair by pair."""
    pieces = (
        (adjusted_rand_score(one, other) + adjusted_mutual_info_score(one, other)) / 2
        for one, other in zip(u, v, strict=True)
    )
    return timed_loop(len(u), pieces)


def nearest_loop(points: np.ndarray, X: np.ndarray) -> Loop:
    """Which point is nearest, from all distances, 1,000 rows at once."""
    begin = time.perf_counter()
    nearest = [cdist(X[i : i + 1_000], points).argmin(axis=1) for i in range(0, len(X), 1_000)]
    return Loop(time.perf_counter() - begin, 1.0, np.concatenate(nearest).tolist())


def test_loop(X: np.ndarray, n_resamples: int) -> Loop:
    """The test for clusters as section 2.4 is written: all distances, all distribution functions at all breakpoints."""
    begin = time.process_time()
    rng = np.random.default_rng(0)
    null = [rng.multivariate_normal(X.mean(axis=0), np.cov(X.T), size=len(X)) for _ in range(n_resamples)]
    nearest = [np.sort(np.partition(cdist(Y, Y, "sqeuclidean"), 1, axis=1)[:, 1]) for Y in (X, *null)]
    breakpoints = np.sort(np.concatenate(nearest))
    widths = np.diff(breakpoints)
    functions = [np.searchsorted(values, breakpoints[:-1], side="right") / len(X) for values in nearest]
    total = np.sum(functions, axis=0)
    scores = [float(np.sum(widths * (G - (total - G) / n_resamples) ** 2)) for G in functions]
    return Loop(time.process_time() - begin, 1.0, scores[1:])


# ---------------------------------------------------------------------------------------------------------------------
# R's fpc


def fpc(what: str, X: np.ndarray) -> Loop | None:
    """Time R's fpc, in R's own process and by its own clock; None where R or fpc is not installed."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        points = Path(folder) / "points.csv"
        np.savetxt(points, X, delimiter=",", fmt="%.17g")
        command = [rscript, str(Path(__file__).with_name("fpc.R")), str(points), what]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        if "there is no package called" in done.stderr:
            return None
        raise RuntimeError(done.stderr)
    seconds, *means = map(float, done.stdout.split())
    return Loop(seconds, 1.0, means)
