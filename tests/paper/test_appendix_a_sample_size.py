"""Appendix A.3 of the paper, and outliers, at quick size."""

from __future__ import annotations

import numpy as np
import pytest
from paper.appendix_a_sample_size import outliers
from paper.appendix_a_sample_size.claims import PRINTED
from paper.appendix_a_sample_size.runs import COMPONENTS, component_chances, curve
from paper.common import DEPENDS, HOLDS, table

ARI = 0


@pytest.fixture(scope="module")
def run(quick_run):
    return quick_run("appendix_a_sample_size")


def test_every_line_is_complete_and_no_two_are_the_same(run):
    assert all(claim.figures and claim.as_written and claim.rule and claim.why for claim in run.claims)
    assert len({(claim.where, claim.claim) for claim in run.claims}) == len(run.claims)
    assert "nan" not in table(run.claims)
    assert all((run.folder / name).stat().st_size > 5000 for name in run.figures)


def test_few_samples_lack_components_and_prefer_fewer_clusters(run, find_claim, errors):
    assert find_claim(run.claims, "components that the test study lacks").verdict == HOLDS
    claim = find_claim(run.claims, "some k below the 25")
    assert claim.verdict == HOLDS
    assert max(claim.values["best"]) < COMPONENTS
    assert (errors.above(claim.values["gains"]) > 4).all()


def test_chances_of_components_are_those_of_draws(rng):
    n = 20000
    train, test = (
        np.array([np.bincount(row, minlength=COMPONENTS) > 0 for row in rng.integers(COMPONENTS, size=(n, 50))])
        for _ in range(2)
    )
    more, less = (train & ~test).any(axis=1), (test & ~train).any(axis=1)
    chances = component_chances(50)
    for chance, drawn in ((chances.more, more), (chances.both, more & less)):
        assert drawn.mean() == pytest.approx(chance, abs=4 * np.sqrt(chance * (1 - chance) / n))
    assert component_chances(1).both == pytest.approx(1 - 1 / COMPONENTS)
    assert component_chances(2).more == pytest.approx(1 - 1 / 25 * 49 / 625 - 24 / 25 * 2 / 625)


def test_many_samples_prefer_the_number_of_components(run, find_claim, errors):
    claim = find_claim(run.claims, "k = 25 has the highest score")
    assert claim.verdict in (HOLDS, DEPENDS)
    assert claim.values["best"][1000] == 25
    assert errors.above(claim.values["leads"][1000, ARI]) > 4
    for n, (k, score) in PRINTED.items():
        ours = claim.values["published"][n].at(k)
        sd = claim.values["written"][n].at(k).std(ddof=1)  # of more draws; the printed one is a mean of 100
        error = sd * np.sqrt(1 / len(ours) + 1 / 100)
        assert ours.mean() == pytest.approx(score, abs=4 * error + 0.0005)


def test_scores_rise_with_the_number_of_samples(run, find_claim):
    claim = find_claim(run.claims, "depends on the sample sizes")
    assert claim.verdict == HOLDS
    assert (claim.values["rises"] > 4 * claim.values["errors"]).all()  # (step, agreement)


def test_the_bootstrap_spares_far_outliers_and_finds_nearer_ones(run, find_claim, errors):
    claim = find_claim(run.claims, "outliers")
    nearer, far = outliers.DISTANCES.index(16), outliers.DISTANCES.index(40)
    saved = errors.above(claim.values["saved"])  # (study, case)
    assert claim.verdict == DEPENDS
    assert (saved[:, far] > 4).all()
    assert saved[0, nearer] < -4
    assert errors.above(claim.values["twice"][nearer] - claim.values["both"][0, nearer, :, 0]) > 2


def test_the_same_twice(tmp_path):
    first, again = (outliers.claim(2, 3, 1, tmp_path / name) for name in ("first", "again"))
    assert first == again
    for name in first.figures:
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    first, again = (curve(1, 50, range(24, 26), 2, 3, 1).scores for _ in range(2))
    assert np.array_equal(first, again)
