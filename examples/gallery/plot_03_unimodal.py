"""
Unimodal data that look like clusters
=====================================

One long Gaussian is divided across its long axis by any algorithm, in every study, and the halves replicate well. A
high score shows that a partition replicates, not that there are clusters.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr

rng = np.random.default_rng(0)


def long_gaussian():
    """Draw a study without any clusters."""
    return rng.normal(size=(150, 2)) * [4, 1]


def two_clusters():
    """Draw a study of two clusters that are as far apart as the long Gaussian is long."""
    return rng.normal(size=(150, 2)) + rng.integers(0, 2, size=(150, 1)) * [7, 0] - [3.5, 0]


pieces = {"one Gaussian": [long_gaussian() for _ in range(3)], "two clusters": [two_clusters() for _ in range(3)]}
analyses = {
    name: cr.analyse(
        KMeans(n_init=5), tables, n_clusters=range(2, 5), agreement="ari", n_resamples=25, n_null=59, train=(), rng=0
    )
    for name, tables in pieces.items()
}
for name, analysis in analyses.items():
    print(f"--- {name} ---\n{analysis}\n")

# %%
# Two clusters score high in both. In the first that is no evidence: simulated null data (the grey band) score as high.
# In the second there is a density valley, which decides without any simulation.

plt.style.use("clustrep.plots.journal")
for name, analysis in analyses.items():
    function = analysis.comparison.replicability("KMeans", 2).clustering_function("1")
    labels = function(pieces[name][1])
    fig, ax = plt.subplots()
    for cluster, colour in enumerate(("#0072B2", "#D55E00")):
        ax.scatter(*pieces[name][1][labels == cluster].T, s=6, color=colour)
    ax.set(
        title=f"{name}, study 2 by the clusters of study 1\nverdict: {analysis.verdict}", xlim=(-13, 13), ylim=(-5, 5)
    )
    ax.spines[["top", "right"]].set_visible(False)
    analysis.comparison.plot(reference=analysis.reference).set_ylim(-0.05, 1.05)

# %%
# ``separation`` draws the density valley. Samples of a study that was not used to find the clusters are projected onto
# the line between two of them.

cr.separation.density_valleys(KMeans(n_init=5), pieces["two clusters"], n_clusters=[2], rng=0).plot()
