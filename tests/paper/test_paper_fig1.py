"""Fig. 1 of the paper at quick size: what holds, and which numbers need a departure from the text."""

from __future__ import annotations

import warnings

import pytest
from paper.common import FAILS, HOLDS, NOT_RUN

from paper import fig1_benchmark_sets as fig1


@pytest.fixture(scope="module")
def run(data_folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("fig1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return out, fig1.main(out, quick=True)


@pytest.fixture(scope="module")
def claims(run):
    return run[1]


def test_the_figure_is_drawn(run):
    out, claims = run
    assert (out / claims[0].figures[0]).stat().st_size > 10_000


def test_without_data_no_claim_is_run(tmp_path, monkeypatch, claims):
    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))
    absent = fig1.main(tmp_path, quick=True)
    assert {one.verdict for one in absent} == {NOT_RUN}
    assert [one.claim for one in absent] == [one.claim for one in claims]
    assert not any(str(tmp_path) in one.why for one in absent)


def test_scores_peak_at_the_number_of_round_clusters(claims, find_claim):
    r15 = find_claim(claims, "r15:")
    assert r15.verdict == HOLDS
    assert set(r15.values["peaks"].values()) == {15}
    ahead, _ = r15.values["ahead"]
    assert ahead > 0.01
    d31 = find_claim(claims, "d31:")
    assert d31.values["parts"]["k-means", "ari"]
    assert d31.values["scores"]["k-means", 31] > d31.values["scores"]["k-means", 15] + 0.03


def test_the_class_as_a_feature_makes_the_published_scores(claims, find_claim):
    d31, r15 = (find_claim(claims, f"{name}:").values for name in ("d31", "r15"))
    for found in (d31, r15):
        assert found["published"]["k-means"].ours.mean() == pytest.approx(1.0, abs=0.01)
        assert found["published"]["Birch"].ours.mean() == pytest.approx(0.998, abs=0.02)
    assert d31["published"]["agglomerative"].ours.mean() < 0.7 < d31["scores"]["agglomerative", 31]


def test_aggregation_is_not_peaked_at_its_classes(claims, find_claim):
    tops = find_claim(claims, "aggregation:").values["peaks"]
    assert 7 not in tops["aggregation"]
    assert set(tops["r15"]) == {15}


def test_dbscan_finds_the_arms_only_with_the_class_left_in(claims, find_claim):
    arms = find_claim(claims, "three arms")
    assert arms.verdict == FAILS
    assert arms.values["within"].mean() > arms.values["between"].mean() + 0.1
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
    assert [one for one in claims if one.ours] == [rank, roles]
    for one in (rank, roles):
        assert min(value for value, _ in one.values["rank"].values()) > 0.6
