"""What the tests of the paper's experiments share: each quick run once in a session."""

from __future__ import annotations

import importlib
import os
import warnings
from functools import cache
from pathlib import Path

import pytest
from paper.store import load_facts, save_facts


@pytest.hookimpl(tryfirst=True)  # before `-m` deselects
def pytest_collection_modifyitems(items):
    """Mark what needs a quick run of an experiment as slow."""
    for item in items:
        if "quick_facts" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def quick_facts(tmp_path_factory):
    """Run an experiment at quick size, once in a session; its facts as they come back from the file.

    Where `CLUSTREP_PAPER_RUNS` names the runs of a `make paper-quick` of the same code, as CI does, they are taken.
    """
    stored = os.environ.get("CLUSTREP_PAPER_RUNS")

    @cache
    def run(name):
        if stored and (path := Path(stored, f"{name}.npz")).is_file() and (facts := load_facts(path))["quick"]:
            return facts
        path = tmp_path_factory.mktemp(name) / "facts.npz"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            save_facts(path, importlib.import_module(f"paper.{name}.runs").run(quick=True))
        return load_facts(path)

    return run
