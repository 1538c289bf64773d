"""The commands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import clustrep.cli.options as options
from clustrep import __version__
from clustrep.cli.config_file import digests, resolved, tell_of_changes
from clustrep.cli.console import BAD_DATA, SOME_FAILED, Commands, Failure, put, say
from clustrep.cli.output import RESULT, Results, check_folder
from clustrep.tables.index_records import INDICES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from clustrep import Studies, Study
    from clustrep.results import Analysis

DEFAULT_CLUSTERERS = ("kmeans", "ward")


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Try it: clustrep demo",
)
@click.version_option(__version__, prog_name="clustrep", message="%(prog)s %(version)s")
def clustrep() -> None:
    """Tell which clusters hold up when someone else repeats the study."""


# ---------------------------------------------------------------------------------------------------------------------
# several studies


def _agreements() -> Collection[str]:
    from clustrep.tables.agreement import AGREEMENTS  # imports NumPy and Numba

    return AGREEMENTS


agreements = click.option(
    "--agreement",
    type=options.Words(_agreements, "ari,ami"),
    default="ari,ami",
    show_default=True,
    help="How to compare partitions; the first decides.",
)
embedding = click.option(
    "--embedding",
    type=click.Choice(["pca", "tsne"]),
    default="pca",
    show_default=True,
    help="How samples are placed in pictures.",
)

analysing = options.several(agreements, options.reading, options.null, embedding, options.figures)


@clustrep.command(short_help="Which algorithm and k replicate, which studies agree, which clusters hold.")
@options.studies
@options.numbers_of_clusters("2:8")
@options.clustering
@options.resamples()
@analysing
@options.folder("clustrep-results")
@options.failures
@options.running
@click.pass_context
def run(ctx: click.Context, /, studies: tuple[Path, ...], **chosen: Any) -> None:
    """Say which algorithm and number of clusters replicate, which studies agree and which clusters hold.

    Every STUDY is a table: CSV, TSV (also gzipped), Parquet, h5ad or a GEO series matrix; rows are samples.

    \b
    Example:
      clustrep run mainz.csv transbig.csv vdx.csv --scale zscore --k 2:8 --out breast
    """
    _check_several(studies, chosen["study_key"])
    _whole_analysis(ctx, {"studies": studies, **chosen})


@clustrep.command(short_help="The same on simulated cohorts.")
@options.numbers_of_clusters("2:6")
@options.clustering
@options.resamples(50)
@agreements
@options.null
@embedding
@options.figures
@options.folder("clustrep-demo")
@options.failures
@options.running
@click.pass_context
def demo(ctx: click.Context, /, **chosen: Any) -> None:
    """Run on four simulated cohorts whose truth is known.

    They share four subtypes, A to D; one cohort, gamma, lacks subtype D, and another is measured on another scale. The
    cohorts are left in the folder as CSV files, so that `clustrep run` can be tried on them.
    """
    _whole_analysis(ctx, {**chosen, "scale": "zscore"}, simulated=True)
    if not chosen["quiet"]:
        say("The truth: four subtypes, A to D, of which gamma lacks D.")


@clustrep.command(short_help="Follow the clusters of one algorithm into the other studies.")
@options.studies
@options.numbers_of_clusters(None)
@options.clustering
@click.option("--train", multiple=True, metavar="STUDY", help="Whose clusters to follow; by default all studies'.")
@options.resamples()
@analysing
@options.folder("clustrep-local")
@options.failures
@options.running
@click.pass_context
def local(ctx: click.Context, /, studies: tuple[Path, ...], **chosen: Any) -> None:
    """Follow the clusters of one algorithm, sample by sample, into the other studies.

    \b
    Example:
      clustrep local mainz.csv transbig.csv --clusterer kmeans --k 4 --train mainz
    """
    _check_several(studies, chosen["study_key"])
    if len(chosen["clusterer"]) > 1 or len(chosen["k"] or ()) > 1:
        raise click.UsageError("local follows one --clusterer with one --k; `clustrep run` compares several.")
    chosen["clusterer"] = chosen["clusterer"] or DEFAULT_CLUSTERERS[:1]
    _whole_analysis(ctx, {"studies": studies, **chosen})


def _check_several(studies: tuple[Path, ...], study_key: str | None) -> None:
    if not studies:
        raise click.UsageError("name two or more files, one for each study; or try `clustrep demo`.")
    if len(studies) == 1 and not study_key:
        raise click.UsageError(
            "one study can't be compared with itself: name two or more files, or, for an h5ad file that holds several "
            "studies, the column that tells them with --study-key. For one study there is `clustrep stability`."
        )


def _whole_analysis(ctx: click.Context, chosen: dict[str, Any], *, simulated: bool = False) -> None:
    check_folder(chosen["out"], force=chosen["force"])
    from clustrep.tables.agreement import AGREEMENTS, is_adjusted

    if not is_adjusted(chosen["agreement"][0]):
        able = ", ".join(filter(is_adjusted, AGREEMENTS))
        raise click.UsageError(f"the first --agreement decides, and must be one that is 0 by chance: {able}.")
    from clustrep.cli.clusterers import clusterers_of

    chosen["clusterer"] = chosen["clusterer"] or DEFAULT_CLUSTERERS
    clusterers = clusterers_of(chosen["clusterer"])
    from clustrep import analyse, datasets
    from clustrep.clustering.parameters import n_clusters_parameter

    if chosen["k"] is None and any(n_clusters_parameter(one) for one in clusterers.values()):
        raise click.UsageError(f"say how many clusters {chosen['clusterer'][0]} is to find, with --k.")
    measured = datasets.simulate_cohorts(rng=1) if simulated else None
    studies = _read(chosen) if measured is None else measured.scaled("zscore")
    if len(studies) < 2:
        raise click.UsageError(
            f"{chosen['studies'][0]} holds one study alone by its column {chosen['study_key']!r}: name another column "
            "with --study-key, or more files."
        )
    tell_of_changes(ctx, studies)
    if not chosen["quiet"]:
        say(repr(studies))
    found = analyse(
        clusterers,
        studies,
        n_clusters=chosen["k"],
        agreement=chosen["agreement"],
        n_resamples=chosen["resamples"],
        null=None if chosen["null"] == "none" else chosen["null"],
        n_null=chosen["null_collections"],
        train=chosen.get("train") or None,
        embedding=chosen["embedding"],
        noise=chosen["noise"],
        rng=chosen["seed"],
        **_running(chosen),
    )
    _write_analysis(ctx, chosen, found, studies, measured)
    if found.failures and not chosen["allow_failures"]:
        ctx.exit(SOME_FAILED)


def _write_analysis(
    ctx: click.Context, chosen: dict[str, Any], found: Analysis, studies: Studies, measured: Studies | None
) -> None:
    from clustrep import Report
    from clustrep.cli.drawing import draw_analysis

    found = replace(found, warnings=tuple(ctx.obj))
    report = Report(found)
    with Results(chosen["out"]) as results:
        results.table("choice.csv", found.summary())
        results.table("scores.csv", found.scores())
        results.table("local.csv", found.samples())
        results.table("clusters.csv", found.clusters())
        found.save(results.path(RESULT))
        draw_analysis(results, found, [one for one in chosen["figures"] if one != "none"])
        for name, study in (measured or {}).items():
            frame = study.to_frame()
            frame.insert(0, "subtype", study.labels)
            results.text(f"data/{name}.csv", frame.to_csv(index_label="sample", lineterminator="\n"))
        results.text("report.html", report.to_html())
        _write_config(ctx, chosen, results, found.provenance, studies)
    _tell(chosen, report)


def _tell(chosen: dict[str, Any], report: Any) -> None:
    put(report.to_json() if chosen["json"] else repr(report))
    if chosen["out"] is not None and not chosen["quiet"]:
        say(f"Results are in {chosen['out']}; open {chosen['out'] / 'report.html'} in a browser.")


def _write_config(
    ctx: click.Context, chosen: dict[str, Any], results: Results, made: Mapping[str, Any], studies: Mapping[str, Study]
) -> None:
    kept = {"versions": made["versions"], "data": digests(studies)}
    results.config(resolved(ctx, chosen, kept, results.folder))


def _running(chosen: dict[str, Any]) -> dict[str, Any]:
    from clustrep import set_config

    set_config(progress=False if chosen["quiet"] else "auto")
    return {"n_jobs": chosen["jobs"]}


def _read(chosen: dict[str, Any]) -> Studies:
    from clustrep import Studies
    from clustrep.cli.reading import select_features

    studies = Studies.read(
        *chosen["studies"],
        label=_label(chosen),
        transpose=chosen["transpose_only"] or chosen["transpose"],
        header=chosen["header"],
        study_key=chosen["study_key"],
        rep=chosen["rep"],
    )
    if chosen["features"] is not None:
        studies = select_features(studies, chosen["features"])
    return studies.scaled(chosen["scale"])


def _label(chosen: dict[str, Any]) -> Any:
    """Say which column is a label; what stands on the command line wins over a configuration."""
    if chosen["label"] is None or not chosen["no_label"]:
        return False if chosen["no_label"] else chosen["label"]
    said_here = {
        name: click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE
        for name in ("label", "no_label")
    }
    if all(said_here.values()):
        raise click.UsageError("--label and --no-label exclude each other.")
    return False if said_here["no_label"] else chosen["label"]


# ---------------------------------------------------------------------------------------------------------------------
# one study


@clustrep.command(short_help="The classical indices within one study.")
@options.studies
@options.numbers_of_clusters("2:8")
@options.clustering
@click.option(
    "--index",
    type=options.Words(lambda: INDICES, "jaccard,r,…"),
    help="Which indices; by default all: " + ", ".join(INDICES) + ".",
)
@options.resamples()
@click.option(
    "--splits",
    type=options.Whole(1),
    metavar="N",
    default=10,
    show_default=True,
    help="Splits for prediction strength.",
)
@options.reading
@options.figures
@options.folder("clustrep-stability")
@options.failures
@options.running
@click.pass_context
def stability(ctx: click.Context, /, studies: tuple[Path, ...], **chosen: Any) -> None:
    """Compute the classical indices within one study, over k and for every cluster.

    \b
    Example:
      clustrep stability mainz.csv --clusterer kmeans --k 2:6 --index jaccard,prediction_strength
    """
    if len(studies) != 1:
        raise click.UsageError(f"name one file, got {len(studies)}; for several studies there is `clustrep run`.")
    if len(chosen["clusterer"]) > 1:
        raise click.UsageError("stability takes one --clusterer.")
    check_folder(chosen["out"], force=chosen["force"])
    from clustrep.cli.clusterers import clusterer_of

    chosen = {"studies": studies, **chosen, "clusterer": chosen["clusterer"] or DEFAULT_CLUSTERERS[:1]}
    clusterer = clusterer_of(chosen["clusterer"][0])
    from clustrep import Report, validate

    (study,) = _only_study(_read(chosen))
    result = validate(
        clusterer,
        study,
        n_clusters=chosen["k"],
        indices=chosen["index"],
        n_resamples=chosen["resamples"],
        n_splits=chosen["splits"],
        noise=chosen["noise"],
        rng=chosen["seed"],
        **_running(chosen),
    )
    result = replace(result, clusterer=chosen["clusterer"][0])
    report = Report(result, warnings=ctx.obj)
    with Results(chosen["out"]) as results:
        results.table("indices.csv", result.to_frame())
        result.save(results.path(RESULT))
        formats = [one for one in chosen["figures"] if one != "none"]
        if formats and chosen["index"] != ("test",):
            results.figure("indices", result.plot, formats)
        results.text("report.html", report.to_html())
        _write_config(ctx, chosen, results, result.provenance, {study.name: study})
    _tell(chosen, report)
    if result.failures and not chosen["allow_failures"]:
        ctx.exit(SOME_FAILED)


def _only_study(studies: Studies) -> list[Any]:
    if len(studies) != 1:
        raise click.UsageError(
            f"this command takes one study, but the file holds {len(studies)}: leave --study-key out to take all of it."
        )
    return list(studies.values())


@clustrep.command(short_help="Are there clusters at all?")
@options.studies
@click.option(
    "--simulations", type=options.Whole(19), metavar="N", default=999, show_default=True, help="Simulated data sets."
)
@click.option("--whiten", is_flag=True, help="Make all directions equally wide first.")
@options.reading
@options.figures
@options.folder(None)
@options.running
@click.pass_context
def test(ctx: click.Context, /, studies: tuple[Path, ...], **chosen: Any) -> None:
    """Test each study for clusters: are nearest neighbours nearer than in data without clusters.

    Without --out nothing is written.

    \b
    Example:
      clustrep test mainz.csv transbig.csv
    """
    if not studies:
        raise click.UsageError("name at least one file.")
    if chosen["out"] is not None:
        check_folder(chosen["out"], force=chosen["force"])
    chosen = {"studies": studies, **chosen}
    from clustrep import Report, cluster_test

    studies_read = _read(chosen)
    tests = {
        name: cluster_test(
            study,
            n_resamples=chosen["simulations"],
            whiten=chosen["whiten"],
            rng=chosen["seed"],
            **_running(chosen),
        )
        for name, study in studies_read.items()
    }
    report = Report(tests, warnings=ctx.obj)
    if chosen["out"] is not None:
        import pandas as pd

        frames = [one.to_frame().assign(study=name) for name, one in tests.items()]
        with Results(chosen["out"]) as results:
            results.table("tests.csv", pd.concat(frames)[["study", *frames[0].columns.drop("study")]])
            for i, (name, one) in enumerate(tests.items(), 1):
                one.save(results.path(f"result-{i:04d}.npz"))
                formats = [format_ for format_ in chosen["figures"] if format_ != "none"]
                if formats:
                    results.figure(f"test-{name}", one.plot, formats)
            results.text("report.html", report.to_html())
            _write_config(ctx, chosen, results, next(iter(tests.values())).provenance, studies_read)
    _tell(chosen, report)


# ---------------------------------------------------------------------------------------------------------------------
# files


@clustrep.command(short_help="Make the report of earlier results again.")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--format", "kind", type=click.Choice(["html", "markdown", "json"]), default="html", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Where to; - is stdout.")
@options.configuration
def report(folder: Path, kind: str, out: Path | None, **_: Any) -> None:
    """Make the report of earlier results again, as a page, as Markdown or as JSON.

    The page goes to DIR/report.html, the others to stdout, unless --out says otherwise.

    \b
    Example:
      clustrep report breast --format markdown > breast.md
    """
    if not folder.is_dir():
        what = f"{folder} is a file" if folder.exists() else f"There is no folder {folder}"
        raise Failure(f"{what}: name the folder that a run wrote.", BAD_DATA)
    paths = sorted(folder.glob("result*.npz"))
    if not paths:
        raise Failure(f"{folder} holds no {RESULT}: name the folder that a run wrote.", BAD_DATA)
    from clustrep import Report, load
    from clustrep.files import written_whole

    made = Report(*(load(path) for path in paths))
    text = {"html": made.to_html, "markdown": made.to_markdown, "json": made.to_json}[kind]()
    target = folder / "report.html" if out is None and kind == "html" else out
    if target is None or str(target) == "-":
        put(text)
        return
    with written_whole(target) as stream:
        stream.write(text.encode())
    say(f"Wrote {target}.")


@clustrep.command(short_help="How files are read, and what looks wrong.")
@options.studies
@options.reading
@options.configuration
@click.option("--json", is_flag=True, help="Write what was read to stdout as JSON.")
def inspect(studies: tuple[Path, ...], **chosen: Any) -> None:
    """Say how files are read: samples, features, what they share, what looks wrong. Nothing is computed.

    \b
    Example:
      clustrep inspect mainz.csv transbig.csv
    """
    if not studies:
        raise click.UsageError("name at least one file.")
    from clustrep.cli.reading import inspection, told

    found = inspection(studies, {**chosen, "label": _label(chosen)}, _read)
    if chosen["json"]:
        import json

        put(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        put(told(found))
    if found["problems"]:
        raise Failure("These files can't be used together as they are: see above.", BAD_DATA)
