"""All experiments of the paper: RESULTS.md, the figures beside it, and TIMES.md.

Run as `make paper` (full size, half an hour on two cores) or `make paper-quick` (a few minutes).
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from joblib import Parallel, delayed

import clustrep as cr
from paper import plain_loops
from paper.captions import CAPTIONS
from paper.common import DEPENDS, FAILS, HOLDS, NOT_RUN, Claim, quietly, table

EXPERIMENTS = {
    "fig1_benchmark_sets": "Fig. 1: benchmark sets in halves",
    "fig2_dim_mixtures": "Fig. 2: four studies in 64 dimensions",
    "fig3_fig4_local": "Fig. 3 and 4: local replicability",
    "fig5_fig6_breast": "Fig. 5 and 6, Fig. 9 of the supplement and Table 1: breast cancer",
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
- ± is a Monte Carlo standard error: what another run would change, on the same data where data are given, and, unless
  splits are counted, on the same split where data are split. Scores are ARI unless said. 0.97 @31 is a score at 31
  clusters.
- The same command on the same machine writes the same bytes; the times are in [TIMES.md](TIMES.md).
"""


@cr.config_context(progress=False)
def main(arguments: list[str] | None = None) -> int:
    """Run all experiments, or those named; until all are done, what there is stands in RESULTS-part.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="folder for RESULTS.md, TIMES.md and figures/")
    parser.add_argument("--quick", action="store_true", help="small sizes, in a few minutes")
    parser.add_argument(
        "--only", nargs="+", choices=EXPERIMENTS, metavar="NAME", help=f"some of: {', '.join(EXPERIMENTS)}"
    )
    chosen = parser.parse_args(arguments)
    names = tuple(dict.fromkeys(chosen.only or EXPERIMENTS))
    chosen.out.mkdir(parents=True, exist_ok=True)
    part = chosen.out / "RESULTS-part.md"
    claims: dict[str, list[Claim]] = {}
    seconds: dict[str, float] = {}
    try:
        for name, lines, took in run_all(names, chosen.out / "figures", quick=chosen.quick):
            claims[name], seconds[name] = lines, took
            write(part, results(claims, quick=chosen.quick))
    except KeyboardInterrupt:
        print(f"Interrupted: {len(claims)} of {len(names)} experiments are in {part}.", file=sys.stderr)
        return 130
    if len(claims) == len(EXPERIMENTS):
        part.replace(part.with_name("RESULTS.md"))
        write(chosen.out / "TIMES.md", times(seconds, quick=chosen.quick))
    all_lines = [claim for lines in claims.values() for claim in lines]
    n_not_run = sum(line.verdict == NOT_RUN for line in all_lines)
    print(f"{len(all_lines)} lines are in {chosen.out}, {n_not_run} of them not run.")
    return 0 if len(claims) == len(names) else 1


def run_all(names: Sequence[str], figures: Path, *, quick: bool) -> Iterator[tuple[str, list[Claim], float]]:
    """Run experiments: quick ones beside each other, full ones in turn, as each then uses all cores."""
    with Parallel(n_jobs=-1 if quick else 1, return_as="generator") as parallel:
        outcomes = parallel(delayed(run)(name, figures, quick=quick) for name in names)
        for name, outcome in zip(names, outcomes, strict=True):
            if isinstance(outcome, str):  # the others still run
                print(outcome, file=sys.stderr, flush=True)
                continue
            claims, seconds = outcome
            print(f"{name}: {', '.join(claim.verdict for claim in claims)} ({seconds:.0f} s)", flush=True)
            yield name, claims, seconds


def run(name: str, figures: Path, *, quick: bool) -> tuple[list[Claim], float] | str:
    """Run an experiment: its claims and the seconds it took, or what went wrong."""
    quietly()
    began = time.perf_counter()
    try:
        claims = importlib.import_module(f"paper.{name}.claims").main(figures, quick=quick)
    except Exception:
        return traceback.format_exc()
    return claims, time.perf_counter() - began


def results(claims: dict[str, list[Claim]], *, quick: bool) -> str:
    """Write what holds and what does not."""
    size = "`make paper-quick`, at small sizes; `make paper` runs the full ones" if quick else "`make paper`"
    theirs = [claim for lines in claims.values() for claim in lines if not claim.ours]
    counts = [sum(claim.verdict == verdict for claim in theirs) for verdict in (HOLDS, FAILS, DEPENDS, NOT_RUN)]
    words = ("hold", "do not hold", "depend", "not run")
    listed = ", ".join(f"{n} {word}" for n, word in zip(counts, words, strict=True))
    head = f"# What holds\n\nWritten by {size}. Of {len(theirs)} claims: {listed}.\n\n{overview(theirs)}\n{FOREWORD}"
    return "\n".join([head, *(section(name, lines) for name, lines in claims.items())])


def section(name: str, claims: list[Claim]) -> str:
    """Write the claims of an experiment, our remarks, and its figures."""
    parts = [f"## {EXPERIMENTS[name]}\n\n{table([claim for claim in claims if not claim.ours])}\n"]
    if remarks := [claim for claim in claims if claim.ours]:
        parts.append(f"Remarks of our own:\n\n{table(remarks)}\n")
    for figure in dict.fromkeys(figure for claim in claims for figure in claim.figures):
        caption = CAPTIONS[Path(figure).stem]
        parts.append(f"![{caption}](figures/{figure})\n\n*{caption}*\n")
    return "\n".join(parts)


def overview(claims: list[Claim]) -> str:
    """Write all claims with their verdicts alone."""
    rows = [f"| {claim.where} | {claim.claim} | {claim.verdict} |".replace("\n", " ") for claim in claims]
    return "\n".join(["| where | claim | verdict |", "|---|---|---|", *rows, ""])


def times(seconds: dict[str, float], *, quick: bool) -> str:
    """Write what each experiment took, and what a plain loop takes."""
    rows = [f"| {name} | {value:.0f} |" for name, value in (seconds | {"in all": sum(seconds.values())}).items()]
    parts = ["# Times", "", "| experiment | seconds |", "|---|---|", *rows]
    if not quick:
        parts += ["", *plain_loops.ratios()]
    return "\n".join(parts) + "\n"


def write(path: Path, text: str) -> None:
    """Write a text whole or not at all."""
    temporary = path.with_suffix(".writing")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    temporary.replace(path)


if __name__ == "__main__":
    sys.exit(main())
