"""Sentences of a report about single results, and what its sections explain.

The answer of an analysis is in the words of `findings.sentences` and `results.headline`; nothing here decides or
rewords it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clustrep.failures import Failures
from clustrep.findings.result import SIGNS
from clustrep.results import Candidate, ClusterTest, LocalReplicability, Replicability, Validation
from clustrep.results.base import FALSE_FINDING
from clustrep.results.choice import MOSTLY
from clustrep.results.headline import heterogeneity_sentence
from clustrep.results.labels import label
from clustrep.results.shape import estimate_is_far, two_humps
from clustrep.tables.agreement import is_adjusted
from clustrep.tables.index_records import INDICES
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
    "an embedding that is learned on every draw of the training study alone, and applied to the test study: scaling, "
    "variable features and principal components. Where the first are much higher, clusters replicate only after the "
    "alignment."
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
        modes = two_humps(values)
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
