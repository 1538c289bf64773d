"""Sentences of errors and warnings, for the users of Python and of the command line.

A sentence that advises an argument marks it, because the users of the command line have options instead:

    raise DataError(f"Feature {feature!r} is probably a class label: use {argument('label', feature)}.")

`str(error)` is the sentence in Python's terms; `error.sentence` keeps the marks, which `at_command_line` renders.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from clustrep.text import printable

# The marks are Unicode noncharacters, which are reserved for use within a program: no honest text contains them.
NAME, VALUE, END, PYTHON, COMMAND_LINE, END_OF_WORDS = "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4\ufdd5"

ARGUMENT = re.compile(f"{NAME}(.*?){VALUE}(.*?){END}", re.DOTALL)
PYTHON_WORDS = re.compile(f"{PYTHON}(.*?){END_OF_WORDS}", re.DOTALL)
COMMAND_LINE_WORDS = re.compile(f"{COMMAND_LINE}(.*?){END_OF_WORDS}", re.DOTALL)


def argument(name: str, value: object) -> str:
    """Mention an argument in a sentence: `name=value` in Python, an option on the command line."""
    plain = str(value) if isinstance(value, str) else value  # NumPy's texts have another repr
    return f"{NAME}{name}{VALUE}{plain!r}{END}"


def option(name: str) -> str:
    """Mention a parameter in a sentence without a value: its name in Python, an option on the command line."""
    return f"{NAME}{name}{VALUE}{END}"


def wording(*, python: str = "", command_line: str = "") -> str:
    """Word a part of a sentence twice; either may be empty, or mention arguments."""
    return f"{PYTHON}{python}{END_OF_WORDS}{COMMAND_LINE}{command_line}{END_OF_WORDS}"


def in_python(sentence: str) -> str:
    """Render a sentence with marks in Python's terms."""
    words = PYTHON_WORDS.sub(r"\1", COMMAND_LINE_WORDS.sub("", sentence))
    return ARGUMENT.sub(lambda mention: "=".join(filter(None, mention.groups())), words)


def at_command_line(sentence: str, spelling: Callable[..., str]) -> str:
    """Render a sentence with marks in terms of options: `spelling(name)` and `spelling(name, value)` write them."""

    def spelled(mention: re.Match[str]) -> str:
        name, value = mention.groups()
        try:
            return spelling(name, ast.literal_eval(value)) if value else spelling(name)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):  # marks in a text of someone else's
            return "=".join(filter(None, (name, value)))

    words = COMMAND_LINE_WORDS.sub(r"\1", PYTHON_WORDS.sub("", sentence))
    return ARGUMENT.sub(spelled, words)


class Worded(Exception):  # noqa: N818 - what errors and warnings have in common
    """Has a sentence in which arguments are marked; its text is that sentence in Python's terms, printable."""

    sentence: str

    def __init__(self, sentence: str = ""):
        super().__init__(printable(in_python(sentence), lines=True))
        self.sentence = sentence
