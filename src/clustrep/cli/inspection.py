"""What can be said of files before anything is computed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from clustrep import Studies, Study
from clustrep.cli.input_files import notes_on, scaled_by, warn_of_scales
from clustrep.cli.option_wording import in_options
from clustrep.errors import ClustrepError, DataWarning
from clustrep.sentences import Worded
from clustrep.studies.comparability import Note
from clustrep.studies.readers.source import study_names
from clustrep.text import listing, plural, printable

Reader = Callable[[dict[str, Any]], Studies]


def inspect_files(settings: dict[str, Any], read: Reader) -> dict[str, Any]:
    """Read all files together; where that fails, each by itself, to say with which of them something is wrong."""
    suspicions: list[str] = []
    studies, problem = _attempt(read, settings, suspicions)
    if studies is not None:
        dropped = {name: len(features) for name, features in studies.dropped.items()}
        files = [_facts(study, dropped[name]) for name, study in studies.items()]
        shared: dict[str, Any] | None = {"features": len(studies.features), "dropped": dropped}
        problems: list[str] = []
        notes = [_worded(note) for note in notes_on(studies, settings["scale"]).notes]
    else:
        files = _inspect_each(settings, read, suspicions)
        shared = None
        notes = []
        problems = list(dict.fromkeys([*(facts["problem"] for facts in files if "problem" in facts), problem]))
    return {
        "files": files,
        "shared": shared,
        "suspicions": list(dict.fromkeys(suspicions)),
        "notes": notes,
        "problems": problems,
    }


def _inspect_each(settings: dict[str, Any], read: Reader, suspicions: list[str]) -> list[dict[str, Any]]:
    files: list[dict[str, Any]] = []
    paths = settings["studies"]
    for path, name in zip(paths, _names(paths), strict=True):
        transposed = [study for study in settings["transpose_only"] if study == name]
        studies, problem = _attempt(read, {**settings, "studies": [path], "transpose_only": transposed}, suspicions)
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


def _worded(note: Note) -> dict[str, str]:
    remedy = in_options(Worded(note.advice), click.get_current_context().command)
    return {"study": note.study, "kind": note.kind, "sentence": note.sentence, "remedy": remedy}


def _names(paths: Sequence[Path]) -> list[str]:
    try:
        return study_names(paths)
    except ClustrepError:
        return [path.stem for path in paths]


def _attempt(read: Reader, settings: dict[str, Any], suspicions: list[str]) -> tuple[Studies | None, str]:
    """Read files; return the unscaled studies, or what is wrong with the files, and collect what looks wrong."""
    command = click.get_current_context().command
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        try:
            unscaled = read(settings)
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
    of_files = {facts.get("problem") for facts in inspection["files"]}
    together = [problem for problem in inspection["problems"] if problem not in of_files]
    return "\n".join([*lines, *(f"can't be used together: {problem}" for problem in together)])


def _first(names: Sequence[str], count: int) -> str:
    return listing(names) + (", …" if count > len(names) else "")
