"""Facts → the page, or Markdown.

The page is one HTML file that needs nothing else: style, script, plotly and the facts are inside. Markdown (GitHub's
dialect) has its text and tables, for an issue, a notebook or a supplement.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

from clustrep.report.formatting import amount, cell, plain, score, sign, sign_name, sort_value, swatch
from clustrep.report.words import ANSWER, VERDICTS

# JSON inside <script>: no character that could end the element or, in old engines, a line.
ESCAPES = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})


def to_html(facts: Mapping[str, Any]) -> str:
    """Write the page of these facts; the same facts give the same bytes."""
    script, plotly = page_file("script.js"), plotly_source()
    return _template().render(
        facts=facts,
        verdicts=VERDICTS,
        answer_kinds=[kind for kind, name in VERDICTS.items() if name == ANSWER],
        policy=policy(script, plotly),
        style=Markup(page_file("style.css")),
        script=Markup(script),
        plotly=Markup(plotly),
        data=Markup(as_json(_for_script(facts))),
    )


def _for_script(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what the page has as text already: the script draws, and copies the methods."""
    return {
        "methods": facts["methods"],
        "sections": [{"charts": section["charts"]} for section in facts["sections"]],
    }


def as_json(facts: Mapping[str, Any]) -> str:
    """Write the facts as JSON that may stand inside a script element."""
    text = json.dumps(facts, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return text.translate(ESCAPES)


def policy(*scripts: str) -> str:
    """Allow these very scripts and nothing else: no network, no injected script, no eval."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "connect-src 'none'; base-uri 'none'; form-action 'none'"
    )


@cache
def page_file(name: str) -> str:
    """Read one of the page's own files."""
    return resources.files("clustrep.report").joinpath("page", name).read_text("utf-8")


@cache
def plotly_source() -> str:
    """Read plotly's script from its package, with the line ends that a browser hashes."""
    source = resources.files("plotly").joinpath("package_data", "plotly.min.js").read_bytes().decode()
    return source.replace("\r\n", "\n").replace("\r", "\n")


@cache
def _template() -> Template:
    environment = Environment(
        loader=FunctionLoader(page_file),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    filters = (amount, cell, plain, score, sign, sign_name, sort_value, swatch)
    environment.filters.update({function.__name__: function for function in filters})
    return environment.get_template("template.html")


# ---------------------------------------------------------------------------------------------------------------------
# Markdown

# What would be read as markup where a name has it; "n_resamples", "p < 0.05" and "R&D" stay as they are.
MARKUP = re.compile(r"[\\`*\[\]~|]|(?<!\w)_|_(?!\w)")
TAG = re.compile(r"<(?=[A-Za-z/!?])")
ENTITY = re.compile(r"&(?=#?\w+;)")
LINE_START = re.compile(r"^(#{1,6}(?=\s|$)|[-+>](?=\s|$)|[-=]{3,}$)|^(\d+)([.)])(?=\s|$)")


def to_markdown(facts: Mapping[str, Any]) -> str:
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
