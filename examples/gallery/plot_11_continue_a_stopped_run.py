"""
Continue a run that was stopped
===============================

A night's computation ends with a power cut, a full queue, or Ctrl-C. With ``config_context(checkpoint=…)`` a run
keeps what it has finished in a folder; the same call resumes there, and returns the same bits as a run that was never
stopped.
"""

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr

studies = cr.datasets.simulate_cohorts(rng=1).scaled("study")
folder = Path(tempfile.mkdtemp()) / "checkpoint"


class Interrupted(KMeans):
    """k-means that is cut off after a number of fits."""

    fits_left = 90

    def fit(self, X, y=None, sample_weight=None):
        if Interrupted.fits_left == 0:
            raise KeyboardInterrupt
        Interrupted.fits_left -= 1
        return super().fit(X, y, sample_weight)


def attempt():
    """Run, or continue, sixty resamples of four studies."""
    with cr.config_context(checkpoint=folder):
        return cr.replicability(Interrupted(4, n_init=2), studies, n_resamples=60, rng=0)


try:
    attempt()
except KeyboardInterrupt:
    print("Stopped. In the checkpoint:", ", ".join(sorted(path.name for path in folder.iterdir())[:4]), "…")

# %%
# The same call again. What was done is not done again:

Interrupted.fits_left = 10**6
result = attempt()
fits = 10**6 - Interrupted.fits_left
whole = cr.replicability(Interrupted(4, n_init=2), studies, n_resamples=60, rng=0)
print(f"The second attempt made {fits} fits; a run from the beginning makes {10**6 - Interrupted.fits_left - fits}.")
print("Equal bits:", np.array_equal(result.distribution, whole.distribution))

# %%
# Two hundred resamples begin with the first sixty, so a finished run can be made longer as well: another
# ``n_resamples`` continues in the same folder. The estimate settles as resamples are added:

pairs = ~np.eye(4, dtype=bool)
running = np.cumsum(result.distribution[:, pairs].mean(axis=1)) / np.arange(1, 61)
plt.style.use("clustrep.plots.journal")
fig, ax = plt.subplots()
ax.plot(np.arange(1, 61), running, color="#0072B2")
ax.set(xlabel="resamples", ylabel="mean ARI between studies", title="Sixty resamples, computed in two attempts")
ax.spines[["top", "right"]].set_visible(False)
