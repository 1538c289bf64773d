"""The library's sentences in terms of options.

The library names its parameters and marks the arguments that a sentence advises (`clustrep.errors`). The options of a
command have the names of the library's parameters (`--resamples` is `n_resamples`), so the command itself says which
option stands for which parameter. Two kinds of values have options of their own: `no_NAME` stands for `NAME=False`,
and `NAME_only`, which may be repeated, for `NAME=[...]`.
"""

from __future__ import annotations

import shlex
from functools import partial

import click

from clustrep.sentences import Worded, at_command_line, option


def in_options(message: Worded, command: click.Command) -> str:
    """Word an error or a warning of the library for those who typed this command."""
    options = {str(param.name): param for param in command.params if isinstance(param, click.Option)}
    sentence, parameter = message.sentence, getattr(message, "parameter", None)
    if parameter is not None and sentence.startswith(f"{parameter} must "):  # a rule, not the name of a user's file
        sentence = option(parameter) + sentence.removeprefix(parameter)
    return at_command_line(sentence, partial(spelling, options))


def spelling(options: dict[str, click.Option], name: str, *values: object) -> str:
    """Write a parameter, or an argument with its value, as an option; as Python does where no option stands for it."""
    if not values:
        return options[name].opts[0] if name in options else name
    (value,) = values
    if value is False and f"no_{name}" in options:
        return options[f"no_{name}"].opts[0]
    if isinstance(value, list) and f"{name}_only" in options:
        return " ".join(f"{options[f'{name}_only'].opts[0]} {shlex.quote(item)}" for item in value)
    if name not in options:
        return f"{name}={value!r}"
    if options[name].is_flag:
        return (options[name].opts if value else options[name].secondary_opts)[0]
    return f"{options[name].opts[0]} {_quoted(str(value))}"


def _quoted(text: str) -> str:
    """Quote a value for the shell, also where it need not be: it stands in a sentence."""
    return shlex.quote(text) if "'" in text else f"'{text}'"
