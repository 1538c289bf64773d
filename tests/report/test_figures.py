"""Figures: the line of Python draws the same, the CSV has its numbers, and nothing of a drawing leaves its place."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from tests.report.samples import HOSTILE, WARD, cohorts_named
from tests.sentences import warned

import clustrep as cr
from clustrep.errors import ReplicateWarning
from clustrep.report.figures import Figure, figures_of, svg_of, write_figure
from clustrep.report.render import csv_link


@pytest.fixture(scope="module")
def figures(analysis):
    return {figure.name: figure for figure in figures_of(analysis)}


def test_an_analysis_has_all_figures(figures):
    first = ["findings", "map", "studies", "curves", "tree", "pairs"]
    assert list(figures) == [*first, "valleys", "features", "annotations"]


def test_the_line_of_python_draws_the_figure(figures, analysis):
    for name, figure in figures.items():
        line = compile(figure.python, name, "eval")
        again = Figure(name, "", "", "", lambda line=line: eval(line, {"analysis": analysis}))
        assert svg_of(again) == svg_of(figure) != ""


def test_drawing_leaves_no_figure_open_and_no_setting_changed(figures):
    before, mine = dict(plt.rcParams), plt.figure()
    svg_of(figures["map"])
    assert plt.get_fignums() == [mine.number]
    assert dict(plt.rcParams) == before


def test_the_csv_has_the_numbers_of_the_figure(figures):
    for figure in figures.values():
        header, _, content = csv_link(figure).partition(",")
        assert header == "data:text/csv;charset=utf-8;base64"
        read = pd.read_csv(io.BytesIO(base64.b64decode(content)), keep_default_na=False, na_values=[""])
        assert read.columns.tolist() == [str(column) for column in figure.frame.columns]
        for column in figure.frame.select_dtypes("number"):
            np.testing.assert_allclose(read[column].astype(float), figure.frame[column].astype(float))


def test_the_map_names_no_samples_and_large_ones_have_no_csv(figures, analysis, monkeypatch):
    assert "sample" not in figures["map"].frame
    assert len(figures["map"].frame) == 90
    monkeypatch.setattr("clustrep.report.figures.MOST_ROWS", 89)
    assert {figure.name: len(figure.frame) for figure in figures_of(analysis)}["map"] == 0


def test_a_drawing_has_ids_of_its_own_and_nothing_that_runs(figures):
    drawn = {name: svg_of(figure) for name, figure in figures.items()}
    ids = [found for svg in drawn.values() for found in re.findall(r' id="([^"]+)"', svg)]
    assert len(ids) == len(set(ids)) > 0
    for svg in drawn.values():
        assert svg.startswith("<svg viewBox=")
        assert svg.endswith("</svg>")
        assert not re.search(r"<(style|script|metadata|!--)|\son\w+=|href=\"(?!#|data:image/png)", svg)
        assert set(re.findall(r'(?:href="|url\()#([^")]+)', svg)) <= set(ids)


def test_a_name_that_attacks_is_text_in_figures(tmp_path):
    hostile = cohorts_named("alpha", HOSTILE, "gamma")
    made = cr.analyse({HOSTILE: WARD}, hostile, n_clusters=[2, 3], n_null=0, n_resamples=4, rng=0)
    report = cr.Report(made, title=HOSTILE)
    assert HOSTILE not in report.to_html()
    assert HOSTILE not in report.to_markdown()
    assert "&lt;script" in report.to_html()


def test_a_figure_that_fails_is_a_warning():
    def broken():
        raise ValueError("no ink")

    with warned(ReplicateWarning):
        assert svg_of(Figure("broken", "", "", "", broken)) == ""


@pytest.mark.parametrize("extension", ["png", "svg", "pdf"])
def test_files_have_the_same_bytes_every_time(figures, tmp_path: Path, extension):
    written = []
    for _ in range(2):
        buffer = io.BytesIO()
        assert write_figure("tree", figures["tree"].draw, buffer, extension)
        written.append(buffer.getvalue())
    assert written[0] == written[1] != b""
