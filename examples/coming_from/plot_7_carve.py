"""
CARVE
=====

=============================================  ======================================================================
there                                          here
=============================================  ======================================================================
``CARVE(n_clusters, n_resamples).fit(X)``      ``compare(clusterers, studies, n_clusters=...)``
generalizability: a classifier predicts the    Algorithm 1: ``replicability``; the classifier is the clusterer's own
clusters of held-out samples                   ``predict``, the nearest sample, or ``Induced(c, classifier=...)``
held-out samples of the same study             other studies; halves of one study by ``Studies.split``
stability: two subsamples, compared on those   ``stability``, ``consensus``
that they share
``get_k(rule="max" | "1se" | "quantile")``     ``.best()``, with rivals; ``analyse``: also where there are no clusters
=============================================  ======================================================================

With halves of one study and the nearest sample as classifier both compute the same quantity (Wycik, Tang, Zikry et al.
2026, arXiv:2606.00327). The numbers of CARVE were written by ``examples/coming_from/carve_numbers.py``, with later
versions of Python's packages than it asks for and Python 3.11 instead of 3.12; those of clustrep are computed now.
"""

# %%
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import AgglomerativeClustering

import clustrep as cr

here = Path("../../examples/coming_from") if Path("../../examples/coming_from").exists() else Path()
print((here / "carve_numbers.csv").read_text().splitlines()[0])
carve = pd.read_csv(here / "carve_numbers.csv", comment="#")
points = pd.read_csv(here / "peer_points.csv")
ward, ks, n_splits = AgglomerativeClustering(), [2, 3, 4, 5], 50
ours = []
for collection, part in points[points["study"] == "alpha"].groupby("collection", sort=False):
    X = part.filter(regex="^x").to_numpy()
    scores = np.empty((n_splits, len(ks)))
    for i in range(n_splits):
        halves = cr.Studies.split(X, 2, rng=i)
        compared = cr.compare({"ward": ward}, halves, n_clusters=ks, agreement="ari", n_resamples=1, rng=0)
        for j, k in enumerate(ks):
            observed = compared.replicability("ward", k).estimate
            scores[i, j] = (observed[0, 1] + observed[1, 0]) / 2
    ours += [(collection, k, value) for k, value in zip(ks, scores.mean(axis=0), strict=True)]
both = carve.merge(pd.DataFrame(ours, columns=["collection", "n_clusters", "clustrep"]))
shown = both.rename(columns={"ari_generalizability": "CARVE", "ari_generalizability_se": "its error"})
print(shown[["collection", "n_clusters", "CARVE", "its error", "clustrep"]].round(3).to_string(index=False))

# %%
# Halves of one study share its laboratory and its patients, and unimodal data have a best k, too. Across studies, with
# a null model:

print(carve.groupby("collection", sort=False)["k_chosen"].first().to_string())
for collection, part in points.groupby("collection", sort=False):
    studies = {study: rows.filter(regex="^x") for study, rows in part.groupby("study")}
    analysis = cr.analyse(ward, studies, n_clusters=ks, n_resamples=20, n_null=99, train=(), rng=0)
    print(f"clustrep, {collection}: {analysis.headline[0].text}")
