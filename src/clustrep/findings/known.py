"""Known clusters, matched across studies: the road of the findings, entered with labels instead of clusterers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from clustrep.data.studies import StudiesLike, as_studies
from clustrep.errors import DataWarning, ParameterError, warn
from clustrep.execution.seeds import Rng
from clustrep.findings.find import find_clusters
from clustrep.findings.result import Findings
from clustrep.findings.verdict import inconclusive
from clustrep.fitting.resample import Source
from clustrep.resampling.strategies import Rerun
from clustrep.summaries import FALSE_FINDING
from clustrep.text import listing

NO_VALLEY = "no density valley between the given clusters is significant. Use clusters that the features show"


def match_clusters(studies: StudiesLike, labels: Mapping[str, Any] | None = None, *, rng: Rng = None) -> Findings:
    """Match clusters that are known, such as published cell types, across studies.

    The same matching and the same statuses as in `analyse`: clusters A, B, C… of all studies together, and in which
    study each is found. Labels of different studies need not have the same names.

    Parameters
    ----------
    studies : Studies, mapping of name to table, or sequence of tables
        At least two.
    labels : mapping of study to array-like of shape (n_samples,), optional
        The clusters of every study's samples; by default the studies' known labels (`Study.labels`).
    rng : int, Generator, SeedSequence or None, default=None
        Spreads ties, and starts the search for shifts.

    Returns
    -------
    Findings
        The verdict is *separated* where the density valleys between the given clusters are significant (the smallest
        p-value of all entries, Bonferroni), else *inconclusive*.

    See Also
    --------
    analyse : Finds the clusters, too.
    cluster_auroc : How well each cluster of one study recognises those of another, by ranks.

    Notes
    -----
    Clusters are not tested for being clusters: the samples of every study are taken as labelled, and two labels of one
    study are never one cluster. A study whose clusters cannot be matched to those of the others is *undetermined*. A
    shift of a study as a whole is estimated from the clusters that agree about it, as in the comparison of cell types
    by their profiles [1]_, and needs two of them.

    References
    ----------
    .. [1] Crow, M., Paul, A., Ballouz, S., Huang, Z. J. and Gillis, J. (2018). Characterizing the replicability of cell
       types defined by single cell RNA-sequencing data using MetaNeighbor. Nature Communications 9, 884.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> kinds = np.repeat([0, 1], 40)
    >>> studies = {name: rng.normal(size=(80, 2)) + 7 * kinds[:, None] + shift for name, shift in [("a", 0), ("b", 3)]}
    >>> names = {"a": np.array(["T", "B"])[kinds], "b": np.array(["x", "y"])[kinds]}
    >>> match_clusters(studies, names, rng=0).table()["status"].tolist()
    ['found', 'found', 'found', 'found']
    """
    given = as_studies(studies)
    if labels is None:
        unknown = [name for name, study in given.items() if study.labels is None]
        if unknown:
            raise ParameterError(f"labels are needed for {listing(unknown)}.", parameter="labels")
        labels = {name: study.labels for name, study in given.items()}
    for sentence in given.comparability().without("location", "spread").sentences:
        warn(sentence, DataWarning)
    for name, study in given.items():
        if name not in labels or len(labels[name]) != len(study):
            raise ParameterError(
                f"labels must have one label for each of the {len(study)} samples of {name!r}.", parameter="labels"
            )
    found = find_clusters(given, [], Source.of(Rerun(), rng), labels=labels)
    valleys = found.valley_p[np.isfinite(found.valley_p)]
    pvalue = float(min(1.0, len(valleys) * valleys.min())) if len(valleys) else np.nan
    tested = replace(found, pvalue=pvalue)
    return tested if pvalue <= FALSE_FINDING else inconclusive(tested, NO_VALLEY)
