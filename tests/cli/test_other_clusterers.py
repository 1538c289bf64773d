"""Clusterers that are not scikit-learn's: by dotted name, and whatever they do to stdout."""

from __future__ import annotations

import importlib
import json
import sys

import pytest
from tests.cli.support import NO_NULL, PAIR, READING, invoke, process

from clustrep.cli.clusterer_names import clusterer_of
from clustrep.errors import ParameterError

MODULE = """
import ctypes, subprocess, sys
from sklearn.base import BaseEstimator, ClusterMixin

print("at import")


class Halves(ClusterMixin, BaseEstimator):
    def __init__(self, at=0.5):
        self.at = at

    def fit(self, X, y=None):
        self.act(X)
        self.labels_ = (X[:, 0] > (1 - self.at) * X[:, 0].min() + self.at * X[:, 0].max()).astype(int)
        return self

    def act(self, X):
        pass


class Prints(Halves):
    def __init__(self, at=0.5):
        super().__init__(at)
        print("when made")

    def act(self, X):
        print("by Python")
        ctypes.CDLL(None).puts(b"by compiled code")
        subprocess.run(["echo", "by a program"], check=True)


class Exits(Halves):
    def act(self, X):
        if len(X) < 30 and int(abs(X.sum()) * 1e6) % 3 == 0:  # of a resample
            sys.exit("enough")


class ExitsWhenMade(Halves):
    def __init__(self, at=0.5):
        sys.exit(0)
"""
RUN = ["run", *PAIR, *READING, *NO_NULL, "--resamples", "4", "--figures", "none"]


@pytest.fixture
def modules(folder, monkeypatch):
    """Two modules of the user's, in the folder where commands run; one can't be imported."""
    (folder / "some_clusterers.py").write_text(MODULE)
    (folder / "some_program.py").write_text("import sys\nsys.exit(1)\n")
    monkeypatch.syspath_prepend(folder)
    for name in ("some_clusterers", "some_program"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    importlib.invalidate_caches()
    return folder


def refused(spec):
    """Check that a clusterer can't be made; return the sentence."""
    with pytest.raises(ParameterError) as caught:
        clusterer_of(spec)
    assert caught.value.parameter == "clusterer"
    assert str(caught.value).startswith(f"--clusterer {spec}: ")
    return str(caught.value)


def test_a_minimal_clusterer_by_its_dotted_name(modules):
    clusterer = clusterer_of("some_clusterers.Halves:at=0.25")
    assert clusterer.at == 0.25
    refused("some_clusterers.Halves:ta=0.25")
    done = invoke(*RUN, "--jobs", "1", "--json", "--clusterer", "some_clusterers.Halves:at=0.25")
    assert json.loads(done.stdout)["answer"]


def test_the_clusterer_of_another_package(folder):
    """Its constructor takes `**kwargs`, and it has no constraints that could be checked."""
    pytest.importorskip("hdbscan")
    spec = "hdbscan.HDBSCAN:min_cluster_size=5"
    assert clusterer_of(spec).min_cluster_size == 5
    refused("hdbscan.HDBSCAN:min_cluster=5")
    done = invoke(*RUN, "--jobs", "1", "--json", "--clusterer", spec, "--allow-failures")
    assert json.loads(done.stdout)["answer"]


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_json_stays_valid_when_a_clusterer_prints(jobs, modules):
    arguments = [*RUN, "--jobs", jobs, "--json", "--clusterer", "some_clusterers.Prints"]
    done = process(*arguments, cwd=modules, timeout=400)
    assert json.loads(done.stdout)["answer"]
    for where in ("at import", "when made", "by Python", "by compiled code", "by a program"):
        assert where in done.stderr


def test_a_clusterer_that_exits_is_a_counted_failure(modules):
    done = invoke(*RUN, "--jobs", "1", "--clusterer", "some_clusterers.Exits", code=4)
    assert "SystemExit: enough" in done.stderr


@pytest.mark.parametrize("name", ["some_clusterers.ExitsWhenMade", "some_program.Halves"])
def test_a_module_or_class_that_exits_is_named(name, modules):
    assert "SystemExit" in refused(name)
