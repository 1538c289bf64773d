"""Options from a TOML file, and the options of a run written into its folder."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clustrep import __version__
from clustrep.files.folders import nearest_entries

if TYPE_CHECKING:
    from clustrep import Study


RUN_RECORD = "made"  # the table with the versions and data of a run; not read as options

# Not written, because they do not change the results: where these go, and how the program runs and talks.
NOT_WRITTEN = ("out", "force", "json", "config", "quiet", "jobs", "engine", "allow_failures", "shard")

STDIN = "-"

PATHS = ("studies", "features", "map", "out", "functions", "files", "study", "session", "policy", "key")
# Names of files, or of columns of obs: a file where there is one, or where the text ends like one.
MAYBE_PATHS, LIKE_A_FILE = ("annotations",), (".csv", ".tsv", ".txt")

LISTS = ("numbers", "words", "columns")  # types whose values may be written as a list


def key_of(parameter: click.Parameter) -> str:
    """Return the key of an option in a file: its long spelling, with underscores."""
    return parameter.opts[0].lstrip("-").replace("-", "_")


def _is_path(key: str, value: Any, folder: Path) -> bool:
    """Whether an option names files, as seen from the folder."""
    if key in MAYBE_PATHS:
        return os.path.exists(folder / value) or str(value).lower().endswith(LIKE_A_FILE)
    return key in PATHS


# ---------------------------------------------------------------------------------------------------------------------
# reading


def read_config(ctx: click.Context, _: click.Parameter, path: Path | None) -> Path | None:
    """Take the options of a command from a TOML file; those on the command line win."""
    if path is None:
        return None
    values = _toml(path)
    ctx.meta[RUN_RECORD] = _checked_record(values.pop(RUN_RECORD, None), path)
    command = values.pop("command", ctx.info_name)
    if command != ctx.info_name:
        raise click.BadParameter(f"{path} is for `clustrep {command}`, not for `clustrep {ctx.info_name}`.")
    parameters = {key_of(parameter): parameter for parameter in ctx.command.params if parameter.name != "config"}
    settings: dict[str, Any] = {}
    for written_key, value in values.items():
        key = written_key.replace("-", "_")
        if key == "label" and value is False:
            settings["no_label"] = True
            continue
        if key not in parameters:
            from clustrep.text import nearest

            hint = nearest(written_key, sorted(parameters))
            raise click.BadParameter(f"{path} sets {written_key!r}, which is no option.{hint}")
        checked = _checked(parameters[key], value, f"{path}: {written_key!r}")
        settings[str(parameters[key].name)] = (
            _from_folder(path.parent, checked) if _is_path(key, checked, path.parent) else checked
        )
    ctx.default_map = settings
    return path


def _checked_record(record: Any, path: Path) -> dict[str, dict[str, str]]:
    """Check the record of a run, which a configuration need not have: tables of versions and of data."""
    if record is None:
        return {}
    tables = record if isinstance(record, dict) else {}
    for key in ("versions", "data"):
        table = tables.get(key)
        if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
            raise click.BadParameter(
                f"{path}: the table [{RUN_RECORD}] is damaged, because {key!r} in it must be a table of texts, got "
                f"{table!r}: delete [{RUN_RECORD}], or take the file from the folder of a run."
            )
    return tables


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise click.BadParameter(f"{path} is not TOML: {error}.") from None
    except UnicodeDecodeError:
        raise click.BadParameter(f"{path} is not text in UTF-8: save it again with that encoding.") from None
    except OSError as error:
        raise click.BadParameter(
            f"{path} can't be read: {error.strerror}. Name another file, or make it readable."
            f"{nearest_entries(path) if isinstance(error, FileNotFoundError) else ''}"
        ) from None


def _checked(parameter: click.Parameter, value: Any, subject: str) -> Any:
    """Check that TOML's value has the option's type, and that the option accepts it."""
    items = value if isinstance(value, list) else [value]
    if isinstance(value, dict):
        raise click.BadParameter(f"{subject} is a table, but an option is a value or a list.")
    if any(isinstance(item, str) and "\0" in item for item in items):
        raise click.BadParameter(f"{subject} holds a zero byte, which no name has: {value!r}.")
    takes_several = bool(getattr(parameter, "multiple", False)) or parameter.nargs == -1
    types: set[type] = {str}
    wanted = "a list of texts" if takes_several else "a text"
    if getattr(parameter, "is_flag", False):
        wanted, types = "true or false", {bool}
    elif isinstance(parameter.type, click.types.IntParamType):
        wanted, types = "a whole number", {int}
    elif isinstance(parameter.type, click.types.FloatParamType):
        wanted, types = "a number", {int, float}
    elif parameter.type.name in LISTS:
        wanted, types = "a text or a list", {str, int, float}
    may_be_list = takes_several or parameter.type.name in LISTS
    if not {type(item) for item in items} <= types or (isinstance(value, list) and not may_be_list):
        raise click.BadParameter(f"{subject} must be {wanted}, got {value!r}.")
    if takes_several:
        return items
    try:
        parameter.type.convert(value, parameter, None)
    except click.BadParameter as error:
        raise click.BadParameter(f"{subject}: {error.message}") from None
    return value


def _from_folder(folder: Path, value: Any) -> Any:
    """Find files that a configuration names relative to its own folder."""
    if isinstance(value, list):
        return [_from_folder(folder, item) for item in value]
    return value if value == STDIN else str(folder / value)


# ---------------------------------------------------------------------------------------------------------------------
# writing


def config_values(
    ctx: click.Context, settings: Mapping[str, Any], record: Mapping[str, Any], folder: Path
) -> dict[str, Any]:
    """Return all options as text, so that the run can be repeated from the file in its folder."""
    values: dict[str, Any] = {"command": str(ctx.info_name)}
    for parameter in ctx.command.params:
        key, value = key_of(parameter), settings.get(str(parameter.name))
        if key in NOT_WRITTEN or value is None or value == () or (key == "no_label" and not value):
            continue
        if key == "no_label":
            values["label"] = False
        elif _is_path(key, value, Path()):
            values[key] = _relative(value, folder, ctx.meta.get(STDIN))
        else:
            values[key.replace("_", "-")] = list(value) if isinstance(value, tuple) else value
    values[RUN_RECORD] = dict(record)
    return values


def _relative(value: Any, folder: Path, stdin: Path | None) -> Any:
    """Write paths relative to the folder of the results; what holds standard input as -."""
    if isinstance(value, tuple | list):
        return [_relative(item, folder, stdin) for item in value]
    if value == stdin:
        return STDIN
    try:
        return Path(os.path.relpath(value, folder)).as_posix()
    except ValueError:  # on another drive
        return Path(value).absolute().as_posix()


# ---------------------------------------------------------------------------------------------------------------------
# repeating


def digests(studies: Mapping[str, Study]) -> dict[str, str]:
    """Return for every study a digest of its table as it was clustered."""
    from clustrep.provenance import fingerprint

    return {name: fingerprint(study.X, about=",".join(study.features)) for name, study in studies.items()}


def warn_of_changes(ctx: click.Context, studies: Mapping[str, Study]) -> None:
    """Warn where a run that is repeated from its configuration may give another result."""
    from clustrep.errors import DataWarning, warn

    record = ctx.meta.get(RUN_RECORD, {})
    before = record.get("data", {})
    changed = [name for name, digest in digests(studies).items() if before.get(name, digest) != digest]
    if changed:
        warn(f"The data have changed since the run that wrote the configuration: {', '.join(changed)}.", DataWarning)
    version = record.get("versions", {}).get("clustrep", __version__)
    if version != __version__:
        warn(f"The configuration was written by clustrep {version}; this is {__version__}.", DataWarning)
