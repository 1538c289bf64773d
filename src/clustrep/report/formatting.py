"""Numbers → the text that a reader sees; the same in the page and in Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from clustrep.findings.result import SIGNS
from clustrep.plots.canvas import look_of_cluster, number_of_cluster

MISSING = "–"
# A score this close to 0 is rounding error, not a number to write with an exponent.
NOISE = 1e-9


def number(value: float) -> str:
    """Write a score or a measurement: three decimals, fewer as it grows.

    Examples
    --------
    >>> [number(value) for value in (0.5, -0.04, 12.345, 4096.2, 0.00002, -1e-17)]
    ['0.500', '-0.040', '12.35', '4,096', '2.0e-05', '0.000']
    """
    size = abs(value)
    if size < NOISE:
        return "0.000"
    if size < 0.0005:
        return f"{value:.1e}"
    decimals = 3 if size < 10 else 2 if size < 100 else 1 if size < 1000 else 0
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
    """Write a p-value: never 0, and never rounded up to a threshold from below 0.001.

    Examples
    --------
    >>> p_value(0.005), p_value(0.04), p_value(0.0002), p_value(1.0)
    ('0.005', '0.040', '< 0.001', '1.000')
    """
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def share(value: float) -> str:
    """Write a share as a percentage; only all is 100 %, only none is 0 %.

    Examples
    --------
    >>> share(0.625), share(0.0001), share(0.9999), share(1)
    ('62.5 %', '< 0.1 %', '> 99.9 %', '100.0 %')
    """
    if 0 < value < 0.0005:
        return "< 0.1 %"
    if 0.9995 <= value < 1:
        return "> 99.9 %"
    return f"{100 * value:.1f} %"


def flag(value: bool) -> str:
    """Write yes or no."""
    return "yes" if value else "no"


KINDS = {"number": number, "count": count, "p": p_value, "share": share, "flag": flag}


def sign_name(status: Any) -> str:
    """Give the class of a cell that shows a status: letters and hyphens.

    Examples
    --------
    >>> sign_name("not found"), sign_name("")
    ('sign-not-found', 'sign-none')
    """
    return f"sign-{re.sub('[^a-z]+', '-', str(status).lower()).strip('-') or 'none'}"


def sign(status: str) -> str:
    """Write the sign of a status.

    Examples
    --------
    >>> sign("found"), sign("not found"), sign("")
    ('✓', '✗', '')
    """
    return SIGNS.get(status, status)


def amount(entry: Mapping[str, Any]) -> str:
    """Write how many samples of a study are in a cluster, and which share that is.

    Examples
    --------
    >>> amount({"n": 44, "share": 0.263})
    '44 (26.3 %)'
    """
    return f"{count(entry['n'])} ({share(entry['share'])})"


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


def swatch(name: Any, key: str) -> str:
    """Give the class of the coloured mark before the name of a cluster; "" for anything else.

    Examples
    --------
    >>> swatch("B", "cluster"), swatch("2 (basal)", "cluster"), swatch("noise", "cluster"), swatch("B", "train")
    ('swatch-1', 'swatch-2', '', '')
    """
    is_cluster = key == "cluster" and isinstance(name, str) and number_of_cluster(name) is not None
    return f"swatch-{look_of_cluster(str(name), 0).token.removeprefix('@c')}" if is_cluster else ""


def cell(value: Any, kind: str) -> str:
    """Write one value of a table's column; text in a column of numbers stays as it is.

    Examples
    --------
    >>> cell(None, "p"), cell(0.25, "number"), cell("unknown", "count"), cell(True, "flag")
    ('–', '0.250', 'unknown', 'yes')
    """
    if kind == "sign" and isinstance(value, str):
        return f"{sign(value)} {value}".strip()
    if kind == "entry":
        return "\n".join(filter(None, [f"{sign(value['status'])} {amount(value)}", score(value)]))
    if value is None or isinstance(value, str) or kind == "text":
        return plain(value)
    return KINDS[kind](value)


def sort_value(value: Any, kind: str) -> str | None:
    """Give the raw value that a column is sorted by: "" where it is missing, None where the text itself is meant."""
    if value is None:
        return ""
    if kind == "entry":
        return repr(value["n"])
    if kind == "text" or isinstance(value, str):
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
