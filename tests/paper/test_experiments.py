"""The paper's experiments at quick size, or on the smallest part that shows it, beside the authors' stored numbers.

`make paper-quick` runs all experiments; here are those that take a few seconds.
"""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from paper.c1.runs import PUBLISHED as PUBLISHED_INDICES
from paper.c1.runs import best_clusters, measure
from paper.c2.runs import best_of
from paper.claims import judged
from paper.fig1.runs import arms_in_halves, mean_of
from paper.fig5.runs import KS, PUBLIC, clusterers, compare, read_cohorts, scores
from paper.fig6.claims import table_1 as judged_table_1
from paper.fig6.runs import table_1
from paper.spurious import with_class
from paper.verdicts import Verdict, judge

import clustrep as cr

QUICK = ("s3", "fig3", "a1", "a2", "c2")


@pytest.mark.parametrize("name", QUICK)
def test_an_experiment_is_judged_and_drawn(quick_facts, tmp_path, data_folder, name):
    facts = quick_facts(name)
    claims = judged(name, facts, quick=True)
    assert all(claim.sentence and "nan" not in claim.ours_written + claim.ours_published for claim in claims)
    assert all(claim.written != Verdict.NOT_RUN for claim in claims)
    figures = importlib.import_module(f"paper.{name}.figures").draw(facts, tmp_path)
    assert all((tmp_path / figure).stat().st_size > 5000 for figure in figures.values())


def test_fig3_as_published_has_the_printed_scores(quick_facts):
    a, b, d = quick_facts("fig3")["published/fresh"].mean(axis=0)
    assert a == pytest.approx(0.56, abs=0.04)
    assert b == pytest.approx(0.34, abs=0.04)
    assert d == pytest.approx(0.02, abs=0.02)
    assert quick_facts("fig3")["written/fresh"].mean(axis=0) == pytest.approx((0.98, 0.11, 0.0), abs=0.03)


def test_fig3_and_4_have_a_above_b_above_the_third_on_both_sides(quick_facts):
    found = {claim.id: claim for claim in judged("fig3", quick_facts("fig3"), quick=True)}
    for key in ("fig3.order", "fig3.plane"):
        assert (found[key].written, found[key].published) == (Verdict.HOLDS, Verdict.HOLDS)


def test_a2_is_not_low_in_the_plane(quick_facts):
    found = {claim.id: claim for claim in judged("a2", quick_facts("a2"), quick=True)}
    assert found["a2.low_plane"].written == Verdict.FAILS


def test_c2_label_column_makes_two_clusters_best_on_r15(quick_facts, data_folder):
    facts = quick_facts("c2")
    assert best_of(facts["written/r15/strength"].mean(axis=1)) == 15
    assert (best_of(facts["published/r15/strength"].T) == 2).mean() >= 0.5


def test_fig1_no_eps_separates_the_arms_of_a_half(data_folder):
    arms = arms_in_halves(cr.datasets.load_shape("spiral", data_folder), 10)
    assert not arms["found"].any()
    assert arms["whole"][0] < arms["whole"][1]  # in all points there is one


def test_c1_label_column_has_the_stored_inclusion(data_folder):
    table = with_class(cr.datasets.load_shape("aggregation", data_folder))
    result = measure(table, best_clusters(table, 5), "inclusion", PUBLISHED_INDICES["inclusion"], 60, 50, 1)
    assert result.per_cluster.min() == pytest.approx(0.735, abs=4 * np.sqrt(0.735 * 0.265 / 60))


def test_table_1_comes_out_with_the_larger_entropy(data_folder):
    three, fifty = (cr.datasets.load_breast(scheme, folder=data_folder) for scheme in ("HK_3GENE", "PAM50"))
    facts = table_1(three, fifty) | {"three/cohorts": list(three.names)}
    assert judge(judged_table_1(facts).written) == Verdict.HOLDS
    assert facts["table1/AMI mean"][0] == pytest.approx(0.402, abs=0.001)


@pytest.mark.filterwarnings("ignore")
def test_public_cohorts_have_two_clusters_best_not_four(data_folder):
    paths = [data_folder / "pam50" / f"{name}.csv" for name in PUBLIC["pam50 32"]]
    if not all(path.is_file() for path in paths):
        pytest.skip("no PAM50 cohorts here")
    result = compare(read_cohorts(paths), clusterers(), 8, cr.resampling.Bootstrap(), 1, 6)
    means = mean_of(scores(result)["ari"])[0].mean(axis=1)  # k-means
    assert KS[int(means.argmax())] == 2
