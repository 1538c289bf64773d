"""
ConsensusClusterPlus
====================

=============================================  ======================================================================
there                                          here
=============================================  ======================================================================
``ConsensusClusterPlus(d, maxK, reps)``        ``consensus(clusterer, X, n_clusters=..., n_resamples=reps)``
``consensusMatrix``, ``plot=...``              ``.matrix(k)``, ``.plot()``
PAC, from the matrix                           ``.pac()``
samples as columns                             samples as rows
a second study                                 ``analyse``, ``replicability``: there is no such function there
=============================================  ======================================================================

PAC is the share of pairs of samples that are neither nearly always together nor nearly always apart. The numbers of
ConsensusClusterPlus were written by ``examples/coming_from/peer_numbers.R``; those of clustrep are computed now, on
one study of simulated data with three clusters and on one of unimodal data. Draws differ between programs.
"""

# %%
from pathlib import Path

import pandas as pd
from sklearn.cluster import AgglomerativeClustering

import clustrep as cr

here = Path("../../examples/coming_from") if Path("../../examples/coming_from").exists() else Path()
print((here / "peer_numbers_r.csv").read_text().splitlines()[0])
peers = pd.read_csv(here / "peer_numbers_r.csv", comment="#")
points = pd.read_csv(here / "peer_points.csv")
alpha = points[points["study"] == "alpha"].groupby("collection", sort=False)

ours = {
    name: cr.stability.consensus(
        AgglomerativeClustering(),
        part.filter(regex="^x").reset_index(drop=True),
        n_clusters=[2, 3, 4, 5],
        n_resamples=200,
        rng=0,
    )
    for name, part in alpha
}
theirs = peers[peers["quantity"] == "PAC"].pivot(index="k", columns="collection", values="value")
both = pd.concat(
    {
        "ConsensusClusterPlus": theirs,
        "clustrep": pd.DataFrame({name: c.pac() for name, c in ours.items()}, index=theirs.index),
    },
    axis=1,
)
print(both.round(3).to_string())

# %%
# PAC has a smallest value also where there are no clusters. What is the same in every subsample, such as the
# laboratory, it cannot see. A second study can:

studies = {
    name: {study: rows.filter(regex="^x") for study, rows in part.groupby("study")}
    for name, part in points.groupby("collection", sort=False)
}
for name, tables in studies.items():
    ward = AgglomerativeClustering()
    analysis = cr.analyse(ward, tables, n_clusters=[2, 3, 4, 5], n_resamples=20, n_null=99, train=(), rng=0)
    print(f"{name}: smallest PAC at k = {both['clustrep'][name].idxmin()}; clustrep: {analysis.headline[0].text}")

ours["three groups"].plot()
