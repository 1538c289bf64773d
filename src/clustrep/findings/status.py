"""The table of cluster × study: statuses, and the density valleys between clusters."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.stats import binom

from clustrep.findings.model import Model, Place
from clustrep.findings.own import counts_between
from clustrep.findings.result import FOUND, MERGED, NOT_FOUND, SPLIT, UNDETERMINED
from clustrep.separation.valleys import FEWEST, MIDDLE, centres_of, nearest_centre
from clustrep.summaries import FALSE_FINDING
from clustrep.types import BoolArray, FloatArray, IntArray

# A cluster is not found where, with half its share elsewhere, so few samples near its place would have a probability
# of at most 5 %.
LEAST_SHARE = 0.5
# The same for a part of merged clusters.
LEAST_SHARE_MERGED = 0.25
# A cluster is merged into its neighbour where that is this many times wider towards it than in other studies.
WIDE, FEWEST_FOR_WIDTH = 3.0, 8
# Two clusters that one study alone shows apart are one cluster, split there, where this many others have them merged:
# with one against one, neither study is the exception.
MAJORITY = 2

# Between the facing halves of clusters the middle holds at most this share of the poorer side. Clusters 4.75 sd apart
# had 0.02 to 0.33 in 29 simulated data sets, pieces of curves 0.38 to 0.78 in eight of nine.
FILLED_BETWEEN = 0.4


class Entries(NamedTuple):
    """All entries of the table, (n_clusters, n_studies) each."""

    counts: IntArray
    status: NDArray[np.str_]
    valley_depth: FloatArray
    valley_p: FloatArray
    together: BoolArray  # (n_studies, n_clusters, n_clusters): two clusters that are merged with each other


def entries_of(model: Model) -> Entries:
    """Say for every cluster and study whether it is found there."""
    n_clusters, n_studies = model.n_clusters, len(model.places)
    counts = np.array([np.bincount(place.labels, minlength=n_clusters) for place in model.places]).T
    determined = np.array([not (place.undetermined or place.unmatched) for place in model.places])
    shares = counts / counts.sum(axis=0)
    near = np.array([_near_places(model, s) for s in range(n_studies)]).T
    status = np.full((n_clusters, n_studies), UNDETERMINED, dtype=f"<U{len(UNDETERMINED)}")
    together = np.array([_merged_pairs(place, n_clusters) for place in model.places])
    for s, place in enumerate(model.places):
        if place.undetermined:
            continue
        for c in range(n_clusters):
            if counts[c, s] > 0:
                status[c, s] = SPLIT if c in place.split else FOUND
                continue
            known = determined & (counts[c] >= FEWEST)
            known[s] = False
            if place.unmatched or not known.any():
                continue
            expected = LEAST_SHARE * float(np.median(shares[c, known]))
            neighbour = _nearest_here(model, s, c, counts)
            if together[s, c].any():
                continue
            if _is_wide(model, s, c, neighbour, counts):
                together[s, c, neighbour] = together[s, neighbour, c] = True
            elif binom.cdf(near[c, s], len(model.X[s]), expected) <= FALSE_FINDING:
                status[c, s] = NOT_FOUND
            elif near[c, s] >= FEWEST:  # its samples are there, but not apart from a neighbour's
                together[s, c, neighbour] = together[s, neighbour, c] = True
    shows = np.array([not place.undetermined for place in model.places])
    status[together.any(axis=2).T & shows] = MERGED
    depth, p = _valleys(model, counts)
    return Entries(counts, status, depth, p, together)


def _merged_pairs(place: Place, n_clusters: int) -> BoolArray:
    """Return which clusters have no valley between them in one study, (n_clusters, n_clusters)."""
    together = np.zeros((n_clusters, n_clusters), dtype=bool)
    for group in place.merged:
        for a, b in combinations(sorted(group), 2):
            together[a, b] = together[b, a] = True
    return together


def without_tails(model: Model) -> Model:
    """Give up parts of merged clusters that are too small for the cluster: they are the tail of their neighbour.

    The rule is that of *not found*, with a quarter of the share elsewhere instead of half: without a valley, samples
    are assigned by places alone.
    """
    n_clusters = model.n_clusters
    counts = np.array([np.bincount(place.labels, minlength=n_clusters) for place in model.places]).T
    shares = counts / counts.sum(axis=0)
    apart = np.array([~_merged_pairs(place, n_clusters).any(axis=1) for place in model.places]).T & (counts >= FEWEST)
    places = []
    for s, place in enumerate(model.places):
        labels, groups = place.labels, []
        for group in place.merged:
            known = {c: shares[c, apart[c] & (np.arange(len(model.places)) != s)] for c in group}
            tails = {
                c
                for c, elsewhere in known.items()
                if len(elsewhere)
                and binom.cdf(counts[c, s], counts[:, s].sum(), LEAST_SHARE_MERGED * np.median(elsewhere))
                <= FALSE_FINDING
            }
            rest = np.array(sorted(group - tails))
            if tails and len(rest) and place.shift is not None:
                inside = np.isin(labels, list(tails))
                expected = place.shift + place.scale * model.centres[rest]
                labels = labels.copy()
                labels[inside] = rest[nearest_centre(model.X[s][inside], expected)]
                group = frozenset(int(c) for c in rest)
            if len(group) > 1:
                groups.append(group)
        places.append(replace(place, labels=labels, merged=frozenset(groups)))
    return replace(model, places=places)


def is_continuous(model: Model) -> bool:
    """Whether the clusters are pieces of one continuum: the middles between their facing halves are filled.

    The line between the centres of two parts of a bent continuum leaves it, and crosses a valley; that between the
    halves that face each other is short, and does not. Counts are of every study by itself, summed, and of the pairs of
    clusters with the fullest middles that link all of them.
    """
    counts = np.zeros((model.n_clusters, model.n_clusters, 3), dtype=np.int64)
    for X, place in zip(model.X, model.places, strict=True):
        for a, b in combinations(np.unique(place.labels).tolist(), 2):
            first, second = X[place.labels == a], X[place.labels == b]
            line = second.mean(axis=0) - first.mean(axis=0)
            facing = [Y[Y @ way >= np.median(Y @ way)].mean(axis=0) for Y, way in ((first, line), (second, -line))]
            counts[a, b] += counts_between(np.concatenate([first, second]), *facing)
    middle, side = counts[:, :, MIDDLE], np.delete(counts, MIDDLE, axis=2).min(axis=2)
    fullness = (middle + 1e-9) / np.maximum(side, 1)
    links = minimum_spanning_tree(np.triu(1 / fullness, 1)).nonzero()
    return bool(middle[links].sum() > FILLED_BETWEEN * side[links].sum())


def with_splits(model: Model) -> Model:
    """Join two clusters that one study alone shows apart, while two others at least have them merged: *split* there.

    The number of clusters is that of most studies. A study that lacks either cluster does not count. The last two
    clusters stay: the verdict rests on the valley between them.
    """
    while model.n_clusters > 2 and (exception := _exception(model)) is not None:
        a, b, s = exception
        number = np.arange(model.n_clusters)
        number[b] = a
        number[number > b] -= 1
        sizes = np.sum([np.bincount(place.labels, minlength=model.n_clusters) for place in model.places], axis=0)
        centres = model.centres.copy()
        centres[a] = np.average(centres[[a, b]], axis=0, weights=sizes[[a, b]])
        places = [place.renumbered(number) for place in model.places]
        places[s] = replace(places[s], split=places[s].split | {a})
        model = replace(model, centres=np.delete(centres, b, axis=0), places=places)
    return model


def _exception(model: Model) -> tuple[int, int, int] | None:
    """Return two clusters and the only study that shows them apart, against the majority; None without any.

    Of several pairs, it is the closest one.
    """
    entries = entries_of(model)
    shown = np.isin(entries.status, (FOUND, SPLIT)) & (entries.counts >= FEWEST)
    pairs = []
    for a, b in combinations(range(model.n_clusters), 2):
        (apart,) = np.nonzero(shown[a] & shown[b])
        if len(apart) == 1 and entries.together[:, a, b].sum() >= MAJORITY:
            distance = float(np.linalg.norm(model.centres[a] - model.centres[b]))
            pairs.append((distance, a, b, int(apart[0])))
    return min(pairs)[1:] if pairs else None


def _near_places(model: Model, s: int) -> IntArray:
    """Count the samples of a study that are nearest to the place where each joint cluster is expected there."""
    place = model.places[s]
    if place.shift is None:
        return np.zeros(model.n_clusters, dtype=np.int64)
    nearest = nearest_centre(model.X[s], place.shift + place.scale * model.centres)
    return np.bincount(nearest, minlength=model.n_clusters)


def _nearest_here(model: Model, s: int, c: int, counts: IntArray) -> int:
    """Return the cluster of a study that is nearest to the place of c."""
    here = np.flatnonzero(counts[:, s] > 0)
    return int(here[((model.centres[here] - model.centres[c]) ** 2).sum(axis=1).argmin()])


def _is_wide(model: Model, s: int, c: int, nearest: int, counts: IntArray) -> bool:
    """Whether the study's cluster nearest to the place of c is much wider towards it than elsewhere."""
    line = model.centres[c] - model.centres[nearest]
    line /= np.linalg.norm(line)
    variance = {
        t: float(np.var(model.X[t][place.labels == nearest] @ line)) / place.scale**2
        for t, place in enumerate(model.places)
        if counts[nearest, t] >= FEWEST_FOR_WIDTH
    }
    elsewhere = [value for t, value in variance.items() if t != s]
    return s in variance and bool(elsewhere) and variance[s] > WIDE * max(float(np.median(elsewhere)), 0.5)


def _valleys(model: Model, counts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return depth and p-value of the valley between every cluster of a study and the nearest other one there.

    The windows lie where the other studies have the two clusters, moved by the study's own shift and scale, and count
    all samples that are nearest to either: the study's own partition does not enter. Where no other study has a
    cluster, its own centre is taken.
    """
    depth, pvalue = np.full(counts.shape, np.nan), np.full(counts.shape, np.nan)
    means = np.array([centres_of(X, p.labels, len(counts)) for X, p in zip(model.X, model.places, strict=True)])
    joint = np.full_like(means, np.nan)  # (n_studies, n_clusters, n_coordinates)
    for t, place in enumerate(model.places):
        if place.shift is not None and not place.undetermined:
            there = counts[:, t] >= FEWEST
            joint[t, there] = (means[t, there] - place.shift) / place.scale
    for s, place in enumerate(model.places):
        here = np.flatnonzero(counts[:, s])
        if len(here) < 2:
            continue
        elsewhere = np.delete(joint, s, axis=0)[:, here]
        known = ~np.isnan(elsewhere[:, :, 0])
        centres = means[s, here]
        if place.shift is not None:
            weights = known / np.maximum(known.sum(axis=0), 1)
            placed = place.shift + place.scale * np.einsum("tc,tcq->cq", weights, np.nan_to_num(elsewhere))
            centres = np.where(known.any(axis=0)[:, None], placed, centres)
        nearest = nearest_centre(model.X[s], centres)
        distances = np.linalg.norm(centres[:, None] - centres, axis=-1)
        np.fill_diagonal(distances, np.inf)
        for i, c in enumerate(here):
            j = int(distances[i].argmin())
            left, middle, right = counts_between(model.X[s][np.isin(nearest, (i, j))], centres[i], centres[j])
            side = min(left, right)
            if side:
                depth[c, s] = 1 - middle / side
            pvalue[c, s] = float(binom.cdf(middle, middle + side, 0.5)) if side else 1.0
    return depth, pvalue


def status_by_counts(counts: IntArray, sizes: IntArray) -> NDArray[np.str_]:
    """Return statuses of clusters of one partition of all studies, from their counts alone, (n_clusters, n_studies)."""
    status = np.full(counts.shape, FOUND, dtype=f"<U{len(UNDETERMINED)}")
    shares = counts / np.maximum(sizes, 1)
    for c, s in zip(*np.nonzero(counts < FEWEST), strict=True):
        elsewhere = np.delete(shares[c], s)[np.delete(counts[c], s) >= FEWEST]
        expected = LEAST_SHARE * float(np.median(elsewhere)) if len(elsewhere) else 0.0
        is_rare = binom.cdf(counts[c, s], sizes[s], expected) <= FALSE_FINDING
        status[c, s] = NOT_FOUND if is_rare else UNDETERMINED if counts[c, s] == 0 else FOUND
    return status
