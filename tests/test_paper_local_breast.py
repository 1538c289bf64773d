"""Figures 3 to 6, the gold-standard figure and Table 1, at quick size: what holds, and what does not."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def local_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("local")


@pytest.fixture(scope="module")
def local(local_folder):
    from paper import fig3_fig4_local

    return fig3_fig4_local.main(local_folder, quick=True)


@pytest.fixture(scope="module")
def breast_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("breast")


@pytest.fixture(scope="module")
def breast(data_folder, breast_folder):
    from paper import fig5_fig6_breast

    return fig5_fig6_breast.main(breast_folder, quick=True)


def _figures(claims, folder):
    names = [name for claim in claims for name in claim.figures]
    assert all((folder / name).stat().st_size > 10_000 for name in names)
    return names


def test_scores_at_three_points(local):
    claim = local[0]
    a, b, c = claim.values["written"]
    assert claim.verdict == "holds"
    assert a > 0.95
    assert 0.05 < b < 0.2
    assert abs(c) < 0.01
    assert (claim.values["off"] < 2).all()
    assert claim.values["published"] == pytest.approx([0.475, 0.415, 0.0], abs=0.05)
    assert claim.values["sd"][:2] == pytest.approx([0.12, 0.11], abs=0.03)


def test_the_order_of_two_points_holds_as_written_alone(local):
    written, published = local[1].values["a_above_b"]
    assert local[1].verdict == "holds"
    assert written > 0.99
    assert 0.45 < published < 0.8


def test_the_training_function_joins_what_the_test_function_separates(local):
    cross, own = local[2].values["written"]
    assert cross > 0.9
    assert own < 0.1
    cross, own = local[2].values["published"]
    assert 0.25 < cross < 0.85
    assert own < 0.2


def test_scores_over_the_plane(local, local_folder):
    a, b, d = local[3].values["written"]
    assert a > 0.9
    assert max(b, d) < 0.35
    assert local[3].values["change"] < 0.03
    assert len(_figures(local, local_folder)) == 8


def test_the_same_bytes_twice(local, local_folder, tmp_path):
    from paper import fig3_fig4_local

    again = fig3_fig4_local.main(tmp_path, quick=True)
    assert again == local
    for name in _figures(local, local_folder):
        assert (tmp_path / name).read_bytes() == (local_folder / name).read_bytes()


def test_k_means_replicates_best_with_two_clusters_others_with_three(breast):
    claim = breast[0]
    assert claim.verdict == "depends"
    for variant in ("written", "published"):
        assert claim.values[variant]["k-means"] == [2] * 6
        assert claim.values[variant]["Birch"].count(3) >= 4
    assert claim.values["written"]["agglomerative"].count(3) >= 4
    assert (claim.values["best"].clusterer, claim.values["best"].n_clusters) == ("k-means", 2)


def test_stored_numbers_come_from_permutations(breast):
    values = breast[1].values
    assert breast[1].verdict == "does not hold"
    assert values["published"] == pytest.approx(values["printed"], abs=0.01)
    assert values["written"][2] < values["printed"][2] - 0.08


def test_what_else_is_observed_holds(breast):
    assert [claim.verdict for claim in breast[2:5]] == ["holds"] * 3
    assert breast[2].values["same"] >= 6
    assert breast[3].values["gap"] < 0.1
    assert breast[4].values["by_setting"] > 0.65


def test_replicable_partitions_are_not_always_like_the_subtypes(breast):
    values = breast[5].values
    assert breast[5].verdict == "depends"
    assert values["k"][0] == 2
    assert values["like"][3] > values["like"][2] + 0.05
    assert values["rho_published"] > values["rho"] + 0.1 > 0.2


def test_basal_replicates_best(breast):
    values = breast[6].values
    assert breast[6].verdict == "holds"
    assert values["first"] == values["luminal_last"] == 6
    assert values["published"]["ari"] == pytest.approx([0.814, 0.443, 0.280, 0.235], abs=0.12)
    for scores in (*values["written"].values(), *values["published"].values()):
        assert scores[0] > scores[1] + 0.2
        assert np.argmax(scores) == 0


def test_clusters_are_half_like_the_subtypes(breast):
    assert breast[7].verdict == "depends"
    assert 0.3 < breast[7].values["ari"] < 0.5
    assert breast[7].values["vdx"] > breast[7].values["same"] + 0.1


def test_table_1(breast):
    values = breast[8].values
    assert breast[8].verdict == "holds"
    assert values["ari"] == pytest.approx([0.333, 0.341, 0.538], abs=0.001)
    assert values["ami_max"] == pytest.approx([0.378, 0.391, 0.493], abs=0.001)
    assert (np.array(values["ami"]) > np.array(values["ami_max"]) + 0.01).all()


def test_figures_of_the_cohorts(breast, breast_folder):
    assert _figures(breast, breast_folder) == ["fig5.png", "fig9_gold_standard.png", "fig6.png"]


def test_without_files_nothing_is_run(monkeypatch, tmp_path):
    from paper import fig5_fig6_breast

    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))
    claims = fig5_fig6_breast.main(tmp_path, quick=True)
    assert {claim.verdict for claim in claims} == {"not run"}
    assert str(tmp_path) not in "".join(claim.why for claim in claims)


def test_fifty_genes_are_scored_where_their_files_are(monkeypatch, tmp_path):
    from paper import fig5_fig6_breast

    from clustrep import datasets

    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))
    cohorts = datasets.simulate_cohorts(n_cohorts=3, missing={}, shifted={}, rng=0)
    monkeypatch.setattr(datasets, "load_pam50_cohorts", lambda folder: cohorts)
    claim = fig5_fig6_breast.main(tmp_path, quick=True)[1]
    assert claim.verdict == "holds"
    assert set(claim.values["written"]["k-means"]) == {4}
