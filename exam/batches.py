"""Batch effects, composition and unimodal data: `python -m exam.batches PAGE.md`, with `--quick` within a minute.

Three sections: the factorial of exam/factorial.py, a series of growing batch effects in simulated counts of single
cells, and kinds of data without clusters (exam/designs.py). Every data set is a function of its setting and number.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

import clustrep as cr
from clustrep.clustering.sample import Source
from clustrep.findings.find import find_clusters
from clustrep.findings.result import SEPARATED, Findings
from clustrep.resampling import Rerun
from exam.clusterers import NAMES, clusterer_of
from exam.designs import BY_NAME, CURVE, KINDS, ONE_PIECE
from exam.factorial import COMPOSITIONS, SCALES, SETTINGS, SHIFTS, Marks, Setting, design, marks_of

SEED = 20_261_118
# Standard deviations of the batch effects of genes, on the log scale.
EFFECTS = (0.05, 0.10, 0.15, 0.20, 0.30)
# The series: cells, genes, batches, principal components, shares of cell types; the last batch lacks the last type.
N_CELLS, N_GENES, N_BATCHES, N_COMPONENTS, TYPES = 1600, 1000, 4, 15, (0.3, 0.25, 0.2, 0.15, 0.1)
CLUSTER_SPECIFIC = SHIFTS[-1]
# Every composition, shift and scale once at least.
QUICK_SETTINGS = (0, 7, 12, 25, 28, 34)
FACTORIAL, SERIES, UNIMODAL = "factorial", "series", "unimodal"


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


def tasks_of(numbers: range, clusterer: str, *, quick: bool) -> list[Task]:
    """List all data sets; the quick form has six settings, two effects and six kinds."""
    settings = QUICK_SETTINGS if quick else range(len(SETTINGS))
    effects = EFFECTS[1::3] if quick else EFFECTS
    kinds = [kind.name for kind in KINDS if kind.group in (ONE_PIECE, CURVE)]
    return [
        *(Task(FACTORIAL, setting, number, clusterer) for number in numbers for setting in settings),
        *(Task(SERIES, effect, 0, clusterer) for effect in effects),
        *(Task(UNIMODAL, kind, number, clusterer) for number in numbers for kind in kinds[:: 9 if quick else 1]),
    ]


def answer_of(task: Task) -> Answer:
    """Draw a data set and find its clusters."""
    if task.section == UNIMODAL:
        kind = BY_NAME[str(task.what)]
        rng = np.random.default_rng([SEED, zlib.crc32(kind.name.encode()), task.number])
        studies = {f"s{s + 1}": X for s, X in enumerate(kind.draw(rng).tables)}
        return Answer(task, found_in(studies, task).verdict == SEPARATED, 0, None)
    if task.section == SERIES:
        studies, truth = batches(float(task.what))
    else:
        drawn = design(SETTINGS[int(task.what)], task.number)
        studies, truth = drawn.studies, drawn.truth
    findings = found_in(studies, task)
    marks = marks_of(findings.verdict, findings.table(), findings.labels, truth)
    (n_features,) = {X.shape[1] for X in studies.values()}
    return Answer(task, findings.verdict == SEPARATED, n_features, marks)


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


def row(name: str, answers: Sequence[Answer]) -> str:
    """Write one line of the table of the factorial."""
    marks = [answer.marks for answer in answers if answer.marks is not None]
    entries = sum(mark.entries for mark in marks)
    lone = [mark.lone for mark in marks if mark.lone is not None]
    cells = [
        name,
        str(len(marks)),
        str(entries),
        share(sum(mark.right for mark in marks), entries),
        share(sum(mark.false_not_found for mark in marks), entries),
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


def page(answers: Sequence[Answer], clusterer: str) -> str:
    """Write all sections as Markdown."""
    by_section = {
        section: [answer for answer in answers if answer.task.section == section]
        for section in (FACTORIAL, SERIES, UNIMODAL)
    }
    return "\n".join(
        [
            "# Accuracy under batch effects and other compositions",
            "",
            f"`make exam` writes this page, from {len(answers)} data sets.",
            "",
            f"## Batch effects and composition ({clusterer})",
            "",
            "Entries are those of cluster × study. A further cluster of the same class is wrong in every study; a "
            "class that is no cluster's own is missed. Cluster-specific shifts in two features are a row of their own, "
            "and in no other row.",
            "",
            HEAD,
            *factorial_rows(by_section[FACTORIAL]),
            "",
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


def factorial_rows(answers: Sequence[Answer]) -> list[str]:
    """One row of all, one for each composition, shift and scale, and that of cluster-specific shifts in the plane."""

    def setting(answer: Answer) -> Setting:
        return SETTINGS[int(answer.task.what)]

    in_plane = [answer for answer in answers if setting(answer).shift == CLUSTER_SPECIFIC and answer.n_features == 2]
    others = [answer for answer in answers if answer not in in_plane]
    parts: list[tuple[str, Callable[[Setting], bool]]] = [
        *((composition, lambda s, c=composition: s.composition == c) for composition in COMPOSITIONS),
        *((f"shift {shift}", lambda s, c=shift: s.shift == c) for shift in SHIFTS),
        *((f"scale {scale:g}", lambda s, c=scale: s.scale == c) for scale in SCALES),
    ]
    return [
        row("**all**", others),
        *(row(name, [answer for answer in others if belongs(setting(answer))]) for name, belongs in parts),
        row("cluster-specific shift, two features", in_plane),
    ]


def unimodal_rows(answers: Sequence[Answer]) -> list[str]:
    """One row for each group of kinds, with the names of those that were called separated."""
    lines = []
    for group, name in ((ONE_PIECE, "unimodal"), (CURVE, "curves")):
        of_group = [answer for answer in answers if BY_NAME[str(answer.task.what)].group == group]
        wrong = [str(answer.task.what) for answer in of_group if answer.separated]
        kinds = {answer.task.what for answer in of_group}
        named = "; ".join(f"{kind} ({wrong.count(kind)})" for kind in dict.fromkeys(wrong)) or "–"
        lines.append(f"| {name} | {len(kinds)} | {len(of_group)} | {len(wrong)} | {named} |")
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Analyse all data sets, print the page and write it."""
    parser = argparse.ArgumentParser(prog="python -m exam.batches", description=__doc__)
    parser.add_argument("path", type=Path, help="where the page is written")
    parser.add_argument("--quick", action="store_true", help="few settings and kinds, one data set of each")
    parser.add_argument("--numbers", type=numbers_of, help="a:b, the numbers of the data sets of every setting")
    parser.add_argument("--clusterer", choices=NAMES, default="kmeans")
    parser.add_argument("--jobs", type=int, default=1, help="workers")
    parser.add_argument("--only", choices=(FACTORIAL, SERIES, UNIMODAL), help="a single section")
    given = parser.parse_args(arguments)
    numbers = given.numbers or range(1 if given.quick else 5)
    tasks = [
        task for task in tasks_of(numbers, given.clusterer, quick=given.quick) if given.only in (None, task.section)
    ]
    began, answers = time.perf_counter(), []
    for answer in Parallel(n_jobs=given.jobs, return_as="generator")(delayed(answer_of)(task) for task in tasks):
        answers.append(answer)
        if len(answers) % 20 == 0 or len(answers) == len(tasks):
            seconds = time.perf_counter() - began
            print(f"{len(answers)} of {len(tasks)} data sets, {seconds:.0f} s", file=sys.stderr, flush=True)
    text = page(answers, given.clusterer)
    given.path.parent.mkdir(parents=True, exist_ok=True)
    given.path.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
