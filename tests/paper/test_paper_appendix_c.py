"""Appendix C of the paper at quick size: verdicts, and the directions of its claims."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from paper.appendix_c_common import above, counted, share_of_pairs
from paper.common import quietly
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep import datasets
from paper import appendix_c_prediction, appendix_c_stability, appendix_c_tests


def run(experiment, out):
    with warnings.catch_warnings():
        quietly()
        return experiment.main(out, quick=True)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("appendix_c")


@pytest.fixture(scope="module")
def stability(data_folder, out):
    return run(appendix_c_stability, out)


@pytest.fixture(scope="module")
def prediction(data_folder, out):
    return run(appendix_c_prediction, out)


@pytest.fixture(scope="module")
def tests(out):
    return run(appendix_c_tests, out)


def errors(values):
    """How many standard errors the mean of independent values is from zero."""
    return np.mean(values) / (np.std(values, ddof=1) / np.sqrt(len(values)))


@pytest.mark.parametrize("name", ["stability", "prediction", "tests"])
def test_figures_are_written(name, out, request):
    figures = [figure for claim in request.getfixturevalue(name) for figure in claim.figures]
    assert figures
    assert all((out / figure).stat().st_size > 5000 for figure in figures)


@pytest.mark.parametrize("name", ["stability", "prediction", "tests"])
def test_every_verdict_has_a_question(name, request):
    for claim in request.getfixturevalue(name):
        assert bool(claim.rule) == (claim.verdict != "not run")


@pytest.mark.parametrize(("experiment", "n"), [(appendix_c_stability, 9), (appendix_c_prediction, 6)])
def test_without_data_every_claim_is_not_run(experiment, n, out, tmp_path, monkeypatch):
    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))
    claims = run(experiment, out)
    assert [claim.verdict for claim in claims] == ["not run"] * n
    assert len({claim.claim for claim in claims}) == n
    assert not any(str(tmp_path) in claim.why for claim in claims)


def test_same_claims_and_bytes_twice(prediction, out, tmp_path):
    again = run(appendix_c_prediction, tmp_path)
    assert again == prediction
    for figure in (figure for claim in again for figure in claim.figures):
        assert (tmp_path / figure).read_bytes() == (out / figure).read_bytes()


# ---------------------------------------------------------------------------------------------------------------------
# how clusters are compared


def test_share_of_pairs_by_hand():
    """Two spurious and two real clusters of one k: three of four pairs; then one pair of another k, tied."""
    first, second = np.array([[1.0, 3.0, 0.0, 2.0]]), np.array([[5.0, 5.0]])
    flags = [np.array([True, True, False, False]), np.array([True, False])]
    assert share_of_pairs([first], flags[:1]) == pytest.approx(0.75)
    assert share_of_pairs([first, second], flags) == pytest.approx((3 + 0.5) / 5)
    assert counted(flags) == "3/3/5"


def test_above_asks_for_two_errors():
    draws = np.tile([0.4, 0.6], 200)  # a standard error of 0.1
    assert above(np.concatenate([[0.75], draws]), 0.5)
    assert not above(np.concatenate([[0.65], draws]), 0.5)
    assert not above(np.full(401, 0.5), 0.5)


# ---------------------------------------------------------------------------------------------------------------------
# C.1


def test_inclusion_is_near_one_without_resampling_alone(stability, find_claim):
    claim = find_claim(stability, "inclusion scores of all clusters")
    assert claim.verdict == "does not hold"
    assert max(claim.values["written"].values()) < 0.85
    assert min(claim.values["published"][k] for k in (3, 4)) > 0.95


def test_spurious_clusters_score_high_without_resampling_alone(stability, find_claim):
    claim = find_claim(stability, "spurious in spite of")
    assert claim.verdict == "does not hold"
    assert claim.values["published", 5]
    assert find_claim(stability, "On compound and r15").values["published", "r15"] >= 3


def test_d_finds_spurious_clusters_better_with_little_noise(stability, find_claim):
    claim = find_claim(stability, "D index can be useful")
    written, published = claim.values["written"], claim.values["published"]
    assert claim.verdict != "does not hold"
    assert published["aggregation"] > written["aggregation"] + 0.15
    assert min(claim.values["ratios"].values()) > 3
    assert find_claim(stability, "Hennig's").verdict == "holds"


def test_absolute_d_grows_with_size_and_relative_d_falls(stability, find_claim):
    claim = find_claim(stability, "absolute D index")
    assert claim.verdict == "holds"
    assert min(claim.values["absolute"].values()) > 0.05
    assert max(claim.values["relative"].values()) < -0.2


def test_r_tells_less_as_written(stability, find_claim):
    shares = find_claim(stability, "R index can be useful").values
    assert shares["written"]["aggregation"] < shares["published"]["aggregation"] - 0.2


def test_r_of_a_piece_of_a_group_is_not_the_lowest(stability, find_claim):
    claim = find_claim(stability, "R can mislead")
    assert claim.verdict != "does not hold"
    assert claim.values["written"]["relative"]
    assert claim.values["published"]["absolute"]


def test_r_and_d_depend_on_the_noise(stability, find_claim):
    claim = find_claim(stability, "depends heavily")
    assert claim.verdict == "holds"
    for (_, index), (little, much) in claim.values.items():
        assert (little - much if index == "r" else much - little) > 0.3


def test_d_must_be_relative_where_sizes_are_unbalanced(data_folder):
    """With seven clusters for the fifteen of r15, one holds the eight in the middle: the largest, the most stable."""
    result = cr.stability(KMeans(7, n_init=10), datasets.load_shape("r15"), index="d", n_resamples=50, rng=0)
    largest = int(np.argmax(result.sizes))
    assert result.sizes[largest] > 3 * np.sort(result.sizes)[-2]
    assert np.argmax(result.per_cluster) == largest
    assert np.argmin(result.per_cluster / result.sizes) == largest


# ---------------------------------------------------------------------------------------------------------------------
# C.2


def test_prediction_strength_prefers_few_clusters_where_groups_are_not_found(prediction, find_claim):
    claim = find_claim(prediction, "favour few clusters")
    assert claim.verdict == "depends"
    assert claim.values["parts"] == {"aggregation": True, "compound": True, "r15": False}
    for name in ("aggregation", "compound"):
        assert claim.values[name]["best"] <= 3
        assert claim.values[name]["at best"] > claim.values[name]["at groups"] + 0.2
    assert claim.values["r15"]["best"] == 15


def test_largest_k_with_enough_prediction_strength_is_fifteen_on_r15(data_folder):
    X = datasets.load_shape("r15").X
    result = cr.prediction_strength(KMeans(n_init=10), X, n_clusters=range(2, 21), n_splits=20, rng=0)
    assert result.best_n_clusters == result.recommended() == 15


def test_minimum_hides_good_clusters_and_is_not_the_cause(prediction, find_claim):
    claim = find_claim(prediction, "comes from the minimum")
    assert claim.verdict == "does not hold"
    for name in ("aggregation", "compound"):
        assert errors(claim.values[name]["average"] - claim.values[name]["minimum"]) > 4
        assert max(claim.values[name]["best"]) <= 4


def test_in_group_proportion_is_overconfident(prediction, find_claim):
    claim = find_claim(prediction, "overconfident")
    assert claim.verdict != "does not hold"
    assert claim.values["close"]["aggregation", 5] == 1
    assert claim.values["close"]["aggregation", 10] > 0.6
    assert min(values.min() for values in claim.values["ten"]) > 0.85


def test_more_neighbours_lower_spurious_clusters_more(prediction, find_claim):
    claim = find_claim(prediction, "nearest neighbours")
    assert claim.verdict != "does not hold"
    for spurious, real in claim.values["falls"].values():
        assert errors(np.subtract(spurious, real)) > 4


def test_splits_and_distances_change_the_answer(prediction, find_claim):
    claim = find_claim(prediction, "need no parameter")
    assert claim.verdict == "depends"
    assert len(set(claim.values["splits"]["r15"])) > 1
    assert claim.values["splits"]["compound"] == [2]


def test_noise_does_not_help_prediction_strength(prediction, find_claim):
    claim = find_claim(prediction, "perturbed versions")
    assert claim.verdict == "does not hold"
    assert all(after <= 6 for _, after in claim.values["best"].values())


# ---------------------------------------------------------------------------------------------------------------------
# C.3


def test_test_keeps_the_null_for_one_component(tests, find_claim):
    claim = find_claim(tests, "With one component")
    assert claim.verdict != "does not hold"
    assert len(claim.values["one"]) >= 16
    assert np.sum(claim.values["one"] <= 0.05) <= 4
    assert np.mean(claim.values["one"]) > 0.2
    assert claim.values["published"].ours[0] > 0.3


def test_test_rejects_where_clusters_are_clear(tests, find_claim):
    claim = find_claim(tests, "With several components")
    assert claim.verdict == "holds"
    for k in (2, 3, 5):
        assert len(claim.values["apart"][k]) == 6
        assert (claim.values["apart"][k] <= 0.05).all()
    assert max(claim.values["published"].ours) <= 0.05


def test_p_value_rises_as_means_come_closer(tests, find_claim):
    claim = find_claim(tests, "come closer")
    closer = claim.values["closer"]
    assert claim.verdict != "holds"
    assert not any(claim.values["falls"][:2])
    assert errors((closer[2.0] + closer[1.41] + closer[1.0] + closer[0.63]) / 4 - closer[4.0]) > 4
    assert claim.values["published"].ours == pytest.approx(claim.values["published"].printed, abs=0.15)
