"""`clustrep report` and `clustrep inspect`: files that are there, and nothing computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from clustrep.cli import options
from clustrep.cli.console import BAD_DATA, Failure, write_data, write_message
from clustrep.cli.input_files import read_studies
from clustrep.cli.output import RESULT


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
        problem = f"{folder} is a file" if folder.exists() else f"There is no folder {folder}"
        raise Failure(f"{problem}: name the folder that a run wrote.", BAD_DATA)
    paths = sorted(folder.glob("result*.npz"))
    if not paths:
        raise Failure(f"{folder} holds no {RESULT}: name the folder that a run wrote.", BAD_DATA)
    from clustrep import Report, load
    from clustrep.files import written_whole

    again = Report(*(load(path) for path in paths), samples=not no_samples)
    text = {"html": again.to_html, "markdown": again.to_markdown, "json": again.to_json}[format_name]()
    target = folder / "report.html" if out is None and format_name == "html" else out
    if target is None or str(target) == "-":
        write_data(text)
        return
    with written_whole(target) as stream:
        stream.write(text.encode())
    write_message(f"Wrote {target}.")


@click.command(short_help="How files are read, and what looks wrong.")
@options.studies
@options.reading
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

    inspection = inspect_files(settings, read_studies)
    if settings["json"]:
        import json

        write_data(json.dumps(inspection, ensure_ascii=False, indent=2))
    else:
        write_data(as_text(inspection))
    if inspection["problems"]:
        raise Failure("These files can't be used together as they are: see above.", BAD_DATA)
