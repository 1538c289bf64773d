"""`clustrep learn` and `clustrep score`: what one site does where studies may not leave theirs."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clustrep.cli import options
from clustrep.cli.clusterer_names import DEFAULT_CLUSTERERS, clusterers_of, needing_k
from clustrep.cli.console import BAD_DATA, USAGE, Failure, exit_if_failed, write_data, write_message
from clustrep.cli.input_files import read_studies
from clustrep.cli.options import FilesOption, WholeNumber
from clustrep.cli.output import RESULT, Output, claim_folder, write_output
from clustrep.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd

    from clustrep import Study
    from clustrep.federated import Disclosure

SECRET_BITS = 128

study = click.argument("study", metavar="STUDY", type=options.FILE)

name = click.option("--name", metavar="NAME", help="The study's name; by default that of the file.")

rules = options.several(
    click.option(
        "--min-cluster-size",
        type=WholeNumber(1),
        metavar="N",
        default=10,
        show_default=True,
        help="Withhold numbers of clusters of fewer samples. Patients can still follow from several clusters.",
    ),
    click.option(
        "--secret",
        type=options.FILE,
        metavar="FILE",
        help="Keep draws secret by the number in this file, which is made if there is none. Keep it at the site. It "
        "does not hide patients.",
    ),
)

written_to = options.several(
    click.option("--out", type=options.FILE, metavar="FILE", help="The file to write."),
    click.option("--force", is_flag=True, help="Replace that file."),
)


@click.command(short_help="At one site: clustering functions for trusted partners to score.")
@study
@name
@options.reading
@options.numbers_of_clusters("2:6")
@options.clusterer
@click.option(
    "--induced",
    type=click.Choice(["centroid", "lda", "tree"]),
    help="What stands for the clusters of clusterers without means, such as ward, in place of their samples.",
)
@options.resamples()
@click.option("--unit", "units", multiple=True, metavar="FEATURE=UNIT", help="Declare a unit. May be repeated.")
@click.option(
    "--null",
    type=click.Choice(["unimodal", "elliptical", "margins", "components", "gaussian", "copula", "none"]),
    default="none",
    show_default=True,
    help="Also learn from simulated data without clusters.",
)
@options.count("--null-collections", "n_null", 199, "Number of simulated studies without clusters.", at_least=19)
@rules
@click.option(
    "--small",
    type=click.Choice(["omit", "merge"]),
    default="omit",
    show_default=True,
    help="What becomes of functions with smaller clusters.",
)
@click.option(
    "--precision",
    type=click.Choice(["double", "single"]),
    default="double",
    show_default=True,
    help="In how many digits functions are written.",
)
@written_to
@options.seed
@options.jobs
@options.engine
@options.configuration
@options.quiet
def learn(**settings: Any) -> None:
    """Learn clustering functions at one site and write them to a file, for partners who trust each other.

    The file stores no rows of the table, but it can reveal patients to a partner who tries: of files of k-means with
    k = 2 to 6, 162 of 200 gave at least one of 120 patients exactly, with --secret and at least 10 samples in every
    cluster. docs/federated.md lists the attacks that were tried.

    Other sites score the file; the site that gets all scores combines them. `clustrep show` says what is in a file.

    \b
    Example:
      clustrep learn mainz.csv --k 2:6 --clusterer kmeans --resamples 100 --seed 7 --name mainz --out mainz.functions
    """
    settings["clusterer"] = settings["clusterer"] or DEFAULT_CLUSTERERS[:1]
    clusterers = clusterers_of(settings["clusterer"])
    needing_k(clusterers)
    clusterers = induced(clusterers, settings)
    here = read_study(settings)
    target = checked_target(settings, here, ".functions")
    from clustrep.federated import learn as learn_functions

    with options.configured(settings):
        functions = learn_functions(
            clusterers,
            here,
            units=units_of(settings["units"]),
            null=None if settings["null"] == "none" else settings["null"].replace("-", " "),
            disclosure=disclosure_of(settings),
            **options.library_arguments(settings, "n_clusters", "n_resamples", "n_null"),
        )
    functions.save(target)
    tell(settings, functions, target)


@click.command(short_help="At one site: score the functions of trusted partners.")
@study
@name
@options.reading
@click.option("--functions", cls=FilesOption, metavar="FILE…", type=options.FILE, help="Functions of other sites.")
@options.agreement
@click.option("--gaps", is_flag=True, help="Also count samples between clusters of other sites.")
@click.option("--tables", is_flag=True, help="Also write contingency tables, without small counts.")
@click.option("--decimals", type=WholeNumber(1), metavar="N", help="Round scores to this number of decimals.")
@rules
@written_to
@options.jobs
@options.engine
@options.configuration
@options.quiet
def score(**settings: Any) -> None:
    """Score the clustering functions of other sites on this site's study, for partners who trust each other.

    The scores can reveal patients to a partner who tries: a crafted file of functions located 150 of 150 patients
    within 0.02 sd, with --secret and --decimals 1. The file also chooses which columns of the table are read: remove
    those that were not agreed on. docs/federated.md lists the attacks that were tried.

    Name the study before --functions. Clusterers, seed, resampling and scaling are those that the functions were
    learned with.

    \b
    Example:
      clustrep score vdx.csv --name vdx --functions mainz.functions transbig.functions --out vdx.scores
    """
    if not settings["functions"]:
        raise click.UsageError("name the functions of other sites with --functions.")
    here = read_study(settings)
    target = checked_target(settings, here, ".scores")
    from clustrep.federated import score as score_functions

    with options.configured(settings):
        scores = score_functions(
            here,
            settings["functions"],
            agreement=settings["agreement"],
            gaps=settings["gaps"],
            tables=settings["tables"],
            decimals=settings["decimals"],
            disclosure=disclosure_of(settings),
            n_jobs=settings["n_jobs"],
        )
    scores.save(target)
    tell(settings, scores, target)


# ---------------------------------------------------------------------------------------------------------------------
# what both need


def read_study(settings: dict[str, Any]) -> Study:
    """Read the one study of a site, under its name in the federated analysis."""
    studies = read_studies({**settings, "studies": (settings["study"],)})
    if len(studies) > 1:
        raise click.UsageError(
            f"{settings['study']} holds {len(studies)} studies, and a site has one: name the file of one study, or "
            "leave --study-key out."
        )
    (here,) = studies.values()
    return here if settings["name"] is None else here.renamed(settings["name"])


def checked_target(settings: dict[str, Any], here: Study, ending: str) -> Path:
    """Return the file to write, checked before the work begins."""
    from clustrep.cli.output import file_name

    target = settings["out"] or Path(file_name(here.name) + ending)
    if target.is_dir():
        raise Failure(f"{target} is a folder: name a file with --out.", USAGE)
    if target.exists() and not settings["force"]:
        raise Failure(f"{target} exists already: name another file with --out, or replace it with --force.", USAGE)
    if not target.absolute().parent.is_dir():
        raise Failure(
            f"There is no folder {target.absolute().parent} to write {target.name} into: make it first.", BAD_DATA
        )
    return Path(target)


def disclosure_of(settings: dict[str, Any]) -> Disclosure:
    """Return the rules that the options state."""
    from clustrep.federated import Disclosure

    return Disclosure(
        min_cluster_size=settings["min_cluster_size"],
        small=settings.get("small", "omit"),
        precision=settings.get("precision", "double"),
        secret=None if settings["secret"] is None else secret_in(settings["secret"]),
    )


def secret_in(path: Path) -> int:
    """Return the secret number in a file; where there is no file, make one that only its owner can read."""
    if not path.exists():
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as stream:
            stream.write(f"{secrets.randbits(SECRET_BITS) | 1 << (SECRET_BITS - 1):x}\n")
    try:
        return int(path.read_text(encoding="ascii").strip(), 16)
    except ValueError:
        raise Failure(
            f"{path} holds no secret that clustrep wrote: name another file with --secret.", BAD_DATA
        ) from None


def induced(clusterers: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Wrap clusterers without means of their own, where the user says what stands for their clusters."""
    if settings["induced"] is None:
        return clusterers
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.neighbors import NearestCentroid
    from sklearn.tree import DecisionTreeClassifier

    from clustrep import Induced
    from clustrep.federated.extraction import OF_MEANS

    classifier = {
        "centroid": NearestCentroid(),
        "lda": LinearDiscriminantAnalysis(),
        "tree": DecisionTreeClassifier(min_samples_leaf=settings["min_cluster_size"]),
    }[settings["induced"]]
    return {
        name: clusterer if isinstance(clusterer, OF_MEANS) else Induced(clusterer, classifier=classifier)
        for name, clusterer in clusterers.items()
    }


def units_of(texts: tuple[str, ...]) -> dict[str, str]:
    """Read FEATURE=UNIT."""
    units = {}
    for text in texts:
        feature, equals, unit = text.rpartition("=")
        if not equals or not feature or not unit:
            raise ParameterError(f"--unit {text}: write FEATURE=UNIT, such as creatinine=mg/dl.", parameter="units")
        units[feature] = unit
    return units


def tell(settings: dict[str, Any], content: Any, target: Path) -> None:
    """Say what was written, for whoever must approve it."""
    if not settings["quiet"]:
        write_data(repr(content))
        write_message(f"Wrote {target}, {target.stat().st_size / 1e6:,.2f} MB.")


# ---------------------------------------------------------------------------------------------------------------------
# `clustrep combine` and `clustrep show`: files of several sites, without their tables


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

    For partners who trust each other: scores can reveal patients to a partner who tries (docs/federated.md). Files are
    not signed: one in another site's name, with scores out of range, is accepted.

    \b
    Example:
      clustrep combine mainz.scores transbig.scores vdx.scores --out together
    """
    if not settings["scores"]:
        raise click.UsageError("name the files of scores, one of every site.")
    claim_folder(ctx, settings)
    from clustrep import Report
    from clustrep.federated import combine as combine_scores

    combined = combine_scores(settings["scores"])
    comparison = combined.comparison
    tables: dict[str, Callable[[], pd.DataFrame]] = {
        "choice.csv": comparison.summary,
        "scores.csv": comparison.to_frame,
        "clusters.csv": combined.clusters.to_frame,
    }
    if combined.gaps is not None:
        tables["gaps.csv"] = combined.gaps.to_frame
    if combined.tables is not None:
        tables["tables.csv"] = combined.tables.to_frame
    drawings = {
        f"curves-{agreement}": partial(comparison.plot, agreement=agreement, reference=combined.reference)
        for agreement in comparison.agreements
    }
    withheld = "".join(f"{line}\n" for line in combined.withheld)
    output = Output(
        Report(combined, warnings=ctx.obj),
        {RESULT: combined},
        tables,
        drawings,
        studies={},
        others={"withheld.txt": lambda path: path.write_bytes(withheld.encode())},
    )
    write_output(ctx, settings, output)
    exit_if_failed(ctx, settings, combined)


@click.command(short_help="What a file of functions or scores holds.")
@click.argument("file", type=options.FILE, metavar="FILE")
@options.configuration
def show(file: Path, **_: Any) -> None:
    """Say what a file holds, for the person who must approve it: how many numbers, from how many samples each.

    What can be computed from these numbers is not shown: they can reveal patients (docs/federated.md).

    \b
    Example:
      clustrep show mainz.functions
    """
    from clustrep.federated.reading import read_file

    write_data(repr(read_file(file)))
