"""
From Python to an answer
========================

A clusterer of scikit-learn, two or more tables, one call.
"""

# %%
# The studies
# -----------
#
# ``Studies`` are named tables of the same features: from files (``cr.Studies.read("mainz.csv", "transbig.csv")``), from
# frames or arrays (a dictionary is enough), or simulated, as here. Each is scaled by itself, because one of the cohorts
# was measured on another scale.

from sklearn.cluster import KMeans

import clustrep as cr

studies = cr.datasets.simulate_cohorts(rng=1).scaled("study")
print(studies)

# %%
# The answer in words
# -------------------
#
# ``analyse`` finds the clusters of every study, matches them across studies, and compares all numbers of clusters.
# Where no clusters are separated, it compares scores with a null model.

analysis = cr.analyse(KMeans(n_init=5), studies, n_clusters=range(2, 7), n_resamples=25, n_null=39, rng=0)
print(analysis)

# %%
# Which cluster is where:

print(analysis.findings.table())

# %%
# The scores behind it
# --------------------
#
# ``replicability`` is Algorithms 1 and 2 of the paper: rows train, columns test. A score of 1 means that the clustering
# function learned on the training study groups the samples of the test study as the test study's own function does.

result = cr.replicability(KMeans(4, n_init=5), studies, n_resamples=25, rng=0)

result.plot()
analysis.comparison.plot()

# %%
# ``gamma`` lacks one of the four subtypes: no study predicts it well, and its four clusters predict the others badly.
#
# From here
# ---------
#
# ``cr.Report(analysis).write_html("cohorts.html")`` writes the page, ``analysis.save("analysis.npz")`` keeps the rest.
# :doc:`/how-to` leads to single questions; :doc:`/gallery/index` shows more figures.
