"""What clustrep says of a collection: one call of `analyse`, without what the exam does not ask for."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

import clustrep as cr
from exam.designs import Collection, IntArray

NUMBERS = range(2, 9)
N_INIT = 5
N_RESAMPLES = 10
PRESENT, ABSENT, NEW, NOTHING_NEW = "present", "absent", "new", "nothing new"


class Verdict(NamedTuple):
    """The degree, the number of clusters, and the words for clusters in other studies."""

    degree: str
    n_clusters: int
    words: tuple[tuple[str, str], ...] = ()


def judged_words(
    frame: pd.DataFrame, clusters: Sequence[IntArray], labels: Sequence[IntArray]
) -> tuple[tuple[str, str], ...]:
    """Pair the true word with the one that was said, for every cluster and other study, and for new samples.

    frame : columns train, cluster, test, word; studies are called "1", "2", …, clusters by their numbers
    clusters : the number of every sample's cluster in its own study, by study
    labels : its true cluster, by study
    """
    drawn = [set(label.tolist()) for label in labels]
    pairs = []
    of_clusters = frame[frame["word"] != NEW]
    columns = (of_clusters[name] for name in ("train", "cluster", "test", "word"))
    for train, cluster, test, word in zip(*columns, strict=True):
        s = int(train) - 1
        truth = np.bincount(labels[s][clusters[s] == int(cluster)]).argmax()
        pairs.append((PRESENT if truth in drawn[int(test) - 1] else ABSENT, str(word)))
    said = {(int(train), int(test)) for train, test in frame.loc[frame["word"] == NEW, ["train", "test"]].to_numpy()}
    for s, of_train in enumerate(drawn):
        for t, of_test in enumerate(drawn):
            if s != t:
                pairs.append(
                    (NEW if of_test - of_train else NOTHING_NEW, NEW if (s + 1, t + 1) in said else NOTHING_NEW)
                )
    return tuple(pairs)


def verdict(collection: Collection, seed: int, *, n_null: int, with_words: bool) -> Verdict:
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
    words = words_for(analysis, collection) if with_words else ()
    return Verdict(str(analysis.degree), int(analysis.n_clusters or 0), words)


def words_for(analysis: cr.Analysis, collection: Collection) -> tuple[tuple[str, str], ...]:
    """Pair the words for clusters in other studies with the truth; nothing where no clusters were followed."""
    said = analysis.presence_result
    if said is None:
        return ()
    return judged_words(said.to_frame(), [said.labels_of(name) for name in said.names], collection.labels)
