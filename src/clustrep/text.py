"""Words that many sentences share."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

SHOWN = 5

CUT = 60  # letters of a cell that are shown


def listing(items: Iterable[object], shown: int = SHOWN, separator: str = ", ") -> str:
    """List a few of the items, and say how many more there are."""
    items = list(items)
    more = f" and {len(items) - shown} more" if len(items) > shown else ""
    return separator.join(cut(str(item), 2 * CUT) for item in items[:shown]) + more


def cut(text: str, length: int = CUT) -> str:
    """Leave out the end of a text that is too long to be shown."""
    return text if len(text) <= length else f"{text[:length]}…"


def plural(count: int, noun: str) -> str:
    """Write a count with its noun: '1 study', '3 studies'."""
    if count != 1:
        noun = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {noun}"


def nearest(word: object, choices: Iterable[object]) -> str:
    """Return ' Did you mean …?' where a choice is close to the word."""
    by_lower_case = {str(choice).lower(): str(choice) for choice in choices if str(choice) != str(word)}
    close = difflib.get_close_matches(str(word).lower(), by_lower_case, n=1)
    return f" Did you mean {by_lower_case[close[0]]!r}?" if close else ""
