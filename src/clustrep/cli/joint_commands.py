"""`clustrep combine` and `clustrep show`: files of several sites, without their tables."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clustrep.cli import options
from clustrep.cli.console import exit_if_failed, write_data
from clustrep.cli.output import RESULT, Output, Results, claim_folder, write_output

if TYPE_CHECKING:
    from clustrep.results import Combined


@click.command(short_help="Put the scores of all sites together.")
@click.argument("scores", nargs=-1, metavar="SCORES…", type=options.FILE)
@options.results_in("clustrep-combined")
@options.failures
@options.configuration
@options.json_option
@options.quiet
@click.pass_context
def combine(ctx: click.Context, /, **settings: Any) -> None:
    """Put the scores of all sites together: tables, figures and the page, which name no samples.

    For partners who trust each other: scores can reveal patients to a partner who tries (docs/exchange.md). Files are
    not signed: one in another site's name, with scores out of range, is accepted.

    \b
    Example:
      clustrep combine mainz.scores transbig.scores vdx.scores --out together
    """
    if not settings["scores"]:
        raise click.UsageError("name the files of scores, one of every site.")
    claim_folder(ctx, settings)
    from clustrep import Report
    from clustrep import combine as combine_scores

    combined = combine_scores(settings["scores"])
    output = Output(
        Report(combined, warnings=ctx.obj, samples=False),
        save=lambda results: combined.save(results.path(RESULT)),
        tables=lambda results: _write_tables(results, combined),
        figures=lambda results: _draw(results, combined, options.figure_formats(settings)),
        provenance=combined.provenance,
        studies={},
    )
    write_output(ctx, settings, output)
    exit_if_failed(ctx, settings, combined)


def _write_tables(results: Results, combined: Combined) -> None:
    results.table("choice.csv", combined.comparison.summary())
    results.table("scores.csv", combined.comparison.to_frame())
    results.table("clusters.csv", combined.clusters.to_frame())
    if combined.gaps is not None:
        results.table("gaps.csv", combined.gaps.to_frame())
    if combined.tables is not None:
        results.table("tables.csv", combined.tables.to_frame())
    results.text("withheld.txt", "".join(f"{line}\n" for line in combined.withheld))


def _draw(results: Results, combined: Combined, formats: list[str]) -> None:
    if not formats:
        return
    comparison, reference = combined.comparison, combined.reference
    for agreement in comparison.agreements:
        results.figure(
            f"curves-{agreement}", partial(comparison.plot, agreement=agreement, reference=reference), formats
        )
    results.figure("matrices", partial(comparison.plot, kind="matrices"), formats)


@click.command(short_help="What a file of functions or scores holds.")
@click.argument("file", type=options.FILE, metavar="FILE")
@options.configuration
def show(file: Path, **_: Any) -> None:
    """Say what a file holds, for the person who must approve it: how many numbers, from how many samples each.

    What can be computed from these numbers is not shown: they can reveal patients (docs/exchange.md).

    \b
    Example:
      clustrep show mainz.functions
    """
    from clustrep.exchange.reading_sites import read_file

    write_data(repr(read_file(file)))
