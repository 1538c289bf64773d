"""What clustrep says of a collection: one call of `analyse`."""

from __future__ import annotations

import warnings
from typing import NamedTuple

from sklearn.cluster import KMeans

import clustrep as cr
from exam.designs import Collection

NUMBERS = range(2, 9)
N_INIT = 5


class Verdict(NamedTuple):
    """The degree, the number of clusters, and the words for clusters in other studies."""

    degree: str
    n_clusters: int
    words: tuple[tuple[str, str], ...] = ()


def verdict(collection: Collection, seed: int, *, n_null: int, with_words: bool) -> Verdict:
    """Analyse a collection."""
    clusterer = KMeans(n_init=N_INIT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        groups = cr.separation(clusterer, collection.tables, n_clusters=NUMBERS, rng=seed, n_jobs=1)
        if groups.groups > 1:
            return Verdict("separated", groups.groups)
        result = cr.compare(
            clusterer, collection.tables, n_clusters=NUMBERS, agreement="ari", n_resamples=1, diagonal=False, rng=seed,
            n_jobs=1,
        )
        adjusted = cr.null_reference(result, n_null, n_jobs=1).overall_adjusted
        if adjusted.min() <= 0.05:
            return Verdict("structured", NUMBERS[int(adjusted.argmin())])
    return Verdict("one piece", 1)
