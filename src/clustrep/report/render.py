"""Facts → the page, Markdown, or the table of clusters for the terminal.

The page is one HTML file that needs nothing else: style, script and figures are inside. Markdown (GitHub's dialect) has
its text and tables, for an issue, a notebook or a supplement.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from clustrep.files.saved import csv_text
from clustrep.findings.result import SIGNS
from clustrep.plots.canvas import COLOURS, MARKERS, look_of_cluster, number_of_cluster
from clustrep.report.figures import Figure, svg_of
from clustrep.report.formatting import KINDS, amount, cell, plain, score, sign_name, sort_value
from clustrep.report.page import page_file, template
from clustrep.report.words import VERDICTS
from clustrep.text import printable

LEGEND = f"{', '.join(f'{sign} {status}' for status, sign in SIGNS.items())}. n and share of the study's samples."
# The markers of clusters in figures, as letters.
GLYPHS = "●■▲◆▼✚✖"


def to_html(facts: Mapping[str, Any], figures: Mapping[str, Figure]) -> str:
    """Write the page of these facts; the same facts give the same bytes."""
    script = page_file("script.js")
    colours = "".join(f".c{i} {{ --cluster: {colour}; }}\n" for i, colour in enumerate(COLOURS))
    told = [text for part in (*facts["sections"], facts["studies"] or {"text": []}) for text in part["text"]]
    return template("template.html", amount, cell, glyph, look_number, plain, score, sign_name, sort_value).render(
        facts=facts,
        verdicts=VERDICTS,
        # What a section shows is not repeated above.
        first=[item for item in facts["verdict"] if item["text"] not in told],
        svg={name: Markup(svg_of(figure)) for name, figure in figures.items() if name != "findings"},
        csv={name: csv_link(figure) for name, figure in figures.items() if len(figure.frame)},
        legend=LEGEND,
        policy=policy(script),
        style=Markup(page_file("style.css") + colours),
        script=Markup(script),
    )


def csv_link(figure: Figure) -> str:
    """Write the numbers of a figure as an address, from which they can be saved.

    Ten digits: the last ones of a sum depend on where its terms lie in memory.
    """
    text = csv_text(figure.frame, index=False, float_format="%.10g")
    return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(text.encode()).decode()}"


def policy(script: str) -> str:
    """Allow this very script and nothing else: no network, no injected script, no eval."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "connect-src 'none'; base-uri 'none'; form-action 'none'"
    )


def look_number(cluster: str) -> int:
    """Return which colour and marker a cluster has, as in the figures."""
    return (number_of_cluster(cluster) or 0) % len(COLOURS)


def glyph(cluster: Any) -> str:
    """Return the marker of a cluster of the findings, as a letter; "" for other names."""
    is_cluster = isinstance(cluster, str) and number_of_cluster(cluster) is not None
    return GLYPHS[MARKERS.index(look_of_cluster(cluster, 0).marker)] if is_cluster else ""


# ---------------------------------------------------------------------------------------------------------------------
# the terminal


def by_study(card: Mapping[str, Any]) -> dict[str, str]:
    """Write status, n and share of a cluster in every study."""
    return {entry["study"]: f"{SIGNS[entry['status']]} {amount(entry)}" for entry in card["studies"]}


def clusters_text(cards: Sequence[Mapping[str, Any]]) -> str:
    """Write the table of clusters × studies for the terminal: status, n and share."""
    rows = [["cluster", *by_study(cards[0])], *([card["cluster"], *by_study(card).values()] for card in cards)]
    cells = [[printable(text) for text in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([*lines, LEGEND])


# ---------------------------------------------------------------------------------------------------------------------
# Markdown

# What would be read as markup where a name has it; "n_resamples", "p < 0.05" and "R&D" stay unchanged.
MARKUP = re.compile(r"[\\`*\[\]~|]|(?<!\w)_|_(?!\w)")
TAG = re.compile(r"<(?=[A-Za-z/!?])")
ENTITY = re.compile(r"&(?=#?\w+;)")
LINE_START = re.compile(r"^(#{1,6}(?=\s|$)|[-+>](?=\s|$)|[-=]{3,}$)|^(\d+)([.)])(?=\s|$)")


def to_markdown(facts: Mapping[str, Any]) -> str:
    """Write the facts as Markdown; figures are described, not drawn."""
    page = template("template.md", by_study, cell, md, plain)
    text = page.render(facts=facts, verdicts=VERDICTS, legend=LEGEND, kinds=KINDS)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def md(text: str) -> str:
    r"""Write text on one line so that it is read as it stands.

    Examples
    --------
    >>> print(md("<b>A|B</b> *n_resamples*"))
    &lt;b>A\|B&lt;/b> \*n_resamples\*
    """
    line = ENTITY.sub("&amp;", " ".join(text.split()))
    line = TAG.sub("&lt;", MARKUP.sub(r"\\\g<0>", line))
    return LINE_START.sub(lambda match: f"{match[2]}\\{match[3]}" if match[2] else f"\\{match[1]}", line)
