"""
ERICA
=====

=============================================  ======================================================================
there                                          here
=============================================  ======================================================================
``ERICA(data, k_range, n_iterations)``         ``assignment_consistency(clusterer, X, n_clusters=..., n_resamples=...)``
``get_metrics()``: TWCRI                       ``.twcri``
CLAM matrix                                    ``.counts``: how often each sample is put into each cluster, for every k
``get_k_star("TWCRI")``                        ``analyse(...)``: also where there are no clusters
a second study                                 ``analyse``, ``replicability``: ERICA resamples one
=============================================  ======================================================================

TWCRI is how consistently samples that were left out get the same cluster (Sorooshyari, Rivas and Tibshirani 2026,
arXiv:2606.00302). ERICA matches clusters one after the other by their means, clustrep all together by the samples that
they share. The numbers of ERICA were written by ``examples/coming_from/peer_numbers.py``; those of clustrep are
computed now, on one study of simulated data with three clusters and on one of unimodal data.
"""

# %%
from pathlib import Path

import pandas as pd
from sklearn.cluster import KMeans

import clustrep as cr

here = Path("../../examples/coming_from") if Path("../../examples/coming_from").exists() else Path()
print((here / "peer_numbers_python.csv").read_text().splitlines()[0])
peers = pd.read_csv(here / "peer_numbers_python.csv", comment="#").astype({"k": "Int64"})
points = pd.read_csv(here / "peer_points.csv")

theirs = peers[peers["quantity"] == "TWCRI"].pivot(index="k", columns="collection", values="value")
ours = {}
for name, part in points[points["study"] == "alpha"].groupby("collection", sort=False):
    X = part.filter(regex="^x").reset_index(drop=True)
    assigned = cr.stability.assignment_consistency(
        KMeans(n_init=10), X, n_clusters=[2, 3, 4, 5], n_resamples=200, rng=0
    )
    ours[name] = assigned.twcri
both = pd.concat({"ERICA": theirs, "clustrep": pd.DataFrame(ours, index=theirs.index)}, axis=1)
print(both.round(3).to_string())

# %%
# TWCRI is near 1 for two halves of unimodal data, too: they are cut in the same place every time. A second study and a
# null model tell the difference.

for name, part in points.groupby("collection", sort=False):
    tables = {study: rows.filter(regex="^x") for study, rows in part.groupby("study")}
    analysis = cr.analyse(
        KMeans(n_init=10), tables, n_clusters=[2, 3, 4, 5], n_resamples=20, n_null=99, train=(), rng=0
    )
    print(f"{name}: largest TWCRI at k = {both['clustrep'][name].idxmax()}; clustrep: {analysis.headline[0].text}")
