"""Section 2.2 against plain loops: draw again, fit again, compare point by point and pair by pair."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from tests.helpers import configured
from tests.stability.by_hand import nearest_labels
from tests.stability.stability.cases import (
    INDICES,
    LINE,
    N_RESAMPLES,
    REFERENCE,
    SEED,
    WARD,
    N,
    X,
    assert_is_loop,
    equal,
    every,
    loop,
    random_labels,
    stable,
)

import clustrep as cr
from clustrep.fitting.resample import Source

PERTURBATIONS = {
    "bootstrap": cr.resampling.Bootstrap(),
    "distinct bootstrap": cr.resampling.Bootstrap(distinct=True),
    "subsample": cr.resampling.Subsample(0.7),
    "small subsample": cr.resampling.Subsample(0.27),
    "features": cr.resampling.FeatureSubset(0.5),
    "noise": cr.resampling.Jitter(),
    "absolute noise": cr.resampling.Jitter(0.9, relative=False),
    "subsample and noise": cr.resampling.Subsample(0.8) + cr.resampling.Jitter(0.5),
    "noise and bootstrap": cr.resampling.Jitter(0.5) + cr.resampling.Bootstrap(),
    "features and noise": cr.resampling.FeatureSubset(0.5) + cr.resampling.Jitter(0.3),
    "bootstrap and features": cr.resampling.Bootstrap() + cr.resampling.FeatureSubset(0.75),
}


# ---------------------------------------------------------------------------------------------------------------------
# every index under every perturbation


@every(PERTURBATIONS)
@pytest.mark.parametrize("relative", [False, True], ids=["", "relative"])
@pytest.mark.parametrize("index", INDICES)
def test_an_index_is_what_the_plain_loop_finds(index, relative, perturbation):
    expected = loop(WARD, X, index, perturbation, relative=relative)
    assert len(np.unique(expected[2])) > 1  # else this test could see little
    assert_is_loop(stable(WARD, X, index=index, relative=relative, perturbation=perturbation), expected)


def test_relative_does_nothing_to_an_index_that_is_a_share():
    for index in ("inclusion", "jaccard", "r"):
        one, other = (
            stable(WARD, X, index=index, perturbation=cr.resampling.Bootstrap(), relative=r) for r in (False, True)
        )
        equal(one, other)


@pytest.mark.parametrize("index", INDICES)
def test_without_shortcuts_the_values_are_the_same(index):
    labels = WARD.fit_predict(X)  # else clusters may be numbered in another order
    for perturbation in (
        cr.resampling.Bootstrap(),
        cr.resampling.Subsample(0.6) + cr.resampling.Jitter(0.3),
        cr.resampling.FeatureSubset(0.5),
    ):
        run = partial(stable, WARD, X, index=index, perturbation=perturbation, labels=labels)
        equal(configured(run, accelerate=True)(), configured(run, accelerate=False)())


@pytest.mark.parametrize("linkage", ["single", "complete", "average"])
def test_other_linkages_are_what_the_plain_loop_finds(linkage):
    clusterer = AgglomerativeClustering(4, linkage=linkage)
    for index in ("matching", "jaccard"):
        assert_is_loop(
            stable(clusterer, X, index=index, perturbation=cr.resampling.Bootstrap()),
            loop(clusterer, X, index, cr.resampling.Bootstrap()),
        )


def test_a_cluster_of_which_no_point_is_drawn_has_jaccard_0_and_no_other_value():
    perturbation = cr.resampling.Subsample(0.27)
    draws = [Source(perturbation, SEED).draw(cr.Study(X, "X"), b + 1) for b in range(20)]
    reference = WARD.fit_predict(X)
    missing = np.array([[not (reference[draw.order] == c).any() for c in range(3)] for draw in draws])
    assert missing.any()
    run = {index: stable(WARD, X, index=index, perturbation=perturbation, n_resamples=20) for index in INDICES[1:]}
    assert (run["jaccard"].distribution[missing] == 0).all()
    assert (run["jaccard"].distribution[~missing] > 0).all()
    for index in ("inclusion", "d"):
        np.testing.assert_array_equal(np.isnan(run[index].distribution), missing)
    assert np.isnan(run["r"].distribution[missing]).all()
    assert np.isfinite(run["d"].overall_distribution).all()


def test_a_bootstrap_with_copies_is_compared_on_each_point_once():
    """Otherwise Jaccard and R would see copies: pairs that can't be apart."""
    copies, once = (stable(WARD, X, index="r", perturbation=cr.resampling.Bootstrap(distinct=d)) for d in (False, True))
    weighted = []
    for b in range(N_RESAMPLES):
        draw = Source(cr.resampling.Bootstrap(), SEED).draw(cr.Study(X, "X"), b + 1)
        new = nearest_labels(X, draw.sample, WARD.fit_predict(draw.sample).tolist())
        weighted.append(np.nan_to_num(cr.agreement.r_index(WARD.fit_predict(X), new, weights=draw.weights)))
    assert not np.allclose(np.nan_to_num(copies.distribution), weighted)
    assert not np.array_equal(copies.distribution, once.distribution)


def test_matching_asks_about_points_that_were_not_drawn_and_have_no_noise():
    """Values beyond the number of drawn points show that all of X is compared."""
    result = stable(WARD, X, index="matching", perturbation=cr.resampling.Subsample(0.27), n_resamples=20)
    assert result.distribution.max() > int(0.27 * N)
    assert (result.distribution == np.rint(result.distribution)).all()


# ---------------------------------------------------------------------------------------------------------------------
# by hand


def says(*labels):
    """A clusterer that knows what to say of the points 0, 1, 2, …"""
    return lambda X: np.array(labels)[X[:, 0].astype(int)]


BY_HAND = {
    "matching": (None, 2.0),
    "inclusion": ([0.0, 0.0], 0.0),
    "jaccard": ([3 / 4, 1 / 2], 4 / 6),
    "r": ([1 / 2, 0.0], 3 / 7),
    "d": ([1.0, 1.0], 2.0),  # of the two blocks that overlap b by one point, the smaller one counts
}


@pytest.mark.parametrize("index", INDICES)
def test_four_and_two_points_by_hand(index):
    result = stable(
        says(0, 0, 0, 1, 1, 2), LINE, labels=REFERENCE, index=index, perturbation=cr.resampling.Rerun(), n_resamples=2
    )
    per_cluster, overall = BY_HAND[index]
    assert result.overall == pytest.approx(overall)
    if per_cluster is not None:
        np.testing.assert_allclose(result.distribution, [per_cluster] * 2)
        assert result.distribution.shape == (2, 2)
    else:
        assert result.distribution.tolist() == [2.0, 2.0]
    assert result.labels.tolist() == REFERENCE
    assert result.clusters.tolist() == ["a", "b"]
    assert result.sizes.tolist() == [4, 2]


def test_relative_values_by_hand():
    run = partial(
        stable, says(0, 0, 0, 1, 1, 2), LINE, labels=REFERENCE, perturbation=cr.resampling.Rerun(), relative=True
    )
    np.testing.assert_allclose(run(index="d").per_cluster, [1 / 4, 1 / 2])
    assert run(index="d").overall == pytest.approx(2 / 6)
    assert run(index="matching").overall == pytest.approx(2 / 6)


def test_inclusion_is_averaged_by_size_not_by_cluster():
    result = stable(
        says(0, 0, 0, 0, 0, 1), LINE, labels=REFERENCE, index="inclusion", perturbation=cr.resampling.Rerun()
    )
    assert result.per_cluster.tolist() == [1, 0]
    assert result.overall == pytest.approx(4 / 6)


def test_a_label_without_a_partner_counts_as_a_mismatch():
    def distance(*labels):
        return cr.stability.stability(
            says(*labels), LINE, index="matching", labels=REFERENCE, perturbation=cr.resampling.Rerun()
        ).overall

    assert distance(0, 0, 0, 0, 0, 0) == 2  # fewer
    assert distance(0, 1, 2, 3, 4, 5) == 4  # more
    assert distance(7, 7, 7, 7, 3, 3) == 0


def test_well_separated_clusters_are_always_found_again():
    far = np.concatenate([X + 100 * i for i in range(3)])
    for index, perfect in zip(INDICES, [0, 1, 1, 1, 0], strict=True):
        result = stable(
            WARD, far, index=index, perturbation=cr.resampling.Jitter(0.01) if index in ("r", "d") else None
        )
        assert result.overall == perfect
        assert (result.distribution == perfect).all()


def test_pairs_stay_together_under_random_labels_as_often_as_theory_says():
    points = np.arange(40.0)[:, None]
    result = stable(
        random_labels,
        points,
        labels=[0] * 25 + [1] * 15,
        index="r",
        perturbation=cr.resampling.Rerun(),
        n_resamples=400,
    )
    for values in (*result.distribution.T, result.overall_distribution):
        assert abs(values.mean() - 1 / 4) < 4 * values.std() / math.sqrt(400)
        assert values.std() > 0  # every resample has a seed of its own


def test_the_matching_distance_of_a_random_coin_is_that_of_a_folded_binomial():
    n = 9
    result = stable(
        partial(random_labels, n_labels=2),
        np.arange(float(n))[:, None],
        labels=[0] * n,
        index="matching",
        perturbation=cr.resampling.Rerun(),
        n_resamples=500,
    )
    expected = sum(math.comb(n, i) * min(i, n - i) for i in range(n + 1)) / 2**n
    assert abs(result.overall - expected) < 4 * result.sd / math.sqrt(500)


# ---------------------------------------------------------------------------------------------------------------------
# defaults


@pytest.mark.parametrize(
    ("index", "default"),
    [
        ("matching", cr.resampling.Subsample(0.8)),
        ("inclusion", cr.resampling.FeatureSubset(0.8)),
        ("jaccard", cr.resampling.Bootstrap(distinct=True)),
        ("r", cr.resampling.Jitter(math.sqrt(0.5))),
        ("d", cr.resampling.Jitter(math.sqrt(0.5))),
    ],
)
def test_each_index_has_the_perturbation_that_it_was_proposed_with(index, default):
    result = stable(WARD, X, index=index)
    equal(result, stable(WARD, X, index=index, perturbation=default))
    assert repr(default) in repr(result)
    assert result.provenance["resampling"] == repr(default)


def test_jaccard_is_the_default_with_a_hundred_resamples():
    result = cr.stability.stability(WARD, X, rng=SEED)
    assert result.index == "jaccard"
    assert not result.relative
    assert result.distribution.shape == (100, 3)
    assert result.provenance["n_resamples"] == 100


def test_default_noise_has_half_the_variance_of_each_feature():
    study = cr.Study(X * [1, 10, 100, 0.1], "X")
    draws = [Source(cr.resampling.Jitter(), SEED).draw(study, b + 1) for b in range(300)]
    noise = np.concatenate([draw.points - draw.originals for draw in draws])
    np.testing.assert_allclose(noise.var(axis=0), study.X.var(axis=0, ddof=1) / 2, rtol=0.1)
