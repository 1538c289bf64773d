"""
Choosing k, beside five other rules
===================================

Five rules that look at one study at a time, and the score between studies. Every rule is asked twice: where there are
four groups, and where there are none. Most of them always answer with some k ≥ 2, because 1 is not among their answers.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score, silhouette_score
from sklearn.mixture import GaussianMixture

import clustrep as cr

KS = range(2, 8)
rng = np.random.default_rng(4)
collections = {
    "four groups": cr.datasets.simulate_cohorts(n_cohorts=3, n_features=5, missing={}, shifted={}, rng=2),
    "one Gaussian": cr.Studies({name: rng.normal(size=(120, 5)) * [3, 2, 1, 1, 1] for name in ("1", "2", "3")}),
}


def labels(X, k):
    """Cluster a table."""
    return KMeans(k, n_init=10, random_state=0).fit_predict(X)


def votes(studies):
    """Ask every rule of every study; the score between studies is asked once."""
    answer = {}
    for rule, score in (
        ("silhouette", silhouette_score),
        ("Caliński–Harabasz", calinski_harabasz_score),
        ("Davies–Bouldin", lambda X, given: -davies_bouldin_score(X, given)),
    ):
        answer[rule] = [max(KS, key=lambda k: score(study.X, labels(study.X, k))) for study in studies.values()]
    answer["BIC of a mixture"] = [
        min((1, *KS), key=lambda k: GaussianMixture(k, n_init=3, random_state=0).fit(study.X).bic(study.X))
        for study in studies.values()
    ]
    strengths = [
        cr.stability.prediction_strength(KMeans(n_init=5), study, n_clusters=KS, n_splits=20, rng=0).strength
        for study in studies.values()
    ]
    # Tibshirani and Walther: the largest k whose strength is at least 0.8, or 1.
    answer["prediction strength"] = [
        max([1, *(k for k, s in zip(KS, of_study, strict=True) if s >= 0.8)]) for of_study in strengths
    ]
    analysis = cr.analyse(
        KMeans(n_init=5), studies, n_clusters=KS, agreement="ari", n_resamples=20, n_null=39, train=(), rng=0
    )
    answer["clustrep"] = [analysis.n_clusters or 1]
    print(analysis, end="\n\n")
    return answer


answers = {name: votes(studies) for name, studies in collections.items()}

# %%
# What each rule answers in three studies; the area says how many of them.

plt.style.use("clustrep.plots.journal")
for (name, answer), truth in zip(answers.items(), (4, 1), strict=True):
    fig, ax = plt.subplots()
    ax.axvspan(truth - 0.4, truth + 0.4, color="#009E73", alpha=0.15, linewidth=0)
    for place, (rule, chosen) in enumerate(reversed(answer.items())):
        colour = "#D55E00" if rule == "clustrep" else "#0072B2"
        for k, count in zip(*np.unique(chosen, return_counts=True), strict=True):
            ax.scatter(k, place, s=35 * count if rule != "clustrep" else 105, color=colour, zorder=2)
            if count > 1:
                ax.annotate(count, (k, place), color="white", ha="center", va="center", fontsize="small")
    ax.set(title=name, xlabel="number of clusters chosen", xlim=(0.4, 7.6), xticks=range(1, 8))
    ax.set_yticks(range(len(answer)), list(reversed(answer)))
    ax.set_ylim(-0.6, len(answer) - 0.4)
    ax.spines[["top", "right"]].set_visible(False)
    ax.annotate("truth", (truth, -0.5), ha="center", color="#00694d", fontsize="small")
