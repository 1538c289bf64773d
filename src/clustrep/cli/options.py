"""Options that several commands share, and the values that they take.

An option has the name of the library's parameter that it sets (`--k` is `n_clusters`): its value is passed on under
that name, and errors that name the parameter are told in terms of the option.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from clustrep.cli.clusterer_names import SHORT_NAMES, numbers_of_range, value_of
from clustrep.cli.config_file import STDIN, read_config
from clustrep.cli.console import QUIET, prints_to_stderr, progress_told
from clustrep.cli.output import NO_FIGURES
from clustrep.data.values import AUTO, REFERENCE, SCALES

Command = TypeVar("Command", bound=Callable[..., Any])
FILE = click.Path(path_type=Path)
FORMATS = ("png", "svg", "pdf")
LARGEST_K = 1000


def several(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Put options together, in the order of the help text."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


# ---------------------------------------------------------------------------------------------------------------------
# values


class WholeNumber(click.IntRange):
    """A whole number that is not too small."""

    name = "whole number"


class Numbers(click.ParamType):  # type: ignore[type-arg]
    """Numbers and ranges of them: `4`, `2:8` (both ends included), `2,3,5`, `0.1:2.0` (ten) or `0.1:2.0:5` (five)."""

    name = "numbers"

    def __init__(self, *, whole: bool):
        self.whole = whole  # numbers of clusters

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """Read numbers and ranges, each number once."""
        if isinstance(value, tuple):
            return value
        numbers: list[float] = []
        for text in _parts(value):
            found = (numbers_of_range(text) or ()) if ":" in text else (value_of(text.strip()),)
            if self.whole and not (found and all(type(k) is int and 2 <= k <= LARGEST_K for k in found)):
                self.fail(
                    f"{text!r}: write numbers of clusters from 2 to {LARGEST_K:,}, as 4, 2:8 or 2,3,5.", param, ctx
                )
            if not found or any(type(number) not in (int, float) for number in found):
                self.fail(f"{text!r}: write values as 0.5, 0.1:2.0, 0.1:2.0:5 or 0.1,0.5,1.", param, ctx)
            numbers += found if self.whole else map(float, found)  # as read back from a configuration
        return tuple(dict.fromkeys(numbers))


class Scaling(click.ParamType):  # type: ignore[type-arg]
    """How features are scaled: one of some words, or `reference=NAME` with the name of a study."""

    name = "scaling"

    def __init__(self, words: Sequence[str]):
        self.words = words

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Take a word or the name of a study, which is looked up once the studies are read."""
        text = str(value)
        if text not in self.words and not (text.startswith(REFERENCE) and text != REFERENCE):
            listed = ", ".join(map(repr, (*self.words, f"{REFERENCE}NAME")))
            self.fail(f"{value!r} is not one of {listed}.", param, ctx)
        return text


class ShardNumber(click.ParamType):  # type: ignore[type-arg]
    """One of several shares of a run: `3/10`."""

    name = "shard"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Read the number of a share, and how many there are."""
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", str(value))
        if not match or not 1 <= int(match[1]) <= int(match[2]):
            self.fail(f"{value!r} is no share of a run: write 3/10 for the third of ten.", param, ctx)
        return int(match[1]), int(match[2])


class Words(click.ParamType):  # type: ignore[type-arg]
    """One or several of some words, separated by commas.

    The accepted words come from a function, because the library's own lists are slow to import. A tuple, such as an
    option's default, is not checked.
    """

    name = "words"

    def __init__(self, accepted: Callable[[], Sequence[str]]):
        self.accepted = accepted

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Read words, each once."""
        if isinstance(value, tuple):
            return value
        words = [text.strip().lower() for text in _parts(value) if text.strip()]
        accepted = self.accepted()
        for word in words:
            if word not in accepted:
                self.fail(f"{word!r} is none of {', '.join(accepted)}.", param, ctx)
        if not words:
            self.fail(f"name at least one of {', '.join(accepted)}.", param, ctx)
        return tuple(dict.fromkeys(words))


class WordsOption(click.Option):
    """An option whose help lists the words that it accepts."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Look the words up only when help is asked for."""
        record = super().get_help_record(ctx)
        if record is None or not isinstance(self.type, Words):
            return record
        return record[0], f"{record[1]} Accepted: {', '.join(self.type.accepted())}."


class FilesOption(click.Option):
    """An option that takes all files up to the next option, and may be repeated."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **{**kwargs, "multiple": True})

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser go on with what follows the first file."""
        super().add_to_parser(parser, ctx)
        for name in self.opts:
            option = parser._long_opt[name]
            option.process = partial(_process_all, option.process)


def _process_all(process: Callable[[Any, Any], None], value: Any, state: Any) -> None:
    """Hand a value to the option, and every word that follows it and is no option itself."""
    process(value, state)
    while state.rargs and not state.rargs[0].startswith("-"):
        process(state.rargs.pop(0), state)


def _parts(value: Any) -> list[str]:
    """Split what the command line gives as a text, and a configuration also as a list."""
    return [str(part) for part in value] if isinstance(value, list) else str(value).split(",")


def accepted_agreements(*, adjusted: bool = False) -> tuple[str, ...]:
    """Return the names of the library's agreements; of those that are adjusted for chance alone where asked for."""
    from clustrep.agreement.agreements import AGREEMENTS

    return tuple(name for name, record in AGREEMENTS.items() if not adjusted or record.adjusted)


def accepted_indices() -> tuple[str, ...]:
    """Return the names of the library's indices within one study."""
    from clustrep.agreement.cluster_indices import INDICES

    return tuple(INDICES)


def choice(flag: str, words: Sequence[str], help_text: str) -> Callable[[Command], Command]:
    """Take one of some words, by default the first."""
    return click.option(flag, type=click.Choice(words), default=words[0], help=help_text)


# ---------------------------------------------------------------------------------------------------------------------
# input


def from_stdin(ctx: click.Context, parameter: click.Parameter, paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """Keep standard input, asked for as -, in a file while the command runs: formats are recognised by a first look."""
    if Path(STDIN) not in paths:
        return paths
    if paths.count(Path(STDIN)) > 1:
        raise click.BadParameter("- is standard input, which is one study: name it once.", ctx, parameter)
    kept = Path(ctx.with_resource(tempfile.TemporaryDirectory(prefix="clustrep-"))) / "stdin"
    with kept.open("wb") as stream:
        shutil.copyfileobj(sys.stdin.buffer, stream)
    ctx.meta[STDIN] = kept
    return tuple(kept if path == Path(STDIN) else path for path in paths)


studies = click.argument("studies", nargs=-1, metavar="STUDY…", type=FILE, callback=from_stdin)


def scaling(*, auto: bool = False) -> Callable[[Command], Command]:
    """Take a way to scale features; where the analysis may decide, that is the default."""
    words = (AUTO, *SCALES) if auto else SCALES
    return click.option(
        "--scale",
        type=Scaling(words),
        metavar=f"[{'|'.join(words)}|{REFERENCE}NAME]",
        default=words[0],
        help="Scale every feature: by the standard deviation within studies, alike in all of them (pooled); each study "
        "by its own mean and standard deviation (study); all by those of one study (reference=NAME).",
    )


_labels = several(
    click.option("--label", "--labels", metavar="COLUMN", help="The column that holds the samples' known class."),
    click.option("--no-label", is_flag=True, help="No column is a known class."),
)

_what_to_read = several(
    _labels,
    click.option("--features", type=FILE, metavar="FILE", help="Keep the features that this file lists, one per line."),
)

_how_to_read = several(
    choice("--normalise", ["none", "log1p"], "Counts: bring all samples of a study to one total, and take log(1 + x)."),
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
    click.option(
        "--study-key",
        "--study-column",
        "--study",
        metavar="COLUMN",
        help="One file with several studies: the column that names the study.",
    ),
    click.option("--rep", metavar="NAME", help="h5ad: X, a layer, or a representation such as X_pca."),
    click.option("--genes", metavar="COLUMN", help="Probes to genes: the column of genes, of R's objects or --map."),
    click.option(
        "--map", "probe_map", type=FILE, metavar="FILE", help="Probes to genes: a table of probes and their genes."
    ),
    click.option(
        "--duplicates",
        type=click.Choice(["mean", "first", "variance"]),
        help="Of several features of one name, take the mean, the first or the most variable one.",
    ),
    choice("--probes", ["variance", "mean"], "Of several probes of a gene, take the most variable one or the mean."),
)

reading = several(_what_to_read, scaling(), _how_to_read)
reading_new = several(_labels, _how_to_read)  # samples whose features and scale are those of a run
reading_to_analyse = several(_what_to_read, scaling(auto=True), _how_to_read)

# ---------------------------------------------------------------------------------------------------------------------
# the computation


def numbers_of_clusters(default: str | None) -> Callable[[Command], Command]:
    """Take numbers of clusters."""
    return click.option(
        "--k", "n_clusters", type=Numbers(whole=True), metavar="2:8", default=default, help="Numbers of clusters."
    )


def count(flag: str, name: str, default: int, help_text: str, *, at_least: int = 1) -> Callable[[Command], Command]:
    """Take a number of resamples, splits or simulations."""
    return click.option(flag, name, type=WholeNumber(at_least), metavar="N", default=default, help=help_text)


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
    "--resolution",
    type=Numbers(whole=False),
    metavar="0.1:2.0",
    help="Resolutions of leiden and louvain; 0.1:2.0 are ten, evenly spaced.",
)

clustering = several(
    clusterer,
    choice("--noise", ["label", "drop", "singletons"], "How to treat samples that a clusterer labels as noise."),
)

n_landmarks = click.option(
    "--landmarks",
    "n_landmarks",
    type=WholeNumber(2),
    metavar="M",
    help="Fit to M weighted landmarks of each larger study: for tens of thousands of samples and more.",
)

embed = click.option(
    "--embed",
    type=click.Choice(["train"]),
    help="Learn scaling, variable features and principal components on each training study alone.",
)

agreement = click.option(
    "--agreement",
    cls=WordsOption,
    type=Words(accepted_agreements),
    metavar="ari,ami",
    default=("ari", "ami"),
    help="How to compare partitions; the first decides.",
)

comparing = several(
    agreement,
    choice(
        "--null",
        ["unimodal", "elliptical", "margins", "components", "gaussian", "copula", "none"],
        "The null model; none skips the comparison with it.",
    ),
    count("--null-collections", "n_null", 199, "Number of simulated null data sets.", at_least=19),
    choice("--embedding", ["pca", "tsne"], "Coordinates of the samples in figures."),
)

units = click.option(
    "--groups",
    metavar="COLUMN",
    help="The column of units to which samples belong, such as donor: whole units are resampled.",
)

gower = several(
    click.option(
        "--gower",
        is_flag=True,
        help="Columns are numbers and categories, clustered by Gower's distance: average and complete linkage unless "
        "--clusterer names others with metric=manhattan.",
    ),
    click.option(
        "--categorical",
        multiple=True,
        metavar="COLUMN",
        help="Numbers in this column are codes of categories; implies --gower. May be repeated.",
    ),
)

impute = click.option(
    "--impute",
    type=click.Choice(["median", "mean", "nearest"]),
    help="Fill in missing values inside every resample; by default they are refused.",
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
    "--config", type=FILE, metavar="FILE", is_eager=True, callback=read_config, help="Take options from a TOML file."
)

seed = click.option(
    "--seed", "rng", type=click.IntRange(0), default=0, help="Random seed: the same seed gives the same result."
)

jobs = click.option(
    "--jobs",
    "n_jobs",
    type=int,
    metavar="N",
    default=-1,
    callback=check_jobs,
    help="Number of parallel processes; -1: as many as cores.",
)

engine = click.option(
    "--engine", metavar="ADDRESS", help="Compute on other machines: dask://host:port, ray or ray://host:port."
)

json_option = click.option("--json", is_flag=True, help="Write the results to stdout as JSON.")


def tell_quiet(ctx: click.Context, _: click.Parameter, value: bool) -> bool:
    """Tell the whole program of --quiet."""
    ctx.meta[QUIET] = value
    return value


quiet = click.option("--quiet", is_flag=True, callback=tell_quiet, help="Print the answer, warnings and errors only.")

device = choice(
    "--device",
    ["cpu", "cuda", "auto", "torch"],
    "Where k-means is computed: a GPU (cuda), one if there is one (auto), or PyTorch without one.",
)

running = several(seed, jobs, engine, configuration, json_option, quiet)

unnamed = click.option("--no-samples", is_flag=True, help="Leave the names of samples out of all results.")

failures = click.option("--allow-failures", is_flag=True, help="Exit with 0 although some resamples failed.")


force = click.option("--force", is_flag=True, help="Replace the results of an earlier run in that folder.")


def results_in(default: str | None) -> Callable[[Command], Command]:
    """Take the folder of the results, and the formats of its figures."""
    return several(
        click.option(
            "--figures",
            type=Words(lambda: (*FORMATS, NO_FIGURES)),
            metavar="png,svg,pdf",
            default="png",
            help="Formats of the figures; none draws none.",
        ),
        click.option("--out", type=FILE, metavar="DIR", default=default, help="The folder for the results."),
        force,
    )


def analysis(*, k: str | None, folder: str, resamples_default: int = 100) -> Callable[[Command], Command]:
    """Take everything that an analysis of several studies needs, apart from the studies."""
    return several(
        numbers_of_clusters(k),
        clustering,
        n_landmarks,
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


class TwoColumns(click.ParamType):  # type: ignore[type-arg]
    """The names of two columns, such as months,died."""

    name = "columns"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Split the names."""
        names = value if isinstance(value, tuple | list) else [name.strip() for name in str(value).split(",")]
        if len(names) != 2 or not all(names):
            self.fail(f"must name two columns, such as months,died; got {value!r}.", param, ctx)
        return names[0], names[1]


annotating = several(
    click.option(
        "--annotations",
        metavar="FILE|COLUMN,…",
        help="What else is known of the samples: a table whose first column names them; or, of an h5ad file, columns "
        "of obs.",
    ),
    click.option(
        "--survival",
        type=TwoColumns(),
        metavar="TIME,EVENT",
        help="The columns of --annotations that hold times and events (1 or 0); needs lifelines.",
    ),
)

shard = click.option(
    "--shard",
    type=ShardNumber(),
    metavar="I/N",
    help="Compute only share I of N, into the folder DIR-I-of-N; `clustrep merge` makes the results of all.",
)

# ---------------------------------------------------------------------------------------------------------------------
# the values of options


def library_arguments(settings: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return the arguments that every function of the library takes, and those named: all by the library's names."""
    return {name: settings[name] for name in (*names, "rng", "n_jobs")}


@contextmanager
def configured(settings: dict[str, Any], progress: Any = "auto") -> Iterator[None]:
    """Run the library: without progress bars with `--quiet`, and with stdout kept for the results."""
    from clustrep import config_context

    with (
        config_context(
            progress=False if settings["quiet"] else progress,
            device=settings.get("device", "cpu"),  # commands for one study or one site lack this option
            engine=settings.get("engine"),
        ),
        prints_to_stderr(),
        progress_told(quiet=settings["quiet"]),
    ):
        yield
