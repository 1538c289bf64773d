"""Sentences of errors and warnings, for the users of Python and of the command line.

A sentence that advises an argument marks it, because the users of the command line have options instead:

    raise DataError(f"Feature {feature!r} is probably a class label: use {argument('label', feature)}.")

`str(error)` is the sentence in Python's terms; `error.sentence` keeps the marks, which `worded` renders otherwise.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

# The marks are Unicode noncharacters, which are reserved for use within a program: no user's text contains them.
NAME, VALUE, END, PYTHON, COMMAND_LINE, END_OF_WORDS = "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4\ufdd5"

ARGUMENT = re.compile(f"{NAME}(.*?){VALUE}(.*?){END}", re.DOTALL)
PYTHON_WORDS = re.compile(f"{PYTHON}(.*?){END_OF_WORDS}", re.DOTALL)
COMMAND_LINE_WORDS = re.compile(f"{COMMAND_LINE}(.*?){END_OF_WORDS}", re.DOTALL)


def argument(name: str, value: object) -> str:
    """Mention an argument in a sentence: `name=value` in Python, an option on the command line."""
    return f"{NAME}{name}{VALUE}{value!r}{END}"


def option(name: str) -> str:
    """Mention a parameter in a sentence without a value: its name in Python, an option on the command line."""
    return f"{NAME}{name}{VALUE}{END}"


def wording(*, python: str = "", command_line: str = "") -> str:
    """Word a part of a sentence twice; either may be empty, or mention arguments."""
    return f"{PYTHON}{python}{END_OF_WORDS}{COMMAND_LINE}{command_line}{END_OF_WORDS}"


def worded(sentence: str, spelling: Callable[..., str] | None = None) -> str:
    """Render a sentence with marks: in Python's terms, or with options.

    `spelling(name)` and `spelling(name, value)` say how an option is written.
    """
    if spelling is None:
        kept, dropped, spelling = PYTHON_WORDS, COMMAND_LINE_WORDS, in_python
    else:
        kept, dropped = COMMAND_LINE_WORDS, PYTHON_WORDS

    def spelled(mention: re.Match[str]) -> str:
        name, value = mention.groups()
        return spelling(name, ast.literal_eval(value)) if value else spelling(name)

    return ARGUMENT.sub(spelled, kept.sub(r"\1", dropped.sub("", sentence)))


def in_python(name: str, *value: object) -> str:
    """Spell an argument as Python does."""
    return f"{name}={value[0]!r}" if value else name


class Worded(Exception):  # noqa: N818 - what errors and warnings have in common
    """Has a sentence in which arguments are marked; its text is that sentence in Python's terms."""

    sentence: str

    def __init__(self, sentence: str = ""):
        super().__init__(worded(sentence))
        self.sentence = sentence
