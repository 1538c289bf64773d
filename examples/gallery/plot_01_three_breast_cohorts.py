"""
Three breast cohorts, three genes
=================================

The paper's own example (its section 5): the expression of ESR1, ERBB2 and AURKA in the cohorts Mainz, Transbig and VDX.
Does k-means find the same groups of patients in all of them?

Where the environment variable ``CLUSTREP_DATA`` names a folder that holds these cohorts, they are shown; else three
simulated cohorts.
"""

# %%
import os

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans

import clustrep as cr

if "CLUSTREP_DATA" in os.environ:
    studies, source = cr.datasets.load_breast("HK_3GENE"), "Mainz, Transbig, VDX"
else:
    studies = cr.datasets.simulate_cohorts(
        n_cohorts=3, n_samples=200, n_subtypes=3, n_features=3, separation=4.5, missing={}, shifted={}, rng=19
    )
    source = "three simulated cohorts"

print(source)
print(studies)

# %%
# Which k predicts across cohorts, and how well does each cohort predict each other one? The band is the interval over
# resamples; the matrix has the training cohort in its rows.

comparison = cr.compare(KMeans(n_init=10), studies, n_clusters=range(2, 9), agreement="ari", n_resamples=50, rng=0)
best = comparison.best()
print(best)

plt.style.use("clustrep.plots.journal")  # figures for one column, readable at 8 cm
first, second = studies.features[:2]
function = comparison.replicability("KMeans", best.n_clusters).clustering_function(studies.names[0])
fig, axes = plt.subplots(1, 3, figsize=(3.5, 2.2), sharex=True, sharey=True)
for ax, (name, study) in zip(axes, studies.items(), strict=True):
    labels = function(study.X)
    for cluster, colour in zip(range(best.n_clusters), ("#0072B2", "#D55E00", "#009E73", "#CC79A7"), strict=False):
        points = study.X[labels == cluster, :2]
        ax.scatter(*points.T, s=3, color=colour, linewidth=0)
        ax.annotate(cluster, points.mean(axis=0), weight="bold", bbox={"color": "white", "alpha": 0.7, "pad": 0.5})
    ax.set(title=name, xlabel=first)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel(second)
fig.suptitle(f"Clusters of {studies.names[0]}, predicted elsewhere\n({source})")

comparison.plot()
comparison.replicability("KMeans", best.n_clusters).plot()

# %%
# The clusters of one cohort are found again in the others: the scores off the diagonal are nearly those on it, which
# compare a cohort with another draw of itself.
