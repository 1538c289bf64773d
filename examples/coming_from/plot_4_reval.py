"""
reval
=====

=============================================  ======================================================================
there                                          here
=============================================  ======================================================================
``RelativeValidation(s, c)``                   ``relative_validation(c, X, n_clusters=..., n_splits=...)``
``FindBestClustCV(s, c, nfold, nrand)``        the same, over random halves
the classifier ``s``                           ``Induced(c, classifier=s)``; without it the clusterer's own ``predict``,
                                               or the nearest sample
``evaluate(X_train, X_test)``                  ``replicability(c, {"train": X_train, "test": X_test})``
=============================================  ======================================================================

*Misclassification* is the share of one half whose labels from the other half differ from its own, before reval divides
it by that of shuffled labels. The numbers of reval were written by ``examples/coming_from/peer_numbers.py``; those of
clustrep are computed now, on one study of simulated data with three clusters and on one of unimodal data.
"""

# %%
from pathlib import Path

import pandas as pd
from sklearn.cluster import AgglomerativeClustering

import clustrep as cr

here = Path("../../examples/coming_from") if Path("../../examples/coming_from").exists() else Path()
print((here / "peer_numbers_python.csv").read_text().splitlines()[0])
peers = pd.read_csv(here / "peer_numbers_python.csv", comment="#").astype({"k": "Int64"})
points = pd.read_csv(here / "peer_points.csv")

theirs = peers[peers["quantity"] == "misclassification"].pivot(index="k", columns="collection", values="value")
errors = peers[peers["quantity"] == "misclassification"].pivot(index="k", columns="collection", values="error")
ours = {}
for name, part in points[points["study"] == "alpha"].groupby("collection", sort=False):
    X = part.filter(regex="^x").reset_index(drop=True)
    halves = cr.stability.relative_validation(
        AgglomerativeClustering(), X, n_clusters=[2, 3, 4, 5], n_splits=100, rng=0
    )
    ours[name] = halves.mean * halves.random
both = pd.concat({"reval": theirs, "its error": errors, "clustrep": pd.DataFrame(ours, index=theirs.index)}, axis=1)
print(both.round(3).to_string())

# %%
# reval chooses a number of clusters for both, because k = 1 is not among its choices:

print(
    peers[(peers["program"] == "reval") & (peers["quantity"] == "k chosen")][["collection", "value"]].to_string(
        index=False
    )
)
for name, part in points.groupby("collection", sort=False):
    tables = {study: rows.filter(regex="^x") for study, rows in part.groupby("study")}
    ward = AgglomerativeClustering()
    analysis = cr.analyse(ward, tables, n_clusters=[2, 3, 4, 5], n_resamples=20, n_null=99, train=(), rng=0)
    print(f"clustrep, {name}: {analysis.headline[0].text}")
