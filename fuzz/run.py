"""Run the targets, each in processes of its own, and print what was tried and what survived.

python -m fuzz.run                              all cases, on a corpus of files in fuzz/corpus that grows
python -m fuzz.run --seed 7                     others
python -m fuzz.run --quick                      a part of them, without the corpus, as CI does
python -m fuzz.run --target csv --case 17       one case again, without the corpus
python -m fuzz.run --target csv --file FILE     one file again, of the corpus
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from fuzz import calls, readers, saved
from fuzz.corpus import CORPUS
from fuzz.target import Target, outcome_of

TARGETS = {target.name: target for module in (readers, calls, saved) for target in module.TARGETS}

START_SECONDS = 120  # for a process to import the library and prepare its inputs

AT_MOST_SHOWN = 20  # failures of a target

BEGIN, END = "<!-- fuzz: begin -->", "<!-- fuzz: end -->"  # of the table on the page

GOOD = ("read", "refused")


class Failure(NamedTuple):
    """A case that did not survive."""

    target: str
    case: int
    problem: str


class Outcome(NamedTuple):
    """How a case ended, how long it took, and the most memory that its process had used by then."""

    said: str
    seconds: float
    megabytes: int = 0


def outcomes(target: Target, seed: int, first: int, last: int, *, keep: bool = False) -> Iterator[tuple[int, Outcome]]:
    """Run cases; after a crash or a hang, go on behind it in another process."""
    while first < last:
        with tempfile.TemporaryDirectory() as folder:
            numbers = [str(number) for number in (seed, first, last)]
            command = [sys.executable, "-m", "fuzz.worker", target.name, *numbers, folder, *["keep"] * keep]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
                try:
                    for outcome in _answers(process, target.seconds):
                        yield first, outcome
                        first += 1
                finally:
                    process.kill()


def _answers(process: subprocess.Popen[bytes], seconds: int) -> Iterator[Outcome]:
    """Return the answers of a process; the last may be that it crashed or hung."""
    assert process.stdout is not None
    pending, is_ready = b"", False
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        begin, allowed = time.monotonic(), START_SECONDS
        while True:
            if not selector.select(max(0.0, begin + allowed - time.monotonic())):
                yield Outcome(f"hang: no answer within {allowed} seconds", allowed)
                return
            block = os.read(process.stdout.fileno(), 2**16)
            if not block:
                if code := process.wait():
                    yield Outcome(f"crash: exit code {code}", time.monotonic() - begin)
                return
            *lines, pending = (pending + block).split(b"\n")
            for line in lines:
                if is_ready:
                    said, megabytes = json.loads(line)
                    yield Outcome(said, time.monotonic() - begin, megabytes)
                is_ready, begin, allowed = True, time.monotonic(), seconds


HEAD = ("target", "tried", "read", "refused", "failed", "kept", "seconds", "slowest", "MB")


def run(
    targets: list[Target], seed: int, *, quick: bool, case: int | None = None
) -> tuple[list[list[str]], list[Failure]]:
    """Run targets, and print a line for each; return these lines, and what failed."""
    failures: list[Failure] = []
    rows = []
    print(_line(HEAD), f"  seed {seed}")
    keep = not quick and case is None
    for target in targets:
        begin, before = time.monotonic(), _n_kept(target)
        first, last = (0, target.n_quick if quick else target.n_cases) if case is None else (case, case + 1)
        counts: Counter[str] = Counter()
        bad: list[Failure] = []
        slowest, megabytes = 0.0, 0
        for number, outcome in outcomes(target, seed, first, last, keep=keep):
            counts[outcome.said if outcome.said in GOOD else "failed"] += 1
            slowest, megabytes = max(slowest, outcome.seconds), max(megabytes, outcome.megabytes)
            if outcome.said not in GOOD:
                bad.append(Failure(target.name, number, outcome.said))
        numbers = [counts.total(), counts["read"], counts["refused"], counts["failed"], _n_kept(target) - before]
        seconds = f"{time.monotonic() - begin:.0f}"
        rows.append([target.name, *(f"{n:,}" for n in numbers), seconds, f"{slowest:.1f}", f"{megabytes:,}"])
        print(_line(rows[-1]), flush=True)
        for failure in bad[:AT_MOST_SHOWN]:
            again = f"--seed {seed} --case {failure.case}"
            if keep and target.attempt_file:
                again = f"--file {CORPUS / target.name}/failed-…"
            print(f"  {failure.problem}\n    python -m fuzz.run --target {target.name} {again}")
        failures += bad
    return rows, failures


def _line(cells: Sequence[str]) -> str:
    name, *numbers = cells
    return f"{name:<12} " + " ".join(f"{number:>8}" for number in numbers)


def _n_kept(target: Target) -> int:
    return len(list((CORPUS / target.name).glob("new-*")))


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; the exit code is 1 if a case did not survive."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.run", description="Inputs that nobody meant to give.")
    parser.add_argument("--quick", action="store_true", help="a part of the cases, in about half a minute")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", action="append", choices=sorted(TARGETS), help="may be repeated; default: all")
    parser.add_argument("--case", type=int, help="one case alone")
    parser.add_argument("--file", type=Path, help="one file alone")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the table to a page, too")
    chosen = parser.parse_args(arguments)
    targets = [TARGETS[name] for name in chosen.target or TARGETS]
    if chosen.file:
        return read_again(targets[0], chosen.file)
    rows, failures = run(targets, chosen.seed, quick=chosen.quick, case=chosen.case)
    print(f"{len(failures)} failed" if failures else "all survived")
    if chosen.write:
        write_page(chosen.write, rows, chosen.seed)
    return 1 if failures else 0


def read_again(target: Target, path: Path) -> int:
    """Read one file, and print how that ends."""
    assert target.attempt_file is not None, "this target reads no files"
    content = path.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        said = outcome_of(partial(target.attempt_file, content, Path(folder)))
    print(said)
    return int(said not in GOOD)


def write_page(page: Path, rows: Sequence[Sequence[str]], seed: int) -> None:
    """Write the table and the number of inputs to a page."""
    total = sum(int(row[1].replace(",", "")) for row in rows)
    put_table(page, BEGIN, END, HEAD, rows, f"{total:,} inputs, seed {seed}.\n\n")


def put_table(
    page: Path, begin: str, end: str, head: Sequence[str], rows: Sequence[Sequence[str]], before: str = ""
) -> None:
    """Replace what stands between two marks of a page by a table."""
    above, _, rest = page.read_text().partition(begin)
    _, _, below = rest.partition(end)
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))
    page.write_text(f"{above}{begin}\n{before}{table}\n{end}{below}")


if __name__ == "__main__":
    raise SystemExit(main())
