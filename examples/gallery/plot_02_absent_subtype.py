"""
A subtype that one cohort lacks
===============================

A low score between two studies has many causes. Here one cohort has no patients of subtype D: every pair with it scores
low, although three of four subtypes are the same everywhere. The findings distinguish the two.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr

studies = cr.datasets.simulate_cohorts(missing={"gamma": "D"}, shifted={}, rng=1).scaled("study")
analysis = cr.analyse(
    KMeans(n_init=5), studies, n_clusters=range(2, 7), agreement="ari", n_resamples=25, n_null=39, train="alpha", rng=0
)
print(analysis)

# %%
# The table behind these sentences, and the scores that would have hidden it:

print(analysis.findings.table()[["cluster", "study", "status", "n", "share", "replicability"]])

analysis.replicability.plot().title.set_text("Global scores: gamma looks bad")
local = next(local for local in analysis.local if local.test == "gamma")
local.plot(kind="clusters").title.set_text("Local scores: one cluster is missing")

plt.style.use("clustrep.plots.journal")
fig, ax = plt.subplots()
is_d = studies["alpha"].labels == "D"
towards_d = studies["alpha"].X[is_d].mean(axis=0) - studies["alpha"].X[~is_d].mean(axis=0)
across = studies["alpha"].X[~is_d] - studies["alpha"].X[~is_d].mean(axis=0)
axis = np.stack([towards_d / np.linalg.norm(towards_d), np.linalg.svd(across)[2][0]], axis=1)
for name, marker, colour in (("alpha", "o", "#BBBBBB"), ("gamma", "^", "#D55E00")):
    ax.scatter(*(studies[name].X @ axis).T, s=8, marker=marker, color=colour, label=name)
ax.set(title="The hole in gamma", xlabel="towards subtype D", ylabel="across the other subtypes")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# Only the cluster of the absent subtype has a low local score. With real data the reason of its absence is unknown: an
# inclusion criterion, a rare subtype in a small study, or a laboratory that measures it differently.
