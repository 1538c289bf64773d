"""All experiments of the paper: RESULTS.md, the figures beside it, and TIMES.md.

Run as `make paper` (full size, half an hour on two cores) or `make paper-quick` (a few minutes).
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path

from paper import plain_loops
from paper.common import DEPENDS, FAILS, HOLDS, NOT_RUN, Claim, quietly, table

EXPERIMENTS = (
    "fig1_benchmark_sets",
    "fig2_dim_mixtures",
    "fig3_fig4_local",
    "fig5_fig6_breast",
    "appendix_a_calibration",
    "appendix_a_no_structure",
    "appendix_a_sample_size",
    "appendix_c_stability",
    "appendix_c_prediction",
    "appendix_c_tests",
)


def main(arguments: list[str] | None = None) -> int:
    """Run all experiments, or those named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*", choices=EXPERIMENTS, default=EXPERIMENTS)
    chosen = parser.parse_args(arguments)
    chosen.out.mkdir(parents=True, exist_ok=True)
    quietly()
    claims: list[Claim] = []
    times = ["| experiment | seconds |", "|---|---|"]
    for name in chosen.only:
        began = time.perf_counter()
        found = importlib.import_module(f"paper.{name}").main(chosen.out / "figures", quick=chosen.quick)
        times.append(f"| {name} | {time.perf_counter() - began:.0f} |")
        print(f"{name}: {', '.join(one.verdict for one in found)} ({time.perf_counter() - began:.0f} s)", flush=True)
        claims += found
    (chosen.out / "RESULTS.md").write_text(results(claims, quick=chosen.quick), encoding="utf-8")
    if not chosen.quick:
        times += ["", *plain_loops.ratios()]
    (chosen.out / "TIMES.md").write_text("\n".join(times) + "\n", encoding="utf-8")
    return 0


def results(claims: list[Claim], *, quick: bool) -> str:
    """Write what holds and what does not."""
    size = "quick sizes; `make paper` runs the full ones" if quick else "full size"
    counts = {verdict: sum(one.verdict == verdict for one in claims) for verdict in (HOLDS, FAILS, DEPENDS, NOT_RUN)}
    lines = [
        "# What holds",
        "",
        f"Written by `make paper` ({size}): {', '.join(f'{n} {verdict}' for verdict, n in counts.items())}. "
        "Numbers come with their Monte Carlo standard error. *As written* is the experiment as the paper's text has "
        "it; *as published* is the variant that the authors' published files come from, where it differs.",
        "",
        table(claims),
        "",
        *(f"![{name}](figures/{name})" for one in claims for name in one.figures),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
