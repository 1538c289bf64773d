"""What `analyse` finds: the verdict, the clusters of all studies and their statuses, whatever order data come in."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from tests.analysis.cases import WARD, assert_same

import clustrep as cr
from clustrep.errors import ParameterError
from clustrep.findings.result import CONTINUOUS, INCONCLUSIVE, NO_EVIDENCE, SEPARATED, STATUSES

COLUMNS = [
    "cluster",
    "study",
    "status",
    "n",
    "share",
    "shift",
    "valley_depth",
    "valley_p",
    "replicability",
    "low",
    "high",
]
FAST = {"n_resamples": 4, "n_null": 19, "rng": 0}
CENTRES = np.array([[0.0, 0], [9, 0], [0, 9]])


def blobs(seed, sizes=(30, 25, 20), shift=(0.0, 0.0)):
    """One study: clusters of these sizes around the centres."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(sum(sizes), 2)) + np.repeat(CENTRES, sizes, axis=0) + shift


def triangle(seed, n=150):
    """Samples spread evenly over a triangle: three corners, and no density valleys."""
    weights = np.random.default_rng(seed).dirichlet([1, 1, 1], size=n)
    return 10 * weights @ np.array([[0.0, 0], [1, 0], [0.5, 0.75**0.5]])


@pytest.fixture(scope="module")
def studies():
    """Three studies with three clusters; the second is shifted, the third lacks the smallest cluster."""
    return {"a": blobs(1), "b": blobs(2, shift=(4, -3)), "c": blobs(3, sizes=(30, 30, 0))}


@pytest.fixture(scope="module")
def found(studies):
    return cr.analyse(KMeans(n_init=3), studies, n_clusters=[2, 3, 4], **FAST)


def test_separated_clusters_have_a_status_in_every_study(found):
    assert (found.verdict, found.n_clusters) == (SEPARATED, 3)
    table = found.findings.table()
    assert table.columns.tolist() == COLUMNS
    assert set(table["status"]) <= set(STATUSES)
    statuses = table.pivot(index="cluster", columns="study", values="status")
    assert statuses.to_numpy().tolist() == [["found"] * 3, ["found"] * 3, ["found", "found", "not found"]]
    assert table.groupby("study")["share"].sum().tolist() == pytest.approx([1, 1, 1])
    assert found.findings.clusters()["found"].tolist() == [3, 3, 2]
    assert found.findings.studies()["clusters"].tolist() == [3, 3, 2]


def test_clusters_have_the_replicability_of_a_partition_into_as_many(found, studies):
    """That of more clusters is the replicability of pieces: asked for four of three clusters, they are not the same."""
    other = cr.analyse(KMeans(n_init=3), studies, n_clusters=[4, 5], **FAST)
    assert other.n_clusters == found.n_clusters == 3
    assert other.local
    assert np.isnan(other.findings.replicability).all()
    assert found.findings.replicability[:, :2] == pytest.approx(1)


def test_every_sample_has_its_letter(found, studies):
    table = found.labels()
    assert table.columns.tolist() == ["study", "sample", "cluster"]
    assert table["study"].tolist() == [name for name, X in studies.items() for _ in X]
    counts = found.findings.table().set_index(["cluster", "study"])["n"]
    for (cluster, study), rows in table.groupby(["cluster", "study"]):
        assert len(rows) == counts[cluster, study]
        assert (rows["cluster"].to_numpy() == cluster).all()
    assert {name: labels.tolist() for name, labels in found.findings.labels.items()} == {
        study: rows["cluster"].tolist() for study, rows in table.groupby("study")
    }


def test_samples_have_the_clusters_of_the_findings(found):
    letters = found.labels().set_index(["study", "sample"])["cluster"]
    samples = found.samples()
    assert samples["cluster"].tolist() == [
        letters[key] for key in zip(samples["train"], samples["sample"], strict=True)
    ]


def test_a_shift_that_clusters_agree_about_is_a_shift_and_nothing_else(found, studies):
    again = cr.analyse(KMeans(n_init=3), {**studies, "b": studies["b"] + [20, 10]}, n_clusters=[2, 3, 4], **FAST)
    mine, yours = found.findings.table(), again.findings.table()
    pd.testing.assert_frame_equal(mine[["cluster", "study", "status", "n"]], yours[["cluster", "study", "status", "n"]])
    of_b = yours.query("study == 'b'")["shift"].to_numpy()
    assert (of_b > mine.query("study == 'b'")["shift"].to_numpy()).all()


def test_the_order_of_studies_samples_and_features_does_not_matter(found, studies):
    orders = {name: np.random.default_rng(9).permutation(len(X)) for name, X in studies.items()}
    given = {name: pd.DataFrame(X, columns=["1", "2"]).add_prefix(name, axis=0) for name, X in studies.items()}
    turned = {name: given[name].iloc[orders[name]][["2", "1"]] for name in "cba"}
    options = {"n_clusters": [2, 3, 4], **FAST}
    plain, again = (cr.analyse(KMeans(n_init=3), tables, **options).findings for tables in (given, turned))
    assert (plain.verdict, plain.letters, plain.pvalue) == (again.verdict, again.letters, again.pvalue)
    columns = ["status", "n", "share", "shift", "valley_depth", "valley_p"]
    mine, yours = (each.table().set_index(["cluster", "study"])[columns].sort_index() for each in (plain, again))
    pd.testing.assert_frame_equal(mine, yours)
    for name, order in orders.items():
        assert again.labels[name].tolist() == plain.labels[name][order].tolist()


def test_a_single_study_is_taken(studies):
    made = cr.analyse(KMeans(n_init=3), {"a": studies["a"]}, n_clusters=[2, 3], **FAST)
    assert (made.verdict, made.n_clusters, made.names) == (SEPARATED, 3, ("a",))
    assert made.findings.table()["n"].tolist() == [30, 25, 20]
    assert made.local == ()
    assert len(made.labels()) == len(made.coordinates) == 75


def test_without_a_null_model_the_verdict_is_inconclusive_unless_clusters_are_separated(studies):
    options = {"n_clusters": [2, 3], "n_resamples": 2, "n_null": 0, "rng": 0}
    plain = {name: np.random.default_rng(i).normal(size=(60, 2)) for i, name in enumerate("ab")}
    unknown = cr.analyse(KMeans(n_init=3), plain, **options)
    assert (unknown.verdict, unknown.n_clusters, unknown.reference) == (INCONCLUSIVE, None, None)
    assert "null model" in unknown.findings.reason
    assert cr.analyse(KMeans(n_init=3), studies, **options).verdict == SEPARATED


def test_an_inconclusive_verdict_establishes_no_cluster_in_any_view():
    tiny = {name: np.random.default_rng(i).normal(size=(12, 3)) for i, name in enumerate("ab")}
    made = cr.analyse(KMeans(n_init=3), tiny, n_clusters=[2, 3], **FAST)
    assert (made.verdict, made.n_clusters) == (INCONCLUSIVE, None)
    table = made.findings.table()
    assert table["status"].tolist() == ["undetermined"] * 2
    assert table["n"].tolist() == [0, 0]
    assert made.findings.clusters()[["n", "found", "of"]].to_numpy().tolist() == [[0, 0, 0]]
    assert made.findings.studies()["clusters"].tolist() == [0, 0]
    assert set(made.labels()["cluster"]) == set(made.samples()["cluster"]) == {"?"}
    assert "found" not in repr(made)
    answer = json.loads(cr.Report(made).to_json())["answer"]
    assert answer["n_clusters"] is None
    assert [row["status"] for row in answer["table"]] == ["undetermined"] * 2
    assert "✓" not in made.findings.plot().get_xlabel()


def test_one_cluster_is_no_evidence_of_clusters():
    plain = {name: np.random.default_rng(i).normal(size=(120, 2)) for i, name in enumerate("ab")}
    made = cr.analyse(KMeans(n_init=3), plain, n_clusters=[2, 3], **FAST)
    assert (made.verdict, made.n_clusters) == (NO_EVIDENCE, 1)
    assert made.findings.table()["status"].tolist() == ["found", "found"]
    assert set(made.labels()["cluster"]) == {"A"}
    assert 0 < made.findings.detectable < 5
    assert made.findings.pvalue == made.choice.against.smallest


def test_a_triangle_is_continuous_structure():
    tables = {"a": triangle(0), "b": triangle(1)}
    made = cr.analyse(KMeans(n_init=3), tables, n_clusters=[2, 3, 4], n_resamples=10, n_null=39, rng=0)
    assert (made.verdict, made.n_clusters) == (CONTINUOUS, 3)
    assert made.n_clusters == made.focus.n_clusters == len(made.findings.letters)
    assert made.findings.pvalue <= 0.05


@pytest.mark.parametrize("scale", ["zscores", "reference=nobody", 3])
def test_an_unknown_scale_is_refused(scale, studies):
    with pytest.raises(ParameterError) as error:
        cr.analyse(WARD, studies, scale=scale, n_clusters=2)
    assert error.value.parameter == "scale"


def test_findings_and_analysis_come_back_from_a_file(found, tmp_path):
    found.save(tmp_path / "analysis.npz")
    again = cr.load(tmp_path / "analysis.npz")
    assert_same(found, again)
    assert repr(again) == repr(found)
    found.findings.save(tmp_path / "findings.npz")
    alone = cr.load(tmp_path / "findings.npz")
    assert_same(alone, found.findings)
    assert repr(alone) == repr(found.findings)
    pd.testing.assert_frame_equal(alone.table(), found.findings.table())
