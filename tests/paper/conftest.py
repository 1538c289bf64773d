"""What the tests of the paper's experiments share: each quick run once in a session."""

from __future__ import annotations

import importlib
import warnings

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
    """Run an experiment at quick size, once in a session; its facts as they come back from the file."""
    facts = {}

    def run(name):
        if name not in facts:
            path = tmp_path_factory.mktemp(name) / "facts.npz"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                save_facts(path, importlib.import_module(f"paper.{name}.runs").run(quick=True))
            facts[name] = load_facts(path)
        return facts[name]

    return run
