"""What was found, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from clustrep.results import (
    Candidate,
    Choice,
    ClusterTest,
    LocalReplicability,
    Replicability,
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
    UNSURE,
    UNTESTED,
    WEAK,
    adjusted_for_chance,
)
from clustrep.results.choice import FALSE_FINDING, NO_BEST
from clustrep.results.shape import estimate_is_far, two_humps
from clustrep.results.validation import INDICES
from clustrep.tables.agreement import shown
from clustrep.text import listing, plural

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
    if choice.against is not None and choice.chosen is None and len(choice.candidates) == 1:
        return (
            f"{named(best)} is no better than data without clusters (p = {choice.against.smallest:.2g}): {score} "
            f"{interval(best)} can't be told from what data of one piece give."
        )
    if choice.against is not None and choice.chosen is None:
        return (
            f"{choice.nothing.capitalize()} is better than data without clusters (smallest adjusted p = "
            f"{choice.against.smallest:.2g}): the highest score, {named(best)} with {score} "
            f"{interval(best)}, can't be told from what data of one piece give."
        )
    text = f"{named(best)} has {score} {interval(best)} over all pairs of studies"
    if len(choice.candidates) > 1:
        share = percent(choice.probability_best[choice.place(best)])
        text = (
            f"{named(best)} replicates best: {score} {interval(best)} over all pairs of studies, the highest in "
            f"{share} of resamples"
        )
    if best.rivals:
        rivals = [f"{named(one)} ({one.score:.2f})" for one in best.rivals]
        text += f", but it can't be told from {listing(rivals, MOST_RIVALS)}"
    return f"{text}. {_against_null(choice, best)}"


def _without_best(choice: Choice) -> str:
    if choice.chosen is None:
        return ""
    return f"But {named(choice.chosen)}, as the studies are, {_above(choice, choice.chosen)}."


def _against_null(choice: Choice, best: Candidate) -> str:
    if choice.against is None or choice.chosen is None or choice.focus is None:
        return "It was not compared with data without clusters, so it is not known whether there are any."
    below = f"But {named(choice.focus)} {_above(choice, choice.focus)}, and is looked at below."
    if not choice.is_above(best):
        p = choice.against.adjusted[choice.place(best)]
        return f"That is no better than data without clusters (adjusted p = {p:.2g}). {below}"
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


def named(candidate: Candidate | Replicability | LocalReplicability) -> str:
    """Name a configuration."""
    return (
        candidate.clusterer
        if candidate.n_clusters is None
        else f"{candidate.clusterer} with k = {candidate.n_clusters}"
    )


def interval(candidate: Candidate) -> str:
    """Write a score with its interval."""
    return f"{candidate.score:.2f} [{candidate.low:.2f}, {candidate.high:.2f}]"


# ---------------------------------------------------------------------------------------------------------------------
# studies


def about_studies(result: Replicability, relations: StudyRelations | None) -> str:
    """Say which studies agree, and which stands apart."""
    text = f"In {named(result)}, {_extremes(result)}"
    if relations is None:
        return text
    stands = [name for name, apart in zip(relations.names, relations.apart, strict=True) if apart]
    if relations.says_who_stands_apart and stands:
        text += f" {joined(stands)} {'stands' if len(stands) == 1 else 'stand'} apart."
    elif relations.says_who_stands_apart:
        text += " No study can be said to stand apart."
    unsteady = [
        f"{name} ({own:.2f})"
        for name, own in zip(result.names, np.diagonal(result.mean), strict=True)
        if own < HALF_WAY and adjusted_for_chance(result.agreement)
    ]
    if unsteady:
        text += f" Clusters do not even repeat within {joined(unsteady)}."
    if np.isnan(relations.heterogeneity):
        return text
    share = percent(relations.heterogeneity)
    return f"{text} {share[0].upper()}{share[1:]} of the variance between pairs is more than resampling explains."


def _extremes(result: Replicability) -> str:
    mean = np.where(np.eye(len(result.names), dtype=bool), np.nan, result.mean)
    if np.isnan(mean).all():
        return "no pair of studies has a score."
    best, worst = (np.unravel_index(place, mean.shape) for place in (np.nanargmax(mean), np.nanargmin(mean)))
    said = [
        f"{result.names[s]} predicts {result.names[t]} {how} ({mean[s, t]:.2f})"
        for (s, t), how in ((best, "best"), (worst, "worst"))
    ]
    if best == worst or np.nanmax(mean) - np.nanmin(mean) < NO_DIFFERENCE:
        return f"all pairs of studies score about {np.nanmean(mean):.2f}."
    return f"{said[0]}, {said[1]}."


# ---------------------------------------------------------------------------------------------------------------------
# clusters


def about_clusters(table: pd.DataFrame) -> list[str]:
    """Say of every training study which of its clusters hold in the others, from `cluster_table`."""
    told = table[~table["verdict"].isin([NOISE, UNTESTED])] if len(table) else table
    return [_clusters_of(str(name), own) for name, own in told.groupby("train", sort=False)] if len(told) else []


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
    said = {WEAK: f"above data without clusters, but below {HALF_WAY}"}
    for verdict in (WEAK, UNSURE, TOO_FEW, NOT_ABOVE, NO_SCORE):
        rows = table[table["verdict"] == verdict]
        if len(rows):
            places = [
                f"cluster {cluster} in {_some(own['test'].tolist())}" if len(tests) > 1 else f"cluster {cluster}"
                for cluster, own in rows.groupby("cluster", sort=False)
            ]
            parts.append(f"{said.get(verdict, verdict)}: {listing(places, MOST_CLUSTERS)}")
    return f"{study}: {'; '.join(parts)}."


def _some(names: Sequence[str]) -> str:
    return joined(names) if len(names) <= MOST_CLUSTERS else plural(len(names), "study")


def _of(count: int, n: int) -> str:
    if count == n:
        return {1: "its cluster", 2: "both clusters"}.get(n, f"all {n} clusters")
    return f"{count or 'none'} of {plural(n, 'cluster')}"


def about_resolution(table: pd.DataFrame) -> str:
    """Say that more simulated collections are needed to tell."""
    told = table["verdict"] if len(table) else pd.Series(dtype=object)
    count = int((told == TOO_FEW).sum())
    if not count:
        return ""
    enough = 20 * int(table["qvalue"].notna().sum()) - 1
    which = "One cluster" if count == 1 else f"{count} clusters, counted in each study,"
    return (
        f"{which} scored above all simulated ones, but with so many clusters these are too few to tell: "
        f"{enough:,} collections (--null-collections) would do."
    )


# ---------------------------------------------------------------------------------------------------------------------
# what an interval would hide, and what failed


def cautions(result: Replicability) -> list[str]:
    """Say where an interval would mislead: two humps, or an estimate far from the bootstrap's mean."""
    humps: list[str] = []
    far: list[str] = []
    for s, t in np.ndindex(result.estimate.shape):
        if s == t:
            continue
        pair, values = f"{result.names[s]} → {result.names[t]}", result.distribution[:, s, t]
        found = two_humps(values)
        if found is not None:
            humps.append(
                f"{pair} (about {found.low:.2f} and {found.high:.2f}, {percent(found.share_high)} in the upper)"
            )
        if estimate_is_far(float(result.estimate[s, t]), values):
            far.append(f"{pair} ({result.estimate[s, t]:.2f} against {np.nanmean(values):.2f})")
    said = []
    if humps:
        said.append(
            f"The scores have two humps, as of a clusterer that jumps between two solutions, so no interval sums them "
            f"up: {listing(humps, MOST_CAUTIONS)}. Look at the distributions."
        )
    if far:
        said.append(
            f"The score of the studies as they are lies far from the bootstrap's mean: {listing(far, MOST_CAUTIONS)}."
        )
    return said


def about_failures(failures: dict[str, int]) -> str:
    """Say what failed, and why."""
    if not failures:
        return ""
    causes = "; ".join(f"{cause} ({count:,})" for cause, count in failures.items())
    return f"{plural(sum(failures.values()), 'score')} could not be had and {_is_are(failures)} left out: {causes}."


def _is_are(failures: dict[str, int]) -> str:
    return "is" if sum(failures.values()) == 1 else "are"


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


def about_test(result: ClusterTest) -> str:
    """Say whether a study looks like data without clusters."""
    name = ", ".join(result.provenance["studies"])
    if result.pvalue <= FALSE_FINDING:
        return f"{name}: there is more structure than in data without clusters (p = {result.pvalue:.2g})."
    return f"{name}: no better than data without clusters (p = {result.pvalue:.2g})."


def about_indices(result: Validation) -> str:
    """Say which k each index prefers within one study."""
    table = result.overall()
    preferred: dict[int, list[str]] = {}
    for index in table.columns:
        name, higher = INDICES[index]
        values = table[index].dropna()
        if len(values) > 1:
            k = int(values.index[int(values.argmax() if higher else values.argmin())])
            preferred.setdefault(k, []).append(name.split(",")[0])
    if not preferred:
        return ""
    most_first = sorted(preferred.items(), key=lambda item: (-len(item[1]), item[0]))
    said = [f"k = {k} by {joined(names)}" for k, names in most_first]
    return f"{result.clusterer}: best are {'; '.join(said)}. Most indices favour few clusters by themselves."
