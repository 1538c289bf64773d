"""What clustrep finds in a collection: one call of `analyse`, without what the accuracy benchmark does not ask for."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.findings.result import FOUND, NOT_FOUND, Findings
from exam.designs import Collection, IntArray

NUMBERS = range(2, 9)
N_INIT = 5
N_RESAMPLES = 10


class Answer(NamedTuple):
    """The verdict, the number of clusters, and the statuses of clusters in studies, each beside the true one."""

    verdict: str
    n_clusters: int
    statuses: tuple[tuple[str, str], ...] = ()


def judged_statuses(findings: Findings, labels: Sequence[IntArray]) -> tuple[tuple[str, str], ...]:
    """Pair the true status of every cluster in every study with that of the findings.

    A cluster is the true cluster of most of its samples; the truth is *found* where the study was drawn with it.

    labels : the true cluster of every sample, by study
    """
    truth = np.concatenate(labels)
    pairs = []
    for c in range(findings.n_clusters):
        true_cluster = np.bincount(truth[findings.codes == c]).argmax()
        for s, of_study in enumerate(labels):
            pairs.append((FOUND if true_cluster in of_study else NOT_FOUND, str(findings.status[c, s])))
    return tuple(pairs)


def answer(collection: Collection, seed: int, *, n_null: int, with_statuses: bool) -> Answer:
    """Analyse a collection; local scores are not asked for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of skewed features, and of failed replicates in tiny studies
        analysis = cr.analyse(
            KMeans(n_init=N_INIT),
            collection.tables,
            n_clusters=NUMBERS,
            n_resamples=N_RESAMPLES,
            n_null=n_null,
            train=(),
            rng=seed,
            n_jobs=1,
        )
    statuses = judged_statuses(analysis.findings, collection.labels) if with_statuses else ()
    return Answer(analysis.verdict, int(analysis.n_clusters or 0), statuses)
