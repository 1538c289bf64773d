"""`clustrep run`, `clustrep demo` and `clustrep local`: several studies."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from clustrep.cli import options
from clustrep.cli.clusterer_names import (
    BY_GOWER,
    DEFAULT_CLUSTERERS,
    in_pipelines,
    needing_k,
    only_clusterer_of,
    ranged_clusterers_of,
    without_range,
)
from clustrep.cli.config_file import warn_of_changes
from clustrep.cli.console import BAD_DATA, USAGE, Failure, exit_if_failed, progress_told, write_message
from clustrep.cli.input_files import (
    is_gower,
    read_annotations,
    read_studies,
    read_unscaled,
    scaled_by,
    warn_of_embedding,
    warn_of_notes,
    warn_of_scales,
)
from clustrep.cli.output import (
    CHECKPOINT,
    CLAIM,
    CLUSTERS,
    CONFIG,
    RESULT,
    Output,
    check_folder,
    claim_folder,
    figures_of,
    write_config,
    write_output,
)
from clustrep.data.values import AUTO
from clustrep.errors import DataError, MachineWarning, OtherRun, warn
from clustrep.files.folders import STATE, claimed
from clustrep.text import argument

if TYPE_CHECKING:
    import pandas as pd

    from clustrep import Studies, Study
    from clustrep.analysis.headline import Preliminary
    from clustrep.analysis.result import Analysis

T = TypeVar("T")
ANNOTATED = "annotated.h5ad"
MULTIQC = "clustrep_mqc.json"
MANY_NUMBERS = 30  # of clusters: a warning says what they cost


@click.command(short_help="Which clusters there are, in which studies, and how sure that is.")
@options.studies
@options.reading_to_analyse
@options.units
@options.impute
@options.gower
@options.analysis(k="2:8", folder="clustrep-results")
@options.annotating
@options.shard
@click.option(
    "--write-h5ad",
    is_flag=True,
    help=f"Also write the h5ad file with clusters, statuses and scores of all cells, as {ANNOTATED}.",
)
@click.pass_context
def run(ctx: click.Context, /, **settings: Any) -> None:
    """Find the clusters of all studies: how many, which study has which, and whether they are separated.

    Every STUDY is a table: CSV, TSV (also packed), Excel, Parquet, h5ad, R's .rda or .rds, or a GEO series
    matrix; rows are samples. Of one study, random halves are compared.

    \b
    Example:
      clustrep run mainz.csv transbig.csv vdx.csv --k 2:8 --out breast
      clustrep run atlas.h5ad --study-key donor --rep X_pca --clusterer leiden --resolution 0.1:2.0
    """
    check_files(settings)
    if settings["write_h5ad"] and not (settings["study_key"] and _is_only(settings["studies"], "h5ad files")):
        raise click.UsageError("--write-h5ad needs one h5ad file that holds all studies, with --study-key.")
    if settings["write_h5ad"] and settings["no_samples"]:
        raise click.UsageError("--write-h5ad and --no-samples exclude each other.")
    settings["clusterer"] = settings["clusterer"] or (BY_GOWER if is_gower(settings) else DEFAULT_CLUSTERERS)
    if settings["shard"] is None:
        analyse_files(ctx, settings)
    else:
        compute_shard(ctx, settings)


@click.command(short_help="Follow the clusters of one algorithm into the other studies.")
@options.studies
@options.reading
@options.units
@options.impute
@options.gower
@click.option("--train", multiple=True, metavar="STUDY", help="Whose clusters to follow; by default all studies'.")
@options.analysis(k=None, folder="clustrep-local")
@click.pass_context
def local(ctx: click.Context, /, **settings: Any) -> None:
    """Follow the clusters of one algorithm, sample by sample, into the other studies.

    \b
    Example:
      clustrep local mainz.csv transbig.csv --clusterer kmeans --k 4 --train mainz
    """
    check_files(settings, fewest=2)
    if len(settings["clusterer"]) > 1 or len(settings["n_clusters"] or ()) > 1:
        raise click.UsageError("local follows one --clusterer with one --k; `clustrep run` compares several.")
    if len(settings["resolution"] or ()) > 1 or any(without_range(spec)[1] for spec in settings["clusterer"]):
        raise click.UsageError("local follows one value of a parameter; `clustrep run` compares several.")
    settings["clusterer"] = settings["clusterer"] or (BY_GOWER if is_gower(settings) else DEFAULT_CLUSTERERS)[:1]
    analyse_files(ctx, settings, fewest=2)


@click.command(short_help="Run on simulated cohorts.")
@options.analysis(k="2:6", folder="clustrep-demo", resamples_default=50)
@click.pass_context
def demo(ctx: click.Context, /, **settings: Any) -> None:
    """Run on four simulated cohorts whose true subtypes are known.

    They share four subtypes, A to D; one cohort, gamma, lacks subtype D, and another is measured on another scale. The
    cohorts are written into the folder as CSV files, so that `clustrep run` can be tried on them.
    """
    settings["clusterer"] = settings["clusterer"] or DEFAULT_CLUSTERERS
    clusterers = checked_clusterers(ctx, settings)
    from clustrep import datasets

    cohorts = datasets.simulate_cohorts(rng=1)
    analysis = analyse_studies(ctx, {**settings, "scale": AUTO}, clusterers, cohorts)
    write_analysis(ctx, settings, analysis, cohorts, cohorts)
    if not settings["quiet"]:
        write_message("The truth: four subtypes, A to D, of which gamma lacks D.")
    exit_if_failed(ctx, settings, analysis)


# ---------------------------------------------------------------------------------------------------------------------
# before the work


def check_files(settings: dict[str, Any], *, fewest: int = 1) -> None:
    """Refuse fewer studies than a command needs, as far as that is known before files are read."""
    if not settings["studies"]:
        raise click.UsageError("name one file for each study; or try `clustrep demo`.")
    may_hold_several = settings["study_key"] or _is_only(settings["studies"], "files of R", "h5ad files", "Zarr stores")
    if fewest > 1 and len(settings["studies"]) == 1 and not may_hold_several:
        raise click.UsageError(
            "needs at least two studies: name two or more files, or, for a file that holds several studies, the column "
            "that names the study with --study-key. `clustrep run` takes one study."
        )


def _is_only(paths: Sequence[Path], *files: str) -> bool:
    """Whether there is a single file, of one of these formats; what cannot be read is refused later."""
    from clustrep.data.readers import reader_of

    try:
        return len(paths) == 1 and reader_of(paths[0]).files in files
    except DataError:
        return False


def check_several_studies(settings: dict[str, Any], studies: Studies) -> None:
    """Refuse a file that holds a single study."""
    if len(studies) > 1:
        return
    if any(study._undivided for study in studies.values()):
        from clustrep.algorithms.replicability import check_several

        check_several(studies)
    by = f" by its column {settings['study_key']!r}" if settings["study_key"] else ""
    remedy = "name another column with --study-key" if settings["study_key"] else "save several objects"
    raise click.UsageError(f"{settings['studies'][0]} holds only one study{by}: {remedy}, or name more files.")


def checked_clusterers(ctx: click.Context, settings: dict[str, Any]) -> dict[str, Any]:
    """Check whatever can be checked before files are read, and return the clusterers."""
    claim_folder(ctx, settings)
    adjusted = options.accepted_agreements(adjusted=True)
    if settings["agreement"][0] not in adjusted:
        raise click.UsageError(
            f"the first --agreement decides, and must be adjusted for chance: {' or '.join(adjusted)}."
        )
    from clustrep.fitting.parameters import with_n_clusters

    for_all = {"resolution": settings["resolution"]} if settings["resolution"] else {}
    clusterers, settings["param_grid"] = ranged_clusterers_of(settings["clusterer"], for_all)
    need_k = needing_k(clusterers)
    if need_k and len(numbers := settings["n_clusters"] or ()) > MANY_NUMBERS:
        warn(
            f"{argument('n_clusters', f'{min(numbers)}:{max(numbers)}')} has {len(numbers)} numbers of clusters, which "
            f"take up to {sum(numbers) / sum(range(2, 9)):,.0f} times as long as 2:8 does. Try fewer, such as "
            f"{','.join(map(str, numbers[:: len(numbers) // 8]))}.",
            MachineWarning,
        )
    if settings["n_clusters"] is None and need_k:
        raise click.UsageError(f"set the number of clusters that {need_k[0]} is to find with --k.")
    for name in [name for name in need_k if name in settings["param_grid"]]:
        if len(settings["n_clusters"]) > 1:
            raise click.UsageError(
                f"--clusterer {name} has several values of a parameter: set one number of clusters for them, as in "
                "--k 4."
            )
        clusterers[name] = with_n_clusters(clusterers[name], settings["n_clusters"][0])
    return clusterers


# ---------------------------------------------------------------------------------------------------------------------
# the work, and its results


def analyse_files(ctx: click.Context, settings: dict[str, Any], *, fewest: int = 1) -> None:
    """Read studies, analyse them and write the results."""
    clusterers = checked_clusterers(ctx, settings)
    unscaled = studies_to_analyse(settings)
    studies = scaled_by(settings["scale"], unscaled)
    annotations = read_annotations(settings, studies)
    if fewest > 1:
        check_several_studies(settings, studies)
    if settings["embed"] and is_embedded(studies):
        analysis = analyse_both(ctx, settings, clusterers, unscaled)
    else:
        analysis = analyse_studies(ctx, settings, clusterers, unscaled)
    if annotations is not None:
        analysis = analysis.annotated(annotations, survival=settings["survival"])
        analysis = replace(analysis, warnings=tuple(ctx.obj))
    write_analysis(ctx, settings, analysis, studies)
    exit_if_failed(ctx, settings, analysis)


def studies_to_analyse(settings: dict[str, Any]) -> Studies:
    """Read studies, and warn of problems in them."""
    unscaled = read_unscaled(settings)
    warn_of_notes(unscaled, settings["scale"])
    return unscaled


def is_embedded(studies: Studies) -> bool:
    """Whether studies are the coordinates of one embedding of all of them."""
    return any(study.embedding for study in studies.values())


def analyse_both(
    ctx: click.Context, settings: dict[str, Any], clusterers: dict[str, Any], studies: Studies
) -> Analysis:
    """Analyse one embedding of all studies, and compare in embeddings of every training study beside it."""
    from clustrep import compare
    from clustrep.resampling.strategies import resampling_for

    analysis = analyse_studies(ctx, {**settings, "embed": None}, clusterers, studies)
    clusterers = in_pipelines(clusterers, settings.get("impute"), settings["embed"])
    measured = read_studies({**settings, "rep": "X"})
    arguments = options.library_arguments(settings, "n_clusters", "agreement", "n_resamples", "noise", "n_landmarks")
    # The draws of the analysis, also where X has more features than samples.
    arguments["resampling"] = resampling_for(None, tuple(studies.values()), settings.get("groups"))
    with options.configured(settings):
        embedded = compare(clusterers, measured, param_grid=settings["param_grid"] or None, **arguments)
    return replace(analysis, embedded=embedded, warnings=tuple(ctx.obj))


def analyse_studies(
    ctx: click.Context, settings: dict[str, Any], clusterers: dict[str, Any], studies: Studies
) -> Analysis:
    """Analyse studies, which are not scaled, as the options say."""
    from clustrep import analyse

    arguments = announced_arguments(ctx, settings, scaled_by(settings["scale"], studies))
    arguments["scale"] = settings["scale"]
    clusterers = in_pipelines(clusterers, settings.get("impute"), settings["embed"])
    arguments["train"] = settings.get("train") or None
    with options.configured(settings, tell_changes()):
        analysis = continued(settings, partial(analyse, clusterers, studies, **arguments))
    if settings["embedding"] != "pca":
        analysis = analysis.placed(settings["embedding"])
    return replace(analysis, warnings=tuple(ctx.obj))


def announced_arguments(ctx: click.Context, settings: dict[str, Any], studies: Studies) -> dict[str, Any]:
    """Print which studies there are, and return what all computations on them take."""
    from clustrep import RunOptions
    from clustrep.resampling.strategies import resampling_for

    warn_of_changes(ctx, studies)
    if not settings["quiet"]:
        write_message(repr(studies))
    if settings["scale"] != AUTO:  # an analysis chooses the scale of features itself
        warn_of_scales(studies)
    warn_of_embedding(studies)
    arguments = options.library_arguments(settings, "n_clusters", "agreement", "n_resamples", "n_null")
    arguments["param_grid"] = settings["param_grid"] or None
    arguments["scale"] = AUTO if settings["scale"] == AUTO else "none"  # otherwise they are scaled by now
    seldom = {name: settings[name] for name in ("noise", "n_landmarks", "recursive")}
    asked_for_one = settings["scale"] != AUTO and len(settings["n_clusters"] or ()) == 1
    can_be_scaled = not is_gower(settings) and not is_embedded(studies)
    seldom["alternatives"] = ctx.info_name == "run" and can_be_scaled and not asked_for_one
    if settings.get("groups"):
        seldom["resampling"] = resampling_for(None, tuple(studies.values()), settings["groups"])
    if settings["null"] == "none":
        arguments["n_null"] = 0
    else:
        seldom["null"] = settings["null"].replace("-", " ")
    return {**arguments, "options": RunOptions(**seldom)}


def compute_shard(ctx: click.Context, settings: dict[str, Any]) -> None:
    """Compute one share of the resamples, into a folder with a checkpoint and the options of the run."""
    from clustrep.analysis.analyse import compute_share
    from clustrep.execution.checkpoints import Shard

    shard = Shard(*settings["shard"])
    settings["out"] = settings["out"].with_name(f"{settings['out'].name}-{shard.number}-of-{shard.of}")
    clusterers = checked_clusterers(ctx, settings)
    studies = scaled_by(settings["scale"], studies_to_analyse(settings))
    if settings["embed"] and is_embedded(studies):
        raise click.UsageError("--shard computes one comparison: use --embed train with --rep X, or without --shard.")
    arguments = announced_arguments(ctx, settings, studies)
    clusterers = in_pipelines(clusterers, settings.get("impute"), settings["embed"])
    with options.configured(settings):
        provenance = continued(settings, partial(compute_share, shard, clusterers, studies, **arguments))
    with ctx.meta[CLAIM].transaction() as staged:
        write_config(ctx, settings, staged, settings["out"], provenance, studies)
    if not settings["quiet"]:
        write_message(f"Shard {shard.number} of {shard.of} is in {settings['out']}, for `clustrep merge`.")


@click.command(short_help="Make the results of a run from its shards.")
@click.argument("shards", nargs=-1, required=True, metavar="SHARD…", type=options.FILE)
@click.option(
    "--out",
    type=options.FILE,
    metavar="DIR",
    default="clustrep-results",
    help="The folder for the results.",
)
@options.force
@options.failures
@options.jobs
@options.engine
@options.json_option
@options.quiet
@click.pass_context
def merge(ctx: click.Context, /, shards: tuple[Path, ...], **settings: Any) -> None:
    """Make the results of a run from its shards: the same files as those of one run.

    Each shard is the folder of a `clustrep run … --shard 3/10`. Resamples of missing shards, and whatever depends on
    all of them, are computed now.

    \b
    Example:
      clustrep merge breast-*-of-10 --out breast
    """
    from clustrep.execution.checkpoints import merge_into

    for shard in shards:
        if not (shard / CONFIG).is_file():
            raise Failure(f"{shard} holds no shard of a run: name the folders that `--shard` wrote.", BAD_DATA)
    check_folder(settings["out"], force=settings["force"])
    with claimed(settings["out"]), progress_told(quiet=settings["quiet"]):
        kept = settings["out"] / STATE / CHECKPOINT
        kept_by_shards = [shard / STATE / CHECKPOINT for shard in shards]
        try:
            merge_into(kept, kept_by_shards)
        except OtherRun as other:
            if not settings["force"]:
                raise discardable(settings["out"], other) from None
            shutil.rmtree(kept)
            merge_into(kept, kept_by_shards)
    arguments = ["--config", str(shards[0] / CONFIG), "--out", str(settings["out"]), "--jobs", str(settings["n_jobs"])]
    arguments += ["--engine", settings["engine"]] if settings["engine"] else []
    arguments += [f"--{name.replace('_', '-')}" for name in FLAGS if settings[name]]
    with run.make_context("run", arguments, parent=ctx) as of_run:
        run.invoke(of_run)


FLAGS = ("force", "allow_failures", "json", "quiet")


def continued(settings: dict[str, Any], function: Callable[..., T]) -> T:
    """Call a function of the library that keeps what it has finished in the folder of the results.

    What another run has finished there is discarded where the user forces it.
    """
    from clustrep import config_context
    from clustrep.execution.checkpoints import holds_replicates

    if settings["out"] is None:
        return function()
    folder = settings["out"] / STATE / CHECKPOINT
    try:
        try:
            with config_context(checkpoint=folder):
                return function()
        except OtherRun as other:
            if not settings["force"]:
                raise discardable(settings["out"], other) from None
            if not settings["quiet"]:
                write_message(f"--force discards the checkpoint in {settings['out']}: {other.differences}.")
        shutil.rmtree(folder)
        with config_context(checkpoint=folder):
            return function()
    except KeyboardInterrupt:
        if holds_replicates(folder) and not settings["quiet"]:
            write_message(f"The same command resumes from the checkpoint in {settings['out']}.")
        raise


def discardable(folder: Path, other: OtherRun) -> Failure:
    """Say what to do about the checkpoint of another run in the folder of the results."""
    return Failure(
        f"{folder} holds the checkpoint of another run: {other.differences}. Ask the same again, or name another "
        "folder with --out; --force discards it.",
        USAGE,
    )


def tell_changes() -> Callable[[Preliminary], None]:
    """Return a function that writes a preliminary answer to stderr, unless it is the same as the one before."""
    answers: list[str] = []

    def tell(preliminary: Preliminary) -> None:
        if preliminary.answer not in answers[-1:]:
            answers.append(preliminary.answer)
            write_message(str(preliminary))

    return tell


def without_names(analysis: Analysis) -> Analysis:
    """Number the samples of every study instead of naming them."""
    import numpy as np

    numbers = np.concatenate([np.arange(1, size + 1) for size in analysis.findings.sizes]).astype(str)
    local = [
        replace(result, samples=tuple(str(i + 1) for i in range(len(result.samples)))) for result in analysis.local
    ]
    return replace(analysis, local=tuple(local), findings=replace(analysis.findings, samples=numbers))


def write_analysis(
    ctx: click.Context, settings: dict[str, Any], analysis: Analysis, studies: Studies, cohorts: Studies | None = None
) -> None:
    """Write the tables, figures and report of an analysis, and the cohorts that were simulated for it."""
    from clustrep import Report

    if settings["no_samples"]:
        analysis = without_names(analysis)
    tables = tables_of(analysis)
    for name, cohort in (cohorts or {}).items():
        tables[f"data/{name}.csv"] = partial(cohort_table, cohort)
    others: dict[str, Callable[[Path], Any]] = {MULTIQC: partial(write_for_multiqc, analysis)}
    if analysis.findings.reference is not None:
        others[CLUSTERS] = analysis.findings.reference.save
    if settings.get("write_h5ad"):
        others[ANNOTATED] = partial(write_cells, settings["studies"][0], analysis, settings["study_key"])
    report = Report(analysis)
    output = Output(report, {RESULT: analysis}, tables, figures_of(analysis), studies, others)
    write_output(ctx, settings, output)


def tables_of(analysis: Analysis) -> dict[str, Callable[[], pd.DataFrame]]:
    """Return the tables of an analysis by the names of their files."""
    findings = analysis.findings
    tables: dict[str, Callable[[], pd.DataFrame]] = {
        "findings.csv": findings.table,
        "clusters.csv": findings.clusters,
        "studies.csv": findings.studies,
        "features.csv": findings.features,
        "labels.csv": analysis.labels,
        "choice.csv": analysis.summary,
        "scores.csv": analysis.scores,
    }
    if analysis.local:
        tables["samples.csv"] = analysis.samples
    if analysis.annotations is not None:
        tables["annotations.csv"] = analysis.annotations.summary
        tables["annotations-by-study.csv"] = analysis.annotations.to_frame
        tables["annotations-by-cluster.csv"] = analysis.annotations.clusters
    if analysis.tree is not None:
        tables["subclusters.csv"] = analysis.tree.to_frame
    return tables


def cohort_table(cohort: Study) -> pd.DataFrame:
    """Return a simulated cohort with its true subtypes."""
    frame = cohort.to_frame()
    frame.insert(0, "subtype", cohort.labels)
    return frame.reset_index(names="sample")


def write_for_multiqc(analysis: Analysis, target: Path) -> None:
    """Write the answer and the status of every cluster in every study as custom content of MultiQC, which is HTML."""
    import html
    import json

    rows = analysis.findings.statuses().T.to_dict("index")
    content = {
        "id": "clustrep",
        "section_name": "clustrep",
        "description": html.escape(" ".join(said.text for said in analysis.headline[:2])),
        "plot_type": "table",
        "pconfig": {"id": "clustrep_clusters", "title": "clustrep: clusters in every study", "col1_header": "Study"},
        "data": {html.escape(str(study)): statuses for study, statuses in rows.items()},
    }
    target.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def write_cells(source: Path, analysis: Analysis, study_key: str, target: Path) -> None:
    """Write a copy of an h5ad file with what the analysis found of its cells."""
    import anndata

    analysis.to_anndata(anndata.read_h5ad(source), study_key).write_h5ad(target)


# ---------------------------------------------------------------------------------------------------------------------
# `clustrep valleys`: the density valleys between clusters of one clusterer alone


@click.command(short_help="Density valleys between the clusters of one clusterer.")
@options.studies
@options.reading
@options.numbers_of_clusters("2:8")
@options.clusterer
@options.results_in("clustrep-valleys")
@options.device
@options.running
@click.pass_context
def valleys(ctx: click.Context, /, **settings: Any) -> None:
    """Find density valleys between clusters that repeat in studies that were not used to find them.

    \b
    Example:
      clustrep valleys mainz.csv transbig.csv vdx.csv --scale study --k 2:8
    """
    check_files(settings, fewest=2)
    name, clusterer = only_clusterer_of(ctx, settings)
    claim_folder(ctx, settings)
    needing_k({name: clusterer})
    from clustrep import Report
    from clustrep.separation import density_valleys

    studies = read_studies(settings)
    check_several_studies(settings, studies)
    warn_of_scales(studies)
    with options.configured(settings):
        result = density_valleys(clusterer, studies, **options.library_arguments(settings, "n_clusters"))
    result = replace(result, clusterer=name)
    output = Output(
        Report(result, warnings=ctx.obj),
        {RESULT: result},
        {"valleys.csv": result.to_frame, "valleys-by-k.csv": result.summary},
        {"valleys": result.plot},
        studies,
    )
    write_output(ctx, settings, output)
