"""The paper's experiments at quick size: what they find, beside the paper's and the authors' stored numbers.

Numbers are compared in units of the run's Monte Carlo error: four standard errors are clear.
"""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from paper.claims import judged
from paper.fig1.runs import mean_of
from paper.run import EXPERIMENTS
from paper.verdicts import FALLS, STANDS, Verdict

UNSETTLED = (Verdict.UNSETTLED,)


@pytest.fixture
def verdicts(quick_facts):
    """Both verdicts of a claim."""

    def find(name, key):
        (claim,) = (claim for claim in judged(name, quick_facts(name), quick=True) if claim.id == f"{name}.{key}")
        return claim.written, claim.published

    return find


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_is_judged_and_drawn(quick_facts, tmp_path, name):
    facts = quick_facts(name)
    claims = judged(name, facts, quick=True)
    assert all(claim.sentence and "nan" not in claim.ours_written + claim.ours_published for claim in claims)
    assert any(claim.written != Verdict.NOT_RUN for claim in claims)
    figures = importlib.import_module(f"paper.{name}.figures").draw(facts, tmp_path)
    assert all((tmp_path / figure).stat().st_size > 5000 for figure in figures.values())


def test_fig3_as_published_has_the_printed_scores(quick_facts):
    a, b, d = quick_facts("fig3")["published/fresh"].mean(axis=0)
    assert a == pytest.approx(0.56, abs=0.04)
    assert b == pytest.approx(0.34, abs=0.04)
    assert d == pytest.approx(0.02, abs=0.02)
    a, b, c = quick_facts("fig3")["written/fresh"].mean(axis=0)
    assert (a, b, c) == pytest.approx((0.98, 0.11, 0.0), abs=0.03)


def test_fig3_and_4_have_a_above_b_above_the_third_on_both_sides(verdicts):
    assert verdicts("fig3", "order") == (Verdict.HOLDS, Verdict.HOLDS)
    assert verdicts("fig3", "plane") == (Verdict.HOLDS, Verdict.HOLDS)


def test_fig1_label_column_separates_the_arms(verdicts, quick_facts):
    written, published = verdicts("fig1", "only_dbscan")
    assert written in (*FALLS, Verdict.MIXED)
    assert published in STANDS + UNSETTLED
    assert quick_facts("fig1")["arms/found"].mean() < 0.2


def test_fig2_swapped_halves_are_needed(quick_facts, verdicts):
    facts = quick_facts("fig2")
    assert verdicts("fig2", "true_k") == (Verdict.HOLDS, Verdict.HOLDS)
    diagonals = np.nanmean(facts["published/k-means/16"], axis=0).diagonal()
    assert (diagonals > 0.9).all()  # the figure's diagonal is there


def test_fig5_has_two_clusters_best(quick_facts):
    means = mean_of(quick_facts("fig5")["three/written/ari"]).mean(axis=2)
    assert means[0].argmax() == 0


def test_fig5_takes_any_cohorts(quick_facts):
    facts = quick_facts("fig5")
    if "pam50 23/written/ari" not in facts:
        pytest.skip("no PAM50 cohorts here")
    assert facts["pam50 23/cohorts"].tolist() == ["nki", "vdx", "expo"]
    assert facts["pam50 32/written/ari"].shape[2] == 2  # pairs of two cohorts
    assert mean_of(facts["pam50 23/written/ari"]).mean(axis=2)[0].argmax() == 0  # k = 2, not 4


def test_fig6_has_basal_first_and_table_1_comes_out(verdicts):
    assert verdicts("fig6", "basal")[0] in STANDS + UNSETTLED
    assert verdicts("fig6", "table1") == (Verdict.HOLDS, Verdict.HOLDS)


def test_a2_is_not_low_in_the_plane(verdicts):
    assert verdicts("a2", "low_plane")[0] == Verdict.FAILS


def test_c1_with_the_label_has_the_stored_inclusion(quick_facts):
    table = quick_facts("c1")["published/aggregation/5/inclusion"]
    assert mean_of(table).min() == pytest.approx(0.74, abs=0.25)
    assert mean_of(quick_facts("c1")["published/aggregation/5/inclusion"]).min() < 0.95


def test_c2_label_column_makes_two_clusters_best_on_r15(quick_facts):
    from paper.c2.runs import best_of

    facts = quick_facts("c2")
    assert best_of(facts["written/r15/strength"].mean(axis=1)) == 15
    assert (best_of(facts["published/r15/strength"].T) == 2).mean() >= 0.5


def test_c3_is_a_misprint(verdicts):
    assert verdicts("c3", "decreases") == (Verdict.MISPRINT, Verdict.MISPRINT)
