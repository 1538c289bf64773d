"""Section 2 of the paper as loops over samples: what the functions of one study are compared with."""

from __future__ import annotations

import itertools
import math

import numpy as np
from sklearn.base import clone

import clustrep as cr
from clustrep.execution.seeds import Stream, seed_of
from clustrep.fitting.resample import Source

NOISE = -1
SEED = 11


def squared(x, y):
    return sum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def cityblock(x, y):
    return sum(abs(a - b) for a, b in zip(x, y, strict=True))


def nearest_labels(points, sample, labels, distance=squared):
    """Every point's label is that of the nearest sample, the first of equal ones."""
    points, sample = np.asarray(points).tolist(), np.asarray(sample).tolist()
    return [labels[min(range(len(sample)), key=lambda i: (distance(x, sample[i]), i))] for x in points]


def draws(X, perturbation, n, *, second=False, seed=SEED, name="X"):
    source = Source(perturbation, seed)
    return [source.draw(cr.Study(X, name, label=False), b + 1, second=second) for b in range(n)]


def relabelled(clusterer, draw):
    """Ψ(X; X⁽ᵇ⁾) of a clusterer without `predict`: by the nearest sample of the draw."""
    fit = clusterer if callable(clusterer) else clone(clusterer).fit_predict
    return nearest_labels(draw.originals, draw.sample, np.asarray(fit(draw.sample)).tolist())


def relabelled_draw(clusterer, draw):
    """Ψ(X⁽ᵇ⁾; X⁽ᵇ⁾): the same, on the values of the draw."""
    fit = clusterer if callable(clusterer) else clone(clusterer).fit_predict
    return nearest_labels(draw.points, draw.sample, np.asarray(fit(draw.sample)).tolist())


def scripted(*labelings):
    """A clusterer that returns these labelings, fit by fit; an exception is raised."""
    script = iter(labelings)

    def told(X):
        labels = next(script)
        if isinstance(labels, Exception):
            raise labels
        return np.asarray(labels)

    return told


# ---------------------------------------------------------------------------------------------------------------------
# two partitions


def matching(u, v):
    """Equation (3): over all one-to-one maps of the labels, those without a partner included."""
    a, b = sorted(set(u)), sorted(set(v))
    partners = b + [f"none {i}" for i in range(len(a) - len(b))]
    maps = (dict(zip(a, chosen, strict=True)) for chosen in itertools.permutations(partners, len(a)))
    return min(sum(one[x] != y for x, y in zip(u, v, strict=True)) for one in maps)


def pairs_kept(own, predicted):
    """The bracket of equation (4) by cluster: the share of its ordered pairs that are together; NaN without any."""
    found = {}
    for cluster in sorted(set(own)):
        members = [i for i, label in enumerate(own) if label == cluster]
        together = [predicted[i] == predicted[j] for i in members for j in members if i != j]
        found[cluster] = sum(together) / len(together) if together else math.nan
    return found


def index_of(index, reference, new, points, clusters, relative=False):
    """One value for each cluster, and the one for all, from sets of points."""
    if index == "matching":
        wrong = matching([reference[i] for i in points], [new[i] for i in points])
        return [], wrong / (len(points) if relative else 1)
    blocks = [{i for i in points if new[i] == label} for label in sorted({new[i] for i in points})]
    values, numerators, denominators = [], [], []
    for cluster in clusters:
        own = {i for i in points if reference[i] == cluster}
        size = list(reference).count(cluster)
        if index == "jaccard":
            value = max((len(own & block) / len(own | block) for block in blocks), default=0.0)
            numerator, denominator = size * value, size
        elif not own:
            value, numerator, denominator = math.nan, 0, 0
        elif index == "inclusion":
            value = float(any(own <= block for block in blocks))
            numerator, denominator = size * value, size
        elif index == "r":
            pairs = list(itertools.combinations(sorted(own), 2))
            numerator, denominator = sum(new[i] == new[j] for i, j in pairs), len(pairs)
            value = numerator / denominator if pairs else math.nan
        else:
            _, _, best = min((-len(own & block), len(block), i) for i, block in enumerate(blocks))
            numerator, denominator = len(blocks[best] ^ own), len(own)
            value = numerator / (denominator if relative else 1)
        values.append(value)
        numerators.append(numerator)
        denominators.append(denominator)
    if index == "d" and not relative:
        return values, sum(numerators)
    return values, sum(numerators) / sum(denominators) if sum(denominators) else math.nan


def stability_loop(clusterer, X, index, perturbation, *, relative=False, reference=None, n=5):
    """Section 2.2: the reference, (n_resamples, k) and (n_resamples,)."""
    reference = list(clone(clusterer).fit_predict(X)) if reference is None else list(reference)
    clusters = sorted(set(reference))
    rows, overall = [], []
    for draw in draws(X, perturbation, n):
        if index == "matching":
            points, new = range(len(X)), relabelled(clusterer, draw)
        else:
            points, new = sorted(set(draw.order.tolist())), relabelled_draw(clusterer, draw)
        values, for_all = index_of(index, reference, new, points, clusters, relative)
        rows.append(values)
        overall.append(for_all)
    return reference, np.array(rows, dtype=float), np.array(overall, dtype=float)


# ---------------------------------------------------------------------------------------------------------------------
# neighbours


def neighbours(X, j, distance=squared):
    """All others by distance, of equal ones the lower row first."""
    X = np.asarray(X).tolist()
    rows = range(len(X))
    return [sorted((i for i in rows if i != h), key=lambda i: (distance(X[h], X[i]), i))[:j] for h in rows]


def proportions(X, labels, j=1, distance=squared, clusters=None):
    """The in-group proportion of every cluster, in sorted order; NaN for one without samples."""
    nearest = neighbours(X, j, distance)
    values = []
    for cluster in sorted(set(labels)) if clusters is None else clusters:
        members = [i for i, label in enumerate(labels) if label == cluster]
        inside = [all(labels[h] == cluster for h in nearest[i]) for i in members]
        values.append(sum(inside) / len(members) if members else math.nan)
    return values


def null_proportions(X, labels, name, root, n_null, js, n_centres=None, distance=squared):
    """Centres uniform in the box of the centroids along the principal components, samples to the nearest one."""
    clusters = sorted(set(labels))
    k = len(clusters) if n_centres is None else n_centres
    centre = X.mean(axis=0)
    axes = [np.sign(max(axis, key=abs)) * axis for axis in np.linalg.svd(X - centre, full_matrices=False)[2]]
    centroids = np.array([X[[label == c for label in labels]].mean(axis=0) for c in clusters])
    places = np.array([[np.dot(axis, centroid - centre) for axis in axes] for centroid in centroids])
    values = []
    for b in range(n_null):
        rng = np.random.default_rng(seed_of(root, Stream.NULL, name, b + 1))
        drawn = rng.uniform(places.min(axis=0), places.max(axis=0), size=(k, places.shape[1]))
        centres = [centre + sum(t * axis for t, axis in zip(row, axes, strict=True)) for row in drawn]
        codes = [min(range(k), key=lambda c: distance(x, centres[c])) for x in X]
        values.append([proportions(X, codes, j, distance, range(k)) for j in js])
    return np.array(values)


def pvalue(own, null):
    pooled = [value for value in np.ravel(null) if not math.isnan(value)]
    return math.nan if math.isnan(own) else (1 + sum(value >= own for value in pooled)) / (1 + len(pooled))


# ---------------------------------------------------------------------------------------------------------------------
# the test for clusters


def integrals(rows):
    """Section 2.4, step 4: G_b against the average of the others, between all neighbouring values."""

    def share(row, y):
        return sum(value <= y for value in row) / len(row)

    places = sorted({value for row in rows for value in row})
    scores = []
    for b, row in enumerate(rows):
        others = [other for c, other in enumerate(rows) if c != b]
        pieces = [
            (right - left) * (share(row, left) - sum(share(other, left) for other in others) / len(others)) ** 2
            for left, right in itertools.pairwise(places)
        ]
        scores.append(math.fsum(pieces))
    return scores


def nearest_distances(X, power=2):
    X = np.asarray(X).tolist()
    return [min(math.dist(x, y) ** power for i, y in enumerate(X) if i != h) for h, x in enumerate(X)]
