"""
Known labels, and the clusters they name
========================================

Clusters need not come from a clusterer: pathologists' classes, published subtypes or cell types can be asked the same
question. ``labels=True`` takes the studies' own labels; a sample of another study is labelled by its nearest neighbour.
"""

# %%
import numpy as np
import pandas as pd
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
# The findings match the clusters of all studies without looking at names. Beside the labels, they show where these
# disagree:

findings = cr.analyse(KMeans(n_init=5), studies, n_clusters=range(2, 6), n_resamples=10, train=(), rng=0).findings
for name, study in studies.items():
    print(pd.crosstab(findings.labels[name], study.labels, rownames=[name], colnames=["label"]), end="\n\n")
