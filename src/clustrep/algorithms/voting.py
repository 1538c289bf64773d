"""Neighbour voting, as in MetaNeighbor: do the cells of a cluster in one study rank first a cluster of another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from clustrep.algorithms.replicability import KnownLabelsLike, check_configuration, check_several
from clustrep.data.studies import StudiesLike, as_studies
from clustrep.data.study import check_complete
from clustrep.errors import DataError
from clustrep.resampling.strategies import Rerun
from clustrep.types import FloatArray, IntArray

# Clusters of the test study that are matched up with each other to find the best.
CONTENDERS = 5


def cluster_auroc(studies: StudiesLike, labels: KnownLabelsLike | None = None) -> pd.DataFrame:
    """Say for every cluster of a study how clearly the cells of another study's clusters are like it.

    The cells of a training cluster vote for every cell of the test study by Spearman's correlation. AUROC is the chance
    that a cell of one test cluster gets more votes than a cell outside of it (one against rest), or than a cell of the
    test cluster that comes next (one against best).

    Parameters
    ----------
    studies : Studies, mapping of name to table, or sequence of tables
        At least two, with at least three features: genes, not an embedding.
    labels : mapping of study name to labels of shape (n_samples,), or True, default=None
        Clusters or published cell types of every sample; by default the studies' own known labels.

    Returns
    -------
    DataFrame
        One row for every cluster of a training study and every cluster of another study: train, cluster, test, partner,
        one_against_rest, and one_against_best: a for the best partner, 1 − a for the second best, missing for others.

    See Also
    --------
    analyse : Which cluster of one study is which of another, and in which studies it is found.
    replicability : Takes labels, too.

    Notes
    -----
    As in the fast version of MetaNeighborUS [1]_ [2]_: cells are ranked over features (ties average), centred and
    scaled to length 1. With N cells in a training cluster, M in its study, the votes for a cell x are
    (N + Σ r(x, y)) / (M + Σ r(x, z)), y over the cluster's cells and z over the training study's, r being Spearman's
    correlation. The best partner is found among the five clusters of highest one-against-rest AUROC: each meets the
    best so far, and replaces it where it gets more votes in the majority of pairs; the second best is the one that
    comes closest. A study with a single cluster has no rest, and its AUROC are missing. The value is no test: with
    clear clusters one against rest is near 1 for similar cell types, too.

    References
    ----------
    .. [1] Crow, M. et al. (2018). Characterizing the replicability of cell types defined by single cell RNA-sequencing
       data using MetaNeighbor. Nature Communications 9, 884.
    .. [2] Fischer, S. et al. (2021). Scaling up reproducible research for single-cell transcriptomics using
       MetaNeighbor. Nature Protocols 16, 4031-4067.

    Examples
    --------
    >>> import numpy as np
    >>> types = np.array([0, 0, 0, 1, 1, 1])
    >>> profile = np.array([[9.0, 5, 1, 0], [0.0, 1, 5, 9]])
    >>> studies = {name: profile[types] + np.random.default_rng(i).random((6, 4)) for i, name in enumerate("ab")}
    >>> frame = cluster_auroc(studies, {"a": types, "b": types})
    >>> frame[["train", "cluster", "partner", "one_against_best"]].head(2).values.tolist()
    [['a', 0, 0, 1.0], ['a', 0, 1, 0.0]]
    """
    checked = check_several(as_studies(studies))
    if len(checked.features) < 3:
        raise DataError(
            "studies must have at least three features, whose order in a cell is compared; got "
            f"{len(checked.features)}."
        )
    tables = tuple(checked.values())
    check_complete(tables)
    known: Mapping[str, Any] = check_configuration(
        None, True if labels is None else labels, tables, Rerun()
    ).clusterer.labels
    profiles = {study.name: profiles_of(study.X) for study in tables}
    rows: list[tuple[Any, ...]] = []
    for train in checked.names:
        clusters, votes_of = np.unique(known[train], return_inverse=True)
        belongs = (votes_of[:, None] == np.arange(len(clusters))).astype(float)  # (n_train, n_clusters)
        for test in checked.names:
            if test == train:
                continue
            votes = votes_for(profiles[test], profiles[train], belongs)
            partners, codes = np.unique(known[test], return_inverse=True)
            for c, cluster in enumerate(clusters):
                rest = aurocs(votes[:, c], codes, len(partners))
                best = against_best(votes[:, c], codes, rest)
                rows += [(train, cluster, test, *values) for values in zip(partners, rest, best, strict=True)]
    columns = ["train", "cluster", "test", "partner", "one_against_rest", "one_against_best"]
    return pd.DataFrame(rows, columns=columns)


def profiles_of(X: FloatArray) -> FloatArray:
    """Rank every row, centre it and scale it to length 1: products of two are Spearman's correlations."""
    ranks = rankdata(X, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(ranks, axis=1, keepdims=True)
    return np.asarray(ranks / np.where(lengths > 0, lengths, 1.0))


def votes_for(test: FloatArray, train: FloatArray, belongs: FloatArray) -> FloatArray:
    """Return the share of every training cluster in the votes for every test cell, (n_test, n_clusters)."""
    votes = test @ (train.T @ belongs) + belongs.sum(axis=0)
    return np.asarray(votes / (test @ train.sum(axis=0) + len(train))[:, None])


def aurocs(votes: FloatArray, codes: IntArray, n_clusters: int) -> FloatArray:
    """Return the AUROC of every test cluster against the rest, (n_clusters,); NaN where there is no rest."""
    sizes = np.bincount(codes, minlength=n_clusters)
    sums = np.bincount(codes, rankdata(votes), minlength=n_clusters)
    rest = len(codes) - sizes
    return np.asarray((sums / sizes - (sizes + 1) / 2) / np.where(rest > 0, rest, np.nan))


def against_best(votes: FloatArray, codes: IntArray, against_rest: FloatArray) -> FloatArray:
    """Return the AUROC of the best test cluster against the second best, 1 less that of the second, NaN of others."""
    result = np.full(len(against_rest), np.nan)
    if len(against_rest) < 2:
        return result
    best, *contenders = np.argsort(-against_rest, kind="stable")[:CONTENDERS].tolist()
    score, second = 1.0, contenders[0]
    for contender in contenders:
        both = np.isin(codes, (best, contender))
        auroc = float(aurocs(votes[both], (codes[both] == best).astype(np.int64), 2)[1])
        if auroc < 0.5:
            best, second, score = contender, best, 1 - auroc
        elif auroc < score:
            second, score = contender, auroc
    result[[best, second]] = score, 1 - score
    return result
