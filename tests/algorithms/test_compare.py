"""The comparison of clusterers and numbers of clusters, and the choice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.sentences import refused

import clustrep as cr
from clustrep.algorithms.comparison import Comparison
from clustrep.provenance import Provenance

CLUSTERERS = {
    "k-means": KMeans(n_init=2),
    "ward": AgglomerativeClustering(),
    "mixture": GaussianMixture(),
    "scaled": make_pipeline(StandardScaler(), AgglomerativeClustering()),
}


@pytest.fixture(scope="module")
def choice(cohorts):
    return cr.compare(CLUSTERERS, cohorts, n_clusters=(2, 3, 4), n_resamples=6, rng=0)


@pytest.mark.parametrize("name", CLUSTERERS)
def test_a_configuration_equals_its_own_run_bit_for_bit(cohorts, choice, name):
    clusterer = {
        "k-means": KMeans(3, n_init=2),
        "ward": AgglomerativeClustering(3),
        "mixture": GaussianMixture(3),
        "scaled": make_pipeline(StandardScaler(), AgglomerativeClustering(3)),
    }[name]
    alone = cr.replicability(clusterer, cohorts, agreement=("ari", "ami"), n_resamples=6, rng=0)
    for agreement, result in alone.items():
        same = choice.replicability(name, 3, agreement)
        np.testing.assert_array_equal(same.distribution, result.distribution)
        np.testing.assert_array_equal(same.estimate, result.estimate)
        assert same.n_clusters == 3
    assert choice.replicability(name, 3).agreement == "ari"


def test_the_true_number_of_clusters_is_best(choice):
    for agreement in choice.agreements:
        best = choice.best(agreement)
        assert best.n_clusters == 3
        assert best.agreement == agreement
        assert best.low <= best.score <= best.high
        assert all(rival.n_clusters == 3 for rival in best.rivals)


def test_tidy_frame(choice, cohorts):
    frame = choice.to_frame()
    assert list(frame.columns) == [
        *("clusterer", "k", "train", "test", "agreement", "score", "mean", "sd", "low", "high"),
        *("trivial", "failed", "clusters_found"),
    ]
    assert len(frame) == len(CLUSTERERS) * 3 * 2 * len(cohorts) ** 2
    row = frame.set_index(["clusterer", "k", "train", "test", "agreement"]).loc[("ward", 4, "beta", "alpha", "ami")]
    assert row["mean"] == choice.replicability("ward", 4, "ami").mean[1, 0]
    assert row["clusters_found"] == 4


def test_the_score_is_the_mean_over_ordered_pairs_of_different_studies(choice):
    summary = choice.summary().set_index(["clusterer", "k", "agreement"])
    mean = choice.replicability("k-means", 4).mean
    off = ~np.eye(3, dtype=bool)
    assert summary.loc[("k-means", 4, "ari"), "score"] == pytest.approx(mean[off].mean())


def test_clusterers_without_a_number_of_clusters_run_once(cohorts):
    result = cr.compare(
        {"dbscan": DBSCAN(eps=2.0), "ward": AgglomerativeClustering()}, cohorts, n_clusters=(2, 3), n_resamples=3, rng=0
    )
    assert result.clusterers == ("dbscan", "ward", "ward")
    assert result.n_clusters == (None, 2, 3)
    frame = result.to_frame()
    assert frame.loc[frame["clusterer"] == "dbscan", "k"].isna().all()
    assert result.replicability("dbscan").n_clusters is None


def test_without_numbers_each_clusterer_runs_as_it_is(cohorts):
    result = cr.compare([KMeans(2, n_init=1), AgglomerativeClustering(3)], cohorts, n_resamples=2, rng=0)
    assert result.clusterers == ("KMeans", "AgglomerativeClustering")
    assert result.n_clusters == (2, 3)


def test_a_pipeline_is_one_clusterer(cohorts):
    pipeline = make_pipeline(StandardScaler(), KMeans(n_init=1))
    assert cr.compare(pipeline, cohorts, n_clusters=2, n_resamples=1, rng=0).clusterers == ("Pipeline",)


def test_trivial_agreement_never_wins(cohorts):
    result = cr.compare({"all": DBSCAN(eps=1e6), "ward": AgglomerativeClustering(2)}, cohorts, n_resamples=4, rng=0)
    summary = result.summary().set_index(["clusterer", "agreement"])
    assert summary.loc[("all", "ari"), "score"] == 1
    assert summary.loc[("all", "ari"), "trivial"] == 1
    assert result.best().clusterer == "ward"
    only_trivial = cr.compare({"all": DBSCAN(eps=1e6)}, cohorts, n_resamples=2, rng=0)
    with refused(cr.errors.NoBest):
        only_trivial.best()
    assert "No configuration can be best" in repr(only_trivial)


# --------------------------------------------------------------------------------------------------------------------
# the choice, on made-up scores


def made_up(scores, ks, *, clusterers=None):
    """A comparison of two studies whose resample scores, (n_configurations, n_resamples), are given."""
    scores = np.asarray(scores, dtype=float)
    n, B = scores.shape
    distribution = np.broadcast_to(scores[:, None, :, None, None], (n, 1, B, 2, 2)).copy()
    return Comparison(
        names=("a", "b"),
        agreements=("ari",),
        clusterers=tuple(clusterers or ["x"] * n),
        n_clusters=tuple(ks),
        estimate=distribution[:, :, 0],
        distribution=distribution,
        trivial=np.zeros((n, B, 2, 2), dtype=bool),
        clusters_found=np.ones((n, B, 2), dtype=int),
        failed=np.zeros((n, 1, B + 1, 2, 2), dtype=int),
        causes=(),
        provenance=Provenance(seed=0, parameters={"diagonal": True}),
    )


def test_ties_go_to_the_smaller_number_of_clusters():
    constant = np.full(10, 0.5)
    best = made_up([constant, constant, constant], (4, 2, 3)).best()
    assert best.n_clusters == 2
    assert [rival.n_clusters for rival in best.rivals] == [3, 4]


def test_rivals_are_told_apart_by_paired_differences():
    rng = np.random.default_rng(0)
    base = rng.uniform(0.2, 0.8, size=200)
    # The intervals of all three overlap widely; resample by resample, only the third can't be told from the first.
    result = made_up([base + 0.1, base, base + 0.099 + rng.normal(scale=0.05, size=200)], (2, 3, 4))
    best = result.best()
    assert best.n_clusters == 2
    assert [rival.n_clusters for rival in best.rivals] == [4]
    assert str(best).startswith("By ARI, x, k = 2 (")
    assert " is not distinguishable from x, k = 4 (" in str(best)


def test_a_clear_winner_is_said_to_be_best():
    result = made_up([np.linspace(0.9, 0.95, 20), np.linspace(0.1, 0.2, 20)], (2, 3))
    assert result.best().rivals == ()
    assert str(result.best()) == "x, k = 2 (0.93 [0.90, 0.95]) replicates best by ARI"
    assert str(result.best()) in repr(result)


def test_a_configuration_without_a_score_for_some_pair_is_not_chosen():
    result = made_up([np.full(5, 0.9), np.full(5, 0.3)], (2, 3))
    holes = result.distribution.copy()
    holes[0, :, :, 0, 1] = np.nan
    assert replace(result, distribution=holes).best().n_clusters == 3


def test_trivial_scores_are_counted_among_those_there_are():
    result = made_up([np.full(100, 0.9), np.full(100, 0.3)], (2, 3))
    holes, trivial = result.distribution.copy(), result.trivial.copy()
    holes[0, :, :40] = np.nan
    trivial[0, 40:46] = True  # six of a hundred resamples, six of sixty scores
    changed = replace(result, distribution=holes, trivial=trivial)
    np.testing.assert_allclose(changed.summary()["trivial"], [0.1, 0])
    assert changed.best().n_clusters == 3


def test_few_survivors_do_not_win():
    result = made_up([np.full(100, 0.9), np.full(100, 0.3)], (2, 3))
    holes = result.distribution.copy()
    holes[0, :, 2:] = np.nan
    assert replace(result, distribution=holes).best().n_clusters == 3


# --------------------------------------------------------------------------------------------------------------------
# figures


def test_curves_draw_a_line_for_each_clusterer(cohorts, choice):
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    assert choice.plot(ax, agreement="ami") is ax
    assert [line.get_label() for line in ax.lines] == list(CLUSTERERS)
    summary = choice.summary()
    expected = summary[(summary["clusterer"] == "ward") & (summary["agreement"] == "ami")]["score"]
    np.testing.assert_allclose(ax.lines[1].get_ydata(), expected)
    unbounded = cr.compare(AgglomerativeClustering(8), cohorts, agreement="mi", n_resamples=2, rng=0)
    assert unbounded.plot().get_ylim()[1] > unbounded.summary()["high"].max() > 1
    without_k = cr.compare({"dbscan": DBSCAN(eps=2.0)}, cohorts, n_resamples=2, rng=0)
    assert len(without_k.plot().lines) == 1
