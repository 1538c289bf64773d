"""Section 5.1: Algorithm 1 on breast cancer cohorts, three genes and PAM50 genes, and likeness to the subtypes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import AgglomerativeClustering, Birch, KMeans
from threadpoolctl import threadpool_limits

import clustrep as cr
from clustrep import datasets
from clustrep.errors import DataError, DataWarning
from paper.common import AGREEMENTS, draws_of, make_seed
from paper.fig5.cohorts import load_pam50_cohorts
from paper.store import Facts

CLUSTERERS = ("k-means", "Birch", "agglomerative")
KS = tuple(range(2, 9))
MATCHED_AT_LEAST = 0.9  # of the samples of a series, to patients with a known subtype


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    n_resamples: int
    n_published: int
    n_draws: int  # of the resamples, for the error of what the retained partitions are like
    n_jobs: int


FULL, QUICK = Sizes(100, 50, 50, -1), Sizes(16, 5, 2, 1)


def run(*, quick: bool) -> Facts:
    """Score the three genes, as written and as published, and the PAM50 genes where they are."""
    sizes = QUICK if quick else FULL
    studies = datasets.load_breast("HK_3GENE")
    written = compare(studies, clusterers(), sizes.n_resamples, cr.resampling.Bootstrap(), sizes.n_jobs, 0)
    published = compare(
        studies, published_clusterers(), sizes.n_published, cr.resampling.Subsample(1.0), sizes.n_jobs, 1
    )
    found = {f"written/{key}": values for key, values in scores(written).items()}
    found |= {f"published/{key}": values for key, values in published_scores(published, studies).items()}
    for side, result, merged in (("written", written, False), ("published", published, True)):
        found[f"{side}/like"] = likeness(result, found[f"{side}/ari"], studies, sizes.n_draws, merged=merged)
    facts = {f"three/{key}": values for key, values in (described(studies) | found).items()}
    for tag, table in pam50_cohorts().items():
        result = compare(table, clusterers(), sizes.n_resamples, cr.resampling.Bootstrap(), sizes.n_jobs, 6)
        found = {f"written/{key}": values for key, values in scores(result).items()}
        found["written/like"] = likeness(result, found["written/ari"], table, sizes.n_draws)
        facts |= {f"{tag}/{key}": values for key, values in (described(table) | found).items()}
    return facts


# ---------------------------------------------------------------------------------------------------------------------
# cohorts


def pam50_cohorts() -> dict[str, cr.Studies]:
    """Cohorts with PAM50 genes in the folder of data: the paper's own series, or else the public tables, by a tag."""
    folder = Path(os.environ.get("CLUSTREP_DATA") or "no folder")
    if (folder / "geo").is_dir():
        return {"pam50 own": own_cohorts(folder / "geo")}
    tables = {tag: [folder / "pam50" / f"{name}.csv" for name in names] for tag, names in PUBLIC.items()}
    return {tag: read_cohorts(paths) for tag, paths in tables.items() if all(path.is_file() for path in paths)}


PUBLIC = {"pam50 23": ("nki", "vdx", "expo"), "pam50 32": ("vdx_32", "expo_32")}


def read_cohorts(paths: Sequence[Path]) -> cr.Studies:
    """Read any cohorts × genes tables: first column the patient, last the subtype; every gene z-scored in its study."""
    studies = []
    for path in paths:
        table = pd.read_csv(path, index_col=0)
        genes = table.iloc[:, :-1].astype(float)
        scaled = (genes - genes.mean()) / genes.std(ddof=0)
        name = path.stem.split("_")[0]
        studies.append(cr.Study(scaled, name, labels=table.iloc[:, -1].astype(str).to_numpy(), label=False))
    return cr.Studies(studies)


def own_cohorts(geo: Path) -> cr.Studies:
    """Read the paper's own cohorts from GEO's series, with the subtypes of the authors' files."""
    with warnings.catch_warnings():  # samples without a subtype are left out where subtypes are needed
        warnings.simplefilter("ignore", DataWarning)
        studies = load_pam50_cohorts(geo, patients=datasets.load_breast("PAM50"))
    matched = {name: float(np.mean(np.asarray(study.labels) != "")) for name, study in studies.items()}
    if min(matched.values()) < MATCHED_AT_LEAST:
        raise DataError(f"too few samples have a known subtype: {matched}", name="geo")
    return studies


def described(studies: cr.Studies) -> Facts:
    """Names, sizes and pairs of cohorts, training study first."""
    return {
        "cohorts": list(studies.names),
        "sizes": [len(study) for study in studies.values()],
        "pairs": pairs_of(studies.names),
        "n_features": len(studies.features),
    }


def pairs_of(names: Sequence[str]) -> list[tuple[str, str]]:
    """All ordered pairs, in the order of a matrix."""
    return [(train, test) for train in names for test in names if train != test]


# ---------------------------------------------------------------------------------------------------------------------
# scores


def clusterers() -> tuple[Any, ...]:
    """As the text has them."""
    return KMeans(n_init=10), Birch(), AgglomerativeClustering()


def published_clusterers() -> tuple[Any, ...]:
    """As in the published files; the test side of agglomerative clustering is always Ward's with two clusters."""
    return KMeans(n_init=50), Birch(), AgglomerativeClustering(linkage="complete")


def compare(
    studies: cr.Studies, some: Sequence[Any], n: int, resampling: cr.Resampling, n_jobs: int, key: int
) -> cr.results.Comparison:
    """Score all pairs of studies."""
    return cr.compare(
        dict(zip(CLUSTERERS, some, strict=True)),
        studies,
        n_clusters=KS,
        n_resamples=n,
        diagonal=False,
        resampling=resampling,
        rng=make_seed(5, key),
        n_jobs=n_jobs,
    )


def scores(comparison: cr.results.Comparison) -> Facts:
    """By agreement, (clusterer, k, pair, resample)."""
    n = comparison.distribution.shape[-1]
    off = ~np.eye(n, dtype=bool)
    return {
        a: np.array([[comparison.replicability(c, k, a).distribution[:, off].T for k in KS] for c in CLUSTERERS])
        for a in AGREEMENTS
    }


def published_scores(comparison: cr.results.Comparison, studies: cr.Studies) -> Facts:
    """The same with agglomerative clustering against two clusters of Ward's, which permutations do not change."""
    found = scores(comparison)
    ward = {name: AgglomerativeClustering(2).fit_predict(studies[name].X) for name in studies.names}
    for j, k in enumerate(KS):
        trees = comparison.replicability("agglomerative", k)
        for p, (train, test) in enumerate(pairs_of(studies.names)):
            labels = trees.clustering_function(train)(studies[test].X)
            found["ari"][-1, j, p] = cr.agreement.adjusted_rand_index(labels, ward[test])
            found["ami"][-1, j, p] = cr.agreement.adjusted_mutual_information(labels, ward[test])
    return found


# ---------------------------------------------------------------------------------------------------------------------
# likeness to the subtypes


def likeness(
    comparison: cr.results.Comparison, ari: Any, studies: cr.Studies, n_draws: int, *, merged: bool = False
) -> Any:
    """Retain every setting's partition with the highest score over resamples, and compare it with the known subtypes.

    By AMI; or merged, by ARI, with the luminal subtypes as one. Samples with the empty label are left out. First from
    all resamples, then from bootstrap draws of them: (1 + n_draws, clusterer, k, pair).
    """
    n = ari.shape[-1]
    all_draws = np.vstack([np.arange(n), draws_of(n, n_draws)])
    like = np.empty((len(all_draws), *ari.shape[:3]))
    pairs = pairs_of(studies.names)
    for c, j, p in np.ndindex(like.shape[1:]):
        result, (train, test) = comparison.replicability(CLUSTERERS[c], KS[j]), pairs[p]
        best = all_draws[np.arange(len(all_draws)), np.nanargmax(ari[c, j, p][all_draws], axis=1)]
        retained, place = np.unique(best, return_inverse=True)
        with threadpool_limits(1):  # the fits are small
            functions = [result.clustering_function(train, resample=int(b)) for b in retained]
            likes = [_like(function, studies[test], merged) for function in functions]
        like[:, c, j, p] = np.array(likes)[place]
    return like


def _like(function: Any, test: cr.Study, merged: bool) -> float:
    known = np.asarray(test.labels).astype(str)
    is_known = known != ""
    clusters, known = function(test.X)[is_known], known[is_known]
    if merged:
        return float(
            cr.agreement.adjusted_rand_index(clusters, np.where(np.char.startswith(known, "Lum"), "Lum", known))
        )
    return float(cr.agreement.adjusted_mutual_information(clusters, known))
