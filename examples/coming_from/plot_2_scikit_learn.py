"""
scikit-learn
============

Any estimator with ``fit_predict`` is a clusterer here, pipelines included, and any function of two labelings is an
agreement. What scikit-learn measures on one study, by distances, is another question.

=============================================  ======================================================================
there                                          here
=============================================  ======================================================================
``adjusted_rand_score(u, v)``                  ``adjusted_rand_index(u, v)``, ``agreement="ari"``
``adjusted_mutual_info_score(u, v)``           ``adjusted_mutual_information(u, v)``, ``agreement="ami"``
``rand_score``, ``mutual_info_score``          ``rand_index``, ``mutual_information``
``contingency_matrix(u, v)``                   ``contingency_table(u, v)``
``silhouette_score(X, labels)`` over k         ``validate(clusterer, X, n_clusters=...)``: indices of stability;
                                               ``compare(clusterer, studies, n_clusters=...)``: across studies
``cross_val_score``                            ``replicability``: train on one study, test on another
=============================================  ======================================================================
"""

# %%
# Equal numbers
# -------------

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn import metrics
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

import clustrep as cr

X, species = load_iris(return_X_y=True)
labels = KMeans(3, n_init=10, random_state=0).fit_predict(X)
pairs = {
    "Rand index": (metrics.rand_score, cr.agreement.rand_index),
    "adjusted Rand index": (metrics.adjusted_rand_score, cr.agreement.adjusted_rand_index),
    "mutual information": (metrics.mutual_info_score, cr.agreement.mutual_information),
    "adjusted mutual information": (metrics.adjusted_mutual_info_score, cr.agreement.adjusted_mutual_information),
}
table = pd.DataFrame(
    {name: [float(f(species, labels)) for f in functions] for name, functions in pairs.items()},
    index=["scikit-learn", "clustrep"],
).T
print(table)
np.testing.assert_allclose(table["clustrep"], table["scikit-learn"], rtol=1e-9)

# %%
# The silhouette answers another question
# ---------------------------------------
#
# The silhouette asks whether clusters are compact and far apart in *this* study. It is asked below of two collections:
# one with three groups, one in a single piece. It has a maximum in both. The score across studies, beside data in one
# piece, does not pretend.

rng = np.random.default_rng(0)
collections = {
    "three groups": cr.datasets.simulate_cohorts(
        n_cohorts=2, n_subtypes=3, n_features=3, separation=5, missing={}, shifted={}, rng=1
    ),
    "unimodal": cr.Studies({name: rng.normal(size=(120, 3)) * [3, 1, 1] for name in ("alpha", "beta")}),
}
ks = range(2, 7)
plt.style.use("clustrep.plots.journal")
for name, studies in collections.items():
    fig, ax = plt.subplots()
    alpha = studies["alpha"].X
    cuts = [KMeans(k, n_init=10, random_state=0).fit_predict(alpha) for k in ks]
    silhouette = np.array([metrics.silhouette_score(alpha, cut) for cut in cuts])
    comparison = cr.compare(KMeans(n_init=5), studies, n_clusters=ks, agreement="ari", n_resamples=20, rng=0)
    reference = cr.null_reference(comparison, n=39, rng=0)
    print(f"{name}: p = {reference.overall_pvalue:.3f} under the null model")
    score = comparison.summary()["score"].to_numpy(dtype=float)
    ax.plot(ks, silhouette, "s--", color="#D55E00")
    ax.plot(ks, score, "o-", color="#0072B2")
    for words, values, colour in (("silhouette", silhouette, "#A34700"), ("score across\nstudies", score, "#00568A")):
        ax.annotate(words, (ks[-1], values[-1]), (7, 0), textcoords="offset points", va="center", color=colour)
    ax.set(
        title=f"{name}: p = {reference.overall_pvalue:.2f}",
        xlabel="number of clusters",
        xticks=list(ks),
        ylim=(0, 1.05),
    )
    ax.spines[["top", "right"]].set_visible(False)
