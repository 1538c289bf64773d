"""`clustrep gaps`: the density valleys between clusters of one clusterer alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from clustrep.cli import options
from clustrep.cli.analysis_commands import check_files, check_several_studies
from clustrep.cli.clusterer_names import DEFAULT_CLUSTERERS, clusterer_of, needing_k
from clustrep.cli.input_files import read_studies, warn_of_scales
from clustrep.cli.output import RESULT, Output, Results, claim_folder, write_output

if TYPE_CHECKING:
    from clustrep import Report, Studies
    from clustrep.results import Separation


@click.command(short_help="Density valleys between the clusters of one clusterer.")
@options.studies
@options.reading
@options.numbers_of_clusters("2:8")
@options.clusterer
@options.results_in("clustrep-gaps")
@options.device
@options.running
@click.pass_context
def gaps(ctx: click.Context, /, **settings: Any) -> None:
    """Find density valleys between clusters that repeat in studies that were not used to find them.

    \b
    Example:
      clustrep gaps mainz.csv transbig.csv vdx.csv --scale study --k 2:8
    """
    check_files(settings, fewest=2)
    if len(settings["clusterer"]) > 1:
        raise click.UsageError("gaps takes one --clusterer.")
    claim_folder(ctx, settings)
    settings["clusterer"] = settings["clusterer"] or DEFAULT_CLUSTERERS[:1]
    (name,) = settings["clusterer"]
    clusterer = clusterer_of(name)
    needing_k({name: clusterer})
    from clustrep import Report, separation

    studies = read_studies(settings)
    check_several_studies(settings, studies)
    warn_of_scales(studies)
    with options.configured(settings):
        result = separation(clusterer, studies, **options.library_arguments(settings, "n_clusters"))
    result = replace(result, clusterer=name)
    write_gaps(ctx, settings, result, Report(result, warnings=ctx.obj), studies)


def write_gaps(
    ctx: click.Context, settings: dict[str, Any], result: Separation, report: Report, studies: Studies
) -> None:
    """Write the tables, figure and report of the density valleys."""
    formats = options.figure_formats(settings)

    def write_tables(results: Results) -> None:
        results.table("gaps.csv", result.to_frame())
        results.table("gaps-by-k.csv", result.summary())

    output = Output(
        report,
        save=lambda results: result.save(results.path(RESULT)),
        tables=write_tables,
        figures=lambda results: results.figure("gaps", result.plot, formats) if formats else None,
        provenance=result.provenance,
        studies=studies,
    )
    write_output(ctx, settings, output)
