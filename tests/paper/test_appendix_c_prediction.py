"""Appendix C.2 of the paper at quick size: prediction strength and in-group proportion."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from paper.appendix_c_common import GROUPS, load_shapes
from paper.appendix_c_prediction import claims as prediction_claims
from paper.appendix_c_prediction import in_group
from paper.appendix_c_prediction.figures import draw_strength
from paper.appendix_c_prediction.runs import strength, with_self_pairs
from paper.common import quietly
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep import datasets


@pytest.fixture(scope="module")
def run(data_folder, quick_run):
    return quick_run("appendix_c_prediction")


@pytest.fixture(scope="module")
def prediction(run):
    return run.claims


def test_figures_are_written(run):
    assert run.figures
    assert all((run.folder / name).stat().st_size > 5000 for name in run.figures)


def test_every_verdict_has_a_question(prediction):
    assert all(bool(claim.rule) == (claim.verdict != "not run") for claim in prediction)


def test_without_data_every_claim_is_not_run(tmp_path, monkeypatch):
    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))
    claims = prediction_claims.main(tmp_path, quick=True)
    assert [claim.verdict for claim in claims] == ["not run"] * 6
    assert len({claim.claim for claim in claims}) == 6
    assert not any(str(tmp_path) in claim.why for claim in claims)


def test_same_claims_and_bytes_twice(data_folder, tmp_path):
    """With a few splits and starts."""
    shapes = load_shapes()
    truth = {name: np.asarray(study.labels) for name, study in shapes.items()}

    def run_small(folder):
        written = {name: strength(study, 3, 2, 1) for name, study in shapes.items()}
        published = {name: with_self_pairs(result) for name, result in written.items()}
        groups = in_group.proportions(shapes, 2)
        figure = draw_strength(shapes, written, published, folder)
        lines = [prediction_claims.minimum_claim(written), in_group.neighbours_claim(groups, truth)]
        return lines, (folder / figure).read_bytes()

    with warnings.catch_warnings():
        quietly()
        assert run_small(tmp_path / "first") == run_small(tmp_path / "again")


def test_prediction_strength_prefers_few_clusters_where_groups_are_not_found(prediction, find_claim, errors):
    claim = find_claim(prediction, "favour few clusters")
    assert claim.verdict == "depends"
    assert claim.values["parts"] == {"aggregation": True, "compound": True, "r15": False}
    for name in ("aggregation", "compound"):
        assert claim.values[name]["best"] < GROUPS[name]
        assert errors.above(claim.values[name]["at best"] - claim.values[name]["at groups"]) > 4
    assert claim.values["r15"]["best"] == GROUPS["r15"]


def test_largest_k_with_enough_prediction_strength_is_fifteen_on_r15(data_folder):
    X = datasets.load_shape("r15").X
    result = cr.prediction_strength(KMeans(n_init=10), X, n_clusters=range(2, 21), n_splits=20, rng=0)
    assert result.best_n_clusters == result.recommended() == 15


def test_minimum_hides_good_clusters_and_is_not_the_cause(prediction, find_claim, errors):
    claim = find_claim(prediction, "comes from the minimum")
    assert claim.verdict == "does not hold"
    for name in ("aggregation", "compound"):
        assert errors.above(claim.values[name]["average"] - claim.values[name]["minimum"]) > 4
        assert max(claim.values[name]["best"]) < GROUPS[name]


def test_in_group_proportion_is_overconfident(prediction, find_claim, errors):
    claim = find_claim(prediction, "overconfident")
    assert claim.verdict != "does not hold"
    assert (claim.values["close"]["aggregation", 5] == 1).all()
    assert errors.above(claim.values["close"]["aggregation", 10], 0.5) > 4
    lowest = [values.min() for values in claim.values["ten"]]
    assert errors.above(lowest, 0.5) > 4


def test_more_neighbours_lower_spurious_clusters_more(prediction, find_claim, errors):
    claim = find_claim(prediction, "nearest neighbours")
    assert claim.verdict != "does not hold"
    for spurious, real in claim.values["falls"].values():
        assert errors.above(np.subtract(spurious, real)) > 4


def test_splits_and_distances_change_the_answer(prediction, find_claim):
    claim = find_claim(prediction, "need no parameter")
    assert claim.verdict == "depends"
    assert len(set(claim.values["splits"]["r15"])) > 1
    assert claim.values["splits"]["compound"] == [2]


def test_noise_does_not_help_prediction_strength(prediction, find_claim):
    claim = find_claim(prediction, "perturbed versions")
    assert claim.verdict == "does not hold"
    for name, (before, after) in claim.values["best"].items():
        assert abs(after - GROUPS[name]) >= abs(before - GROUPS[name])
