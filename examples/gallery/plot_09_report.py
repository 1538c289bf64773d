"""
A report, walked through
========================

``Report`` writes results as one HTML file that needs no network: to send to a colleague, or to attach to an article.
This page writes one, and goes through what it says.
"""

# %%
import json
import tempfile
from pathlib import Path

from sklearn.cluster import AgglomerativeClustering, KMeans

import clustrep as cr

studies = cr.datasets.simulate_cohorts(rng=1).scaled("study")
analysis = cr.analyse(
    {"k-means": KMeans(n_init=5), "ward": AgglomerativeClustering()},
    studies,
    n_clusters=range(2, 7),
    n_resamples=30,
    n_null=39,
    train="alpha",
    rng=0,
)
folder = Path(tempfile.mkdtemp())
report = cr.Report(analysis)
report.write_html(folder / "cohorts.html")
print(f"cohorts.html: {(folder / 'cohorts.html').stat().st_size / 1e6:.1f} MB, one file")

# %%
# 1. The answer
# -------------
#
# The page begins with the verdict, the best clusterer, the reasons, and what to do next.

print("\n".join(str(sentence.text) for sentence in analysis.headline))

# %%
# 2. Which cluster is where
# -------------------------

print(analysis.findings.table()[["cluster", "study", "status", "n", "share"]])

# %%
# 3. The figures
# --------------
#
# On the page they are interactive; here are the same numbers drawn by matplotlib: the clusters in every study, scores
# over k, who predicts whom, and the local scores of alpha's clusters in gamma.

analysis.findings.plot()
analysis.comparison.plot(reference=analysis.reference)
analysis.replicability.plot()
next(local for local in analysis.local if local.test == "gamma").plot(kind="clusters")

# %%
# 4. For machines, and for the methods section
# --------------------------------------------

facts = json.loads(report.to_json())
print("Parts of the JSON:", ", ".join(facts))
markdown = report.to_markdown()
print(markdown[markdown.lower().index("## methods") :][:900])
