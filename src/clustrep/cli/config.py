"""Options from a TOML file, and the options of a run written into its folder."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

MADE = "made"  # the table that tells how a run was made; not read as options
# Not part of what is repeated: where results go, and how the program talks.
NOT_KEPT = ("out", "force", "json", "config", "quiet", "jobs", "allow_failures")
PATHS = ("studies", "study", "features")


def read_config(ctx: click.Context, _: click.Parameter, path: Path | None) -> Path | None:
    """Take the options of a command from a TOML file; those on the command line win."""
    if path is None:
        return None
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{path} is not TOML: {error}.") from None
    except OSError as error:
        raise click.BadParameter(f"{path} can't be read: {error.strerror}.") from None
    values.pop(MADE, None)
    command = values.pop("command", ctx.info_name)
    if command != ctx.info_name:
        raise click.BadParameter(f"{path} is for `clustrep {command}`, not for `clustrep {ctx.info_name}`.")
    known = {parameter.name: parameter for parameter in ctx.command.params if parameter.name != "config"}
    options: dict[str, Any] = {}
    for key, value in values.items():
        name = key.replace("-", "_")
        if name == "label" and value is False:
            options["no_label"] = True
            continue
        if name not in known:
            from clustrep._validation import nearest

            raise click.BadParameter(f"{path} sets {key!r}, which is no option.{nearest(key, sorted(map(str, known)))}")
        if isinstance(value, dict):
            raise click.BadParameter(f"{path}: {key!r} is a table, but an option is a value or a list.")
        options[name] = _at(path.parent, value) if name in PATHS else value
    ctx.default_map = options
    return path


def _at(folder: Path, value: Any) -> Any:
    """Find files that a configuration names from its own folder."""
    if isinstance(value, list):
        return [_at(folder, one) for one in value]
    return str(folder / value) if isinstance(value, str) else value


def resolved(ctx: click.Context, options: Mapping[str, Any], made: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Write all options down so that the run can be repeated from the file in its folder."""
    kept: dict[str, Any] = {"command": str(ctx.info_name)}
    for name in [str(parameter.name) for parameter in ctx.command.params]:
        value = options.get(name)
        if name in NOT_KEPT or value is None or value == () or (name == "no_label" and not value):
            continue
        if name == "no_label":
            kept["label"] = False
        elif name in PATHS:
            kept[name] = _from(folder, value)
        elif name == "k":
            kept[name] = list(value)
        else:
            kept[name.replace("_", "-")] = list(value) if isinstance(value, tuple) else value
    kept[MADE] = dict(made)
    return kept


def _from(folder: Path, value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_from(folder, one) for one in value]
    try:
        return Path(os.path.relpath(value, folder)).as_posix()
    except ValueError:  # on another drive
        return Path(value).absolute().as_posix()
