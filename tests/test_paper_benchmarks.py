"""Fig. 1 and 2 of the paper at quick size: which claims hold, and which numbers need a departure from the text."""

from __future__ import annotations

import warnings

import pytest
from paper import fig1_benchmark_sets, fig2_dim_mixtures
from paper.common import FAILS, HOLDS, NOT_RUN


def run(experiment, out):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return experiment.main(out, quick=True)


@pytest.fixture(scope="module")
def fig1(data_folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("fig1")
    return out, run(fig1_benchmark_sets, out)


@pytest.fixture(scope="module")
def fig2(tmp_path_factory):
    """Runs on simulated data where the file is absent."""
    out = tmp_path_factory.mktemp("fig2")
    return out, run(fig2_dim_mixtures, out)


def test_figures_are_drawn(fig1, fig2):
    for out, claims in (fig1, fig2):
        names = [name for claim in claims for name in claim.figures]
        assert names
        assert all((out / name).stat().st_size > 10_000 for name in names)


def test_without_data_fig1_is_not_run(tmp_path, monkeypatch):
    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))
    assert {claim.verdict for claim in fig1_benchmark_sets.main(tmp_path, quick=True)} == {NOT_RUN}


def test_scores_peak_at_the_number_of_round_clusters(fig1):
    d31, r15, *_ = fig1[1]
    assert abs(d31.values["peaks"]["k-means"] - 31) <= 1  # 31 and 32 are .007 apart
    assert d31.values["scores"]["k-means"] > 0.93
    assert r15.values["peaks"]["k-means"] == 15
    assert r15.values["scores"]["k-means"] > r15.values["beside"] + 0.015


def test_the_class_as_a_feature_makes_the_published_scores(fig1):
    d31, r15, *_ = fig1[1]
    assert d31.values["published"]["k-means"] == pytest.approx(1.0, abs=0.01)
    assert d31.values["published"]["Birch"] == pytest.approx(0.997, abs=0.02)
    assert r15.values["published"]["k-means"] == pytest.approx(1.0, abs=0.02)
    assert r15.values["published"]["agglomerative"] < 0.85 < r15.values["scores"]["agglomerative"]
    assert d31.values["published"]["agglomerative"] < 0.6 < d31.values["scores"]["agglomerative"]


def test_aggregation_has_no_single_best_number(fig1):
    values = fig1[1][2].values
    assert 7 not in values["peaks"]
    assert values["at seven"] < 0.9


def test_dbscan_finds_the_arms_only_with_the_class_left_in(fig1):
    spiral = fig1[1][3]
    assert spiral.verdict == FAILS
    assert spiral.values["three"] <= 0.25
    assert spiral.values["dbscan"] < 0.8 < spiral.values["with class"]


def test_ari_and_ami_rank_alike_and_roles_can_be_swapped(fig1):
    *_, rank, roles = fig1[1]
    assert min(rank.values["rank"].values()) > 0.7
    assert min(roles.values["rank"].values()) > 0.85
    assert max(roles.values["difference"].values()) < 0.06


def test_swapped_halves_of_the_coordinates_part_the_mixtures(fig2):
    values = fig2[1][0].values
    k_means = {k: gap for k, gap in values["gaps"]["published"].items() if k.startswith("k-means")}
    assert min(k_means.values()) > 0.15
    within, across = values["published"]["k-means"]
    assert within > 0.95
    assert across < 0.75


def test_a_random_permutation_of_half_of_them_does_not(fig2, data_folder):
    claim = fig2[1][0]
    assert claim.verdict == FAILS
    assert claim.values["across"] > 0.95
    assert claim.values["perfect"] > claim.values["permutations"] / 2


def test_sixteen_clusters_replicate_best_and_affinity_propagation_worst(fig2):
    _, true_k, affinity = fig2[1]
    assert true_k.verdict == HOLDS
    assert all(by_k[16] > by_k[11] + 0.1 for by_k in true_k.values["scores"].values())
    assert max(affinity.values["affinity"].values()) < min(affinity.values["others"].values()) - 0.1


def test_the_same_bytes_twice(fig2, tmp_path):
    out, claims = fig2
    assert run(fig2_dim_mixtures, tmp_path) == claims
    for name in claims[0].figures:
        assert (tmp_path / name).read_bytes() == (out / name).read_bytes()
