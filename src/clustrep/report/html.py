"""Facts → one HTML file that needs nothing else: style, script, plotly and the facts are inside."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

from clustrep.report.formatting import amount, cell, plain, score, sign, sign_name, sort_value, swatch
from clustrep.report.words import ANSWER, VERDICTS

# JSON inside <script>: no character that could end the element or, in old engines, a line.
ESCAPES = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})


def render(facts: Mapping[str, Any]) -> str:
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
