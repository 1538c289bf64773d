"""Known clusters in one study, sample by sample: which of them it has, and where it lies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import chi2

from clustrep.findings.placement import INSIDE, Located, _em, locate, refine

CENTRES = np.array([[0.0, 0], [7, 0], [0, 8]])
UNKNOWN = np.full((3, 2), np.nan)


def samples(rng, counts, centres=CENTRES):
    labels = np.repeat(np.arange(len(counts)), counts)
    return centres[labels] + rng.normal(size=(len(labels), 2)), labels


def test_a_study_with_all_clusters_keeps_them(rng):
    X, labels = samples(rng, [30, 20, 10])
    placed = refine(X, CENTRES, UNKNOWN)
    np.testing.assert_array_equal(placed.labels, labels)
    assert placed.n_groups == 3
    assert placed.merged == frozenset()
    nearest = ((X[:, None] - CENTRES) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(placed.labels, nearest)


def test_a_cluster_without_samples_is_left_out(rng):
    X, labels = samples(rng, [40, 0, 40])
    placed = refine(X, CENTRES, UNKNOWN)
    np.testing.assert_array_equal(placed.labels, labels)
    assert placed.n_groups == 2
    assert 1 not in placed.labels


@pytest.mark.parametrize(("n", "group"), [(3, -1), (4, 1)])
def test_a_cluster_needs_four_samples(rng, n, group):
    X, _ = samples(rng, [50, n, 50])
    assert refine(X, CENTRES, UNKNOWN).group[1] == group


def test_two_places_with_a_filled_middle_are_merged(rng):
    X = rng.normal(size=(300, 2)) * [4, 1]
    placed = refine(X, np.array([[-3.0, 0], [3, 0]]), np.full((2, 2), np.nan))
    assert placed.n_groups == 1
    assert placed.merged == {frozenset({0, 1})}
    np.testing.assert_array_equal(placed.labels, X[:, 0] > 0)  # samples belong to the nearest place


def test_own_clusters_stay_though_their_places_are_elsewhere(rng):
    X, labels = samples(rng, [30, 30, 30])
    places = CENTRES + np.array([[0, 0], [0, 12], [0, 0]])
    own = np.array([X[labels == c].mean(axis=0) for c in range(3)])
    np.testing.assert_array_equal(refine(X, places, own).labels, labels)


@pytest.mark.parametrize(("shift", "scale"), [((0.0, 0.0), 1.0), ((20.0, -7.0), 1.0), ((5.0, 5.0), 2.0)])
def test_shift_scale_and_shares_are_found(rng, shift, scale):
    X, labels = samples(rng, [60, 90, 50])
    X = np.array(shift) + scale * X
    starts = [(X[labels == c].mean(axis=0) + 0.3, CENTRES[c]) for c in range(3)]
    found = locate(X, CENTRES, starts)
    np.testing.assert_allclose(found.shift, shift, atol=0.5)
    assert found.scale == pytest.approx(scale, rel=0.1)
    np.testing.assert_allclose(found.shares, [0.3, 0.45, 0.25, 0.0], atol=0.02)


def test_a_shift_must_pay(rng):
    X, _ = samples(rng, [40, 40, 40])
    found = locate(X + 0.05, CENTRES, [(X.mean(axis=0), CENTRES.mean(axis=0))])
    np.testing.assert_array_equal(found.shift, [0, 0])
    assert found.scale == 1


def test_the_likelihood_by_hand(rng):
    X, _ = samples(rng, [5, 3, 2])
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    shift, scale = np.array([1.0, -2.0]), 1.3
    start = Located(-np.inf, shift, scale, shares)
    terms = [
        np.log(share) - 0.5 * ((X - shift - scale * centre) ** 2).sum(axis=1) / scale**2 - 2 * np.log(scale)
        for share, centre in zip(shares[:3], CENTRES, strict=True)
    ]
    terms.append(np.full(len(X), np.log(0.1) - 0.5 * chi2.ppf(INSIDE, 2)))
    likelihood = logsumexp(terms, axis=0).sum()
    (fixed,) = _em(X, CENTRES, [start], 1, free=False)
    assert fixed.bic == pytest.approx(likelihood)
    np.testing.assert_allclose(fixed.shares.sum(), 1)
    (free,) = _em(X, CENTRES, [start], 1, free=True)
    assert free.bic == pytest.approx(likelihood - 0.5 * (2 + 2) * np.log(10))  # two of the shift, two of the scale


def test_steps_do_not_lower_the_likelihood(rng):
    X, _ = samples(rng, [40, 20, 40])
    start = Located(-np.inf, np.array([1.5, 1.0]), 1.0, np.full(4, 0.25))
    values = [_em(X, CENTRES, [start], steps, free=True)[0].bic for steps in range(1, 15)]
    assert (np.diff(values) >= -1e-9).all()


def test_starts_are_fitted_together_as_one_by_one(rng, monkeypatch):
    X, _ = samples(rng, [40, 20, 40])
    starts = [Located(-np.inf, rng.normal(size=2), scale, np.full(4, 0.25)) for scale in (1.0, 0.5, 2.0) * 4]
    together = _em(X, CENTRES, starts, 20, free=True)
    monkeypatch.setattr("clustrep.findings.placement.WEIGHTS_TOGETHER", 1)
    for one, other in zip(_em(X, CENTRES, starts, 20, free=True), together, strict=True):
        np.testing.assert_allclose(one.bic, other.bic)
        np.testing.assert_allclose(one.shift, other.shift, atol=1e-9)
        np.testing.assert_allclose(one.scale, other.scale)
