"""Numbers → the text that a reader sees; the same on the page, in Markdown and in the terminal."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from clustrep.findings.plot import percent_of
from clustrep.findings.result import SIGNS, UNDETERMINED

MISSING = "–"
# A score this close to 0 is rounding error, not a number to write with an exponent.
NOISE = 1e-9


def number(value: float) -> str:
    """Write a score or a measurement: two decimals, as in sentences; fewer as it grows, two digits where it is small.

    Examples
    --------
    >>> [number(value) for value in (0.5, -0.04, 12.345, 4096.2, 0.00002, -1e-17)]
    ['0.50', '-0.04', '12.35', '4,096', '2e-05', '0.00']
    """
    size = abs(value)
    if size < NOISE:
        return "0.00"
    if size < 0.005:
        return f"{value:.2g}"
    decimals = 2 if size < 100 else 1 if size < 1000 else 0
    return f"{value:,.{decimals}f}"


def count(value: float) -> str:
    """Write how many: whole numbers with separators; a mean count keeps one decimal.

    Examples
    --------
    >>> count(12345), count(12.0), count(2.25)
    ('12,345', '12', '2.2')
    """
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def p_value(value: float) -> str:
    """Write a p-value as sentences do: two digits, never 0.

    Examples
    --------
    >>> p_value(0.0371), p_value(0.0002), p_value(1.0)
    ('0.037', '< 0.001', '1')
    """
    return "< 0.001" if value < 0.001 else f"{value:.2g}"


def flag(value: bool) -> str:
    """Write yes or no."""
    return "yes" if value else "no"


KINDS = {"number": number, "count": count, "p": p_value, "share": percent_of, "flag": flag}


def sign_name(status: Any) -> str:
    """Give the class of what shows a status: letters and hyphens.

    Examples
    --------
    >>> sign_name("not found"), sign_name("")
    ('sign-not-found', 'sign-none')
    """
    return f"sign-{re.sub('[^a-z]+', '-', str(status).lower()).strip('-') or 'none'}"


def amount(entry: Mapping[str, Any]) -> str:
    """Write how many samples of a study are in a cluster, and which share that is; "–" where that is undetermined.

    Examples
    --------
    >>> amount({"n": 44, "share": 0.263}), amount({"status": "undetermined", "n": 0, "share": 0.0})
    ('44 (26 %)', '–')
    """
    if entry.get("status") == UNDETERMINED:
        return MISSING
    return f"{count(entry['n'])} ({percent_of(entry['share'])})"


def score(entry: Mapping[str, Any]) -> str:
    """Write the local replicability of a cluster in a study with its interval; "" where it is not known.

    Examples
    --------
    >>> score({"replicability": 0.853, "low": 0.7, "high": 0.92}), score({"replicability": None})
    ('0.85 [0.70, 0.92]', '')
    """
    if entry["replicability"] is None:
        return ""
    return f"{entry['replicability']:z.2f} [{entry['low']:z.2f}, {entry['high']:z.2f}]"


def cell(value: Any, kind: str) -> str:
    """Write one value of a table's column; text in a column of numbers stays as it is.

    Examples
    --------
    >>> cell(None, "p"), cell(0.25, "number"), cell("unknown", "count"), cell(True, "flag"), cell("found", "sign")
    ('–', '0.25', 'unknown', 'yes', '✓ found')
    """
    if kind == "sign" and isinstance(value, str):
        return f"{SIGNS.get(value, '')} {value}".strip()
    if value is None or isinstance(value, str) or kind == "text":
        return plain(value)
    return KINDS[kind](value)


def sort_value(value: Any) -> str | None:
    """Give the raw value of a number, by which a column is sorted: "" where it is missing, None for text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return None
    return repr(int(value)) if isinstance(value, bool) else repr(value)


def plain(value: Any) -> str:
    """Write any JSON value as text, without brackets.

    Examples
    --------
    >>> plain({"rng": 7, "k": [2, 3], "whiten": False, "labels": None})
    'rng: 7, k: 2, 3, whiten: no, labels: –'
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return MISSING
    if isinstance(value, bool):
        return flag(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {plain(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value))
    return str(value)
