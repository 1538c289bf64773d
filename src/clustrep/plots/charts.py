"""What all interactive charts share: plotly's traces and layouts as plain dicts, coloured by names that the page knows.

Names of studies, samples and clusters are escaped: plotly reads some HTML in its texts.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

Chart = dict[str, Any]
View = dict[str, Any]
Trace = dict[str, Any]

NO_K = "(no number of clusters to set)"
# With more numbers of clusters, plotly chooses where ticks stand.
MOST_TICKS = 20


def numbers(values: Any) -> Any:
    """Turn numbers into JSON's: six digits are enough for a picture, and what is missing is None.

    Examples
    --------
    >>> import numpy as np
    >>> numbers(np.array([1 / 3, np.nan])), numbers((np.int64(2), "x"))
    ([0.333333, None], [2, 'x'])
    """
    if isinstance(values, np.ndarray):
        return [numbers(value) for value in values.tolist()]
    if isinstance(values, list | tuple):
        return [numbers(value) for value in values]
    if isinstance(values, float | np.floating):
        return float(f"{values:.6g}") if np.isfinite(values) else None
    return values.item() if isinstance(values, np.generic) else values


def escaped(text: object) -> str:
    """Write a text so that plotly shows it literally.

    Examples
    --------
    >>> escaped("<b>A & B</b>")
    '&lt;b&gt;A &amp; B&lt;/b&gt;'
    """
    return html.escape(str(text), quote=False)


def chart(name: str, title: str, description: str, height: int, views: Sequence[View]) -> Chart:
    """Put a chart together; readers choose among several views by their names."""
    return {"id": name, "title": title, "description": description, "height": height, "views": list(views)}


def view(name: str, traces: Sequence[Trace], **layout: Any) -> View:
    """Put traces and layout together."""
    return {"name": name, "data": list(traces), "layout": layout}


def scatter(mode: str, x: Any, y: Any, **options: Any) -> Trace:
    """Describe points ("markers"), a line ("lines"), or both ("lines+markers")."""
    return {"type": "scatter", "mode": mode, "x": numbers(x), "y": numbers(y), **options}


def axis(title: str, **options: Any) -> dict[str, Any]:
    """Describe an axis."""
    return {"title": {"text": title}, **options}


def axis_of_k(ks: Sequence[int | None]) -> dict[str, Any]:
    """Describe the axis of the number of clusters, with a tick for each where these are few."""
    if all(k is None for k in ks):
        return axis(NO_K, showticklabels=False)
    return axis("number of clusters k", dtick=1 if len(set(ks)) <= MOST_TICKS else None)


def error_bars(middle: Any, low: Any, high: Any, **options: Any) -> dict[str, Any]:
    """Describe an interval around each value."""
    bars = {"array": numbers(high - middle), "arrayminus": numbers(middle - low)}
    return {"type": "data", "symmetric": False, **bars, **options}
