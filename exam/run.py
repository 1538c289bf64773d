"""The exam: `python -m exam.run docs/exam.md`, half an hour on two cores; with `--quick` a few minutes.

Collections are numbered, and each is a function of its kind and number alone, so the same sizes give the same page, on
any number of cores.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from joblib import Parallel, delayed

import clustrep as cr
from exam.designs import CLUSTERS, CURVE, KINDS, MISSING, ONE_PIECE, ROUND, Kind
from exam.outcomes import Outcome, Task, outcome_of
from exam.page import Size, page

FULL = Size({ONE_PIECE: 20, CURVE: 20, ROUND: 20, CLUSTERS: 20, MISSING: 20}, slow=2, n_null=59)
QUICK = Size({ONE_PIECE: 1, CURVE: 1, ROUND: 1, CLUSTERS: 1, MISSING: 1}, slow=0, n_null=39)
# Of the kinds, a quick run takes one of this many.
QUICK_STEP = 3


def rounds(kinds: Sequence[Kind], size: Size) -> Iterator[list[Task]]:
    """List the tasks round by round: in every round, one collection of each kind that still has any."""
    for number in range(max(size.collections.values())):
        yield [
            Task(kind.name, number, number < size.slow, size.n_null)
            for kind in kinds
            if number < size.collections[kind.group]
        ]


def sit(kinds: Sequence[Kind], size: Size, *, jobs: int, shown: bool = True, keep: Path | None = None) -> list[Outcome]:
    """Ask everybody about every collection, but for those whose outcome an earlier run has kept."""
    tasks = [task for of_round in rounds(kinds, size) for task in of_round]
    kept = kept_outcomes(keep)
    left = [task for task in tasks if (task.kind, task.number) not in kept]
    began = time.perf_counter()
    for i, outcome in enumerate(Parallel(n_jobs=jobs, return_as="generator")(delayed(asked)(task) for task in left), 1):
        kept[outcome.kind, outcome.number] = outcome
        if keep is not None:
            with keep.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(outcome)) + "\n")
        if shown and (i % len(kinds) == 0 or i == len(left)):
            seconds = time.perf_counter() - began
            print(f"{i} of {len(left)} collections, {seconds:.0f} s", file=sys.stderr, flush=True)
    return [kept[task.kind, task.number] for task in tasks]


def kept_outcomes(path: Path | None) -> dict[tuple[str, int], Outcome]:
    """Read the outcomes of an earlier run by kind and number; none without a file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path is not None and path.exists() else []
    outcomes = [
        Outcome(**{**values, "statuses": tuple(map(tuple, values["statuses"]))}) for values in map(json.loads, lines)
    ]
    return {(outcome.kind, outcome.number): outcome for outcome in outcomes}


def asked(task: Task) -> Outcome:
    """Ask about one collection, in a worker."""
    cr.set_config(progress=False)
    return outcome_of(task)


def main(arguments: Sequence[str] | None = None) -> int:
    """Sit the exam, print the page and write it."""
    parser = argparse.ArgumentParser(prog="python -m exam.run", description=__doc__)
    parser.add_argument("path", type=Path, help="where the page is written")
    parser.add_argument("--quick", action="store_true", help="a third of the kinds, one collection of each")
    parser.add_argument(
        "--collections",
        type=int,
        nargs="+",
        help="number of collections of every kind; another number for missing clusters",
    )
    parser.add_argument("--only", default="", help="only kinds whose name contains this")
    parser.add_argument("--jobs", type=int, default=-1, help="workers; all cores by default")
    parser.add_argument("--keep", type=Path, help="a file of outcomes: those that it has are not computed again")
    given = parser.parse_args(arguments)
    size = QUICK if given.quick else FULL
    if given.collections is not None:
        size = size.with_collections(given.collections[0], given.collections[-1])
    kinds = [kind for kind in KINDS[:: QUICK_STEP if given.quick and not given.only else 1] if given.only in kind.name]
    if not kinds:
        parser.error(f"no kind of data is called anything with {given.only!r}.")
    text = page(kinds, sit(kinds, size, jobs=given.jobs, keep=given.keep), size)
    given.path.parent.mkdir(parents=True, exist_ok=True)
    given.path.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
