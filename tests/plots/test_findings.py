"""The figures of findings: clusters × studies, and the map of all samples."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from tests.plots.samples import NAMES, findings_of, rendered, texts_of

import clustrep as cr
from clustrep.findings.plot import HATCHES, SHADES, TOKENS, FindingsGrid, draw_findings
from clustrep.findings.result import SIGNS, STATUSES
from clustrep.findings.sample_maps import SampleMap
from clustrep.plots.charts import escaped, numbers


@pytest.fixture
def findings():
    status = [["found", "found", "merged", "split"], ["found", "not found", "found", "undetermined"]]
    return findings_of(status, [[10, 30, 5, 8], [20, 0, 15, 0]], NAMES)


def test_every_status_has_a_sign_a_colour_and_a_hatch():
    for table in (SIGNS, SHADES, HATCHES, TOKENS):
        assert set(table) == set(STATUSES)
    assert len(set(SIGNS.values())) == len(set(SHADES.values())) == len(STATUSES)


def test_cells_have_the_statuses_and_shares_of_the_table(findings):
    ax = rendered(draw_findings(findings, None))
    table = findings.table()
    assert [text.split()[0] for text in texts_of(ax.texts)] == [SIGNS[status] for status in table["status"]]
    bars = [patch for patch in ax.patches if patch.get_facecolor()[3] > 0]
    frames = [patch for patch in ax.patches if patch.get_facecolor()[3] == 0]
    shares = [bar.get_width() / frame.get_width() for bar, frame in zip(bars, frames, strict=True)]
    np.testing.assert_allclose(shares, table["share"])


def test_both_drawings_have_the_same_signs(findings):
    figure = FindingsGrid.of(findings)
    shares, scores = figure.chart()["views"]
    for c, trace in enumerate(shares["data"]):
        assert trace["text"] == [SIGNS[status] for status in findings.status[c]]
        assert trace["x"] == [escaped(name) for name in NAMES]
        areas = np.square(trace["marker"]["size"])
        np.testing.assert_allclose(areas / areas.max(), figure.share[c] / figure.share[c].max(), atol=0.02)
    assert [trace["y"] for trace in scores["data"]] == numbers(findings.replicability)


def test_without_local_scores_there_is_one_view(findings):
    nothing = np.full(findings.status.shape, np.nan)
    bare = dataclasses.replace(findings, replicability=nothing, low=nothing, high=nothing)
    assert len(FindingsGrid.of(bare).chart()["views"]) == 1


def test_many_studies_have_signs_alone():
    names = [f"a study {i}" for i in range(30)]
    ax = rendered(findings_of([["found"] * 30] * 2, [[4] * 30] * 2, names).plot())
    assert set(texts_of(ax.texts)) == {"✓"}


@pytest.fixture(scope="module")
def analysis(cohorts):
    return cr.analyse(AgglomerativeClustering(), cohorts, n_clusters=[2, 3], null=None, n_resamples=3, rng=0)


def test_the_map_has_every_sample_in_its_cluster(analysis):
    figure = SampleMap.of(analysis)
    assert [figure.clusters[place] for place in figure.cluster] == analysis.labels()["cluster"].tolist()
    ax = rendered(figure.draw())
    assert sum(len(dots.get_offsets()) for dots in ax.collections) == len(analysis.findings.samples)
    for view in figure.chart()["views"]:
        n_drawn = sum(len(trace["x"]) for trace in view["data"])
        study = view["name"].removeprefix("clusters, ")
        assert n_drawn == (len(analysis.findings.labels_of(study)) if study in analysis.names else len(figure.samples))


def test_without_names_of_samples_hover_texts_have_none(analysis):
    figure = SampleMap.of(analysis)
    for drawn, is_named in ((figure, True), (figure.unnamed(), False)):
        texts = [text for view in drawn.chart()["views"] for trace in view["data"] for text in trace["text"]]
        assert any(figure.samples[0] in text for text in texts) == is_named


def test_a_single_cluster_is_drawn_by_study(analysis):
    alone = dataclasses.replace(SampleMap.of(analysis), clusters=("A",), cluster=np.zeros(90, dtype=int))
    names = [view["name"] for view in alone.chart()["views"]]
    assert names[0] == "studies"
    assert not any("cluster" in name for name in names)
