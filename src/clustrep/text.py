"""Parts of sentences: lists, plurals, and the most similar name; and text that is harmless wherever it is shown."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable

N_SHOWN = 5  # items of a list

N_LETTERS = 60  # of a cell


def listing(items: Iterable[object], shown: int = N_SHOWN) -> str:
    """List the first items, printable, and say how many more there are: 'a, b, c and 4 more'."""
    items = list(items)
    more = f" and {len(items) - shown} more" if len(items) > shown else ""
    return ", ".join(cut(printable(str(item)), 2 * N_LETTERS) for item in items[:shown]) + more


def cut(text: str, length: int = N_LETTERS) -> str:
    """Shorten a text that is too long to be shown."""
    return text if len(text) <= length else f"{text[:length]}…"


def plural(count: int, noun: str) -> str:
    """Write a count with its noun: '1 study', '3 studies'."""
    if count != 1:
        noun = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count:,} {noun}"


def p_text(value: float) -> str:
    """Write a p-value with two digits, never 0.

    Examples
    --------
    >>> p_text(0.0371), p_text(0.00002), p_text(1.0), p_text(float("nan"))
    ('p = 0.037', 'p < 0.001', 'p = 1', 'p not known')
    """
    if math.isnan(value):
        return "p not known"
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"


def nearest(word: object, choices: Iterable[object]) -> str:
    """Return " Did you mean 'replicability'?" if a choice is similar to the word, else nothing."""
    by_lower_case = {str(choice).lower(): str(choice) for choice in choices if str(choice) != str(word)}
    close = difflib.get_close_matches(str(word).lower(), by_lower_case, n=1)
    return f" Did you mean {by_lower_case[close[0]]!r}?" if close else ""


# ---------------------------------------------------------------------------------------------------------------------
# text that others wrote

# What moves the cursor, sets the clipboard, changes the direction of writing or is no character: controls, marks of
# direction, ends of lines and paragraphs, tags, halves of characters and noncharacters.
UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff9-\uffff"
    "\U000e0000-\U000e007f]"
)

SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str, *, lines: bool = False) -> str:
    r"""Show what a terminal would obey as escapes, those of JSON; with `lines`, the ends of lines are kept.

    Examples
    --------
    >>> print(printable("\x1b[2Jname\u202e"))
    \u001b[2Jname\u202e
    """
    return UNPRINTABLE.sub(lambda match: match[0] if lines and match[0] == "\n" else _escaped(match[0]), text)


def said_by(error: BaseException, length: int = 200) -> str:
    """Return the first line of what an error of someone else's code says, printable; "" if it says nothing."""
    try:
        words = str(error).strip()
    except Exception:  # its own code may fail, too
        return ""
    return printable(words.split("\n")[0][:length]).rstrip(".")


def _escaped(letter: str) -> str:
    if letter in SHORT_ESCAPES:
        return SHORT_ESCAPES[letter]
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


# A text that a spreadsheet takes for a formula; with apostrophes in front, one that looks like it was guarded.
FORMULA = re.compile(r"'*[=+\-@\t\r].+", re.DOTALL)

GUARDED = re.compile(r"'+[=+\-@\t\r].+", re.DOTALL)

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


def for_spreadsheet(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would take for a formula; numbers stay.

    Examples
    --------
    >>> for_spreadsheet("=1+1"), for_spreadsheet("-1.5"), for_spreadsheet("+")
    ("'=1+1", '-1.5', '+')
    """
    return f"'{text}" if FORMULA.fullmatch(text) and not NUMBER.fullmatch(text) else text


def from_spreadsheet(text: str) -> str:
    """Remove the apostrophe that `for_spreadsheet` put before a text.

    Examples
    --------
    >>> from_spreadsheet("'=1+1"), from_spreadsheet("'t Hart")
    ('=1+1', "'t Hart")
    """
    return text[1:] if GUARDED.fullmatch(text) else text
