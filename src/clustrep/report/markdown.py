"""Facts → Markdown (GitHub's dialect): the page's text and tables, for an issue, a notebook or a supplement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from clustrep.report.formatting import cell, plain
from clustrep.report.words import VERDICTS

# What would be read as markup where a name has it; "n_resamples", "p < 0.05" and "R&D" stay as they are.
MARKUP = re.compile(r"[\\`*\[\]~|]|(?<!\w)_|_(?!\w)")
TAG = re.compile(r"<(?=[A-Za-z/!?])")
ENTITY = re.compile(r"&(?=#?\w+;)")
LINE_START = re.compile(r"^(#{1,6}(?=\s|$)|[-+>](?=\s|$)|[-=]{3,}$)|^(\d+)([.)])(?=\s|$)")


def render(facts: Mapping[str, Any]) -> str:
    """Write the facts as Markdown; charts are described, not drawn."""
    return "\n\n".join(filter(None, _blocks(facts))) + "\n"


def escape(text: str) -> str:
    r"""Write text on one line so that it is read as it stands.

    Examples
    --------
    >>> print(escape("<b>A|B</b> *n_resamples*"))
    &lt;b>A\|B&lt;/b> \*n_resamples\*
    """
    line = ENTITY.sub("&amp;", " ".join(text.split()))
    line = TAG.sub("&lt;", MARKUP.sub(r"\\\g<0>", line))
    return LINE_START.sub(lambda match: f"{match[2]}\\{match[3]}" if match[2] else f"\\{match[1]}", line)


def _blocks(facts: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {escape(facts['title'])}"
    yield escape(" ".join(filter(None, [facts["subtitle"], facts.get("samples", "")])))
    if facts["verdict"]:
        yield _bullets(f"**{VERDICTS[item['kind']]}.** {escape(item['text'])}" for item in facts["verdict"])
    if facts.get("overview"):
        yield _table(facts["overview"])
        yield escape(facts["overview"]["note"])
    for section in facts["sections"]:
        yield f"## {escape(section['title'])}"
        yield from map(escape, section["text"])
        yield from (f"*Figure.* **{escape(c['title'])}.** {escape(c['description'])}" for c in section["charts"])
        for table in section["tables"]:
            yield f"**{escape(table['title'])}**"
            yield _table(table)
            yield escape(table["note"])
    if facts["methods"]:
        yield "## Methods"
        yield from map(escape, facts["methods"])
    if facts["warnings"]:
        yield "## Warnings"
        yield _bullets(map(escape, facts["warnings"]))
    if facts["provenance"]:
        yield "## How this was computed"
        rows = [[_cell_text(plain(item)) for item in pair] for pair in facts["provenance"]]
        yield _pipes(["Item", "Value"], ["---", "---"], rows)


def _bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _table(table: Mapping[str, Any]) -> str:
    columns = table["columns"]
    return _pipes(
        [_cell_text(column["label"]) for column in columns],
        ["---" if column["kind"] in ("text", "flag", "sign", "entry") else "---:" for column in columns],
        [[_cell_text(cell(row[c["key"]], c["kind"])) for c in columns] for row in table["rows"]],
    )


def _cell_text(text: str) -> str:
    return "<br>".join(escape(line) for line in text.splitlines())


def _pipes(header: Sequence[str], rule: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))
