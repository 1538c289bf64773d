"""
Add an index of one study
=========================

An index that reads contingency tables is one record and one function. In the package they stand in
``agreement/cluster_indices.py`` and ``stability/perturbation.py`` (:doc:`recipes </architecture>`); here they are
added while Python runs, which needs no change of any file. The index of this page is the *largest part*: the share of
a cluster that stays together when 80 % of the samples are clustered again.
"""

# %%
# The record holds all that tables, figures, the report and the command line need.

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.agreement.cluster_indices import INDICES, Fits, IndexRecord
from clustrep.stability.perturbation import READERS

record = IndexRecord(
    name="largest_part",
    long_name="largest part kept together",
    fits=Fits.SUBSAMPLES,
    bounds=(0.0, 1.0),
)

# %%
# The function reads tables, (resamples, clusters of the study, clusters of the resample), and returns a column for
# every cluster and one for the whole partition: here the weakest cluster.


def largest_part(tables, sizes, relative):
    """Return the share of each cluster that its largest part has."""
    shares = tables.max(axis=2) / np.maximum(tables.sum(axis=2), 1)
    return np.column_stack([shares, shares.min(axis=1)])


INDICES[record.name] = record
READERS[record.name] = largest_part

# %%
# That is all. ``stability`` computes it, with the perturbation that the record names:

study = cr.datasets.simulate_cohorts(
    n_cohorts=1, n_subtypes=3, n_features=4, separation=5, missing={}, shifted={}, rng=2
)["alpha"]
result = cr.stability.stability(KMeans(3, n_init=5), study, index="largest_part", n_resamples=50, rng=0)
print(result)

# %%
# ``validate`` puts it beside the others, from the same fits as those that also cluster subsamples:

table = cr.stability.validate(
    KMeans(n_init=5),
    study,
    n_clusters=range(2, 7),
    indices=["jaccard", "prediction_strength", "largest_part"],
    n_resamples=30,
    n_splits=10,
    rng=0,
)
print(table)
table.plot()
result.plot()

# %%
# Parts of too few clusters stay together, too: two clusters of three groups keep their largest part, so read the index
# beside others. A new index also needs a test: ``tests/stability/test_indices.py`` follows these steps.

del INDICES[record.name], READERS[record.name]
# sphinx_gallery_thumbnail_number = 1
