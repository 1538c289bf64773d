"""
Known labels, and their counterparts
====================================

Clusters need not come from a clusterer: pathologists' classes, published subtypes or cell types can be asked the same
question. ``labels=True`` takes the studies' own labels; a sample of another study is labelled by its nearest neighbour.
"""

# %%
import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr

measured = cr.datasets.simulate_cohorts(n_cohorts=3, n_features=6, separation=6, missing={}, shifted={}, rng=7)

# The third cohort's classifier never learned to tell C from D: it calls both of them by chance.
rng = np.random.default_rng(0)
gamma = measured["gamma"]
confused = np.where(np.isin(gamma.labels, ["C", "D"]), rng.permuted(gamma.labels), gamma.labels)
confused = np.where(np.isin(gamma.labels, ["C", "D"]) & ~np.isin(confused, ["C", "D"]), "C", confused)
studies = cr.Studies(
    [
        *(measured[name] for name in ("alpha", "beta")),
        cr.Study(gamma.X, "gamma", features=measured.features, labels=confused),
    ]
)

by_label = cr.replicability(None, studies, labels=True, n_resamples=30, rng=0)
by_cluster = cr.replicability(KMeans(4, n_init=5), studies, n_resamples=30, rng=0)
print(by_label)

# %%
# The labels of ``gamma`` do not travel, but its clusters do: the fault is the labelling, not the patients.

by_label.plot().title.set_text("Known labels")
by_cluster.plot().title.set_text("Clusters of k-means, k = 4")

# %%
# ``counterparts`` says which cluster of one study is which of another, by name, with the overlap of each pair:

matches = cr.counterparts(KMeans(4, n_init=5), studies, n_resamples=30, rng=0)
print(matches.to_frame().round(2).head(8).to_string(index=False))
matches.plot(train="alpha")
