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
# The page begins with the verdict, a card for every cluster, and how comparable the studies are.

print("\n".join(str(sentence.text) for sentence in analysis.headline))

# %%
# 2. Which cluster is where
# -------------------------

print(analysis.findings.table()[["cluster", "study", "status", "n", "share"]])

# %%
# 3. The figures
# --------------
#
# Beside every figure, the page has the line of Python that draws it: the map of samples, scores over k, the tree over
# k, pairs of studies, density valleys and features.

analysis.plot()
analysis.comparison.plot(reference=analysis.reference)
analysis.clustering_tree.plot()
analysis.replicability.plot(kind="forest")
analysis.findings.plot(kind="valleys")
analysis.findings.plot(kind="features")

# %%
# 4. For machines, and for the methods section
# --------------------------------------------

facts = json.loads(report.to_json())
print("Parts of the JSON:", ", ".join(facts))
markdown = report.to_markdown()
print(markdown[markdown.lower().index("## methods") :][:900])
