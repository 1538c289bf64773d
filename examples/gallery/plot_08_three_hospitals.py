"""
Three hospitals that do not pool their tables
=============================================

Algorithm 2 needs the clustering *function* of the training site at the test site, not its table. Each hospital learns
its functions, scores those of the others on its own patients, and releases functions and scores as far as the policy
of its data owner allows. The files are for partners who trust each other. :doc:`/federated` has the rules, and what
every attack on them reached.
"""

# %%
import tempfile
from pathlib import Path

from sklearn.cluster import AgglomerativeClustering

import clustrep as cr

simulated = cr.datasets.simulate_cohorts(
    n_cohorts=3, n_samples=180, n_subtypes=3, n_features=5, separation=7, missing={}, shifted={}, rng=2
)
names = ("north", "west", "south")
hospitals = {name: study.renamed(name) for name, study in zip(names, simulated.values(), strict=True)}
folder = Path(tempfile.mkdtemp())

# %%
# Before anything leaves
# ----------------------
#
# Each hospital makes a key, and all agree on features, clusterer, k and resamples.

keys = {name: cr.federated.make_key(folder / f"{name}.key") for name in names}
session = cr.federated.Session.agree(
    {"ward": AgglomerativeClustering()},
    features=hospitals["north"].features,
    sites=keys,
    n_clusters=range(2, 5),
    n_resamples=50,
    rng=7,
)
print(session)

# %%
# Each data owner says what may leave: features with their plausible ranges, partners with their keys.

for name in names:
    ranges = dict.fromkeys(session.features, (-20, 20))
    partners = {other: key for other, key in keys.items() if other != name}
    cr.federated.Policy(name, ranges, partners, min_cluster_size=10).save(folder / f"{name}.toml")

# %%
# At each hospital: learn, and score the functions of the others
# --------------------------------------------------------------

own = {name: (session, folder / f"{name}.toml", folder / f"{name}.key") for name in names}
functions = [cr.federated.learn(hospitals[name], *own[name], trust_partners=True) for name in names]
print(functions[0])

scores = [cr.federated.score(hospitals[name], functions, *own[name], trust_partners=True) for name in names]
print(scores[0])

# %%
# Anywhere: combine
# -----------------

together = cr.federated.combine([*functions, *scores], session)
print(together)

# %%
# The same scores where tables may be pooled:

pooled = cr.compare(
    {"ward": cr.Induced(AgglomerativeClustering())}, hospitals, n_clusters=range(2, 5), n_resamples=50, rng=7
)
print(pooled)
