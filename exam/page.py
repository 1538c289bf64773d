"""The page of the accuracy benchmark: verdicts on all collections, beside the targets and the competitors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from clustrep.findings.result import CONTINUOUS, SEPARATED
from clustrep.statistics import proportion_interval
from exam.competitors import COMPETITORS, Competitor
from exam.designs import CLUSTERS, CURVE, MISSING, ONE_PIECE, ROUND, Kind
from exam.ours import N_INIT, N_RESAMPLES
from exam.outcomes import Outcome
from exam.texts import CLUSTERS_TEXT, CURVE_TEXT, DEVELOPMENT, MISSING_TEXT, ONE_PIECE_TEXT, ROUND_TEXT, STATUSES_TEXT

LEVEL = 0.05
MET, NEAR, FAILED = "met", "within error", "**not met**"

# The targets.
MOST_SEPARATED = 0.05
MOST_CONTINUOUS = 0.07
MOST_SEPARATED_CURVES = 0.10
FEWEST_SEPARATED = 0.95
FEWEST_RIGHT = 0.90

# Rules of the library that were changed after an exam's outcome had been known; to be kept by hand.
CHANGED_AFTER_AN_EXAM: tuple[str, ...] = (
    "All rules were replaced by findings: clusters of each study by itself, matched across studies, with a status in "
    "every study. The entries below are about the rules before them, whose verdicts were *separated*, *structured* and "
    "*one piece*.",
    "The number of separated groups was that with the highest −log p · R̂, and pools were fitted from as many random "
    "starts as the clusterer has. An exam of five collections of each kind then gave the right number for 88 % of "
    "round clusters and 84 % of all kinds with clusters, as often as prediction strength did. Pools were then "
    "fitted from at least 30 starts, and the number was that with the highest −log p · strength². The decision between "
    "*separated*, *structured* and *one piece* was not changed, but for the starts.",
    "An exam of twenty collections of each kind gave the right number for 91 % of round clusters and 84.9 % of all "
    "kinds with clusters, prediction strength 85.6 %; it was wrong for a third of the collections with four clusters "
    "on a rectangle and for half of those with 70/20/10 %. The number became that with the highest "
    "−log p · k · strength³, chosen on other settings, among them a rectangle and unequal sizes.",
    "The number was that with the highest −log p · k · strength³, which has no derivation; it is that of the partition "
    "that predicts held-out samples best. Chosen on other seeds of the same kinds, where both are right about equally "
    "often.",
    "Where most scores of every configuration are trivial (a study in a single cluster, or noise alone), the answer "
    "was *structured* or *one piece*; now there is none. It was changed after DBSCAN with too small a radius had "
    "called three groups a continuum; the clusterers of this exam have no such scores, and it was not repeated.",
)


@dataclass(frozen=True)
class Size:
    """How many collections of every group of kinds, and how many of them the slow competitors see."""

    collections: dict[str, int]
    slow: int
    n_null: int

    def with_collections(self, n: int, n_missing: int) -> Size:
        """Return the same with this number of collections of every kind, and of those with missing clusters."""
        collections = {**dict.fromkeys(self.collections, n), MISSING: n_missing}
        return replace(self, collections=collections, slow=min(self.slow, n))


class Rate(NamedTuple):
    """How many of how many."""

    count: int
    total: int

    @classmethod
    def of(cls, answers: Iterable[bool]) -> Rate:
        """Count what is true."""
        listed = list(answers)
        return cls(sum(listed), len(listed))

    @property
    def value(self) -> float:
        """The share."""
        return self.count / self.total if self.total else np.nan

    def interval(self) -> tuple[float, float]:
        """Return the exact 95 % interval (Clopper and Pearson 1934)."""
        return proportion_interval(self.count, self.total, 1 - LEVEL)

    def __str__(self) -> str:
        if not self.total:
            return "–"
        low, high = self.interval()
        return f"{100 * self.value:.0f} ({100 * low:.0f}–{100 * high:.0f})"

    def at_most(self, target: float) -> str:
        """Compare with the most that is allowed; within error where a binomial test does not reject at 5 %."""
        if self.value <= target + 1e-12:
            return MET
        return NEAR if binom.sf(self.count - 1, self.total, target) > LEVEL else FAILED

    def at_least(self, target: float) -> str:
        """Compare with the least that is wanted."""
        if self.value >= target - 1e-12:
            return MET
        return NEAR if binom.cdf(self.count, self.total, target) > LEVEL else FAILED


class Answers(NamedTuple):
    """A kind of data, and what was found in its collections."""

    kind: Kind
    outcomes: Sequence[Outcome]

    def verdict(self, *verdicts: str) -> Rate:
        """How often one of these was the verdict."""
        return Rate.of(outcome.verdict in verdicts for outcome in self.outcomes)

    def ours(self) -> Rate:
        """How often our number of clusters was right."""
        return Rate.of(outcome.n_clusters in self.kind.right for outcome in self.outcomes)

    def theirs(self, competitor: Competitor) -> Rate:
        """How often a competitor's number was right, of the collections that it saw; never where it can't be."""
        if not competitor.says_one and self.kind.right == (1,):
            return Rate(0, len(self.outcomes))
        chosen = [outcome.choices[competitor.name] for outcome in self.outcomes if competitor.name in outcome.choices]
        return Rate.of(k in self.kind.right for k in chosen)


def page(kinds: Sequence[Kind], outcomes: Sequence[Outcome], size: Size) -> str:
    """Write the page."""
    answers = [Answers(kind, [outcome for outcome in outcomes if outcome.kind == kind.name]) for kind in kinds]
    here = [each for each in COMPETITORS if not each.missing() and (size.slow > 0 or not each.is_slow)]
    by_group = {
        group: [each for each in answers if each.kind.group == group]
        for group in (ONE_PIECE, CURVE, ROUND, CLUSTERS, MISSING)
    }
    parts = [
        introduction(answers, size),
        summary(by_group, here),
        without_clusters("Unimodal data", ONE_PIECE_TEXT, by_group[ONE_PIECE], here),
        without_clusters("Curves and surfaces", CURVE_TEXT, by_group[CURVE], here),
        with_clusters("Round clusters", ROUND_TEXT, by_group[ROUND], here),
        with_clusters("Other clusters", CLUSTERS_TEXT, by_group[CLUSTERS], here),
        with_clusters("Clusters that some studies lack", MISSING_TEXT, by_group[MISSING], here),
        statuses(by_group[MISSING]),
        competitors(size),
        DEVELOPMENT,
        changes(),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


# ---------------------------------------------------------------------------------------------------------------------
# parts


def introduction(answers: Sequence[Answers], size: Size) -> str:
    """Say what this is, and how large."""
    counts = Counter(len(each.outcomes) for each in answers)
    sizes = ", ".join(f"{n} of each of {kinds} kinds" for n, kinds in sorted(counts.items(), reverse=True))
    total = sum(len(each.outcomes) for each in answers)
    return f"""# Accuracy benchmark: how often the verdict is right

`make exam` writes this page (`make exam-quick` a small one, elsewhere). Every row is a kind of data whose truth is
known; every collection of studies is analysed by one call,
`analyse(KMeans(n_init={N_INIT}), studies, n_clusters=range(2, 9), n_resamples={N_RESAMPLES}, n_null={size.n_null})`,
whose verdict is *separated* (density valleys between clusters), *continuous structure* (partitions replicate better
than under the null model, without valleys), *no evidence of clusters* or *inconclusive*, with a number of clusters.

This page is of {total:,} collections: {sizes}. Entries are percentages with exact 95 % intervals (Clopper and Pearson).
Beside a target, "{MET}" means that the percentage itself is on the right side, "{NEAR}" that it is not, but a binomial
test does not reject the target at 5 %, "{FAILED.strip("*")}" that it does. With many rows a few rejections by chance
must be expected. Seeds are fixed: the same sizes give the same page."""


def summary(by_group: dict[str, list[Answers]], here: Sequence[Competitor]) -> str:
    """List the targets, each with its worst kind."""
    rows: list[tuple[str, str, str, str]] = []

    def worst(
        text: str,
        group: str,
        rate: Callable[[Answers], Rate],
        judge: Callable[[Rate], str],
        *,
        largest: bool,
    ) -> None:
        members = by_group[group]
        if not members:
            return
        verdicts = Counter(judge(rate(each)) for each in members)
        extreme = (max if largest else min)(members, key=lambda each: rate(each).value)
        counted = ", ".join(f"{word}: {verdicts[word]}" for word in (MET, NEAR, FAILED) if verdicts[word])
        together = pooled([rate(each) for each in members])
        rows.append((text, str(together), f"{rate(extreme)}: {extreme.kind.name}", f"{counted} of {len(members)}"))

    worst(
        "unimodal data: *separated* in at most 5 %",
        ONE_PIECE,
        lambda each: each.verdict(SEPARATED),
        lambda rate: rate.at_most(MOST_SEPARATED),
        largest=True,
    )
    worst(
        "unimodal data: *continuous structure* in at most 7 %",
        ONE_PIECE,
        lambda each: each.verdict(CONTINUOUS),
        lambda rate: rate.at_most(MOST_CONTINUOUS),
        largest=True,
    )
    worst(
        "curves: *separated* in at most 10 %",
        CURVE,
        lambda each: each.verdict(SEPARATED),
        lambda rate: rate.at_most(MOST_SEPARATED_CURVES),
        largest=True,
    )
    worst(
        "round clusters at 4.5 sd or more: *separated* in at least 95 %",
        ROUND,
        lambda each: each.verdict(SEPARATED),
        lambda rate: rate.at_least(FEWEST_SEPARATED),
        largest=False,
    )
    worst(
        "round clusters at 4.5 sd or more: right number in at least 90 %",
        ROUND,
        lambda each: each.ours(),
        lambda rate: rate.at_least(FEWEST_RIGHT),
        largest=False,
    )
    lines = ["## Targets", "", "| target | all kinds together | worst kind | kinds |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, "", comparison(by_group, here)])


def comparison(by_group: dict[str, list[Answers]], here: Sequence[Competitor]) -> str:
    """Compare how often the number of clusters is right, as means over kinds."""
    clustered = [each for group in (ROUND, CLUSTERS, MISSING) for each in by_group[group]]
    choices = {
        "kinds with clusters": clustered,
        "unimodal kinds (one cluster is right)": by_group[ONE_PIECE],
        "both": clustered + by_group[ONE_PIECE],
    }
    names = [competitor.name for competitor in here]
    lines = [
        "Right number of clusters, mean over kinds in per cent; the target is to be right at least as often as the",
        "best of the competitors:",
        "",
        f"| | clustrep | {' | '.join(names)} | target |",
        "|---|---|" + "---|" * len(names) + "---|",
    ]
    for text, members in choices.items():
        if not members:
            continue
        ours = mean([each.ours() for each in members])
        theirs = [mean([each.theirs(competitor) for each in members]) for competitor in here]
        target = (MET if ours >= max(theirs) else FAILED) if members is not by_group[ONE_PIECE] else ""
        shown = " | ".join(f"{100 * value:.1f}" for value in [ours, *theirs])
        lines.append(f"| {text} ({len(members)}) | {shown} | {target} |")
    return "\n".join(lines)


def pooled(rates: Sequence[Rate]) -> Rate:
    """Add counts."""
    return Rate(sum(rate.count for rate in rates), sum(rate.total for rate in rates))


def mean(rates: Sequence[Rate]) -> float:
    """Return the mean of shares."""
    return float(np.mean([rate.value for rate in rates]))


def without_clusters(title: str, text: str, members: Sequence[Answers], here: Sequence[Competitor]) -> str:
    """Tabulate false alarms."""
    if not members:
        return ""
    is_curve = members[0].kind.group == CURVE
    most = MOST_SEPARATED_CURVES if is_curve else MOST_SEPARATED
    able = [competitor for competitor in here if competitor.says_one and not competitor.is_slow]
    lines = [
        f"## {title}",
        "",
        text,
        "",
        "| kind | separated | target | continuous structure | target | "
        + " | ".join(each.name for each in able)
        + " |",
        "|---|---|---|---|---|" + "---|" * len(able),
    ]
    for each in members:
        separated, continuous = each.verdict(SEPARATED), each.verdict(CONTINUOUS)
        judged = "" if is_curve else continuous.at_most(MOST_CONTINUOUS)
        others = [each.theirs(competitor) for competitor in able]
        alarms = " | ".join(str(Rate(rate.total - rate.count, rate.total)) for rate in others)
        lines.append(
            f"| {each.kind.name} | {separated} | {separated.at_most(most)} | {continuous} | {judged} | {alarms} |"
        )
    return "\n".join(lines)


def with_clusters(title: str, text: str, members: Sequence[Answers], here: Sequence[Competitor]) -> str:
    """Tabulate what was found."""
    if not members:
        return ""
    is_round = members[0].kind.group == ROUND
    target = " target |" if is_round else ""
    lines = [
        f"## {title}",
        "",
        text,
        "",
        f"| kind | k | separated |{target} continuous structure | right k |{target} "
        + " | ".join(each.name for each in here)
        + " |",
        "|---|---|---|---|---|" + "---|" * (len(here) + 2 * is_round),
    ]
    for each in members:
        separated, right = each.verdict(SEPARATED), each.ours()
        k = " or ".join(map(str, each.kind.right))
        cells = [each.kind.name, k, str(separated), str(each.verdict(CONTINUOUS)), str(right)]
        if is_round:
            cells.insert(3, separated.at_least(FEWEST_SEPARATED))
            cells.append(right.at_least(FEWEST_RIGHT))
        cells += [str(each.theirs(competitor)) for competitor in here]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def statuses(members: Sequence[Answers]) -> str:
    """Tabulate the statuses of clusters in studies."""
    if not members:
        return ""
    given = sorted({status for each in members for outcome in each.outcomes for _, status in outcome.statuses})
    lines = [
        "### The status of every cluster in every study",
        "",
        STATUSES_TEXT,
        "",
        f"| kind | truth | right | {' | '.join(given)} |",
        "|---|---|---|" + "---|" * len(given),
    ]
    for each in members:
        pairs = [pair for outcome in each.outcomes for pair in outcome.statuses]
        for truth in sorted({truth for truth, _ in pairs}):
            counts = Counter(status for true, status in pairs if true == truth)
            right = Rate(counts[truth], sum(counts.values()))
            shown = " | ".join(str(counts[status]) for status in given)
            lines.append(f"| {each.kind.name} | {truth} | {right} | {shown} |")
    return "\n".join(lines)


def competitors(size: Size) -> str:
    """Say what the competitors are, and which could not run."""
    lines = [
        "## The competitors",
        "",
        "Each is given all studies as one table, with k up to 8.",
        "",
    ]
    for competitor in COMPETITORS:
        notes = [competitor.reference]
        if not competitor.says_one:
            notes.append("cannot answer one cluster, so it is left out where that is right")
        if competitor.is_slow:
            seen = f"sees the first {size.slow} collections of every kind with clusters" if size.slow else "not asked"
            notes.append(f"slow: {seen}")
        if reason := competitor.missing():
            notes.append(f"**skipped: {reason}**")
        lines.append(f"- **{competitor.name}**: {'; '.join(notes)}.")
    return "\n".join(lines)


def changes() -> str:
    """Say which rules were changed after an exam."""
    lines = ["## Changed after an exam", ""]
    if not CHANGED_AFTER_AN_EXAM:
        lines.append("No rule of the library was changed after the outcome of an exam on these settings was known.")
    lines += [f"- {change}" for change in CHANGED_AFTER_AN_EXAM]
    return "\n".join(lines)
