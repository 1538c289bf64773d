"""Clusterers by name, with their parameters."""

from __future__ import annotations

import importlib
import sys

import pytest
from tests.cli.support import invoke

from clustrep.cli.clusterer_names import SHORT_NAMES, clusterer_of, value_of
from clustrep.cli.program import clustrep
from clustrep.errors import ParameterError

BUILT = {
    "kmeans": ("KMeans", {"n_init": 10}),
    "minibatch": ("MiniBatchKMeans", {"n_init": 3}),
    "birch": ("Birch", {}),
    "ward": ("AgglomerativeClustering", {"linkage": "ward"}),
    "complete": ("AgglomerativeClustering", {"linkage": "complete"}),
    "average": ("AgglomerativeClustering", {"linkage": "average"}),
    "single": ("AgglomerativeClustering", {"linkage": "single"}),
    "gmm": ("GaussianMixture", {}),
    "dbscan": ("DBSCAN", {}),
    "hdbscan": ("HDBSCAN", {}),
    "spectral": ("SpectralClustering", {}),
    "affinity": ("AffinityPropagation", {}),
    "leiden": ("Leiden", {}),
    "louvain": ("Louvain", {}),
    "medoids": ("KMedoids", {"metric": "manhattan"}),
}


@pytest.mark.parametrize("name", SHORT_NAMES)
def test_every_short_name_builds_what_it_says(name, rng):
    kind, parameters = BUILT[name]
    if name == "medoids":
        pytest.importorskip("kmedoids")
    clusterer = clusterer_of(name)
    assert type(clusterer).__name__ == kind
    assert {key: clusterer.get_params()[key] for key in parameters} == parameters
    assert len(clusterer.fit_predict(rng.normal(size=(30, 2)))) == 30
    assert name in next(param.help for param in clustrep.commands["run"].params if param.name == "clusterer")


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("-3", -3), ("0.3", 0.3), ("1e-3", 1e-3), ("true", True), ("False", False), ("None", None), ("x", "x")],
)
def test_parameters_have_types(text, value):
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)


def test_parameters_reach_the_clusterer():
    clusterer = clusterer_of("dbscan: eps = 0.3 , min_samples=7,metric=cityblock,p=none,")
    assert {"eps": 0.3, "min_samples": 7, "metric": "cityblock", "p": None}.items() <= clusterer.get_params().items()
    assert clusterer_of("sklearn.cluster.MeanShift:bin_seeding=true").bin_seeding is True
    assert clusterer_of("kmeans:n_init=4").n_init == 4
    assert SHORT_NAMES["kmeans"][2] == {"n_init": 10}


@pytest.mark.parametrize(
    ("spec", "named"),
    [
        ("kmeans:n_init=0", "'n_init' parameter of KMeans"),
        ("dbscan:eps=high", "'eps' parameter of DBSCAN"),
        ("ward:linkage=wrad", "'linkage' parameter of AgglomerativeClustering"),
        ("kmeans:n_clusters=3", "--k"),
        ("gmm:n_components=3", "--k"),
        ("kmeans:n_ini=1", "'n_init'"),
        ("kmeans:n_init", "'n_init'"),
        ("kmeans:=3", "'=3'"),
        ("DBSCAN", "'dbscan'"),
        ("collections.OrderedDict", "fit_predict"),
        ("sklearn.cluster.k_means", "fit_predict"),
        ("sklearn.cluster.Kmeans", "'KMeans'"),
        ("no.such.Thing", "'no.such'"),
        (".Thing", "ValueError"),
    ],
)
def test_an_impossible_clusterer_is_named_before_the_run(spec, named):
    with pytest.raises(ParameterError) as caught:
        clusterer_of(spec)
    assert caught.value.parameter == "clusterer"
    assert str(caught.value).startswith(f"--clusterer {spec}: ")
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import no_such_module", "no_such_module"),
        ("raise RuntimeError('oh')", "oh"),
        (
            "class Mine:\n    def __init__(self):\n        raise ValueError('oh')\n    def fit_predict(self, X): ...",
            "oh",
        ),
    ],
    ids=["its import", "at import", "when made"],
)
def test_what_is_wrong_in_the_users_own_module_is_said(code, told, tmp_path, monkeypatch):
    (tmp_path / "of_the_user.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "of_the_user", raising=False)
    importlib.invalidate_caches()
    with pytest.raises(ParameterError) as caught:
        clusterer_of("of_the_user.Mine")
    assert caught.value.parameter == "clusterer"
    assert told in str(caught.value)


@pytest.mark.parametrize("command", ["run", "local", "valleys"])
@pytest.mark.parametrize(
    ("arguments", "is_said"),
    [
        (["--clusterer", "dbscan", "--k", "3"], True),
        (["--clusterer", "dbscan"], False),
        (["--clusterer", "kmeans", "--k", "3"], False),
        (["--clusterer", "dbscan", "--config", "config.toml"], False),  # which has the default as well
    ],
    ids=["ignored", "not typed", "used", "configured"],
)
def test_a_number_of_clusters_that_nobody_uses_is_named(command, arguments, is_said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.toml").write_text('k = "2:3"\n' if command != "local" else "k = 3\n")
    stderr = invoke(command, "nofile.csv", "neither.csv", *arguments, code=3).stderr
    said = "warning: --k is ignored: no number of clusters can be set for dbscan.\n"
    assert stderr.startswith(said) == is_said
    assert ("--k" in stderr) == is_said


def test_a_number_of_clusters_that_one_of_several_clusterers_uses_is_not_ignored(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = invoke("run", "a.csv", "b.csv", "--clusterer", "dbscan", "--clusterer", "ward", "--k", "3", code=3)
    assert "--k" not in done.stderr
