"""Appendix C of the paper at quick size: the directions of its claims."""

from __future__ import annotations

import warnings

import pytest
from paper import appendix_c_prediction, appendix_c_stability, appendix_c_tests
from paper.common import quietly


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


@pytest.mark.parametrize("name", ["stability", "prediction", "tests"])
def test_figures_are_written(name, out, request):
    claims = request.getfixturevalue(name)
    figures = [figure for claim in claims for figure in claim.figures]
    assert figures
    assert all((out / figure).stat().st_size > 5000 for figure in figures)


def test_inclusion_is_near_one_without_resampling_alone(stability):
    inclusion, spurious, *_ = stability
    assert inclusion.verdict == "does not hold"
    assert max(inclusion.values["written"].values()) < 0.8
    assert min(inclusion.values["published"][k] for k in (3, 4)) > 0.95
    assert spurious.verdict == "holds"
    assert spurious.values[5] < 0.4


def test_d_finds_spurious_clusters_with_little_noise(stability):
    shares = stability[2].values
    assert stability[2].verdict == "depends"
    assert shares["published"]["aggregation"] > 0.85
    assert shares["written"]["aggregation"] < shares["published"]["aggregation"] - 0.1
    assert min(shares["jaccard"].values()) > 0.65


def test_absolute_d_grows_with_size_and_relative_d_falls(stability):
    values = stability[3].values
    assert min(values["absolute"].values()) > 0.1
    assert max(values["relative"].values()) < -0.3


def test_r_tells_less_as_written(stability):
    shares = stability[4].values
    assert shares["written"]["aggregation"] < shares["published"]["aggregation"] - 0.15


def test_r_of_a_piece_of_a_group_is_not_low(stability):
    assert stability[5].verdict == "holds"
    for spurious, lowest_other in stability[5].values.values():
        assert spurious > lowest_other - 0.1


def test_r_and_d_depend_on_the_noise(stability):
    (r_low, r_high), (d_low, d_high) = stability[6].values["r"], stability[6].values["d"]
    assert r_low > r_high + 0.3
    assert d_high > d_low + 0.4


def test_prediction_strength_prefers_few_clusters_where_groups_are_not_found(prediction):
    best, strength = (prediction[0].values[name] for name in ("best", "strength"))
    assert prediction[0].verdict == "depends"
    assert best["aggregation"] <= 3
    assert best["compound"] <= 3
    assert best["r15"] == 15
    assert strength["aggregation"][2] > strength["aggregation"][7] + 0.2
    assert strength["r15"][15] > strength["r15"][2] + 0.2


def test_minimum_hides_good_clusters_and_is_not_the_only_cause(prediction):
    for name in ("aggregation", "compound"):
        values = prediction[1].values[name]
        assert values["average"] > values["minimum"] + 0.1
        assert values["best"] <= 4


def test_in_group_proportion_is_overconfident_less_so_with_more_neighbours(prediction):
    assert [claim.verdict for claim in prediction[2:]] == ["holds", "holds"]
    assert min(prediction[2].values["spurious"]) > 0.9
    assert prediction[3].values["lowest"][10] < 0.8
    assert all(shares[-1] > shares[0] for shares in prediction[3].values["apart"].values())


def test_test_rejects_where_clusters_are_clear(tests):
    values = tests[0].values
    assert tests[0].verdict == "holds"
    assert values["rejected"][1] <= 0.25
    assert values["rejected"][5] >= 0.75
    assert values["clear"] >= 0.8
    assert values["one"] > 0.4
    assert values["published"][0] > 0.5
    assert max(values["published"][1:]) <= 0.05


def test_p_value_rises_as_means_come_closer(tests):
    values = tests[1].values
    assert tests[1].verdict == "does not hold"
    assert values["rise"] > max(0.2, 2 * values["rise error"])
    assert values["published"] == pytest.approx(appendix_c_tests.PRINTED_DISTANCES, abs=0.12)


def test_same_bytes_twice(prediction, out, tmp_path):
    again = run(appendix_c_prediction, tmp_path)
    assert again == prediction
    for figure in (figure for claim in again for figure in claim.figures):
        assert (tmp_path / figure).read_bytes() == (out / figure).read_bytes()
