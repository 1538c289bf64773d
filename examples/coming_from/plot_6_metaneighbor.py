"""
MetaNeighbor
============

=============================================  ======================================================================
there                                          here
=============================================  ======================================================================
``MetaNeighborUS(var_genes, dat, ...)``        ``cluster_auroc(studies, labels)``
``one_vs_best=TRUE``                           the column ``one_against_best``
cells as columns of a SummarizedExperiment     cells as rows of each study
labels that are given                          ``analyse`` finds clusters as well; ``match_clusters`` takes labels
=============================================  ======================================================================

MetaNeighbor draws nothing, so its numbers are equal to the digits that were written. They were written by
``examples/coming_from/peer_numbers.R``, with the functions in R/MetaNeighborUS.R and R/utility.R of its repository.
"""

# %%
from pathlib import Path

import numpy as np
import pandas as pd

import clustrep as cr

here = Path("../../examples/coming_from") if Path("../../examples/coming_from").exists() else Path()
print((here / "peer_numbers_r.csv").read_text().splitlines()[0])
peers = pd.read_csv(here / "peer_numbers_r.csv", comment="#")
points = pd.read_csv(here / "peer_points.csv").query("collection == 'three groups'")
studies = {name: part.filter(regex="^x") for name, part in points.groupby("study")}
labels = {name: part["group"].to_numpy() for name, part in points.groupby("study")}

auroc = cr.cluster_auroc(studies, labels).melt(
    ["train", "cluster", "test", "partner"], var_name="quantity", value_name="clustrep"
)
auroc["train"] += "|" + auroc.pop("cluster")
auroc["test"] += "|" + auroc.pop("partner")
equal = auroc.merge(peers, on=["quantity", "train", "test"]).rename(columns={"value": "MetaNeighbor"})
assert len(equal) == len(auroc)
np.testing.assert_allclose(equal["clustrep"], equal["MetaNeighbor"], rtol=1e-11)
shown = equal[equal["MetaNeighbor"].notna() & (equal["train"] < equal["test"])]
print(shown[["quantity", "train", "test", "MetaNeighbor", "clustrep"]].round(4).to_string(index=False))

# %%
# An AUROC compares labels that are given. Whether there are clusters is another question: unimodal data that are cut
# in the same place in both studies have an AUROC near 1, too.

unimodal = pd.read_csv(here / "peer_points.csv").query("collection == 'unimodal'")
cut = {name: part.filter(regex="^x") for name, part in unimodal.groupby("study")}
first = np.linalg.svd(np.concatenate([X - X.mean() for X in cut.values()]), full_matrices=False)[2][0]
sides = {name: np.where((X - X.mean()).to_numpy() @ first > 0, "right", "left") for name, X in cut.items()}
print(cr.cluster_auroc(cut, sides).round(3).to_string(index=False))
