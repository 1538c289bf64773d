"""`clustrep report` and `clustrep inspect`: files that are there, and nothing computed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from clustrep.checksums import SUMS, check_files, has_sums
from clustrep.cli import options
from clustrep.cli.console import BAD_DATA, Failure, write_data, write_message, write_page
from clustrep.cli.input_files import read_unscaled
from clustrep.cli.output import CONFIG, PAGE, RESULT
from clustrep.folders import claimed, is_unfinished, nearest_entries

NEEDED = re.compile(rf"result(-\d+)?\.npz|{re.escape(CONFIG)}")  # of the files of a run, for a report


@click.command(short_help="Make the report of earlier results again.")
@click.argument("folder", type=options.FILE, metavar="DIR")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["html", "markdown", "json"]),
    default="html",
    show_default=True,
    help="What to make.",
)
@click.option("--out", type=options.FILE, metavar="FILE", help="The file to write; - is stdout.")
@options.unnamed
@options.configuration
def report(folder: Path, format_name: str, out: Path | None, *, no_samples: bool, **_: Any) -> None:
    """Make the report of earlier results again, as a page, as Markdown or as JSON.

    The page goes to DIR/report.html, the others to stdout, unless --out says otherwise.

    \b
    Example:
      clustrep report breast --format markdown > breast.md
    """
    if not folder.is_dir():
        problem, hint = f"{folder} is a file", ""
        if not folder.exists():
            problem, hint = f"There is no folder {folder}", nearest_entries(folder, folders=True)
        raise Failure(f"{problem}: name the folder that a run wrote.{hint}", BAD_DATA)
    target = folder / PAGE if out is None and format_name == "html" else out
    if is_unfinished(folder):
        with claimed(folder):
            pass  # which completes it
    if target is not None and has_sums(folder) and target.resolve() == (folder / PAGE).resolve():
        with claimed(folder) as claim, claim.transaction(keep=True) as staged:
            (staged / PAGE).write_bytes(report_of(folder, format_name, samples=not no_samples).encode())
    elif target is None or str(target) == "-":
        write = write_page if format_name == "html" else write_data
        write(report_of(folder, format_name, samples=not no_samples))
        return
    else:
        from clustrep.files import written_whole

        text = report_of(folder, format_name, samples=not no_samples)
        with written_whole(target) as stream:
            stream.write(text.encode())
    write_message(f"Wrote {target}.")


def report_of(folder: Path, format_name: str, *, samples: bool) -> str:
    """Make the report of the results in a folder, after these have been checked."""
    from clustrep import Report, load

    again = Report(*(load(path) for path in checked_results(folder)), samples=samples)
    return {"html": again.to_html, "markdown": again.to_markdown, "json": again.to_json}[format_name]()


def checked_results(folder: Path) -> list[Path]:
    """Return the results in a folder of a run, whose files must be as they were; or those that `save` wrote there."""
    if has_sums(folder):
        paths = [folder / name for name in sorted(check_files(folder, NEEDED)) if name != CONFIG]
    elif (folder / CONFIG).exists():
        raise Failure(f"{folder} has no {SUMS}, so its files can't be checked: run it again.", BAD_DATA)
    else:
        paths = sorted(folder.glob("result*.npz"))
    if not paths:
        raise Failure(f"{folder} holds no {RESULT}: name the folder that a run wrote.", BAD_DATA)
    return paths


@click.command(short_help="How files are read, and what looks wrong.")
@options.studies
@options.reading
@options.units
@options.impute
@options.gower
@options.configuration
@click.option("--json", is_flag=True, help="Write what was read to stdout as JSON.")
def inspect(**settings: Any) -> None:
    """Say how files are read: samples, features, what they share, what looks wrong. Nothing is computed.

    \b
    Example:
      clustrep inspect mainz.csv transbig.csv
    """
    if not settings["studies"]:
        raise click.UsageError("name at least one file.")
    from clustrep.cli.inspection import as_text, inspect_files

    inspection = inspect_files(settings, read_unscaled)
    if settings["json"]:
        import json

        write_data(json.dumps(inspection, ensure_ascii=False, indent=2))
    else:
        write_data(as_text(inspection))
    if inspection["problems"]:
        raise Failure("These files can't be used together as they are: see above.", BAD_DATA)
