"""
R's fpc and ConsensusClusterPlus
================================

=============================================  ======================================================================
there                                          here
=============================================  ======================================================================
``clusterboot(X, clustermethod=...)``          ``stability(clusterer, X, index="jaccard")``, and ``.per_cluster``
``prediction.strength(X, Gmin, Gmax, M)``      ``prediction_strength(clusterer, X, n_clusters=..., n_splits=M)``
``nselectboot(X, krange=..., B=...)``          ``bootstrap_instability(clusterer, X, n_clusters=..., n_resamples=B)``
``clujaccard``                                 ``jaccard(u, v)``: for every cluster, the largest over the other's
``cluster.stats(d, u, v)$corrected.rand``      ``adjusted_rand_index(u, v)``
``ConsensusClusterPlus(d, maxK, reps)``        ``consensus(clusterer, X, n_clusters=...)``, ``.plot()``, PAC
a second study                                 ``replicability(clusterer, [X, Y])``: fpc has no counterpart
=============================================  ======================================================================

The numbers of fpc below were written by ``examples/coming_from/fpc_numbers.R``; those of clustrep are computed now.
"""

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.cluster import AgglomerativeClustering, KMeans

import clustrep as cr

here = Path("../../examples/coming_from") if Path("../../examples/coming_from").exists() else Path()
print((here / "fpc_numbers.csv").read_text().splitlines()[0])
points = pd.read_csv(here / "points.csv")
fpc = pd.read_csv(here / "fpc_numbers.csv", comment="#")
X = points.iloc[:, :4].to_numpy()

# %%
# Functions of two labelings are equal, to the digits that were written
# ----------------------------------------------------------------------

exact = [
    cr.agreement.adjusted_rand_index(points["linkage"], points["species"]),
    *cr.agreement.jaccard(points["linkage"], points["species"]),
]
both = fpc.loc[fpc["error"] == 0, ["quantity", "cluster", "value"]].assign(clustrep=exact)
print(both.to_string(index=False))
np.testing.assert_allclose(both["clustrep"], both["value"], rtol=1e-11)

# %%
# Quantities of resamples are equal up to the error of resampling
# ---------------------------------------------------------------
#
# Draws differ between two programs; means agree within about two standard errors (``error`` is that of fpc). Both
# ``clusterboot`` and ``stability`` compare clusters on the samples drawn, each once. ``nselectboot`` counts a pair of
# samples in one direction only, which is ``one_sided=True`` here; it gives no errors.

hierarchical = AgglomerativeClustering(3, linkage="average")
jaccard = cr.stability.stability(hierarchical, X, labels=points["linkage"], index="jaccard", n_resamples=200, rng=0)
strength = cr.stability.prediction_strength(KMeans(n_init=10), X, n_clusters=[2, 3, 4], n_splits=100, rng=0)
instability = cr.stability.bootstrap_instability(
    KMeans(n_init=10), X, n_clusters=[2, 3, 4], n_resamples=100, one_sided=True, rng=0
)

means = [*np.nanmean(jaccard.distribution, axis=0), *strength.strength, *instability.mean]
resampled = fpc[fpc["error"] != 0].assign(clustrep=means).round(3)
print(resampled.to_string(index=False))

# %%
plt.style.use("clustrep.plots.journal")
fig, ax = plt.subplots(figsize=(3.5, 3.2))
for quantity, colour, marker in zip(
    resampled["quantity"].unique(), ("#0072B2", "#D55E00", "#009E73"), ("o", "s", "^"), strict=True
):
    rows = resampled[resampled["quantity"] == quantity]
    ax.scatter(rows["value"], rows["clustrep"], s=24, color=colour, marker=marker, label=quantity.split("(")[0])
ax.axline((0, 0), slope=1, color="0.6", linewidth=1, zorder=0)
ax.set(xlabel="fpc", ylabel="clustrep", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
