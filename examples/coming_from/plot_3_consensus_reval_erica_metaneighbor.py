"""
ConsensusClusterPlus, reval, ERICA and MetaNeighbor
===================================================

Four programs that ask whether clusters come again. The first three resample *one* study; the last compares labels
that are given. What each of them measures has a function here, so the numbers can be set side by side.

=============================================  ======================================================================
there                                          here
=============================================  ======================================================================
``ConsensusClusterPlus(d, maxK, reps)``        ``consensus(clusterer, X, n_clusters=..., n_resamples=reps)``
``RelativeValidation(s, c)``,                  ``relative_validation(clusterer, X, n_clusters=..., n_splits=...)``;
``FindBestClustCV`` (reval)                    its classifier is the clusterer's own ``predict``, or a nearest neighbour
``ERICA(data, k_range, n_iterations)``         ``assignment_consistency(clusterer, X, n_clusters=..., n_resamples=...)``
``MetaNeighborUS(var_genes, dat, ...)``        ``cluster_auroc(studies, labels)``
a second study, a null model                   ``replicability``, ``compare``, ``null_reference``, ``analyse``
=============================================  ======================================================================

The numbers of the others were written by ``examples/coming_from/peer_numbers.R`` and ``peer_numbers.py``; those of
clustrep are computed now. MetaNeighbor is not in Debian: its functions were taken from R/MetaNeighborUS.R and
R/utility.R of its repository, not from an installed package.
"""

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.cluster import AgglomerativeClustering, KMeans

import clustrep as cr

here = Path("../../examples/coming_from") if Path("../../examples/coming_from").exists() else Path()
files = [here / "peer_numbers_r.csv", here / "peer_numbers_python.csv"]
for file in files:
    print(file.read_text().splitlines()[0])
peers = pd.concat([pd.read_csv(file, comment="#") for file in files])
points = pd.read_csv(here / "peer_points.csv")
tables = {  # collection, then study
    collection: {name: frame.filter(regex="^x") for name, frame in part.groupby("study")}
    for collection, part in points.groupby("collection", sort=False)
}
ks = [2, 3, 4, 5]
ward = AgglomerativeClustering()

# %%
# One study: the same quantities
# ------------------------------
#
# Study alpha of two collections, one with three groups, one in a single piece; Ward's linkage, and k-means for ERICA.
# PAC is the share of pairs that are neither nearly always together nor nearly always apart; *misclassification* is
# the share of a half whose labels from the other half differ from its own, before reval divides it by that of
# shuffled labels; TWCRI is how consistently samples that were left out get the same cluster. Draws differ between
# programs, so numbers agree up to resampling. ERICA matches clusters one after the other by their means, clustrep all
# together by the samples that they share; with a linkage, ERICA clusters the samples that were left out by
# themselves, where clustrep gives them the cluster of their nearest neighbour among the others.

ours = []
for collection, studies in tables.items():
    X = studies["alpha"].reset_index(drop=True)
    consensus = cr.stability.consensus(ward, X, n_clusters=ks, n_resamples=200, rng=0)
    halves = cr.stability.relative_validation(ward, X, n_clusters=ks, n_splits=100, rng=0)
    assigned = cr.stability.assignment_consistency(KMeans(n_init=10), X, n_clusters=ks, n_resamples=200, rng=0)
    values = {"PAC": consensus.pac(), "misclassification": halves.mean * halves.random, "TWCRI": assigned.twcri}
    ours += [(collection, name, k, value) for name, row in values.items() for k, value in zip(ks, row, strict=True)]
ours = pd.DataFrame(ours, columns=["collection", "quantity", "k", "clustrep"])
both = ours.merge(peers, on=["collection", "quantity", "k"])
print(both[["collection", "program", "quantity", "k", "value", "clustrep"]].round(3).to_string(index=False))

# %%
# Two studies with labels: the same numbers
# -----------------------------------------
#
# MetaNeighbor draws nothing, so its numbers are equal to the digits that were written.

groups = points[points["collection"] == "three groups"]
labels = {name: part["group"].to_numpy() for name, part in groups.groupby("study")}
auroc = cr.cluster_auroc(tables["three groups"], labels).melt(
    ["train", "cluster", "test", "partner"], var_name="quantity", value_name="clustrep"
)
auroc["train"] += "|" + auroc.pop("cluster")
auroc["test"] += "|" + auroc.pop("partner")
equal = auroc.merge(peers, on=["quantity", "train", "test"])
assert len(equal) == len(auroc)
np.testing.assert_allclose(equal["clustrep"], equal["value"], rtol=1e-11)
best = equal[(equal["quantity"] == "one_against_best") & equal["value"].notna()]
print(best[["quantity", "train", "test", "value", "clustrep"]].round(4).to_string(index=False))

# %%
# Unimodal data
# -------------
#
# All of them have a best k, also where there are no groups: none compares with data without clusters, and k = 1 is not
# among the choices of PAC, reval and ERICA. clustrep looks at both studies, and at simulated null data.

chosen = peers[peers["quantity"] == "k chosen"].pivot(index="program", columns="collection", values="value").astype(int)
pac = peers[peers["quantity"] == "PAC"].set_index("k").groupby("collection")["value"].idxmin()
chosen.loc["ConsensusClusterPlus, smallest PAC"] = pac.astype(int)
answers = {
    collection: cr.analyse(ward, studies, n_clusters=ks, n_resamples=20, n_null=99, rng=0)
    for collection, studies in tables.items()
}
print(chosen.to_string())
for collection, analysis in answers.items():
    print(f"clustrep, {collection}: {str(analysis).splitlines()[1]}")

# %%
# Squares: the program named; dots: clustrep.

plt.style.use("clustrep.plots.journal")
colours = {"three groups": "#0072B2", "unimodal": "#D55E00"}
for quantity, rows in both.groupby("quantity", sort=False):
    fig, ax = plt.subplots()
    for collection, part in rows.groupby("collection", sort=False):
        ax.plot(part["k"], part["value"], "s", markersize=7, markerfacecolor="none", color=colours[collection])
        ax.plot(part["k"], part["clustrep"], "o-", color=colours[collection])
        end = part.iloc[-1]
        where = {"xytext": (7, 0), "textcoords": "offset points", "va": "center"}
        ax.annotate(collection, (end["k"], end["clustrep"]), color=colours[collection], **where)
    program = rows["program"].iloc[0]
    ax.set(title=f"{quantity} ({program})", xlabel="number of clusters", xticks=ks, ylim=(-0.05, 1.08))
    ax.spines[["top", "right"]].set_visible(False)
