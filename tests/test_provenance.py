"""Provenance: typed fields, a flat mapping, and the same after a file."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.helpers import write_archive
from tests.sentences import refused

import clustrep as cr
from clustrep.fitting.parameters import Configuration, KnownLabels, describe, with_n_clusters
from clustrep.provenance import Provenance, StudyRecord


@pytest.fixture(scope="module")
def tables():
    generator = np.random.default_rng(3)
    return {name: generator.normal(size=(12, 2)) for name in ("a", "b")}


@pytest.fixture(scope="module")
def comparison(tables):
    clusterers = {"k-means": KMeans(n_init=2), "ward": AgglomerativeClustering()}
    return cr.compare(clusterers, tables, n_clusters=[2, 3], n_resamples=2, rng=5)


def test_fields_have_types(comparison):
    made = comparison.provenance
    assert isinstance(made, Provenance)
    assert (made.seed, made.resampling, made.accelerate) == (5, "Bootstrap(distinct=True)", True)
    assert made.parameters == {"n_resamples": 2, "diagonal": True, "noise": "label"}
    assert made.studies == {"a": StudyRecord(12, 2, "none"), "b": StudyRecord(12, 2, "none")}
    assert made.versions["numpy"] == np.__version__
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.seed = 6


def test_every_configuration_has_its_record(comparison):
    records = comparison.provenance.clusterers
    assert [(record.name, record.kind, record.n_clusters) for record in records] == [
        ("k-means", "KMeans", 2),
        ("k-means", "KMeans", 3),
        ("ward", "AgglomerativeClustering", 2),
        ("ward", "AgglomerativeClustering", 3),
    ]
    assert records[0].parameters["n_init"] == "2"
    assert records[1].parameters["n_clusters"] == "3"
    assert records[2].parameters["linkage"] == "'ward'"
    assert comparison.replicability("ward", 3).provenance.clusterers == records[3:]


def test_the_mapping_is_flat_and_plain(comparison):
    made = comparison.provenance
    assert isinstance(made, Mapping)
    assert list(made) == [
        "seed", "resampling", "accelerate", "n_resamples", "diagonal", "noise", "clusterers", "studies", "versions",
    ]  # fmt: skip
    assert len(made) == 9
    assert made["clusterers"] == [record.description for record in made.clusterers]
    assert made["studies"]["b"] == {"samples": 12, "features": 2, "scale": "none"}
    assert made.get("null") is None
    assert json.loads(json.dumps(dict(made))) == made
    assert made == dict(made)
    assert made != {**made, "seed": 6}
    with pytest.raises(KeyError):
        made["null"]


def test_entries_that_a_run_does_not_have_are_not_in_the_mapping(tables):
    made = cr.stability.cluster_test(tables["a"], n_resamples=2, rng=1).provenance
    assert made.clusterers == ()
    assert not {"clusterers", "resampling", "accelerate"} & set(made)
    assert made["n_components"] is None  # a parameter that was None is one that was given


def test_everything_travels_in_a_file(comparison, tmp_path):
    comparison.save(tmp_path / "result.npz")
    loaded = cr.load(tmp_path / "result.npz").provenance
    assert loaded == comparison.provenance
    assert dataclasses.asdict(loaded) == dataclasses.asdict(comparison.provenance)
    assert loaded.clusterers == comparison.provenance.clusterers
    assert isinstance(loaded.studies["a"], StudyRecord)


@pytest.mark.parametrize("damage", [lambda fields: fields.pop("seed"), lambda fields: fields.update(mood="good")])
def test_a_file_whose_provenance_lacks_or_adds_something_is_refused(comparison, tmp_path, damage):
    comparison.save(tmp_path / "result.npz")
    with np.load(tmp_path / "result.npz") as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays["clustrep"]))
    damage(header["values"]["provenance"])
    write_archive(tmp_path / "damaged.npz", **{**arrays, "clustrep": np.array(json.dumps(header))})
    with refused(cr.errors.DataError):
        cr.load(tmp_path / "damaged.npz")


def test_a_pipeline_has_the_parameters_of_its_steps():
    record = Configuration("scaled", make_pipeline(StandardScaler(), KMeans(4, n_init=1))).record
    assert record.kind == "Pipeline"
    assert record.n_clusters_parameter == "kmeans__n_clusters"
    assert (record.n_clusters, record.parameters["kmeans__n_clusters"]) == (4, "4")
    assert "n_clusters=k, n_init=1" in record.description_for_any_k


def halves(X, n_clusters=2):
    return np.arange(len(X)) % n_clusters


def test_a_function_has_its_name_and_the_arguments_it_was_given():
    record = Configuration("f", with_n_clusters(halves, 3)).record
    assert (record.kind, record.n_clusters) == ("halves", 3)
    assert dict(record.parameters) == {"n_clusters": "3"}
    assert record.description_for_any_k == "halves(n_clusters=k)"


def test_known_labels_have_no_parameters():
    record = Configuration("known labels", KnownLabels({"a": np.arange(3)})).record
    assert (record.kind, record.parameters, record.n_clusters) == ("known labels", {}, None)
    assert record.description_for_any_k == record.description == "known labels"


@pytest.mark.parametrize("clusterer", [KMeans(3), AgglomerativeClustering(12), AgglomerativeClustering(1)])
def test_the_description_is_the_same_for_any_k(clusterer):
    record = Configuration("one", clusterer).record
    other = Configuration("one", with_n_clusters(clusterer, 25)).record
    assert record.description == describe(clusterer)
    assert record.description_for_any_k == other.description_for_any_k
    assert record.description != other.description
