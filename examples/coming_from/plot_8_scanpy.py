"""
scanpy
======

=============================================  ======================================================================
there                                          here
=============================================  ======================================================================
``sc.pp.normalize_total``, ``sc.pp.log1p``     ``Studies.from_anndata(..., normalise="log1p")``, in each study by itself
``sc.pp.pca``                                  ``TrainEmbedding()`` as the first step of a pipeline: learned on each
                                               training study alone
``sc.tl.leiden(adata, resolution=...)``        ``clusterers.Leiden(resolution=...)``, or ``--clusterer leiden``
a batch key                                    ``Studies.from_anndata(adata, study_key="batch")``
the best resolution, by eye                    ``analyse(Leiden(), studies, param_grid={"resolution": [...]})``
columns of ``obs``, colours in ``uns``         ``analysis.to_anndata(adata, "batch")``; scanpy's plots take them
=============================================  ======================================================================

scanpy joins nearest neighbours with the weights of UMAP, clustrep by the share of neighbours that two cells have in
common, which does not depend on the processor: communities at one resolution are similar, not equal. The labels of
scanpy were written by ``examples/coming_from/scanpy_labels.py``; those of clustrep are computed now.
"""

# %%
from pathlib import Path

import pandas as pd

import clustrep as cr

here = Path("../../examples/coming_from") if Path("../../examples/coming_from").exists() else Path()
print((here / "scanpy_labels.csv").read_text().splitlines()[0])
theirs = pd.read_csv(here / "scanpy_labels.csv", comment="#")
points = pd.read_csv(here / "peer_points.csv")
rows = []
for collection, part in points.groupby("collection", sort=False):
    X = part[part["study"] == "alpha"].filter(regex="^x").to_numpy()
    for resolution in (0.25, 0.5, 1.0):
        labels = theirs[f"{collection}, {resolution}"].iloc[: len(X)]
        leiden = cr.clusterers.Leiden(resolution=resolution, n_iterations=-1, random_state=0).fit_predict(X)
        agreement = cr.agreement.adjusted_rand_index(labels, leiden)
        rows.append((collection, resolution, labels.nunique(), len(set(leiden.tolist())), agreement))
columns = ["data", "resolution", "clusters in scanpy", "clusters in clustrep", "ARI of the two"]
print(pd.DataFrame(rows, columns=columns).round(2).to_string(index=False))

# %%
# Both find communities in unimodal data, the more of them the higher the resolution: a graph has communities whether
# or not there are clusters. A second study, a null model and density valleys tell the difference.

for collection, part in points.groupby("collection", sort=False):
    studies = {study: rows.filter(regex="^x") for study, rows in part.groupby("study")}
    leiden = cr.clusterers.Leiden()
    analysis = cr.analyse(
        leiden, studies, param_grid={"resolution": [0.25, 0.5, 1.0]}, n_resamples=20, n_null=39, train=(), rng=0
    )
    print(f"{collection}: {analysis.headline[0].text}")
