"""How others choose the number of clusters: each is given the studies as one table, and k-means where it needs one.

Every competitor is a function of (table, seed) that returns a number of clusters; k goes up to `MOST`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture

import clustrep as cr
from clustrep.accelerate.kmeans import KMeansResample, Settings
from clustrep.errors import ClustrepWarning
from clustrep.execution.seeds import one_thread
from clustrep.fitting.resample import PointSet
from exam.designs import FloatArray

MOST = 8
N_INIT = 3
N_REFERENCES = 20
N_SPLITS = 20
# Covariances with p (p + 1) / 2 entries are fitted where there are this many samples for each feature.
SAMPLES_PER_FEATURE = 10


@dataclass(frozen=True)
class Competitor:
    """A rule that chooses a number of clusters."""

    name: str
    choose: Callable[[FloatArray, int], int]
    says_one: bool  # whether one cluster can be its answer
    reference: str
    missing: Callable[[], str] = lambda: ""  # why it can't run here; "" where it can
    is_slow: bool = False

    def number_for(self, X: FloatArray, seed: int) -> int:
        """Return its number of clusters, on one thread: the exam's workers share the cores."""
        with one_thread():
            return self.choose(X, seed)


def numbers_for(X: FloatArray) -> range:
    """Return the numbers of clusters from 2 that a table can have."""
    return range(2, min(MOST, len(np.unique(X, axis=0)) - 1) + 1)


def by_silhouette(X: FloatArray, seed: int) -> int:
    """Return the number with the largest average silhouette width (Rousseeuw 1987)."""
    labels = [KMeans(k, n_init=N_INIT, random_state=seed).fit_predict(X) for k in numbers_for(X)]
    return 2 + int(np.argmax([silhouette_score(X, each) for each in labels]))


def by_gap_statistic(X: FloatArray, seed: int) -> int:
    """Return the smallest k with Gap(k) ≥ Gap(k + 1) − s(k + 1) (Tibshirani, Walther and Hastie 2001).

    References are uniform in the box along the principal axes.
    """
    rng = np.random.default_rng([seed, 1])
    numbers = numbers_for(X)
    observed = log_dispersions(X, numbers, seed)
    mean = X.mean(axis=0)
    _, _, axes = np.linalg.svd(X - mean, full_matrices=False)
    rotated = (X - mean) @ axes.T
    low, high = rotated.min(axis=0), rotated.max(axis=0)
    references = np.array(
        [log_dispersions(rng.uniform(low, high, size=rotated.shape), numbers, seed) for _ in range(N_REFERENCES)]
    )
    return first_within_one_error(references.mean(axis=0) - observed, references.std(axis=0))


def first_within_one_error(gaps: FloatArray, sd: FloatArray) -> int:
    """Return the smallest k whose gap is at least the next one less its standard error; gaps from k = 1."""
    errors = sd * np.sqrt(1 + 1 / N_REFERENCES)
    (enough,) = np.nonzero(gaps[:-1] >= gaps[1:] - errors[1:])
    return int(enough[0]) + 1 if len(enough) else len(gaps)


def log_dispersions(X: FloatArray, numbers: Sequence[int], seed: int) -> FloatArray:
    """Return the log of the sum of squares within clusters, for k = 1 and these; by clustrep's k-means, for speed."""
    sample = KMeansResample(PointSet(X), np.ones(len(X), dtype=np.int64), X.shape[1])
    within = [float(((X - X.mean(axis=0)) ** 2).sum())]
    for k in numbers:
        settings = Settings.of(KMeans(k, n_init=N_INIT))
        assert settings is not None
        within.append(sample.fit(settings, np.random.SeedSequence(seed + (k << 32))).inertia)
    return np.log(np.maximum(within, 1e-12))


def by_bic(X: FloatArray, seed: int) -> int:
    """Return the number of components of the Gaussian mixture with the best BIC, over four forms of covariances."""
    n, p = X.shape
    forms = ["spherical", "diag", "tied", "full"] if n >= SAMPLES_PER_FEATURE * p else ["spherical", "diag"]
    noise = 1e-6 * float(X.var(axis=0).mean())
    best, choice = np.inf, 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for form in forms:
            for k in range(1, MOST + 1):
                fit = GaussianMixture(k, covariance_type=form, reg_covar=noise, random_state=seed).fit(X)
                if (value := fit.bic(X)) < best:
                    best, choice = value, k
    return choice


def by_prediction_strength(X: FloatArray, seed: int) -> int:
    """Return the largest k whose prediction strength is above 0.8 (Tibshirani and Walther 2005)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClustrepWarning)
        result = cr.stability.prediction_strength(
            KMeans(n_init=N_INIT), X, n_clusters=range(1, MOST + 1), n_splits=N_SPLITS, rng=seed, n_jobs=1
        )
    return result.recommended(0.8)


def by_nselectboot(X: FloatArray, seed: int) -> int:
    """Return the number with the smallest bootstrap instability (Fang and Wang 2012), by R's fpc."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "points.csv"
        np.savetxt(path, X, delimiter=",")
        script = Path(__file__).with_name("nselectboot.R")
        command = ["Rscript", str(script), str(path), str(seed), str(MOST)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout.split()[-1])


@cache
def fpc_missing() -> str:
    """Say why R's fpc can't be called, "" where it can."""
    if shutil.which("Rscript") is None:
        return "Rscript is not installed"
    loaded = subprocess.run(["Rscript", "-e", "library(fpc)"], capture_output=True, check=False)
    return "" if loaded.returncode == 0 else "R has no package fpc"


def by_erica(X: FloatArray, seed: int) -> int:
    """Return ERICA's K* by TWCRI with k-means (Sorooshyari, Rivas and Tibshirani 2026), by its own package."""
    from erica import ERICA  # type: ignore[import-not-found]

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        analysis: Any = ERICA(
            data=X,
            k_range=list(range(2, MOST + 1)),
            n_iterations=50,
            method="kmeans",
            random_seed=seed,
            output_dir=folder,
            transpose=False,
            verbose=False,
            kmeans_n_init=N_INIT,
        )
        analysis.run()
    return int(analysis.get_k_star("TWCRI")["kmeans"])


def erica_missing() -> str:
    """Say why ERICA can't be called, "" where it can."""
    return "" if importlib.util.find_spec("erica") else "the package erica is not installed"


COMPETITORS: tuple[Competitor, ...] = (
    Competitor(
        "silhouette", by_silhouette, False, "largest average silhouette width (Rousseeuw 1987), k-means, from 2"
    ),
    Competitor(
        "gap statistic",
        by_gap_statistic,
        True,
        f"Tibshirani, Walther and Hastie (2001), one-standard-error rule, k-means, {N_REFERENCES} references uniform "
        "along principal axes",
    ),
    Competitor(
        "BIC",
        by_bic,
        True,
        "Gaussian mixtures, the best of spherical, diagonal, tied and full covariances (the last two where there are "
        f"at least {SAMPLES_PER_FEATURE} samples for each feature)",
    ),
    Competitor(
        "prediction strength",
        by_prediction_strength,
        True,
        f"Tibshirani and Walther (2005), above 0.8, k-means, {N_SPLITS} splits",
    ),
    Competitor(
        "nselectboot",
        by_nselectboot,
        False,
        "Fang and Wang (2012), R's fpc, k-means, 50 pairs of bootstrap samples",
        fpc_missing,
        is_slow=True,
    ),
    Competitor(
        "ERICA",
        by_erica,
        False,
        "Sorooshyari, Rivas and Tibshirani (2026), K* by TWCRI, k-means, 50 subsamples, from 2",
        erica_missing,
        is_slow=True,
    ),
)


def available() -> Sequence[Competitor]:
    """Return the competitors that can run here."""
    return [competitor for competitor in COMPETITORS if not competitor.missing()]
