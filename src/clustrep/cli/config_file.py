"""Options from a TOML file, and the options of a run written into its folder."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clustrep import __version__

if TYPE_CHECKING:
    from clustrep import Study


MADE = "made"  # the table that tells how a run was made; not read as options
# Not part of what is repeated: where results go, and how the program talks.
NOT_KEPT = ("out", "force", "json", "config", "quiet", "jobs", "allow_failures")

PATHS = ("studies", "features", "out")

LISTS = ("numbers", "words")  # kinds of values that may be written as a list


def read_config(ctx: click.Context, _: click.Parameter, path: Path | None) -> Path | None:
    """Take the options of a command from a TOML file; those on the command line win."""
    if path is None:
        return None
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise click.BadParameter(f"{path} is not TOML: {error}.") from None
    except UnicodeDecodeError:
        raise click.BadParameter(f"{path} is not text in UTF-8: save it again with that encoding.") from None
    except OSError as error:
        raise click.BadParameter(f"{path} can't be read: {error.strerror}.") from None
    made = values.pop(MADE, None)
    ctx.meta[MADE] = made if isinstance(made, dict) else {}
    command = values.pop("command", ctx.info_name)
    if command != ctx.info_name:
        raise click.BadParameter(f"{path} is for `clustrep {command}`, not for `clustrep {ctx.info_name}`.")
    known = {
        spelling.lstrip("-").replace("-", "_"): parameter
        for parameter in ctx.command.params
        for spelling in parameter.opts
        if parameter.name != "config"
    }
    options: dict[str, Any] = {}
    for key, value in values.items():
        name = key.replace("-", "_")
        if name == "label" and value is False:
            options["no_label"] = True
            continue
        if name not in known:
            from clustrep.text import nearest

            raise click.BadParameter(f"{path} sets {key!r}, which is no option.{nearest(key, sorted(known))}")
        options[str(known[name].name)] = _at(path.parent, _checked(known[name], value, f"{path}: {key!r}"), name)
    ctx.default_map = options
    return path


def _checked(parameter: click.Parameter, value: Any, subject: str) -> Any:
    """Check that TOML's value is of the option's own kind, and can be read as one."""
    if isinstance(value, dict):
        raise click.BadParameter(f"{subject} is a table, but an option is a value or a list.")
    kind = parameter.type
    many = bool(getattr(parameter, "multiple", False)) or parameter.nargs == -1
    if many:
        several = value if isinstance(value, list) else [value]
        if not all(isinstance(one, str) for one in several):
            raise click.BadParameter(f"{subject} must be a list of texts, got {value!r}.")
        return several
    if getattr(parameter, "is_flag", False):
        wanted, fits = "true or false", isinstance(value, bool)
    elif isinstance(kind, click.types.IntParamType):
        wanted, fits = "a whole number", isinstance(value, int) and not isinstance(value, bool)
    elif kind.name in LISTS:
        parts = value if isinstance(value, list) else [value]
        wanted, fits = (
            "a text or a list",
            all(isinstance(one, str | int) and not isinstance(one, bool) for one in parts),
        )
    else:
        wanted, fits = "a text", isinstance(value, str)
    if not fits:
        raise click.BadParameter(f"{subject} must be {wanted}, got {value!r}.")
    try:
        kind.convert(value, parameter, None)
    except click.BadParameter as error:
        raise click.BadParameter(f"{subject}: {error.message}") from None
    return value


def _at(folder: Path, value: Any, name: str) -> Any:
    """Find files that a configuration names from its own folder."""
    if name not in PATHS:
        return value
    return [str(folder / one) for one in value] if isinstance(value, list) else str(folder / value)


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


def digests(studies: Mapping[str, Study]) -> dict[str, str]:
    """Return a number for every study's table, as it was clustered, that no other table has."""
    from clustrep.provenance import fingerprint

    return {name: fingerprint(study.X, about=",".join(study.features)) for name, study in studies.items()}


def tell_of_changes(ctx: click.Context, studies: Mapping[str, Study]) -> None:
    """Warn where a run that is repeated from its configuration can't come out the same."""
    from clustrep.errors import DataWarning, warn

    made = ctx.meta.get(MADE, {})
    before = made.get("data", {})
    changed = [name for name, digest in digests(studies).items() if before.get(name, digest) != digest]
    if changed:
        warn(f"Not as in the run that the configuration tells of: the data of {', '.join(changed)}.", DataWarning)
    version = made.get("versions", {}).get("clustrep", __version__)
    if version != __version__:
        warn(f"The configuration is of a run with clustrep {version}; this is {__version__}.", DataWarning)
