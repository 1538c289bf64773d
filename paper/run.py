"""The paper's experiments: runs/, RESULTS.md, details/ and figures/.

Run as `make paper` (full size, half an hour on two cores) or `make paper-quick` (a minute). With --page nothing is
computed: verdicts, figures and pages are written again from the stored runs.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from joblib import Parallel, delayed

import clustrep as cr
from clustrep.errors import DataError
from paper import page, plain_loops
from paper.claims import Claim, judged, not_run
from paper.common import quietly
from paper.store import load_facts, save_facts
from paper.verdicts import SYMBOLS, Verdict

EXPERIMENTS = {
    "s3": "Section 3: the indices",
    "fig1": "Fig. 1: benchmark sets in halves",
    "fig2": "Fig. 2: four studies in 64 dimensions",
    "fig3": "Fig. 3 and 4: local replicability",
    "fig5": "Fig. 5 and Fig. 9: breast cancer, global scores",
    "fig6": "Fig. 6 and Table 1: breast cancer, local scores",
    "a1": "A.1: calibration of the bootstrap",
    "a2": "A.2: no clusters",
    "a3": "A.3: sample size; outliers",
    "c1": "C.1: indices of stability",
    "c2": "C.2: prediction strength, in-group proportion",
    "c3": "C.3: the test for clusters",
}


@cr.config_context(progress=False)
def main(arguments: list[str] | None = None) -> int:
    """Run all experiments, or those named, and write the page from all that are stored."""
    chosen = _parser().parse_args(arguments)
    names = tuple(dict.fromkeys(chosen.only or EXPERIMENTS))
    chosen.out.mkdir(parents=True, exist_ok=True)
    absent: dict[str, str] = {}
    if not chosen.page:
        computed = compute(names, chosen.out / "runs", quick=chosen.quick, n_jobs=chosen.jobs)
        absent = {name: why for name, why in computed if why}
    claims = written(chosen.out, n_jobs=chosen.jobs)
    for claim in (claim for name in names for claim in claims.get(name, ())):
        print(line(claim))
    said = data_folder()
    for name, why in absent.items():
        print(f"{name}: not run. {why}", file=sys.stderr)
    if absent:
        print(said, file=sys.stderr)
    if not any(name in claims for name in names):
        print("Nothing could be run.", file=sys.stderr)
        return 1
    if not (chosen.quick or chosen.page or chosen.only or absent):
        page.write_text(chosen.out / "TIMES.md", times(chosen.out / "runs"))
    print(f"{chosen.out / 'RESULTS.md'}: {len(claims)} of {len(EXPERIMENTS)} experiments.")
    return 1 if any(not why.startswith("data") for why in absent.values()) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="folder for runs/, RESULTS.md, details/ and figures/")
    parser.add_argument("--quick", action="store_true", help="small sizes, in about a minute")
    parser.add_argument("--page", action="store_true", help="compute nothing, write the page from the stored runs")
    parser.add_argument("--jobs", type=int, default=-1, help="experiments beside each other with --quick; default all")
    names = ", ".join(EXPERIMENTS)
    parser.add_argument("--only", nargs="+", choices=EXPERIMENTS, metavar="NAME", help=f"some of: {names}")
    return parser


def line(claim: Claim) -> str:
    """Write a claim in one line."""
    return f"{claim.id:22} {SYMBOLS[claim.written]} {SYMBOLS[claim.published]}  {claim.short}: {claim.written}" + (
        "" if claim.published in (Verdict.NONE, claim.written) else f"; as published: {claim.published}"
    )


def data_folder() -> str:
    """Say where data were looked for."""
    folder = os.environ.get("CLUSTREP_DATA")
    where = f"the folder {folder} (CLUSTREP_DATA)" if folder else "the cache of downloads (CLUSTREP_DATA is not set)"
    return f"Data were looked for in {where}; paper/README.md says what belongs there."


def compute(names: Sequence[str], runs: Path, *, quick: bool, n_jobs: int) -> Iterator[tuple[str, str]]:
    """Run experiments and store them: quick ones beside each other, full ones in turn, as each then uses all cores.

    Yields every name with what kept it from being run, or nothing.
    """
    with Parallel(n_jobs=n_jobs if quick else 1, return_as="generator_unordered") as parallel:
        for name, seconds, why in parallel(delayed(run)(name, runs, quick=quick) for name in names):
            print(f"{name}: {why.splitlines()[-1] if why else f'{seconds:.0f} s'}", file=sys.stderr, flush=True)
            yield name, why


def run(name: str, runs: Path, *, quick: bool) -> tuple[str, float, str]:
    """Run an experiment and store what it computed; or say what went wrong."""
    quietly()
    began = time.perf_counter()
    path = runs / f"{name}.npz"
    path.unlink(missing_ok=True)
    try:
        with cr.config_context(progress=False):
            facts = importlib.import_module(f"paper.{name}.runs").run(quick=quick)
        seconds = time.perf_counter() - began
        save_facts(path, facts | {"quick": quick})
        path.with_suffix(".seconds").write_text(f"{seconds:.0f}\n", encoding="utf-8")
    except DataError as error:
        return name, 0.0, f"data are absent: {str(error).splitlines()[0]}"
    except Exception:
        return name, 0.0, traceback.format_exc()
    return name, seconds, ""


def written(out: Path, *, n_jobs: int) -> dict[str, list[Claim]]:
    """Judge, draw and write all experiments that are stored; the others stand as not run."""
    stored = [name for name in EXPERIMENTS if (out / "runs" / f"{name}.npz").is_file()]
    outcomes = Parallel(n_jobs=n_jobs)(delayed(judged_and_drawn)(name, out) for name in stored)
    claims = {name: found for name, (found, _, _) in zip(stored, outcomes, strict=True)}
    figures = {name: drawn for name, (_, drawn, _) in zip(stored, outcomes, strict=True)}
    small = [name for name, (_, _, quick) in zip(stored, outcomes, strict=True) if quick]
    every = {name: claims.get(name) or not_run(name) for name in EXPERIMENTS}
    page.write(out, EXPERIMENTS, every, figures, small)
    return claims


def judged_and_drawn(name: str, out: Path) -> tuple[list[Claim], dict[str, str], bool]:
    """Judge and draw an experiment from what is stored, and say whether that is of small sizes."""
    facts = load_facts(out / "runs" / f"{name}.npz")
    quick = bool(facts["quick"])
    figures = importlib.import_module(f"paper.{name}.figures").draw(facts, out / "figures")
    return judged(name, facts, quick=quick), figures, quick


def times(runs: Path) -> str:
    """Write what each experiment took, and what a plain loop takes."""
    seconds = {name: int((runs / f"{name}.seconds").read_text(encoding="utf-8")) for name in EXPERIMENTS}
    rows = [f"| {name} | {value} |" for name, value in (seconds | {"in all": sum(seconds.values())}).items()]
    return "\n".join(["# Times", "", "| experiment | seconds |", "|---|---|", *rows, "", *plain_loops.ratios()]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
