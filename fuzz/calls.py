"""Calls of the library with odd arrays, and clusterers that misbehave."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import AgglomerativeClustering, KMeans

import clustrep as cr
from fuzz.mutation import choice
from fuzz.target import Rng, Target

RESAMPLES = [1, 2, 3, 3, 0, -1, 1.5, "3", None, True, np.int8(2)]
K = [2, 2, 3, 1, 0, -1, 50, 2.0, "2", None, [2, 3], [], range(2, 4), [2, 2]]


def odd_array(rng: Rng) -> Any:
    """Make an array that few would pass on purpose."""
    n, p = int(rng.integers(0, 20)), int(rng.integers(0, 5))
    X = rng.normal(size=(n, p))
    makers = [
        lambda: X, lambda: X, lambda: X.astype(np.float32), lambda: X.astype(np.float16),
        lambda: X.astype(np.longdouble),
        lambda: X.astype(complex), lambda: X > 0, lambda: (X * 9).astype(np.int8), lambda: (X * 9).astype(object),
        lambda: X.astype(str), lambda: X * 1e300, lambda: X * 1e-300, lambda: X * 0, lambda: np.round(X),
        lambda: _with(X, rng, np.nan), lambda: _with(X, rng, np.inf), lambda: _with(X, rng, 1e308),
        lambda: np.asfortranarray(X), lambda: X[::-1, ::-1], lambda: X.tolist(), lambda: X.T, lambda: X[..., None],
        lambda: X.ravel(), lambda: pd.DataFrame(X), lambda: pd.DataFrame(X).astype("Float64"),
        lambda: pd.DataFrame(X, index=["a"] * n), lambda: pd.DataFrame(X, columns=["x"] * p),
        lambda: scipy.sparse.csr_matrix(X), lambda: np.ma.masked_less(X, 0), lambda: np.repeat(X[:1], 9, axis=0),
        lambda: [[1, 2], [3]], lambda: None, lambda: "X.csv", lambda: 3, lambda: {"a": X}, lambda: set(), list,
        lambda: np.array("x"), lambda: X.astype("M8[s]"), lambda: np.zeros(n, dtype=[("a", float)]), lambda: [X, X],
        lambda: np.broadcast_to(1.0, (9, 2)), lambda: pd.DataFrame({"x": [1, "a"]}), lambda: iter(X),
        lambda: X.view(np.matrix),
    ]  # fmt: skip
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return choice(makers, rng)()


def _with(X: np.ndarray, rng: Rng, value: float) -> np.ndarray:
    X = X.copy()
    if X.size:
        X.flat[int(rng.integers(X.size))] = value
    return X


def odd_labels(rng: Rng, n: int = 8) -> Any:
    """Make a labelling that few would pass on purpose."""
    codes = rng.integers(-1, 3, size=n)
    return choice(
        [
            codes, codes, codes.astype(float), codes + 0.5, codes.astype(str), codes.astype(object), codes.tolist(),
            [None, *codes[1:].tolist()], [1, "1", *codes[2:].tolist()], codes > 0, codes * 2**62, codes[:-1], codes[:0],
            codes[:, None], "abc", None, {1, 2}, pd.Series(codes), pd.Categorical(codes), np.full(n, np.nan),
            [[1], [1, 2]],
            codes.astype("S"), codes.astype(complex), np.ma.masked_less(codes, 1), [b"a", "a", *codes[2:].tolist()],
        ],
        rng,
    )  # fmt: skip


def attempt_arrays(rng: Rng, _: Path, __: None) -> None:
    """Call a function of the library with arrays and numbers that make no sense."""
    n_resamples, k, clusterer = (
        choice(RESAMPLES, rng),
        choice(K, rng),
        choice([KMeans(2, n_init=1), None, "kmeans", 3], rng),
    )
    k_means = {"k-means": AgglomerativeClustering(2)}
    calls = [
        lambda: cr.Study(odd_array(rng), choice(["a", "", "a\n\x1b[2J", 3], rng), labels=odd_labels(rng)),
        lambda: repr(cr.Studies([odd_array(rng), odd_array(rng)], scale=choice(["none", "study", "x"], rng))),
        lambda: cr.Studies({"a": odd_array(rng), "b": odd_array(rng)}, label=choice([None, "x", False, 3], rng)),
        lambda: cr.Studies.split(odd_array(rng), n=choice([2, 0, 99, "2"], rng), rng=choice([0, None, "x", -1], rng)),
        lambda: repr(cr.replicability(clusterer, [odd_array(rng), odd_array(rng)], n_resamples=n_resamples, rng=0)),
        lambda: repr(cr.compare(k_means, [odd_array(rng)] * 2, n_clusters=k, n_resamples=n_resamples, rng=0)),
        lambda: repr(cr.stability.stability(clusterer, odd_array(rng), index=choice(["jaccard", "r", "x"], rng),
                                  n_resamples=n_resamples, rng=0)),
        lambda: repr(cr.stability.prediction_strength(AgglomerativeClustering(), odd_array(rng), n_clusters=k,
                                                      n_splits=2, rng=0)),
        lambda: repr(cr.stability.in_group_proportion(odd_array(rng), odd_labels(rng),
                                                      n_neighbors=choice([1, 0, 99], rng))),
        lambda: repr(cr.stability.cluster_test(odd_array(rng), n_resamples=choice([19, 0, "x"], rng), rng=0)),
        lambda: cr.agreement.contingency_table(odd_labels(rng), odd_labels(rng)),
        lambda: cr.agreement.adjusted_rand_index(odd_labels(rng), odd_labels(rng)),
        lambda: cr.agreement.adjusted_mutual_information(odd_labels(rng), odd_labels(rng)),
        lambda: cr.agreement.minimal_matching_distance(odd_labels(rng), odd_labels(rng)),
        lambda: cr.agreement.match_labels(odd_labels(rng), odd_labels(rng)),
        lambda: cr.agreement.jaccard(odd_labels(rng), odd_labels(rng)),
    ]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        choice(calls, rng)()


# ---------------------------------------------------------------------------------------------------------------------
# clusterers


class UnwritableError(Exception):
    """Can't even say what is wrong."""

    def __str__(self) -> str:
        raise RuntimeError("never")


class Evil(ClusterMixin, BaseEstimator):
    """A clusterer that misbehaves in one of many ways, in some of its calls."""

    def __init__(self, manner: str = "", n_clusters: int = 2, share: float = 1.0, random_state: int | None = None):
        self.manner, self.n_clusters, self.share, self.random_state = manner, n_clusters, share, random_state

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """Return labels, or something else."""
        labels = (X[:, 0] > np.median(X[:, 0])).astype(int)
        if abs(float(X.sum()) * 1e6) % 1 > self.share:
            return labels
        return MANNERS[self.manner](X, labels)


def _raise(error: BaseException) -> Any:
    raise error


def _recursion(X: Any) -> Any:
    return _recursion(X) + 1


def _write_into(X: Any) -> Any:
    X[:] = 0
    return np.zeros(len(X), dtype=int)


MANNERS: dict[str, Any] = {
    "too few labels": lambda X, labels: labels[:-1],
    "too many labels": lambda X, labels: np.r_[labels, 0],
    "no labels": lambda X, labels: None,
    "a number": lambda X, labels: 3,
    "text": lambda X, labels: labels.astype(str),
    "a text": lambda X, labels: "labels",
    "fractions": lambda X, labels: labels + 0.5,
    "NaN": lambda X, labels: np.full(len(X), np.nan),
    "infinity": lambda X, labels: np.full(len(X), np.inf),
    "a table": lambda X, labels: X,
    "huge": lambda X, labels: labels * (2**63 - 1),
    "negative": lambda X, labels: labels - 5,
    "objects": lambda X, labels: np.array([object()] * len(X)),
    "both 1 and '1'": lambda X, labels: np.array([1, "1"] * len(X), dtype=object)[: len(X)],
    "complex": lambda X, labels: labels.astype(complex),
    "a set": lambda X, labels: set(labels.tolist()),
    "a generator": lambda X, labels: iter(labels),
    "one cluster": lambda X, labels: labels * 0,
    "only noise": lambda X, labels: labels * 0 - 1,
    "each its own": lambda X, labels: np.arange(len(X)),
    "ValueError": lambda X, labels: _raise(ValueError("\x1b[2J\n" * 50)),
    "an error without words": lambda X, labels: _raise(RuntimeError()),
    "an error that fails": lambda X, labels: _raise(UnwritableError()),
    "recursion": lambda X, labels: _recursion(X),
    "StopIteration": lambda X, labels: _raise(StopIteration()),
    "AssertionError": lambda X, labels: _raise(AssertionError("\ufdd0label\ufdd1[\ufdd2")),
    "writing into X": lambda X, labels: _write_into(X),
    "printing": lambda X, labels: (print("\x1b[2J", file=sys.stderr), labels)[1],
    "warning": lambda X, labels: (warnings.warn("\x1b[2J" * 9, stacklevel=1), labels)[1],
    "seeding": lambda X, labels: (np.random.seed(0), labels)[1],  # noqa: NPY002 - what it does
}


def tables(_: Path) -> list[np.ndarray]:
    """Return tables on which a clusterer that behaves finds two groups."""
    rng = np.random.default_rng(0)
    return [np.r_[rng.normal(size=(10, 2)), rng.normal(4, 1, size=(10, 2))] for _ in range(2)]


def attempt_clusterer(rng: Rng, _: Path, studies: list[np.ndarray]) -> None:
    """Give a clusterer that misbehaves to a function of the library."""
    evil = Evil(choice(sorted(MANNERS), rng), share=choice([1.0, 0.5], rng))
    clusterer = choice([evil, evil, evil.fit_predict], rng)
    before = [study.copy() for study in studies]
    calls = [
        lambda: repr(cr.replicability(clusterer, studies, n_resamples=3, rng=0)),
        lambda: repr(cr.compare({"evil": evil}, studies, n_clusters=[2, 3], n_resamples=2, rng=0)),
        lambda: repr(cr.local_replicability(clusterer, train=studies[0], test=studies[1], n_resamples=2, rng=0)),
        lambda: repr(cr.stability.stability(clusterer, studies[0], n_resamples=3, rng=0)),
        lambda: repr(cr.stability.prediction_strength(evil, studies[0], n_clusters=[2], n_splits=2, rng=0)),
        lambda: repr(cr.stability.in_group_proportion(studies[0], clusterer=clusterer)),
        lambda: repr(cr.stability.consensus(evil, studies[0], n_clusters=[2], n_resamples=3, rng=0)),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            choice(calls, rng)()
        finally:
            if not all(np.array_equal(study, old) for study, old in zip(studies, before, strict=True)):
                raise AssertionError("a clusterer changed the data of its caller")


TARGETS = (
    Target("arrays", 3000, 200, lambda folder: None, attempt_arrays, seconds=60),
    Target("clusterers", 600, 60, tables, attempt_clusterer, seconds=60),
)
