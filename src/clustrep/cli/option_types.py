"""The values that options take."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import click

from clustrep.cli.clusterer_names import numbers_of_range
from clustrep.studies.scales import REFERENCE

LARGEST_K = 1000


class WholeNumber(click.IntRange):
    """A whole number that is not too small."""

    name = "whole number"


class ClusterNumbers(click.ParamType):  # type: ignore[type-arg]
    """Numbers of clusters: `4`, `2:8` (both ends included) or `2,3,5`."""

    name = "numbers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Read numbers and ranges, each number once."""
        if isinstance(value, tuple):
            return value
        numbers: list[int] = []
        for text in _parts(value):
            try:
                ends = [int(end) for end in text.split(":")]
            except ValueError:
                ends = []
            if len(ends) not in (1, 2):
                self.fail(f"{text!r} is no number of clusters: write 4, 2:8 or 2,3,5.", param, ctx)
            if ends[0] > ends[-1]:
                self.fail(f"{text!r} begins with its larger end: write {ends[-1]}:{ends[0]}.", param, ctx)
            if ends[0] < 2 or ends[-1] > LARGEST_K:
                self.fail(f"{text!r}: the number of clusters lies between 2 and {LARGEST_K:,}.", param, ctx)
            numbers += range(ends[0], ends[-1] + 1)
        return tuple(dict.fromkeys(numbers))

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Show how they are written."""
        return "2:8"


class ParameterValues(click.ParamType):  # type: ignore[type-arg]
    """Values of a parameter: `0.5`, `0.1:2.0` (ten, evenly spaced), `0.1:2.0:5` (five) or `0.1,0.5,1`."""

    name = "values"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """Read values and ranges, each value once."""
        if isinstance(value, tuple):
            return value
        values: list[float] = []
        for text in _parts(value):
            if ":" in text and (numbers := numbers_of_range(text)) is not None:
                values += map(float, numbers)  # as they are read back from a configuration
                continue
            try:
                values.append(float(text))
            except ValueError:
                self.fail(f"{text!r} is no value: write 0.5, 0.1:2.0, 0.1:2.0:5 or 0.1,0.5,1.", param, ctx)
        return tuple(dict.fromkeys(values))

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Show how they are written."""
        return "0.1:2.0"


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

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Show the words."""
        return f"[{'|'.join(self.words)}|{REFERENCE}NAME]"


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

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Show how it is written."""
        return "I/N"


class Words(click.ParamType):  # type: ignore[type-arg]
    """One or several of some words, separated by commas.

    The accepted words come from a function, because the library's own lists are slow to import. A tuple, such as an
    option's default, is not checked.
    """

    name = "words"

    def __init__(self, accepted: Callable[[], Sequence[str]], metavar: str):
        self.accepted = accepted
        self.metavar = metavar

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

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Show how they are written."""
        return self.metavar


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
    from clustrep.tables.agreement import AGREEMENTS

    return tuple(name for name, record in AGREEMENTS.items() if not adjusted or record.adjusted)


def accepted_indices() -> tuple[str, ...]:
    """Return the names of the library's indices within one study."""
    from clustrep.tables.index_records import INDICES

    return tuple(INDICES)
