"""
Find the study that differs
===========================

Five studies, of which one is measured on another scale, without a note of it. Which pairs predict each other, and
what happens when that study is left out?
"""

# %%
from sklearn.cluster import KMeans

import clustrep as cr

studies = cr.datasets.simulate_cohorts(n_cohorts=5, missing={}, shifted={"delta": 4}, separation=5, n_features=6, rng=4)
result = cr.replicability(KMeans(4, n_init=5), studies, n_resamples=50, rng=0)
print(result)
print(f"Heterogeneity between pairs: I² = {result.heterogeneity:.0%}")
result.plot()

# %%
# The others together predict a study that was left out. A pool that contains ``delta`` predicts no study well; without
# it, every study is predicted by the rest:

names = [name for name in studies.names if name != "delta"]
options = {"n_resamples": 30, "rng": 0}
with_delta = cr.leave_one_study_out(KMeans(4, n_init=5), studies, **options)
without_delta = cr.leave_one_study_out(KMeans(4, n_init=5), cr.Studies([studies[name] for name in names]), **options)

for left_out, title in ((with_delta, "Trained on all others"), (without_delta, "Trained on all others but delta")):
    left_out.plot().set_title(title, pad=20, fontsize=8.5)

# %%
# The findings name the shift and the scale of every study. All clusters are found in all five: the difference was the
# scale.

findings = cr.analyse(KMeans(n_init=5), studies, n_clusters=range(2, 7), n_resamples=10, train=(), rng=0).findings
print(findings.studies()[["study", "clusters", "shift", "scale", "outlier"]])
