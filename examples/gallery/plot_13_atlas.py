"""
Which cell types are found in which laboratory
==============================================

Counts of single cells from four laboratories on two platforms, simulated so that the truth is known: lab 2 has no NK
cells, lab 3 no B cells, and "progenitor" and "mature" are the ends of a continuum, not two clusters. Which verdicts are
right, and what does the way in which counts are normalised change?
"""

# %%
import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline

import clustrep as cr

atlas = cr.datasets.simulate_atlas(n_cells=200, rng=0)
studies = atlas.normalised(target_sum=500)
options = {"n_clusters": range(2, 8), "agreement": "ari", "n_resamples": 10, "n_null": 0, "train": (), "rng": 0}
analysis = cr.analyse(KMeans(n_init=3), studies, **options)
print(analysis)

# %%
# Clusters beside the true types: the two ends of the continuum share a cluster, all other types have one each.

types = np.concatenate([study.labels for study in studies.values()])
print(pd.crosstab(analysis.labels()["cluster"], types, rownames=["cluster"], colnames=["type"]))

# %%
# The status of every cluster in every laboratory. The two types that a laboratory lacks are not found there:

analysis.findings.plot()

# %%
# By default every study is normalised to the median total of its cells. Plates have twice the counts of droplets:
# all values are higher there. That is a shift of a laboratory as a whole, which the findings estimate:

own_median = cr.analyse(KMeans(n_init=3), atlas.normalised(), **options)
print(own_median.findings.studies()[["study", "clusters", "shift", "scale", "mixing"]])

# %%
# An embedding of all studies together would have aligned them before they are compared. `TrainEmbedding`, the
# first step of a pipeline, learns scaling, variable genes and principal components on the training laboratory alone,
# and applies them to the others:

shared = cr.replicability(KMeans(5, n_init=3), studies, n_resamples=10, rng=0)
pipeline = make_pipeline(cr.TrainEmbedding(), KMeans(5, n_init=3))
embedded = cr.replicability(pipeline, studies, n_resamples=10, rng=0)
shared.plot().title.set_text("All genes")
embedded.plot().title.set_text("TrainEmbedding")
