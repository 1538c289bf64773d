"""Clusters of several studies that differ by batch effects and by composition: designs whose truth is known, and marks.

A design is a function of its setting and number alone. Five ways to compose the studies × shifts × scales; see
`SETTINGS`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

COMPOSITIONS = ("equal", "unequal", "one absent", "one alone", "each lacks another")
SHIFTS = ("0", "1", "3", "10", "cluster 0.3")
SCALES = (1.0, 2.0)
FEWEST_OF_A_CLASS = 5  # samples of a class that make it present in a study
PRESENT = {"found", "merged", "split"}


@dataclass(frozen=True)
class Setting:
    """How the studies of a design differ.

    Attributes
    ----------
    composition : {"equal", "unequal", "one absent", "one alone", "each lacks another"}
        Shares of the clusters: the same; drawn for each study from a Dirichlet distribution, at least 8 %; one cluster
        is absent from one study; one cluster is in one study alone; every study lacks another cluster, of four at
        least.
    shift : {"0", "1", "3", "10", "cluster 0.3"}
        Length of every study's shift in within-cluster sd, in a random direction; or every cluster of every study is
        shifted by itself, by 0.3 of the separation.
    scale : float
        The studies' scales lie between 1 and this factor.
    """

    composition: str
    shift: str
    scale: float


SETTINGS = tuple(Setting(*values) for values in product(COMPOSITIONS, SHIFTS, SCALES))


@dataclass(frozen=True, eq=False)
class Design:
    """Studies with the true cluster of every sample."""

    setting: Setting
    studies: dict[str, NDArray[Any]]
    truth: dict[str, NDArray[np.int64]]
    n_clusters: int
    separation: float


def design(setting: Setting, number: int, n_features: int | None = None) -> Design:
    """Draw studies: 2 to 6 of 40 to 400 samples, 2 to 6 clusters at 4.75 to 7 sd, in 2 to 300 features."""
    rng = np.random.default_rng([2026, SETTINGS.index(setting), number])
    n_studies = int(rng.integers(2, 7))
    drawn = int(rng.choice([2, 3, 5, 10, 30, 100, 300]))
    p = n_features or drawn
    k = int(rng.integers(2, 7))
    if setting.composition in ("one absent", "one alone"):
        k = max(k, 3)
    if setting.composition == "each lacks another":
        k = max(k, 4)
    sizes = rng.integers(40, 401, n_studies)
    sizes = np.maximum(sizes, 8 * k)
    separation = float(rng.uniform(4.75, 7))
    centres = _centres(k, p, separation, rng)
    shares = np.full((n_studies, k), 1 / k)
    if setting.composition == "unequal":
        shares = 0.08 + (1 - 0.08 * k) * rng.dirichlet(np.ones(k), n_studies)
    if setting.composition == "one absent":
        shares[rng.integers(n_studies), rng.integers(k)] = 0
    if setting.composition == "one alone":
        lone, only = rng.integers(k), rng.integers(n_studies)
        shares[np.arange(n_studies) != only, lone] = 0
    if setting.composition == "each lacks another":
        shares[np.arange(n_studies), np.arange(n_studies) % k] = 0
    shares /= shares.sum(axis=1, keepdims=True)
    root = _spread(p, rng)
    studies, truth = {}, {}
    for s in range(n_studies):
        labels = rng.permutation(np.repeat(np.arange(k), _counts(shares[s], int(sizes[s]))))
        places = centres.copy()
        if setting.shift.startswith("cluster"):
            places = places + float(setting.shift.split()[1]) * separation * _directions(k, p, rng)
        else:
            places = places + float(setting.shift) * _directions(1, p, rng)
        scale = setting.scale ** rng.uniform(0, 1)
        studies[f"s{s + 1}"] = scale * (places[labels] + rng.normal(size=(len(labels), p)) @ root)
        truth[f"s{s + 1}"] = labels
    return Design(setting, studies, truth, k, separation)


def lone_separation(drawn: Design) -> float:
    """Return how far a cluster of one study alone lies from its nearest neighbour there, in sd within clusters.

    NaN without one. The sd is that of both clusters along the line between their centres.
    """
    present = {name: set(labels.tolist()) for name, labels in drawn.truth.items()}
    for kind in range(drawn.n_clusters):
        there = [name for name, kinds in present.items() if kind in kinds]
        if len(there) != 1 or len(present) < 2 or len(present[there[0]]) < 2:
            continue
        X, labels = drawn.studies[there[0]], drawn.truth[there[0]]
        mine, distances = X[labels == kind], []
        for other in present[there[0]] - {kind}:
            yours = X[labels == other]
            line = yours.mean(axis=0) - mine.mean(axis=0)
            length = float(np.linalg.norm(line))
            along = [(part - part.mean(axis=0)) @ line / length for part in (mine, yours)]
            distances.append(length / float(np.sqrt(np.mean([np.var(part) for part in along]))))
        return min(distances)
    return float("nan")


def _centres(k: int, p: int, separation: float, rng: np.random.Generator) -> NDArray[Any]:
    """Place centres in at most k dimensions; the nearest two are `separation` apart, none far from all others."""
    dims = min(p, max(2, k - 1))
    while True:
        places = [np.zeros(dims)]
        for _ in range(200):
            start = places[rng.integers(len(places))]
            new = start + _directions(1, dims, rng)[0] * rng.uniform(1, 1.5)
            if min(np.linalg.norm(new - place) for place in places) >= 1:
                places.append(new)
            if len(places) == k:
                break
        if len(places) == k:
            break
    table = np.array(places)
    gaps = np.linalg.norm(table[:, None] - table, axis=-1)
    table *= separation / gaps[~np.eye(k, dtype=bool)].min()
    axes = np.linalg.qr(rng.normal(size=(p, dims)))[0]
    return np.asarray(table @ axes.T)


def _spread(p: int, rng: np.random.Generator) -> NDArray[Any]:
    """A root of the covariance within clusters: a random rotation with variances from 0.6 to 1."""
    axes = np.linalg.qr(rng.normal(size=(p, p)))[0]
    return np.asarray(axes * np.sqrt(rng.uniform(0.6, 1, p)) @ axes.T)


def _directions(n: int, p: int, rng: np.random.Generator) -> NDArray[Any]:
    drawn = rng.normal(size=(n, p))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


def _counts(shares: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Whole numbers of samples by shares: largest remainders."""
    exact = shares * n
    counts = np.floor(exact).astype(np.int64)
    counts[np.argsort(-(exact - counts))[: n - counts.sum()]] += 1
    return counts


# ---------------------------------------------------------------------------------------------------------------------
# marks


@dataclass(frozen=True)
class Marks:
    """How the statuses of one analysis compare with the truth.

    Attributes
    ----------
    right, entries : int
        Statuses of cluster × study that are right, of all that were judged; a further cluster of the same class is
        wrong in all studies.
    false_not_found : int
        *Not found*, where the study has at least 5 samples of the class.
    undetermined : int
    missed : int
        Classes that are no cluster's own.
    right_number : bool
    separated : bool
    lone : bool or None
        Whether a class of one study alone (at least 15 samples) is a cluster found there and in no other study; None
        without one.
    """

    right: int
    entries: int
    false_not_found: int
    undetermined: int
    missed: int
    right_number: bool
    separated: bool
    lone: bool | None


def marks_of(
    verdict: str,
    table: pd.DataFrame,
    labels: Mapping[str, Sequence[Any]],
    truth: Mapping[str, Sequence[Any]],
    *,
    fewest: int = FEWEST_OF_A_CLASS,
) -> Marks:
    """Judge a table of cluster × study by the class of most samples of each cluster."""
    pairs = pd.DataFrame(
        {
            "cluster": np.concatenate([np.asarray(labels[study], dtype=object) for study in truth]),
            "class": np.concatenate([np.asarray(truth[study], dtype=object) for study in truth]),
            "study": np.repeat(list(truth), [len(truth[study]) for study in truth]),
        }
    )
    sizes = pairs.groupby(["class", "study"]).size().unstack(fill_value=0).reindex(columns=list(truth), fill_value=0)
    matched = pairs[pairs["cluster"] != "?"]  # a study that cannot be matched has no cluster
    if matched.empty:  # nothing is established: every entry is undetermined
        n_entries = int(((sizes == 0) | (sizes >= fewest)).to_numpy().sum())
        return Marks(0, n_entries, 0, n_entries, len(sizes), right_number=False, separated=False, lone=None)
    overlap = pd.crosstab(matched["cluster"], matched["class"])
    class_of = overlap.idxmax(axis=1)
    best = overlap.max(axis=1).groupby(class_of).idxmax()  # of each class, the cluster with most of its samples
    right = entries = false_not_found = undetermined = 0
    for row in table.to_dict("records"):
        if row["cluster"] not in class_of.index:
            continue
        kind = class_of[row["cluster"]]
        n = int(sizes.loc[kind, row["study"]])
        extra = best[kind] != row["cluster"]
        if 0 < n < fewest and not extra:
            continue
        entries += 1
        undetermined += row["status"] == "undetermined"
        expected = PRESENT if n else {"not found"}
        right += row["status"] in expected and not extra
        false_not_found += row["status"] == "not found" and n > 0 and not extra
    lone = None
    for kind in sizes.index:
        there = sizes.columns[(sizes.loc[kind] > 0).to_numpy()]
        if len(there) == 1 and sizes.loc[kind, there[0]] >= 15 and sizes.shape[1] > 1:
            rows = table[table["cluster"] == best.get(kind, None)]
            status = dict(zip(rows["study"], rows["status"], strict=True))
            lone = bool(len(rows)) and all((word in PRESENT) == (study == there[0]) for study, word in status.items())
    number = table["cluster"].nunique()
    return Marks(
        right, entries, false_not_found, undetermined, len(set(sizes.index) - set(class_of)),
        number == len(sizes.index), verdict == "separated", lone,
    )  # fmt: skip
