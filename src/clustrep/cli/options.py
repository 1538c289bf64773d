"""Options that several commands share.

An option has the name of the library's parameter that it sets (`--k` is `n_clusters`): its value is passed on under
that name, and errors that name the parameter are told in terms of the option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from clustrep.cli.clusterer_names import SHORT_NAMES
from clustrep.cli.config_file import read_config
from clustrep.cli.console import progress_told
from clustrep.cli.option_types import (
    ClusterNumbers,
    ParameterValues,
    Scaling,
    ShardNumber,
    WholeNumber,
    Words,
    WordsOption,
    accepted_agreements,
)
from clustrep.cli.standard_output import prints_to_stderr
from clustrep.studies.scales import AUTO, SCALES

Command = TypeVar("Command", bound=Callable[..., Any])
FILE = click.Path(path_type=Path)
FORMATS = ("png", "svg", "pdf")
NO_FIGURES = "none"


def several(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Put options together, in the order of the help text."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


# ---------------------------------------------------------------------------------------------------------------------
# input

studies = click.argument("studies", nargs=-1, metavar="STUDY…", type=FILE)


def scaling(*, auto: bool = False) -> Callable[[Command], Command]:
    """Take a way to scale features; where the analysis may decide, that is the default."""
    words = (AUTO, *SCALES) if auto else SCALES
    return click.option(
        "--scale",
        type=Scaling(words),
        default=words[0],
        show_default=True,
        help="Scale every feature: by the standard deviation within studies, alike in all of them (pooled); each study "
        "by its own mean and standard deviation (study); all by those of one study (reference=NAME).",
    )


_what_to_read = several(
    click.option("--label", "--labels", metavar="COLUMN", help="The column that holds the samples' known class."),
    click.option("--no-label", is_flag=True, help="No column is a known class."),
    click.option("--features", type=FILE, metavar="FILE", help="Keep the features that this file lists, one per line."),
)

_how_to_read = several(
    click.option(
        "--normalise",
        type=click.Choice(["none", "log1p"]),
        default="none",
        show_default=True,
        help="Counts: bring all samples of a study to one total, and take log(1 + x).",
    ),
    click.option(
        "--target-sum",
        type=click.FloatRange(min=0, min_open=True),
        metavar="TOTAL",
        help="The total for --normalise, such as 1e4; by default the median of each study.",
    ),
    click.option("--transpose", is_flag=True, help="Rows are features and columns samples, in all files."),
    click.option(
        "--transpose-only",
        multiple=True,
        metavar="STUDY",
        help="Rows are features in the file of this study. May be repeated.",
    ),
    click.option("--header/--no-header", default=None, help="Whether the first line names the features."),
    click.option("--study-key", "--study", metavar="COLUMN", help="h5ad: the column of obs that names the study."),
    click.option("--rep", metavar="NAME", help="h5ad: X, a layer, or a representation such as X_pca."),
    click.option("--genes", metavar="COLUMN", help="Probes to genes: the column of genes, of R's objects or --map."),
    click.option(
        "--map", "probe_map", type=FILE, metavar="FILE", help="Probes to genes: a table of probes and their genes."
    ),
    click.option(
        "--probes",
        type=click.Choice(["variance", "mean"]),
        default="variance",
        show_default=True,
        help="Of several probes of a gene, take the most variable one or the mean.",
    ),
)

reading = several(_what_to_read, scaling(), _how_to_read)
reading_to_analyse = several(_what_to_read, scaling(auto=True), _how_to_read)

# ---------------------------------------------------------------------------------------------------------------------
# what is computed


def numbers_of_clusters(default: str | None) -> Callable[[Command], Command]:
    """Take numbers of clusters."""
    return click.option(
        "--k", "n_clusters", type=ClusterNumbers(), default=default, show_default=True, help="Numbers of clusters."
    )


def count(flag: str, name: str, default: int, help_text: str, *, at_least: int = 1) -> Callable[[Command], Command]:
    """Take a number of resamples, splits or simulations."""
    return click.option(
        flag, name, type=WholeNumber(at_least), metavar="N", default=default, show_default=True, help=help_text
    )


def resamples(default: int = 100) -> Callable[[Command], Command]:
    """Take a number of resamples."""
    return count("--resamples", "n_resamples", default, "Number of resamples of every study.")


clusterer = click.option(
    "--clusterer",
    multiple=True,
    metavar="NAME[:P=V,…]",
    help=f"{', '.join(SHORT_NAMES)}, or a class by its dotted name; with parameters, as in "
    "dbscan:eps=0.3,min_samples=5; several values of one of them as in dbscan:eps=0.1:1.0 (ten) or eps=0.1:1.0:5. "
    "May be repeated.",
)

resolution = click.option(
    "--resolution", type=ParameterValues(), help="Resolutions of leiden and louvain; 0.1:2.0 are ten, evenly spaced."
)

clustering = several(
    clusterer,
    click.option(
        "--noise",
        type=click.Choice(["label", "drop", "singletons"]),
        default="label",
        show_default=True,
        help="How to treat samples that a clusterer labels as noise.",
    ),
)

sketch = click.option(
    "--sketch",
    type=WholeNumber(2),
    metavar="M",
    help="Fit to M weighted landmarks of each larger study: for tens of thousands of samples and more.",
)

neighbours = click.option(
    "--neighbours",
    type=click.Choice(["exact", "pynndescent"]),
    default="exact",
    show_default=True,
    help="How nearest neighbours are searched for; by pynndescent in studies of 1,000 samples or more, where the "
    "page says how many of them are right.",
)

embed = click.option(
    "--embed",
    type=click.Choice(["train"]),
    help="Learn scaling, variable features and principal components on each training study alone.",
)

agreement = click.option(
    "--agreement",
    cls=WordsOption,
    type=Words(accepted_agreements, "ari,ami"),
    default=("ari", "ami"),
    show_default=True,
    help="How to compare partitions; the first decides.",
)

comparing = several(
    agreement,
    click.option(
        "--null",
        type=click.Choice(["one-piece", "elliptical", "unimodal", "components", "gaussian", "copula", "none"]),
        default="one-piece",
        show_default=True,
        help="Data without clusters to compare with; none skips the comparison.",
    ),
    count("--null-collections", "n_null", 199, "Number of simulated collections without clusters.", at_least=19),
    click.option(
        "--embedding",
        type=click.Choice(["pca", "tsne"]),
        default="pca",
        show_default=True,
        help="Coordinates of the samples in figures.",
    ),
)

units = click.option(
    "--groups",
    metavar="COLUMN",
    help="The column of units to which samples belong, such as donor: whole units are drawn.",
)

gower = click.option(
    "--gower",
    is_flag=True,
    help="Columns are numbers and categories, clustered by Gower's distance: average and complete linkage unless "
    "--clusterer names others with metric=manhattan.",
)

impute = click.option(
    "--impute",
    type=click.Choice(["median", "mean", "nearest"]),
    help="Fill in missing values inside every draw; by default they are refused.",
)

recursive = click.option(
    "--recursive", is_flag=True, help="Split every separated cluster again, and test again, down a tree."
)

# ---------------------------------------------------------------------------------------------------------------------
# how it runs, and where results go


def check_jobs(_: click.Context, __: click.Parameter, jobs: int) -> int:
    """Refuse to work with no process at all."""
    if jobs == 0:
        raise click.BadParameter("must be a number from 1, or -1 for as many processes as cores; got 0.")
    return jobs


configuration = click.option(
    "--config",
    type=FILE,
    metavar="FILE",
    is_eager=True,
    callback=read_config,
    help="Take options from a TOML file.",
)

seed = click.option(
    "--seed",
    "rng",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Random seed: the same seed gives the same result.",
)

jobs = click.option(
    "--jobs",
    "n_jobs",
    type=int,
    metavar="N",
    default=-1,
    show_default=True,
    callback=check_jobs,
    help="Number of parallel processes; -1: as many as cores.",
)

engine = click.option(
    "--engine",
    metavar="ADDRESS",
    help="Compute on other machines: dask://host:port, ray or ray://host:port.",
)

json_option = click.option("--json", is_flag=True, help="Write the results to stdout as JSON.")

quiet = click.option("--quiet", is_flag=True, help="Print the answer, warnings and errors only.")

device = click.option(
    "--device",
    type=click.Choice(["cpu", "cuda", "auto", "torch"]),
    default="cpu",
    show_default=True,
    help="Where k-means is computed: a graphics card (cuda), one if there is one (auto), or PyTorch without one.",
)

running = several(seed, jobs, engine, configuration, json_option, quiet)

unnamed = click.option("--no-samples", is_flag=True, help="Leave the names of samples out of all results.")

failures = click.option("--allow-failures", is_flag=True, help="Exit with 0 although some replicates failed.")


force = click.option("--force", is_flag=True, help="Replace the results of an earlier run in that folder.")


def results_in(default: str | None) -> Callable[[Command], Command]:
    """Take the folder of the results, and the formats of its figures."""
    return several(
        click.option(
            "--figures",
            type=Words(lambda: (*FORMATS, NO_FIGURES), "png,svg,pdf"),
            default="png",
            show_default=True,
            help="Formats of the figures; none draws none.",
        ),
        click.option(
            "--out",
            type=FILE,
            metavar="DIR",
            default=default,
            show_default=default is not None,
            help="The folder for the results.",
        ),
        force,
    )


def analysis(*, k: str | None, folder: str, resamples_default: int = 100) -> Callable[[Command], Command]:
    """Take everything that an analysis of several studies needs, apart from the studies."""
    return several(
        numbers_of_clusters(k),
        clustering,
        sketch,
        neighbours,
        embed,
        resolution,
        resamples(resamples_default),
        comparing,
        recursive,
        results_in(folder),
        unnamed,
        failures,
        device,
        running,
    )


shard = click.option(
    "--shard",
    type=ShardNumber(),
    help="Compute only share I of N, into the folder DIR-I-of-N; `clustrep merge` makes the results of all.",
)

# ---------------------------------------------------------------------------------------------------------------------
# the values of options


def library_arguments(settings: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the arguments that every function of the library takes, and those named: all by the library's names."""
    return {name: settings[name] for name in (*names, "rng", "n_jobs")}


@contextmanager
def configured(settings: dict[str, Any]) -> Iterator[None]:
    """Run the library: without progress bars where the user wants it quiet, and with stdout kept for the results."""
    from clustrep import config_context
    from clustrep.clustering.sample import transforming
    from clustrep.engine.run import computing_on

    with (
        config_context(
            progress=False if settings["quiet"] else "auto",
            device=settings.get("device", "cpu"),  # commands for one study or one site have no such option
            sketch=settings.get("sketch"),
            neighbours=settings.get("neighbours", "exact"),
        ),
        transforming(impute=settings.get("impute"), embed=settings.get("embed")),
        prints_to_stderr(),
        progress_told(quiet=settings["quiet"]),
        computing_on(settings.get("engine")),
    ):
        yield


def figure_formats(settings: dict[str, Any]) -> list[str]:
    """Return the formats in which figures are wanted; none where they are not."""
    return [name for name in settings["figures"] if name != NO_FIGURES]
