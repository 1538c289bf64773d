"""Fig. 2 of the paper at quick size: permuting half of the coordinates, and swapping the halves."""

from __future__ import annotations

import pytest
from paper.common import DEPENDS, HOLDS

from clustrep.datasets import simulate_dim
from paper import fig2_dim_mixtures, fig2_runs

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fig2")


@pytest.fixture(scope="module")
def claims(data_folder, folder):
    return fig2_dim_mixtures.main(folder, quick=True)


def figures_of(claims):
    return [name for claim in claims for name in claim.figures]


def test_figures_are_drawn(claims, folder):
    assert len(figures_of(claims)) == 2
    assert all((folder / name).stat().st_size > 10_000 for name in figures_of(claims))


def test_scores_within_a_mixture_are_not_always_higher(claims, find_claim):
    claim = find_claim(claims, "always higher between two studies of one mixture")
    assert claim.verdict == DEPENDS
    kept, differences = claim.values["kept"], claim.values["differences"]
    assert 0 < kept.sum() < len(kept)
    assert not any(above for above, same in zip(claim.values["permutations"], kept, strict=True) if same)
    assert abs(differences[kept]).max() < 1e-9
    assert differences[~kept].max() > 0.02


def test_swapped_halves_of_the_coordinates_part_the_mixtures(claims, find_claim):
    published = find_claim(claims, "always higher between two studies of one mixture").values["published"]
    for name in ("k-means", "mini-batch", "Birch", "agglomerative"):
        assert 0.35 < published[f"{name}, k = 16"] < 0.6
    assert min(gap for name, gap in published.items() if "k = 6" not in name) > 0.1


def test_across_mixtures_scores_are_not_substantially_lower(claims, find_claim):
    claim = find_claim(claims, "substantially lower")
    assert not any(claim.values["permutations"])
    assert not any(lower for name, lower in claim.values["lower"].items() if "16" in name or "21" in name)
    assert claim.values["within"] > 0.99
    assert claim.values["across"] > 0.93


def test_the_nearest_mean_stays_the_nearest(claims, find_claim):
    claim = find_claim(claims, "different components")
    assert claim.verdict == DEPENDS
    assert claim.values["own"] > 0.95
    assert claim.values["swapped"] < 0.2
    assert claim.values["error"].max() < 0.03


def test_scores_within_a_study_do_not_tell_those_across(claims, find_claim):
    alone, across = find_claim(claims, "within each study").values["published"]
    assert alone > 0.99
    assert across < 0.65


def test_sixteen_clusters_replicate_best(claims, find_claim):
    claim = find_claim(claims, "true number of clusters, 16")
    assert claim.verdict == HOLDS
    for by_k in claim.values["scores"].values():
        assert by_k[16] > max(by_k[6], by_k[11]) + 0.1
        assert by_k[16] > by_k[21] + 0.01


def test_affinity_propagation_is_worse_unless_it_converges(claims, find_claim):
    claim = find_claim(claims, "Affinity propagation")
    assert claim.verdict == DEPENDS
    assert all(worse for (_, k), worse in claim.values["worse"].items() if k > 6)
    assert claim.values["own"] < 0.65
    assert not any(claim.values["converged"])
    within, n_clusters = claim.values["table"][0.7, True]
    assert within > 0.9
    assert n_clusters == pytest.approx(16, abs=1)


def test_without_the_file_data_is_simulated(tmp_path, monkeypatch):
    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))
    study, source = fig2_runs.whole()
    assert study.X.shape == (1024, 64)
    assert "simulated" in source
    swapped, permuted = (fig2_runs.nearest(study, order) for order in (fig2_runs.SWAPPED, fig2_runs.permutation(0)))
    assert swapped.own < 0.5 < 0.8 < permuted.own


def test_the_same_bytes_twice(tmp_path, monkeypatch, find_claim):
    small = simulate_dim(64, 16, 320, rng=1)
    monkeypatch.setattr(fig2_dim_mixtures, "whole", lambda: (small, "simulated data"))
    monkeypatch.setattr(fig2_dim_mixtures, "QUICK", fig2_runs.Sizes(2, 2, 2, 2, 5, (0.7,), 2, 2, 1))
    first, again = (fig2_dim_mixtures.main(tmp_path / name, quick=True) for name in ("first", "again"))
    assert first == again
    for name in figures_of(first):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    assert "simulated data" in find_claim(first, "always higher").as_written
