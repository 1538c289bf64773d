"""Appendix C.1 of the paper at quick size: verdicts, and the directions of its claims."""

from __future__ import annotations

import numpy as np
import pytest
from paper.appendix_c_common import CLOSE
from paper.appendix_c_stability import claims as stability_claims
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep import datasets


@pytest.fixture(scope="module")
def run(data_folder, quick_run):
    return quick_run("appendix_c_stability")


@pytest.fixture(scope="module")
def stability(run):
    return run.claims


def test_figures_are_written(run):
    assert run.figures
    assert all((run.folder / name).stat().st_size > 5000 for name in run.figures)


def test_every_verdict_has_a_question(stability):
    assert all(bool(claim.rule) == (claim.verdict != "not run") for claim in stability)


def test_without_data_every_claim_is_not_run(tmp_path, monkeypatch):
    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))
    claims = stability_claims.main(tmp_path, quick=True)
    assert [claim.verdict for claim in claims] == ["not run"] * 9
    assert len({claim.claim for claim in claims}) == 9
    assert not any(str(tmp_path) in claim.why for claim in claims)


def test_inclusion_is_near_one_without_resampling_alone(stability, find_claim, errors):
    claim = find_claim(stability, "inclusion scores of all clusters")
    written, published = claim.values["written"], claim.values["published"]  # of the lowest cluster, by k
    assert claim.verdict == "does not hold"
    assert all(errors.above(values, CLOSE) < -2 for values in written.values())
    assert all(errors.apart(published[k], written[k]) > 4 for k in (3, 4))


def test_spurious_clusters_score_high_without_resampling_alone(stability, find_claim):
    claim = find_claim(stability, "spurious in spite of")
    assert claim.verdict == "does not hold"
    assert claim.values["published", 5]
    close = find_claim(stability, "On compound and r15").values
    assert close["published", "r15"] > close["written", "r15"]


def test_d_finds_spurious_clusters_better_with_little_noise(stability, find_claim, errors):
    claim = find_claim(stability, "D index can be useful")
    written, published = (claim.values[words]["aggregation"] for words in ("written", "published"))
    assert claim.verdict != "does not hold"
    assert errors.estimate_above(published - written) > 4
    assert min(claim.values["ratios"].values()) > 1
    assert find_claim(stability, "Hennig's").verdict == "holds"


def test_absolute_d_grows_with_size_and_relative_d_falls(stability, find_claim, errors):
    claim = find_claim(stability, "absolute D index")
    assert claim.verdict == "holds"
    absolute, relative = (np.array(list(claim.values[words].values())) for words in ("absolute", "relative"))
    assert (errors.estimate_above(absolute.T) > 2).all()  # (1 + n_draws, data set)
    assert errors.estimate_above(absolute.mean(axis=0)) > 4
    assert (errors.estimate_above(relative.T) < -4).all()


def test_r_tells_less_as_written(stability, find_claim, errors):
    shares = find_claim(stability, "R index can be useful").values
    assert errors.estimate_above(shares["published"]["aggregation"] - shares["written"]["aggregation"]) > 4


def test_r_of_a_piece_of_a_group_is_not_the_lowest(stability, find_claim):
    claim = find_claim(stability, "R can mislead")
    assert claim.verdict != "does not hold"
    assert claim.values["written"]["relative"]
    assert claim.values["published"]["absolute"]


def test_r_and_d_depend_on_the_noise(stability, find_claim, errors):
    claim = find_claim(stability, "depends heavily")
    assert claim.verdict == "holds"
    for (_, index), values in claim.values.items():
        little, much = values.T  # (n_resamples,)
        assert errors.above(little - much if index == "r" else much - little) > 4


def test_d_must_be_relative_where_sizes_are_unbalanced(data_folder):
    """With seven clusters for the fifteen of r15, one holds the eight in the middle: the largest, the most stable."""
    result = cr.stability(KMeans(7, n_init=10), datasets.load_shape("r15"), index="d", n_resamples=50, rng=0)
    largest = int(np.argmax(result.sizes))
    assert result.sizes[largest] > 3 * np.sort(result.sizes)[-2]
    assert np.argmax(result.per_cluster) == largest
    assert np.argmin(result.per_cluster / result.sizes) == largest
