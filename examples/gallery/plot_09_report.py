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
# The page begins with the degree (separated, structured, or one piece), how sure that is, why, and what to do next.

print("\n".join(str(sentence.text) for sentence in analysis.headline))

# %%
# 2. Which cluster is where
# -------------------------

print(analysis.presence_result.of_training_on(["alpha"]).table())

# %%
# 3. The figures
# --------------
#
# On the page they are interactive; here are the same numbers drawn by matplotlib: the curve over k beside data in one
# piece, who predicts whom, which studies agree, and which of alpha's clusters hold in gamma.

analysis.comparison.plot(reference=analysis.reference)
analysis.replicability.plot()
analysis.relations.plot()
next(local for local in analysis.local if local.test == "gamma").plot(kind="clusters")

# %%
# 4. For machines, and for the methods section
# --------------------------------------------

facts = json.loads(report.to_json())
print("Parts of the JSON:", ", ".join(facts))
markdown = report.to_markdown()
print(markdown[markdown.lower().index("## methods") :][:900])
