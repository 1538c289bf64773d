"""Whole reports: the same page each time, names that are only text, pages that stay small."""

from __future__ import annotations

import json

import numpy as np
from tests.report.samples import HOSTILE, WARD, cohorts_named

import clustrep as cr
from clustrep.plots.charts import escaped


def test_the_same_results_are_the_same_page(analysis, report, tmp_path):
    page = report.to_html()
    assert cr.Report(analysis).to_html() == page
    analysis.save(tmp_path / "result.npz")
    assert cr.Report(cr.load(tmp_path / "result.npz")).to_html() == page
    report.write_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == page


def test_a_name_that_attacks_is_text():
    hostile = cohorts_named("alpha", HOSTILE, "gamma")
    made = cr.analyse({HOSTILE: WARD}, hostile, n_clusters=[3], null=None, n_resamples=20, rng=0)
    told = cr.Report(made)
    for section in told.facts["sections"]:
        for chart in section["charts"]:
            drawn = json.dumps([[view["data"], view["layout"]] for view in chart["views"]])
            assert HOSTILE not in drawn
            assert escaped(HOSTILE) in drawn or chart["id"] == "map"  # samples, clusters and axes alone
    page = told.to_html()
    assert HOSTILE not in page
    assert HOSTILE not in told.to_markdown()


def test_ten_studies_make_a_page_of_less_than_six_megabytes():
    rng = np.random.default_rng(0)
    tables = {f"study {i}": rng.normal(size=(200, 3)) + 9 * rng.integers(3, size=(200, 1)) for i in range(10)}
    made = cr.analyse(WARD, tables, n_clusters=range(2, 10), null=None, n_resamples=10, rng=0)
    page = cr.Report(made).to_html()
    assert len(page.encode()) < 6_000_000
    assert max(len(item["text"]) for item in cr.Report(made).facts["verdict"]) < 1500
