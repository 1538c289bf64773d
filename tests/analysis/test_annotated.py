"""An analysis written into the AnnData that it is about, and read back."""

from __future__ import annotations

from dataclasses import replace

import anndata
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from tests.sentences import refused

import clustrep as cr
from clustrep.analysis.annotated import plain_table
from clustrep.errors import DataError, ParameterError

N = 70


def cells():
    """Two labs in mixed order: three groups, of which the second lab has two."""
    rng = np.random.default_rng(3)
    lab = np.array(["north", "south"])[rng.integers(2, size=2 * N)]
    group = rng.integers(3, size=2 * N)
    group[(lab == "south") & (group == 2)] = 0
    X = np.array([[0.0, 0], [9, 0], [0, 9]])[group] + rng.normal(size=(2 * N, 2))
    adata = anndata.AnnData(X, obs=pd.DataFrame({"lab": lab}, index=[f"cell {i}" for i in range(2 * N)]))
    adata.obs["type"] = pd.Categorical(np.array(["T", "B", "NK"])[group])
    return adata


@pytest.fixture(scope="module")
def analysis():
    studies = cr.Studies.from_anndata(cells(), "lab", label="type")
    return cr.analyse(KMeans(n_init=2), studies, n_clusters=[2, 3], n_resamples=4, n_null=19, rng=0)


@pytest.fixture(scope="module")
def annotated(analysis):
    return analysis.to_anndata(cells(), "lab")


def test_every_cell_has_its_cluster_status_and_score(analysis, annotated):
    obs, findings = annotated.obs, analysis.findings
    assert obs["clustrep_cluster"].cat.categories.tolist() == list(findings.letters) == ["A", "B", "C"]
    letters = analysis.labels().set_index("sample")["cluster"]
    scores = analysis.samples().set_index("sample")["mean"]
    status = findings.table().set_index(["study", "cluster"])["status"]
    for name, cell in obs.iterrows():
        assert cell["clustrep_cluster"] == letters[name]
        assert cell["clustrep_status"] == status[cell["lab"], cell["clustrep_cluster"]]
        assert cell["clustrep_local"] == scores[name]
        assert np.isnan(annotated.obsm["clustrep_local"].loc[name, cell["lab"]])
    counts = obs.groupby(["lab", "clustrep_cluster"], observed=False).size()
    for _, row in findings.table().iterrows():
        assert counts[row["study"], row["cluster"]] == row["n"]


def test_cells_of_a_study_that_cannot_be_matched_have_no_cluster(analysis):
    codes = analysis.findings.codes.copy()
    codes[: analysis.findings.sizes[0]] = -1
    unmatched = replace(analysis, findings=replace(analysis.findings, codes=codes))
    obs = unmatched.to_anndata(cells(), "lab").obs
    first = obs["lab"] == analysis.names[0]
    for column in ("clustrep_cluster", "clustrep_status"):
        assert obs.loc[first, column].isna().all()
        assert obs.loc[~first, column].notna().all()


def test_colours_are_where_scanpy_looks_for_them(annotated):
    for column in ("clustrep_cluster",):
        assert isinstance(annotated.obs[column].dtype, pd.CategoricalDtype)
        assert len(annotated.uns[f"{column}_colors"]) == len(annotated.obs[column].cat.categories)
        assert all(colour.startswith("#") and len(colour) == 7 for colour in annotated.uns[f"{column}_colors"])


def test_reading_back_gives_the_same(analysis, annotated, tmp_path):
    annotated.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    pd.testing.assert_frame_equal(again.obs, annotated.obs)
    pd.testing.assert_frame_equal(again.obsm["clustrep_local"], annotated.obsm["clustrep_local"])
    findings = analysis.findings
    tables = {"findings": findings.table(), "clusters": findings.clusters(), "studies": findings.studies()}
    for name, table in {**tables, "summary": analysis.summary(), "scores": analysis.scores()}.items():
        read, written = again.uns["clustrep"][name], plain_table(table)
        pd.testing.assert_frame_equal(read.reset_index(drop=True), written.reset_index(drop=True), check_dtype=False)
    assert again.uns["clustrep"]["headline"].startswith(analysis.headline[0].text)
    assert again.uns["clustrep"]["verdict"] == analysis.verdict


def test_a_study_that_was_not_followed_has_clusters_and_no_local_scores(analysis):
    studies = cr.Studies.from_anndata(cells(), "lab")
    part = cr.analyse(
        KMeans(n_init=2), studies, n_clusters=3, n_resamples=2, n_null=0, rng=0, train=["north"], agreement="ari"
    )
    obs = part.to_anndata(cells(), "lab", key_added="mine").obs
    assert obs["mine_cluster"].notna().all()
    assert obs.loc[obs["lab"] == "north", "mine_local"].notna().all()
    assert obs.loc[obs["lab"] == "south", "mine_local"].isna().all()


def test_a_copy_leaves_the_cells_as_they_were(analysis, annotated):
    adata = cells()
    written = analysis.to_anndata(adata, copy=True)  # the studies are those of "lab"
    assert list(adata.obs) == ["lab", "type"]
    assert not adata.uns
    pd.testing.assert_frame_equal(written.obs.iloc[:, 2:], annotated.obs.iloc[:, 2:])
    assert analysis.to_anndata(adata, key_added="mine") is adata
    assert adata.obs["mine_cluster"].tolist() == annotated.obs["clustrep_cluster"].tolist()


def test_the_column_of_studies_is_asked_for_where_it_is_not_clear(analysis):
    adata = cells()
    adata.obs["site"] = adata.obs["lab"]
    for other in (adata, cells()[10:].copy()):
        with pytest.raises(ParameterError) as error:
            analysis.to_anndata(other)
        assert error.value.parameter == "study_key"


def test_clusters_agree_with_the_page(analysis, annotated):
    for card in cr.Report(analysis).facts["clusters"]:
        for entry in card["studies"]:
            of_study = annotated.obs[annotated.obs["lab"] == entry["study"]]
            here = of_study[of_study["clustrep_cluster"] == card["cluster"]]
            assert len(here) == entry["n"]
            assert set(here["clustrep_status"]) <= {entry["status"]}
            if entry["replicability"] is not None:
                assert here["clustrep_local"].mean() == pytest.approx(entry["replicability"], abs=1e-5)


def test_other_cells_are_refused(analysis):
    with refused(ParameterError, "study_key"):
        analysis.to_anndata(cells(), "labs")
    with refused(DataError):
        analysis.to_anndata(cells()[10:].copy(), "lab")
    with refused(DataError):
        analysis.to_anndata(cells()[::-1].copy(), "lab")
    with refused(ParameterError, "adata"):
        analysis.to_anndata(pd.DataFrame(), "lab")
