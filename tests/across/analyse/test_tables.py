"""Tables and verdicts of the whole analysis, the places of samples, and what an interval would hide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control
from sklearn.cluster import DBSCAN
from tests.across.analyse.cases import WARD

import clustrep as cr
from clustrep.across.analyse import place_samples
from clustrep.errors import ReplicateWarning
from clustrep.results.analysis import HOLDS, NOT_ABOVE, NOT_COMPARED, WEAK, cluster_table
from clustrep.results.shape import Humps, estimate_is_far, two_humps

# ---------------------------------------------------------------------------------------------------------------------
# tables


def test_the_columns_of_clusters(found):
    table = found.clusters()
    assert table.columns.tolist() == [
        *["train", "cluster", "size", "test", "estimate", "mean", "sd", "low", "high"],
        *["null_mean", "null_low", "null_high", "excess", "pvalue", "qvalue", "verdict"],
        *["counterpart", "overlap", "overlap_low", "overlap_high", "found"],
    ]
    k = found.focus.n_clusters
    assert len(table) == 6 * k
    for one, reference in zip(found.local, found.local_references, strict=True):
        own = table[(table["train"] == one.train) & (table["test"] == one.test)]
        assert own["mean"].tolist() == one.by_cluster()["mean"].tolist()
        assert own["pvalue"].tolist() == reference.pvalue.tolist()
        assert own["size"].sum() == 30
    partners = found.counterparts.to_frame()
    assert table["overlap"].tolist() == partners["overlap"].tolist()
    called = zip(partners["test"], partners["counterpart"], strict=True)
    assert table["counterpart"].tolist() == [found.shared_names[pair] for pair in called]


def test_a_cluster_has_the_same_name_in_every_table(found, studies):
    """Clusterers number clusters of every study by themselves; counterparts share the numbers of `presence`."""
    presence, clusters = found.presence(), found.clusters()
    for study in studies:
        names = set(presence.loc[presence["train"] == study, "cluster"]) - {"new"}
        assert set(clusters.loc[clusters["train"] == study, "cluster"]) == names
        assert set(found.clusters_of(study)) == names
        numbers = found.presence_result.labels_of(study).astype(str)
        same = [name.split(" ")[0] for name in found.clusters_of(study)] == numbers
        assert same.mean() > 0.9  # clusters near each other are not cut in the same way


def test_every_sample_has_its_cluster_and_its_group(found, studies):
    table = found.groups()
    assert table.columns.tolist() == ["study", "sample", "cluster", "group"]
    for study, rows in table.groupby("study"):
        assert rows["sample"].tolist() == list(studies[study].samples)
        assert set(rows["cluster"]) == set(found.presence().query("train == @study and cluster != 'new'")["cluster"])
    groups = found.verdict.separation.labels
    assert table["group"].fillna(-1).tolist() == groups.tolist()
    assert (table["cluster"].str.split(" ").str[0] == table["group"].astype(str)).mean() > 0.9


def test_without_gaps_samples_have_clusters_and_without_structure_neither(found):
    structured = replace(found, separations=())
    assert structured.degree == "structured"
    assert structured.groups()["cluster"].equals(found.groups()["cluster"])
    assert structured.groups()["group"].isna().all()
    unknown = replace(structured, reference=None)
    assert unknown.degree is None
    assert unknown.groups().columns.tolist() == found.groups().columns.tolist()
    assert unknown.groups().empty


def test_noise_is_in_no_group(found):
    labels = {"labels": np.full_like(found.presence_result.labels, -1)}
    separations = tuple(replace(result, **labels) for result in found.separations)
    table = replace(found, presence_result=replace(found.presence_result, **labels), separations=separations).groups()
    assert set(table["cluster"]) == {"noise"}
    assert table["group"].isna().all()


def test_q_values_are_over_all_rows(found):
    """Benjamini and Hochberg (1995), by hand: the smallest p·m/rank among this and all larger p-values."""
    table = found.clusters()
    p = table["pvalue"].to_numpy()
    order = np.argsort(p)
    by_hand = np.empty(len(p))
    smallest = 1.0
    for rank in range(len(p), 0, -1):
        smallest = min(smallest, p[order[rank - 1]] * len(p) / rank)
        by_hand[order[rank - 1]] = smallest
    np.testing.assert_allclose(table["qvalue"], by_hand, rtol=1e-12)


def test_levels_of_intervals_can_be_chosen(found):
    wide, narrow = found.clusters(0.95), found.clusters(0.5)
    assert (wide["high"] - wide["low"] >= narrow["high"] - narrow["low"]).all()
    assert (found.scores(0.5)["low"] >= found.scores(0.95)["low"]).all()
    assert (found.samples(0.5)["high"] <= found.samples(0.95)["high"]).all()


def faked(found, pvalues, means, estimates=None, *, names=None, agreement="ari"):
    """The first local result, with other p-values, means and estimates."""
    means_ = means

    class Local:
        train, test = found.local[0].train, found.local[0].test

        @staticmethod
        def by_cluster(_):
            own = means_ if estimates is None else estimates
            labels = range(len(means_)) if names is None else names
            return pd.DataFrame({"cluster": labels, "size": 5, "estimate": own, "mean": means_})

    Local.agreement = agreement

    class Reference:
        distribution = np.zeros((199, 1))

        @staticmethod
        def to_frame(_):
            blank = [0.0] * len(pvalues)
            return pd.DataFrame({"cluster": blank, "observed": blank, "pvalue": pvalues, "qvalue": blank})

    return cluster_table([Local], [Reference])


def test_the_verdict_follows_its_rule(found):
    pvalues = [0.01, 0.01, 0.01, 0.2, 0.2, np.nan]
    table = faked(found, pvalues, [0.9, 0.5, 0.4999, 0.9, 0.1, 0.9])
    assert table["verdict"].tolist() == [HOLDS, HOLDS, WEAK, NOT_ABOVE, NOT_ABOVE, NOT_COMPARED]
    np.testing.assert_array_equal(table["qvalue"][:5], false_discovery_control(pvalues[:5]))
    assert np.isnan(table["qvalue"][5])
    table = faked(found, [0.05, 0.0500001], [0.9, 0.9])
    unsure = "can't tell: above data without clusters only before adjusting"
    assert table["verdict"].tolist() == [unsure, NOT_ABOVE]  # q is 0.0500001 for both
    assert faked(found, [0.05, 0.05], [0.9, 0.2])["verdict"].tolist() == [HOLDS, WEAK]
    assert faked(found, [0.05, 0.05], [0.9, 0.9], [0.5, 0.2])["verdict"].tolist() == [HOLDS, WEAK]
    assert faked(found, [0.01], [np.nan])["verdict"].tolist() == ["no score"]
    assert faked(found, [0.01, 0.01], [0.2, 0.9], agreement="mi")["verdict"].tolist() == [HOLDS, HOLDS]


@pytest.mark.parametrize(("agreement", "verdict"), [("ari", WEAK), ("ami", WEAK), ("ami_max", WEAK), ("ri", HOLDS)])
def test_a_low_score_holds_weakly_by_every_agreement_that_is_adjusted_for_chance(found, agreement, verdict):
    assert faked(found, [0.01], [0.1], agreement=agreement)["verdict"].tolist() == [verdict]


def test_what_no_simulated_cluster_exceeds_is_not_called_no_better(found):
    pvalues = [1 / 200, *[0.9] * 20]
    table = faked(found, pvalues, [0.9] * 21)
    assert table["qvalue"][0] > 0.05
    assert table["verdict"].tolist() == ["can't tell: too few simulated collections", *[NOT_ABOVE] * 20]


def test_noise_is_no_cluster_that_could_hold(found):
    table = faked(found, [0.01, 0.9], [0.9, 0.9], names=[0, -1])
    assert table["cluster"].tolist() == ["0", "noise"]
    assert table["verdict"].tolist() == [HOLDS, "noise"]
    assert table["qvalue"][0] == 0.01  # noise is not among what is adjusted for
    assert np.isnan(table["qvalue"][1])


def test_where_nothing_is_above_data_without_clusters_no_cluster_is_tested():
    rng = np.random.default_rng(4)
    tables = {name: rng.normal(size=(40, 2)) * [4, 1] for name in "ab"}
    made = cr.analyse(WARD, tables, n_clusters=[2, 3], n_null=39, n_resamples=4, rng=0)
    assert made.choice.chosen is None
    assert set(made.clusters()["verdict"]) == {"not tested: the clustering is not above data without clusters"}
    facts = cr.Report(made).facts
    assert [one["kind"] for one in facts["verdict"]][:1] == ["one-piece"]
    assert not [one for one in facts["verdict"] if one["kind"] == "clusters"]


@pytest.mark.filterwarnings("ignore::clustrep.errors.ReplicateWarning")
@pytest.mark.parametrize("noise", ["label", "drop", "singletons"])
def test_finding_only_noise_without_clusters_is_evidence(noise):
    rng = np.random.default_rng(5)
    tables = {name: np.r_[rng.normal(size=(30, 2)) * 0.2, rng.normal(size=(30, 2)) * 0.2 + 5] for name in "ab"}
    made = cr.analyse(
        {"density": DBSCAN(eps=0.35, min_samples=8)}, tables, noise=noise, n_null=39, n_resamples=4, rng=0
    )
    assert made.choice.chosen is not None
    assert float(made.choice.against.adjusted[0]) <= 0.05
    told = made.clusters()
    assert {"noise"} >= set(told[told["verdict"] == "noise"]["cluster"])
    assert (told[told["cluster"] != "noise"]["verdict"] == HOLDS).all()


def test_clusters_are_named_after_known_labels_where_there_are_any(uncompared):
    table = uncompared.clusters()
    assert set(table[table["train"] == "alpha"]["cluster"]) == {"0 (A)", "1 (B)", "2 (C)"}
    assert set(table[table["train"] == "gamma"]["cluster"]) == {"0", "1", "2"}
    assert set(uncompared.samples().query("train == 'alpha'")["cluster"]) == {"0 (A)", "1 (B)", "2 (C)"}
    own = table[(table["train"] == "alpha") & (table["test"] == "beta")]
    assert [name.split()[1] for name in own["counterpart"]] == ["(A)", "(B)", "(C)"]


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


def test_scores_stand_beside_data_without_clusters(found):
    table = found.scores()
    assert len(table) == 4 * 2 * 9
    assert table.columns[-6:].tolist() == ["null_mean", "null_low", "null_high", "excess", "pvalue", "qvalue"]
    diagonal = table["train"] == table["test"]
    assert table.loc[diagonal, "null_mean"].isna().all()
    assert table.loc[~diagonal, "null_mean"].notna().all()
    against = found.reference.to_frame()
    assert sorted(table.loc[~diagonal, "pvalue"]) == sorted(against["pvalue"])
    pd.testing.assert_frame_equal(table.iloc[:, :-6], found.comparison.to_frame())


def test_failures_of_all_parts_are_counted(studies):
    with pytest.warns(ReplicateWarning):
        made = cr.analyse(WARD, studies, n_clusters=[3, 19], null=None, n_resamples=4, rng=0)
    assert sum(made.failures.values()) == sum(
        sum(one.failures.values()) for one in (made.comparison, *made.local, made.counterparts)
    )
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
    made = cr.analyse(WARD, one, n_clusters=[2], null=None, embedding=embedding, n_resamples=2, rng=0)
    assert made.coordinates.tobytes() == places.tobytes()


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
def test_humps_are_those_of_the_best_of_all_splits(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 40))
    values = np.where(rng.random(n) < rng.uniform(0.2, 0.8), 0.9, 0.2) + rng.uniform(0.01, 0.2) * rng.normal(size=n)
    explained, low, high, n_high = best_split(values)
    seen = two_humps(values)
    flagged = explained >= 0.85 and high - low >= 0.1 and 0.1 <= n_high / n <= 0.9
    assert (seen is not None) == flagged
    if seen is not None:
        np.testing.assert_allclose([seen.low, seen.high, seen.share_high], [low, high, n_high / n], rtol=1e-9)


@pytest.mark.parametrize("share", [0.15, 0.3, 0.5, 0.85])
def test_mixtures_are_flagged(share):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        upper = np.arange(100) < 100 * share
        seen = two_humps(np.where(upper, 0.9, 0.4) + 0.03 * rng.normal(size=100))
        assert seen is not None
        assert seen.share_high == pytest.approx(share)
        assert (seen.low, seen.high) == pytest.approx((0.4, 0.9), abs=0.03)


@pytest.mark.parametrize("kind", ["normal", "uniform", "beta"])
def test_one_hump_is_rarely_taken_for_two(kind):
    rng = np.random.default_rng(12)
    draw = {
        "normal": lambda: 0.6 + 0.15 * rng.normal(size=100),
        "uniform": lambda: rng.uniform(size=100),
        "beta": lambda: rng.beta(*rng.uniform(1, 8, size=2), size=100),
    }[kind]
    samples = [draw() for _ in range(200)]
    assert sum(two_humps(values) is not None for values in samples) <= 4
    false_alarms = sum(estimate_is_far(float(values[0]), values[1:]) for values in samples)
    assert false_alarms <= 200 * 0.1  # one of the values themselves: outside 95 % of the others in 5 % of cases


def test_missing_values_are_left_out():
    values = np.r_[np.linspace(0.2, 0.3, 30), np.linspace(0.9, 1.0, 70)]
    holes = np.r_[values, np.full(50, np.nan), [np.inf]]
    assert two_humps(np.random.default_rng(0).permutation(holes)) == two_humps(values) == Humps(0.25, 0.95, 0.7)
    assert estimate_is_far(0.0, holes)
    assert not estimate_is_far(np.nan, values)
    assert two_humps(np.full(100, np.nan)) is None
    assert not estimate_is_far(0.5, np.full(100, np.nan))


def test_too_few_or_equal_values_tell_nothing():
    assert two_humps(np.r_[np.zeros(9), np.ones(10)]) is None
    assert two_humps(np.r_[np.zeros(10), np.ones(10)]) == Humps(0.0, 1.0, 0.5)
    assert not estimate_is_far(5.0, np.zeros(19))
    assert estimate_is_far(5.0, np.zeros(20))
    assert two_humps(np.ones(100)) is None


def test_near_humps_and_single_outliers_are_no_humps():
    assert two_humps(np.r_[np.zeros(50), np.full(50, 0.09)]) is None
    assert two_humps(np.r_[np.zeros(91), np.ones(9)]) is None
    assert two_humps(np.r_[np.zeros(89), np.ones(11)]) == Humps(0.0, 1.0, 0.11)


def test_a_tenth_is_enough():
    assert two_humps(np.r_[np.zeros(90), np.ones(10)]) == Humps(0.0, 1.0, 0.1)


def test_an_estimate_is_far_when_it_is_outside_and_far():
    values = np.linspace(0.4, 0.6, 101)
    assert not estimate_is_far(0.59, values)  # inside
    assert estimate_is_far(0.61, values)
    assert estimate_is_far(0.3, values)
    assert not estimate_is_far(0.55, values / 100 + 0.5)  # outside, and near


def test_the_summary_has_what_the_choice_rests_on(found):
    table = found.summary()
    choice = found.choice.to_frame()
    own = table[table["agreement"] == "ari"].sort_values("k").reset_index(drop=True)
    assert own["k"].tolist() == choice["k"].tolist()
    np.testing.assert_array_equal(own["mean"], choice["score"])
    np.testing.assert_array_equal(own["adjusted"], choice["adjusted"])
    np.testing.assert_array_equal(own["probability_best"].to_numpy(float), choice["probability_best"])
    assert table[table["agreement"] == "ami"]["probability_best"].isna().all()


def test_presence_is_of_the_studies_that_are_followed(studies):
    options = {"n_clusters": [3], "null": None, "n_resamples": 2, "rng": 0}
    everywhere = cr.analyse(WARD, studies, **options).presence()
    followed = cr.analyse(WARD, studies, train="beta", **options)
    expected = everywhere[everywhere["train"] == "beta"].reset_index(drop=True)
    pd.testing.assert_frame_equal(followed.presence(), expected)
    assert followed.groups().groupby("study")["sample"].first().to_dict() == {
        "alpha": "1",
        "beta": "beta1",
        "gamma": "1",
    }
    assert cr.analyse(WARD, studies, train=[], **options).presence().equals(everywhere)
    tables = {item["id"]: item for part in cr.Report(followed).facts["sections"] for item in part["tables"]}
    for name, key in (("presence-table", "train"), ("counterparts-table", "train"), ("differences-table", "study")):
        assert {row[key] for row in tables[name]["rows"]} == {"beta"}
