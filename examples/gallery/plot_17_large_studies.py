"""
Large studies by landmarks
==========================

Ward's linkage needs the distances of all pairs of samples, which grow with the square of their number. With
``n_landmarks=m`` each larger study is replaced by m weighted landmarks, and all samples are labelled by them. What that
costs in accuracy is measured: the provenance of the result has the standard deviation of scores over choices of
landmarks.
"""

# %%
from sklearn.cluster import AgglomerativeClustering

import clustrep as cr

studies = cr.datasets.simulate_cohorts(
    n_cohorts=3, n_samples=20_000, n_subtypes=4, n_features=5, separation=4, missing={}, shifted={}, rng=2
)
print(studies)
result = cr.replicability(AgglomerativeClustering(4), studies, n_landmarks=500, n_resamples=10, rng=0)
print(result)
print(f"standard deviation over choices of landmarks: {result.provenance['landmark_error']['ari'][0]:.3f}")

# %%
# :doc:`Large studies </scale>` has times and memory up to a million samples.

result.plot().title.set_text("20,000 samples a study, 500 landmarks")
