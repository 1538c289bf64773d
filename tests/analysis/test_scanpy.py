"""What `to_anndata` writes, drawn by scanpy itself. scanpy is not among the packages for development: it is large."""

from __future__ import annotations

import anndata
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.cluster import KMeans

import clustrep as cr

scanpy = pytest.importorskip("scanpy", reason="scanpy is not installed: pip install scanpy to run this test")
# Other packages' warnings are no concern of this test.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def annotated():
    rng = np.random.default_rng(0)
    kinds = np.arange(160) % 4
    X = rng.normal(size=(160, 3)) + 12 * np.array([[0, 0, 0], [0, 0.7, 0], [1.5, 0, 0], [0, 0, 1.5]])[kinds]
    adata = anndata.AnnData(X)
    adata.obs["lab"] = np.where(np.arange(160) < 80, "north", "south")
    adata.obsm["X_pca"] = X[:, :2]
    studies = cr.Studies.from_anndata(adata, "lab")
    analysis = cr.analyse(
        KMeans(n_init=2),
        studies,
        n_clusters=[3, 4],
        n_resamples=3,
        n_null=19,
        rng=0,
        options=cr.RunOptions(recursive=True),
    )
    return analysis.to_anndata(adata, "lab")


@pytest.mark.parametrize("column", ["clustrep_cluster", "clustrep_status", "clustrep_subcluster"])
def test_scanpy_draws_categories_in_the_colours_that_were_written(annotated, column):
    ax = scanpy.pl.embedding(annotated, basis="X_pca", color=column, show=False)
    shown = {to_hex(colour) for points in ax.collections for colour in points.get_facecolors()[:, :3]}
    categories = annotated.obs[column].cat.categories
    if f"{column}_colors" in annotated.uns:
        expected = {to_hex(colour) for colour in annotated.uns[f"{column}_colors"]}
        assert expected <= shown
    assert {text.get_text() for text in ax.get_legend().get_texts()} >= set(categories.astype(str))


def test_scanpy_draws_scores(annotated):
    figure = scanpy.pl.embedding(annotated, basis="X_pca", color="clustrep_local", show=False).figure
    (points, *_) = figure.axes[0].collections
    drawn = np.sort(points.get_array())
    np.testing.assert_allclose(drawn, np.sort(annotated.obs["clustrep_local"]))
