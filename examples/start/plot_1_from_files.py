"""
From files to an answer
=======================

Two or more tables, samples in rows and features in columns, become an answer in words, tables, figures and one page to
send to a colleague. No Python is needed: the commands below are typed into a terminal. (Here a few lines of Python run
them and show what they print.)
"""

# %%
# The files
# ---------
#
# ``clustrep demo`` leaves four simulated cohorts as CSV files, together with an analysis of them. We take the
# files and pretend that they are ours. The column ``subtype`` holds the truth.

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.image
import matplotlib.pyplot as plt

import clustrep as cr

folder = Path(tempfile.mkdtemp())
for name, study in cr.datasets.simulate_cohorts(rng=1).items():
    frame = study.to_frame()
    frame.insert(0, "subtype", study.labels)
    frame.to_csv(folder / f"{name}.csv")


def run(command):
    """Run a command in the folder, and show what it prints."""
    program = [sys.executable, "-m", *command.split()]
    finished = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=True)
    print(f"$ {command}\n{finished.stdout}")


# %%
# Look before you compute
# -----------------------
#
# ``inspect`` says how the files are read and what looks wrong. It computes nothing.

run("clustrep inspect alpha.csv beta.csv gamma.csv delta.csv --label subtype")

# %%
# ``delta`` was measured on another scale. ``run`` aligns studies by the clusters that they share.
#
# The answer
# ----------
#
# ``run`` finds the clusters of all studies, and which study has which. The defaults are 100 resamples and 199 simulated
# data sets; fewer are enough to try it.

run(
    "clustrep run alpha.csv beta.csv gamma.csv delta.csv --label subtype "
    "--clusterer kmeans --k 2:6 --resamples 25 --null-collections 39 --seed 1 --out answer"
)

# %%
# There are four verdicts: *separated* (density valleys between clusters), *continuous structure* (partitions replicate
# better than under the null model, without valleys), *no evidence of clusters* and *inconclusive*. One cluster is not
# found in ``gamma``, which is how the cohorts were simulated.
#
# Files of the folder
# ---------------------

for path in sorted((folder / "answer").rglob("*")):
    if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts):
        print(path.relative_to(folder))

# %%
# ``report.html`` is the page; the tables are explained in :doc:`/command-line`. One of the figures:

image = matplotlib.image.imread(folder / "answer" / "figures" / "findings.png")
fig = plt.figure(figsize=(image.shape[1] / 150, image.shape[0] / 150))
ax = fig.add_axes((0, 0, 1, 1))
ax.imshow(image)
ax.set_axis_off()
