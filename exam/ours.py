"""What clustrep says of a collection: one call of `analyse`."""

from __future__ import annotations

import warnings
from typing import NamedTuple

from sklearn.cluster import KMeans

import clustrep as cr
from exam.designs import Collection

NUMBERS = range(2, 9)
N_INIT = 5
N_RESAMPLES = 10


class Verdict(NamedTuple):
    """The degree, the number of clusters, and the words for clusters in other studies."""

    degree: str
    n_clusters: int
    words: tuple[tuple[str, str], ...] = ()


def verdict(collection: Collection, seed: int, *, n_null: int, with_words: bool) -> Verdict:
    """Analyse a collection; clusters are followed into other studies where words are asked for."""
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
    return Verdict(str(analysis.degree), int(analysis.n_clusters or 0))
