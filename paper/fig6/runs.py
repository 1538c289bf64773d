"""Section 5.2 and Table 1: local scores of the clusters that one cohort finds in another, by subtype."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

import clustrep as cr
from clustrep import datasets
from paper.common import make_seed
from paper.fig5.runs import described, pairs_of, pam50_cohorts
from paper.store import Facts

SUBTYPES = ("Basal", "Her2", "LumA", "LumB")
SHOWN = ("mainz", "transbig")  # trained on, tested on in the figure
AGREEMENTS = ("ami", "ari")


def run(*, quick: bool) -> Facts:
    """Score the patients of every test study by every training study, and count subtypes by clusters."""
    n, n_published, n_runs, n_jobs = (16, 10, 2, 1) if quick else (100, 50, 20, -1)
    studies, fifty = (datasets.load_breast(scheme) for scheme in ("HK_3GENE", "PAM50"))
    found = local_scores(studies, n, n_jobs, 2) | {"tables": tables_of(studies, n_runs)}
    for agreement in ("ari", "ami_max"):
        theirs = local(studies, agreement, SHOWN, n_published, 50, n_jobs, 3)
        found[f"published/{agreement}"] = by_subtype(theirs)
        found |= {f"published/{agreement}/{key}": values for key, values in points(theirs).items()}
    for agreement in AGREEMENTS:
        ours = local(studies, agreement, SHOWN, n, 10, n_jobs, 2)
        found |= {f"written/{agreement}/{key}": values for key, values in points(ours).items()}
    with threadpool_limits(1):  # the same bytes whatever the number of cores
        found["map"] = TSNE(init="pca", random_state=0, n_jobs=1).fit_transform(studies[SHOWN[1]].X)
    facts = {f"three/{key}": values for key, values in (described(studies) | found).items()}
    for tag, table in pam50_cohorts().items():
        found = described(table) | local_scores(table, n, n_jobs, 7)
        facts |= {f"{tag}/{key}": values for key, values in found.items()}
    return facts | table_1(studies, fifty)


def local_scores(studies: cr.Studies, n: int, n_jobs: int, key: int) -> Facts:
    """Every resample's score of the cluster matched to each subtype, (pair, subtype, resample), by agreement."""
    return {
        f"written/{agreement}": np.stack(
            [by_subtype(local(studies, agreement, pair, n, 10, n_jobs, key)) for pair in pairs_of(studies.names)]
        )
        for agreement in AGREEMENTS
    }


def local(
    studies: cr.Studies, agreement: str, pair: tuple[str, str], n: int, n_starts: int, n_jobs: int, key: int
) -> cr.results.LocalReplicability:
    """Score every patient of the test study (Algorithm 3), with clusters named after the subtypes."""
    train, test = (studies[name] for name in pair)
    result = cr.local_replicability(
        KMeans(4, n_init=n_starts),
        train=train,
        test=test,
        at=test,
        agreement=agreement,
        n_resamples=n,
        resampling=cr.resampling.Bootstrap(),
        rng=make_seed(5, key),
        n_jobs=n_jobs,
    )
    return replace(result, labels=named(np.asarray(test.labels).astype(str), result.labels))


def named(known: Any, clusters: Any) -> Any:
    """Name clusters after the subtypes, one to one, so that most patients match; a cluster may have no subtype.

    Patients of other subtypes than the four, or of none, do not count.
    """
    is_known = np.isin(known, SUBTYPES)
    names = cr.agreement.match_labels(known[is_known], clusters[is_known])
    return np.array([str(names.get(label, f"cluster {label}")) for label in clusters.tolist()])


def by_subtype(result: cr.results.LocalReplicability) -> Any:
    """Every resample's score of the cluster of each subtype, (subtype, resample); not a number where it has none."""
    found = dict(zip(result.by_cluster()["cluster"], result.cluster_distribution.T, strict=True))
    return np.stack([found.get(name, np.full(len(result.cluster_distribution), np.nan)) for name in SUBTYPES])


def points(result: cr.results.LocalReplicability) -> Facts:
    """The mean and standard deviation of every patient, and the cluster's name."""
    return {"mean": result.mean, "sd": result.sd, "labels": result.labels}


def tables_of(studies: cr.Studies, n_runs: int) -> Any:
    """Count patients by subtype and by cluster of the training study, (pair, run, subtype, cluster).

    Each run has other k-means starts, k = 4.
    """
    return np.array([[_table(studies, pair, i) for i in range(n_runs)] for pair in pairs_of(studies.names)])


def _table(studies: cr.Studies, pair: tuple[str, str], i: int) -> Any:
    known = np.asarray(studies[pair[1]].labels)
    clusters = local(studies, "ari", pair, 1, 10, 1, 100 + i).labels
    return np.array(
        [[np.sum((known == subtype) & (clusters == cluster)) for cluster in SUBTYPES] for subtype in SUBTYPES]
    )


def table_1(three: cr.Studies, fifty: cr.Studies) -> Facts:
    """ARI and AMI of both classifications; AMI with either bound. Exact."""
    pairs = [(three[name].labels, fifty[name].labels) for name in three.names]
    return {
        "table1/ARI": [cr.agreement.adjusted_rand_index(*pair) for pair in pairs],
        "table1/AMI": [cr.agreement.adjusted_mutual_information(*pair, average="max") for pair in pairs],
        "table1/AMI mean": [cr.agreement.adjusted_mutual_information(*pair, average="arithmetic") for pair in pairs],
    }
