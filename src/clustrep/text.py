"""Parts of sentences: lists, plurals, and the most similar name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

N_SHOWN = 5  # items of a list

N_LETTERS = 60  # of a cell


def listing(items: Iterable[object], shown: int = N_SHOWN) -> str:
    """List the first items, and say how many more there are: 'a, b, c and 4 more'."""
    items = list(items)
    more = f" and {len(items) - shown} more" if len(items) > shown else ""
    return ", ".join(cut(str(item), 2 * N_LETTERS) for item in items[:shown]) + more


def cut(text: str, length: int = N_LETTERS) -> str:
    """Shorten a text that is too long to be shown."""
    return text if len(text) <= length else f"{text[:length]}…"


def plural(count: int, noun: str) -> str:
    """Write a count with its noun: '1 study', '3 studies'."""
    if count != 1:
        noun = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {noun}"


def nearest(word: object, choices: Iterable[object]) -> str:
    """Return " Did you mean 'replicability'?" if a choice is similar to the word, else nothing."""
    by_lower_case = {str(choice).lower(): str(choice) for choice in choices if str(choice) != str(word)}
    close = difflib.get_close_matches(str(word).lower(), by_lower_case, n=1)
    return f" Did you mean {by_lower_case[close[0]]!r}?" if close else ""
