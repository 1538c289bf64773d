"""
Curves over k, of several algorithms
====================================

Which algorithm, with how many clusters, finds the same groups in other people's data? ``compare`` runs all of them on
the same draws, so that curves are paired.
"""

# %%
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture

import clustrep as cr

clusterers = {
    "k-means": KMeans(n_init=5),
    "Ward": AgglomerativeClustering(),
    "complete linkage": AgglomerativeClustering(linkage="complete"),
    "Gaussian mixture": GaussianMixture(),
}
studies = cr.datasets.simulate_cohorts(
    n_cohorts=3, n_subtypes=5, n_features=6, separation=5, missing={}, shifted={}, rng=3
)
comparison = cr.compare(clusterers, studies, n_clusters=range(2, 10), agreement=("ari", "ami"), n_resamples=30, rng=0)
print(comparison.choice())

# %%
# The answer names its rivals: configurations whose difference to the best, resample by resample, has an interval that
# includes 0.

for agreement in ("ari", "ami"):
    ax = comparison.plot(agreement=agreement)
    ax.axvline(5, color="0.6", linewidth=1, linestyle=(0, (1, 2)))
    ax.annotate("true k", (5, 0.02), (5.1, 0.02), color="0.4")

# %%
# The same as a table, ready for a supplement:

print(comparison.summary().round(2).head(10).to_string(index=False))
