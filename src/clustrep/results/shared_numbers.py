"""One number for a cluster and its counterparts in other studies, wherever they are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from clustrep.results.analysis import Analysis
    from clustrep.results.choice import Candidate
    from clustrep.results.groups import Separation
    from clustrep.results.matches import Counterparts
    from clustrep.results.presence_words import Presence

# What a cluster is called instead, by its study and the name that the clusterer's own number gives it.
Names = Mapping[tuple[str, str], str]


def shared_names(counterparts: Counterparts, presence: Presence) -> dict[tuple[str, str], str]:
    """Number the clusters of every study as `Analysis.presence` does: counterparts have the same number.

    Where a study has several clusters in the place of one, letters tell them apart, the largest first: 2a, 2b.
    """
    names: dict[tuple[str, str], str] = {}
    for study in counterparts.names:
        clusters = pd.Series(counterparts.labels(study), name="cluster")
        numbers = pd.Series(presence.labels_of(study), name="number")
        counts = pd.crosstab(clusters[numbers >= 0], numbers[numbers >= 0])
        if counts.empty:
            continue
        number_of = counts.idxmax(axis=1)
        for number, members in counts.max(axis=1).groupby(number_of, sort=False):
            largest_first = members.sort_values(ascending=False, kind="stable").index
            for place, name in enumerate(largest_first):
                letter = "" if len(members) == 1 else ascii_lowercase[place % len(ascii_lowercase)]
                label = str(name).partition(" ")[2]
                names[study, str(name)] = f"{number}{letter} {label}".strip()
    return names


def piece_names(analysis: Analysis) -> dict[str, str]:
    """Number the pieces between which gaps are drawn in the same way; nothing where two of them share a number."""
    separation, presence = analysis.separation_in_focus, analysis.presence_result
    if separation is None or presence is None:
        return {}
    pieces = pd.Series(separation.pieces[place_in_focus(separation, analysis.focus)])
    numbers = pd.Series(np.concatenate([presence.labels_of(study) for study in analysis.names]))
    known = (pieces >= 0) & (numbers >= 0)
    counts = pd.crosstab(pieces[known], numbers[known])
    number_of = counts.idxmax(axis=1) if not counts.empty else pd.Series(dtype=int)
    if number_of.duplicated().any():
        return {}
    return {str(piece): str(number) for piece, number in number_of.items()}


def place_in_focus(separation: Separation, focus: Candidate | None) -> int:
    """Return the position of the clustering in focus among those that were looked at for gaps; else of the chosen."""
    if focus is not None and focus.clusterer == separation.clusterer and focus.n_clusters in separation.n_clusters:
        return separation.n_clusters.index(focus.n_clusters)
    return max(separation.chosen, 0)


def renamed(frame: pd.DataFrame, names: Names) -> pd.DataFrame:
    """Give clusters of the training and counterparts of the test study their shared names."""
    changed = {}
    for column, study in (("cluster", "train"), ("counterpart", "test")):
        if column in frame:
            pairs = zip(frame[study], frame[column], strict=True)
            changed[column] = [names.get((name, str(cluster)), cluster) for name, cluster in pairs]
    return frame.assign(**changed)


def renamed_list(clusters: Sequence[str], study: str, names: Names) -> list[str]:
    """Give the clusters of one study their shared names."""
    return [names.get((study, cluster), cluster) for cluster in clusters]
