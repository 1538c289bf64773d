"""`clustrep stability` and `clustrep test`: within each study."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from clustrep.cli import options
from clustrep.cli.clusterer_names import only_clusterer_of
from clustrep.cli.console import exit_if_failed
from clustrep.cli.input_files import read_studies
from clustrep.cli.options import Words, WordsOption, accepted_indices
from clustrep.cli.output import RESULT, Output, claim_folder, write_output, write_report

if TYPE_CHECKING:
    import pandas as pd

    from clustrep import Studies, Study
    from clustrep.stability.results import ClusterTest

TEST_FOR_CLUSTERS = "test"  # the one index that is not drawn over k


@click.command(short_help="The classical indices within one study.")
@options.studies
@options.reading
@options.numbers_of_clusters("2:8")
@options.clusterer
@click.option(
    "--index",
    "indices",
    cls=WordsOption,
    type=Words(accepted_indices),
    metavar="jaccard,r,…",
    help="Which indices to compute; by default all.",
)
@options.resamples()
@options.count("--splits", "n_splits", 10, "Number of splits for prediction strength.")
@options.results_in("clustrep-stability")
@options.failures
@options.running
@click.pass_context
def stability(ctx: click.Context, /, **settings: Any) -> None:
    """Compute the classical indices within one study, over k and for every cluster.

    \b
    Example:
      clustrep stability mainz.csv --clusterer kmeans --k 2:6 --index jaccard,prediction_strength
    """
    n_files = len(settings["studies"])
    if n_files != 1:
        raise click.UsageError(f"name one file, got {n_files}; for several studies there is `clustrep run`.")
    name, clusterer = only_clusterer_of(ctx, settings)
    claim_folder(ctx, settings)
    from clustrep import Report
    from clustrep.stability import validate

    study = only_study(read_studies(settings))
    arguments = options.library_arguments(settings, "n_clusters", "indices", "n_resamples", "n_splits")
    with options.configured(settings):
        result = replace(validate(clusterer, study, **arguments), clusterer=name)
    output = Output(
        Report(result, warnings=ctx.obj),
        {RESULT: result},
        {"indices.csv": result.to_frame},
        {"indices": result.plot} if settings["indices"] != (TEST_FOR_CLUSTERS,) else {},
        {study.name: study},
    )
    write_output(ctx, settings, output)
    exit_if_failed(ctx, settings, result)


def only_study(studies: Studies) -> Study:
    """Return the study of a file that holds one."""
    if len(studies) != 1:
        raise click.UsageError(
            f"this command takes one study, but the file holds {len(studies)}: leave --study-key out to take all of it."
        )
    return next(iter(studies.values()))


@click.command(short_help="Are there clusters at all?")
@options.studies
@options.reading
@options.count("--simulations", "n_resamples", 999, "Number of simulated data sets.", at_least=19)
@click.option("--whiten", is_flag=True, help="Whiten first: give the data the same variance in every direction.")
@options.results_in(None)
@options.running
@click.pass_context
def test(ctx: click.Context, /, **settings: Any) -> None:
    """Test each study for clusters: are nearest neighbours nearer than in data without clusters.

    Without --out nothing is written.

    \b
    Example:
      clustrep test mainz.csv transbig.csv
    """
    if not settings["studies"]:
        raise click.UsageError("name at least one file.")
    claim_folder(ctx, settings)
    from clustrep import Report
    from clustrep.stability import cluster_test

    studies = read_studies(settings)
    arguments = options.library_arguments(settings, "n_resamples", "whiten")
    with options.configured(settings):
        tests = {name: cluster_test(study, **arguments) for name, study in studies.items()}
    report = Report(tests, warnings=ctx.obj)
    if settings["out"] is None:
        write_report(settings, report)
        return
    saved = {f"result-{number:04d}.npz": result for number, result in enumerate(tests.values(), 1)}
    drawings = {f"test-{name}": result.plot for name, result in tests.items()}
    write_output(ctx, settings, Output(report, saved, {"tests.csv": partial(table_of, tests)}, drawings, studies))


def table_of(tests: dict[str, ClusterTest]) -> pd.DataFrame:
    """Return one row for the test of every study."""
    import pandas as pd

    frames = [result.to_frame().assign(study=name) for name, result in tests.items()]
    return pd.concat(frames)[["study", *frames[0].columns.drop("study")]]
