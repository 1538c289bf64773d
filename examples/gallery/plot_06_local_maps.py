"""
Local scores over the plane (Fig. 4)
====================================

Algorithm 3 gives every point of the space a score, not only every study. In the paper's Fig. 3 and 4, both studies have
the components A and B; the training study has C, which the test study lacks, and the test study has D near B.
"""

# %%
import matplotlib.patheffects
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

import clustrep as cr

MEANS = {"A": (-2.0, -2.0), "B": (0.0, 2.0), "C": (2.0, -2.0), "D": (-1.3, 0.65)}
LETTER = {"fontsize": 12, "weight": "bold", "ha": "center", "va": "center"}
OUTLINE = [matplotlib.patheffects.withStroke(linewidth=2, foreground="white")]
rng = np.random.default_rng(1)


def draw(components, n=100):
    """Draw a mixture of these components with equal shares."""
    chosen = rng.choice(list(components), size=n)
    return np.array([MEANS[component] for component in chosen]) + rng.normal(scale=0.7, size=(n, 2))


train, test = draw("ABC"), draw("ABD")
axis = np.linspace(-4, 4, 120)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
local = cr.local_replicability(KMeans(3, n_init=10), train=train, test=test, at=grid, n_resamples=100, rng=0)

# %%
plt.style.use("clustrep.plots.journal")
fig, axes = plt.subplots(1, 2, figsize=(3.5, 2), sharex=True, sharey=True)
for ax, points, title, components in zip(
    axes, (train, test), ("Training study", "Test study"), ("ABC", "ABD"), strict=True
):
    ax.scatter(*points.T, s=4, color="#0072B2")
    for component in components:
        ax.annotate(component, MEANS[component], color="#B04A00", path_effects=OUTLINE, **LETTER)
    ax.set(title=title, aspect="equal", xlabel="x")
axes[0].set_ylabel("y")

fig, ax = plt.subplots(figsize=(3.5, 2.8))
image = ax.imshow(local.mean.reshape(120, 120), origin="lower", extent=(-4, 4, -4, 4), cmap="viridis", vmin=0, vmax=1)
ax.contour(axis, axis, local.mean.reshape(120, 120), levels=[0.25, 0.5, 0.75], colors="white", linewidths=0.7)
for component in "ABC":
    ax.annotate(component, MEANS[component], color="white", **LETTER)
ax.set(title="Local replicability", xlabel="x", ylabel="y")
fig.colorbar(image, ax=ax, label="mean local ARI")
# sphinx_gallery_thumbnail_number = 2

# %%
# A is found again; B is mixed up with D, which comes close to it; C, which the test study lacks, scores about 0. A
# grid of 14,400 points costs no more than a few: a point's score depends only on its two labels.
#
# The same as a table, at the training study's own points:

print(cr.local_replicability(KMeans(3, n_init=10), train=train, test=test, n_resamples=100, rng=0))
