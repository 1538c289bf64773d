"""One process that runs cases of a target, one line to stdout for each."""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path

from fuzz.run import TARGETS

MEMORY = 4 * 2**30  # bytes that a process may allocate


def main(name: str, seed: str, first: str, last: str, folder: str, keep: str = "") -> None:
    """Run cases from the first to the last but one."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)  # what the library prints goes nowhere
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    target = TARGETS[name]
    os.chdir(folder)
    shared = target.shared(Path(folder), keep=bool(keep))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    print(json.dumps("ready"), file=answers)
    for case in range(int(first), int(last)):
        outcome = target.outcome(int(seed), case, Path(folder), shared)
        peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        print(json.dumps([outcome, peak // 1024]), file=answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
