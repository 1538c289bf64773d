"""The paragraph that a paper would need, and how a result was made."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from clustrep.report.words import joined
from clustrep.results import Comparison, NullReference
from clustrep.results.analysis import HALF_WAY
from clustrep.tables.agreement import shown
from clustrep.text import plural

NOISE_DROPPED = "Points that either clustering calls noise were left out."
NOISE_APART = "Points that a clustering calls noise were taken for clusters of their own."
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
    if made["noise"] != "label":
        what.append({"drop": NOISE_DROPPED, "singletons": NOISE_APART}[made["noise"]])
    if reference is not None:
        what.append(_null(reference))
    versions = made["versions"]
    software = ", ".join(f"{name} {versions[name]}" for name in ("numpy", "scipy", "scikit-learn") if name in versions)
    what.append(
        f"Computed with clustrep {versions['clustrep']} ({software}; Python {versions['python']}), seed {made['seed']}."
    )
    parameters = [f"{name}: {_without_k(text)}" for name, text in clusterers.items()]
    return [" ".join(what), f"Clusterers: {'; '.join(parameters)}.", f"Reference: {CITATION}"]


def _null(reference: NullReference) -> str:
    """Say what data without clusters are, and how they are compared."""
    n, null = len(reference.distribution), str(reference.provenance["null"])
    data = {
        "'gaussian'": "from a Gaussian with the size, mean and covariance of each study, as far as these can be told "
        "from the other studies' and from noise",
        "'copula'": "from a Gaussian copula with the size and margins of each study, and its correlations as far as "
        "these can be told from the other studies' and from noise",
    }.get(null, f"by the sampler {null}")
    what = {"estimate": "Scores of the studies as they are", "mean": "Bootstrap means"}[reference.statistic]
    return (
        f"{what} were compared with those of {n:,} collections without clusters, drawn {data}; p-values are "
        "(1 + exceedances) / (1 + collections), adjusted over clusterers and numbers of clusters for the chance of any "
        "false finding (Westfall and Young). The clusters of the configuration in focus were compared, for each pair "
        f"of studies, with those found in {n:,} collections of the two, adjusted over all clusters and pairs by the "
        "false discovery rate (Benjamini and Hochberg), both at 5 %. A cluster is said to hold where its local score "
        f"is above data without clusters and, as the studies are and in the bootstrap's mean, at least {HALF_WAY}."
    )


def _without_k(text: str) -> str:
    return re.sub(r"(n_clusters|n_components)=\d+", r"\1=k", text)


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
    told = dict.fromkeys(_without_k(str(text)) for text in texts)
    rows += [["clusterer", text] for text in told]
    return rows + [[name, str(version)] for name, version in made["versions"].items()]
