"""Perturbations as the resampling of runs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, KMeans
from tests.helpers import by_two, configured
from tests.resampling.cases import SINGLE, SUMS
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, ParameterError
from clustrep.fitting.parameters import Configuration
from clustrep.fitting.resample import Source
from clustrep.fitting.setting import Setting
from clustrep.resampling.strategies import check_resampling, whole

# ---------------------------------------------------------------------------------------------------------------------
# as the resampling of runs


@pytest.fixture(scope="module")
def cloud():
    rng = np.random.default_rng(4)
    centres = np.array([[0, 0], [2.2, 0], [0, 2.2]])
    return {name: centres[np.arange(21) % 3] + 0.8 * rng.normal(size=(21, 2)) for name in ("one", "two")}


ALLOWED = [
    cr.resampling.Bootstrap(distinct=True),
    cr.resampling.Jitter(0.3),
    cr.resampling.Jitter(0.2, relative=False),
    cr.resampling.Subsample(0.8) + cr.resampling.Jitter(0.2),
    cr.resampling.Bootstrap() + cr.resampling.Jitter(0.2),
]
allowed = pytest.mark.parametrize("resampling", ALLOWED, ids=repr)
DETERMINISTIC = {
    "ward": AgglomerativeClustering(3),
    "single": AgglomerativeClustering(3, linkage="single"),
    "dbscan": DBSCAN(eps=0.8, min_samples=3),
    "birch": Birch(threshold=0.3, n_clusters=3),
    "given centres": KMeans(3, init=np.array([[0.0, 0], [2, 0], [0, 2]]), n_init=1, tol=0),
}


@allowed
@pytest.mark.parametrize("name", DETERMINISTIC)
def test_shortcuts_change_no_score(name, resampling, cloud):
    fast, plain = (
        configured(cr.replicability, accelerate=accelerate)(
            DETERMINISTIC[name], cloud, n_resamples=4, resampling=resampling, rng=5
        )
        for accelerate in (True, False)
    )
    np.testing.assert_allclose(fast.distribution, plain.distribution, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(fast.failed, plain.failed)
    assert len(np.unique(fast.distribution)) > 2


@allowed
def test_local_scores_are_the_same_without_shortcuts(resampling, cloud):
    fast, plain = (
        configured(cr.local_replicability, accelerate=accelerate)(
            AgglomerativeClustering(3),
            train=cloud["one"],
            test=cloud["two"],
            n_resamples=3,
            resampling=resampling,
            rng=5,
        )
        for accelerate in (True, False)
    )
    np.testing.assert_allclose(fast.distribution, plain.distribution, rtol=0, atol=1e-12)
    assert fast.distribution.shape == (3, 21)


@allowed
def test_what_is_clustered_is_the_draw(resampling, cloud):
    seen = []

    def halves(X):
        seen.append(X.tolist())
        return (X[:, 0] > 1).astype(int)

    cr.replicability(halves, cloud, n_resamples=2, resampling=resampling, rng=5, diagonal=False)
    studies, source = [cr.Study(X, name) for name, X in cloud.items()], Source(resampling, 5)
    expected = [source.draw(study, b).sample.tolist() for b in range(3) for study in studies]
    assert sorted(seen) == sorted(expected)


@allowed
def test_a_clustering_function_is_that_of_the_draw(resampling, cloud):
    result = cr.replicability(AgglomerativeClustering(3), cloud, n_resamples=2, resampling=resampling, rng=5)
    draw = Source(resampling, 5).draw(cr.Study(cloud["two"], "two"), 2)
    function, points = result.clustering_function("two", 1), cloud["one"]
    labels = AgglomerativeClustering(3).fit_predict(draw.sample)
    nearest = [min(range(len(draw.sample)), key=lambda i: np.sum((point - draw.sample[i]) ** 2)) for point in points]
    assert cr.agreement.adjusted_rand_index(function(points), labels[nearest]) == 1


@pytest.mark.parametrize("run", ["replicability", "compare", "local_replicability"])
@pytest.mark.parametrize(
    "resampling",
    [cr.resampling.FeatureSubset(), cr.resampling.Subsample(0.5) + cr.resampling.FeatureSubset(0.5)],
    ids=repr,
)
def test_features_must_be_kept_across_studies(run, resampling, cloud):
    where = {"train": cloud["one"], "test": cloud["two"]} if run == "local_replicability" else {"studies": cloud}
    with pytest.raises(ParameterError) as caught:
        getattr(cr, run)(KMeans(2), **where, resampling=resampling)
    assert caught.value.parameter == "resampling"


@pytest.mark.parametrize(
    ("perturbation", "n", "p", "nothing"),
    [
        (cr.resampling.Rerun(), 10, 5, True),
        (cr.resampling.Subsample(1.0), 10, 5, True),
        (cr.resampling.Subsample(0.99), 100, 5, False),
        (cr.resampling.Subsample(0.3), 2, 5, True),  # two samples at least
        (cr.resampling.Subsample(0.3), 3, 5, False),
        (cr.resampling.FeatureSubset(1.0), 10, 5, True),
        (cr.resampling.FeatureSubset(0.3), 10, 1, True),
        (cr.resampling.FeatureSubset(0.9), 10, 2, False),
        (cr.resampling.Bootstrap(), 10, 5, False),
        (cr.resampling.Bootstrap(distinct=True), 10, 5, False),
        (cr.resampling.Jitter(), 10, 5, False),
        (cr.resampling.Rerun() + cr.resampling.Subsample(1.0), 10, 5, True),
        (cr.resampling.Rerun() + cr.resampling.Subsample(0.5), 10, 5, False),
        (cr.resampling.Jitter(0.1) + cr.resampling.Subsample(1.0), 10, 5, False),
    ],
    ids=str,
)
def test_a_perturbation_knows_when_it_changes_nothing(perturbation, n, p, nothing, rng):
    assert perturbation.changes_nothing(n, p) is nothing
    study = cr.Study(rng.normal(size=(n, p)), "vdx")
    draws = [perturbation.draw(study, np.random.default_rng(i)) for i in range(20)]
    same = [
        draw.sample.shape == study.X.shape
        and np.array_equal(np.sort(draw.sample, axis=None), np.sort(study.X, axis=None))
        for draw in draws
    ]
    assert all(same) is nothing


@pytest.mark.parametrize("resampling", [*SINGLE[:3], *SINGLE[4:], *SUMS[:3]], ids=repr)
def test_whatever_keeps_features_can_be_a_resampling(resampling):
    assert check_resampling(resampling) is resampling


def test_a_rerun_of_a_clusterer_without_randomness_changes_nothing(cloud):
    result = cr.replicability(AgglomerativeClustering(3), cloud, n_resamples=3, resampling=cr.resampling.Rerun(), rng=5)
    np.testing.assert_array_equal(result.distribution, np.broadcast_to(result.estimate, (3, 2, 2)))
    assert np.diag(result.estimate).tolist() == [1, 1]
    assert 0 < result.estimate[0, 1] < 1


def test_a_rerun_of_a_random_clusterer_shows_its_randomness(cloud):
    result = configured(cr.replicability, accelerate=False)(
        KMeans(5, n_init=1, init="random"), cloud, n_resamples=5, resampling=cr.resampling.Rerun(), rng=5
    )
    assert len(np.unique(result.distribution[:, 0, 1])) > 1


@pytest.mark.parametrize("scale", [1e-9, 0.05])
def test_a_little_noise_does_nothing_to_clusters_that_lie_apart(scale, rng):
    far = {name: np.repeat([[0.0, 0], [50, 0]], 8, axis=0) + rng.normal(size=(16, 2)) for name in ("one", "two")}
    result = cr.replicability(KMeans(2, n_init=2), far, n_resamples=5, resampling=cr.resampling.Jitter(scale), rng=0)
    assert np.all(result.distribution == 1)


def test_more_noise_lowers_the_score(cloud):
    means = [
        cr.replicability(
            KMeans(3, n_init=3), cloud, n_resamples=15, resampling=cr.resampling.Jitter(scale), rng=0, diagonal=False
        ).mean[0, 1]
        for scale in (0.05, 1.0)
    ]
    assert means[0] > means[1] + 0.1


def test_known_labels_travel_with_noisy_samples():
    """Far too little noise to change a nearest neighbour."""
    studies = {"one": np.arange(8.0).reshape(8, 1), "two": np.arange(8.0).reshape(8, 1) + 0.1}
    labels = {"one": list("aaaabbbb"), "two": list("xxxxxyyy")}
    noisy, still = (
        cr.replicability(None, studies, labels=labels, n_resamples=4, resampling=resampling, rng=0)
        for resampling in (cr.resampling.Jitter(1e-6), cr.resampling.Rerun())
    )
    np.testing.assert_array_equal(noisy.distribution, still.distribution)
    assert 0 < still.estimate[0, 1] < 1


@allowed
def test_a_longer_run_begins_with_the_shorter_one_and_other_studies_do_not_matter(resampling, cloud, rng):
    three = {"zero": rng.normal(size=(9, 2)), **cloud}
    short, long, more = (
        cr.replicability(KMeans(3, n_init=1), studies, n_resamples=n, resampling=resampling, rng=5)
        for studies, n in ((cloud, 2), (cloud, 4), (three, 2))
    )
    np.testing.assert_array_equal(long.distribution[:2], short.distribution)
    np.testing.assert_array_equal(more.distribution[:, 1:, 1:], short.distribution)


def test_workers_change_nothing(cloud):
    options = {"n_resamples": 6, "resampling": cr.resampling.Subsample(0.8) + cr.resampling.Jitter(0.2), "rng": 5}
    plain = cr.replicability(KMeans(3, n_init=1), cloud, **options)
    with by_two():
        parallel = cr.replicability(KMeans(3, n_init=1), cloud, **options)
    np.testing.assert_array_equal(parallel.distribution, plain.distribution)


def test_a_saved_result_tells_where_replicates_came_from(cloud, tmp_path):
    result = cr.replicability(
        KMeans(2, n_init=1),
        cloud,
        n_resamples=2,
        resampling=cr.resampling.Bootstrap(distinct=True) + cr.resampling.Jitter(0.2),
        rng=5,
    )
    result.save(tmp_path / "result.clustrep")
    back = cr.load(tmp_path / "result.clustrep")
    np.testing.assert_array_equal(back.distribution, result.distribution)
    assert back.provenance == result.provenance
    for part in ("Bootstrap(distinct=True)", "Jitter(scale=0.2, relative=True)"):
        assert part in back.provenance["resampling"]


def test_a_sum_is_written_in_a_result_as_users_write_it(cloud):
    resampling = cr.resampling.Subsample(0.8) + cr.resampling.Jitter(0.2)
    result = cr.replicability(KMeans(2, n_init=1), cloud, n_resamples=2, resampling=resampling, rng=5)
    assert result.provenance["resampling"] == repr(resampling)


# ---------------------------------------------------------------------------------------------------------------------
# more features than samples


WIDE = {
    name: 3 * np.random.default_rng(i).normal(size=(12, 200)) + np.arange(12)[:, None] % 3
    for i, name in enumerate(("one", "two"))
}


def rotations_of(resampling, clusterer):
    source = Source(resampling, 0)
    studies = tuple(cr.Studies(WIDE).values())
    return [learner.rotation for learner in Setting.prepare(source, studies, [Configuration("it", clusterer)]).learners]


@pytest.mark.parametrize(
    ("resampling", "rotates"),
    [
        (cr.resampling.Bootstrap(), True),
        (cr.resampling.Bootstrap(distinct=True), True),
        (cr.resampling.Rerun(), True),
        (cr.resampling.Subsample(0.8) + cr.resampling.Bootstrap(), True),
        (cr.resampling.Jitter(), False),
        (cr.resampling.Jitter(0.1, relative=False), False),
        (cr.resampling.Subsample(0.8) + cr.resampling.Jitter(), False),
        (cr.resampling.Jitter() + cr.resampling.Subsample(0.8), False),
        (cr.resampling.FeatureSubset(), False),
    ],
    ids=repr,
)
@pytest.mark.parametrize("clusterer", [KMeans(3, n_init=1), AgglomerativeClustering(3)], ids=["k-means", "ward"])
def test_noise_is_not_rotated(resampling, rotates, clusterer):
    assert [rotation is not None for rotation in rotations_of(resampling, clusterer)] == [rotates]


def test_what_is_not_known_to_keep_points_is_not_rotated():
    class Mine:
        def draw(self, study, rng):
            return whole(study)

    assert rotations_of(Mine(), AgglomerativeClustering(3)) == [None]


@pytest.mark.parametrize(
    "resampling",
    [
        cr.resampling.Jitter(0.5),
        cr.resampling.Subsample(0.8) + cr.resampling.Jitter(0.5),
        cr.resampling.Bootstrap(distinct=True),
    ],
    ids=repr,
)
@pytest.mark.parametrize("linkage", ["ward", "average"])
def test_scores_of_wide_studies_are_those_with_all_features(resampling, linkage):
    fast, plain = (
        configured(cr.replicability, accelerate=accelerate)(
            AgglomerativeClustering(3, linkage=linkage),
            WIDE,
            n_resamples=4,
            resampling=resampling,
            rng=5,
        )
        for accelerate in (True, False)
    )
    np.testing.assert_allclose(fast.distribution, plain.distribution, rtol=0, atol=1e-12)
    assert len(np.unique(fast.distribution)) > 3


# ---------------------------------------------------------------------------------------------------------------------
# fewer features and k-means


def shared_by_k_means(perturbation, study):
    setting = Setting.prepare(Source(perturbation, 0), (study,), [Configuration("it", KMeans(2))])
    sample = setting.resample(0, 1)
    return sample.draw, setting.learners[0].share(sample)


@pytest.mark.parametrize(
    "perturbation",
    [
        cr.resampling.Subsample(0.8),
        cr.resampling.Bootstrap(),
        cr.resampling.Jitter(),
        cr.resampling.FeatureSubset(0.4),
    ],
    ids=repr,
)
def test_the_tolerance_of_k_means_is_relative_to_the_mean_variance_of_the_features_drawn(perturbation, study):
    draw, shared = shared_by_k_means(perturbation, study)
    assert shared.variance == pytest.approx(draw.sample.var(axis=0).mean(), rel=1e-12)


@pytest.mark.parametrize(
    "accelerate",
    [True, False],
)
def test_given_centres_do_not_fit_fewer_features(accelerate, rng):
    """Here the shortcut fails in words of its own; below 16 features or so, its kernel reads beyond the points."""
    X = rng.normal(size=(60, 40))
    clusterer = KMeans(2, init=X[:2], n_init=1)
    with refused(AllReplicatesFailed):
        configured(cr.stability.stability, accelerate=accelerate)(
            clusterer,
            X,
            index="inclusion",
            perturbation=cr.resampling.FeatureSubset(0.5),
            n_resamples=2,
            rng=0,
        )
