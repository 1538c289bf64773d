"""Fig. 1 of the paper at quick size: what holds, and which numbers need a departure from the text."""

from __future__ import annotations

import numpy as np
import pytest
from paper.common import FAILS, HOLDS, NOT_RUN
from paper.fig1_benchmark_sets import claims as fig1


@pytest.fixture(scope="module")
def run(data_folder, quick_run):
    return quick_run("fig1_benchmark_sets")


@pytest.fixture(scope="module")
def claims(run):
    return run.claims


def test_the_figure_is_drawn(run):
    assert run.figures == ["fig1_benchmark_sets.png"]
    assert (run.folder / run.figures[0]).stat().st_size > 10_000


def test_without_data_no_claim_is_run(tmp_path, monkeypatch, claims):
    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))
    absent = fig1.main(tmp_path, quick=True)
    assert {claim.verdict for claim in absent} == {NOT_RUN}
    assert [claim.claim for claim in absent] == [claim.claim for claim in claims]
    assert not any(str(tmp_path) in claim.why for claim in absent)


def test_scores_peak_at_the_number_of_round_clusters(claims, find_claim, errors):
    r15 = find_claim(claims, "r15:")
    assert r15.verdict == HOLDS
    assert set(r15.values["peaks"].values()) == {15}
    ahead, error = r15.values["ahead"]
    assert ahead > 4 * error
    d31 = find_claim(claims, "d31:")
    assert d31.values["parts"]["k-means", "ari"]
    k_means = d31.values["scores"].loc["k-means"]
    assert errors.above(k_means.loc[31] - k_means.loc[15]) > 4


@pytest.mark.parametrize("clusterer", ["k-means", "Birch"])
def test_the_class_as_a_feature_gives_the_published_scores(claims, find_claim, clusterer):
    pairs = [find_claim(claims, f"{name}:").values["published"][clusterer] for name in ("d31", "r15")]
    # Among splits; the printed score is of a single split, and has three digits.
    sd = np.sqrt(np.mean([pair.ours.var(ddof=1) for pair in pairs]))
    for pair in pairs:
        assert pair.ours.mean() == pytest.approx(pair.printed, abs=4 * sd * np.sqrt(1 + 1 / len(pair.ours)) + 0.0005)


def test_trees_of_two_clusters_on_the_test_half_lower_the_published_scores(claims, find_claim, errors):
    values = find_claim(claims, "d31:").values
    assert errors.apart(values["scores"].loc[("agglomerative", 31)], values["published"]["agglomerative"].ours) > 4


def test_aggregation_is_not_peaked_at_its_classes(claims, find_claim):
    tops = find_claim(claims, "aggregation:").values["peaks"]
    assert 7 not in tops["aggregation"]
    assert set(tops["r15"]) == {15}


def test_dbscan_finds_the_arms_only_with_the_class_left_in(claims, find_claim, errors):
    arms = find_claim(claims, "three arms")
    assert arms.verdict == FAILS
    assert errors.above(arms.values["within"] - arms.values["between"]) > 4
    within, between = arms.values["full"]
    assert within < between
    assert arms.values["with class"]["three"].all()
    assert not arms.values["without class"]["three"].any()
    assert find_claim(claims, "k = 2, 3").verdict == FAILS


def test_the_score_guides_the_choice_of_k_where_clusters_are_round(claims, find_claim):
    values = find_claim(claims, "the number of clusters of each algorithm").values
    assert all(ahead for (name, _), ahead in values["parts"].items() if name in ("d31", "r15"))
    assert all(rank > 4 * error for name, (rank, error) in values["rank"].items() if name in ("d31", "r15"))


def test_the_score_picks_too_few_clusters_on_r15_once_dbscan_is_asked(claims, find_claim):
    values = find_claim(claims, "the choice of the algorithm").values
    assert not values["parts"]["r15"]
    assert values["without"]["r15"]


def test_remarks_of_our_own_are_marked(claims, find_claim):
    rank, roles = find_claim(claims, "by ARI is the best one by AMI"), find_claim(claims, "change places")
    assert [claim for claim in claims if claim.ours] == [rank, roles]
    for claim in (rank, roles):
        assert all(value > 4 * error for value, error in claim.values["rank"].values())
