"""Neighbour voting, as in MetaNeighbor: do the cells of a cluster in one study rank first a cluster of another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from clustrep.algorithms.replicability import KnownLabelsLike, check_configuration, check_several
from clustrep.checks import check_fraction
from clustrep.data.studies import StudiesLike, as_studies
from clustrep.data.study import check_complete
from clustrep.errors import DataError
from clustrep.resampling.strategies import Rerun
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        At least two, with at least three features: genes, not an embedding, and in one unit, because the features of
        a cell are ranked: centimetres and grams have the same order in every sample, and then all AUROC are 0.5.
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
    clustrep.metaneighbor : Top hits, the symmetric matrix and its heat map, variable genes.

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
    """Return the share of every training cluster in the votes for every test cell, (n_test, n_clusters).

    Parameters
    ----------
    test : ndarray of shape (n_test, n_features)
        Profiles of the test cells.
    train : ndarray of shape (n_train, n_features)
        Profiles of the training cells.
    belongs : ndarray of shape (n_train, n_clusters)
        1 where a training cell is in a cluster.

    Returns
    -------
    ndarray of shape (n_test, n_clusters)
    """
    votes = test @ (train.T @ belongs) + belongs.sum(axis=0)
    return np.asarray(votes / (test @ train.sum(axis=0) + len(train))[:, None])


def aurocs(votes: FloatArray, codes: IntArray, n_clusters: int) -> FloatArray:
    """Return the AUROC of every test cluster against the rest, (n_clusters,); NaN where there is no rest.

    Parameters
    ----------
    votes : ndarray of shape (n_test,)
        The share of one training cluster in the votes for every test cell.
    codes : ndarray of int, shape (n_test,)
        The cluster of every test cell.
    n_clusters : int
        How many clusters the test study has.

    Returns
    -------
    ndarray of shape (n_clusters,)
    """
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


# ---------------------------------------------------------------------------------------------------------------------
# What MetaNeighbor's users do with the scores


def symmetric_auroc(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the matrix of clusters × clusters: the mean of both directions of one against rest.

    Parameters
    ----------
    scores : DataFrame
        What `cluster_auroc` returned.

    Returns
    -------
    DataFrame
        Rows and columns are (study, cluster); missing where both are of one study, which is not compared with itself.

    See Also
    --------
    plot_auroc : Draws it.
    """
    order = pd.MultiIndex.from_frame(scores[["train", "cluster"]].drop_duplicates(), names=["study", "cluster"])
    scored = scores.set_index(["train", "cluster", "test", "partner"])["one_against_rest"]
    values = scored.unstack(["test", "partner"]).reindex(index=order, columns=order).to_numpy()
    return pd.DataFrame((values + values.T) / 2, index=order, columns=order)


def top_hits(scores: pd.DataFrame, threshold: float = 0.9) -> pd.DataFrame:
    """Return the pairs of clusters of two studies that are the best partner of one another, or of one of them.

    Parameters
    ----------
    scores : DataFrame
        What `cluster_auroc` returned.
    threshold : float, default=0.9
        The smallest AUROC of a pair that is no reciprocal hit.

    Returns
    -------
    DataFrame
        Columns: study, cluster, other_study, other_cluster, auroc (mean of both directions), reciprocal. The highest
        first.

    See Also
    --------
    cluster_auroc : The scores.
    clustrep.match_clusters : Which clusters are the same, with a test.

    Examples
    --------
    >>> import numpy as np
    >>> types = np.array([0, 0, 0, 1, 1, 1])
    >>> profile = np.array([[9.0, 5, 1, 0], [0.0, 1, 5, 9]])
    >>> studies = {name: profile[types] + np.random.default_rng(i).random((6, 4)) for i, name in enumerate("ab")}
    >>> hits = top_hits(cluster_auroc(studies, {"a": types, "b": types}))
    >>> hits[["cluster", "other_cluster", "reciprocal"]].values.tolist()
    [[0, 0, True], [1, 1, True]]
    """
    check_fraction(threshold, "threshold", one_allowed=True)
    matrix = symmetric_auroc(scores)
    values = np.nan_to_num(matrix.to_numpy(), nan=-1.0)
    best, rows = values.argmax(axis=1), []
    for i, j in enumerate(best.tolist()):
        is_mutual = best[j] == i
        if values[i, j] >= 0 and not (is_mutual and j < i) and (is_mutual or values[i, j] >= threshold):
            rows.append((*matrix.index[i], *matrix.index[j], values[i, j], is_mutual))
    columns = ["study", "cluster", "other_study", "other_cluster", "auroc", "reciprocal"]
    hits = pd.DataFrame(rows, columns=columns).astype({"reciprocal": bool})
    return hits.sort_values("auroc", ascending=False, kind="stable").reset_index(drop=True)


def plot_auroc(scores: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the symmetric matrix, clusters that are alike beside each other.

    Parameters
    ----------
    scores : DataFrame
        What `cluster_auroc` returned.
    ax : matplotlib Axes, default=None
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    from clustrep.plots.canvas import SINGLE, canvas, colour_bar, literal

    matrix = symmetric_auroc(scores)
    distance = 1 - np.nan_to_num(matrix.to_numpy(), nan=0.5)
    np.fill_diagonal(distance, 0.0)
    order = leaves_list(linkage(squareform(distance, checks=False), "average"))
    names = [literal(f"{study} | {cluster}", 24) for study, cluster in matrix.index[order]]
    size = max(0.9 * SINGLE, 0.9 + 0.17 * len(names))
    with canvas(ax, size, size) as ax:
        image = ax.imshow(matrix.to_numpy()[np.ix_(order, order)], cmap="RdYlBu_r", vmin=0, vmax=1)
        ax.set_xticks(range(len(names)), names, rotation=90)
        ax.set_yticks(range(len(names)), names)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        colour_bar(image, ax, "AUROC, mean of both directions", aspect=30, pad=0.02)
        return ax


def variable_genes(studies: StudiesLike) -> list[str]:
    """Return the genes that vary much for their expression, in all studies.

    Parameters
    ----------
    studies : Studies, mapping of name to table, or sequence of tables
        Cells × genes.

    Returns
    -------
    list of str
        In the order of the features.

    See Also
    --------
    cluster_auroc : The scores, which are meant for such genes.

    Notes
    -----
    As in MetaNeighbor [1]_: within every tenth of the genes by median expression, the highest excepted, those in the
    highest quarter by variance; the genes that are among these in every study.

    References
    ----------
    .. [1] Crow, M. et al. (2018). Characterizing the replicability of cell types defined by single cell RNA-sequencing
       data using MetaNeighbor. Nature Communications 9, 884.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> spread = np.where(np.arange(40) % 8 == 2, 9.0, 1.0)
    >>> studies = {name: 50 * np.arange(40) + spread * rng.normal(size=(50, 40)) for name in "ab"}
    >>> set(variable_genes(studies)) >= {"3", "11", "19", "27"}
    True
    """
    checked, chosen = as_studies(studies), []
    for study in checked.values():
        check_complete((study,))
        medians, variances = np.median(study.X, axis=0), study.X.var(axis=0, ddof=1)
        edges = np.unique(np.quantile(medians, np.linspace(0, 1, 11), method="hazen"))
        tenth = np.searchsorted(edges, medians)  # values equal to an edge belong below it
        is_high = np.zeros(len(medians), dtype=bool)
        for number in range(len(edges) - 1):
            inside = tenth == number
            if inside.any():
                is_high |= inside & (variances > np.quantile(variances[inside], 0.75))
        chosen.append(is_high)
    names = [checked.features[j] for j in np.flatnonzero(np.all(chosen, axis=0))]
    if not names:
        raise DataError("No gene varies much in all studies: leave out studies, or choose genes by another rule.")
    return names
