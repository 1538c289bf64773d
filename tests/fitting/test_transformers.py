"""Pipelines: their first steps are fitted to every draw, and shared by configurations that have the same."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, KMeans
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from tests.helpers import by_two, configured
from tests.sentences import refused

import clustrep as cr
from clustrep.accelerate.kmeans import KMeansLearner
from clustrep.accelerate.trees import TreeLearner
from clustrep.clusterers import Leiden
from clustrep.errors import AllReplicatesFailed, DataError, OtherRun, ParameterError
from clustrep.fitting.parameters import Configuration
from clustrep.fitting.resample import Source
from clustrep.fitting.setting import Setting
from clustrep.fitting.train_embedding import TrainEmbedding

CENTRES = 6 * np.random.default_rng(7).normal(size=(3, 12))


def studies(n=70, p=12, seed=0):
    """Three groups in `p` features of different units, in three studies with different shares."""
    rng = np.random.default_rng(seed)
    units = np.geomspace(0.1, 10, p)
    return cr.Studies(
        {
            name: (CENTRES[rng.choice(3, size=n, p=shares), :p] + 2 * rng.normal(size=(n, p))) * units
            for name, shares in {"a": [0.3, 0.4, 0.3], "b": [0.5, 0.25, 0.25], "c": [0.2, 0.3, 0.5]}.items()
        }
    )


def embedded(clusterer):
    return make_pipeline(TrainEmbedding(), clusterer)


@pytest.mark.parametrize(
    "clusterer",
    [AgglomerativeClustering(3), GaussianMixture(3), DBSCAN(eps=1.0), Birch(n_clusters=3), Leiden()],
    ids=lambda clusterer: type(clusterer).__name__,
)
def test_scores_are_those_of_the_pipeline_itself_without_shortcuts(clusterer):
    options = {"n_resamples": 3, "rng": 0, "agreement": ("ari", "ami")}
    pipeline = make_pipeline(StandardScaler(), PCA(3, svd_solver="full"), clusterer)
    in_steps = cr.replicability(pipeline, studies(), **options)
    with cr.config_context(accelerate=False):
        whole = cr.replicability(pipeline, studies(), **options)
    for name in ("ari", "ami"):
        np.testing.assert_allclose(in_steps[name].estimate, whole[name].estimate, atol=1e-12)
        np.testing.assert_allclose(in_steps[name].distribution, whole[name].distribution, atol=1e-12)


@pytest.mark.parametrize(
    "resampling",
    [cr.resampling.Bootstrap(), cr.resampling.Subsample(0.7), cr.resampling.Bootstrap() + cr.resampling.Jitter(0.1)],
)
def test_shortcuts_work_inside(resampling):
    """Trees are deterministic: kernels give the same clusters as scikit-learn in the same space."""
    options = {"n_resamples": 4, "rng": 1, "resampling": resampling}
    fast = cr.replicability(embedded(AgglomerativeClustering(3)), studies(), **options)
    with cr.config_context(accelerate=False):
        plain = cr.replicability(embedded(AgglomerativeClustering(3)), studies(), **options)
    np.testing.assert_array_equal(fast.estimate, plain.estimate)
    np.testing.assert_array_equal(fast.distribution, plain.distribution)


def test_kernels_are_in_use_inside():
    configurations = [Configuration("k-means", embedded(KMeans(k))) for k in (2, 3)]
    configurations.append(Configuration("ward", embedded(AgglomerativeClustering())))
    setting = Setting.prepare(Source.of(cr.resampling.Bootstrap(), 0), tuple(studies().values()), configurations)
    assert [type(learner.learner) for learner in setting.learners] == [KMeansLearner, TreeLearner]
    assert [len(learner.members) for learner in setting.learners] == [2, 1]


def test_pipelines_within_pipelines():
    nested = make_pipeline(SimpleImputer(), embedded(KMeans(3, n_init=1)))
    setting = Setting.prepare(
        Source.of(cr.resampling.Bootstrap(), 0), tuple(studies().values()), [Configuration("nested", nested)]
    )
    assert isinstance(setting.learners[0].learner.learner, KMeansLearner)
    result = cr.replicability(nested, studies(), n_resamples=2, rng=0)
    flat = cr.replicability(embedded(KMeans(3, n_init=1)), studies(), n_resamples=2, rng=0)
    np.testing.assert_array_equal(result.distribution, flat.distribution)


def test_one_draw_by_hand():
    """Scaling, variable features and PCA of the training draw, applied to all points of the test draw."""
    tables = studies(p=10)
    pipeline = make_pipeline(TrainEmbedding(n_features=6, n_components=2), AgglomerativeClustering(3))
    result = cr.replicability(pipeline, tables, n_resamples=1, rng=4)
    source = Source.of(cr.resampling.Bootstrap(distinct=True), 4)
    draws = {name: source.draw(tables[name], 1) for name in ("a", "b")}

    def labels(train, rows):
        sample = draws[train].sample
        kept = np.sort(np.argsort(-sample.var(axis=0))[:6])
        space = make_pipeline(StandardScaler(), PCA(2)).fit(sample[:, kept])
        trained = space.transform(sample[:, kept])
        of_training = AgglomerativeClustering(3).fit_predict(trained)
        distances = np.linalg.norm(space.transform(rows[:, kept])[:, None] - trained[None], axis=2)
        return of_training[distances.argmin(axis=1)]

    for train, test in (("a", "b"), ("b", "a")):
        rows = draws[test].sample
        by_hand = adjusted_rand_score(labels(train, rows), labels(test, rows))
        place = tables.names.index(train), tables.names.index(test)
        np.testing.assert_allclose(result.distribution[0][place], by_hand, atol=1e-12)


def test_a_transformer_is_fitted_once_for_each_draw():
    calls = []

    class Counting(StandardScaler):
        def fit(self, X, y=None, sample_weight=None):
            calls.append(len(X))
            return super().fit(X, y, sample_weight)

    clusterers = {"k-means": KMeans(n_init=1), "mixture": GaussianMixture(), "ward": AgglomerativeClustering()}
    clusterers = {name: make_pipeline(Counting(), each) for name, each in clusterers.items()}
    cr.compare(clusterers, studies(), n_clusters=[2, 3], n_resamples=2, diagonal=False, rng=0)
    assert len(calls) == 3 * (1 + 2)  # studies; as they are, and two resamples


def test_a_part_of_a_comparison_is_the_single_run():
    options = {"n_resamples": 3, "rng": 0}
    both = cr.compare(embedded(KMeans(n_init=1)), studies(), n_clusters=[2, 3], agreement="ari", **options)
    single = cr.replicability(embedded(KMeans(3, n_init=1)), studies(), **options)
    np.testing.assert_array_equal(both.replicability("Pipeline", 3).distribution, single.distribution)


def test_workers_change_nothing():
    options = {"n_resamples": 4, "rng": 0}
    first = cr.replicability(embedded(GaussianMixture(3)), studies(), **options)
    with by_two():
        second = cr.replicability(embedded(GaussianMixture(3)), studies(), **options)
    np.testing.assert_array_equal(first.distribution, second.distribution)


@pytest.mark.parametrize("clusterer", [KMeans(3, n_init=1), AgglomerativeClustering(3)])
def test_the_clustering_function_takes_all_features(clusterer):
    tables = studies()
    result = cr.replicability(embedded(clusterer), tables, n_resamples=1, rng=0)
    function = result.clustering_function("a")
    assert function.n_features == 12
    labels = function(tables["b"].X)
    assert len(np.unique(labels)) == 3
    space = function.clusterer[0]
    assert space.transform(tables["b"].X).shape == (70, 12)
    if hasattr(clusterer, "predict"):
        np.testing.assert_array_equal(function.clusterer.predict(tables["b"].X), labels)


def test_local_scores_and_null_follow():
    tables = studies()
    options = {"train": tables["a"], "test": tables["b"], "n_resamples": 2, "rng": 0}
    local = cr.local_replicability(embedded(KMeans(3, n_init=1)), **options)
    with cr.config_context(accelerate=False):
        plain = cr.local_replicability(embedded(KMeans(3, n_init=1)), **options)
    assert local.mean.mean() == pytest.approx(plain.mean.mean(), abs=0.1)
    result = cr.replicability(embedded(KMeans(3, n_init=1)), tables, n_resamples=2, rng=0)
    reference = cr.null_reference(result, 19, null="gaussian", rng=0)
    assert reference.provenance.parameters["transformer"].startswith("TrainEmbedding(")


def test_known_labels_are_compared_in_the_space():
    tables = studies()
    labels = {name: (study.X[:, 0] > 0).astype(int) for name, study in tables.items()}
    result = cr.replicability(TrainEmbedding(), tables, labels=labels, n_resamples=1, rng=0)
    by_features = cr.replicability(None, tables, labels=labels, n_resamples=1, rng=0)
    assert not np.array_equal(result.estimate, by_features.estimate)
    assert result.provenance.parameters["transformer"].startswith("TrainEmbedding(")
    with refused(ParameterError, "labels"):
        cr.replicability(embedded(KMeans(3)), tables, labels=labels)


def test_analyse_embeds_in_all_steps():
    analysis = cr.analyse(
        embedded(KMeans(n_init=2)),
        studies(),
        n_clusters=[2, 3],
        n_resamples=4,
        n_null=19,
        rng=0,
        scale="none",
        options=cr.RunOptions(null="gaussian"),
    )
    single = cr.compare(embedded(KMeans(n_init=2)), studies(), n_clusters=[2, 3], n_resamples=4, rng=0)
    np.testing.assert_array_equal(analysis.comparison.distribution, single.distribution)
    for result in analysis.local:
        assert result.provenance.parameters["transformer"].startswith("TrainEmbedding(")


def test_without_first_steps_nothing_is_recorded():
    result = cr.replicability(KMeans(3, n_init=1), studies(), n_resamples=1, rng=0)
    assert "transformer" not in result.provenance.parameters


def test_random_solvers_take_the_seed_of_the_replicate():
    pca = PCA(2, svd_solver="randomized", n_oversamples=1, iterated_power=0)
    pipeline = make_pipeline(pca, KMeans(3, n_init=1))
    first, again, other = (cr.replicability(pipeline, studies(), n_resamples=3, rng=r) for r in (0, 0, 1))
    np.testing.assert_array_equal(first.distribution, again.distribution)
    assert not np.array_equal(first.distribution, other.distribution)


def test_checkpoints_know_the_transformer(tmp_path):
    replicability = configured(cr.replicability, checkpoint=tmp_path / "kept")
    replicability(embedded(KMeans(3, n_init=1)), studies(), n_resamples=2, rng=0)
    with refused(OtherRun, "checkpoint"):
        replicability(make_pipeline(PCA(3), KMeans(3, n_init=1)), studies(), n_resamples=2, rng=0)


def test_missing_values_that_remain_are_a_failure_with_its_cause():
    broken = FunctionTransformer(lambda X: np.where(X > 1, np.nan, X))
    with refused(AllReplicatesFailed):
        cr.replicability(make_pipeline(broken, KMeans(3, n_init=1)), studies(), n_resamples=1, rng=0)


def test_a_result_that_is_no_table_is_a_failure_with_its_cause():
    broken = FunctionTransformer(lambda X: X[:-1])
    with refused(AllReplicatesFailed):
        cr.replicability(make_pipeline(broken, KMeans(3, n_init=1)), studies(), n_resamples=1, rng=0)


def test_landmarks_are_chosen_before_anything_is_fitted():
    options = {"n_resamples": 2, "n_landmarks": 40, "rng": 0}
    assert cr.replicability(embedded(KMeans(3, n_init=2)), studies(), **options).estimate.min() > 0.5
    holes = {name: np.where(study.X.max() / 2 < study.X, np.nan, study.X) for name, study in studies().items()}
    pipeline = make_pipeline(SimpleImputer(), KMeans(3, n_init=2))
    with refused(DataError):
        cr.replicability(pipeline, holes, **options)
    assert cr.replicability(pipeline, holes, n_resamples=2, rng=0).estimate.shape == (3, 3)


class TestTrainEmbedding:
    def test_is_scaling_and_pca_of_the_most_variable_features(self):
        X = np.random.default_rng(0).normal(size=(40, 7)) * [3, 1, 5, 2, 4, 0.5, 0.1]
        embedding = TrainEmbedding(n_features=4, n_components=2).fit(X)
        kept = [0, 2, 3, 4]
        by_hand = make_pipeline(StandardScaler(), PCA(2)).fit(X[:, kept])
        np.testing.assert_array_equal(embedding.kept_, kept)
        np.testing.assert_array_equal(embedding.transform(X), by_hand.transform(X[:, kept]))

    def test_has_fewer_components_than_samples(self):
        X = np.random.default_rng(0).normal(size=(5, 30))
        assert TrainEmbedding().fit_transform(X).shape == (5, 4)

    def test_single_precision_stays(self):
        X = np.random.default_rng(0).normal(size=(20, 6)).astype(np.float32)
        assert TrainEmbedding().fit_transform(X).dtype == np.float32

    @pytest.mark.parametrize("parameter", ["n_features", "n_components"])
    def test_numbers_are_checked(self, parameter):
        with refused(ParameterError, parameter):
            TrainEmbedding(**{parameter: 0}).fit(np.zeros((3, 2)))
