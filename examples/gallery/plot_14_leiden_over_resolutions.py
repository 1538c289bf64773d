"""
Leiden over resolutions
=======================

Leiden and Louvain have no number of clusters: a *resolution* decides how many there are. ``param_grid=`` compares
values of any parameter across studies, as ``n_clusters=`` does for k. Here three simulated donors have six cell types.
"""

# %%
import clustrep as cr
from clustrep.fitting.communities import Leiden

donors = cr.datasets.simulate_cohorts(
    n_cohorts=3, n_samples=240, n_subtypes=6, n_features=12, separation=6, missing={}, shifted={}, rng=3
)
resolutions = [0.1, 0.2, 0.35, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0]
choice = cr.compare(
    {"leiden": Leiden(n_neighbors=10)},
    donors,
    param_grid={"resolution": resolutions},
    agreement="ari",
    n_resamples=20,
    rng=0,
)
print(choice)

# %%
# A score over resolutions has a plateau where the same clusters come again; over the number of clusters that were found
# it shows which number that is. A high resolution cuts types into pieces, and the pieces of one donor are not those
# of another.

choice.plot().set(xscale="log")

ax = choice.summary().plot(
    "clusters_found", "score", marker="o", xlabel="mean clusters found", ylabel="ARI", legend=False
)
ax.axvline(6, color="0.7", linewidth=1, zorder=0)
ax.annotate("six types were simulated", (6, 0.02), (5, 0), textcoords="offset points", color="0.35", fontsize=8)

# %%
# Several values are not distinguishable from the best, and they have the same clusters: that is the answer, not
# the third digit of a resolution. The scores between donors at the best value are those of `replicability`.

print(choice.replicability(choice.best().clusterer).mean.round(2))
