"""Sentences of a report: about single results, what its sections explain, and the methods for a paper.

The answer of an analysis is in the words of `findings.sentences` and `analysis.headline`; nothing here decides or
rewords it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clustrep.agreement.agreements import in_sentence, is_adjusted
from clustrep.agreement.cluster_indices import INDICES
from clustrep.algorithms.choice import MOSTLY, Candidate
from clustrep.algorithms.comparison import Comparison
from clustrep.algorithms.local_scores import LocalReplicability
from clustrep.algorithms.pairwise import Replicability
from clustrep.analysis.headline import heterogeneity_sentence
from clustrep.data.values import REFERENCE
from clustrep.execution.failures import Failures
from clustrep.findings.result import SEPARATED, SIGNS, Findings
from clustrep.null.null_scores import NullReference
from clustrep.provenance import Provenance
from clustrep.resampling.strategies import resamples_in_words
from clustrep.stability.results import ClusterTest, Validation
from clustrep.statistics import estimate_is_far, two_modes
from clustrep.summaries import FALSE_FINDING, label
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
SCORE_AND_RIVALS = (
    "The score is the mean over ordered pairs of different studies and over resamples. A rival is not distinguishable "
    "from the best: the resample-wise difference has a 95 % interval that includes 0."
)
ABOUT_TABLE = (
    "Cluster A has the most samples. Replicability is the local replicability of the study's samples "
    "in the cluster, averaged over the other studies. Valley depth compares the density halfway to the nearest "
    "cluster of the same study with that on either side."
)
LEGEND = f"{', '.join(f'{sign} {status}' for status, sign in SIGNS.items())}. n and share of the study's samples"
LEGEND_WITH_SCORES = f"{LEGEND}; local replicability with its 95 % interval."
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
NUMBERS_OF_CLUSTERS = "Clusters a and b are numbered for every k by itself."
AFTER_VALLEYS = "Run `clustrep run` to see in which study each cluster is found."
AFTER_NO_VALLEYS = "Try other numbers of clusters. `clustrep run` compares scores with a null model."

MOST_NAMES = 3
# Half-way from chance, 0, to perfect agreement, 1, for agreements that are adjusted for chance.
HALF_WAY = 0.5
# Scores that differ by less are not called better and worse.
NO_DIFFERENCE = 0.005
# Titles of sections of their own.
SECTIONS = {
    "SiteClusters": "Clusters at other sites",
    "SiteGaps": "Density valleys between clusters, counted at other sites",
    "SiteTables": "Clusters of two sites, sample counts",
    "Findings": "Findings",
}
# Whether the page can be sent around.
NAMES_SAMPLES = "Hover texts on this page name samples."
NO_SAMPLES = "This page names no samples."


def named(result: Candidate | Replicability | LocalReplicability) -> str:
    """Name a configuration."""
    return label(result.clusterer, result.n_clusters)


# ---------------------------------------------------------------------------------------------------------------------
# studies


def about_studies(result: Replicability) -> str:
    """Say which studies predict each other best and worst, and how heterogeneous the pairs are."""
    is_pair = ~np.eye(len(result.names), dtype=bool)
    if result.trivial.size and result.trivial[:, is_pair].mean() > MOSTLY:
        return f"{named(result)}: most scores are of a single cluster, or of noise alone, and do not compare studies."
    text = f"{named(result)}: {_extremes(result)}"
    unsteady = [
        f"{name} ({mean:z.2f})"
        for name, mean in zip(result.names, np.diagonal(result.mean), strict=True)
        if mean < HALF_WAY and is_adjusted(result.agreement)
    ]
    if unsteady:
        text += f" Clusters do not replicate within {listing(unsteady, MOST_NAMES)}."
    heterogeneity = heterogeneity_sentence(result.heterogeneity) if len(result.names) > 2 else ""
    return f"{text} {heterogeneity}".strip()


def _extremes(result: Replicability) -> str:
    mean = np.where(np.eye(len(result.names), dtype=bool), np.nan, result.mean)
    if np.isnan(mean).all():
        return "no pair of studies has a score."
    best, worst = (np.unravel_index(place, mean.shape) for place in (np.nanargmax(mean), np.nanargmin(mean)))
    ends = [
        f"{result.names[s]} predicts {result.names[t]} {how} ({mean[s, t]:z.2f})"
        for (s, t), how in ((best, "best"), (worst, "worst"))
    ]
    if best == worst or np.nanmax(mean) - np.nanmin(mean) < NO_DIFFERENCE:
        return f"all pairs of studies score about {np.nanmean(mean):z.2f}."
    return f"{ends[0]}, {ends[1]}."


# ---------------------------------------------------------------------------------------------------------------------
# clusters


def about_clusters(local: Sequence[LocalReplicability]) -> str:
    """Name the cluster with the lowest local score."""
    frames = [result.by_cluster().assign(train=result.train, test=result.test) for result in local]
    rows = [row for frame in frames for row in frame.to_dict("records") if np.isfinite(row["mean"])]
    if not rows:
        return ""
    lowest = min(rows, key=lambda row: row["mean"])
    where = f"cluster {lowest['cluster']} of {lowest['train']} in {lowest['test']}"
    return f"The lowest local score is that of {where}: {lowest['mean']:z.2f}."


# ---------------------------------------------------------------------------------------------------------------------
# what an interval would hide


def cautions(result: Replicability) -> list[str]:
    """Say where an interval would mislead: bimodal scores, or an estimate far from the mean over resamples."""
    bimodal: list[str] = []
    far: list[tuple[str, float, float]] = []
    for s, t in np.ndindex(result.estimate.shape):
        if s == t:
            continue
        pair, values = f"{result.names[s]} → {result.names[t]}", result.distribution[:, s, t]
        modes = two_modes(values)
        if modes is not None:
            bimodal.append(f"{pair} ({modes.low:z.2f} and {modes.high:z.2f})")
        if estimate_is_far(float(result.estimate[s, t]), values):
            far.append((pair, float(result.estimate[s, t]), float(np.nanmean(values))))
    sentences = []
    if bimodal:
        sentences.append(
            f"Scores have two modes: {listing(bimodal, 2)}. The clusterer may alternate between two solutions: look at "
            "the distributions, not at the intervals."
        )
    if far:
        pair, estimate, mean = max(far, key=lambda item: abs(item[1] - item[2]))
        differ = "differs" if len(far) == 2 else "differ"
        others = "" if len(far) == 1 else f"; {plural(len(far) - 1, 'more pair')} {differ}, too"
        sentences.append(
            f"The observed score of {pair}, {estimate:z.2f}, is far from the mean over resamples, {mean:z.2f}{others}."
        )
    return sentences


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
    names = [f"{name}{_values(comparison, places)}" for name, places in comparison.curves.groups.items()]
    agreements = joined([in_sentence(name) for name in comparison.agreements])
    resamples = f"{run.n_resamples:,} {resamples_in_words(run.resampling, 'both studies')}"
    return (
        f"Clusterings were learned by {joined(names)}{over}, extended to "
        f"clustering functions, and compared between all ordered pairs of studies by {agreements} (Masoero et al. "
        f"2023, Algorithms 1 to 3), with {resamples}; intervals are 95 % percentile intervals."
    )


def _curve_of(comparison: Comparison, c: int) -> str:
    """Return the name that a configuration shares with those that differ in one parameter alone."""
    return next(name for name, places in comparison.curves.groups.items() if c in places)


def _values(comparison: Comparison, places: Sequence[int]) -> str:
    """Say which values of a parameter were tried; empty where it was the number of clusters."""
    records = [comparison.curves.records[c] for c in places]
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
