"""`clustrep report` and `clustrep inspect`: files that are there, and nothing computed."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from clustrep import Studies, Study
from clustrep.cli import options
from clustrep.cli.console import BAD_DATA, Failure, in_options, write_data, write_message, write_page
from clustrep.cli.input_files import notes_on, read_unscaled, scaled_by, warn_of_scales
from clustrep.cli.output import CONFIG, PAGE, RESULT
from clustrep.data.readers.source import study_names
from clustrep.errors import ClustrepError, DataWarning
from clustrep.files.archives import SUMS, check_files, has_sums
from clustrep.files.folders import claimed, is_unfinished, nearest_entries
from clustrep.text import Worded, listing, plural, printable

NEEDED = re.compile(rf"result(-\d+)?\.npz|{re.escape(CONFIG)}")  # of the files of a run, for a report


@click.command(short_help="Make the report of earlier results again.")
@click.argument("folder", type=options.FILE, metavar="DIR")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["html", "markdown", "json"]),
    default="html",
    help="What to make.",
)
@click.option("--out", type=options.FILE, metavar="FILE", help="The file to write; - is stdout.")
@options.configuration
def report(folder: Path, format_name: str, out: Path | None, **_: Any) -> None:
    """Make the report of earlier results again, as a page, as Markdown or as JSON.

    The page goes to DIR/report.html, the others to stdout, unless --out names another file.

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
            (staged / PAGE).write_bytes(report_of(folder, format_name).encode())
    elif target is None or str(target) == "-":
        write = write_page if format_name == "html" else write_data
        write(report_of(folder, format_name))
        return
    else:
        from clustrep.files.saved import written_whole

        text = report_of(folder, format_name)
        with written_whole(target) as stream:
            stream.write(text.encode())
    write_message(f"Wrote {target}.")


def report_of(folder: Path, format_name: str) -> str:
    """Make the report of the results in a folder, after these have been checked."""
    from clustrep import Report, load

    again = Report(*(load(path) for path in checked_results(folder)))
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


OF_OTHER_COMMANDS = (
    "By default, `clustrep run` scales features and aligns studies itself (--scale auto): remedies with --scale are "
    "for the other commands."
)


@click.command(short_help="How files are read, and what looks wrong.")
@options.studies
@options.reading
@options.units
@options.impute
@options.gower
@options.configuration
@click.option("--json", is_flag=True, help="Write what was read to stdout as JSON.")
def inspect(**settings: Any) -> None:
    """Show how files are read: samples, features, what they share, what looks wrong. Nothing is computed.

    \b
    Example:
      clustrep inspect mainz.csv transbig.csv
    """
    if not settings["studies"]:
        raise click.UsageError("name at least one file.")

    inspection = inspect_files(settings)
    if settings["json"]:
        import json

        write_data(json.dumps(inspection, ensure_ascii=False, indent=2))
    else:
        write_data(as_text(inspection))
    if inspection["problems"]:
        raise Failure("These files can't be used together: see above.", BAD_DATA)


# ---------------------------------------------------------------------------------------------------------------------
# Facts about files before anything is computed


def inspect_files(settings: dict[str, Any]) -> dict[str, Any]:
    """Read all files together; where that fails, each by itself, to say with which of them something is wrong."""
    suspicions: list[str] = []
    studies, problem = _attempt(settings, suspicions)
    if studies is not None:
        dropped = {name: len(features) for name, features in studies.dropped.items()}
        files = [_facts(study, dropped[name]) for name, study in studies.items()]
        shared: dict[str, Any] | None = {"features": len(studies.features), "dropped": dropped}
        problems: list[str] = []
        command = click.get_current_context().command
        notes = [
            {
                "study": note.study,
                "kind": note.kind,
                "sentence": note.sentence,
                "remedy": in_options(Worded(note.advice), command),
            }
            for note in notes_on(studies, settings["scale"]).notes
        ]
    else:
        files = _inspect_each(settings, suspicions)
        shared, notes = None, []
        problems = list(dict.fromkeys([*(facts["problem"] for facts in files if "problem" in facts), problem]))
    return {
        "files": files,
        "shared": shared,
        "suspicions": list(dict.fromkeys(suspicions)),
        "notes": notes,
        "problems": problems,
    }


def _inspect_each(settings: dict[str, Any], suspicions: list[str]) -> list[dict[str, Any]]:
    files: list[dict[str, Any]] = []
    paths = settings["studies"]
    try:
        names = study_names(paths)
    except ClustrepError:
        names = [path.stem for path in paths]
    for path, name in zip(paths, names, strict=True):
        transposed = [study for study in settings["transpose_only"] if study == name]
        studies, problem = _attempt({**settings, "studies": [path], "transpose_only": transposed}, suspicions)
        if studies is None:
            files.append({"file": str(path), "problem": problem})
        else:
            files += [{"file": str(path), **_facts(study, 0)} for study in studies.values()]
    return files


def _facts(study: Study, n_dropped: int) -> dict[str, Any]:
    return {
        "study": study.name,
        "samples": len(study),
        "features": len(study.features) + n_dropped,
        "first_samples": list(study.samples[:3]),
        "first_features": list(study.features[:3]),
        "known_labels": None if study.labels is None else sorted({str(label) for label in study.labels}),
    }


def _attempt(settings: dict[str, Any], suspicions: list[str]) -> tuple[Studies | None, str]:
    """Read files; return the unscaled studies, or the errors, and collect warnings."""
    command = click.get_current_context().command
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        try:
            unscaled = read_unscaled(settings)
            warn_of_scales(scaled_by(settings["scale"], unscaled))
            return unscaled, ""
        except ClustrepError as error:
            return None, in_options(error, command)
        finally:
            suspicions += [in_options(w.message, command) for w in caught if isinstance(w.message, DataWarning)]


def as_text(inspection: dict[str, Any]) -> str:
    """Write an inspection as text."""
    lines = []
    for facts in inspection["files"]:
        if "problem" in facts:
            lines.append(f"{printable(facts['file'])}\n  can't be used: {facts['problem']}")
            continue
        lines.append(
            f"study {printable(facts['study'])}: {plural(facts['samples'], 'sample')} "
            f"({_first(facts['first_samples'], facts['samples'])}), {plural(facts['features'], 'feature')} "
            f"({_first(facts['first_features'], facts['features'])})"
        )
        if facts["known_labels"]:
            lines.append(f"  known labels {listing(facts['known_labels'])}")
    if inspection["shared"] is not None:
        lines.append(plural(inspection["shared"]["features"], "shared feature"))
    lines += [f"look at this: {suspicion}" for suspicion in inspection["suspicions"]]
    lines += [f"look at this: {note['sentence']} {note['remedy']}" for note in inspection["notes"]]
    if any("--scale" in line for line in lines):
        lines.append(OF_OTHER_COMMANDS)
    of_files = {facts.get("problem") for facts in inspection["files"]}
    together = [problem for problem in inspection["problems"] if problem not in of_files]
    return "\n".join([*lines, *(f"can't be used together: {problem}" for problem in together)])


def _first(names: Sequence[str], count: int) -> str:
    return listing(names) + (", …" if count > len(names) else "")
