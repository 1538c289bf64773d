"""The registry of indices: every record has its computation, and a record with a reader is all that a new one needs."""

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering

import clustrep as cr
from clustrep.agreement.cluster_indices import INDICES, Fits, IndexRecord
from clustrep.stability.perturbation import PERTURBATIONS, READERS, default_perturbation
from clustrep.stability.validation import CURVES, ROWS, resampled_by

WARD = AgglomerativeClustering(2)
X = np.random.default_rng(0).normal(size=(24, 2)) + np.repeat([[0, 0], [3, 0]], 12, axis=0)


def test_every_index_is_computed_in_one_place():
    assert sorted([*READERS, *CURVES, *ROWS]) == sorted(INDICES)
    assert list(INDICES) == [record.name for record in INDICES.values()]


def test_every_fit_has_its_perturbation():
    assert set(PERTURBATIONS) == set(Fits) - {Fits.NONE}
    assert {name: repr(default_perturbation(name)) for name in READERS} == {
        "matching": "Subsample(fraction=0.8)",
        "inclusion": "FeatureSubset(fraction=0.8)",
        "jaccard": "Bootstrap(distinct=True)",
        "r": repr(cr.resampling.Jitter()),
        "d": repr(cr.resampling.Jitter()),
    }


def test_how_data_were_perturbed_is_said():
    assert resampled_by("pac") == repr(cr.resampling.Subsample(0.8))
    assert resampled_by("relative_validation") == "half-splits"
    assert resampled_by("instability") == "pairs of Bootstrap()"
    assert resampled_by("in_group") == "none"
    assert resampled_by("test") == "data from the null"


@pytest.fixture(scope="module")
def frame():
    return cr.stability.validate(WARD, X, n_resamples=4, n_splits=4, rng=0).to_frame()


@pytest.mark.parametrize("record", INDICES.values(), ids=lambda record: record.name)
def test_values_are_what_the_record_says(record, frame):
    rows = frame[frame["index"] == record.name]
    assert rows["value"].between(*record.bounds).all()
    assert set(rows["better"]) == {record.better}
    assert (rows["cluster"] != "all").any() == record.per_cluster
    assert (rows["cluster"] == "all").sum() == 1


def test_counts_alone_are_relative():
    assert [name for name, record in INDICES.items() if record.has_relative] == ["matching", "d"]
    assert INDICES["d"].title(relative=True) == "D index, relative"
    assert INDICES["d"].title(relative=False) == INDICES["r"].title(relative=True).replace("R", "D")


def test_a_record_and_a_reader_add_an_index(monkeypatch):
    """The share of each cluster that the largest part of it in any new cluster has."""

    def read(tables, sizes, relative):
        shares = tables.max(axis=2) / np.maximum(tables.sum(axis=2), 1)
        return np.column_stack([shares, shares.min(axis=1)])

    record = IndexRecord(
        name="largest_part",
        long_name="largest part kept together",
        fits=Fits.SUBSAMPLES,
        higher_is_better=True,
        bounds=(0.0, 1.0),
        per_cluster=True,
        reference="this test",
    )
    monkeypatch.setitem(INDICES, record.name, record)
    monkeypatch.setitem(READERS, record.name, read)
    result = cr.stability.stability(WARD, X, index="largest_part", n_resamples=5, rng=0)
    assert "largest part kept together" in repr(result)
    assert "Subsample(fraction=0.8)" in repr(result)
    assert (result.overall_distribution == result.distribution.min(axis=1)).all()
    table = cr.stability.validate(WARD, X, indices=["jaccard", "largest_part"], n_resamples=5, rng=0)
    assert table.overall()["largest_part"].tolist() == [result.overall]
    assert "largest part kept together (+)" in repr(table)
    with pytest.raises(cr.errors.ParameterError, match="'largest_part' need a clusterer"):
        cr.stability.validate(None, X, labels=[0] * 12 + [1] * 12, indices="largest_part")
