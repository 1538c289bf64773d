"""Every sentence of a report that says what was found.

The verdicts on single clusters ("holds", "holds weakly", …) and their thresholds are those of `results.analysis`; here
stand the sentences that are made of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from clustrep.results import Candidate, Choice, ClusterTest, Replicability, StudyRelations, Validation
from clustrep.results.analysis import (
    HALF_WAY,
    HOLDS,
    NO_SCORE,
    NOISE,
    NOT_ABOVE,
    NOT_COMPARED,
    TOO_FEW,
    UNSURE,
    UNTESTED,
    WEAK,
)
from clustrep.results.choice import FALSE_FINDING, NO_BEST
from clustrep.results.labels import label
from clustrep.results.shape import estimate_is_far, two_humps
from clustrep.tables.agreement import is_adjusted, shown
from clustrep.tables.index_records import INDICES
from clustrep.text import listing, plural

# What each kind of verdict is called: colour is never the only sign.
VERDICTS = {
    "best": "Best choice",
    "studies": "Studies",
    "clusters": "Clusters",
    "caution": "Caution",
    "failure": "Failed",
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
WHAT_HOLDS = (
    "A cluster's score in another study is the mean local score of its samples. The cluster holds if R̂, the score of "
    f"the studies as they are, is above that of data without clusters (q at most {FALSE_FINDING}), and both R̂ and the "
    f"bootstrap mean are at least {HALF_WAY}; it holds weakly if its score is above data without clusters but lower "
    "than that. q-values are adjusted over all rows of the table but noise."
)
WHAT_COUNTERPARTS_ARE = (
    "Counterparts are matched one to one on the tested study's samples; overlap is the Jaccard coefficient there, "
    "found the share of resamples in which both clusters were found again."
)

MOST_RIVALS = 4
MOST_CAUTIONS = 6
MOST_CLUSTERS = 5
# Scores that differ by less are not called better and worse.
NO_DIFFERENCE = 0.005

# ---------------------------------------------------------------------------------------------------------------------
# the choice


def about_choice(choice: Choice) -> str:
    """Say which clusterer and k replicate best, how sure that is, and whether data without clusters do as well."""
    best, score = choice.best, shown(choice.agreement)
    if best is None:
        return f"{NO_BEST} {_without_best(choice)}".strip()
    if choice.against is not None and choice.chosen is None:
        return _not_distinguishable(choice, best, choice.against.smallest)
    text = f"{named(best)} has {score} {interval(best)} over all pairs of studies"
    if len(choice.candidates) > 1:
        share = percent(choice.probability_best[choice.place(best)])
        text = (
            f"{named(best)} replicates best: {score} {interval(best)} over all pairs of studies, the highest in "
            f"{share} of resamples"
        )
    if best.rivals:
        rivals = [f"{named(rival)} ({rival.score:.2f})" for rival in best.rivals]
        text += f"; not distinguishable from it: {listing(rivals, MOST_RIVALS)}"
    return f"{text}. {_against_null(choice, best)}"


def _not_distinguishable(choice: Choice, best: Candidate, smallest: float) -> str:
    score = f"{shown(choice.agreement)} {interval(best)}"
    if len(choice.candidates) == 1:
        return f"{named(best)} is not distinguishable from unclustered data (p = {smallest:.2g}): {score}."
    return (
        f"{choice.nothing.capitalize()} is distinguishable from unclustered data (smallest adjusted p = "
        f"{smallest:.2g}): the highest score is {score}, of {named(best)}."
    )


def _without_best(choice: Choice) -> str:
    if choice.chosen is None:
        return ""
    return f"But {named(choice.chosen)}, as the studies are, {_above(choice, choice.chosen)}."


def _against_null(choice: Choice, best: Candidate) -> str:
    if choice.against is None or choice.chosen is None or choice.focus is None:
        return "It was not compared with data without clusters, so it is not known whether there are clusters."
    below = f"But {named(choice.focus)} {_above(choice, choice.focus)}; it is examined below."
    if not choice.is_above(best):
        p = choice.against.adjusted[choice.place(best)]
        return f"It is not distinguishable from unclustered data (adjusted p = {p:.2g}). {below}"
    text = f"As the studies are, it {_above(choice, best)}."
    if choice.place(choice.focus) != choice.place(best):
        return f"{text} {below}"
    if choice.place(choice.chosen) == choice.place(best):
        return text
    excess = choice.against.excess[choice.place(choice.chosen)]
    return f"{text} Farther above them, by {excess:.2f}, is {named(choice.chosen)}."


def _above(choice: Choice, candidate: Candidate) -> str:
    assert choice.against is not None
    place = choice.place(candidate)
    return (
        f"lies {choice.against.excess[place]:.2f} above data without clusters ({choice.against.observed[place]:.2f} "
        f"against {choice.against.null_mean[place]:.2f}, adjusted p = {choice.against.adjusted[place]:.2g})"
    )


def named(result: Candidate | Replicability) -> str:
    """Name a configuration."""
    return label(result.clusterer, result.n_clusters)


def interval(candidate: Candidate) -> str:
    """Write a score with its interval."""
    return f"{candidate.score:.2f} [{candidate.low:.2f}, {candidate.high:.2f}]"


# ---------------------------------------------------------------------------------------------------------------------
# studies


def about_studies(result: Replicability, relations: StudyRelations | None) -> str:
    """Say which studies agree, and which stands apart."""
    text = f"{named(result)}: {_extremes(result)}"
    if relations is None:
        return text
    stands = [name for name, apart in zip(relations.names, relations.apart, strict=True) if apart]
    if relations.says_who_stands_apart and stands:
        text += f" {joined(stands)} {'stands' if len(stands) == 1 else 'stand'} apart."
    elif relations.says_who_stands_apart:
        text += " No study can be said to stand apart."
    unsteady = [
        f"{name} ({mean:.2f})"
        for name, mean in zip(result.names, np.diagonal(result.mean), strict=True)
        if mean < HALF_WAY and is_adjusted(result.agreement)
    ]
    if unsteady:
        text += f" Clusters do not replicate even within {joined(unsteady)}."
    if np.isnan(relations.heterogeneity):
        return text
    share = percent(relations.heterogeneity)
    return f"{text} {share[0].upper()}{share[1:]} of the variance between pairs is more than resampling explains."


def _extremes(result: Replicability) -> str:
    mean = np.where(np.eye(len(result.names), dtype=bool), np.nan, result.mean)
    if np.isnan(mean).all():
        return "no pair of studies has a score."
    best, worst = (np.unravel_index(place, mean.shape) for place in (np.nanargmax(mean), np.nanargmin(mean)))
    ends = [
        f"{result.names[s]} predicts {result.names[t]} {how} ({mean[s, t]:.2f})"
        for (s, t), how in ((best, "best"), (worst, "worst"))
    ]
    if best == worst or np.nanmax(mean) - np.nanmin(mean) < NO_DIFFERENCE:
        return f"all pairs of studies score about {np.nanmean(mean):.2f}."
    return f"{ends[0]}, {ends[1]}."


# ---------------------------------------------------------------------------------------------------------------------
# clusters


def about_clusters(table: pd.DataFrame) -> list[str]:
    """Say of every training study which of its clusters hold in the others, from `cluster_table`."""
    judged = table[~table["verdict"].isin([NOISE, UNTESTED])] if len(table) else table
    return [_clusters_of(str(name), rows) for name, rows in judged.groupby("train", sort=False)] if len(judged) else []


def _clusters_of(study: str, table: pd.DataFrame) -> str:
    n = table["cluster"].nunique()
    if (table["verdict"] == NOT_COMPARED).all():
        weakest = table.sort_values("mean").iloc[0]
        return (
            f"{study}: the weakest of {plural(n, 'cluster')} is cluster {weakest['cluster']} in {weakest['test']} "
            f"({weakest['mean']:.2f})."
        )
    by_cluster = table.groupby("cluster", sort=False)["verdict"].agg(list)
    everywhere = [name for name, verdicts in by_cluster.items() if set(verdicts) == {HOLDS}]
    tests = table["test"].unique().tolist()
    where = "everywhere else" if len(tests) > 1 else f"in {tests[0]}"
    parts = [f"{_of(len(everywhere), n)} {'hold' if len(everywhere) > 1 else 'holds'} {where}"]
    in_words = {WEAK: f"above data without clusters, but below {HALF_WAY}"}
    for verdict in (WEAK, UNSURE, TOO_FEW, NOT_ABOVE, NO_SCORE):
        rows = table[table["verdict"] == verdict]
        if len(rows):
            places = [
                f"cluster {cluster} in {_some(of_cluster['test'].tolist())}" if len(tests) > 1 else f"cluster {cluster}"
                for cluster, of_cluster in rows.groupby("cluster", sort=False)
            ]
            parts.append(f"{in_words.get(verdict, verdict)}: {listing(places, MOST_CLUSTERS)}")
    return f"{study}: {'; '.join(parts)}."


def _some(names: Sequence[str]) -> str:
    return joined(names) if len(names) <= MOST_CLUSTERS else plural(len(names), "study")


def _of(count: int, n: int) -> str:
    if count == n:
        return {1: "its cluster", 2: "both clusters"}.get(n, f"all {n} clusters")
    return f"{count or 'none'} of {plural(n, 'cluster')}"


def about_resolution(table: pd.DataFrame) -> str:
    """Say how many simulated collections would be enough, where there were too few."""
    count = int((table["verdict"] == TOO_FEW).sum()) if len(table) else 0
    if not count:
        return ""
    enough = 20 * int(table["qvalue"].notna().sum()) - 1
    which = "One cluster" if count == 1 else f"{count} clusters, counted in each study,"
    return (
        f"{which} scored above all simulated ones, but there are too few simulated collections for so many clusters: "
        f"{enough:,} (--null-collections) would be enough."
    )


# ---------------------------------------------------------------------------------------------------------------------
# what an interval would hide


def cautions(result: Replicability) -> list[str]:
    """Say where an interval would mislead: bimodal scores, or an estimate far from the bootstrap mean."""
    bimodal: list[str] = []
    far: list[str] = []
    for s, t in np.ndindex(result.estimate.shape):
        if s == t:
            continue
        pair, values = f"{result.names[s]} → {result.names[t]}", result.distribution[:, s, t]
        modes = two_humps(values)
        if modes is not None:
            bimodal.append(
                f"{pair} (about {modes.low:.2f} and {modes.high:.2f}, {percent(modes.share_high)} at the higher)"
            )
        if estimate_is_far(float(result.estimate[s, t]), values):
            far.append(f"{pair} ({result.estimate[s, t]:.2f} against {np.nanmean(values):.2f})")
    sentences = []
    if bimodal:
        sentences.append(
            f"The scores are bimodal, as if the clusterer alternated between two solutions, so no interval summarises "
            f"them: {listing(bimodal, MOST_CAUTIONS)}. Look at the distributions."
        )
    if far:
        sentences.append(
            f"The score of the studies as they are is far from the bootstrap mean: {listing(far, MOST_CAUTIONS)}."
        )
    return sentences


def percent(value: float) -> str:
    """Write a share as a whole number, and what is nearly all or nearly nothing as such."""
    if 0.995 <= value < 1:
        return "more than 99 %"
    return f"{100 * value:.0f} %"


def joined(parts: Sequence[str]) -> str:
    """Write 'a, b and c'."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


# ---------------------------------------------------------------------------------------------------------------------
# one study


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
    by_k = "; ".join(f"k = {k} by {joined(names)}" for k, names in most_first)
    return f"{result.clusterer}: the best values are at {by_k}. Most indices tend to favour few clusters."
