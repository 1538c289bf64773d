"""
Many features, few of which matter
==================================

Two thousand features, five of which separate three groups. Distances over all of them are mostly noise; a list of
features, chosen without looking at the clusters, brings the groups back.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr

rng = np.random.default_rng(3)
N_FEATURES = 2000
SIGNAL = cr.datasets.simulate_cohorts(
    n_cohorts=3, n_subtypes=3, n_features=5, separation=5, n_samples=80, missing={}, shifted={}, rng=3
)
features = [f"gene{j}" for j in range(1, N_FEATURES + 1)]
tables = {
    name: np.hstack([study.X, rng.normal(scale=0.9, size=(len(study), N_FEATURES - 5))])
    for name, study in SIGNAL.items()
}
studies = cr.Studies(
    [cr.Study(table, name, features=features, labels=SIGNAL[name].labels) for name, table in tables.items()]
)
print(studies)

# %%
# There are more features than samples: the studies are first rotated, exactly, into as many coordinates as there are
# samples, so two thousand features cost hardly more than two hundred.
#
# Features with the highest variance *within* studies are a choice that does not look at any clustering. (Features
# chosen because they differ between clusters would make every clustering look replicable.)

variance = np.mean([study.X.var(axis=0) for study in studies.values()], axis=0)
order = np.argsort(variance)[::-1]
sizes = [5, 10, 30, 100, 300, 1000, 2000]
options = {"agreement": "ari", "n_resamples": 20, "diagonal": False, "rng": 0}
results = [
    cr.replicability(KMeans(3, n_init=5), studies.select([features[j] for j in order[:size]]), **options)
    for size in sizes
]
averages = np.array([np.nanmean(result.distribution, axis=(1, 2)) for result in results])

# %%
plt.style.use("clustrep.plots.journal")
(_, left), (_, right) = plt.subplots(), plt.subplots()
left.plot(np.sort(variance)[::-1], color="#0072B2")
left.set(xscale="symlog", xlabel="feature, by rank", ylabel="variance within studies", title="Five features stand out")
low, high = np.quantile(averages, [0.025, 0.975], axis=1)
right.fill_between(sizes, low, high, color="#D55E00", alpha=0.2, linewidth=0)
right.plot(sizes, averages.mean(axis=1), "o-", color="#D55E00")
right.set(
    xscale="log", xlabel="features used", ylabel="ARI between studies", ylim=(-0.05, 1.05), title="k-means, k = 3"
)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)

# %%
# The interval of every point is over the same draws, because a draw belongs to the study's name and the seed.
