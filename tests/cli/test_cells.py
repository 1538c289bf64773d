"""Single cells on the command line: counts, and embeddings of all studies or of the training study alone."""

from __future__ import annotations

from pathlib import Path

import anndata
import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from tests.cli.support import invoke

import clustrep as cr

EMBEDDED = make_pipeline(cr.TrainEmbedding(), KMeans(n_init=1))
RUN = ("run", "atlas.h5ad", "--study-key", "lab", "--clusterer", "kmeans:n_init=1", "--k", "3", "--resamples", "3")
RUN = (*RUN, "--scale", "none", "--null", "none", "--figures", "none", "--jobs", "1")


@pytest.fixture
def atlas(tmp_path, monkeypatch):
    """Counts of two laboratories, with coordinates of all cells together."""
    monkeypatch.chdir(tmp_path)
    studies = cr.datasets.simulate_atlas(n_labs=2, n_cells=60, missing={}, rng=0)
    X = np.concatenate([study.X for study in studies.values()])
    adata = anndata.AnnData(X, layers={"counts": X.copy()})
    adata.obs_names = [sample for study in studies.values() for sample in study.samples]
    adata.var_names = list(studies.features)
    adata.obs["lab"] = np.repeat(studies.names, 60)
    adata.obsm["X_pca"] = np.log1p(X)[:, :5]
    adata.write_h5ad("atlas.h5ad")
    return adata


def test_counts_and_embedding_are_those_of_the_library(atlas):
    invoke(*RUN, "--rep", "counts", "--normalise", "log1p", "--target-sum", 500, "--embed", "train")
    analysis = cr.load("clustrep-results/result.npz")
    studies = cr.Studies.from_anndata(atlas, "lab").normalised(target_sum=500)
    options = {"n_clusters": [3], "agreement": ("ari", "ami"), "n_resamples": 3, "rng": 0}
    expected = cr.compare({"kmeans": EMBEDDED}, studies, **options)
    np.testing.assert_array_equal(analysis.comparison.distribution, expected.distribution)
    assert "TrainEmbedding(" in Path("clustrep-results/report.html").read_text()
    plain = cr.compare({"kmeans": KMeans(n_init=1)}, studies, **options)
    assert not np.array_equal(plain.distribution, expected.distribution)


def test_the_study_and_the_labels_by_their_short_names(atlas):
    atlas.obs["type"] = ["B cell", "T cell"] * 60
    atlas.write_h5ad("atlas.h5ad")
    short = [{"--study-key": "--study"}.get(word, word) for word in RUN]
    said = invoke(*short, "--rep", "X_pca", "--labels", "type").stderr
    assert "known labels B cell, T cell" in " ".join(said.split())


def test_an_embedding_of_all_studies_is_said_to_have_aligned_them(atlas):
    said = invoke(*RUN, "--rep", "X_pca").stderr
    assert "one embedding of all studies together, X_pca, which has aligned them" in " ".join(said.split())
    assert "--rep 'X' and --embed 'train'" in " ".join(said.split())
    assert "has aligned them before they were compared" in Path("clustrep-results/report.html").read_text()
    assert cr.load("clustrep-results/result.npz").comparison.provenance["shared_embedding"] == "X_pca"


def test_both_scores_are_on_the_page(atlas):
    counts = ("--normalise", "log1p", "--target-sum", 500)
    said = " ".join(invoke(*RUN, "--rep", "X_pca", "--embed", "train", *counts).stderr.split())
    assert "which has aligned them" in said
    analysis = cr.load("clustrep-results/result.npz")
    options = {"n_clusters": [3], "agreement": ("ari", "ami"), "n_resamples": 3, "rng": 0}
    aligned = cr.compare({"kmeans": KMeans(n_init=1)}, cr.Studies.from_anndata(atlas, "lab", "X_pca"), **options)
    measured = cr.Studies.from_anndata(atlas, "lab").normalised(target_sum=500)
    alone = cr.compare({"kmeans": EMBEDDED}, measured, **options)
    np.testing.assert_array_equal(analysis.comparison.distribution, aligned.distribution)
    np.testing.assert_array_equal(analysis.embedded.distribution, alone.distribution)
    (section,) = [section for section in cr.Report(analysis).facts["sections"] if section["id"] == "embedded"]
    rows = section["tables"][0]["rows"]
    assert len(rows) == 4  # two spaces, two agreements
    assert "learned on the training study" in Path("clustrep-results/report.html").read_text()
    invoke("report", "clustrep-results", "--out", "again.html")
    assert "learned on the training study" in Path("again.html").read_text()


def test_a_report_takes_the_comparison_beside_the_analysis(atlas):
    studies = cr.Studies.from_anndata(atlas, "lab").normalised(target_sum=500)
    options = {"n_clusters": [3], "agreement": "ari", "n_resamples": 2, "rng": 0}
    analysis = cr.analyse(KMeans(n_init=1), studies, n_null=0, train=(), **options)
    alone = cr.compare(EMBEDDED, studies, **options)
    sections = [section["id"] for section in cr.Report(analysis, alone).facts["sections"]]
    assert "embedded" in sections
    assert "embedded" not in [section["id"] for section in cr.Report(analysis).facts["sections"]]
    with pytest.raises(cr.errors.ParameterError):
        cr.Report(analysis, cr.compare(KMeans(n_init=1), studies, **options))


def test_shards_have_one_space(atlas):
    assert "--shard" in invoke(*RUN, "--rep", "X_pca", "--embed", "train", "--shard", "1/2", code=2).stderr


def test_features_are_not(atlas):
    assert "aligned" not in invoke(*RUN).stderr
    assert "shared_embedding" not in cr.load("clustrep-results/result.npz").comparison.provenance


def test_a_total_without_normalising_is_refused(atlas):
    assert "--target-sum is for --normalise log1p" in invoke(*RUN, "--target-sum", 500, code=2).stderr


def test_a_file_without_a_study_key_is_one_study_and_says_so(atlas):
    atlas.obs["plate"] = np.repeat(["p1", "p2", "p3"], 40)
    atlas.obs["barcode"] = [f"b{i}" for i in range(120)]
    atlas.obs["batch"] = "only one"
    atlas.write_h5ad("atlas.h5ad")
    alone = [word for word in RUN if word not in ("--study-key", "lab")]
    said = " ".join(invoke(*alone, "--rep", "X_pca").stderr.split())
    assert "--study-key 'lab' (columns with few values: lab, plate)" in said
    note = "taken as one study"
    assert said.count(note) == 1
    assert note in invoke("inspect", "atlas.h5ad").stdout
    assert "--study-key 'lab'" in invoke("valleys", "atlas.h5ad", "--k", "2", code=2).stderr
    assert note not in " ".join(invoke(*RUN, "--rep", "X_pca", "--force").stderr.split())
