"""Sentences of a report: about single results, what its sections explain, and the methods for a paper.

The answer of an analysis is in the words of `findings.sentences` and `analysis.headline`; nothing here decides or
rewords it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clustrep.agreement.agreements import in_sentence
from clustrep.agreement.cluster_indices import INDICES
from clustrep.algorithms.comparison import Comparison
from clustrep.data.values import REFERENCE
from clustrep.execution.failures import Failures
from clustrep.findings.result import CONTINUOUS, INCONCLUSIVE, NO_EVIDENCE, SEPARATED, Findings
from clustrep.null.null_scores import NullReference
from clustrep.provenance import Provenance
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
    CONTINUOUS: "The partition shown is the one with the highest score of those that exceed their null distribution.",
    NO_EVIDENCE: "No score exceeds its null distribution: there is no evidence for any number of clusters above one.",
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
    "SiteClusters": "Clusters at other sites",
    "SiteGaps": "Density valleys between clusters, counted at other sites",
    "SiteTables": "Clusters of two sites, sample counts",
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

# What approximate searches are for, by its name in provenance.
SEARCHED = {"graph": "of the neighbours in the graph", "nearest": "of the nearest training samples"}
# Of one embedding of all studies together.
ALIGNED = (
    "The features are coordinates of one embedding of all studies together, {}, which has aligned them before they "
    "were compared: scores measure how well clusters repeat after that alignment."
)
SCALES = {
    "none": "not scaled",
    "log1p": "normalised to one total of each sample within each study and log-transformed",
    "study": "scaled to z-scores within each study",
    "pooled": "centred by the mean of all studies together and divided by the standard deviation within studies",
}
NOISE = {
    "drop": "Points that either clustering calls noise were omitted.",
    "singletons": "Every point that a clustering calls noise was counted as a cluster of its own.",
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


@dataclass(frozen=True)
class Run:
    """How a result was made, as far as a report tells it.

    Attributes
    ----------
    seed : str
    studies : dict
        Samples, features and scale of every study.
    clusterers : tuple of str
        Their parameters, in the order of the configurations; the number of clusters is written as k.
    n_resamples : int or None
    resampling : str
        As in provenance; "" where there is none.
    noise : str
    null : str or None
        What null data are drawn from.
    versions : dict
    recall : dict
        What approximate searches for neighbours found, by study.
    settings : dict
        All other parameters, as they are listed.
    """

    seed: str
    studies: dict[str, dict[str, Any]]
    clusterers: tuple[str, ...]
    n_resamples: int | None
    resampling: str
    noise: str
    null: str | None
    versions: dict[str, str]
    recall: dict[str, dict[str, float]]
    settings: dict[str, str]

    @classmethod
    def of(cls, provenance: Provenance) -> Run:
        """Read a result's provenance; nothing else in the report reads it."""
        resampling, null = str(provenance.get("resampling", "")), provenance.get("null")
        listed_apart = ("seed", "versions", "studies", "clusterers")
        return cls(
            seed=str(provenance.seed),
            studies=dict(provenance["studies"]),
            clusterers=tuple(record.description_for_any_k for record in provenance.clusterers),
            n_resamples=provenance.get("n_resamples"),
            resampling=resampling,
            noise=str(provenance.get("noise", "label")),
            null=None if null is None else str(null).strip("'"),
            versions=dict(provenance.versions),
            recall=dict(provenance.get("neighbour_recall", {})),
            settings={name: str(value).strip("'") for name, value in provenance.items() if name not in listed_apart},
        )

    def rows(self) -> list[list[str]]:
        """List everything; clusterers that differ in their number of clusters alone are listed once."""
        return [
            ["seed", self.seed],
            *([name.replace("_", " "), value] for name, value in self.settings.items()),
            *(["clusterer", text] for text in dict.fromkeys(self.clusterers)),
            *([name, version] for name, version in self.versions.items()),
        ]


# ---------------------------------------------------------------------------------------------------------------------
# The paragraph that a paper would need


def methods_of(
    comparison: Comparison | None, reference: NullReference | None, findings: Findings | None = None
) -> list[str]:
    """Write the paragraph that a paper would need."""
    if comparison is None:
        return [f"Reference: {CITATION}"]
    run = Run.of(comparison.provenance)
    sentences = [
        _data(run),
        "" if findings is None else _findings(findings),
        _clusterings(comparison, run),
        _landmarks(run),
        _searches(run),
        _spaces(run),
        NOISE.get(run.noise, ""),
        "" if reference is None else _null(reference),
        _software(run),
    ]
    names = [_curve_of(comparison, c) for c in range(len(comparison.clusterers))]
    by_name = dict(zip(names, run.clusterers, strict=True))
    parameters = "; ".join(f"{name}: {text}" for name, text in by_name.items())
    return [" ".join(filter(None, sentences)), f"Clusterers: {parameters}.", f"Reference: {CITATION}"]


def _data(run: Run) -> str:
    sizes = ", ".join(f"{name} (n = {about['samples']:,})" for name, about in run.studies.items())
    first = next(iter(run.studies.values()))
    return (
        f"Replicability of clusters was assessed across {plural(len(run.studies), 'study')}, {sizes}, on "
        f"{plural(first['features'], 'shared feature')}, {_scaling(first['scale'])}."
    )


def _findings(findings: Findings) -> str:
    """Say how clusters were found, matched and tested."""
    if len(findings.names) == 1:
        return (
            "Clusters were found by density valleys between random halves of the study, at a level of 5 %; scores "
            "compare two random halves."
        )
    matched = (
        " Clusters of different studies were matched after shifts that the matched clusters agree about, and looked "
        "for in every study."
        if findings.verdict == SEPARATED
        else ""
    )
    return (
        "Clusters were found by density valleys, within studies (between random halves) and across studies (in samples "
        f"that were not used to find them), at a level of 5 %.{matched} {findings.alignment}"
    )


def _scaling(scaling: str) -> str:
    """Say how counts were normalised and features scaled, as `Study.scaling` names both."""
    steps, reference, name = scaling.partition(REFERENCE)  # the name of a study may hold anything
    words = [SCALES.get(step, f"scaled by {step}") for step in steps.split(", ") if step]
    return " and ".join([*words, *([f"scaled by the mean and standard deviation of {name}"] if reference else [])])


def _clusterings(comparison: Comparison, run: Run) -> str:
    ks = sorted({k for k in comparison.n_clusters if k is not None})
    over = f" for {span(ks)} clusters" if ks else ""
    names = [f"{name}{_values(comparison, places)}" for name, places in comparison.curves.items()]
    agreements = joined([in_sentence(name) for name in comparison.agreements])
    resamples = f"{run.n_resamples:,} {resamples_in_words(run.resampling, 'both studies')}"
    return (
        f"Clusterings were learned by {joined(names)}{over}, extended to "
        f"clustering functions, and compared between all ordered pairs of studies by {agreements} (Masoero et al. "
        f"2023, Algorithms 1 to 3), with {resamples}; intervals are 95 % percentile intervals."
    )


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


def _landmarks(run: Run) -> str:
    """Say that clusterings were learned from landmarks, where they were."""
    if "n_landmarks" not in run.settings:
        return ""
    return (
        f"In studies of more than {int(run.settings['n_landmarks']):,} samples, clusterings were learned from as many "
        "landmarks (weighted means of small cells; for clusterers without weights, samples drawn at random), and all "
        "samples were labelled by what was learned from them."
    )


def _searches(run: Run) -> str:
    """Say that neighbours were searched for approximately, and how many are right; nothing where they were not."""
    if not run.recall:
        return ""
    shares = {name: [study[name] for study in run.recall.values() if name in study] for name in SEARCHED}
    measured = [
        f"{SEARCHED[name]} {min(values):.1%}" + (f" to {max(values):.1%}" if max(values) > min(values) else "")
        for name, values in shares.items()
        if values
    ]
    package = run.settings["neighbours"]
    version = run.versions.get(package, "")
    return (
        f"Nearest neighbours were searched for approximately, by {package} {version}: right were, in a sample of each "
        f"study, {joined(measured)}."
    )


def _spaces(run: Run) -> str:
    """Say in which spaces clusterings were learned, where these are not the given features."""
    sentences = []
    if "shared_embedding" in run.settings:
        sentences.append(ALIGNED.format(run.settings["shared_embedding"]))
    if "transformer" in run.settings:
        sentences.append(
            f"Before a clustering was learned, {run.settings['transformer']} was fitted to the same resample of the "
            "training study alone, and applied to the test studies."
        )
    return " ".join(sentences)


def _null(reference: NullReference) -> str:
    """Say what the null model is, and how scores are compared with it."""
    n, null = len(reference.distribution), reference.model or Run.of(reference.provenance).null
    drawn = NULLS.get(str(null), f"by the sampler {null}")
    return (
        f"{STATISTICS[reference.statistic]} were compared with those of {n:,} simulated null data sets, drawn {drawn}; "
        "p-values are (1 + exceedances) / (1 + data sets), adjusted over clusterers and numbers of clusters to control "
        "the chance of any false finding at 5 % (Westfall and Young)."
    )


def _software(run: Run) -> str:
    packages = [name for name in ("numpy", "scipy", "scikit-learn") if name in run.versions]
    software = ", ".join(f"{name} {run.versions[name]}" for name in packages)
    return (
        f"Computed with clustrep {run.versions['clustrep']} ({software}; Python {run.versions['python']}), seed "
        f"{run.seed}."
    )


def span(ks: Sequence[int]) -> str:
    """Write numbers of clusters: consecutive ones as a range.

    Examples
    --------
    >>> span([2, 3, 4]), span([2, 3, 5])
    ('2 to 4', '2, 3 and 5')
    """
    consecutive = len(ks) > 2 and list(ks) == list(range(ks[0], ks[-1] + 1))
    return f"{ks[0]} to {ks[-1]}" if consecutive else joined([str(k) for k in ks])
