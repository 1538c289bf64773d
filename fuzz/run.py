"""Run the targets, each in processes of its own, and print what was tried and what survived.

python -m fuzz.run                              all cases
python -m fuzz.run --quick                      a part of them, as CI does
python -m fuzz.run --target csv --case 17       one case again
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
from collections.abc import Iterator
from typing import NamedTuple

from fuzz import calls, readers, saved
from fuzz.target import Target

TARGETS = {target.name: target for module in (readers, calls, saved) for target in module.TARGETS}

START_SECONDS = 120  # for a process to import the library and prepare its inputs

AT_MOST_SHOWN = 20  # failures of a target

GOOD = ("read", "refused")


class Failure(NamedTuple):
    """A case that did not survive."""

    target: str
    case: int
    problem: str


def outcomes(target: Target, seed: int, first: int, last: int) -> Iterator[tuple[int, str]]:
    """Run cases; after a crash or a hang, go on behind it in another process."""
    while first < last:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "fuzz.worker", target.name, str(seed), str(first), str(last), folder]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
                try:
                    for outcome in _answers(process, target.seconds):
                        yield first, outcome
                        first += 1
                finally:
                    process.kill()


def _answers(process: subprocess.Popen[bytes], seconds: int) -> Iterator[str]:
    """Return the answers of a process; the last may be that it crashed or hung."""
    assert process.stdout is not None
    pending, is_ready = b"", False
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        limit = time.monotonic() + START_SECONDS
        while True:
            if not selector.select(max(0.0, limit - time.monotonic())):
                yield f"hang: no answer within {seconds if is_ready else START_SECONDS} seconds"
                return
            block = os.read(process.stdout.fileno(), 2**16)
            if not block:
                if code := process.wait():
                    yield f"crash: exit code {code}"
                return
            *lines, pending = (pending + block).split(b"\n")
            for line in lines:
                limit = time.monotonic() + seconds
                if is_ready:
                    yield json.loads(line)
                is_ready = True


def run(targets: list[Target], seed: int, *, quick: bool, case: int | None = None) -> list[Failure]:
    """Run targets, and print a line for each."""
    failures: list[Failure] = []
    print(f"{'target':<12} {'tried':>7} {'survived':>9} {'read':>7} {'refused':>8} {'seconds':>8}   seed {seed}")
    for target in targets:
        begin = time.monotonic()
        first, last = (0, target.n_quick if quick else target.n_cases) if case is None else (case, case + 1)
        counts: Counter[str] = Counter()
        bad: list[Failure] = []
        for number, outcome in outcomes(target, seed, first, last):
            counts[outcome if outcome in GOOD else "failed"] += 1
            if outcome not in GOOD:
                bad.append(Failure(target.name, number, outcome))
        n_survived = counts["read"] + counts["refused"]
        print(
            f"{target.name:<12} {counts.total():>7,} {n_survived:>9,} {counts['read']:>7,} {counts['refused']:>8,} "
            f"{time.monotonic() - begin:>8.0f}",
            flush=True,
        )
        for failure in bad[:AT_MOST_SHOWN]:
            print(
                f"  {failure.problem}\n"
                f"    python -m fuzz.run --target {target.name} --seed {seed} --case {failure.case}"
            )
        failures += bad
    return failures


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; the exit code is 1 if a case did not survive."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.run", description="Inputs that nobody meant to give.")
    parser.add_argument("--quick", action="store_true", help="a part of the cases, in about half a minute")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", action="append", choices=sorted(TARGETS), help="may be repeated; default: all")
    parser.add_argument("--case", type=int, help="one case alone")
    chosen = parser.parse_args(arguments)
    targets = [TARGETS[name] for name in chosen.target or TARGETS]
    failures = run(targets, chosen.seed, quick=chosen.quick, case=chosen.case)
    print(f"{len(failures)} failed" if failures else "all survived")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
