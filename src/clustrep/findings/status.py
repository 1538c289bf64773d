"""The table of cluster × study: statuses, and the density valleys between clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from clustrep.across.gaps import FEWEST, nearest_centre
from clustrep.findings.model import Model
from clustrep.findings.own import counts_between
from clustrep.findings.result import FOUND, MERGED, NOT_FOUND, UNDETERMINED
from clustrep.results.base import FALSE_FINDING
from clustrep.types import FloatArray, IntArray

# A cluster is not found where, with half its share elsewhere, so few samples near its place would have a probability
# of at most 5 %.
LEAST_SHARE = 0.5
# A cluster is merged into its neighbour where that is this many times wider towards it than in other studies.
WIDE, FEWEST_FOR_WIDTH = 3.0, 8


class Entries(NamedTuple):
    """All entries of the table, (n_clusters, n_studies) each."""

    counts: IntArray
    status: NDArray[np.str_]
    valley_depth: FloatArray
    valley_p: FloatArray


def entries_of(model: Model) -> Entries:
    """Say for every cluster and study whether it is found there."""
    n_clusters, n_studies = model.n_clusters, len(model.places)
    counts = np.array([np.bincount(place.labels, minlength=n_clusters) for place in model.places]).T
    determined = np.array([not (place.undetermined or place.unmatched) for place in model.places])
    shares = counts / counts.sum(axis=0)
    near = np.array([_near_places(model, s) for s in range(n_studies)]).T
    status = np.full((n_clusters, n_studies), UNDETERMINED, dtype=f"<U{len(UNDETERMINED)}")
    for s, place in enumerate(model.places):
        if place.undetermined:
            continue
        for c in range(n_clusters):
            if counts[c, s] > 0:
                status[c, s] = MERGED if c in place.merged else FOUND
                continue
            known = determined & (counts[c] >= FEWEST)
            known[s] = False
            if place.unmatched or not known.any():
                continue
            expected = LEAST_SHARE * float(np.median(shares[c, known]))
            if c in place.merged or _is_wide(model, s, c, counts):
                status[c, s] = MERGED
            elif binom.cdf(near[c, s], len(model.X[s]), expected) <= FALSE_FINDING:
                status[c, s] = NOT_FOUND
            elif near[c, s] >= FEWEST:  # its samples are there, but not apart from a neighbour's
                status[c, s] = MERGED
    depth, p = _valleys(model, counts)
    return Entries(counts, status, depth, p)


def _near_places(model: Model, s: int) -> IntArray:
    """Count the samples of a study that are nearest to the place where each joint cluster is expected there."""
    place = model.places[s]
    if place.shift is None:
        return np.zeros(model.n_clusters, dtype=np.int64)
    nearest = nearest_centre(model.X[s], place.shift + place.scale * model.centres)
    return np.bincount(nearest, minlength=model.n_clusters)


def _is_wide(model: Model, s: int, c: int, counts: IntArray) -> bool:
    """Whether the study's cluster nearest to the place of c is much wider towards it than elsewhere."""
    here = np.flatnonzero(counts[:, s] > 0)
    nearest = here[((model.centres[here] - model.centres[c]) ** 2).sum(axis=1).argmin()]
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
    """Return depth and p-value of the valley between every cluster of a study and the nearest other one there."""
    depth, pvalue = np.full(counts.shape, np.nan), np.full(counts.shape, np.nan)
    for s, place in enumerate(model.places):
        here = np.flatnonzero(counts[:, s])
        if len(here) < 2:
            continue
        centres = np.array([model.X[s][place.labels == c].mean(axis=0) for c in here])
        distances = np.linalg.norm(centres[:, None] - centres, axis=-1)
        np.fill_diagonal(distances, np.inf)
        for i, c in enumerate(here):
            j = int(distances[i].argmin())
            both = np.isin(place.labels, (c, here[j]))
            left, middle, right = counts_between(model.X[s][both], centres[i], centres[j])
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
