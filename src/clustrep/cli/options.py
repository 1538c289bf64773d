"""Options that several commands share, and the values that they take."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

import click

from clustrep.cli.config_file import read_config

Command = TypeVar("Command", bound=Callable[..., Any])
FORMATS = ("png", "svg", "pdf")
LARGEST_K = 1000


class Numbers(click.ParamType):  # type: ignore[type-arg]
    """Numbers of clusters: `4`, `2:8` (both ends included) or `2,3,5`."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Read them."""
        if isinstance(value, tuple):
            return value
        texts = [str(one) for one in value] if isinstance(value, list) else str(value).split(",")
        found: list[int] = []
        for text in texts:
            try:
                ends = [int(end) for end in text.split(":")]
            except ValueError:
                ends = []
            if len(ends) not in (1, 2) or ends[0] > ends[-1]:
                self.fail(f"{text!r} is no number of clusters: write 4, 2:8 or 2,3,5.", param, ctx)
            if ends[0] < 2 or ends[-1] > LARGEST_K:
                self.fail(f"{text!r}: the number of clusters lies between 2 and {LARGEST_K:,}.", param, ctx)
            found += range(ends[0], ends[-1] + 1)
        return tuple(dict.fromkeys(found))

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Show how they are written."""
        return "2:8"


class Words(click.ParamType):  # type: ignore[type-arg]
    """One or several of some words, separated by commas."""

    name = "words"

    def __init__(self, choices: Callable[[], Collection[str]], metavar: str):
        self.choices = choices  # called when a command is run: what knows them may be slow to import
        self.metavar = metavar

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Read them."""
        if isinstance(value, tuple):
            return value
        texts = [str(one) for one in value] if isinstance(value, list) else str(value).split(",")
        words = [text.strip().lower() for text in texts if text.strip()]
        choices = self.choices()
        for word in words:
            if word not in choices:
                self.fail(f"{word!r} is none of {', '.join(choices)}.", param, ctx)
        if not words:
            self.fail(f"name at least one of {', '.join(choices)}.", param, ctx)
        return tuple(dict.fromkeys(words))

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Show how they are written."""
        return self.metavar


def several(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Put options together, in the order of the help text."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


class Whole(click.IntRange):
    """A whole number, from some border on."""

    name = "whole number"


def check_jobs(_: click.Context, __: click.Parameter, jobs: int) -> int:
    """Refuse no processes at all."""
    if jobs == 0:
        raise click.BadParameter("0 processes do nothing: name a number from 1, or -1 for as many as cores.")
    return jobs


FILE = click.Path(path_type=Path)

reading = several(
    click.option("--label", metavar="COLUMN", help="The column that holds the samples' known class."),
    click.option("--no-label", is_flag=True, help="No column is a known class."),
    click.option("--features", type=FILE, metavar="FILE", help="Keep the features that this file lists, one a line."),
    click.option(
        "--scale",
        type=click.Choice(["none", "zscore", "robust"]),
        default="none",
        show_default=True,
        help="Scale every feature within each study.",
    ),
    click.option("--transpose", is_flag=True, help="Rows are features, columns samples, in all files."),
    click.option("--transpose-only", multiple=True, metavar="STUDY", help="The same, in the file of this study."),
    click.option("--header/--no-header", default=None, help="Whether the first line names the features."),
    click.option("--study-key", metavar="COLUMN", help="h5ad: the column of obs that tells the study."),
    click.option("--rep", metavar="NAME", help="h5ad: X, a layer, or a representation such as X_pca."),
)

clustering = several(
    click.option(
        "--clusterer",
        multiple=True,
        metavar="NAME[:P=V,…]",
        help="kmeans, minibatch, birch, ward, complete, average, single, gmm, dbscan, hdbscan, spectral, affinity, "
        "or a class by its dotted name; with parameters, as in dbscan:eps=0.3,min_samples=5. May be repeated.",
    ),
    click.option(
        "--noise",
        type=click.Choice(["label", "drop", "singletons"]),
        default="label",
        show_default=True,
        help="What becomes of samples that a clusterer calls noise.",
    ),
)


def resamples(default: int = 100) -> Callable[[Command], Command]:
    """Ask for a number of resamples."""
    return click.option(
        "--resamples",
        type=Whole(1),
        metavar="N",
        default=default,
        show_default=True,
        help="Number of bootstrap resamples.",
    )


def numbers_of_clusters(default: str | None) -> Callable[[Command], Command]:
    """Ask for numbers of clusters."""
    return click.option("--k", type=Numbers(), default=default, show_default=True, help="Numbers of clusters.")


null = several(
    click.option(
        "--null",
        type=click.Choice(["gaussian", "copula", "none"]),
        default="gaussian",
        show_default=True,
        help="Data without clusters to compare with; none leaves the question open.",
    ),
    click.option(
        "--null-collections",
        type=Whole(19),
        metavar="N",
        default=199,
        show_default=True,
        help="How many collections of these to simulate.",
    ),
)

configuration = click.option(
    "--config",
    type=FILE,
    metavar="FILE",
    is_eager=True,
    callback=read_config,
    help="Take options from a TOML file.",
)

running = several(
    click.option(
        "--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed, the same result."
    ),
    click.option(
        "--jobs",
        type=int,
        metavar="N",
        default=-1,
        show_default=True,
        callback=check_jobs,
        help="Processes at once; -1: as many as cores.",
    ),
    configuration,
    click.option("--json", is_flag=True, help="Write what was found to stdout as JSON."),
    click.option("--quiet", is_flag=True, help="No progress, no messages but warnings and errors."),
)

figures = click.option(
    "--figures",
    type=Words(lambda: (*FORMATS, "none"), "png,svg,pdf"),
    default="png",
    show_default=True,
    help="Formats of the figures; none draws none.",
)

failures = click.option("--allow-failures", is_flag=True, help="Exit with 0 although some replicates failed.")


def folder(default: str | None) -> Callable[[Command], Command]:
    """Ask where results go."""
    return several(
        click.option(
            "--out",
            type=FILE,
            metavar="DIR",
            default=default,
            show_default=default is not None,
            help="The folder for the results.",
        ),
        click.option("--force", is_flag=True, help="Replace the results of an earlier run in that folder."),
    )


def studies(command: Command) -> Command:
    """Take files."""
    return click.argument("studies", nargs=-1, metavar="STUDY…", type=FILE)(command)
