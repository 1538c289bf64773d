"""Public data sets whose right answers were written down before: `CLUSTREP_DATA=FOLDER python -m exam.real`.

The data sets lie in the folder `real` of CLUSTREP_DATA, the right answers in exam/expected.toml.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed

import clustrep as cr
from exam.clusterers import NAMES, clusterer_of
from exam.factorial import Marks, marks_of

EXPECTED = Path(__file__).with_name("expected.toml")
SKIPPED = "Public data sets: skipped, because CLUSTREP_DATA is not set to a folder that holds `real`."
# Entries of the table of cluster × study that must be right.
ENTRIES_RIGHT = 0.95
# Scores of mixtures take minutes: they are asked about data with clusters only, with few resamples.
SLOW = ("gmm",)
FULL, QUICK = {"n_resamples": 100, "n_null": 199}, {"n_resamples": 5, "n_null": 19}


@dataclass(frozen=True)
class Expected:
    """A data set and the answers that are right; see exam/expected.toml."""

    name: str
    folder: str
    studies: tuple[str, ...]
    verdicts: tuple[str, ...]
    known_class: str | None = None
    features: tuple[str, ...] = ()
    clusters: tuple[int, ...] = ()
    statuses: bool = False
    note: str = ""

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Expected:
        """Take an entry of the file."""
        values = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
        return cls(known_class=values.pop("class", None), **values)


def expected_sets(path: Path = EXPECTED) -> list[Expected]:
    """Read the right answers."""
    return [Expected.of(entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["set"]]


@dataclass(frozen=True)
class Row:
    """What was found in a data set, and how that compares with what is right.

    Attributes
    ----------
    marks : Marks or None
        Of the entries; None where no classes are known or they are not judged.
    """

    expected: Expected
    verdict: str
    n_clusters: int | None  # None where the verdict is inconclusive
    marks: Marks | None
    seconds: float

    @property
    def verdict_right(self) -> bool:
        """Whether the verdict is one of those that are right."""
        return self.verdict in self.expected.verdicts

    @property
    def number_right(self) -> bool:
        """Whether the number of clusters is one of those that are right."""
        return not self.expected.clusters or self.n_clusters in self.expected.clusters

    @property
    def entries_right(self) -> bool:
        """Whether enough entries of the table of cluster × study are right."""
        return self.marks is None or self.marks.right >= ENTRIES_RIGHT * self.marks.entries

    @property
    def right(self) -> bool:
        """Whether everything is right."""
        return self.verdict_right and self.number_right and self.entries_right


def tables_of(folder: Path, expected: Expected) -> tuple[dict[str, pd.DataFrame], dict[str, list[str]]]:
    """Read the studies of a data set, and the class of every sample; no classes where none are known."""
    tables, classes = {}, {}
    for study in expected.studies:
        table = pd.read_csv(folder / expected.folder / f"{study}.csv", index_col=0)
        if expected.known_class is not None:
            classes[study] = table.pop(expected.known_class).astype(str).tolist()
        tables[study] = table[list(expected.features)] if expected.features else table
    return tables, classes


def row_of(folder: Path, expected: Expected, clusterer: str, options: Mapping[str, int]) -> Row:
    """Analyse a data set as a new user would, and judge the answer."""
    tables, classes = tables_of(folder, expected)
    asked = clusterer_of(clusterer)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unlike scales, and of samples that occur twice
        studies = cr.Studies(tables, label=False)
        analysis = cr.analyse(asked.clusterer, studies, **asked.options, **options, train=(), rng=0, n_jobs=1)
    seconds = time.perf_counter() - began
    findings = analysis.findings
    marks = None
    if expected.statuses:
        marks = marks_of(findings.verdict, findings.table(), findings.labels, classes)
    return Row(expected, findings.verdict, analysis.n_clusters, marks, seconds)


# ---------------------------------------------------------------------------------------------------------------------
# the page


def page(rows: Mapping[str, Sequence[Row]]) -> str:
    """Write the rows of every clusterer as Markdown tables."""
    lines = [
        "# Accuracy on public data sets",
        "",
        "`make exam` writes this page. The right answers were written down before the first run; rules "
        "that were changed after it are named in decision 0010. Right answers are those of exam/expected.toml.",
        "",
        f"Right in verdict, number of clusters and at least {100 * ENTRIES_RIGHT:.0f} % of the entries of cluster × "
        "study:",
        "",
        *(f"- {clusterer}: {sum(row.right for row in of)} of {len(of)}" for clusterer, of in rows.items()),
    ]
    for clusterer, of_clusterer in rows.items():
        lines += [
            "",
            f"## {clusterer}{', data with clusters, few resamples' if clusterer in SLOW else ''}",
            "",
            "| data | studies | verdict | clusters | entries right | right | seconds |",
            "|---|---|---|---|---|---|---|",
            *map(line_of, of_clusterer),
        ]
    return "\n".join(lines) + "\n"


def line_of(row: Row) -> str:
    """Write a row as a line of the table; what is wrong is bold."""
    expected = row.expected
    verdict = row.verdict if row.verdict_right else f"**{row.verdict}** (right: {' or '.join(expected.verdicts)})"
    number = "–" if row.n_clusters is None else str(row.n_clusters)
    if not row.number_right:
        number = f"**{number}** (right: {' or '.join(map(str, expected.clusters))})"
    entries = "–" if row.marks is None else f"{row.marks.right} of {row.marks.entries}"
    entries = entries if row.entries_right else f"**{entries}**"
    cells = [expected.name, len(expected.studies), verdict, number, entries, "yes" if row.right else "**no**"]
    return f"| {' | '.join(map(str, cells))} | {row.seconds:.0f} |"


def asked(*task: Any) -> Row:
    """Analyse a data set in a worker."""
    cr.set_config(progress=False)
    return row_of(*task)


def main(arguments: Sequence[str] | None = None) -> int:
    """Analyse the data sets, print the table, and write it where asked."""
    parser = argparse.ArgumentParser(prog="python -m exam.real", description=__doc__)
    parser.add_argument("path", type=Path, nargs="?", help="where the page is written")
    parser.add_argument("--quick", action="store_true", help="only data with clusters, few resamples")
    parser.add_argument("--only", default="", help="only data sets whose name contains this")
    parser.add_argument("--clusterer", choices=NAMES, nargs="+", default=["kmeans"])
    parser.add_argument("--jobs", type=int, default=1, help="workers")
    given = parser.parse_args(arguments)
    folder, text = os.environ.get("CLUSTREP_DATA"), f"{SKIPPED}\n"
    if folder and (Path(folder) / "real").is_dir():
        sets = [each for each in expected_sets() if given.only in each.name]
        if not sets:
            parser.error(f"no data set is called anything with {given.only!r}.")
        tasks = [
            (Path(folder) / "real", each, name, QUICK if given.quick or name in SLOW else FULL)
            for name in given.clusterer
            for each in sets
            if not (given.quick or name in SLOW) or "separated" in each.verdicts
        ]
        rows: dict[str, list[Row]] = {name: [] for name in given.clusterer}
        answers = Parallel(n_jobs=given.jobs, return_as="generator")(delayed(asked)(*task) for task in tasks)
        for (_, expected, name, _), row in zip(tasks, answers, strict=True):
            rows[name].append(row)
            print(f"{name}, {expected.name}: {row.verdict}, {row.seconds:.0f} s", file=sys.stderr, flush=True)
        text = page(rows)
    if given.path is not None:
        given.path.parent.mkdir(parents=True, exist_ok=True)
        given.path.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
