"""Algorithms 1 and 2: against a plain loop, against theory, and against themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import binomtest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    mutual_info_score,
    rand_score,
)
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.agreement.batches import _members_together, score_batch
from clustrep.errors import ReplicateWarning
from clustrep.resampling.strategies import Draw

PEERS = {
    "ari": adjusted_rand_score,
    "ami": adjusted_mutual_info_score,
    "ri": rand_score,
    "mi": mutual_info_score,
    "ami_max": lambda u, v: adjusted_mutual_info_score(u, v, average_method="max"),
}


def halves(X):
    """A deterministic clusterer without any library in it: above or below the middle of the first feature."""
    return (X[:, 0] > X[:, 0].mean()).astype(int)


def thirds_with_noise(X):
    """Three classes by the first feature, the outermost points noise."""
    x = X[:, 0] - X[:, 0].mean()
    labels = np.digitize(x, [-1.0, 1.0])
    labels[np.abs(x) > 2.5] = -1
    return labels


def random_labels(X, random_state):
    return np.random.default_rng(random_state).integers(3, size=len(X))


@dataclass(frozen=True)
class SameRows:
    """Draws the same rows from every study."""

    def draw(self, study, rng):
        return Draw(study.X, np.array([0, 0, 1, 3, 4, 4, 4, 7, 8, 9]))


def nearest(points, labels, X):
    return np.asarray(labels)[cdist(X, points).argmin(axis=1)]


def plain_loop(cluster, studies, result, score):
    """Algorithm 2 as it is written, on repeated rows, with the draws that the library made."""
    names = result.names
    scores = np.full(result.distribution.shape, np.nan)
    for b in range(len(scores)):
        samples = [studies[name].X[draw_of(result, name, b)] for name in names]
        seconds = [studies[name].X[draw_of(result, name, b, second=True)] for name in names]
        labels = [cluster(sample) for sample in samples]
        for t, test in enumerate(samples):
            own = nearest(test, labels[t], test)
            for s in range(len(names)):
                train = seconds[s] if s == t else samples[s]
                scores[b, s, t] = score(nearest(train, cluster(train), test), own)
    return scores


def draw_of(result, name, b, *, second=False):
    source = result._origin.source
    study = result._origin.studies[result.names.index(name)]
    return source.draw(study, b + 1, second=second).order


# --------------------------------------------------------------------------------------------------------------------
# brute force


@pytest.mark.parametrize("agreement", PEERS)
def test_all_pairs_equal_a_plain_loop_over_repeated_rows(cohorts, agreement):
    clusterer = AgglomerativeClustering(3)
    result = cr.replicability(clusterer, cohorts, agreement=agreement, n_resamples=4, rng=3)
    expected = plain_loop(clusterer.fit_predict, cohorts, result, PEERS[agreement])
    np.testing.assert_allclose(result.distribution, expected, atol=1e-12)


def test_the_estimate_is_the_score_of_the_studies_as_they_are(cohorts):
    clusterer = AgglomerativeClustering(4)
    result = cr.replicability(clusterer, cohorts, n_resamples=1, rng=0)
    tables = [cohorts[name].X for name in cohorts.names]
    for s, train in enumerate(tables):
        for t, test in enumerate(tables):
            predicted = nearest(train, clusterer.fit_predict(train), test)
            assert result.estimate[s, t] == pytest.approx(adjusted_rand_score(predicted, clusterer.fit_predict(test)))


@pytest.mark.parametrize("noise", ["label", "drop", "singletons"])
def test_noise_treatments_equal_their_definition(cohorts, noise):
    def score(u, v):
        if noise == "drop":
            kept = (u != -1) & (v != -1)
            u, v = u[kept], v[kept]
        if noise == "singletons":
            u, v = (np.where(x == -1, 1000 + np.arange(len(x)), x) for x in (u, v))
        return adjusted_mutual_info_score(u, v)

    result = cr.replicability(thirds_with_noise, cohorts, agreement="ami", noise=noise, n_resamples=5, rng=0)
    np.testing.assert_allclose(result.distribution, plain_loop(thirds_with_noise, cohorts, result, score), atol=1e-12)


def test_noise_treatments_differ_on_this_data(cohorts):
    scores = [
        cr.replicability(thirds_with_noise, cohorts, noise=noise, n_resamples=3, rng=0).distribution
        for noise in ("label", "drop", "singletons")
    ]
    assert not np.allclose(scores[0], scores[1])
    assert not np.allclose(scores[1], scores[2])


def test_too_few_points_without_noise_fail_by_cause(cohorts):
    def all_noise(X):
        return np.full(len(X), -1)

    with refused(cr.errors.AllReplicatesFailed):
        cr.replicability(all_noise, cohorts, noise="drop", n_resamples=2, rng=0)


def test_many_clusters_are_scored_without_dense_tables(cohorts, monkeypatch):
    dense = cr.replicability(AgglomerativeClustering(9), cohorts, agreement=("ari", "ami"), n_resamples=3, rng=0)
    monkeypatch.setattr("clustrep.agreement.batches.DENSE_CELLS", 1)
    listed = cr.replicability(AgglomerativeClustering(9), cohorts, agreement=("ari", "ami"), n_resamples=3, rng=0)
    for name in dense:
        np.testing.assert_array_equal(dense[name].distribution, listed[name].distribution)
        np.testing.assert_array_equal(dense[name].trivial, listed[name].trivial)


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("clusterer", [KMeans(n_init=2), AgglomerativeClustering()], ids=["k-means", "Ward"])
def test_scores_from_arrays_of_labels_are_those_of_single_pairs(cohorts, clusterer, diagonal, monkeypatch):
    options = {"n_clusters": [2, 3, 7], "n_resamples": 6, "diagonal": diagonal, "rng": 3}
    batches = []

    def recorded(*arguments):
        batches.append(score_batch(*arguments))
        return batches[-1]

    monkeypatch.setattr("clustrep.fitting.learners.score_batch", recorded)
    together = cr.compare(clusterer, cohorts, **options)
    assert batches
    assert None not in batches
    monkeypatch.setattr("clustrep.fitting.learners.score_batch", lambda *arguments: None)
    one_by_one = cr.compare(clusterer, cohorts, **options)
    pd.testing.assert_frame_equal(together.to_frame(), one_by_one.to_frame(), check_exact=True)
    np.testing.assert_array_equal(together.distribution, one_by_one.distribution)


@pytest.mark.parametrize("clusterer", [KMeans(n_init=2), AgglomerativeClustering()], ids=["k-means", "Ward"])
def test_a_batch_in_which_a_fit_fails_is_scored_pair_by_pair(rng, clusterer):
    few = [rng.normal(size=(9, 2)), rng.normal(size=(30, 2))]
    with warned(ReplicateWarning):
        result = cr.compare(clusterer, few, n_clusters=[2, 7], n_resamples=20, rng=0)
    alone = cr.compare(clusterer, few, n_clusters=[2], n_resamples=20, rng=0)
    np.testing.assert_array_equal(result.distribution[:1], alone.distribution)


def test_draws_of_one_sample_fail_without_noise_in_any_batch(rng):
    tables = [rng.normal(size=(2, 2)), rng.normal(size=(3, 2))]
    options = {"n_resamples": 30, "noise": "drop", "rng": 0, "resampling": cr.resampling.Bootstrap(distinct=True)}
    with warned(ReplicateWarning):
        result = cr.replicability(KMeans(1, n_init=1), tables, **options)
    drawn = np.array([len(set(draw_of(result, result.names[1], b))) for b in range(30)])
    np.testing.assert_array_equal(np.isnan(result.distribution[:, 0, 1]), drawn < 2)


def test_scores_of_many_numbers_of_clusters_are_divided(cohorts, monkeypatch):
    options = {"n_clusters": range(2, 12), "n_resamples": 4, "rng": 3}
    at_once = cr.compare(AgglomerativeClustering(), cohorts, **options)
    monkeypatch.setattr("clustrep.agreement.batches.DENSE_CELLS", 500)
    divided = cr.compare(AgglomerativeClustering(), cohorts, **options)
    np.testing.assert_array_equal(at_once.distribution, divided.distribution)
    np.testing.assert_array_equal(at_once.trivial, divided.trivial)


@pytest.mark.parametrize(
    ("n_labels", "expected"), [((3,), [(0, 1)]), ((2, 3, 4, 10), [(0, 3), (3, 4)]), ((99, 99), [(0, 1), (1, 2)])]
)
def test_members_are_scored_together_as_far_as_there_is_room(n_labels, expected, monkeypatch):
    monkeypatch.setattr("clustrep.agreement.batches.DENSE_CELLS", 100)
    assert [(some.start, some.stop) for some in _members_together(n_labels, 2)] == expected


def test_known_labels_travel_with_the_draw(cohorts):
    labels = {name: study.labels for name, study in cohorts.items()}
    result = cr.replicability(None, cohorts, labels=labels, n_resamples=3, rng=2)
    for b in range(3):
        for s, train in enumerate(result.names):
            for t, test in enumerate(result.names):
                rows, columns = draw_of(result, train, b, second=s == t), draw_of(result, test, b)
                X = cohorts[test].X[columns]
                predicted = nearest(cohorts[train].X[rows], labels[train][rows], X)
                own = nearest(X, labels[test][columns], X)
                assert result.distribution[b, s, t] == pytest.approx(adjusted_rand_score(predicted, own))
    own_labels = cr.replicability(None, cohorts, labels=True, n_resamples=3, rng=2)
    np.testing.assert_array_equal(own_labels.distribution, result.distribution)
    np.testing.assert_array_equal(np.diag(result.estimate), 1.0)


def test_a_function_of_two_labelings_is_an_agreement_too(cohorts):
    both = cr.replicability(
        AgglomerativeClustering(3), cohorts, agreement=("ari", adjusted_rand_score), n_resamples=3, rng=0
    )
    np.testing.assert_allclose(both["ari"].distribution, both["adjusted_rand_score"].distribution, atol=1e-12)


def test_an_agreement_without_a_number_fails_alone(cohorts):
    def odd(u, v):
        if len(np.unique(u)) == 3:
            raise RuntimeError("no number today")
        return 0.5

    with warned(cr.errors.ReplicateWarning):
        both = cr.replicability(AgglomerativeClustering(3), cohorts, agreement=("ari", odd), n_resamples=3, rng=0)
    alone = cr.replicability(AgglomerativeClustering(3), cohorts, agreement="ari", n_resamples=3, rng=0)
    assert both["ari"].failures == {}
    np.testing.assert_array_equal(both["ari"].distribution, alone.distribution)
    assert both["odd"].failures == {"the agreement failed or is not a number": 36}
    assert (both["odd"].to_frame()["failed"] == 3).all()


def test_labels_in_a_series_are_found_by_the_samples_names(cohorts):
    labels = {name: pd.Series(study.labels, index=study.samples) for name, study in cohorts.items()}
    shuffled = {name: series.sort_values(kind="stable") for name, series in labels.items()}
    expected = cr.replicability(None, cohorts, labels=True, n_resamples=2, rng=0)
    for given in (labels, shuffled):
        result = cr.replicability(None, cohorts, labels=given, n_resamples=2, rng=0)
        np.testing.assert_array_equal(result.distribution, expected.distribution)
    strange = {**labels, "beta": labels["beta"].rename(index={"beta1": "nobody"})}
    with refused(cr.errors.DataError):
        cr.replicability(None, cohorts, labels=strange, n_resamples=2, rng=0)


# --------------------------------------------------------------------------------------------------------------------
# theory


@pytest.mark.parametrize("agreement", ["ari", "ami", "ami_max", "ri"])
def test_identical_studies_and_a_deterministic_clusterer_score_one(rng, agreement):
    X = rng.normal(size=(30, 3))
    result = cr.replicability(AgglomerativeClustering(4), [X, X], agreement=agreement, n_resamples=1, rng=0)
    np.testing.assert_array_equal(result.estimate, 1.0)


def test_every_resample_of_identical_studies_with_the_same_weights_scores_one(rng):
    X = rng.normal(size=(12, 3))
    result = cr.replicability(
        AgglomerativeClustering(3), [X, X], resampling=SameRows(), agreement="ami", n_resamples=3, rng=0
    )
    np.testing.assert_array_equal(result.distribution, 1.0)


@pytest.mark.parametrize("agreement", ["ari", "ami"])
def test_independent_random_labelings_average_zero(rng, agreement):
    # Without replacement: the copies of a row share its label, which is agreement beyond chance.
    result = cr.replicability(
        random_labels,
        [rng.normal(size=(60, 2)), rng.normal(size=(50, 2))],
        agreement=agreement,
        resampling=cr.resampling.Subsample(0.9),
        n_resamples=400,
        rng=1,
    )
    standard_error = result.sd / np.sqrt(400)
    assert np.all(np.abs(result.mean) < 3.5 * standard_error)


def test_section_4_2_two_and_two_blocks():
    """Two mixtures of 16 components in 64 dimensions; the second has the halves of the coordinates swapped."""
    rng = np.random.default_rng(5)
    means = rng.uniform(0, 30, size=(16, 64))
    swapped = np.roll(means, 32, axis=1)
    studies = [
        centres[np.arange(256) % 16] + rng.normal(size=(256, 64)) for centres in (means, means, swapped, swapped)
    ]
    result = cr.replicability(KMeans(16, n_init=5), studies, n_resamples=6, rng=0)
    same = np.kron(np.eye(2), np.ones((2, 2))).astype(bool)
    assert np.all(result.mean[same] > 0.97)
    assert np.all((result.mean[~same] > 0.3) & (result.mean[~same] < 0.7))
    assert 0.4 < result.mean[~same].mean() < 0.6


def test_the_interval_covers_the_monte_carlo_mean_of_appendix_a1():
    """Setting 1 at k = 4. The bootstrap interval must cover the mean over fresh draws in at least 80 % of data sets."""
    centres = {
        "1": np.array([[0, -7], [3.5, 3], [-2, 2], [2, -2]]),
        "2": np.array([[-1, -7], [4.2, 3.3], [-2.5, 1.8], [2.2, -3]]),
    }

    def sampler(study, rng):
        return centres[study.name][rng.integers(4, size=500)] + rng.normal(size=(500, 2))

    clusterer = KMeans(4, n_init=2)
    empty = cr.Studies({name: np.random.default_rng(0).normal(size=(500, 2)) for name in centres})
    options = {"clusterer": clusterer, "diagonal": False}
    truth = cr.replicability(
        **options, studies=empty, resampling=cr.resampling.Simulate(sampler), n_resamples=200, rng=0
    ).mean[0, 1]
    covered = []
    for i in range(40):
        rng = np.random.default_rng(i)
        studies = {name: sampler(study, rng) for name, study in empty.items()}
        low, high = cr.replicability(**options, studies=studies, n_resamples=40, rng=i).confidence_interval()
        covered.append(low[0, 1] <= truth <= high[0, 1])
    assert binomtest(sum(covered), len(covered), 0.8, alternative="less").pvalue > 0.05


# --------------------------------------------------------------------------------------------------------------------
# against itself


def test_a_run_on_two_studies_is_a_block_of_the_run_on_three(cohorts):
    three = cr.replicability(KMeans(3, n_init=2), cohorts, agreement=("ari", "ami"), n_resamples=4, rng=0)
    two = cr.replicability(
        KMeans(3, n_init=2),
        {name: cohorts[name] for name in ("gamma", "alpha")},
        agreement=("ari", "ami"),
        n_resamples=4,
        rng=0,
    )
    block = np.ix_([2, 0], [2, 0])
    for name in three:
        np.testing.assert_array_equal(two[name].estimate, three[name].estimate[block])
        np.testing.assert_array_equal(two[name].distribution, three[name].distribution[:, block[0], block[1]])


def test_more_resamples_begin_with_the_fewer(cohorts):
    few, many = (cr.replicability(KMeans(3, n_init=1), cohorts, n_resamples=n, rng=0) for n in (3, 6))
    np.testing.assert_array_equal(many.distribution[:3], few.distribution)
    np.testing.assert_array_equal(many.estimate, few.estimate)


def test_the_diagonal_is_extra(cohorts):
    with_it, without = (
        cr.replicability(KMeans(3, n_init=1), cohorts, n_resamples=3, rng=0, diagonal=diagonal)
        for diagonal in (True, False)
    )
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_array_equal(with_it.distribution[:, off], without.distribution[:, off])
    assert np.isnan(np.diagonal(without.distribution, axis1=1, axis2=2)).all()
    assert len(with_it.to_frame()) == 9
    assert len(without.to_frame()) == 6
    assert without.failures == {}


def test_one_agreement_is_one_of_several(cohorts):
    several = cr.replicability(KMeans(3, n_init=1), cohorts, agreement=("ri", "ami"), n_resamples=3, rng=0)
    alone = cr.replicability(KMeans(3, n_init=1), cohorts, agreement="ami", n_resamples=3, rng=0)
    assert list(several) == ["ri", "ami"]
    np.testing.assert_array_equal(several["ami"].distribution, alone.distribution)


def test_golden_run_pins_the_random_streams():
    """A clusterer without libraries on fixed numbers: if this changes, every seed in every paper does."""
    x = np.array([0.1, 0.3, 0.4, 0.8, 1.1, 1.9, 2.2, 2.4, 3.0, 3.1])
    result = cr.replicability(
        halves,
        {"a": x[:, None], "b": x[:, None] * 1.5 - 0.7},
        n_resamples=3,
        rng=12345,
        resampling=cr.resampling.Bootstrap(),
    )
    np.testing.assert_allclose(result.distribution, GOLDEN, atol=1e-15)


GOLDEN = np.array([[[1, 1], [1, 1]], [[5 / 17, 1], [5 / 17, 1]], [[1, 1], [5 / 17, 1]]])


# --------------------------------------------------------------------------------------------------------------------
# the result


def test_the_clustering_function_of_a_resample_is_the_one_that_was_scored(cohorts):
    result = cr.replicability(KMeans(3, n_init=1), cohorts, n_resamples=2, rng=0)
    for resample in (None, 1):
        train, test = (result.clustering_function(name, resample) for name in ("alpha", "beta"))
        X = cohorts["beta"].X if resample is None else cohorts["beta"].X[draw_of(result, "beta", resample)]
        expected = result.estimate if resample is None else result.distribution[resample]
        assert adjusted_rand_score(train(X), test(X)) == pytest.approx(expected[0, 1])


def test_algorithm_2_averages_over_the_test_studies(cohorts):
    result = cr.replicability(KMeans(3, n_init=1), cohorts, n_resamples=5, rng=0)
    average = result.for_training_on("beta")
    expected = (result.distribution[:, 1, 0] + result.distribution[:, 1, 2]) / 2
    np.testing.assert_allclose(average.distribution, expected)
    assert average.estimate == pytest.approx((result.estimate[1, 0] + result.estimate[1, 2]) / 2)
    assert average.mean == pytest.approx(expected.mean())
    assert average.sd == pytest.approx(expected.std(ddof=1))
    np.testing.assert_allclose(average.confidence_interval(0.5), np.quantile(expected, [0.25, 0.75]))
    assert repr(average).startswith("Trained on beta")


def test_summaries_follow_from_the_distribution(cohorts):
    result = cr.replicability(KMeans(3, n_init=1), cohorts, n_resamples=7, rng=0)
    frame = result.to_frame(confidence_level=0.8)
    row = frame.set_index(["train", "test"]).loc[("alpha", "gamma")]
    scores = result.distribution[:, 0, 2]
    assert row["score"] == result.estimate[0, 2]
    assert row["mean"] == pytest.approx(scores.mean())
    assert row["sd"] == pytest.approx(scores.std(ddof=1))
    assert (row["low"], row["high"]) == pytest.approx(tuple(np.quantile(scores, [0.1, 0.9])))
    np.testing.assert_allclose(result.quantile(0.5), np.median(result.distribution, axis=0))


def test_trivial_replicates_are_counted_and_said(cohorts):
    result = cr.replicability(DBSCAN(eps=1e6), cohorts, n_resamples=3, rng=0)
    assert result.trivial.all()
    np.testing.assert_array_equal(result.distribution, 1.0)
    np.testing.assert_array_equal(result.clusters_found, 1)
    assert (result.to_frame()["trivial"] == 3).all()
    assert "1.00 [1.00, 1.00]*" in repr(result)
    assert "* single-cluster scores (one side has a single cluster) in more than 5 % of the resamples" in repr(result)


def test_results_are_read_only(cohorts):
    result = cr.replicability(KMeans(3, n_init=1), cohorts, n_resamples=2, rng=0)
    with pytest.raises(ValueError, match="read-only"):
        result.distribution[0] = 0
    with pytest.raises(AttributeError):
        result.estimate = result.estimate


def test_printing_says_who_predicts_whom(cohorts):
    text = repr(cr.replicability(KMeans(3, n_init=1), cohorts, n_resamples=2, rng=0))
    assert text.startswith("Replicability of KMeans, k = 3: ARI, mean and 95 % interval of 2 resamples, seed 0")
    assert all(name in text for name in cohorts.names)


def test_heat_map_draws_on_the_axes_given(cohorts):
    import matplotlib.pyplot as plt

    result = cr.replicability(KMeans(3, n_init=1), cohorts, n_resamples=2, rng=0)
    figure, ax = plt.subplots()
    assert result.plot(ax) is ax
    np.testing.assert_array_equal(ax.images[0].get_array(), result.mean)
    assert [label.get_text() for label in ax.get_yticklabels()] == list(cohorts.names)
    assert result.plot().figure is not figure
