"""`clustrep gaps`: the gaps between clusters alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from clustrep.cli import options
from clustrep.cli.analysis_commands import check_files, check_several_studies
from clustrep.cli.clusterer_names import DEFAULT_CLUSTERERS, clusterer_of
from clustrep.cli.input_files import read_studies
from clustrep.cli.output import RESULT, Results, check_folder, write_config, write_report

if TYPE_CHECKING:
    from clustrep import Report, Studies
    from clustrep.results import Separation


@click.command(short_help="Are there groups with gaps between them?")
@options.studies
@options.reading
@options.numbers_of_clusters("2:8")
@options.clusterer
@options.results_in("clustrep-gaps")
@options.running
@click.pass_context
def gaps(ctx: click.Context, /, **settings: Any) -> None:
    """Find gaps between clusters that are found again in studies that did not define them.

    \b
    Example:
      clustrep gaps mainz.csv transbig.csv vdx.csv --scale zscore --k 2:8
    """
    check_files(settings)
    if len(settings["clusterer"]) > 1:
        raise click.UsageError("gaps takes one --clusterer.")
    check_folder(settings["out"], force=settings["force"])
    settings["clusterer"] = settings["clusterer"] or DEFAULT_CLUSTERERS[:1]
    (name,) = settings["clusterer"]
    clusterer = clusterer_of(name)
    from clustrep import Report, separation

    studies = read_studies(settings)
    check_several_studies(settings, studies)
    with options.configured(settings):
        result = separation(clusterer, studies, **options.library_arguments(settings, "n_clusters"))
    result = replace(result, clusterer=name)
    write_gaps(ctx, settings, result, Report(result, warnings=ctx.obj), studies)


def write_gaps(
    ctx: click.Context, settings: dict[str, Any], result: Separation, report: Report, studies: Studies
) -> None:
    """Write the tables, figure and report of the gaps."""
    formats = options.figure_formats(settings)
    with Results(settings["out"]) as results:
        results.table("gaps.csv", result.to_frame())
        results.table("gaps-by-k.csv", result.summary())
        result.save(results.path(RESULT))
        if formats:
            results.figure("gaps", result.plot, formats)
        results.text("report.html", report.to_html())
        write_config(ctx, settings, results, result.provenance, studies)
    write_report(settings, report)
