"""
PAM50 genes: which subtypes travel
==================================

Three public breast cohorts with 23 of the PAM50 genes, and the subtype of every patient by the nearest PAM50 centroid.
Do these published subtypes hold up in the next cohort, and does a clusterer find them by itself?

Where the environment variable ``CLUSTREP_DATA`` names a folder that holds these cohorts, they are shown; else three
simulated cohorts with as many genes.
"""

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans

import clustrep as cr

if "CLUSTREP_DATA" in os.environ:
    folder = Path(os.environ["CLUSTREP_DATA"], "pam50")
    files = [folder / f"{name}.csv" for name in ("nki", "vdx", "expo")]
    studies, source = cr.Studies.read(*files, label="subtype", scale="study"), "NKI, VDX, EXPO"
else:
    studies = cr.datasets.simulate_cohorts(
        n_cohorts=3, n_samples=150, n_subtypes=5, n_features=23, separation=4, missing={}, shifted={}, rng=19
    ).scaled("study")
    source = "three simulated cohorts"

print(source)
print(studies)

# %%
# NKI has log ratios and the others have log intensities: each gene is scaled within each cohort. First the published
# subtypes, then what two clusterers find for each number of clusters, by the same score.

published = cr.replicability(None, studies, labels=True, n_resamples=50, rng=0)
comparison = cr.compare(
    {"k-means": KMeans(n_init=10), "Ward": AgglomerativeClustering()},
    studies,
    n_clusters=range(2, 9),
    agreement="ari",
    n_resamples=50,
    rng=0,
)
across = published.estimate[~np.eye(len(studies), dtype=bool)].mean()
print(f"ARI across cohorts of the published subtypes: {across:.2f}")
print(comparison.best())

plt.style.use("clustrep.plots.journal")
ax = comparison.plot()
ax.axhline(across, color="0.3", linestyle=":")
ax.annotate("published subtypes", (8, across), xytext=(0, 3), textcoords="offset points", ha="right", va="bottom")
published.plot().set_title(f"Published subtypes\n({source})")

# %%
# Which of them travel? One against rest: the chance that a patient of a subtype is more like the same subtype in
# another cohort than a patient of any other subtype is. Each row is a subtype; each dot a pair of cohorts.

auroc = cr.cluster_auroc(studies)
same = auroc[auroc["cluster"] == auroc["partner"]]
order = same.groupby("cluster")["one_against_rest"].median().sort_values().index

fig, ax = plt.subplots()
for row, subtype in enumerate(order):
    values = same.loc[same["cluster"] == subtype, "one_against_rest"]
    ax.plot(values, np.full(len(values), row), "o", color="#0072B2", alpha=0.6)
    ax.plot([values.median()], [row], "|", color="black", markersize=16)
ax.axvline(0.5, color="0.6", linestyle=":")
ax.set(yticks=range(len(order)), yticklabels=order, xlabel="AUROC, one subtype against the rest", xlim=(0.4, 1.02))
ax.spines[["top", "right"]].set_visible(False)
ax.set_title("The same subtype in another cohort")
# sphinx_gallery_thumbnail_number = 3
