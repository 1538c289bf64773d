"""
Three hospitals that may not share patients
===========================================

Algorithm 2 needs the clustering *function* of the training site at the test site, not its patients. Each hospital
learns its functions, scores those of the others on its own patients, and only functions and scores travel. The
result is that of the pooled data, bit for bit. (:doc:`/exchange` says what such files still disclose; a data
protection officer decides.)
"""

# %%
import tempfile
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr

simulated = cr.datasets.simulate_cohorts(
    n_cohorts=3, n_samples=180, n_subtypes=3, n_features=5, separation=4.5, missing={}, shifted={}, rng=2
)
hospitals = {
    name: study.renamed(name).scaled("study")
    for name, study in zip(("north", "west", "south"), simulated.values(), strict=True)
}
outbox = Path(tempfile.mkdtemp())

# %%
# At each hospital: learn
# -----------------------
#
# The question was agreed on beforehand: features, scaling, clusterer, k, resamples, seed.

question = {"n_clusters": range(2, 5), "n_resamples": 30, "rng": 7}
for name, patients in hospitals.items():
    cr.learn(KMeans(n_init=5), patients, **question).save(outbox / f"{name}.functions")

# %%
# The person who must approve the file reads what is in it (``clustrep show north.functions``):

print(cr.learn(KMeans(n_init=5), hospitals["north"], **question))

# %%
# At each hospital: score the functions of the others
# ---------------------------------------------------

for name, patients in hospitals.items():
    others = [outbox / f"{other}.functions" for other in hospitals if other != name]
    cr.score(patients, others, agreement="ari").save(outbox / f"{name}.scores")

for path in sorted(outbox.iterdir()):
    print(f"{path.name:<16} {path.stat().st_size / 1000:6.1f} kB")

# %%
# Anywhere: combine
# -----------------

together = cr.combine([outbox / f"{name}.scores" for name in hospitals])
print(together)

pooled = cr.compare(KMeans(n_init=5), cr.Studies(list(hospitals.values())), agreement="ari", **question)
told, scores = together.comparison.distribution, pooled.distribution
known = np.isfinite(told)
print(f"{np.count_nonzero(~known & np.isfinite(scores))} of {scores.size:,} scores were withheld by a site.")
print("All others equal the pooled run, bit for bit:", np.array_equal(told[known], scores[known]))

# %%
together.comparison.plot()
together.comparison.replicability("KMeans", together.comparison.best().n_clusters).plot()

# %%
# For patients, keep the draws secret (``Disclosure(secret=...)``, ``--secret FILE``): with public draws and many
# resamples, means of clusters tell a lot about single patients.
