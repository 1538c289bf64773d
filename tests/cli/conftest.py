"""Folders in which the command line is tested."""

from __future__ import annotations

import sys
import tempfile

import pytest

import clustrep as cr


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
