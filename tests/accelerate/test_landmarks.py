"""Landmarks in place of samples: what is exact about them, how near scores come, and what a result says of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, HDBSCAN, AgglomerativeClustering, BisectingKMeans, KMeans
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.helpers import by_two, configured
from tests.sentences import refused

import clustrep as cr
from clustrep.accelerate import trees
from clustrep.accelerate.landmarks import cell_means, leading_axes, uniform
from clustrep.agreement.agreements import resolve_agreements
from clustrep.algorithms.replicability import ScorePlan
from clustrep.errors import DataError, OtherRun, ParameterError
from clustrep.execution.seeds import FULL_STUDY
from clustrep.fitting.function import takes_nearest
from clustrep.fitting.parameters import Configuration
from clustrep.fitting.resample import LandmarkDraw, Source
from clustrep.fitting.setting import Setting
from clustrep.report.words import methods_of
from clustrep.resampling.strategies import whole

TREE = AgglomerativeClustering(4)


def mixture(n, p, rng, apart=8.0, dtype=float):
    """Four Gaussians of standard deviation 1, at the corners of a square."""
    centres = np.zeros((4, p))
    centres[:, :2] = apart / 2 * np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
    return (centres[rng.integers(4, size=n)] + rng.normal(size=(n, p))).astype(dtype)


def pair(n, p, seed=0, **options):
    rng = np.random.default_rng(seed)
    return {name: mixture(n, p, rng, **options) for name in "ab"}


# ---------------------------------------------------------------------------------------------------------------------
# landmarks


@pytest.mark.parametrize("p", [2, 30])
def test_cell_means_keep_the_sums_of_every_draw_of_whole_cells(p):
    X = mixture(3000, p, np.random.default_rng(1))
    landmarks = cell_means(X, 100, np.random.default_rng(2))
    assert landmarks.X.shape == (100, p)
    draw = landmarks.draw(whole(cr.Study(X, "a")))
    assert isinstance(draw, LandmarkDraw)
    assert draw.weights.sum() == len(X)
    np.testing.assert_allclose(draw.weights @ landmarks.X, X.sum(axis=0), atol=1e-8)
    for cell in (0, 57):
        np.testing.assert_allclose(landmarks.X[cell], X[landmarks.cells == cell].mean(axis=0), atol=1e-12)


def test_the_weight_of_a_landmark_is_the_number_of_samples_drawn_from_its_cell():
    study = cr.Study(mixture(500, 3, np.random.default_rng(1)), "a")
    landmarks = cell_means(study.X, 40, np.random.default_rng(2))
    drawn = cr.resampling.Bootstrap().draw(study, np.random.default_rng(3))
    expected = [drawn.weights[landmarks.cells == cell].sum() for cell in range(len(landmarks.X))]
    draw = landmarks.draw(drawn)
    np.testing.assert_array_equal(draw.weights, expected)
    np.testing.assert_array_equal(draw.order, np.flatnonzero(expected))


def test_landmarks_without_weights_are_samples_drawn_like_all_others():
    study = cr.Study(mixture(500, 3, np.random.default_rng(1)), "a")
    landmarks = uniform(study.X, 40, np.random.default_rng(2))
    np.testing.assert_array_equal(landmarks.X, study.X[landmarks.rows])
    drawn = cr.resampling.Bootstrap().draw(study, np.random.default_rng(3))
    np.testing.assert_array_equal(landmarks.draw(drawn).weights, drawn.weights[landmarks.rows])


def test_fewer_different_samples_than_landmarks_leave_fewer_landmarks():
    X = np.repeat(np.arange(5.0)[:, None], 40, axis=0)
    landmarks = cell_means(X, 20, np.random.default_rng(0))
    assert 1 < len(landmarks.X) <= 5
    assert np.bincount(landmarks.cells).min() > 0


def test_single_precision_stays():
    X = mixture(400, 12, np.random.default_rng(1), dtype=np.float32)
    assert cell_means(X, 20, np.random.default_rng(0)).X.dtype == np.float32


def test_cells_follow_the_leading_axes_only_where_there_are_many_features():
    X = mixture(100, 10, np.random.default_rng(1))
    assert leading_axes(X, np.random.default_rng(0))(X) is X
    wide = np.column_stack([X * 5, np.random.default_rng(3).normal(size=(100, 20))])
    assert leading_axes(wide, np.random.default_rng(0))(wide).shape == (100, 10)


# ---------------------------------------------------------------------------------------------------------------------
# scores


CLUSTERERS = [
    KMeans(4, n_init=2),
    TREE,
    BisectingKMeans(4),
    GaussianMixture(4, covariance_type="spherical", n_init=2),
    DBSCAN(eps=2.0, min_samples=20),
    HDBSCAN(min_cluster_size=10, copy=True),
    make_pipeline(StandardScaler(with_std=False), AgglomerativeClustering(4)),
    lambda X: (X[:, 0] > 0).astype(int),
]


@pytest.mark.parametrize("clusterer", CLUSTERERS, ids=lambda c: type(c).__name__)
@pytest.mark.filterwarnings("ignore::clustrep.errors.ReplicateWarning")
def test_as_many_landmarks_as_the_study_changes_nothing(clusterer):
    studies = pair(120, 3)
    exact = cr.replicability(clusterer, studies, n_resamples=3, rng=1)
    by_landmarks = cr.replicability(clusterer, studies, n_resamples=3, rng=1, n_landmarks=120)
    np.testing.assert_array_equal(by_landmarks.estimate, exact.estimate)
    np.testing.assert_array_equal(by_landmarks.distribution, exact.distribution)
    assert by_landmarks.provenance["landmark_error"] == {"ari": [0.0]}


def test_landmarks_of_small_studies_with_many_features_rotates_them_as_without():
    studies = pair(30, 200)

    def rotation(n_landmarks):
        source = Source.of(cr.resampling.Subsample(0.8), 0, n_landmarks)
        (learner,) = Setting.prepare(
            source, tuple(cr.Studies(studies).values()), [Configuration("ward", TREE)]
        ).learners
        return learner.rotation

    assert rotation(None) is not None
    assert rotation(30) is not None
    assert rotation(20) is None
    exact, by_landmarks = (cr.replicability(TREE, studies, n_resamples=2, rng=0, n_landmarks=n) for n in (None, 30))
    np.testing.assert_array_equal(by_landmarks.distribution, exact.distribution)


@pytest.mark.parametrize("clusterer", CLUSTERERS[:-1], ids=lambda c: type(c).__name__)
@pytest.mark.parametrize("p", [3, 20])
@pytest.mark.filterwarnings("ignore::clustrep.errors.ReplicateWarning")
def test_any_clusterer_finds_clear_clusters_by_landmarks(clusterer, p):
    if isinstance(clusterer, DBSCAN):
        clusterer = DBSCAN(eps=2.0 if p == 3 else 4.5, min_samples=20)
    result = cr.replicability(clusterer, pair(800, p, apart=14.0), n_resamples=2, rng=1, n_landmarks=150)
    assert result.estimate[0, 1] > 0.97
    assert result.mean[0, 1] > 0.97
    assert result.provenance["n_landmarks"] == 150


@pytest.mark.parametrize("p", [2, 30])
def test_scores_of_twenty_thousand_samples_are_within_a_hundredth_of_the_exact_ones(p):
    studies = pair(20_000, p, seed=p, apart=3.5)
    options = {"n_resamples": 3, "rng": 0, "diagonal": False}
    exact = cr.replicability(KMeans(4, n_init=3), studies, **options)
    by_landmarks = cr.replicability(KMeans(4, n_init=3), studies, n_landmarks=2000, **options)
    assert 0.5 < exact.estimate[0, 1] < 0.9999  # neither trivial nor without errors
    for s, t in ((0, 1), (1, 0)):
        assert abs(by_landmarks.estimate[s, t] - exact.estimate[s, t]) < 0.01
        assert abs(by_landmarks.mean[s, t] - exact.mean[s, t]) < 0.01
    assert 0 <= by_landmarks.provenance["landmark_error"]["ari"][0] < 0.01


def test_the_error_of_landmarks_is_that_of_two_sets():
    studies = pair(600, 2, apart=3.0)
    result = cr.replicability(KMeans(4, n_init=2), studies, n_resamples=1, rng=5, n_landmarks=30)
    (error,) = result.provenance["landmark_error"]["ari"]
    source = Source.of(cr.resampling.Bootstrap(distinct=True), 5, 30)
    estimates = []
    for number in (0, 1):
        of_number = replace(source, landmark_set=number)
        setting = Setting.prepare(
            of_number, tuple(cr.Studies(studies).values()), [Configuration("k", KMeans(4, n_init=2))]
        )
        plan = ScorePlan(setting, n_resamples=0, agreements=resolve_agreements("ari"), diagonal=False, noise="label")
        estimates.append(plan.replicate(FULL_STUDY).scores[0, 0])
    d = (estimates[0] - estimates[1])[[0, 1], [1, 0]]
    assert error > 0
    assert error == pytest.approx(np.sqrt((d**2).mean() / 2), rel=1e-12)
    np.testing.assert_array_equal(result.estimate[[0, 1], [1, 0]], estimates[0][[0, 1], [1, 0]])


@pytest.mark.parametrize("clusterer", [KMeans(4, n_init=2), TREE, HDBSCAN(min_cluster_size=10, copy=True)])
def test_a_run_on_two_studies_is_a_block_of_the_run_on_three_whoever_computes_it(clusterer):
    rng = np.random.default_rng(0)
    studies = {name: mixture(300, 4, rng) for name in "abc"}
    two = cr.replicability(clusterer, {name: studies[name] for name in "ab"}, n_resamples=4, rng=1, n_landmarks=60)
    with by_two():
        three = cr.replicability(clusterer, studies, n_resamples=4, rng=1, n_landmarks=60)
    np.testing.assert_array_equal(two.distribution, three.distribution[:, :2, :2])


def test_a_comparison_is_that_of_the_single_runs():
    studies = pair(300, 4)
    clusterers = {"k-means": KMeans(n_init=2), "ward": AgglomerativeClustering()}
    choice = cr.compare(clusterers, studies, n_clusters=[3, 4], n_resamples=3, rng=1, n_landmarks=50)
    for name, clusterer in (("k-means", KMeans(4, n_init=2)), ("ward", AgglomerativeClustering(4))):
        alone = cr.replicability(clusterer, studies, n_resamples=3, rng=1, n_landmarks=50)
        np.testing.assert_array_equal(choice.replicability(name, 4).distribution, alone.distribution)
    assert {name: len(errors) for name, errors in choice.provenance["landmark_error"].items()} == {"ari": 4, "ami": 4}


def test_weights_without_the_kernels_give_the_same_clusters():
    studies = pair(600, 3, apart=12.0)
    with cr.config_context(accelerate=False):
        plain = cr.replicability(KMeans(4, n_init=3), studies, n_resamples=2, rng=1, n_landmarks=60)
    fast = cr.replicability(KMeans(4, n_init=3), studies, n_resamples=2, rng=1, n_landmarks=60)
    np.testing.assert_allclose(plain.estimate, fast.estimate, atol=1e-12)
    for name in "ab":
        centres = [
            np.sort(result.clustering_function(name).clusterer.cluster_centers_, axis=0) for result in (plain, fast)
        ]
        np.testing.assert_allclose(*centres, atol=1e-9)
        # The weighted mean of the clusters' centres is the mean of the samples: landmarks count as often as samples.
        sizes = np.bincount(fast.clustering_function(name)(studies[name]))
        fitted = fast.clustering_function(name).clusterer.cluster_centers_
        np.testing.assert_allclose(sizes @ fitted / 600, studies[name].mean(axis=0), atol=0.02)


# ---------------------------------------------------------------------------------------------------------------------
# what users meet


@pytest.mark.parametrize("clusterer", [KMeans(4, n_init=2), TREE, GaussianMixture(4)])
@pytest.mark.parametrize("resample", [None, 1])
def test_the_clustering_function_of_a_result_is_the_one_of_the_run(clusterer, resample):
    studies = cr.Studies(pair(400, 3, apart=5.0))
    result = cr.replicability(clusterer, studies, n_resamples=2, rng=1, n_landmarks=40, diagonal=False)
    partitions = [result.clustering_function(name, resample)(studies["b"].X) for name in "ab"]
    weights = None
    if resample is not None:
        weights = Source.of(cr.resampling.Bootstrap(distinct=True), 1).draw(studies["b"], 1 + resample).weights > 0
        partitions = [labels[weights] for labels in partitions]
    expected = result.estimate if resample is None else result.distribution[resample]
    assert cr.agreement.adjusted_rand_index(*partitions) == pytest.approx(expected[0, 1], abs=1e-12)


def test_local_scores_and_those_of_pools_have_landmarks_too():
    studies = cr.Studies(pair(300, 3))
    local = cr.local_replicability(TREE, train=studies["a"], test=studies["b"], n_resamples=2, rng=1, n_landmarks=40)
    assert local.provenance["n_landmarks"] == 40
    assert local.distribution.shape == (2, 300)
    alone = cr.leave_one_study_out(TREE, studies, n_resamples=2, rng=1, n_landmarks=40)
    assert alone.provenance["n_landmarks"] == 40


def test_the_null_reference_has_landmarks_of_its_collections_too(monkeypatch):
    sizes = []
    built = trees.build_tree

    def build_tree(points, weights, linkage, metric="euclidean"):
        sizes.append(np.count_nonzero(weights))
        return built(points, weights, linkage, metric)

    monkeypatch.setattr(trees, "build_tree", build_tree)
    result = cr.replicability(TREE, pair(300, 3), n_resamples=1, rng=1, n_landmarks=40, diagonal=False)
    cr.null_reference(result, 3, null="gaussian")
    assert max(sizes) <= 40
    assert len(sizes) > 3 * 2


def test_a_whole_analysis_by_landmarks():
    studies = cr.Studies(pair(250, 3, apart=12.0))
    analysis = cr.analyse(
        TREE, studies, n_clusters=[3, 4], n_resamples=5, n_null=19, rng=0, options=cr.RunOptions(n_landmarks=60)
    )
    assert analysis.verdict == "separated"
    assert analysis.focus.n_clusters == 4
    assert analysis.comparison.provenance["n_landmarks"] == 60
    assert all(result.provenance["n_landmarks"] == 60 for result in analysis.local)


def test_a_run_by_landmarks_continues_and_other_landmarks_are_another_run(tmp_path):
    studies, compare = pair(200, 3), configured(cr.compare, checkpoint=tmp_path / "kept")
    clusterers = {"k-means": KMeans(n_init=2), "ward": AgglomerativeClustering()}
    compare(clusterers, studies, n_clusters=[3], n_resamples=2, n_landmarks=40, rng=0)
    continued = compare(clusterers, studies, n_clusters=[3, 4], n_resamples=4, n_landmarks=40, rng=0)
    at_once = cr.compare(clusterers, studies, n_clusters=[3, 4], n_resamples=4, n_landmarks=40, rng=0)
    np.testing.assert_array_equal(continued.distribution, at_once.distribution)
    assert continued.provenance["landmark_error"] == at_once.provenance["landmark_error"]
    with refused(OtherRun, "checkpoint"):
        compare(clusterers, studies, n_clusters=[3], n_resamples=2, n_landmarks=50, rng=0)


def test_bad_numbers_of_landmarks_are_refused():
    studies = pair(30, 2)
    for n_landmarks in (1, 2.5, "many", True):
        with refused(ParameterError, "n_landmarks"):
            cr.replicability(KMeans(2), studies, n_resamples=1, n_landmarks=n_landmarks)
    with refused(ParameterError, "n_landmarks"):
        cr.replicability(KMeans(2), studies, n_resamples=1, n_landmarks=10, resampling=cr.resampling.Jitter(0.1))
    labels = {name: np.arange(30) % 2 for name in studies}
    with refused(ParameterError, "n_landmarks"):
        cr.replicability(None, studies, labels=labels, n_resamples=1, n_landmarks=10)


def test_who_is_induced_by_the_nearest_point_in_the_features_themselves():
    assert takes_nearest(TREE, among_features=True)
    assert takes_nearest(lambda X: X, among_features=True)
    assert takes_nearest(cr.Induced(TREE), among_features=True)
    assert not takes_nearest(KMeans(2), among_features=True)
    assert not takes_nearest(make_pipeline(StandardScaler(), TREE), among_features=True)
    assert not takes_nearest(cr.Induced(TREE, metric="cityblock"), among_features=True)
    assert not takes_nearest(AgglomerativeClustering(2, linkage="average", metric="cosine"), among_features=True)


def test_too_little_memory_advises_landmarks(monkeypatch):
    monkeypatch.setattr("clustrep.execution.forecast.available_memory", lambda: 10**9)
    rng = np.random.default_rng(0)
    studies = {name: rng.normal(size=(13_000, 2)) for name in "ab"}
    clusterer = AgglomerativeClustering(2, linkage="average")
    with refused(DataError):
        cr.replicability(clusterer, studies, n_resamples=1, rng=0)
    cr.replicability(clusterer, studies, n_resamples=1, rng=0, n_landmarks=100, diagonal=False)


def test_the_report_says_that_landmarks_were_used():
    studies = cr.Studies(pair(120, 3, apart=12.0))
    choice = cr.compare(TREE, studies, n_resamples=3, rng=0, n_landmarks=40)
    (paragraph, *_) = methods_of(choice, None)
    assert "In studies of more than 40 samples, clusterings were learned from" in paragraph
    assert "landmarks" in paragraph
    (paragraph, *_) = methods_of(cr.compare(TREE, studies, n_resamples=3, rng=0), None)
    assert "landmarks" not in paragraph
