"""Every sentence of a report that says what was found.

The verdicts on single clusters ("holds", "holds weakly", …) and their thresholds are those of `results.analysis`; here
stand the sentences that are made of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from clustrep.failures import Failures
from clustrep.results import (
    Candidate,
    ClusterTest,
    Replicability,
    Separation,
    StudyDifferences,
    StudyRelations,
    Validation,
)
from clustrep.results.analysis import (
    HALF_WAY,
    HOLDS,
    NO_SCORE,
    NOISE,
    NOT_ABOVE,
    NOT_COMPARED,
    TOO_FEW,
    UNTESTED,
    WEAK,
)
from clustrep.results.base import FALSE_FINDING
from clustrep.results.choice import MOSTLY
from clustrep.results.headline import FOUND_AGAIN, no_groups_text, p_text
from clustrep.results.labels import label
from clustrep.results.obstacles import percent
from clustrep.results.presence_words import ABSENT, CANT_TELL, NEW, SIGNS
from clustrep.results.shape import estimate_is_far, two_humps
from clustrep.tables.agreement import is_adjusted
from clustrep.tables.index_records import INDICES
from clustrep.text import listing, plural

# What each kind of verdict is called: colour is never the only sign.
VERDICTS = {
    "separated": "Answer",
    "structured": "Answer",
    "one-piece": "Answer",
    "unknown": "Answer",
    "sure": "How sure",
    "reason": "Why",
    "studies": "Studies",
    "clusters": "Clusters",
    "caution": "Caution",
    "failure": "Failed",
    "next": "Next",
}

TITLE = "Which clusters hold up when someone else repeats the study"
TITLE_OF_TESTS = "Are there clusters at all?"
SCORE_AND_RIVALS = (
    "The score is the mean over ordered pairs of different studies and over resamples. A rival is not distinguishable "
    "from the best: the resample-wise difference has a 95 % interval that includes 0."
)
STANDS_APART = (
    "A study stands apart if its scores with the others, even with its closest partner, lie below the diagonals of the "
    "tested studies, and farther below than those of the pairs without it."
)
WHAT_DIFFERS = (
    "For every study, clusters are learned on all other studies, and its samples are assigned to them. It lacks a "
    "cluster if its share is less than half of the others' share; clusters are blurred if they are no separate groups."
)
WHAT_HOLDS = (
    "A cluster's score in another study is the mean local score of its samples. The cluster holds if R̂, the score of "
    f"the studies as they are, is above that of data without clusters (q at most {FALSE_FINDING}), and both R̂ and the "
    f"mean over resamples are at least {HALF_WAY}; it holds weakly if its score is above data without clusters but "
    "lower than that. q-values are adjusted over all rows of the table but noise."
)
WHAT_COUNTERPARTS_ARE = (
    "Counterparts are matched one to one on the tested study's samples; overlap is the Jaccard coefficient there, "
    "found the share of resamples in which both clusters were found again."
)

MOST_NAMES = 3
# Verdicts on single clusters in a word or two, and how such cases are counted.
NO_BETTER = "no better"
SHORT = {HOLDS: HOLDS, WEAK: WEAK, NOT_ABOVE: NO_BETTER, NO_SCORE: NO_SCORE}
HOW_MANY = {
    HOLDS: "hold",
    WEAK: "hold weakly",
    NO_BETTER: "no better than data without clusters",
    CANT_TELL: "undecided",
    NO_SCORE: "without a score",
}
LEGEND_OF_PRESENCE = (
    "✓ present; ✗ absent: (nearly) no samples are like it; ⋏ split into groups with a gap; ⋎ merged with a "
    "neighbour; ? can't tell; + new: samples that are like no cluster of the training study; · the study itself."
)
LEGEND_OF_OVERVIEW = "✓ present, ✗ absent, ⋏ split, ⋎ merged, ? can't tell, · in this study alone."
LEGEND_OF_HOLDING = (
    "✓ holds; ~ holds weakly; ✗ no better than data without clusters; ? can't tell; – no score; · the study itself."
)
ABOUT_GAPS = (
    "Clusters are learned on the other studies. Held-out samples are counted around two neighbouring centres and "
    "half-way between them: a gap is a middle with fewer samples than either side."
)
ABOUT_EMBEDDED = (
    "One embedding of all studies together has aligned them before they are compared. Beside its scores are those in "
    "an embedding that is learned on every draw of the training study alone, and applied to the test study: scaling, "
    "variable features and principal components. Where the first are much higher, clusters repeat thanks to the "
    "alignment."
)
ABOUT_TREE = (
    "Every separated cluster is split again and tested again for gaps, at the level of 5 % times its share of all "
    "samples (Kimes et al. 2017), and only where the cluster around it was split. Parts are kept apart by gaps that "
    "are significant one by one: there may be fewer of them than groups in the answer, which asks for any gap."
)
NUMBERS_OF_PIECES = "Clusters a and b are numbered for every k by itself."
AFTER_GAPS = "`clustrep run` says in which study each group is present."
AFTER_NO_GAPS = "Try other numbers of clusters; `clustrep run` says whether there is structure without gaps."
# The share of variance between pairs that is not only resampling's, from which it is told.
WORTH_TELLING = 0.05
# Scores that differ by less are not called better and worse.
NO_DIFFERENCE = 0.005
# Titles of sections of their own.
SECTIONS = {
    "SiteClusters": "Clusters at other sites",
    "SiteGaps": "Gaps between clusters, counted at other sites",
    "SiteTables": "Clusters of two sites, sample counts",
}
# Whether the page can be sent around.
NAMES_SAMPLES = "Hover texts on this page name samples."
NO_SAMPLES = "This page names no samples."


def named(result: Candidate | Replicability) -> str:
    """Name a configuration."""
    return label(result.clusterer, result.n_clusters)


# ---------------------------------------------------------------------------------------------------------------------
# studies


def about_studies(result: Replicability, relations: StudyRelations | None, *, differ: bool = False) -> str:
    """Say which studies agree, and which stands apart; that none does is not said where their clusters `differ`."""
    is_pair = ~np.eye(len(result.names), dtype=bool)
    if result.trivial.size and result.trivial[:, is_pair].mean() > MOSTLY:
        return f"{named(result)}: most scores compare a single block, or noise alone, and say nothing about studies."
    text = f"{named(result)}: {_extremes(result)}"
    if relations is None:
        return text
    stands = [name for name, apart in zip(relations.names, relations.apart, strict=True) if apart]
    if relations.says_who_stands_apart and stands:
        text += f" {listing(stands, MOST_NAMES)} {'stands' if len(stands) == 1 else 'stand'} apart."
    elif relations.says_who_stands_apart and not differ:
        text += " No study can be said to stand apart."
    unsteady = [
        f"{name} ({mean:z.2f})"
        for name, mean in zip(result.names, np.diagonal(result.mean), strict=True)
        if mean < HALF_WAY and is_adjusted(result.agreement)
    ]
    if unsteady:
        text += f" Clusters do not replicate even within {listing(unsteady, MOST_NAMES)}."
    if np.isnan(relations.heterogeneity) or relations.heterogeneity < WORTH_TELLING:
        return text
    share = percent(relations.heterogeneity)
    return f"{text} {share[0].upper()}{share[1:]} of the variance between pairs is more than resampling explains."


def about_differences(differences: StudyDifferences | None, asked: Sequence[str], presence: pd.DataFrame) -> str:
    """Say which of the studies asked about lack a cluster that the others have, or have blurred ones."""
    if differences is None:
        return ""
    sentences = []
    for name, rows in differences.to_frame().groupby("study", sort=False):
        if name not in asked:
            continue
        lacking = rows[rows["lacks"]]
        if len(lacking):
            row = lacking.sort_values("share_elsewhere", kind="stable").iloc[-1]
            more = "" if len(lacking) == 1 else f", and has few samples of {plural(len(lacking) - 1, 'more cluster')}"
            sentences.append(
                f"{name} has few samples of a cluster of the other studies, {percent(row['share'])} against "
                f"{percent(row['share_elsewhere'])} there{more}."
            )
        elif rows["blurred"].any():  # a study that lacks a cluster seems blurred for that reason alone
            sentences.append(f"In {name} the clusters of the other studies are blurred: no separate groups.")
    if len(sentences) > MOST_NAMES:
        sentences = [*sentences[:MOST_NAMES], f"{plural(len(sentences) - MOST_NAMES, 'more difference')} below."]
    if not sentences and not (presence["word"] == ABSENT).any() and set(asked) == set(differences.names):
        return "No study lacks a cluster that the other studies have."
    return " ".join(sentences)


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


def about_presence(presence: pd.DataFrame) -> str:
    """Count clusters in other studies by what became of them, and name where most samples are new."""
    cases, new = presence[presence["word"] != NEW], presence[presence["word"] == NEW]
    if cases.empty:
        return ""
    counts = [f"{count} {word}" for word in SIGNS if (count := int((cases["word"] == word).sum()))]
    text = f"Clusters in other studies: {', '.join(counts)}."
    if "n_like" in new and new["n_like"].sum():
        row = new.sort_values("n_like", kind="stable").iloc[-1]
        text += f" {row['test']} has {plural(int(row['n_like']), 'sample')} like no cluster of {row['train']}."
    return text


def about_clusters(table: pd.DataFrame) -> str:
    """Count clusters in other studies by whether they hold there, from `cluster_table`."""
    judged = table[~table["verdict"].isin([NOISE, UNTESTED])] if len(table) else table
    if judged.empty:
        return ""
    if (judged["verdict"] == NOT_COMPARED).all():
        if judged["mean"].isna().all():
            return ""
        weakest = judged.sort_values("mean", kind="stable").iloc[0]
        where = f"cluster {weakest['cluster']} of {weakest['train']} in {weakest['test']}"
        return f"The weakest is {where}, with a local score of {weakest['mean']:z.2f}."
    words = judged["verdict"].map(lambda verdict: SHORT.get(verdict, CANT_TELL))
    counts = [f"{count} {HOW_MANY[word]}" for word in HOW_MANY if (count := int((words == word).sum()))]
    return f"Clusters in other studies: {', '.join(counts)}."


def about_resolution(table: pd.DataFrame) -> str:
    """Say how many simulated collections would be enough, where there were too few."""
    count = int((table["verdict"] == TOO_FEW).sum()) if len(table) else 0
    if not count:
        return ""
    enough = 20 * int(table["qvalue"].notna().sum()) - 1
    which = "One cluster scores" if count == 1 else f"{count} clusters score"
    return (
        f"{which} above all simulated ones, of which there are too few for a verdict. "
        f"{enough:,} simulated collections (--null-collections) would be enough."
    )


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
            f"Scores have two modes: {listing(bimodal, 2)}. The clusterer seems to alternate between two solutions, "
            "so look at the distributions, not at intervals."
        )
    if far:
        pair, estimate, mean = max(far, key=lambda item: abs(item[1] - item[2]))
        differ = "differs" if len(far) == 2 else "differ"
        others = "" if len(far) == 1 else f"; {plural(len(far) - 1, 'more pair')} {differ}, too"
        sentences.append(
            f"{pair} scores {estimate:z.2f} as the studies are, far from the mean over resamples, {mean:z.2f}{others}."
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


def about_gaps(result: Separation) -> str:
    """Say whether there are groups with gaps between them, from the gaps of one clusterer alone."""
    if not result.separated:
        return f"{no_groups_text(result.overall_pvalue)} ({result.clusterer})."
    p = p_text(result.overall_pvalue)
    return f"{result.groups} separated groups: the gaps between them were {FOUND_AGAIN} ({result.clusterer}, {p})."


def about_test(result: ClusterTest, study: str) -> str:
    """Say whether a study is distinguishable from data without clusters."""
    if result.pvalue <= FALSE_FINDING:
        return f"{study}: there is more structure than in data without clusters (p = {result.pvalue:.2g})."
    return f"{study}: not distinguishable from unclustered data (p = {result.pvalue:.2g})."


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
