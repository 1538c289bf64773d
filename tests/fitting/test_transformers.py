"""Transformers fitted inside every draw: equal to pipelines by hand, shared by configurations."""

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

import clustrep as cr
from clustrep.accelerate.kmeans import KMeansLearner
from clustrep.errors import AllReplicatesFailed, OtherRun, ParameterError
from clustrep.fitting.parameters import Configuration
from clustrep.fitting.resample import Source
from clustrep.fitting.setting import Setting
from clustrep.fitting.transformers import TrainEmbedding

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


def scaled_pca():
    return make_pipeline(StandardScaler(), PCA(3, svd_solver="full"))


@pytest.mark.parametrize(
    "clusterer",
    [KMeans(3, n_init=2), AgglomerativeClustering(3), GaussianMixture(3), DBSCAN(eps=1.0), Birch(n_clusters=3)],
    ids=lambda clusterer: type(clusterer).__name__,
)
def test_without_shortcuts_scores_are_those_of_a_pipeline_bit_for_bit(clusterer):
    options = {"n_resamples": 3, "rng": 0, "agreement": ("ari", "ami")}
    with cr.config_context(accelerate=False):
        embedded = cr.replicability(clusterer, studies(), embed=scaled_pca(), **options)
        by_pipeline = cr.replicability(make_pipeline(scaled_pca(), clusterer), studies(), **options)
    for name in ("ari", "ami"):
        np.testing.assert_array_equal(embedded[name].estimate, by_pipeline[name].estimate)
        np.testing.assert_array_equal(embedded[name].distribution, by_pipeline[name].distribution)


@pytest.mark.parametrize(
    "resampling",
    [cr.resampling.Bootstrap(), cr.resampling.Subsample(0.7), cr.resampling.Bootstrap() + cr.resampling.Jitter(0.1)],
)
def test_shortcuts_work_inside(resampling):
    """Trees are deterministic: kernels give the same clusters as scikit-learn in the same space."""
    options = {"n_resamples": 4, "rng": 1, "embed": "train", "resampling": resampling}
    fast = cr.replicability(AgglomerativeClustering(3), studies(), **options)
    with cr.config_context(accelerate=False):
        plain = cr.replicability(AgglomerativeClustering(3), studies(), **options)
    np.testing.assert_array_equal(fast.estimate, plain.estimate)
    np.testing.assert_array_equal(fast.distribution, plain.distribution)


def test_kernels_are_in_use_inside():
    source = Source.of(cr.resampling.Bootstrap(), 0, embed="train")
    setting = Setting.prepare(source, tuple(studies().values()), [Configuration("k-means", KMeans(3))])
    (learner,) = setting.learners
    assert isinstance(learner.learner, KMeansLearner)


def test_one_draw_by_hand():
    """Scaling, variable features and PCA of the training draw, applied to all points of the test draw."""
    tables = studies(p=10)
    result = cr.replicability(
        AgglomerativeClustering(3), tables, n_resamples=1, rng=4, embed=TrainEmbedding(n_features=6, n_components=2)
    )
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

    clusterers = {"k-means": KMeans(n_init=1), "ward": AgglomerativeClustering()}
    cr.compare(clusterers, studies(), n_clusters=[2, 3], n_resamples=2, diagonal=False, rng=0, embed=Counting())
    assert len(calls) == 3 * (1 + 2)  # studies; as they are, and two resamples


def test_a_part_of_a_comparison_is_the_single_run():
    options = {"n_resamples": 3, "rng": 0, "embed": "train"}
    both = cr.compare(KMeans(n_init=1), studies(), n_clusters=[2, 3], agreement="ari", **options)
    single = cr.replicability(KMeans(3, n_init=1), studies(), **options)
    np.testing.assert_array_equal(both.replicability("KMeans", 3).distribution, single.distribution)


def test_workers_change_nothing():
    options = {"n_resamples": 4, "rng": 0, "embed": "train"}
    first = cr.replicability(GaussianMixture(3), studies(), n_jobs=1, **options)
    second = cr.replicability(GaussianMixture(3), studies(), n_jobs=2, **options)
    np.testing.assert_array_equal(first.distribution, second.distribution)


@pytest.mark.parametrize("clusterer", [KMeans(3, n_init=1), AgglomerativeClustering(3)])
def test_the_clustering_function_takes_all_features(clusterer):
    tables = studies()
    result = cr.replicability(clusterer, tables, n_resamples=1, rng=0, embed="train")
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
    local = cr.local_replicability(
        KMeans(3, n_init=1), train=tables["a"], test=tables["b"], n_resamples=2, rng=0, embed="train"
    )
    by_pipeline = cr.local_replicability(
        make_pipeline(TrainEmbedding(), KMeans(3, n_init=1)), train=tables["a"], test=tables["b"], n_resamples=2, rng=0
    )
    assert local.mean.mean() == pytest.approx(by_pipeline.mean.mean(), abs=0.1)
    result = cr.replicability(KMeans(3, n_init=1), tables, n_resamples=2, rng=0, embed="train")
    reference = cr.null_reference(result, 19, null="gaussian", rng=0)
    assert reference.provenance.parameters["transformer"].startswith("TrainEmbedding(")


def test_known_labels_are_compared_in_the_space():
    tables = studies()
    labels = {name: (study.X[:, 0] > 0).astype(int) for name, study in tables.items()}
    result = cr.replicability(None, tables, labels=labels, n_resamples=1, rng=0, embed="train")
    by_features = cr.replicability(None, tables, labels=labels, n_resamples=1, rng=0)
    assert not np.array_equal(result.estimate, by_features.estimate)


def test_analyse_embeds_in_all_steps():
    analysis = cr.analyse(
        KMeans(n_init=2),
        studies(),
        n_clusters=[2, 3],
        n_resamples=4,
        n_null=19,
        null="gaussian",
        rng=0,
        embed="train",
        scale="none",
    )
    single = cr.compare(KMeans(n_init=2), studies(), n_clusters=[2, 3], n_resamples=4, rng=0, embed="train")
    np.testing.assert_array_equal(analysis.comparison.distribution, single.distribution)
    for result in analysis.local:
        assert result.provenance.parameters["transformer"].startswith("TrainEmbedding(")


def test_without_embed_nothing_is_recorded():
    result = cr.replicability(KMeans(3, n_init=1), studies(), n_resamples=1, rng=0)
    assert "transformer" not in result.provenance.parameters


def test_random_solvers_take_the_seed_of_the_replicate():
    embed = make_pipeline(PCA(2, svd_solver="randomized", n_oversamples=1, iterated_power=0))
    options = {"n_resamples": 3, "embed": embed}
    first, again, other = (cr.replicability(KMeans(3, n_init=1), studies(), rng=r, **options) for r in (0, 0, 1))
    np.testing.assert_array_equal(first.distribution, again.distribution)
    assert not np.array_equal(first.distribution, other.distribution)


def test_checkpoints_know_the_transformer(tmp_path):
    options = {"n_resamples": 2, "rng": 0, "checkpoint": tmp_path / "kept"}
    cr.replicability(KMeans(3, n_init=1), studies(), embed="train", **options)
    with pytest.raises(OtherRun, match="the transformer"):
        cr.replicability(KMeans(3, n_init=1), studies(), embed=scaled_pca(), **options)


def test_missing_values_that_remain_are_a_failure_with_its_cause():
    broken = FunctionTransformer(lambda X: np.where(X > 1, np.nan, X))
    with pytest.raises(AllReplicatesFailed, match="values that are missing or infinite"):
        cr.replicability(KMeans(3, n_init=1), studies(), n_resamples=1, rng=0, embed=broken)


def test_a_result_that_is_no_table_is_a_failure_with_its_cause():
    broken = FunctionTransformer(lambda X: X[:-1])
    with pytest.raises(AllReplicatesFailed, match="one row for every sample"):
        cr.replicability(KMeans(3, n_init=1), studies(), n_resamples=1, rng=0, embed=broken)


@pytest.mark.parametrize("embed", ["trian", 3, StandardScaler, KMeans])
def test_embed_must_be_a_transformer(embed):
    with pytest.raises(ParameterError, match="embed must be 'train' or a transformer") as caught:
        cr.replicability(KMeans(3), studies(), embed=embed)
    assert caught.value.parameter == "embed"


def test_no_landmarks_of_what_is_transformed():
    with pytest.raises(ParameterError, match="can't be combined") as caught:
        cr.replicability(KMeans(3), studies(), embed=SimpleImputer(), n_landmarks=20)
    assert caught.value.parameter == "n_landmarks"


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
        with pytest.raises(ParameterError, match=f"{parameter} must be a positive integer"):
            TrainEmbedding(**{parameter: 0}).fit(np.zeros((3, 2)))
