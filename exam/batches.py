"""Batch effects, composition and unimodal data: `python -m exam.batches PAGE.md`, with `--quick` within a minute.

Five sections: the factorial of exam/factorial.py; its cluster-specific shifts in two features; some of its data sets
by other clusterers; a series of growing batch effects in simulated counts of single cells; and kinds of data without
clusters (exam/designs.py), one data set of each for the other clusterers. Every data set is a function of its setting
and number.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from math import gcd
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import norm

import clustrep as cr
from clustrep.findings.find import find_clusters
from clustrep.findings.result import SEPARATED, Findings
from clustrep.fitting.resample import Source
from clustrep.resampling.strategies import Rerun
from exam.clusterers import NAMES, clusterer_of
from exam.designs import BY_NAME, CURVE, KINDS, ONE_PIECE
from exam.factorial import (
    COMPOSITIONS,
    SCALES,
    SETTINGS,
    SHIFTS,
    Marks,
    Setting,
    design,
    lone_separation,
    marks_of,
)
from exam.page import Rate

SEED = 20_261_118
# Standard deviations of the batch effects of genes, on the log scale.
EFFECTS = (0.05, 0.10, 0.15, 0.20, 0.30)
# The series: cells, genes, batches, principal components, shares of cell types; the last batch lacks the last type.
N_CELLS, N_GENES, N_BATCHES, N_COMPONENTS, TYPES = 1600, 1000, 4, 15, (0.3, 0.25, 0.2, 0.15, 0.1)
CLUSTER_SPECIFIC = SHIFTS[-1]
# Every composition, shift and scale once at least.
QUICK_SETTINGS = (0, 7, 12, 25, 28, 34, 43)
FACTORIAL, PLANE, OTHERS, SERIES, UNIMODAL = SECTIONS = ("factorial", "plane", "others", "series", "unimodal")
# Data sets for each of the other clusterers, spread over all settings.
N_OTHERS = 20
# A cluster of one study alone is asked for from this separation on, in sd within clusters.
LONE_SEPARATION = 4.75


@dataclass(frozen=True)
class Task:
    """One data set: of a section, what it is, and its number."""

    section: str
    what: int | float | str
    number: int
    clusterer: str


@dataclass(frozen=True)
class Answer:
    """What was found in one data set; marks is None for unimodal data."""

    task: Task
    separated: bool
    n_features: int
    marks: Marks | None
    lone_separation: float = np.nan
    seconds: float = np.nan


def tasks_of(numbers: range, clusterer: str, *, quick: bool, n_others: int = N_OTHERS) -> list[Task]:
    """List all data sets; the quick form has six settings, two effects and six kinds, and no other clusterers."""
    settings = QUICK_SETTINGS if quick else range(len(SETTINGS))
    in_plane = [i for i, setting in enumerate(SETTINGS) if setting.shift == CLUSTER_SPECIFIC]
    effects = EFFECTS[1::3] if quick else EFFECTS
    kinds = [kind.name for kind in KINDS if kind.group in (ONE_PIECE, CURVE)]
    others = [] if quick else [name for name in NAMES if name != clusterer]
    return [
        *(Task(FACTORIAL, setting, number, clusterer) for number in numbers for setting in settings),
        *(Task(PLANE, setting, number, clusterer) for number in numbers for setting in in_plane[:: 4 if quick else 1]),
        *(Task(OTHERS, setting, number, name) for name in others for setting, number in spread(numbers, n_others)),
        *(Task(SERIES, effect, 0, clusterer) for effect in effects),
        *(Task(UNIMODAL, kind, number, clusterer) for number in numbers for kind in kinds[:: 9 if quick else 1]),
        *(Task(UNIMODAL, kind, numbers[0], name) for name in others if n_others for kind in kinds),
    ]


def spread(numbers: range, n: int) -> list[tuple[int, int]]:
    """Return the settings and numbers of n data sets, spread over the factorial: every setting once, then again.

    Examples
    --------
    >>> spread(range(7, 9), 4), spread(range(7, 9), 41)[39:]
    ([(0, 7), (11, 7), (22, 7), (33, 7)], [(39, 7), (0, 8)])
    """
    n_settings = len(SETTINGS)
    step = max(1, round(n_settings / max(n, 1)))
    while gcd(step, n_settings) > 1:  # else it would come back before it has met all of them
        step += 1
    n = min(n, n_settings * len(numbers))
    return [(step * i % n_settings, numbers[i // n_settings]) for i in range(n)]


def answer_of(task: Task) -> Answer:
    """Draw a data set and find its clusters."""
    if task.section == UNIMODAL:
        kind = BY_NAME[str(task.what)]
        rng = np.random.default_rng([SEED, zlib.crc32(kind.name.encode()), task.number])
        studies = {f"s{s + 1}": X for s, X in enumerate(kind.draw(rng).tables)}
        return Answer(task, found_in(studies, task).verdict == SEPARATED, 0, None)
    separation = np.nan
    if task.section == SERIES:
        studies, truth = batches(float(task.what))
    else:
        drawn = design(SETTINGS[int(task.what)], task.number, 2 if task.section == PLANE else None)
        studies, truth, separation = drawn.studies, drawn.truth, lone_separation(drawn)
    began = time.process_time()
    findings = found_in(studies, task)
    seconds = time.process_time() - began
    marks = marks_of(findings.verdict, findings.table(), findings.labels, truth)
    (n_features,) = {X.shape[1] for X in studies.values()}
    return Answer(task, findings.verdict == SEPARATED, n_features, marks, separation, seconds)


def found_in(studies: dict[str, NDArray[Any]], task: Task) -> Findings:
    """Find clusters by one clusterer: what `analyse` does first, and what decides whether they are separated."""
    cr.set_config(progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unlike scales
        source = Source.of(Rerun(), task.number)
        return find_clusters(cr.Studies(studies), clusterer_of(task.clusterer).configurations, source)


def batches(effect: float) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    """Simulate single cells of five types in four batches: logarithms of normalised counts, then principal components.

    Parameters
    ----------
    effect : float
        Every gene of a batch is multiplied by a lognormal factor with this standard deviation.
    """
    rng = np.random.default_rng(1)
    n_types = len(TYPES)
    base = rng.gamma(0.3, 1.0, N_GENES)
    profiles = np.array(
        [base * np.exp(rng.normal(0, 1.2, N_GENES) * (rng.random(N_GENES) < 0.15)) for _ in range(n_types)]
    )
    profiles /= profiles.sum(axis=1, keepdims=True)
    batch = rng.integers(0, N_BATCHES, N_CELLS)
    kind = rng.choice(n_types, N_CELLS, p=TYPES)
    kind[(batch == N_BATCHES - 1) & (kind == n_types - 1)] = 0
    factors = np.exp(rng.normal(0, effect, (N_BATCHES, N_GENES)))
    depth = rng.lognormal(7.6, 0.4, N_CELLS)[:, None]
    counts = rng.poisson(profiles[kind] * factors[batch] * depth).astype(float)
    X = np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True))
    left, singular, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    places = left[:, :N_COMPONENTS] * singular[:N_COMPONENTS]
    names = [f"b{b}" for b in range(N_BATCHES)]
    return (
        {name: places[batch == b] for b, name in enumerate(names)},
        {name: kind[batch == b] for b, name in enumerate(names)},
    )


# ---------------------------------------------------------------------------------------------------------------------
# the page


def share(part: int, whole: int) -> str:
    """Return "97.1 %", or a dash of nothing.

    Examples
    --------
    >>> share(33, 34), share(0, 0)
    ('97.1 %', '–')
    """
    return f"{100 * part / whole:.1f} %" if whole else "–"


def with_error(parts: Sequence[int], wholes: Sequence[int]) -> str:
    """Return "97.1 % (93.4–98.8)": a share of entries with its 95 % interval (Wilson 1927).

    Entries of one data set depend on each other: the interval is that of as many fewer entries as their variance
    between data sets is larger than the binomial one.

    Examples
    --------
    >>> with_error([33], [34]), with_error([], []), with_error([0, 10], [10, 10])
    ('97.1 % (85.1–99.5)', '–', '50.0 % (9.5–90.5)')
    """
    part, whole = sum(parts), sum(wholes)
    if not whole:
        return "–"
    p = part / whole
    between = sum((a - p * n) ** 2 for a, n in zip(parts, wholes, strict=True))
    n = whole / max(1.0, between / (whole * p * (1 - p))) if 0 < part < whole else whole
    z = float(norm.ppf(0.975))
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return f"{100 * p:.1f} % ({100 * max(0.0, middle - half):.1f}–{100 * min(1.0, middle + half):.1f})"


def row(name: str, answers: Sequence[Answer]) -> str:
    """Write one line of the table of the factorial."""
    marks = [answer.marks for answer in answers if answer.marks is not None]
    of_marks = [mark.entries for mark in marks]
    entries = sum(of_marks)
    lone = [mark.lone for mark in marks if mark.lone is not None]
    cells = [
        name,
        str(len(marks)),
        str(entries),
        with_error([mark.right for mark in marks], of_marks),
        with_error([mark.false_not_found for mark in marks], of_marks),
        share(sum(mark.undetermined for mark in marks), entries),
        str(sum(mark.missed for mark in marks)),
        share(sum(mark.right_number for mark in marks), len(marks)),
        share(sum(mark.separated for mark in marks), len(marks)),
        f"{sum(lone)} of {len(lone)}" if lone else "–",
    ]
    return f"| {' | '.join(cells)} |"


HEAD = (
    "| | data sets | entries | statuses right | false *not found* | undetermined | clusters missed | right number | "
    "separated | lone cluster named |\n|---|---|---|---|---|---|---|---|---|---|"
)


def page(answers: Sequence[Answer], clusterer: str, command: str = "make exam") -> str:
    """Write all sections as Markdown."""
    by_section = {section: [answer for answer in answers if answer.task.section == section] for section in SECTIONS}
    text = [
        "# Accuracy under batch effects and other compositions",
        "",
        f"`{command}` writes this page, from {len(answers)} data sets. Shares of entries have 95 % intervals (Wilson) "
        "that allow for the dependence of entries of one data set; shares of data sets have exact ones (Clopper and "
        "Pearson).",
        "",
        "## Targets",
        "",
        "| | target | measured |",
        "|---|---|---|",
        *target_rows(by_section, clusterer),
        "",
        f"## Batch effects and composition ({clusterer})",
        "",
        "Entries are those of cluster × study. A further cluster of the same class is wrong in every study; a class "
        "that is no cluster's own is missed. Cluster-specific shifts in two features are a row of their own, and in no "
        "other row.",
        "",
        HEAD,
        *factorial_rows([*by_section[FACTORIAL], *by_section[PLANE]]),
        "",
    ]
    if by_section[OTHERS]:
        text += [
            "## By clusterer",
            "",
            "The same data sets for all: some of those above. Seconds are those of one core, median and longest.",
            "",
            HEAD.replace("lone cluster named |", "lone cluster named | seconds |") + "---|",
            *clusterer_rows(by_section[FACTORIAL], by_section[OTHERS]),
            "",
        ]
    return "\n".join(
        [
            *text,
            "## Growing batch effects",
            "",
            "Four batches of 400 simulated cells of five types; the last batch lacks one type.",
            "",
            HEAD,
            *(row(f"{answer.task.what:.2f}", [answer]) for answer in by_section[SERIES]),
            "",
            "## Unimodal data",
            "",
            "| | kinds | data sets | false *separated* | of which |",
            "|---|---|---|---|---|",
            *unimodal_rows(by_section[UNIMODAL]),
            "",
        ]
    )


def target_rows(by_section: dict[str, list[Answer]], clusterer: str) -> list[str]:
    """One row for each target: what was asked for, and what was measured."""
    others, in_plane = parted([*by_section[FACTORIAL], *by_section[PLANE]])
    marks = [[answer.marks for answer in part if answer.marks is not None] for part in (others, in_plane)]
    entries = [[mark.entries for mark in part] for part in marks]
    lone = [
        bool(answer.marks.lone)
        for answer in others
        if answer.marks is not None and answer.marks.lone is not None and answer.lone_separation >= LONE_SEPARATION
    ]
    unimodal, curves = (
        [
            answer.separated
            for answer in by_section[UNIMODAL]
            if answer.task.clusterer == clusterer and BY_NAME[str(answer.task.what)].group == group
        ]
        for group in (ONE_PIECE, CURVE)
    )
    rows = [
        ("statuses right", "at least 97 %", with_error([mark.right for mark in marks[0]], entries[0])),
        ("false *not found*", "at most 1 %", with_error([mark.false_not_found for mark in marks[0]], entries[0])),
        (
            "statuses right, cluster-specific shifts in two features",
            "at least 90 %",
            with_error([mark.right for mark in marks[1]], entries[1]),
        ),
        (
            "cluster in one study alone named (15 samples and 4.75 sd at least)",
            "at least 95 %",
            f"{sum(lone)} of {len(lone)}: {Rate.of(lone)} %",
        ),
        ("unimodal data called separated", "at most 5 %", f"{sum(unimodal)} of {len(unimodal)}: {Rate.of(unimodal)} %"),
        ("curves called separated", "at most 10 %", f"{sum(curves)} of {len(curves)}: {Rate.of(curves)} %"),
    ]
    return [f"| {' | '.join(cells)} |" for cells in rows]


def setting_of(answer: Answer) -> Setting:
    """Return the setting of a data set of the factorial."""
    return SETTINGS[int(answer.task.what)]


def parted(answers: Sequence[Answer]) -> tuple[list[Answer], list[Answer]]:
    """Divide data sets of the factorial: the last are cluster-specific shifts in two features, each data set once."""
    in_plane = {
        (answer.task.what, answer.task.number): answer
        for answer in answers
        if setting_of(answer).shift == CLUSTER_SPECIFIC and answer.n_features == 2
    }
    others = [answer for answer in answers if answer.n_features != 2 or setting_of(answer).shift != CLUSTER_SPECIFIC]
    return others, list(in_plane.values())


def clusterer_rows(factorial: Sequence[Answer], others: Sequence[Answer]) -> list[str]:
    """One row for each clusterer, of the data sets that all of them have analysed."""
    asked = {(answer.task.what, answer.task.number) for answer in others}
    same = [answer for answer in factorial if (answer.task.what, answer.task.number) in asked]
    names = dict.fromkeys(answer.task.clusterer for answer in (*same, *others))
    rows = []
    for name in names:
        mine = [answer for answer in (*same, *others) if answer.task.clusterer == name]
        seconds = [answer.seconds for answer in mine]
        rows.append(f"{row(name, mine)} {np.median(seconds):.1f}, {max(seconds):.1f} |")
    return rows


def factorial_rows(answers: Sequence[Answer]) -> list[str]:
    """One row of all, one for each composition, shift and scale, and that of cluster-specific shifts in the plane."""
    others, in_plane = parted(answers)
    parts: list[tuple[str, Callable[[Setting], bool]]] = [
        *((composition, lambda s, c=composition: s.composition == c) for composition in COMPOSITIONS),
        *((f"shift {shift}", lambda s, c=shift: s.shift == c) for shift in SHIFTS),
        *((f"scale {scale:g}", lambda s, c=scale: s.scale == c) for scale in SCALES),
    ]
    return [
        row("**all**", others),
        *(row(name, [answer for answer in others if belongs(setting_of(answer))]) for name, belongs in parts),
        row("cluster-specific shift, two features", in_plane),
    ]


def unimodal_rows(answers: Sequence[Answer]) -> list[str]:
    """One row for each clusterer and group of kinds, with the names of those that were called separated."""
    lines = []
    for clusterer, (group, name) in product(
        dict.fromkeys(answer.task.clusterer for answer in answers), ((ONE_PIECE, "unimodal"), (CURVE, "curves"))
    ):
        of_group = [
            answer
            for answer in answers
            if answer.task.clusterer == clusterer and BY_NAME[str(answer.task.what)].group == group
        ]
        wrong = [str(answer.task.what) for answer in of_group if answer.separated]
        kinds = {answer.task.what for answer in of_group}
        named = "; ".join(f"{kind} ({wrong.count(kind)})" for kind in dict.fromkeys(wrong)) or "–"
        lines.append(f"| {name}, {clusterer} | {len(kinds)} | {len(of_group)} | {len(wrong)} | {named} |")
    return lines


def numbers_of(text: str) -> range:
    """Read "a:b" as the numbers from a to b − 1.

    Examples
    --------
    >>> numbers_of("100:107")
    range(100, 107)
    """
    first, last = text.split(":")
    return range(int(first), int(last))


def command_of(given: argparse.Namespace, numbers: range) -> str:
    """Return the command that writes the same page."""
    words = ["python -m exam.batches", given.path.as_posix(), f"--numbers {numbers[0]}:{numbers[-1] + 1}"]
    words += [] if given.clusterer == "kmeans" else [f"--clusterer {given.clusterer}"]
    words += [] if given.others == N_OTHERS else [f"--others {given.others}"]
    words += [] if given.only is None else [f"--only {given.only}"]
    return " ".join([*words, *(["--quick"] if given.quick else [])])


def kept_answers(path: Path | None) -> dict[Task, Answer]:
    """Read the answers of an earlier run; none without a file."""
    if path is None or not path.exists():
        return {}
    answers = []
    for line in path.read_text(encoding="utf-8").splitlines():
        values = json.loads(line)
        marks = None if values["marks"] is None else Marks(**values["marks"])
        answers.append(Answer(**{**values, "task": Task(**values["task"]), "marks": marks}))
    return {answer.task: answer for answer in answers}


def main(arguments: Sequence[str] | None = None) -> int:
    """Analyse all data sets, print the page and write it."""
    parser = argparse.ArgumentParser(prog="python -m exam.batches", description=__doc__)
    parser.add_argument("path", type=Path, help="where the page is written")
    parser.add_argument("--quick", action="store_true", help="few settings and kinds, one data set of each")
    parser.add_argument("--numbers", type=numbers_of, help="a:b, the numbers of the data sets of every setting")
    parser.add_argument("--clusterer", choices=NAMES, default="kmeans")
    parser.add_argument("--jobs", type=int, default=1, help="workers")
    parser.add_argument("--only", choices=SECTIONS, help="a single section")
    parser.add_argument("--others", type=int, default=N_OTHERS, help="data sets for each of the other clusterers")
    parser.add_argument("--keep", type=Path, help="a file of answers: those that it has are not computed again")
    given = parser.parse_args(arguments)
    numbers = given.numbers or range(1 if given.quick else 5)
    tasks = [
        task
        for task in tasks_of(numbers, given.clusterer, quick=given.quick, n_others=given.others)
        if given.only in (None, task.section)
    ]
    began, kept = time.perf_counter(), kept_answers(given.keep)
    left = [task for task in tasks if task not in kept]
    for i, answer in enumerate(
        Parallel(n_jobs=given.jobs, return_as="generator")(delayed(answer_of)(task) for task in left), 1
    ):
        kept[answer.task] = answer
        if given.keep is not None:
            with given.keep.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(answer)) + "\n")
        if i % 20 == 0 or i == len(left):
            seconds = time.perf_counter() - began
            print(f"{i} of {len(left)} data sets, {seconds:.0f} s", file=sys.stderr, flush=True)
    answers = [kept[task] for task in tasks]
    text = page(answers, given.clusterer, command_of(given, numbers))
    given.path.parent.mkdir(parents=True, exist_ok=True)
    given.path.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
