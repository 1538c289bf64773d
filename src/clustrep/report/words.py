"""Sentences of a report: about single results, what its sections explain, and the methods for a paper.

The answer of an analysis is in the words of `findings.sentences` and `analysis.headline`; nothing here decides or
rewords it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clustrep.agreement.agreements import in_sentence
from clustrep.agreement.cluster_indices import INDICES
from clustrep.algorithms.comparison import Comparison
from clustrep.data.values import REFERENCE
from clustrep.execution.failures import Failures
from clustrep.findings.result import CONTINUOUS, INCONCLUSIVE, NO_EVIDENCE, SEPARATED, Findings
from clustrep.null.null_scores import NullReference
from clustrep.provenance import Provenance
from clustrep.report.page import template
from clustrep.resampling.strategies import resamples_in_words
from clustrep.stability.results import ClusterTest, Validation
from clustrep.summaries import FALSE_FINDING
from clustrep.text import listing, p_text, plural

# What each kind of sentence is called: colour is never the only sign.
ANSWER = "Answer"
VERDICTS = {
    "separated": ANSWER,
    "continuous-structure": ANSWER,
    "no-evidence-of-clusters": ANSWER,
    "inconclusive": ANSWER,
    "sure": "Scores",
    "reason": "Why",
    "studies": "Studies",
    "clusters": "Clusters",
    "caution": "Caution",
    "failure": "Failed",
    "next": "Next",
}

TITLE = "Which clusters replicate across studies"
TITLE_OF_TESTS = "Are there clusters?"
# How the number of clusters follows, by verdict.
NUMBER = {
    SEPARATED: "The number of clusters follows from the density valleys below, not from the highest score.",
    CONTINUOUS: "The partition shown is the one with the highest score of those that exceed the null model in score "
    "and separateness together.",
    NO_EVIDENCE: "No partition exceeds the null model in score and separateness: there is no evidence for any number "
    "of clusters above one.",
    INCONCLUSIVE: "No number of clusters is established.",
}
ABOUT_LOCAL = (
    "The local score of a sample is high where both studies agree which samples belong to its cluster. The score of a "
    "cluster is the mean over its samples."
)
ABOUT_VALLEYS = (
    "Clusters are learned on the other studies. Held-out samples are counted around two neighbouring centres and "
    "halfway between them: in a density valley the middle has fewer samples than either side."
)
ABOUT_EMBEDDED = (
    "One embedding of all studies together has aligned them before they are compared. Beside its scores are those in "
    "an embedding that is learned on every resample of the training study alone, and applied to the test study: "
    "scaling, variable features and principal components. Where the first are much higher, clusters replicate only "
    "after the alignment."
)
ABOUT_TREE = (
    "Every separated cluster is split again and tested again for density valleys, at the level of 5 % times its share "
    "of all samples (Kimes et al. 2017), and only where the cluster around it was split. Every valley between two "
    "parts is significant by itself."
)
AFTER_VALLEYS = "Run `clustrep run` to see in which study each cluster is found."
AFTER_NO_VALLEYS = "Try other numbers of clusters. `clustrep run` compares scores with a null model."

MOST_NAMES = 3
# Titles of sections of their own.
SECTIONS = {
    "Annotations": "Annotations",
    "Comparison": "Clusterers and numbers of clusters",
    "Replicability": "Pairs of studies",
    "LocalReplicability": "Local replicability by cluster",
    "NullReference": "Null distributions",
    "Separation": "Density valleys",
    "ClusterTree": "Clusters within clusters",
    "ClusteringTree": "Tree over the number of clusters",
    "LeaveOneStudyOut": "Trained on all other studies",
    "ClusterTest": "Test for clusters",
    "Validation": "Indices within one study",
    "FederatedScores": "Pairs of sites",
    "FederatedClusters": "Clusters matched across sites",
}
# Whether the page can be sent around.
NO_SAMPLES = "This page names no samples."


def about_failures(failures: Failures) -> str:
    """Say how many scores failed; the causes are among the warnings."""
    if not failures.total:
        return ""
    verb = "was" if failures.total == 1 else "were"
    return f"{plural(failures.total, 'score')} failed and {verb} omitted; the causes are among the warnings."


def joined(parts: Sequence[str]) -> str:
    """Write 'a, b and c'."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


# ---------------------------------------------------------------------------------------------------------------------
# one study


def about_test(result: ClusterTest, study: str) -> str:
    """Say whether a study is distinguishable from the null model."""
    if result.pvalue <= FALSE_FINDING:
        return f"{study}: more structure than under the null model ({p_text(result.pvalue)})."
    return f"{study}: not distinguishable from the null model ({p_text(result.pvalue)})."


def about_indices(result: Validation) -> str:
    """Say which k each index prefers within one study."""
    table = result.overall()
    preferred: dict[int, list[str]] = {}
    for index in table.columns:
        record = INDICES[index]
        values = table[index].dropna()
        if len(values) > 1:
            k = int(values.index[int(values.argmax() if record.higher_is_better else values.argmin())])
            preferred.setdefault(k, []).append(record.long_name)
    if not preferred:
        return ""
    most_first = sorted(preferred.items(), key=lambda item: (-len(item[1]), item[0]))
    sentences = [f"k = {k} is best by {listing(names, MOST_NAMES)}." for k, names in most_first]
    return f"{result.clusterer}: {' '.join(sentences)} Most indices tend to favour few clusters."


# ---------------------------------------------------------------------------------------------------------------------
# Words of the methods

SCALES = {
    "none": "not scaled",
    "log1p": "normalised to one total of each sample within each study and log-transformed",
    "study": "scaled to z-scores within each study",
    "pooled": "centred by the mean of all studies together and divided by the standard deviation within studies",
}
NOISE = {
    "drop": "Points that either clustering calls noise were omitted.",
    "singletons": "Every point that a clustering calls noise was counted as a separate cluster.",
}
LIKE_THE_STUDIES = (
    "with the size, mean and covariance of each study, as far as these can be distinguished from the other studies' "
    "and from noise"
)
NULLS = {
    "elliptical": f"from an elliptical distribution whose density falls outwards, {LIKE_THE_STUDIES}",
    "margins": "from a Gaussian copula with the size of each study and, for each feature, the closest unimodal "
    "distribution, and its correlations as far as these can be distinguished from the other studies' and from noise",
    "components": f"from independent components with unimodal distributions, {LIKE_THE_STUDIES}",
    "gaussian": "from a Gaussian with the size, mean and covariance of each study, as far as these can be "
    "distinguished from the other studies' and from noise",
    "copula": "from a Gaussian copula with the size and margins of each study, and its correlations as far as these "
    "can be distinguished from the other studies' and from noise",
}
STATISTICS = {"estimate": "Observed scores", "mean": "Means over resamples"}
CITATION = (
    "Masoero L, Thomas E, Parmigiani G, Tyekucheva S, Trippa L. Cross-Study Replicability in Cluster Analysis. "
    "Statistical Science 38(2), 2023."
)


# ---------------------------------------------------------------------------------------------------------------------
# How a result was made

# Of provenance: not listed with the other parameters.
LISTED_APART = ("seed", "versions", "studies", "clusterers")


def settings_of(provenance: Provenance) -> dict[str, str]:
    """Return the parameters of a run, as listed."""
    return {name: str(value).strip("'") for name, value in provenance.items() if name not in LISTED_APART}


def clusterers_of(provenance: Provenance) -> list[str]:
    """Return the clusterers and their parameters, in the order of the configurations; k is the number of clusters."""
    return [record.description_for_any_k for record in provenance.clusterers]


def rows_of(provenance: Provenance) -> list[list[str]]:
    """List everything; clusterers that differ in their number of clusters alone are listed once."""
    return [
        ["seed", str(provenance.seed)],
        *([name.replace("_", " "), value] for name, value in settings_of(provenance).items()),
        *(["clusterer", text] for text in dict.fromkeys(clusterers_of(provenance))),
        *([name, version] for name, version in provenance.versions.items()),
    ]


# ---------------------------------------------------------------------------------------------------------------------
# The paragraph that a paper would need


def methods_of(
    comparison: Comparison | None, reference: NullReference | None, findings: Findings | None = None
) -> list[str]:
    """Write the paragraph that a paper would need: `page/methods.txt`, a sentence a line."""
    if comparison is None:
        return [f"Reference: {CITATION}"]
    provenance = comparison.provenance
    run, ks = settings_of(provenance), sorted({k for k in comparison.n_clusters if k is not None})
    names = [f"{name}{_values(comparison, places)}" for name, places in comparison.curves.items()]
    text = template("methods.txt", plural, joined).render(
        studies=studies_as_read(provenance["studies"], findings),
        scaling=_scaling(next(iter(provenance["studies"].values()))["scale"], findings),
        findings=findings,
        names=names,
        ks=span(ks) if ks else "",
        agreements=[in_sentence(name) for name in comparison.agreements],
        n_resamples=provenance["n_resamples"],
        resamples=resamples_in_words(run.get("resampling", ""), "both studies"),
        run={"noise": "label", "n_landmarks": "", "shared_embedding": "", **run},
        noise=NOISE,
        reference=reference,
        statistics=STATISTICS,
        null="" if reference is None else _null(reference),
        versions=provenance.versions,
        seed=provenance.seed,
    )
    curves = [_curve_of(comparison, c) for c in range(len(comparison.clusterers))]
    by_name = dict(zip(curves, clusterers_of(provenance), strict=True))
    parameters = "; ".join(f"{name}: {text}" for name, text in by_name.items())
    return [" ".join(filter(None, text.split("\n"))), f"Clusterers: {parameters}.", f"Reference: {CITATION}"]


def studies_as_read(
    studies: Mapping[str, Mapping[str, Any]], findings: Findings | None
) -> dict[str, Mapping[str, Any]]:
    """Return the facts about each study: of findings of one study, whose random halves are compared, of the whole."""
    if findings is None or len(findings.names) > 1 or not studies:
        return dict(studies)
    half = next(iter(studies.values()))
    about = {name: value for name, value in half.items() if name != "digest"}
    return {findings.names[0]: {**about, "samples": int(findings.sizes[0])}}


def _scaling(scaling: str, findings: Findings | None) -> str:
    """Say how counts were normalised and features scaled, as `Study.scaling` names both.

    Of studies that come unscaled, the alignment of the findings says what was done.
    """
    if scaling == "none" and findings is not None and findings.alignment:
        return ""
    steps, reference, name = scaling.partition(REFERENCE)  # the name of a study may hold anything
    words = [SCALES.get(step, f"scaled by {step}") for step in steps.split(", ") if step]
    return " and ".join([*words, *([f"scaled by the mean and standard deviation of {name}"] if reference else [])])


def _curve_of(comparison: Comparison, c: int) -> str:
    """Return the name that a configuration shares with those that differ in one parameter alone."""
    return next(name for name, places in comparison.curves.items() if c in places)


def _values(comparison: Comparison, places: Sequence[int]) -> str:
    """Say which values of a parameter were tried; empty where it was the number of clusters."""
    records = [comparison.records[c] for c in places]
    values = [record.value for record in records if record is not None and record.value is not None]
    if not values or records[0] is None:
        return ""
    count = plural(len(values), "value")
    return f" ({records[0].parameter} from {min(values):g} to {max(values):g}, {count})" if len(values) > 1 else ""


def _null(reference: NullReference) -> str:
    """Say what null data are drawn from."""
    null = reference.model or settings_of(reference.provenance).get("null")
    return NULLS.get(str(null), f"by the sampler {null}")


def span(ks: Sequence[int]) -> str:
    """Write numbers of clusters: consecutive ones as a range.

    Examples
    --------
    >>> span([2, 3, 4]), span([2, 3, 5])
    ('2 to 4', '2, 3 and 5')
    """
    consecutive = len(ks) > 2 and list(ks) == list(range(ks[0], ks[-1] + 1))
    return f"{ks[0]} to {ks[-1]}" if consecutive else joined([str(k) for k in ks])
