"""Small results with known numbers, and how drawn figures are read."""

from __future__ import annotations

import io

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.algorithms.comparison import Comparison
from clustrep.algorithms.pairwise import Replicability
from clustrep.findings.result import Findings
from clustrep.null.null_scores import NullReference
from clustrep.provenance import Provenance

LETTERS = tuple("abcdefghij")


NAMES = ("a$b$", "x_1 <&> $\\frac$", "_under", "a very long name of a study that nobody would print in full")


def scores(shape, seed=0):
    return np.random.default_rng(seed).uniform(0.2, 0.9, shape)


def replicability(distribution, *, names=None, agreement="ari", clusterer="ward", diagonal=True):
    distribution = np.array(distribution, dtype=float)
    B, S = distribution.shape[:2]
    if not diagonal:
        distribution[:, np.eye(S, dtype=bool)] = np.nan
    return Replicability(
        names=names or LETTERS[:S],
        agreement=agreement,
        clusterer=clusterer,
        n_clusters=4,
        estimate=scores((S, S), 1),
        distribution=distribution,
        trivial=np.zeros((B, S, S), dtype=bool),
        clusters_found=np.full((B, S), 4),
        failed=np.zeros((B + 1, S, S), dtype=int),
        causes=(),
        provenance={"seed": 1, "clusterers": {clusterer: {}}, "diagonal": diagonal},
    )


def comparison(clusterers, n_clusters, *, B=5, S=3, names=None, agreements=("ari", "ami"), distribution=None):
    C, A = len(clusterers), len(agreements)
    distribution = scores((C, A, B, S, S)) if distribution is None else distribution
    return Comparison(
        names=names or LETTERS[:S],
        agreements=agreements,
        clusterers=tuple(clusterers),
        n_clusters=tuple(n_clusters),
        estimate=distribution.mean(axis=2),
        distribution=distribution,
        trivial=np.zeros((C, B, S, S), dtype=bool),
        clusters_found=np.full((C, B, S), 2),
        failed=np.zeros((C, A, B + 1, S, S), dtype=int),
        causes=(),
        provenance=Provenance(seed=1, parameters={"diagonal": True}),
    )


def over_k(clusterers, ks, **options):
    """A comparison of some clusterers, each with all k."""
    return comparison([name for name in clusterers for _ in ks], [k for _ in clusterers for k in ks], **options)


def reference_of(result, statistic="estimate", n=39):
    observed = result.estimate if statistic == "estimate" else np.nanmean(result.distribution, axis=2)
    off = ~np.eye(len(result.names), dtype=bool)
    return NullReference(
        statistic=statistic,
        names=result.names,
        agreements=result.agreements,
        clusterers=result.clusterers,
        n_clusters=result.n_clusters,
        observed=np.where(off, observed, np.nan),
        distribution=scores((n, *observed.shape), 2) / 3,
        separateness=scores(len(result.clusterers)),
        separateness_distribution=scores((n, len(result.clusterers))),
        provenance=Provenance(seed=1, parameters={"null": "'gaussian'", "of": result._fingerprint}),
    )


def findings_of(status, counts, names, **options):
    """Findings with these statuses and numbers of samples, (n_clusters, n_studies) each."""
    counts, shape = np.array(counts), np.shape(status)
    codes = [np.repeat(np.arange(shape[0]), of_study) for of_study in counts.T]
    some = np.linspace(0.1, 0.9, counts.size).reshape(shape)
    fields = {
        "names": tuple(names),
        "samples": np.array([f"s{i}" for i in range(counts.sum())]),
        "sizes": counts.sum(axis=0),
        "verdict": "separated",
        "reason": "",
        "pvalue": 0.001,
        "letters": tuple("ABCDEFG"[: shape[0]]),
        "codes": np.concatenate(codes),
        "status": np.array(status),
        "valley_depth": some,
        "valley_p": some / 100,
        "replicability": np.where(counts > 0, some, np.nan),
        "low": np.where(counts > 0, some - 0.1, np.nan),
        "high": np.where(counts > 0, some + 0.1, np.nan),
        "shift": np.zeros(shape[1]),
        "scale": np.ones(shape[1]),
        "divisor": np.ones(2),
        "offset": np.zeros((shape[1], 2)),
        "own_clusters": np.full(shape[1], shape[0]),
        "own_pvalue": np.full(shape[1], 0.01),
        "mixing": np.full(shape[1], 0.5),
        "alignment": "Studies were compared as given.",
        "detectable": np.nan,
    }
    return Findings(**{**fields, **options})


def local_of(train, test, k=3, n_resamples=6, **options):
    return cr.local_replicability(
        KMeans(k, n_init=1), train=train, test=test, n_resamples=n_resamples, rng=0, **options
    )


def texts_of(labels):
    return [label.get_text() for label in labels]


def rendered(drawn):
    """Draw a figure for good: mathematics that can't be read fails here, and so does any warning."""
    ax = np.ravel(drawn)[0]
    ax.figure.savefig(io.BytesIO(), format="png", dpi=40)
    return drawn


def inches(drawn):
    return np.ravel(drawn)[0].figure.get_size_inches()


def vars_of(result):
    return {name: getattr(result, name) for name in type(result).__dataclass_fields__}
