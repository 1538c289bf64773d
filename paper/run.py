"""All experiments of the paper: RESULTS.md, the figures beside it, and TIMES.md.

Run as `make paper` (full size, half an hour on two cores) or `make paper-quick` (a few minutes).
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from joblib import Parallel, delayed

from clustrep._files import written_whole
from paper import plain_loops
from paper.common import DEPENDS, FAILS, HOLDS, NOT_RUN, Claim, quietly, table

EXPERIMENTS = {
    "fig1_benchmark_sets": "Fig. 1: benchmark sets in halves",
    "fig2_dim_mixtures": "Fig. 2: four studies in 64 dimensions",
    "fig3_fig4_local": "Fig. 3 and 4: local replicability",
    "fig5_fig6_breast": "Fig. 5 and 6, the gold-standard figure and Table 1: breast cancer",
    "appendix_a_calibration": "A.1: calibration of the bootstrap",
    "appendix_a_no_structure": "A.2: no structure",
    "appendix_a_sample_size": "A.3: sample size; outliers",
    "appendix_c_stability": "C.1: indices of stability",
    "appendix_c_prediction": "C.2: prediction strength and in-group proportion",
    "appendix_c_tests": "C.3: the test for clusters",
}
FOREWORD = """\
- *As written* is the experiment as the paper's text has it; *as published* is the variant that the authors' published
  files come from, where it differs: its printed number, and ours.
- A claim is taken apart (algorithms, data sets, numbers of clusters, pairs of studies), and every part of the
  experiment as written is asked the same question, which stands with the verdict: the claim *holds* if all parts say
  yes, *does not hold* if none does, *depends* otherwise.
- The paper seldom says how high, close or similar it means: the questions are ours, and several were settled when trial
  numbers were known. They are printed so that another reader can ask others.
- ± is a Monte Carlo standard error: what another run would change, on the same data where data are given, and on the
  same split into halves where they were split. Scores are ARI unless said. 0.97 @31 is a score at 31 clusters.
- The same command on the same machine writes the same bytes; the times are in [TIMES.md](TIMES.md).
"""


def main(arguments: list[str] | None = None) -> int:
    """Run all experiments, or those named; what is not complete goes to RESULTS-part.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=EXPERIMENTS, default=tuple(EXPERIMENTS))
    chosen = parser.parse_args(arguments)
    chosen.out.mkdir(parents=True, exist_ok=True)
    claims, seconds = run_all(chosen.only, chosen.out / "figures", quick=chosen.quick)
    complete = len(claims) == len(EXPERIMENTS)
    write(chosen.out / ("RESULTS.md" if complete else "RESULTS-part.md"), results(claims, quick=chosen.quick))
    if complete:
        write(chosen.out / "TIMES.md", times(seconds, quick=chosen.quick))
    return 0 if len(claims) == len(chosen.only) else 1


def run_all(names: Sequence[str], figures: Path, *, quick: bool) -> tuple[dict[str, list[Claim]], dict[str, float]]:
    """Run experiments: quick ones beside each other, full ones in turn, as each then uses all cores."""
    claims: dict[str, list[Claim]] = {}
    seconds: dict[str, float] = {}
    with Parallel(n_jobs=-1 if quick else 1, return_as="generator") as parallel:
        outcomes = parallel(delayed(run)(name, figures, quick=quick) for name in names)
        for name, outcome in zip(names, outcomes, strict=True):
            if isinstance(outcome, str):  # the others still run
                print(outcome, file=sys.stderr, flush=True)
                continue
            claims[name], seconds[name] = outcome
            verdicts = ", ".join(one.verdict for one in claims[name])
            print(f"{name}: {verdicts} ({seconds[name]:.0f} s)", flush=True)
    return claims, seconds


def run(name: str, figures: Path, *, quick: bool) -> tuple[list[Claim], float] | str:
    """Run an experiment: its claims and the seconds it took, or what went wrong."""
    quietly()
    began = time.perf_counter()
    try:
        claims = importlib.import_module(f"paper.{name}").main(figures, quick=quick)
    except Exception:
        return traceback.format_exc()
    return claims, time.perf_counter() - began


def results(claims: dict[str, list[Claim]], *, quick: bool) -> str:
    """Write what holds and what does not."""
    size = "`make paper-quick`, at small sizes; `make paper` runs the full ones" if quick else "`make paper`"
    theirs = [one for found in claims.values() for one in found if not one.ours]
    counts = {verdict: sum(one.verdict == verdict for one in theirs) for verdict in (HOLDS, FAILS, DEPENDS, NOT_RUN)}
    listed = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
    parts = [f"# What holds\n\nWritten by {size}. Of {len(theirs)} claims: {listed}.\n\n{FOREWORD}"]
    for name, found in claims.items():
        parts.append(f"## {EXPERIMENTS[name]}\n\n{table([one for one in found if not one.ours])}\n")
        if remarks := [one for one in found if one.ours]:
            parts.append(f"Remarks of our own:\n\n{table(remarks)}\n")
        figures = {figure: one.where for one in reversed(found) for figure in reversed(one.figures)}
        parts += [f"![{where}: {Path(figure).stem}](figures/{figure})\n" for figure, where in reversed(figures.items())]
    return "\n".join(parts)


def times(seconds: dict[str, float], *, quick: bool) -> str:
    """Write what each experiment took, and what a plain loop takes."""
    rows = [f"| {name} | {value:.0f} |" for name, value in (seconds | {"in all": sum(seconds.values())}).items()]
    parts = ["# Times", "", "| experiment | seconds |", "|---|---|", *rows]
    if not quick:
        parts += ["", *plain_loops.ratios()]
    return "\n".join(parts) + "\n"


def write(path: Path, text: str) -> None:
    """Write a text whole or not at all."""
    with written_whole(path) as stream:
        stream.write(text.encode())


if __name__ == "__main__":
    sys.exit(main())
