"""Section 2.2 against plain loops: draw again, fit again, compare point by point and pair by pair."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from tests.helpers import configured

import clustrep as cr
from clustrep.clustering.sample import Source
from clustrep.errors import AllReplicatesFailed, DataError, ParameterError, ReplicateWarning

SEED = 11
N_RESAMPLES = 6
NOISE = -1
INDICES = ["matching", "inclusion", "jaccard", "r", "d"]
WARD = AgglomerativeClustering(3)


def blurred(n=15, p=4):
    """Three clusters that run into each other: of different sizes, and not the same in every resample."""
    rng = np.random.default_rng(5)
    centres = rng.normal(scale=1.5, size=(3, p))
    return centres[np.arange(n) % 5 // 2] + rng.normal(size=(n, p))


X = blurred()
N = len(X)
PERTURBATIONS = {
    "bootstrap": cr.Bootstrap(),
    "distinct bootstrap": cr.Bootstrap(distinct=True),
    "subsample": cr.Subsample(0.7),
    "small subsample": cr.Subsample(0.27),
    "features": cr.FeatureSubset(0.5),
    "noise": cr.Jitter(),
    "absolute noise": cr.Jitter(0.9, relative=False),
    "subsample and noise": cr.Subsample(0.8) + cr.Jitter(0.5),
    "noise and bootstrap": cr.Jitter(0.5) + cr.Bootstrap(),
    "features and noise": cr.FeatureSubset(0.5) + cr.Jitter(0.3),
    "bootstrap and features": cr.Bootstrap() + cr.FeatureSubset(0.75),
}


def every(mapping):
    return pytest.mark.parametrize("perturbation", mapping.values(), ids=mapping.keys())


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    plt.close("all")


# ---------------------------------------------------------------------------------------------------------------------
# the plain loop


def nearest_labels(points, training_points, labels):
    found = []
    for point in points:
        distances = [sum((a - b) ** 2 for a, b in zip(point, other, strict=True)) for other in training_points]
        found.append(labels[distances.index(min(distances))])
    return found


def matching_distance(u, v):
    """Equation (3): over all one-to-one maps of the labels, those without a partner included."""
    a, b = sorted(set(u)), sorted(set(v))
    partners = b + [f"none {i}" for i in range(len(a) - len(b))]
    return min(
        sum(dict(zip(a, chosen, strict=True))[x] != y for x, y in zip(u, v, strict=True))
        for chosen in itertools.permutations(partners, len(a))
    )


def blocks(labels, points):
    return {label: {i for i in points if labels[i] == label} for label in {labels[i] for i in points}}


def by_hand(index, reference, new, points, clusters, relative=False):
    """One value for each cluster, and the one for all, from sets of points."""
    if index == "matching":
        u, v = [reference[i] for i in points], [new[i] for i in points]
        return [], matching_distance(u, v) / (len(points) if relative else 1)
    new_blocks = list(blocks(new, points).values())
    values, numerators, denominators = [], [], []
    for cluster in clusters:
        own = {i for i in points if reference[i] == cluster}
        size = list(reference).count(cluster)
        if index == "jaccard":
            value = max((len(own & block) / len(own | block) for block in new_blocks), default=0.0)
            numerators.append(size * value)
            denominators.append(size)
        elif index == "inclusion":
            value = float(any(own <= block for block in new_blocks)) if own else math.nan
            numerators.append(size * value if own else 0)
            denominators.append(size if own else 0)
        elif index == "r":
            pairs = list(itertools.combinations(sorted(own), 2))
            together = sum(new[i] == new[j] for i, j in pairs)
            value = together / len(pairs) if pairs else math.nan
            numerators.append(together)
            denominators.append(len(pairs))
        else:
            value = math.nan
            if own:
                _, _, best = min((-len(own & block), len(block), i) for i, block in enumerate(new_blocks))
                value = len(new_blocks[best] - own) + len(own - new_blocks[best])
                numerators.append(value)
                denominators.append(len(own))
                value /= len(own) if relative else 1
        values.append(value)
    if index == "d":
        return values, sum(numerators) / (sum(denominators) if relative else 1)
    return values, sum(numerators) / sum(denominators) if sum(denominators) else math.nan


def loop(
    clusterer,
    X,
    index,
    perturbation,
    *,
    relative=False,
    reference=None,
    noise="label",
    n=N_RESAMPLES,
    name="X",
    seed=SEED,
):
    """Stability as section 2.2 tells it: (n_resamples, k) and (n_resamples,)."""
    study = cr.Study(X, name)
    source = Source(perturbation, seed)
    reference = list(clone(clusterer).fit_predict(X)) if reference is None else list(reference)
    clusters = [label for label in sorted(set(reference)) if noise == "label" or label != NOISE]
    per_cluster, overall = [], []
    for b in range(n):
        draw = source.draw(study, b + 1)
        learned = clone(clusterer).fit_predict(draw.sample).tolist()
        if index == "matching":
            points, new = range(len(X)), nearest_labels(draw.originals, draw.sample, learned)
        else:
            points, new = sorted(set(draw.order.tolist())), nearest_labels(draw.points, draw.sample, learned)
        if noise == "drop":
            points = [i for i in points if reference[i] != NOISE and new[i] != NOISE]
        values, for_all = by_hand(index, reference, new, points, clusters, relative)
        per_cluster.append(values)
        overall.append(for_all)
    return reference, np.array(per_cluster, dtype=float), np.array(overall, dtype=float)


def mean_of(values):
    """Column by column, without what is missing."""
    columns = [[value for value in column if not math.isnan(value)] for column in np.transpose(values)]
    return [sum(column) / len(column) if column else math.nan for column in columns]


def assert_is_loop(result, expected):
    """Compare; shortcuts may number the clusters of the reference in another order than scikit-learn."""
    reference, per_cluster, overall = expected
    names = set(zip(result.labels.tolist(), reference, strict=True))
    assert len(names) == len(set(reference)) == len(set(result.labels.tolist()))  # the same partition
    kept = sorted({label for _, label in names if per_cluster.shape[1] == len(names) or label != NOISE})
    if result.index != "matching":
        per_cluster = per_cluster[:, [kept.index(dict(names)[cluster]) for cluster in result.clusters.tolist()]]
    np.testing.assert_allclose(result.overall_distribution, overall, rtol=1e-12, atol=0)
    if result.index == "matching":
        np.testing.assert_array_equal(result.distribution, result.overall_distribution)
    else:
        np.testing.assert_allclose(result.distribution, per_cluster, rtol=1e-12, atol=0)
        np.testing.assert_allclose(result.per_cluster, mean_of(per_cluster), rtol=1e-12)
    np.testing.assert_allclose(result.overall, mean_of(overall[:, None])[0], rtol=1e-12)


stable = partial(cr.stability, rng=SEED, n_resamples=N_RESAMPLES)


def equal(one, other):
    np.testing.assert_array_equal(one.distribution, other.distribution)
    np.testing.assert_array_equal(one.overall_distribution, other.overall_distribution)
    np.testing.assert_array_equal(one.labels, other.labels)


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
        one, other = (stable(WARD, X, index=index, perturbation=cr.Bootstrap(), relative=r) for r in (False, True))
        equal(one, other)


@pytest.mark.parametrize("index", INDICES)
def test_without_shortcuts_the_values_are_the_same(index):
    labels = WARD.fit_predict(X)  # else clusters may be numbered in another order
    for perturbation in (cr.Bootstrap(), cr.Subsample(0.6) + cr.Jitter(0.3), cr.FeatureSubset(0.5)):
        run = partial(stable, WARD, X, index=index, perturbation=perturbation, labels=labels)
        equal(configured(run, accelerate=True)(), configured(run, accelerate=False)())


@pytest.mark.parametrize("linkage", ["single", "complete", "average"])
def test_other_linkages_are_what_the_plain_loop_finds(linkage):
    clusterer = AgglomerativeClustering(4, linkage=linkage)
    for index in ("matching", "jaccard"):
        assert_is_loop(
            stable(clusterer, X, index=index, perturbation=cr.Bootstrap()),
            loop(clusterer, X, index, cr.Bootstrap()),
        )


def test_a_cluster_of_which_no_point_is_drawn_has_jaccard_0_and_no_other_value():
    perturbation = cr.Subsample(0.27)
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
    copies, once = (stable(WARD, X, index="r", perturbation=cr.Bootstrap(distinct=d)) for d in (False, True))
    weighted = []
    for b in range(N_RESAMPLES):
        draw = Source(cr.Bootstrap(), SEED).draw(cr.Study(X, "X"), b + 1)
        new = nearest_labels(X, draw.sample, WARD.fit_predict(draw.sample).tolist())
        weighted.append(np.nan_to_num(cr.r_index(WARD.fit_predict(X), new, weights=draw.weights)))
    assert not np.allclose(np.nan_to_num(copies.distribution), weighted)
    assert not np.array_equal(copies.distribution, once.distribution)


def test_matching_asks_about_points_that_were_not_drawn_and_have_no_noise():
    """Values beyond the number of drawn points show that all of X is compared."""
    result = stable(WARD, X, index="matching", perturbation=cr.Subsample(0.27), n_resamples=20)
    assert result.distribution.max() > int(0.27 * N)
    assert (result.distribution == np.rint(result.distribution)).all()


# ---------------------------------------------------------------------------------------------------------------------
# by hand


LINE = np.arange(6.0)[:, None]


def says(*labels):
    """A clusterer that knows what to say of the points 0, 1, 2, …"""
    return lambda X: np.array(labels)[X[:, 0].astype(int)]


REFERENCE = ["a", "a", "a", "a", "b", "b"]
BY_HAND = {
    "matching": (None, 2.0),
    "inclusion": ([0.0, 0.0], 0.0),
    "jaccard": ([3 / 4, 1 / 2], 4 / 6),
    "r": ([1 / 2, 0.0], 3 / 7),
    "d": ([1.0, 1.0], 2.0),  # of the two blocks that overlap b by one point, the smaller one counts
}


@pytest.mark.parametrize("index", INDICES)
def test_four_and_two_points_by_hand(index):
    result = stable(says(0, 0, 0, 1, 1, 2), LINE, labels=REFERENCE, index=index, perturbation=cr.Rerun(), n_resamples=2)
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
    run = partial(stable, says(0, 0, 0, 1, 1, 2), LINE, labels=REFERENCE, perturbation=cr.Rerun(), relative=True)
    np.testing.assert_allclose(run(index="d").per_cluster, [1 / 4, 1 / 2])
    assert run(index="d").overall == pytest.approx(2 / 6)
    assert run(index="matching").overall == pytest.approx(2 / 6)


def test_inclusion_is_averaged_by_size_not_by_cluster():
    result = stable(says(0, 0, 0, 0, 0, 1), LINE, labels=REFERENCE, index="inclusion", perturbation=cr.Rerun())
    assert result.per_cluster.tolist() == [1, 0]
    assert result.overall == pytest.approx(4 / 6)


def test_a_label_without_a_partner_counts_as_a_mismatch():
    def distance(*labels):
        return cr.stability(says(*labels), LINE, index="matching", labels=REFERENCE, perturbation=cr.Rerun()).overall

    assert distance(0, 0, 0, 0, 0, 0) == 2  # fewer
    assert distance(0, 1, 2, 3, 4, 5) == 4  # more
    assert distance(7, 7, 7, 7, 3, 3) == 0


def test_well_separated_clusters_are_always_found_again():
    far = np.concatenate([X + 100 * i for i in range(3)])
    for index, perfect in zip(INDICES, [0, 1, 1, 1, 0], strict=True):
        result = stable(WARD, far, index=index, perturbation=cr.Jitter(0.01) if index in ("r", "d") else None)
        assert result.overall == perfect
        assert (result.distribution == perfect).all()


def random_labels(X, random_state=None, n_labels=4):
    return np.random.default_rng(random_state).integers(n_labels, size=len(X))


def test_pairs_stay_together_under_random_labels_as_often_as_theory_says():
    points = np.arange(40.0)[:, None]
    result = stable(
        random_labels, points, labels=[0] * 25 + [1] * 15, index="r", perturbation=cr.Rerun(), n_resamples=400
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
        perturbation=cr.Rerun(),
        n_resamples=500,
    )
    expected = sum(math.comb(n, i) * min(i, n - i) for i in range(n + 1)) / 2**n
    assert abs(result.overall - expected) < 4 * result.sd / math.sqrt(500)


# ---------------------------------------------------------------------------------------------------------------------
# defaults


@pytest.mark.parametrize(
    ("index", "default"),
    [
        ("matching", cr.Subsample(0.8)),
        ("inclusion", cr.FeatureSubset(0.8)),
        ("jaccard", cr.Bootstrap(distinct=True)),
        ("r", cr.Jitter(math.sqrt(0.5))),
        ("d", cr.Jitter(math.sqrt(0.5))),
    ],
)
def test_each_index_has_the_perturbation_that_it_was_proposed_with(index, default):
    result = stable(WARD, X, index=index)
    equal(result, stable(WARD, X, index=index, perturbation=default))
    assert repr(default) in repr(result)
    assert result.provenance["resampling"] == repr(default)


def test_jaccard_is_the_default_with_a_hundred_resamples():
    result = cr.stability(WARD, X, rng=SEED)
    assert result.index == "jaccard"
    assert not result.relative
    assert result.distribution.shape == (100, 3)
    assert result.provenance["n_resamples"] == 100


def test_default_noise_has_half_the_variance_of_each_feature():
    study = cr.Study(X * [1, 10, 100, 0.1], "X")
    draws = [Source(cr.Jitter(), SEED).draw(study, b + 1) for b in range(300)]
    noise = np.concatenate([draw.points - draw.originals for draw in draws])
    np.testing.assert_allclose(noise.var(axis=0), study.X.var(axis=0, ddof=1) / 2, rtol=0.1)


# ---------------------------------------------------------------------------------------------------------------------
# existing labels


@pytest.mark.parametrize("index", INDICES)
def test_existing_labels_take_the_place_of_the_clusterers(index):
    labels = np.arange(N) % 4
    for relative in (False, True):
        result = stable(WARD, X, index=index, labels=labels, perturbation=cr.Bootstrap(), relative=relative)
        assert_is_loop(result, loop(WARD, X, index, cr.Bootstrap(), reference=labels.tolist(), relative=relative))
        assert result.labels.tolist() == labels.tolist()
        assert result.provenance["labels"] == "known"


def test_the_clusterers_own_labels_as_existing_ones_change_nothing():
    for index in INDICES:
        equal(stable(WARD, X, index=index), stable(WARD, X, index=index, labels=WARD.fit_predict(X)))
    assert stable(WARD, X).provenance["labels"] == "the clusterer's"


def test_the_names_of_existing_labels_do_not_matter():
    numbers = np.arange(N) % 3
    text = np.array(["LumB", "Basal", "Her2"])[numbers]  # sorted: Basal, Her2, LumB
    for index in INDICES:
        one, other = (stable(WARD, X, index=index, labels=labels) for labels in (numbers, text))
        np.testing.assert_allclose(one.overall_distribution, other.overall_distribution, rtol=1e-12)
        if index != "matching":
            np.testing.assert_array_equal(one.distribution[:, [1, 2, 0]], other.distribution)
        assert other.clusters.tolist() == ["Basal", "Her2", "LumB"]


def test_labels_may_be_a_series_by_sample_name_or_the_studys_own():
    names = [f"patient {i}" for i in range(N)]
    labels = np.array(["b", "a", "c"])[np.arange(N) % 3]
    study = cr.Study(X, "X", samples=names, labels=labels)
    series = pd.Series(labels, index=names).sample(frac=1, random_state=0)
    assert series.index.tolist() != names
    plain = stable(WARD, X, labels=labels)
    equal(plain, stable(WARD, study, labels=True))
    equal(plain, stable(WARD, study, labels=series))
    equal(plain, stable(WARD, study, labels=list(labels)))
    assert stable(WARD, study, labels=series).samples == tuple(names)
    # and without labels=, a study's own labels are none of the clusterer's business
    equal(stable(WARD, X), stable(WARD, study))


def test_a_cluster_of_one_has_no_pairs():
    labels = [0] * 8 + [1] * (N - 9) + [2]
    result = stable(WARD, X, index="r", labels=labels)
    assert np.isnan(result.distribution[:, 2]).all()
    assert np.isnan(result.per_cluster[2])
    assert np.isfinite(result.overall)
    assert math.isnan(result.to_frame()["mean"][2])
    assert "NaN" in repr(result)
    assert len(result.plot().get_xticklabels()) == 3


def test_one_cluster_can_not_be_lost():
    one = AgglomerativeClustering(1)
    for index, perfect in zip(INDICES, [0, 1, 1, 1, 0], strict=True):
        assert stable(one, X, index=index).overall == perfect


# ---------------------------------------------------------------------------------------------------------------------
# noise


SCATTERED = np.concatenate([X, [[9.0] * 4, [-9.0] * 4]])
DENSITY = DBSCAN(eps=2.2, min_samples=3)


WITH_POINTS_LEFT = {
    "bootstrap": cr.Bootstrap(),
    "subsample": cr.Subsample(0.7),
    "noise": cr.Jitter(0.2),
    "subsample and noise": cr.Subsample(0.8) + cr.Jitter(0.1),
    "features": cr.FeatureSubset(0.5),
}


@every(WITH_POINTS_LEFT)
@pytest.mark.parametrize("noise", ["label", "drop"])
def test_noise_is_a_cluster_or_left_out_where_either_side_has_it(noise, perturbation):
    reference = DENSITY.fit_predict(SCATTERED)
    assert len(set(reference.tolist())) >= 3  # noise, and two clusters
    assert NOISE in reference
    for index, relative in [("matching", True), ("matching", False), *((i, False) for i in INDICES[1:]), ("d", True)]:
        result = stable(
            DENSITY, SCATTERED, index=index, noise=noise, perturbation=perturbation, relative=relative, n_resamples=4
        )
        assert_is_loop(result, loop(DENSITY, SCATTERED, index, perturbation, noise=noise, relative=relative, n=4))
        assert (NOISE in result.clusters) == (noise == "label")
        assert len(result.clusters) == len(result.sizes)
        assert result.sizes.sum() == (len(SCATTERED) if noise == "label" else (reference != NOISE).sum())
        assert result.provenance["noise"] == noise
    np.testing.assert_array_equal(result.labels, reference)  # noise or not


def test_noise_is_a_cluster_by_default():
    equal(stable(DENSITY, SCATTERED), stable(DENSITY, SCATTERED, noise="label"))


def test_noise_in_existing_labels_is_dropped_too():
    labels = [NOISE] * 3 + [0] * 6 + [1] * (N - 9)
    for index in INDICES:
        result = stable(WARD, X, index=index, labels=labels, noise="drop", perturbation=cr.Bootstrap())
        assert_is_loop(result, loop(WARD, X, index, cr.Bootstrap(), reference=labels, noise="drop"))
        assert result.clusters.tolist() == [0, 1]


@pytest.mark.parametrize("index", ["matching", "d"])
def test_a_resample_in_which_all_is_noise_is_a_failure_and_not_perfect(index):
    labels = np.arange(N) % 2
    with pytest.raises(AllReplicatesFailed):  # DBSCAN calls every point noise
        stable(DBSCAN(eps=1e-9, min_samples=2), X, index=index, labels=labels, noise="drop")


@pytest.mark.parametrize("index", ["jaccard", "matching"])
def test_a_study_that_is_all_noise_has_no_clusters_to_speak_of(index):
    with pytest.raises((AllReplicatesFailed, DataError), match="noise"):
        repr(stable(DBSCAN(eps=1e-9, min_samples=2), X, index=index, noise="drop"))


# ---------------------------------------------------------------------------------------------------------------------
# resamples that fail


def missing_first_point(X):
    if not (LINE[0] == X).all(axis=1).any():
        raise ValueError("where is the first point?\nA second line.")
    return (X[:, 0] > 2).astype(int)


@pytest.mark.parametrize("index", INDICES)
def test_a_clusterer_may_fail_sometimes(index):
    perturbation = cr.Subsample(0.7)
    draws = [Source(perturbation, SEED).draw(cr.Study(LINE, "X"), b + 1).order.tolist() for b in range(12)]
    failing = np.array([0 not in order for order in draws])
    assert 1 < failing.sum() < 12
    message = f"{failing.sum()} resamples of 12 failed and were omitted: ValueError: where is the first point"
    with pytest.warns(ReplicateWarning, match=message):
        result = stable(missing_first_point, LINE, index=index, perturbation=perturbation, n_resamples=12)
    np.testing.assert_array_equal(np.isnan(result.overall_distribution), failing)
    np.testing.assert_array_equal(np.isnan(result.distribution.reshape(12, -1)).all(axis=1), failing)
    np.testing.assert_array_equal(result.failed > 0, failing)
    assert result.failures == {"ValueError: where is the first point?": failing.sum()}
    assert f"Failed: {failing.sum()} resamples: ValueError: where is the first point?" in repr(result)
    assert "second line" not in repr(result)
    if index != "matching":  # one cut through the middle: the others are perfect, on the points drawn
        assert result.overall == (0 if index == "d" else 1)
    frame = result.to_frame()
    assert np.isfinite(frame["mean"]).all()
    result.plot()


def test_what_failed_takes_no_part_in_mean_median_and_counts():
    with pytest.warns(ReplicateWarning):
        result = stable(missing_first_point, LINE, perturbation=cr.Subsample(0.7), n_resamples=12)
    n_left = 12 - sum(result.failures.values())
    assert result.recovered().tolist() == [n_left] * 2
    assert result.dissolved().tolist() == [0, 0]
    assert result.median.tolist() == [1, 1]
    assert result.per_cluster.tolist() == [1, 1]


def test_a_draw_with_fewer_distinct_points_than_clusters_fails():
    few = X[:5]
    source = Source(cr.Bootstrap(), SEED)
    n_distinct = [len(set(source.draw(cr.Study(few, "X"), b + 1).order.tolist())) for b in range(20)]
    n_failing = sum(n < 4 for n in n_distinct)
    assert 1 < n_failing < 20
    for accelerate in (True, False):
        with pytest.warns(ReplicateWarning, match=f"^{n_failing} resamples of 20 failed"):
            result = configured(stable, accelerate=accelerate)(
                AgglomerativeClustering(4), few, perturbation=cr.Bootstrap(), n_resamples=20
            )
        assert result.failures == {"more clusters asked for than there are distinct points": n_failing}
        np.testing.assert_array_equal(np.isnan(result.overall_distribution), np.array(n_distinct) < 4)


def lazy(X, n_clusters=2):
    """One cluster only where the first point is missing."""
    return (X[:, 0] > 2).astype(int) * int((LINE[0] == X).any())


def test_fewer_clusters_than_asked_for_is_a_failure():
    draws = [Source(cr.Subsample(0.7), SEED).draw(cr.Study(LINE, "X"), b + 1).order for b in range(12)]
    n_failing = sum(0 not in order for order in draws)
    with pytest.warns(ReplicateWarning, match=rf"fewer clusters than asked for \({n_failing}\)"):
        result = stable(lazy, LINE, perturbation=cr.Subsample(0.7), n_resamples=12)
    assert result.failures == {"fewer clusters than asked for": n_failing}


def test_one_failure_is_said_in_the_singular():
    seen = []

    def once(X):
        seen.append(len(X))
        if len(seen) == 3:
            raise RuntimeError
        return (X[:, 0] > 2).astype(int)

    with pytest.warns(ReplicateWarning, match=r"^1 resample of 6 failed and was omitted: RuntimeError \(1\)\.$"):
        result = stable(once, LINE, perturbation=cr.Rerun())
    assert np.flatnonzero(result.failed).tolist() == [1]


def small_only(X):
    if len(X) < 6:
        raise ValueError("too small")
    return (X[:, 0] > 2).astype(int)


def test_everything_failing_raises():
    with pytest.raises(
        AllReplicatesFailed, match="Not one resample could be scored; 6 resamples failed: ValueError: too"
    ):
        stable(small_only, LINE, perturbation=cr.Subsample(0.5))


@pytest.mark.parametrize("clusterer", [AgglomerativeClustering(20), KMeans(20)])
def test_a_clusterer_that_fails_on_the_study_itself_raises(clusterer):
    message = (
        r", k = 20 failed on the data as they are, .*: more clusters asked for than there are distinct points\. "
        r"Leave that number out\.$"
    )
    with pytest.raises(AllReplicatesFailed, match=message):
        stable(clusterer, X)


def test_existing_labels_need_no_fit_to_the_study_itself():
    seen = []

    def recorded(X):
        seen.append(len(X))
        return (X[:, 0] > 2).astype(int)

    stable(recorded, LINE, labels=REFERENCE, perturbation=cr.Subsample(0.5))
    assert seen == [3] * N_RESAMPLES
    stable(recorded, LINE, perturbation=cr.Subsample(0.5))
    assert sorted(seen[N_RESAMPLES:]) == [3] * N_RESAMPLES + [6]


# ---------------------------------------------------------------------------------------------------------------------
# when nothing varies


@pytest.mark.parametrize(
    "perturbation",
    [
        cr.Rerun(),
        cr.FeatureSubset(1.0),
        cr.FeatureSubset(1),
        cr.Subsample(1.0),
        cr.Subsample(1) + cr.FeatureSubset(1.0),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "clusterer", [WARD, KMeans(3, n_init=1, random_state=0), DENSITY], ids=lambda c: type(c).__name__
)
def test_a_perturbation_that_changes_nothing_is_warned_about(clusterer, perturbation):
    with pytest.warns(
        ReplicateWarning, match=r"changes nothing here, and \w+ has no randomness of its own, or a fixed"
    ):
        result = stable(clusterer, X, perturbation=perturbation)
    assert (result.distribution == 1).all()


@pytest.mark.parametrize("perturbation", [cr.Rerun(), cr.FeatureSubset(1.0)], ids=repr)
@pytest.mark.parametrize("clusterer", [KMeans(5, n_init=1), GaussianMixture(3)], ids=lambda c: type(c).__name__)
def test_a_clusterers_own_randomness_is_enough(clusterer, perturbation):
    result = stable(clusterer, X, index="jaccard", perturbation=perturbation, n_resamples=10)
    assert len(np.unique(result.overall_distribution)) > 1


def test_all_features_are_the_same_as_a_rerun():
    kmeans = KMeans(5, n_init=1)
    equal(stable(kmeans, X, perturbation=cr.Rerun()), stable(kmeans, X, perturbation=cr.FeatureSubset(1.0)))


def test_a_rerun_is_compared_with_what_the_clusterer_said():
    said = []

    def recorded(X, random_state=None):
        said.append(random_labels(X, random_state, n_labels=3))
        return said[-1]

    for index in INDICES:
        said.clear()
        result = stable(recorded, X, index=index, perturbation=cr.Rerun())
        reference, *new = (labels.tolist() for labels in said)
        values = [by_hand(index, reference, one, range(N), sorted(set(reference))) for one in new]
        assert_is_loop(result, (reference, np.array([v for v, _ in values]), np.array([both[1] for both in values])))
        assert result.labels.tolist() == reference


@pytest.mark.parametrize(
    ("table", "perturbation"),
    [
        (X, cr.FeatureSubset(1.0) + cr.Rerun()),
        (X, cr.Rerun() + cr.Rerun()),
        (X[:, :1], cr.FeatureSubset(0.8)),  # the default of "inclusion", with one feature
        (X[:, :1], None),
    ],
)
def test_nothing_varies_in_a_sum_of_nothings_or_with_a_single_feature(table, perturbation):
    with pytest.warns(ReplicateWarning, match="changes nothing"):
        stable(WARD, table, index="inclusion", perturbation=perturbation)


def test_a_share_that_is_all_of_two_points_changes_nothing():
    with pytest.warns(ReplicateWarning, match=r"Subsample\(fraction=0\.8\) changes nothing here"):
        stable(AgglomerativeClustering(2), X[:2], index="matching")
    result = stable(AgglomerativeClustering(2), X[:3], index="matching", perturbation=cr.Subsample(0.8))
    assert len(result.distribution) == N_RESAMPLES


def test_all_samples_are_enough_where_something_else_varies():
    for perturbation in (cr.Subsample(1.0) + cr.Jitter(2.0), cr.Jitter(2.0) + cr.Subsample(1.0)):
        assert len(np.unique(stable(WARD, X, perturbation=perturbation).overall_distribution)) > 1
    assert len(stable(KMeans(5, n_init=1), X, perturbation=cr.Subsample(1.0)).distribution) == N_RESAMPLES


@pytest.mark.parametrize("p", [4, 60])  # with many features some settings work in fewer coordinates
def test_the_reference_is_the_same_whatever_the_perturbation(p):
    table = blurred(p=p)
    for clusterer in (KMeans(5, n_init=1), AgglomerativeClustering(5)):
        plain = stable(clusterer, table, perturbation=cr.Subsample(0.8)).labels
        for perturbation in (cr.Bootstrap(), cr.Jitter(), cr.FeatureSubset(0.5)):
            equal_labels = stable(clusterer, table, index="inclusion", perturbation=perturbation).labels
            np.testing.assert_array_equal(equal_labels, plain)
        np.testing.assert_array_equal(cr.in_group_proportion(table, clusterer=clusterer, rng=SEED).labels, plain)


# ---------------------------------------------------------------------------------------------------------------------
# laws


def test_the_same_seed_gives_the_same_values_and_another_does_not():
    one = stable(WARD, X)
    equal(one, stable(WARD, X))
    assert not np.array_equal(one.distribution, stable(WARD, X, rng=SEED + 1).distribution)
    generated = [stable(WARD, X, rng=np.random.default_rng(3)) for _ in range(2)]
    equal(*generated)
    equal(stable(WARD, X, rng=generated[0].provenance["seed"]), generated[0])


@pytest.mark.parametrize("index", ["jaccard", "matching"])
def test_a_longer_run_begins_with_the_shorter_one(index):
    kmeans = KMeans(3, n_init=2)
    short, long = (stable(kmeans, X, index=index, n_resamples=n) for n in (4, 9))
    np.testing.assert_array_equal(long.distribution[:4], short.distribution)
    np.testing.assert_array_equal(long.overall_distribution[:4], short.overall_distribution)


def test_workers_and_batches_change_nothing():
    kmeans = KMeans(3, n_init=2)
    one = stable(kmeans, X)
    equal(one, configured(stable, progress=False)(kmeans, X))
    equal(one, stable(kmeans, X, n_jobs=2))


def test_a_table_is_a_study_named_x():
    frame = pd.DataFrame(X, columns=list("abcd"))
    one = stable(WARD, X)
    for same in (cr.Study(X, "X"), frame, X.tolist()):
        equal(one, stable(WARD, same))
    assert not np.array_equal(one.distribution, stable(WARD, cr.Study(X, "mainz")).distribution)
    assert_is_loop(
        stable(WARD, cr.Study(X, "mainz"), perturbation=cr.Bootstrap()),
        loop(WARD, X, "jaccard", cr.Bootstrap(), name="mainz"),
    )


def test_indices_of_one_perturbation_see_the_same_fits():
    """A cluster that is included has R index 1; one with D index 0 has Jaccard 1."""
    run = {i: stable(WARD, X, index=i, perturbation=cr.Jitter(), n_resamples=20).distribution for i in INDICES[1:]}
    np.testing.assert_array_equal(run["inclusion"] == 1, run["r"] == 1)
    np.testing.assert_array_equal(run["d"] == 0, run["jaccard"] == 1)


def test_single_precision_is_the_same_table():
    single = X.astype(np.float32)
    equal(
        stable(WARD, single, perturbation=cr.Bootstrap()),
        stable(WARD, single.astype(float), perturbation=cr.Bootstrap()),
    )


def test_duplicate_points_are_compared_one_by_one():
    twice = np.repeat(X, 2, axis=0)
    for index in INDICES:
        assert_is_loop(
            stable(WARD, twice, index=index, perturbation=cr.Subsample(0.7)),
            loop(WARD, twice, index, cr.Subsample(0.7)),
        )


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("index", INDICES)
def test_a_handful_of_points_is_enough(index, n):
    two = AgglomerativeClustering(2)
    perturbation = cr.Subsample(1.0) + cr.Jitter()
    result = stable(two, X[:n], index=index, perturbation=perturbation)
    assert_is_loop(result, loop(two, X[:n], index, perturbation))
    assert "Stability" in repr(result)


def test_two_points_in_two_clusters_have_no_r_index():
    with pytest.warns(ReplicateWarning, match=r"Subsample\(fraction=1\.0\) changes nothing here"):
        result = stable(AgglomerativeClustering(2), X[:2], index="r", perturbation=cr.Subsample(1.0))
    assert np.isnan(result.distribution).all()
    assert math.isnan(result.overall)


def test_constant_features_are_in_nobodys_way():
    with_constant = np.column_stack([X, np.full(N, 7.0)])
    for index in ("jaccard", "matching"):
        equal(
            stable(WARD, X, index=index, perturbation=cr.Bootstrap()),
            stable(WARD, with_constant, index=index, perturbation=cr.Bootstrap()),
        )
    assert_is_loop(stable(WARD, with_constant, index="r"), loop(WARD, with_constant, "r", cr.Jitter()))


def test_more_features_than_points_are_what_the_plain_loop_finds():
    wide = np.random.default_rng(1).normal(size=(12, 60)) + np.repeat([0, 0.4], 6)[:, None]
    for perturbation in (cr.Bootstrap(distinct=True), cr.FeatureSubset(0.1)):
        for index in ("matching", "jaccard"):
            assert_is_loop(
                stable(WARD, wide, index=index, perturbation=perturbation), loop(WARD, wide, index, perturbation)
            )


# ---------------------------------------------------------------------------------------------------------------------
# the result


@pytest.fixture(scope="module")
def jaccard():
    return stable(
        WARD, X, n_resamples=12, perturbation=cr.Subsample(0.6), labels=np.array(["A", "B", "C"])[np.arange(N) % 3]
    )


def with_values(result, values):
    """The same result with a distribution written by hand."""
    values = np.array(values, dtype=float)
    return replace(result, distribution=values, overall_distribution=values.mean(axis=1))


def test_dissolved_is_at_most_a_half_and_recovered_is_above_three_quarters(jaccard):
    values = [[0.5, 0.75, np.nan], [0.500001, 0.750001, 1.0], [0.0, 0.74, 0.2]]
    result = with_values(jaccard, values)
    assert result.dissolved().tolist() == [2, 0, 1]
    assert result.recovered().tolist() == [0, 1, 1]
    assert result.dissolved(0.2).tolist() == [1, 0, 1]
    assert result.recovered(0.5).tolist() == [1, 3, 1]
    frame = result.to_frame()
    assert frame["dissolved"].tolist() == [2, 0, 1]
    assert frame["recovered"].tolist() == [0, 1, 1]


@pytest.mark.parametrize("index", [index for index in INDICES if index != "jaccard"])
def test_clusters_dissolve_and_recover_by_jaccard_alone(index):
    result = stable(WARD, X, index=index)
    for count in (result.dissolved, result.recovered):
        with pytest.raises(
            ParameterError, match=rf'Clusters dissolve and recover by index="jaccard" alone, not by .{index}'
        ):
            count()
    assert not {"dissolved", "recovered"} & set(result.to_frame().columns)


def test_words_say_whose_labels_are_found_again(jaccard):
    start = (
        "Stability of known labels, found again by AgglomerativeClustering, k = 3: Jaccard coefficient, 12 resamples"
    )
    assert repr(jaccard).startswith(start)
    assert repr(stable(WARD, X)).startswith(
        "Stability of AgglomerativeClustering, k = 3: Jaccard coefficient, 6 resamples"
    )


def test_arguments_the_wrong_way_round_are_refused():
    with pytest.raises(
        ParameterError, match="X must be a table of samples by features, got KMeans: are the arguments the"
    ):
        cr.stability(X, KMeans(2))
    with pytest.raises(
        ParameterError, match="X must be a table of samples by features, got KMeans: are the arguments the"
    ):
        cr.sensitivity(X, KMeans(2))
    with pytest.raises(ParameterError, match=r"X must be one study or table, got dict: pick one, studies\[name\]"):
        cr.stability(WARD, {"a": X})


def test_known_labels_of_numbered_rows_are_put_in_order():
    labels = pd.Series(np.arange(N) % 3)
    equal(stable(WARD, X, labels=labels.sample(frac=1, random_state=1)), stable(WARD, X, labels=labels.to_numpy()))


def test_summaries_are_over_resamples(jaccard):
    result = with_values(jaccard, [[0.0, 0.1, 1.0], [1.0, 0.3, 1.0], [0.5, 0.8, 1.0]])
    np.testing.assert_allclose(result.per_cluster, [0.5, 0.4, 1.0])
    np.testing.assert_allclose(result.median, [0.5, 0.3, 1.0])
    np.testing.assert_allclose(result.sd, [0.5, math.sqrt(0.26 / 2), 0])
    np.testing.assert_allclose(result.quantile(0.25), [0.25, 0.2, 1.0])
    low, high = result.confidence_interval(0.5)
    np.testing.assert_allclose(low, [0.25, 0.2, 1.0])
    np.testing.assert_allclose(high, [0.75, 0.55, 1.0])
    frame = result.to_frame(0.5)
    np.testing.assert_allclose(
        frame[["mean", "sd", "median", "low", "high"]].to_numpy()[0], [0.5, 0.5, 0.5, 0.25, 0.75]
    )


def test_the_frame_has_a_row_for_every_cluster(jaccard):
    frame = jaccard.to_frame()
    assert frame.columns.tolist() == [
        "cluster",
        "size",
        "mean",
        "sd",
        "median",
        "low",
        "high",
        "dissolved",
        "recovered",
    ]
    assert frame["cluster"].tolist() == ["A", "B", "C"]
    assert frame["size"].tolist() == [5, 5, 5]
    for index in ("inclusion", "r", "d"):
        columns = stable(WARD, X, index=index).to_frame().columns.tolist()
        assert columns == ["cluster", "size", "mean", "sd", "median", "low", "high"]


def test_the_matching_distance_has_one_row_and_nothing_per_cluster():
    result = stable(WARD, X, index="matching")
    frame = result.to_frame()
    assert frame["cluster"].tolist() == ["all"]
    assert frame["size"].tolist() == [N]
    assert frame["mean"].tolist() == [result.overall]
    with pytest.raises(AttributeError, match="one number for the whole partition: see overall"):
        result.per_cluster  # noqa: B018
    assert not hasattr(result, "per_cluster")
    assert "All clusters" not in repr(result)


@pytest.mark.parametrize("index", INDICES)
def test_a_result_survives_its_file(index, tmp_path):
    result = stable(
        WARD,
        cr.Study(X, "X", samples=[f"s{i}" for i in range(N)]),
        index=index,
        relative=True,
        labels=["x", "y", "z"] * 5,
    )
    result.save(tmp_path / "stability.clustrep")
    loaded = cr.load(tmp_path / "stability.clustrep")
    assert type(loaded) is type(result)
    equal(loaded, result)
    assert repr(loaded) == repr(result)
    assert loaded.provenance == result.provenance
    assert loaded.samples == result.samples
    assert loaded.relative is True
    pd.testing.assert_frame_equal(loaded.to_frame(), result.to_frame())
    with pytest.raises(ValueError, match="read-only"):
        loaded.distribution[0] = 0


def test_failures_survive_their_file(tmp_path):
    with pytest.warns(ReplicateWarning):
        result = stable(missing_first_point, LINE, perturbation=cr.Subsample(0.7), n_resamples=12)
    result.save(tmp_path / "x")
    assert cr.load(tmp_path / "x").failures == result.failures
    assert cr.load(tmp_path / "x").n_clusters is None


def test_arrays_are_read_only(jaccard):
    for name in ("labels", "clusters", "sizes", "distribution", "overall_distribution", "failed"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(jaccard, name)[0] = 0
    labels = np.arange(N) % 3
    stable(WARD, X, labels=labels)
    labels[0] = 2  # the user's own are left alone


def test_repr_says_what_was_done():
    text = repr(stable(WARD, X, index="d", relative=True))
    assert text.startswith("Stability of AgglomerativeClustering, k = 3: D index, relative, 6 resamples by Jitter(")
    assert f"seed {SEED}" in text
    assert "All clusters: " in text
    one = repr(stable(WARD, X, index="r", relative=True, n_resamples=1))
    assert "R index, 1 resample by" in one  # a share is relative by itself
    assert "Stability of DBSCAN: Jaccard coefficient" in repr(stable(DENSITY, SCATTERED))


def test_a_sum_is_shown_as_a_sum():
    result = stable(WARD, X, perturbation=cr.Subsample(0.8) + cr.Rerun())
    assert "Subsample(fraction=0.8) + Rerun()" in repr(result)


@pytest.mark.parametrize("index", INDICES)
def test_plot_draws_onto_the_axes_given(index):
    result = stable(WARD, X, index=index, relative=True)
    _, (left, right) = plt.subplots(1, 2)
    assert result.plot(right) is right
    assert not left.has_data()
    assert right.has_data()
    names = ["all"] if index == "matching" else ["0", "1", "2"]
    assert [text.get_text() for text in right.get_xticklabels()] == names
    drawn = {tuple(line.get_ydata()) for line in right.lines}
    for column in result.distribution.reshape(N_RESAMPLES, -1).T:
        assert tuple(column) in drawn
    assert ("relative" in right.get_ylabel()) == (index in ("matching", "d"))
    words = [text.get_text() for text in right.texts]
    assert words == (["dissolved", "recovered"] if index == "jaccard" else [])


def test_plot_makes_axes_of_its_own(jaccard):
    assert jaccard.plot().figure is not None
    with pytest.raises(ParameterError, match="ax must be a matplotlib Axes, got str"):
        jaccard.plot("here")


# ---------------------------------------------------------------------------------------------------------------------
# sensitivity


curve_of = partial(cr.sensitivity, rng=SEED, n_resamples=N_RESAMPLES)


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("index", INDICES)
def test_a_curve_is_the_stability_at_every_scale(index, relative):
    scales = [0.05, 0.6, 1.5]
    curve = curve_of(WARD, X, index=index, scales=scales, relative=relative)
    for i, scale in enumerate(scales):
        one = stable(WARD, X, index=index, perturbation=cr.Jitter(scale), relative=relative)
        np.testing.assert_array_equal(curve.distribution[:, i], one.distribution)
        np.testing.assert_array_equal(curve.overall_distribution[:, i], one.overall_distribution)
        assert curve.overall[i] == one.overall
        if index != "matching":
            np.testing.assert_array_equal(curve.per_cluster[i], one.per_cluster)
    assert_is_loop(one, loop(WARD, X, index, cr.Jitter(1.5), relative=relative))
    assert len(np.unique(curve.overall)) > 1
    np.testing.assert_array_equal(curve.labels, one.labels)
    np.testing.assert_array_equal(curve.sizes, one.sizes)
    assert curve.distribution.shape == (N_RESAMPLES, 3) if index == "matching" else (N_RESAMPLES, 3, 3)


def test_a_resample_has_the_same_noise_at_every_scale():
    one, other = (Source(cr.Jitter(scale), SEED).draw(cr.Study(X, "X"), 1) for scale in (0.1, 1.0))
    np.testing.assert_allclose((one.points - X) * 10, other.points - X, rtol=1e-6, atol=1e-9)


def test_the_study_itself_is_clustered_once_for_all_scales():
    seen = []

    def recorded(X):
        seen.append(np.array(X))
        return (X[:, 0] > 0).astype(int)

    curve_of(recorded, X, scales=[0.1, 0.2, 0.3])
    assert len(seen) == 1 + 3 * N_RESAMPLES
    np.testing.assert_array_equal(seen[0], X)


def test_r_is_the_default_index_over_six_scales():
    curve = curve_of(WARD, X)
    assert curve.index == "r"
    assert curve.scales.tolist() == [0.1, 0.2, 0.3, 0.5, 0.7, 1.0]
    assert cr.sensitivity(WARD, X, scales=[0.1], rng=0).distribution.shape == (100, 1, 3)


def test_more_noise_makes_clusters_less_stable():
    apart = np.repeat([[0.0, 0.0], [3.0, 0.0]], 15, axis=0)
    curve = curve_of(AgglomerativeClustering(2), apart + blurred(30, 2) / 4, scales=np.array([0.01, 0.5, 3.0]))
    assert curve.overall[0] == 1
    assert (np.diff(curve.overall) < 0).all()


def test_existing_labels_noise_and_a_tuple_of_scales():
    labels = [NOISE] * 3 + [0] * 6 + [1] * (N - 9)
    curve = curve_of(WARD, X, index="d", labels=labels, noise="drop", scales=(0.3,))
    expected = loop(WARD, X, "d", cr.Jitter(0.3), reference=labels, noise="drop")
    np.testing.assert_allclose(curve.distribution[:, 0], expected[1])
    assert curve.clusters.tolist() == [0, 1]
    assert curve.provenance["labels"] == "known"


def test_the_frame_of_a_curve_has_a_row_for_every_scale_and_cluster():
    curve = curve_of(WARD, X, scales=[0.2, 0.9], labels=["A", "B", "C"] * 5)
    frame = curve.to_frame(0.5)
    assert frame.columns.tolist() == ["scale", "cluster", "size", "mean", "sd", "low", "high"]
    assert frame["scale"].tolist() == [0.2] * 4 + [0.9] * 4
    assert frame["cluster"].tolist() == ["A", "B", "C", "all"] * 2
    assert frame["size"].tolist() == [5, 5, 5, N] * 2
    row = frame[(frame["scale"] == 0.9) & (frame["cluster"] == "B")].iloc[0]
    values = curve.distribution[:, 1, 1]
    expected = [values.mean(), values.std(ddof=1), *np.quantile(values, [0.25, 0.75])]
    np.testing.assert_allclose(row[["mean", "sd", "low", "high"]].to_numpy(dtype=float), expected)
    np.testing.assert_allclose(frame["mean"][3::4], curve.overall)


def test_the_matching_distance_of_a_curve_has_one_row_for_every_scale():
    curve = curve_of(WARD, X, index="matching", scales=[0.2, 0.9])
    assert curve.to_frame()["cluster"].tolist() == ["all", "all"]
    np.testing.assert_allclose(curve.to_frame()["mean"], curve.overall)
    with pytest.raises(AttributeError, match="one number for the whole partition"):
        curve.per_cluster  # noqa: B018
    assert len(curve.plot().lines) == 1
    assert "minimal matching distance" in repr(curve)


def test_a_curve_survives_its_file(tmp_path):
    for index in ("matching", "d"):
        curve = curve_of(WARD, X, index=index, scales=[0.2, 0.9], relative=True)
        curve.save(tmp_path / index)
        loaded = cr.load(tmp_path / index)
        equal(loaded, curve)
        assert repr(loaded) == repr(curve)
        assert loaded.provenance == curve.provenance
        pd.testing.assert_frame_equal(loaded.to_frame(), curve.to_frame())
        with pytest.raises(ValueError, match="read-only"):
            loaded.scales[0] = 0


def test_repr_of_a_curve_has_a_row_for_every_scale():
    text = repr(curve_of(WARD, X, index="d", relative=True, scales=[0.25, 0.875]))
    assert text.startswith(
        "Sensitivity of AgglomerativeClustering to noise: D index, relative, mean of 6 resamples, seed"
    )
    assert "0.250" in text
    assert "0.875" in text


def test_plot_of_a_curve_draws_onto_the_axes_given():
    curve = curve_of(WARD, X, scales=[0.2, 0.9])
    _, (left, right) = plt.subplots(1, 2)
    assert curve.plot(right) is right
    assert not left.has_data()
    np.testing.assert_array_equal([line.get_ydata() for line in right.lines], [*curve.per_cluster.T, curve.overall])
    assert all(line.get_xdata().tolist() == [0.2, 0.9] for line in right.lines)
    assert [text.get_text() for text in right.get_legend().get_texts()] == [
        "cluster 0",
        "cluster 1",
        "cluster 2",
        "all",
    ]


@pytest.mark.parametrize(("scales", "labels"), [([0.1, 0.1], None), ([0.1, 0.2], ["all", "some", "none"] * 5)])
def test_every_curve_can_be_shown_or_is_refused(scales, labels):
    try:
        curve = curve_of(WARD, X, scales=scales, labels=labels)
    except ParameterError:
        return
    repr(curve)


def jumpy(X):
    """Fails where the points are scattered widely."""
    if np.ptp(X) > 15:
        raise ValueError("too wide")
    return (X[:, 0] > X[:, 0].mean()).astype(int)


def test_failures_of_a_curve_are_counted_at_every_scale():
    with pytest.warns(ReplicateWarning, match="resamples? of 40 failed"):
        curve = cr.sensitivity(jumpy, X, scales=[0.01, 1.3], n_resamples=20, rng=SEED)
    assert curve.failed.shape == (20, 2)
    assert curve.failed[:, 0].sum() == 0
    np.testing.assert_array_equal(np.isnan(curve.overall_distribution), curve.failed > 0)
    assert 0 < curve.failed[:, 1].sum() < 20


def test_a_scale_at_which_everything_fails_leaves_the_others():
    with pytest.warns(ReplicateWarning):
        curve = curve_of(jumpy, X, scales=[0.01, 50.0])
    assert np.isfinite(curve.overall[0])
    assert np.isnan(curve.overall[1])


# ---------------------------------------------------------------------------------------------------------------------
# what is refused


@pytest.mark.parametrize("measure", [cr.stability, cr.sensitivity])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"index": "jacard"}, r"index must be one of 'matching', .*; got 'jacard'\. Did you mean 'jaccard'\?"),
        ({"index": None}, "index must be one of"),
        ({"index": ["r", "d"]}, "index must be one of"),
        ({"n_resamples": 0}, "n_resamples must be a positive integer, got 0"),
        ({"n_resamples": 2.5}, r"n_resamples must be a positive integer, got 2\.5"),
        ({"relative": "yes"}, "relative must be True or False, got 'yes'"),
        ({"noise": "singletons"}, "noise must be one of 'label', 'drop'; got 'singletons'"),
        ({"labels": True}, "labels is True, but study 'X' has no known labels"),
        ({"rng": -1}, "rng must be a non-negative integer"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_a_bad_parameter_is_named(measure, arguments, message):
    with pytest.raises(ParameterError, match=message):
        measure(WARD, X, **arguments)


@pytest.mark.parametrize("measure", [cr.stability, cr.sensitivity])
def test_a_bad_clusterer_or_study_is_refused(measure):
    with pytest.raises(ParameterError, match="a clusterer must find the clusters again, also those in labels"):
        measure(None, X)
    with pytest.raises(ParameterError, match="a clusterer must find the clusters again, also those in labels"):
        measure(None, X, labels=np.arange(N) % 2)
    with pytest.raises(ParameterError, match=r"write KMeans\(\)"):
        measure(KMeans, X)
    with pytest.raises(ParameterError, match=r"X must be one study or table, got Studies: pick one, studies\[name\]"):
        measure(WARD, cr.Studies({"a": X, "b": X}))
    with pytest.raises(DataError, match="one-dimensional"):
        measure(WARD, X[:, 0])
    with pytest.raises(DataError, match="missing value"):
        measure(WARD, np.where(np.arange(4) == 2, np.nan, X))


@pytest.mark.parametrize("measure", [cr.stability, cr.sensitivity])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1], "labels of study 'X' must have one label for every point of study 'X': 15; got 2"),
        ([0, None] * 7 + [1], "7 missing labels, the first at position 2"),
        (np.linspace(0, 1, N), "labels are names, not measurements"),
        (np.zeros((N, 1)), "one-dimensional"),
        ("aaaaabbbbbccccc", "must be a sequence of labels"),
        (False, "must be a sequence of labels"),
    ],
)
def test_bad_labels_are_refused(measure, labels, message):
    with pytest.raises(DataError, match=message):
        measure(WARD, X, labels=labels)


@pytest.mark.parametrize("perturbation", ["bootstrap", cr.Bootstrap, 0.8, cr.Simulate(lambda study, rng: study.X)])
def test_a_perturbation_must_change_the_studys_own_samples(perturbation):
    with pytest.raises(ParameterError, match=r"perturbation must be Bootstrap\(\), .* or a sum such as"):
        stable(WARD, X, perturbation=perturbation)


@pytest.mark.parametrize(
    ("scales", "message"),
    [
        ([], r"scales must be a sequence of numbers, at least one; got \[\]"),
        (0.5, r"scales must be a sequence of numbers, at least one; got 0\.5"),
        ("0.5", "scales must be a sequence of numbers"),
        ({0.1, 0.2}, "scales must be a sequence of numbers"),
        ([0.1, 0], "scales must be a number above 0, got 0"),
        ([0.1, -1], "scales must be a number above 0, got -1"),
        ([np.inf], "scales must be a number above 0, got inf"),
        ([np.nan], "scales must be a number above 0, got nan"),
        ([True], "scales must be a number above 0, got True"),
        (["much"], "scales must be a number above 0, got 'much'"),
    ],
)
def test_scales_are_numbers_above_0(scales, message):
    with pytest.raises(ParameterError, match=message):
        curve_of(WARD, X, scales=scales)


def test_confidence_levels_and_quantiles_lie_between_0_and_1(jaccard):
    with pytest.raises(ParameterError, match="confidence_level must be a number strictly between 0 and 1, got 95"):
        jaccard.to_frame(95)
    with pytest.raises(ParameterError, match="q must be a number from 0 to 1"):
        jaccard.quantile(2)
    with pytest.raises(ParameterError, match="confidence_level must be a number strictly between 0 and 1, got 1"):
        curve_of(WARD, X, scales=[0.1]).to_frame(1)
