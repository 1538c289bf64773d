"""Algorithm 3: point by point against the table, section 4.3, and the road around it."""

from __future__ import annotations

import contextlib

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score, mutual_info_score, rand_score
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.agreement.contingency import Partition
from clustrep.algorithms import local as local_module
from clustrep.algorithms.local import has_one_cluster

PEERS = {"ari": adjusted_rand_score, "ami": adjusted_mutual_info_score, "ri": rand_score, "mi": mutual_info_score}
WARD = AgglomerativeClustering(3)


def nearest(points, labels, X):
    return np.asarray(labels)[cdist(X, points).argmin(axis=1)]


def local(train, test, **options):
    return cr.local_replicability(WARD, train=train, test=test, **{"n_resamples": 4, "rng": 0, **options})


def functions_of(cohorts, train, test, b, cluster=WARD.fit_predict, rng=0):
    """ψ of both studies in resample b of a global run with the same seed, and the test draw written out."""
    source = cr.replicability(WARD, cohorts, n_resamples=1, rng=rng)._origin.source
    draws = {name: source.draw(cohorts[name], b + 1).sample for name in (train, test)}
    labels = {name: cluster(sample) for name, sample in draws.items()}
    return (
        lambda X: nearest(draws[train], labels[train], X),
        lambda X: nearest(draws[test], labels[test], X),
        draws[test],
    )


# --------------------------------------------------------------------------------------------------------------------
# brute force


@pytest.mark.parametrize("agreement", PEERS)
def test_every_point_equals_algorithm_3_as_written(cohorts, agreement):
    result = local(cohorts["alpha"], cohorts["beta"], agreement=agreement)
    for b in range(4):
        trained, tested, Z = functions_of(cohorts, "alpha", "beta", b)
        for i, x in enumerate(cohorts["alpha"].X):
            together_trained = trained(Z) == trained(x[None])
            together_tested = tested(Z) == tested(x[None])
            expected = PEERS[agreement](together_trained, together_tested)
            assert result.distribution[b, i] == pytest.approx(expected, abs=1e-12)


def thirds_with_noise(X):
    x = X[:, 0] - X[:, 0].mean()
    labels = np.digitize(x, [-1.0, 1.0])
    labels[np.abs(x) > 2.5] = -1
    return labels


@pytest.mark.parametrize("noise", ["label", "drop", "singletons"])
def test_noise_treatments_equal_their_definition(cohorts, noise):
    result = cr.local_replicability(
        thirds_with_noise, train=cohorts["alpha"], test=cohorts["beta"], noise=noise, n_resamples=3, rng=0
    )
    seen_noise = False
    for b in range(3):
        trained, tested, Z = functions_of(cohorts, "alpha", "beta", b, cluster=thirds_with_noise)
        u, v = trained(Z), tested(Z)
        for i, x in enumerate(cohorts["alpha"].X):
            at_u, at_v = trained(x[None])[0], tested(x[None])[0]
            together_u, together_v = u == at_u, v == at_v
            seen_noise |= at_u == -1
            if noise == "singletons":
                together_u, together_v = together_u & (at_u != -1), together_v & (at_v != -1)
            if noise == "drop":
                kept = (u != -1) & (v != -1)
                together_u, together_v = together_u[kept], together_v[kept]
                if -1 in (at_u, at_v):
                    assert np.isnan(result.distribution[b, i])
                    continue
            expected = adjusted_rand_score(together_u, together_v)
            assert result.distribution[b, i] == pytest.approx(expected, abs=1e-12)
    assert seen_noise
    assert np.isfinite(result.by_cluster()["mean"]).all() or noise == "drop"


def test_co_clustering_counts_over_all_test_points(cohorts):
    result = local(cohorts["alpha"], cohorts["beta"])
    expected = np.zeros((2, len(cohorts["beta"])))
    for b in range(4):
        trained, tested, _ = functions_of(cohorts, "alpha", "beta", b)
        x = cohorts["alpha"].X[[7]]
        for side, function in enumerate((trained, tested)):
            expected[side] += (function(cohorts["beta"].X) == function(x)) / 4
    np.testing.assert_allclose(result.co_clustering(7), expected)


def test_noise_shares_its_cluster_with_none_unless_it_is_a_label(cohorts):
    def all_noise(X):
        labels = np.zeros(len(X), dtype=int)
        labels[X[:, 0] > np.median(X[:, 0])] = -1
        return labels

    outermost = cohorts["alpha"].X[[cohorts["alpha"].X[:, 0].argmax()]]
    shared = {
        noise: cr.local_replicability(
            all_noise, train=cohorts["alpha"], test=cohorts["beta"], at=outermost, noise=noise, n_resamples=3, rng=0
        ).co_clustering(0)
        for noise in ("label", "singletons", "drop")
    }
    assert shared["label"].max() == 1
    assert shared["singletons"].max() == shared["drop"].max() == 0


def test_an_agreement_of_the_users_own(cohorts):
    named = local(cohorts["alpha"], cohorts["beta"])
    own = local(cohorts["alpha"], cohorts["beta"], agreement=adjusted_rand_score)
    np.testing.assert_allclose(own.distribution, named.distribution, atol=1e-12)
    assert own.agreement == "adjusted_rand_score"


# --------------------------------------------------------------------------------------------------------------------
# the paper


def test_section_4_3_as_written():
    """σ = 0.2, k = 3, 100 points each: A replicates, B shares its cell with D in the test study, C's cell is empty."""
    means = {"A": (-2.0, -2.0), "B": (0.0, 2.0), "C": (2.0, -2.0), "D": (-1.3, 0.65)}

    def mixture(components, rng):
        return np.array([means[c] for c in components])[rng.integers(3, size=100)] + 0.2 * rng.normal(size=(100, 2))

    at = np.array([means[c] for c in "ABC"])
    scores = []
    for i in range(20):
        rng = np.random.default_rng(i)
        train, test = mixture("ABC", rng), mixture("ABD", rng)
        result = cr.local_replicability(KMeans(3, n_init=4), train=train, test=test, at=at, n_resamples=20, rng=i)
        scores.append(result.mean)
        assert np.all(result.distribution[:, 2] == 0)
        assert result.co_clustering(2)[0].max() == 0
    at_a, at_b, at_c = np.mean(scores, axis=0)
    assert at_a > 0.95
    assert 0.03 < at_b < 0.25
    assert at_c == 0


# --------------------------------------------------------------------------------------------------------------------
# summaries


def test_summaries_follow_from_the_distribution(cohorts):
    result = local(cohorts["alpha"], cohorts["beta"], n_resamples=6)
    scores = result.distribution
    np.testing.assert_allclose(result.mean, scores.mean(axis=0))
    np.testing.assert_allclose(result.sd, scores.std(axis=0, ddof=1), atol=1e-14)
    np.testing.assert_allclose(result.confidence_interval(0.9), np.quantile(scores, [0.05, 0.95], axis=0))
    clusters = result.by_cluster(confidence_level=0.9).set_index("cluster")
    for label in np.unique(result.labels):
        members = result.labels == label
        averages = scores[:, members].mean(axis=1)
        row = clusters.loc[label]
        assert row["size"] == members.sum()
        assert row["estimate"] == pytest.approx(result.estimate[members].mean())
        assert row["mean"] == pytest.approx(averages.mean())
        assert row["sd"] == pytest.approx(averages.std(ddof=1))
        assert (row["low"], row["high"]) == pytest.approx(tuple(np.quantile(averages, [0.05, 0.95])))


def test_quantiles_are_gathered_in_blocks(cohorts, monkeypatch):
    result = local(cohorts["alpha"], cohorts["beta"])
    whole = result.quantile([0.1, 0.5])
    monkeypatch.setattr("clustrep.algorithms.local_scores.POINTS_AT_ONCE", 7)
    np.testing.assert_array_equal(result.quantile([0.1, 0.5]), whole)
    np.testing.assert_array_equal(result.quantile(0.5), whole[1])


def test_labels_are_those_of_the_whole_training_study(cohorts):
    result = local(cohorts["alpha"], cohorts["beta"], at=cohorts["gamma"])
    X = cohorts["alpha"].X
    expected = nearest(X, WARD.fit_predict(X), cohorts["gamma"].X)
    assert cr.agreement.adjusted_rand_index(result.labels, expected) == 1
    assert result.samples == cohorts["gamma"].samples


def test_to_frame_names_every_point(cohorts):
    frame = local(cohorts["alpha"], cohorts["beta"]).to_frame()
    assert list(frame.columns) == ["sample", "cluster", "estimate", "mean", "sd", "low", "high"]
    assert tuple(frame["sample"]) == cohorts["alpha"].samples


def test_printing_says_which_clusters_hold(cohorts):
    text = repr(local(cohorts["alpha"], cohorts["beta"]))
    assert text.startswith(
        "Local replicability of AgglomerativeClustering, k = 3, trained on alpha, tested on beta: ARI"
    )


# --------------------------------------------------------------------------------------------------------------------
# studies and points in all forms


def test_points_can_be_a_study_an_array_a_frame_or_a_single_point(cohorts):
    alpha, beta = cohorts["alpha"], cohorts["beta"]
    expected = local(alpha, beta).distribution
    frame = alpha.to_frame()
    for at in (alpha, alpha.X, alpha.X.tolist(), frame, frame[frame.columns[::-1]]):
        np.testing.assert_array_equal(local(alpha, beta, at=at).distribution, expected)
    np.testing.assert_array_equal(local(alpha, beta, at=alpha.X[[3]]).distribution, expected[:, [3]])


def test_several_test_studies_share_the_training_fits(cohorts):
    together = local(cohorts["alpha"], cohorts)
    assert list(together) == ["beta", "gamma"]
    for name, result in together.items():
        np.testing.assert_array_equal(result.distribution, local(cohorts["alpha"], cohorts[name]).distribution)
        np.testing.assert_array_equal(result.co_clustering(0), local(cohorts["alpha"], cohorts[name]).co_clustering(0))


def test_tables_without_names_are_called_train_and_test(cohorts):
    result = local(cohorts["alpha"].X, cohorts["beta"].X)
    assert (result.train, result.test) == ("train", "test")


def test_frames_are_aligned_by_name(cohorts):
    beta = cohorts["beta"].to_frame()
    expected = local(cohorts["alpha"], cohorts["beta"])
    turned = local(cohorts["alpha"], cr.Study(beta[beta.columns[::-1]], "beta"))
    np.testing.assert_array_equal(turned.distribution, expected.distribution)


def test_a_study_tested_on_itself_is_trained_on_a_second_draw(cohorts):
    result = cr.local_replicability(
        AgglomerativeClustering(6), train=cohorts["alpha"], test=cohorts["alpha"], n_resamples=5, rng=0
    )
    # With the same draw on both sides every score would be 1.
    assert result.mean.min() < 1
    np.testing.assert_array_equal(result.estimate, 1.0)


def test_known_labels_instead_of_a_clusterer(cohorts):
    labels = {name: cohorts[name].labels for name in ("alpha", "beta")}
    result = cr.local_replicability(
        None, train=cohorts["alpha"], test=cohorts["beta"], labels=labels, n_resamples=3, rng=0
    )
    np.testing.assert_array_equal(result.labels, labels["alpha"])
    assert list(result.by_cluster()["cluster"]) == ["A", "B", "C"]
    assert result.by_cluster()["mean"].min() > 0.9  # the cohorts are well separated


def test_simulated_replicates_are_scored_on_their_own_points(cohorts):
    def unlike(study, rng):
        return rng.normal(size=study.X.shape)

    result = cr.local_replicability(
        WARD,
        train=cohorts["alpha"],
        test=cohorts["beta"],
        resampling=cr.resampling.Simulate(unlike),
        n_resamples=2,
        rng=0,
    )
    # The studies themselves replicate perfectly; what is simulated has no clusters.
    np.testing.assert_array_equal(result.estimate, 1.0)
    assert result.mean.max() < 0.9
    assert result.co_clustering(0).shape == (2, len(cohorts["beta"]))


def test_failed_resamples_are_left_out(cohorts):
    calls = {"n": 0}

    def fails_sometimes(X):
        calls["n"] += 1
        if calls["n"] == 4:
            raise RuntimeError("no luck")
        return (X[:, 0] > X[:, 0].mean()).astype(int)

    with warned(cr.errors.ReplicateWarning):
        result = cr.local_replicability(
            fails_sometimes, train=cohorts["alpha"], test=cohorts["beta"], n_resamples=3, rng=0
        )
    assert result.failures == {"RuntimeError: no luck": 1}
    assert np.isnan(result.distribution).all(axis=1).sum() == 1
    assert np.isfinite(result.mean).all()
    assert np.isfinite(result.co_clustering(0)).all()
    assert "Failed: 1 replicate: RuntimeError: no luck" in repr(result)


@pytest.mark.parametrize(
    ("codes", "weights", "expected"),
    [
        ([1, 1, 1], [1, 0, 2], True),
        ([0, 1, 0], [1, 0, 2], True),
        ([0, 1, 0], [1, 1, 0], False),
        ([0, 1, 2], [0, 0, 0], True),
    ],
)
def test_only_samples_with_a_weight_count_as_one_cluster(codes, weights, expected):
    assert has_one_cluster(Partition(np.array(codes), np.arange(3)), np.array(weights)) is expected


def split_where_possible(X):
    """As many clusters as samples, up to 300: more than a byte can number, in some draws."""
    return np.arange(len(X)) if X[:, 0].mean() > 0 else np.arange(len(X)) % 3


FIELDS = [
    "estimate",
    "tables",
    "at_train",
    "at_test",
    "test_points_train",
    "test_points_test",
    "trivial",
    "noise_codes",
]


@pytest.mark.parametrize(
    ("clusterer", "n", "code"),
    [(KMeans(3, n_init=2), 40, "u1"), (KMeans(5, n_init=1), 7, "u1"), (split_where_possible, 300, "u2")],
    ids=["each fits", "some fail", "more than a byte"],
)
def test_labels_do_not_depend_on_how_many_replicates_are_computed_at_once(clusterer, n, code, rng, monkeypatch):
    train, test = rng.normal(size=(2, n, 2))

    def run():
        with pytest.warns(cr.errors.ReplicateWarning) if n == 7 else contextlib.nullcontext():
            return cr.local_replicability(
                clusterer, train=train, test=test, n_resamples=12, resampling=cr.resampling.Bootstrap(), rng=0
            )

    together = run()
    monkeypatch.setattr(local_module, "MOST_LABELS", 1)  # one replicate at a time
    alone = run()
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(together, name), getattr(alone, name))
    assert together.at_train.dtype == code
    assert (n == 7) == bool(together.failed.any())
    np.testing.assert_array_equal(together.at_train[together.failed[1:] > 0], 0)


def test_a_clusterer_that_fails_on_the_training_study_has_no_clusters(cohorts):
    with refused(cr.errors.AllReplicatesFailed):
        cr.local_replicability(KMeans(100), train=cohorts["alpha"], test=cohorts["beta"], n_resamples=2, rng=0)


def test_one_block_everywhere_scores_one(cohorts):
    result = cr.local_replicability(DBSCAN(eps=1e6), train=cohorts["alpha"], test=cohorts["beta"], n_resamples=2, rng=0)
    np.testing.assert_array_equal(result.distribution, 1.0)
    assert result.trivial.all()
    assert "Single-cluster scores: 2 resamples" in repr(result)
    assert not local(cohorts["alpha"], cohorts["beta"]).trivial.any()


def test_a_test_study_that_only_has_the_training_studys_name_is_refused(cohorts):
    others = cr.Studies({"alpha": cohorts["gamma"], "beta": cohorts["beta"]})
    with refused(cr.errors.ParameterError, "train"):
        local(cohorts["alpha"], others)


def test_map_draws_on_the_axes_given(cohorts):
    import matplotlib.pyplot as plt

    result = local(cohorts["alpha"], cohorts["beta"])
    _, ax = plt.subplots()
    assert result.plot(ax) is ax
    assert ax.get_xlabel() == "first principal component"
    np.testing.assert_array_equal(ax.collections[0].get_array(), result.mean)
    flat = local(cohorts["alpha"].X[:, :2], cohorts["beta"].X[:, :2])
    offsets = flat.plot().collections[0].get_offsets()
    np.testing.assert_allclose(offsets, cohorts["alpha"].X[:, :2])
    line = local(cohorts["alpha"].X[:, :1], cohorts["beta"].X[:, :1])
    assert line.plot().get_ylabel() == "mean local ARI"


def test_a_grid_costs_memory_for_labels_only():
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(*[np.linspace(-3, 3, 100)] * 2), axis=-1).reshape(-1, 2)
    result = cr.local_replicability(
        KMeans(3, n_init=1),
        train=rng.normal(size=(60, 2)),
        test=rng.normal(size=(60, 2)),
        at=grid,
        n_resamples=10,
        rng=0,
    )
    kept = sum(value.nbytes for value in vars(result).values() if isinstance(value, np.ndarray) and value is not grid)
    assert result.at_train.dtype == np.uint8
    assert kept < 10 * len(grid) * 8  # less than the distribution alone would take
    assert result.to_frame().shape == (10_000, 7)
    assert isinstance(result.to_frame(), pd.DataFrame)
