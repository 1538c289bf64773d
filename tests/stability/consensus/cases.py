"""Clusterers, loops over points and assertions that several tests of consensus share."""

from __future__ import annotations

import dataclasses

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering

import clustrep as cr
from clustrep.errors import ParameterError
from clustrep.fitting.resample import Source

ROOT = 8
WARD = AgglomerativeClustering()


def slices(X, n_clusters=3):
    """Cut the points into so many parts by the rank of their first feature; equal points may be parted."""
    ranks = np.argsort(np.argsort(X[:, 0], kind="stable"), kind="stable")
    return ranks * n_clusters // len(X)


def two_or_three(X):
    """Three clusters where an odd number of the lowest points is there, else two."""
    return slices(X, 2 + (X[:, 0] < 0).sum() % 2)


def ward(X, n_clusters=3):
    return AgglomerativeClustering(n_clusters).fit_predict(X)


def far_is_noise(X):
    """Two clusters, and noise where the second feature is large."""
    return np.where(np.abs(X[:, 1]) > 1, -1, (X[:, 0] > np.median(X[:, 0])) * 1)


def scripted(*labelings):
    """A clusterer that says, fit by fit, what it is told to; an exception is raised."""
    script = iter(labelings)

    def told(X):
        labels = next(script)
        if isinstance(labels, Exception):
            raise labels
        return np.asarray(labels)

    return told


def induced(sample, labels, points):
    """Every point's label is that of the nearest training point, the first of equal ones."""
    result = []
    for point in points:
        nearest, at = 0, np.inf
        for i, other in enumerate(sample):
            distance = ((point - other) ** 2).sum()
            if distance < at:
                nearest, at = i, distance
        result.append(labels[nearest])
    return result


def draws(X, perturbation, n_resamples, second=False):
    study = X if isinstance(X, cr.Study) else cr.Study(X, "X")
    return [Source(perturbation, ROOT).draw(study, b + 1, second=second) for b in range(n_resamples)]


def relabelled(function, draw, **options):
    """Ψ(X; X⁽ᵇ⁾) and the rows of X⁽ᵇ⁾."""
    labels = function(draw.sample, **options)
    return induced(draw.sample, labels, draw.originals), np.flatnonzero(draw.weights)


def assert_same_results(one, other):
    assert type(one) is type(other)
    for field in dataclasses.fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
        else:
            assert a == b


def assert_saves_and_loads(result, path):
    result.save(path)
    loaded = cr.load(path)
    assert_same_results(loaded, result)
    assert repr(loaded) == repr(result)
    pd.testing.assert_frame_equal(loaded.to_frame(), result.to_frame())
    assert_arrays_are_read_only(result)
    assert_arrays_are_read_only(loaded)


def assert_arrays_are_read_only(result):
    some = [value for value in vars(result).values() if isinstance(value, np.ndarray)]
    assert some
    for value in some:
        assert not value.flags.writeable
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.clusterer = "other"


def assert_draws_on(ax, result):
    """`plot` draws on the axes given and opens no figure; without any it makes its own; settings stay."""
    before, numbers = dict(plt.rcParams), plt.get_fignums()
    assert result.plot(ax) is ax
    assert plt.get_fignums() == numbers
    assert result.plot() is not ax
    assert len(plt.get_fignums()) == len(numbers) + 1
    assert dict(plt.rcParams) == before
    with pytest.raises(ParameterError, match="ax must be a matplotlib Axes, got list"):
        result.plot([ax])


PERTURBATIONS = [
    cr.resampling.Subsample(0.5),
    cr.resampling.Bootstrap(),
    cr.resampling.Bootstrap(distinct=True),
    cr.resampling.Jitter(0.7),
]


def modal_by_sample(counts, reference):
    """The most frequent cluster: of several the sample's own, else the largest of the reference; −1 for none."""
    sizes = [list(reference).count(c) for c in range(counts.shape[1])]
    modal = []
    for own, row in zip(reference, counts.tolist(), strict=True):
        best = [c for c, count in enumerate(row) if count == max(row) > 0]
        modal.append(own if own in best else max(best, key=lambda c: sizes[c], default=-1))
    return modal


def consistency_by_sample(counts, totals, modal):
    """CRI, WCRI and TWCRI."""
    n_assigned, k = (totals > 0).sum(), counts.shape[1]
    cri, wcri = np.full(k, np.nan), np.full(k, np.nan)
    for c in range(k):
        own = [i for i in range(len(counts)) if modal[i] == c]
        if own:
            cri[c] = np.mean([counts[i].max() / totals[i] for i in own])
            wcri[c] = cri[c] * len(own) / n_assigned
    return cri, wcri, np.nansum(wcri)


def assert_assignments(result, i, counts, totals, reference):
    k = counts.shape[1]
    np.testing.assert_array_equal(result.counts[i, :, :k], counts)
    assert not result.counts[i, :, k:].any()
    np.testing.assert_array_equal(result.totals[i], totals)
    modal = modal_by_sample(counts, reference)
    cri, wcri, twcri = consistency_by_sample(counts, totals, modal)
    np.testing.assert_allclose(result.cri[i, :k], cri, rtol=1e-13)
    np.testing.assert_allclose(result.wcri[i, :k], wcri, rtol=1e-13)
    assert result.twcri[i] == pytest.approx(twcri, rel=1e-13)
    assert result.modal[i].tolist() == modal
    assert result.labels[i].tolist() == list(reference)
    sizes = [(result.modal[i] == c).sum() for c in range(result.counts.shape[2])]
    assert result.sizes[i].tolist() == sizes


VERBS = [cr.stability.bootstrap_instability, cr.stability.consensus, cr.stability.assignment_consistency]
