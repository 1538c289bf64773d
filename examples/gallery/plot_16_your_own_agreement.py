"""
An agreement of your own
========================

Any function of two labelings is an agreement: here the Fowlkes–Mallows index of scikit-learn, beside the adjusted Rand
index. One that should be in the package, with its bounds and its name on the command line, is one record
(:doc:`recipes </architecture>`).
"""

# %%
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import fowlkes_mallows_score

import clustrep as cr

studies = cr.datasets.simulate_cohorts(rng=1).scaled("study")
choice = cr.compare(
    AgglomerativeClustering(),
    studies,
    n_clusters=range(2, 8),
    agreement=("ari", fowlkes_mallows_score),
    n_resamples=20,
    rng=0,
)
print(choice)

# %%
# An index that is not adjusted for chance is high for unrelated partitions, too, and more so for few clusters. So
# compare it with a null model, or with an index that is adjusted, before you believe a value.

for agreement in choice.agreements:
    choice.plot(agreement=agreement)
