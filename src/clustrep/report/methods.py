"""The paragraph that a paper would need, and how a result was made."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from clustrep._validation import plural
from clustrep.agreement import shown
from clustrep.report.words import joined
from clustrep.results import Comparison, NullReference
from clustrep.results.analysis import HALF_WAY

CITATION = (
    "Masoero L, Thomas E, Parmigiani G, Tyekucheva S, Trippa L. Cross-Study Replicability in Cluster Analysis. "
    "Statistical Science 38(2), 2023."
)


def methods_of(comparison: Comparison | None, reference: NullReference | None) -> list[str]:
    """Write the paragraph that a paper would need."""
    if comparison is None:
        return [f"Reference: {CITATION}"]
    made = comparison.provenance
    studies = made["studies"]
    sizes = ", ".join(f"{name} (n = {about['samples']:,})" for name, about in studies.items())
    first = next(iter(studies.values()))
    scale = {"none": "not scaled", "zscore": "scaled to z-scores", "robust": "scaled by median and interquartile range"}
    clusterers = dict(zip(comparison.clusterers, made["clusterers"], strict=True))
    ks = sorted({k for k in comparison.n_clusters if k is not None})
    what = [
        f"Replicability of clusters was assessed across {plural(len(studies), 'study')}, {sizes}, on "
        f"{plural(first['features'], 'shared feature')}, {scale[first['scale']]}"
        f"{' within each study' if first['scale'] != 'none' else ''}.",
        f"Clusterings were learned by {joined([f'{name}' for name in clusterers])}"
        f"{f' for {_range(ks)} clusters' if ks else ''}, extended to clustering functions, and compared between all "
        f"ordered pairs of studies by {joined([_long(one) for one in comparison.agreements])} (Masoero et al. "
        f"2023, Algorithms 1 to 3), with {_resamples(made)}; intervals are 95 % percentile intervals.",
    ]
    if reference is not None:
        n = len(reference.distribution)
        kind = {"'gaussian'": "Gaussian", "'copula'": "Gaussian copula"}.get(
            str(reference.provenance["null"]), "simulated"
        )
        what.append(
            f"Scores were compared with those of {n:,} simulated {kind} collections in which every study kept its "
            "size, mean and covariance but had no clusters; p-values are (1 + exceedances) / (1 + collections), "
            "adjusted over clusterers and numbers of clusters for the chance of any false finding (Westfall and "
            "Young), and for single clusters by the false discovery rate (Benjamini and Hochberg), both at 5 %. A "
            "cluster is said to hold where it is above data without clusters and its local score is at least "
            f"{HALF_WAY}."
        )
    versions = made["versions"]
    software = ", ".join(f"{name} {versions[name]}" for name in ("numpy", "scipy", "scikit-learn") if name in versions)
    what.append(
        f"Computed with clustrep {versions['clustrep']} ({software}; Python {versions['python']}), seed {made['seed']}."
    )
    return [" ".join(what), f"Reference: {CITATION}"]


def _resamples(made: Mapping[str, Any]) -> str:
    n, how = made["n_resamples"], str(made["resampling"])
    if how.startswith("Bootstrap("):
        return f"{n:,} bootstrap resamples of both studies"
    return f"{n:,} resamples of both studies by {how}"


def _long(agreement: str) -> str:
    names = {"ari": "the adjusted Rand index (ARI)", "ami": "adjusted mutual information (AMI)"}
    return names.get(agreement, shown(agreement))


def _range(ks: Sequence[int]) -> str:
    consecutive = len(ks) > 2 and list(ks) == list(range(ks[0], ks[-1] + 1))
    return f"{ks[0]} to {ks[-1]}" if consecutive else joined([str(k) for k in ks])


def provenance_of(made: Mapping[str, Any]) -> list[list[str]]:
    """List how a result was made."""
    rows = [["seed", str(made["seed"])]]
    for key, value in made.items():
        if key not in ("seed", "versions", "studies", "clusterers"):
            rows.append([key.replace("_", " "), str(value).strip("'")])
    clusterers = made.get("clusterers", [])
    texts = clusterers.values() if isinstance(clusterers, dict) else clusterers
    # Clusterers that differ in their number of clusters alone are told once.
    told = dict.fromkeys(re.sub(r"(n_clusters|n_components)=\d+", r"\1=k", str(text)) for text in texts)
    rows += [["clusterer", text] for text in told]
    return rows + [[name, str(version)] for name, version in made["versions"].items()]
