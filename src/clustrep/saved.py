"""Results that can be printed and saved: what every result class is, wherever it is defined."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from os import PathLike
from typing import Any

from clustrep.files import save_result
from clustrep.text import printable


class Printed:
    """A result whose text is printable, whatever the names of studies and clusters hold."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in {"__repr__", "__str__"} & set(vars(cls)):
            setattr(cls, name, _printable(vars(cls)[name]))


def _printable(write: Callable[[Any], str]) -> Callable[[Any], str]:
    @wraps(write)
    def write_printable(result: Any) -> str:
        return printable(write(result), lines=True)

    return write_printable


class Saved(Printed):
    """A result that can be written to one file."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything but the data to one file, whole or not at all; `clustrep.load` reads it."""
        save_result(self, path)
