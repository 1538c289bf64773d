"""Folders in which the command line is tested."""

from __future__ import annotations

import sys
import tempfile

import pytest

import clustrep as cr
from clustrep.report import figures

DRAWN: dict[tuple[str, ...], str] = {}


@pytest.fixture(autouse=True)
def _equal_figures_are_drawn_once(monkeypatch):
    """Keep the drawings of the page for the whole session: they take most of the time of a small run.

    Figures are equal that have the same words and numbers; tests of the report draw them every time.
    """

    def svg_of(figure):
        if figure.frame.empty:
            return figures.svg_of(figure)
        key = (figure.name, figure.title, figure.description, figure.python, figure.frame.to_csv())
        if not DRAWN.get(key):  # a test may have made the drawing fail
            DRAWN[key] = figures.svg_of(figure)
        return DRAWN[key]

    monkeypatch.setattr("clustrep.report.render.svg_of", svg_of)


@pytest.fixture(scope="session")
def frames():
    """Three small cohorts with three subtypes in a column."""
    studies = cr.datasets.simulate_cohorts(
        n_cohorts=3, n_samples=30, n_subtypes=3, n_features=3, missing={}, shifted={}, rng=3
    )
    tables = {}
    for name, study in studies.items():
        tables[name] = study.to_frame().rename_axis("sample")
        tables[name].insert(0, "subtype", study.labels)
    return tables


@pytest.fixture
def folder(frames, tmp_path, monkeypatch):
    """The cohorts as files, in the folder that commands run in."""
    for name, frame in frames.items():
        frame.to_csv(tmp_path / f"{name}.csv")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("CLUSTREP_DEBUG", raising=False)
    return tmp_path


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """Stand in an empty folder, with another for temporary files beside it."""
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.syspath_prepend(here)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.delenv("CLUSTREP_DEBUG", raising=False)
    return here
