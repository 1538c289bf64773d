"""Tables of the whole analysis, the places of samples, and what an interval would hide."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.analysis.cases import WARD
from tests.sentences import refused

import clustrep as cr
from clustrep.analysis.analyse import place_samples
from clustrep.errors import ParameterError, ReplicateWarning
from clustrep.statistics import Modes, estimate_is_far, two_modes

# ---------------------------------------------------------------------------------------------------------------------
# tables


def test_levels_of_intervals_can_be_chosen(found):
    assert (found.scores(0.5)["low"] >= found.scores(0.95)["low"]).all()
    assert (found.samples(0.5)["high"] <= found.samples(0.95)["high"]).all()


def test_samples_have_their_scores_and_places(found, studies):
    table = found.samples()
    assert table.columns.tolist() == [
        *["train", "sample", "cluster", "test", "estimate", "mean", "sd", "low", "high", "x", "y"]
    ]
    assert len(table) == 6 * 30
    own = table[(table["train"] == "beta") & (table["test"] == "alpha")]
    one = found.local[2]
    assert (one.train, one.test) == ("beta", "alpha")
    assert own["sample"].tolist() == list(studies["beta"].samples)
    assert own["mean"].tolist() == one.mean.tolist()
    np.testing.assert_array_equal(own[["x", "y"]], found.coordinates[30:60])
    np.testing.assert_array_equal(found.coordinates_of("gamma"), found.coordinates[60:])


def test_scores_stand_beside_their_null_distributions(compared):
    table = compared.scores()
    assert len(table) == 2 * 2 * 4
    assert table.columns[-6:].tolist() == ["null_mean", "null_low", "null_high", "excess", "pvalue", "qvalue"]
    diagonal = table["train"] == table["test"]
    assert table.loc[diagonal, "null_mean"].isna().all()
    assert table.loc[~diagonal, "null_mean"].notna().all()
    against = compared.reference.to_frame()
    assert sorted(table.loc[~diagonal, "pvalue"]) == sorted(against["pvalue"])
    pd.testing.assert_frame_equal(table.iloc[:, :-6], compared.comparison.to_frame())


def test_failures_of_all_parts_are_counted(studies):
    with pytest.warns(ReplicateWarning):
        made = cr.analyse(WARD, studies, n_clusters=[3, 19], n_null=0, n_resamples=4, rng=0)
    assert sum(made.failures.values()) == sum(sum(one.failures.values()) for one in (made.comparison, *made.local))
    assert made.failures


# ---------------------------------------------------------------------------------------------------------------------
# places


def test_principal_axes_place_all_samples_together(found, studies):
    X = np.concatenate([study.X for study in studies.values()])
    centred = X - X.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(np.abs(found.coordinates), np.abs(u[:, :2] * s[:2]), atol=1e-10)
    shares = s**2 / (s**2).sum()
    assert found.coordinate_names == (
        f"first principal component ({shares[0]:.0%})",
        f"second principal component ({shares[1]:.0%})",
    )


def test_tsne_places_samples_the_same_each_time(studies):
    pair = cr.Studies(list(studies.values())[:2])
    (first, names), (second, _) = place_samples(pair, "tsne"), place_samples(pair, "tsne")
    assert first.tobytes() == second.tobytes()
    assert first.shape == (60, 2)
    assert first.dtype == float
    assert names == ("first t-SNE coordinate", "second t-SNE coordinate")


@pytest.mark.parametrize("embedding", ["pca", "tsne"])
def test_one_and_two_features_are_drawn_as_they_are(embedding, studies):
    two = studies.select(["gene2", "gene1"])
    places, names = place_samples(two, embedding)
    np.testing.assert_array_equal(places, np.concatenate([study.X for study in two.values()]))
    assert names == ("gene2", "gene1")
    one = studies.select(["gene3"])
    places, names = place_samples(one, embedding)
    np.testing.assert_array_equal(places[:, 0], np.concatenate([study.X[:, 0] for study in one.values()]))
    assert not places[:, 1].any()
    assert names == ("gene3", "")
    made = cr.analyse(WARD, one, n_clusters=[2], n_null=0, n_resamples=2, scale="none", rng=0).placed(embedding)
    assert made.coordinates.tobytes() == places.tobytes()


def test_samples_are_placed_by_another_embedding_while_features_are_in_memory(found, tmp_path):
    axes = found.plot(embedding="tsne")
    assert axes.get_xlabel() == found.placed("tsne").coordinate_names[0] == "first t-SNE coordinate"
    assert found.placed("pca").coordinates.tobytes() == found.coordinates.tobytes()
    found.placed("tsne").save(tmp_path / "found.npz")
    loaded = cr.load(tmp_path / "found.npz")
    assert loaded.coordinates.tobytes() == found.placed("tsne").coordinates.tobytes()
    for analysis, embedding in ((loaded, "pca"), (found, "umap")):
        with refused(ParameterError, "embedding"):
            analysis.plot(embedding=embedding)


# ---------------------------------------------------------------------------------------------------------------------
# what an interval would hide


def best_split(values):
    """Try all splits: the share of the variance between the halves, their means, the share of the upper one."""
    ordered = sorted(values)
    tried = []
    for i in range(1, len(ordered)):
        low, high = ordered[:i], ordered[i:]
        within = sum((x - np.mean(low)) ** 2 for x in low) + sum((x - np.mean(high)) ** 2 for x in high)
        tried.append((1 - within / (len(ordered) * np.var(ordered)), np.mean(low), np.mean(high), len(high)))
    return max(tried)


@pytest.mark.parametrize("seed", range(8))
def test_modes_are_those_of_the_best_of_all_splits(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 40))
    values = np.where(rng.random(n) < rng.uniform(0.2, 0.8), 0.9, 0.2) + rng.uniform(0.01, 0.2) * rng.normal(size=n)
    explained, low, high, n_high = best_split(values)
    seen = two_modes(values)
    flagged = explained >= 0.85 and high - low >= 0.1 and 0.1 <= n_high / n <= 0.9
    assert (seen is not None) == flagged
    if seen is not None:
        np.testing.assert_allclose([seen.low, seen.high, seen.share_high], [low, high, n_high / n], rtol=1e-9)


@pytest.mark.parametrize("share", [0.15, 0.3, 0.5, 0.85])
def test_mixtures_are_flagged(share):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        upper = np.arange(100) < 100 * share
        seen = two_modes(np.where(upper, 0.9, 0.4) + 0.03 * rng.normal(size=100))
        assert seen is not None
        assert seen.share_high == pytest.approx(share)
        assert (seen.low, seen.high) == pytest.approx((0.4, 0.9), abs=0.03)


@pytest.mark.parametrize("kind", ["normal", "uniform", "beta"])
def test_one_mode_is_rarely_taken_for_two(kind):
    rng = np.random.default_rng(12)
    draw = {
        "normal": lambda: 0.6 + 0.15 * rng.normal(size=100),
        "uniform": lambda: rng.uniform(size=100),
        "beta": lambda: rng.beta(*rng.uniform(1, 8, size=2), size=100),
    }[kind]
    samples = [draw() for _ in range(200)]
    assert sum(two_modes(values) is not None for values in samples) <= 4
    false_alarms = sum(estimate_is_far(float(values[0]), values[1:]) for values in samples)
    assert false_alarms <= 200 * 0.1  # one of the values themselves: outside 95 % of the others in 5 % of cases


def test_missing_values_are_left_out():
    values = np.r_[np.linspace(0.2, 0.3, 30), np.linspace(0.9, 1.0, 70)]
    holes = np.r_[values, np.full(50, np.nan), [np.inf]]
    assert two_modes(np.random.default_rng(0).permutation(holes)) == two_modes(values) == Modes(0.25, 0.95, 0.7)
    assert estimate_is_far(0.0, holes)
    assert not estimate_is_far(np.nan, values)
    assert two_modes(np.full(100, np.nan)) is None
    assert not estimate_is_far(0.5, np.full(100, np.nan))


def test_too_few_or_equal_values_tell_nothing():
    assert two_modes(np.r_[np.zeros(9), np.ones(10)]) is None
    assert two_modes(np.r_[np.zeros(10), np.ones(10)]) == Modes(0.0, 1.0, 0.5)
    assert not estimate_is_far(5.0, np.zeros(19))
    assert estimate_is_far(5.0, np.zeros(20))
    assert two_modes(np.ones(100)) is None


def test_near_modes_and_single_outliers_are_no_modes():
    assert two_modes(np.r_[np.zeros(50), np.full(50, 0.09)]) is None
    assert two_modes(np.r_[np.zeros(91), np.ones(9)]) is None
    assert two_modes(np.r_[np.zeros(89), np.ones(11)]) == Modes(0.0, 1.0, 0.11)


def test_a_tenth_is_enough():
    assert two_modes(np.r_[np.zeros(90), np.ones(10)]) == Modes(0.0, 1.0, 0.1)


def test_an_estimate_is_far_when_it_is_outside_and_far():
    values = np.linspace(0.4, 0.6, 101)
    assert not estimate_is_far(0.59, values)  # inside
    assert estimate_is_far(0.61, values)
    assert estimate_is_far(0.3, values)
    assert not estimate_is_far(0.55, values / 100 + 0.5)  # outside, and near


def test_the_summary_has_what_the_choice_rests_on(compared):
    table = compared.summary()
    choice = compared.choice.to_frame()
    own = table[table["agreement"] == "ari"].sort_values("k").reset_index(drop=True)
    assert own["k"].tolist() == choice["k"].tolist()
    np.testing.assert_array_equal(own["mean"], choice["score"])
    np.testing.assert_array_equal(own["adjusted"], choice["adjusted"])
    np.testing.assert_array_equal(own["probability_best"].to_numpy(float), choice["probability_best"])
    assert table[table["agreement"] == "ami"]["probability_best"].isna().all()
