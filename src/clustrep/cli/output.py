"""A folder of results: written whole or not at all; nothing that was computed and no file of the user's is lost.

The folder is claimed before the work: no other run can use it, and it is tried whether files can be written. After the
work, results, tables and the page appear in it in one step, then the figures in another. Where the first can't be
written, they go to another place, which is named.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clustrep.cli.config_file import RUN_RECORD, config_values, digests
from clustrep.cli.console import BAD_DATA, USAGE, Failure, write_data, write_message
from clustrep.errors import DataError, ReplicateWarning, warn
from clustrep.files.archives import has_sums
from clustrep.files.folders import ClaimedFolder, claimed, is_free, is_unfinished

if TYPE_CHECKING:
    import pandas as pd

    from clustrep import Report, Study
    from clustrep.algorithms.local_scores import LocalReplicability
    from clustrep.analysis.result import Analysis

CONFIG = "config.toml"
RESULT = "result.npz"
CLUSTERS = "clusters.npz"  # what new samples are compared with, for `clustrep assign`
CHECKPOINT = "checkpoint"  # in the folder's state: what a run has finished, also after its end, for a longer one
PAGE = "report.html"
NO_FIGURES = "none"
ROOM = 4 * 2**20  # bytes that the smallest results take: the page may take two million
LONGEST_NAME = 120  # bytes of the name of a figure's file; most file systems allow 255, some 143
CLAIM = "clustrep.folder"  # of a command's context


# ---------------------------------------------------------------------------------------------------------------------
# before the work


def claim_folder(ctx: click.Context, settings: Mapping[str, Any]) -> None:
    """Keep other runs out of the folder of the results until the command ends, and try to write into it."""
    folder = settings["out"]
    if folder is None:
        return
    if not is_unfinished(folder):
        check_folder(folder, force=settings["force"])  # before anything is made
    try:
        ctx.meta[CLAIM] = claim = ctx.with_resource(claimed(folder))
        check_folder(folder, force=settings["force"])  # another run may have ended since
        claim.try_room(ROOM)
    except OSError as error:
        raise Failure(
            f"{folder} can't be written to ({reason_of(error)}): name another folder with --out.", BAD_DATA
        ) from None


def check_folder(folder: Path, *, force: bool) -> None:
    """Check that results may be written to a folder."""
    existing = next(parent for parent in [folder, *folder.absolute().parents] if parent.exists())
    if not existing.is_dir():
        raise Failure(f"{existing} is a file: name a folder with --out.", USAGE)
    if existing == folder and not is_free(folder):
        if not force:
            raise Failure(
                f"{folder} exists already: name another folder with --out, or replace it with --force.", USAGE
            )
        if not has_sums(folder):
            raise Failure(
                f"{folder} holds no results of clustrep, so --force does not replace its files: name another "
                "folder with --out.",
                USAGE,
            )


# ---------------------------------------------------------------------------------------------------------------------
# files


@dataclass(frozen=True)
class Output:
    """What a command has computed: the report, and the content of each file of the folder.

    Results come first: all else can be made from them again. Tables, figures and other files are made when they are
    written, so that a mistake in one of them does not lose the results. Files are written into the folder `staged`, and
    are to appear in another.
    """

    report: Report
    results: Mapping[str, Any]  # with a method `save`
    tables: Mapping[str, Callable[[], pd.DataFrame]]
    figures: Mapping[str, Callable[[], Any]]
    studies: Mapping[str, Study]
    others: Mapping[str, Callable[[Path], Any]] = field(default_factory=dict)

    def save(self, staged: Path, folder: Path) -> None:
        """Write the results."""
        for name, result in self.results.items():
            result.save(staged / name)

    def write(self, ctx: click.Context, settings: dict[str, Any], staged: Path, folder: Path) -> None:
        """Write everything but the figures."""
        from clustrep.files.saved import csv_text

        self.save(staged, folder)
        for name, table in self.tables.items():
            path = staged / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(csv_text(table(), index=False).encode())
        for name, write in self.others.items():
            write(staged / name)
        (staged / PAGE).write_bytes(self.report.to_html().encode())
        write_config(ctx, settings, staged, folder, next(iter(self.results.values())).provenance, self.studies)

    def draw(self, settings: dict[str, Any], staged: Path) -> None:
        """Draw the figures in the formats that are wanted, under names that are valid in any file system."""
        from clustrep.report.figures import write_figure

        formats = [name for name in settings["figures"] if name != NO_FIGURES]
        figure_of: dict[str, str] = {}  # by the name of its file
        for name, draw in self.figures.items() if formats else ():
            plain, number = file_name(name), 1
            while figure_of.setdefault(plain.lower(), name) != name:
                number += 1
                plain = f"{file_name(name)}-{number}"
            for extension in formats:
                target = staged / "figures" / f"{plain}.{extension}"
                target.parent.mkdir(exist_ok=True)
                with open(target, "wb") as stream:
                    is_drawn = write_figure(name, draw, stream, extension)
                if not is_drawn:
                    target.unlink()  # perhaps half of it
                    break


def write_config(
    ctx: click.Context,
    settings: dict[str, Any],
    staged: Path,
    folder: Path,
    provenance: Mapping[str, Any],
    studies: Mapping[str, Study],
) -> None:
    """Write the options of a run, and facts that show whether it can be repeated."""
    import tomli_w

    record = {"versions": provenance["versions"], "data": digests(studies)}
    values = config_values(ctx, settings, record, folder)
    (staged / CONFIG).write_bytes(tomli_w.dumps({**values, RUN_RECORD: record}).encode())


def file_name(name: str) -> str:
    """Make a name that is valid in any file system; a long one is cut, with a digest of all of it at its end."""
    plain = re.sub(r"[^\w.-]+", "_", name).strip("._") or "study"
    if len(plain.encode()) <= LONGEST_NAME:
        return plain
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:12]
    return f"{plain.encode()[: LONGEST_NAME - 13].decode(errors='ignore')}-{digest}"


# ---------------------------------------------------------------------------------------------------------------------
# after the work


def write_output(ctx: click.Context, settings: dict[str, Any], output: Output) -> None:
    """Write everything that was computed, and the report to the terminal."""
    folder: ClaimedFolder = ctx.meta[CLAIM]
    try:
        with folder.transaction() as staged:
            output.write(ctx, settings, staged, settings["out"])
    except (OSError, DataError) as error:
        rescued = rescue(settings["out"], partial(output.write, ctx, settings)) or rescue(settings["out"], output.save)
        write_verdict(settings, output.report)
        problem = f"Results can't be written to {settings['out']} ({reason_of(error)})"
        raise Failure(f"{problem}; {said_of(rescued)}", BAD_DATA) from None
    except BaseException:  # interrupted, or a mistake in the page or a table
        write_message(f"Results are not in {settings['out']}; {said_of(rescue(settings['out'], output.save))}")
        raise
    write_figures(folder, settings, output)
    write_report(settings, output.report)


def write_figures(folder: ClaimedFolder, settings: dict[str, Any], output: Output) -> None:
    """Add the figures to the results that are in the folder already."""
    try:
        with folder.transaction(keep=True) as staged:
            output.draw(settings, staged)
    except (OSError, DataError) as error:
        warn(f"The figures can't be written to {settings['out']} ({reason_of(error)}).", ReplicateWarning)
    except KeyboardInterrupt:
        write_message(f"Results are in {settings['out']}, without figures.")
        raise


def write_report(settings: dict[str, Any], report: Report) -> None:
    """Write the report to the terminal, and say where the page is."""
    write_verdict(settings, report)
    if settings["out"] is not None and not settings["quiet"]:
        write_message(f"Results are in {settings['out']}; open {settings['out'] / PAGE} in a browser.")


def write_verdict(settings: dict[str, Any], report: Report) -> None:
    """Write the report to the terminal."""
    write_data(report.to_json() if settings["json"] else repr(report))


# ---------------------------------------------------------------------------------------------------------------------
# where results can't be written


def rescue(folder: Path, write: Callable[[Path, Path], Any]) -> Path | None:
    """Write results to another place than their folder; return where they are."""
    places = [folder.absolute().parent, Path(), Path("~").expanduser(), Path(tempfile.gettempdir())]
    for place in dict.fromkeys(place.resolve() for place in places if place.is_dir()):
        with contextlib.suppress(Exception):  # there may be no room either
            rescued = Path(tempfile.mkdtemp(prefix=f"{file_name(folder.absolute().name)}-rescued-", dir=place))
            try:
                mask = os.umask(0)
                os.umask(mask)
                os.chmod(rescued, 0o777 & ~mask)  # a temporary folder is private
                with claimed(rescued) as claim, claim.transaction() as staged:
                    write(staged, rescued)
            except BaseException:
                shutil.rmtree(rescued, ignore_errors=True)
                raise
            return rescued
    return None


def reason_of(error: OSError | DataError) -> str:
    """Say in a few words why something can't be written."""
    return str(getattr(error, "strerror", None) or error).rstrip(".")


def said_of(rescued: Path | None) -> str:
    """Say where results are that could not be written to their folder."""
    if rescued is None:
        return "they can't be written anywhere else either."
    return f"they are in {rescued}, for `clustrep report`."


# ---------------------------------------------------------------------------------------------------------------------
# The figures of an analysis


PANEL_HEIGHT = 3.3  # inches
MOST_STACKED = 3  # panels above each other, 8 to 9 cm wide; more have two columns


def figures_of(analysis: Analysis) -> dict[str, Callable[[], Any]]:
    """Return the figures of the page, the study × study matrix, and the local scores of every training study."""
    from clustrep.report import figures

    drawings: dict[str, Callable[[], Any]] = {figure.name: figure.draw for figure in figures.figures_of(analysis)}
    if analysis.replicability is not None:
        drawings["matrix"] = analysis.replicability.plot
    for train in dict.fromkeys(local.train for local in analysis.local):
        in_other_studies = [local for local in analysis.local if local.train == train]
        drawings[f"local-{train}"] = partial(_maps, in_other_studies, analysis)
    return drawings


def _maps(results: Sequence[LocalReplicability], analysis: Analysis) -> Any:
    """Draw a map of local scores for every test study, all with the same coordinates."""
    from clustrep.plots.canvas import DOUBLE, SINGLE, literal, panels

    n_columns = 1 if len(results) <= MOST_STACKED else 2
    n_rows, width = -(-len(results) // n_columns), SINGLE if n_columns == 1 else DOUBLE
    with panels(n_rows, n_columns, width, 0.3 + PANEL_HEIGHT * n_rows) as (figure, axes):
        for ax, result in zip(axes.flat, results, strict=False):
            result.plot(ax, kind="map", points=analysis.coordinates_of(result.train))
            ax.title.set_text(f"in {literal(result.test)}")  # where the title stands, over the legend
            ax.set_xlabel(literal(analysis.coordinate_names[0]))
            ax.set_ylabel(literal(analysis.coordinate_names[1]))
        figure.suptitle(f"clusters of {literal(results[0].train)}")
        for ax in axes.flat[len(results) :]:
            ax.set_visible(False)
        return figure
