"""Fig. 2 of the paper at quick size: permuting half of the coordinates, and swapping the halves."""

from __future__ import annotations

import numpy as np
import pytest
from paper.common import DEPENDS, HOLDS
from paper.fig2_dim_mixtures import affinity, figures, runs
from paper.fig2_dim_mixtures import claims as fig2
from paper.fig2_dim_mixtures.claims import SUBSTANTIAL

from clustrep.datasets import simulate_dim

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def run(data_folder, quick_run):
    return quick_run("fig2_dim_mixtures")


@pytest.fixture(scope="module")
def claims(run):
    return run.claims


def test_figures_are_drawn(run):
    assert len(run.figures) == 2
    assert all((run.folder / name).stat().st_size > 10_000 for name in run.figures)


def test_scores_within_a_mixture_are_not_always_higher(claims, find_claim, errors):
    claim = find_claim(claims, "always higher between two studies of one mixture")
    assert claim.verdict == DEPENDS
    kept, differences = claim.values["kept"], np.array(claim.values["differences"])  # (n_permutations, n_resamples)
    assert 0 < kept.sum() < len(kept)
    assert not np.any(np.array(claim.values["permutations"])[kept])
    assert np.abs(differences[kept]).max() < 1e-9
    assert errors.above(differences[~kept]).max() > 4


def test_swapped_halves_of_the_coordinates_part_the_mixtures(claims, find_claim, errors):
    gaps = find_claim(claims, "always higher between two studies of one mixture").values["published"]
    for name in ("k-means", "mini-batch", "Birch", "agglomerative"):
        assert errors.above(gaps[f"{name}, k = 16"], SUBSTANTIAL) > 4
    assert min(errors.above(gap) for name, gap in gaps.items() if "k = 6" not in name) > 4


def test_across_mixtures_scores_are_not_substantially_lower(claims, find_claim, errors):
    claim = find_claim(claims, "substantially lower")
    assert not any(claim.values["permutations"])
    assert not any(lower for name, lower in claim.values["lower"].items() if "16" in name or "21" in name)
    assert errors.above(claim.values["within"] - claim.values["across"], SUBSTANTIAL) < -4


def test_the_nearest_mean_stays_the_nearest(claims, find_claim, errors):
    claim = find_claim(claims, "different components")
    assert claim.verdict == DEPENDS
    assert errors.above(claim.values["kept"], claim.values["swapped"]) > 4
    assert abs(errors.above(claim.values["differences"])) < 4  # k-means' score across mixtures is that of this count


def test_scores_within_a_study_do_not_tell_those_across(claims, find_claim, errors):
    alone, across = find_claim(claims, "within each study").values["published"]
    assert errors.above(alone - across, SUBSTANTIAL) > 4


def test_sixteen_clusters_replicate_best(claims, find_claim, errors):
    claim = find_claim(claims, "true number of clusters, 16")
    assert claim.verdict == HOLDS
    for by_k in claim.values["scores"].values():
        assert all(errors.above(by_k[16] - by_k[k]) > 4 for k in (6, 11, 21))


def test_affinity_propagation_is_worse_unless_it_converges(claims, find_claim, errors):
    claim = find_claim(claims, "Affinity propagation")
    assert claim.verdict == DEPENDS
    assert all(worse for (_, k), worse in claim.values["worse"].items() if k > 6)
    for (_, k), scores in claim.values["others"].items():
        assert k < 16 or errors.above(scores - claim.values["within"]) > 4
    assert not any(claim.values["converged"])
    within, n_clusters = claim.values["table"][0.7, True]
    assert within > 0.9
    assert n_clusters == pytest.approx(16, abs=1)


def test_without_the_file_data_is_simulated(tmp_path, monkeypatch):
    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))
    study, source = runs.whole()
    assert study.X.shape == (1024, 64)
    assert "simulated" in source
    swapped, permuted = (runs.nearest(study, order) for order in (runs.SWAPPED, runs.permutation(0)))
    assert swapped.kept < 0.5 < 0.8 < permuted.kept  # counts, without Monte Carlo error


def test_the_same_bytes_twice(tmp_path, monkeypatch, find_claim):
    small = simulate_dim(64, 16, 320, rng=1)
    for module in (affinity, fig2, figures, runs):
        monkeypatch.setattr(module, "KS", (6, 16))
    monkeypatch.setattr(fig2, "whole", lambda: (small, "simulated data"))
    monkeypatch.setattr(fig2, "QUICK", runs.Sizes(2, 2, 2, 2, 5, (0.7,), 2, 2, 1))
    first, again = (fig2.main(tmp_path / name, quick=True) for name in ("first", "again"))
    assert first == again
    for name in (name for claim in first for name in claim.figures):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    assert "simulated data" in find_claim(first, "always higher").as_written
