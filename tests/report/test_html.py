"""Facts → page, without a browser."""

from __future__ import annotations

import copy
import json
import math
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from jinja2 import UndefinedError
from tests.report.sample_page import HOSTILE, _table, sample_facts

from clustrep.report import render
from clustrep.report.words import VERDICTS


class Elements(HTMLParser):
    """Tags and text of a page; what scripts and styles hold is apart."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        (self.scripts if self.cdata_elem else self.texts).append(data)


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    return sample_facts()


@pytest.fixture(scope="module")
def page(facts: dict[str, Any]) -> str:
    return render.to_html(facts)


@pytest.fixture(scope="module")
def elements(page: str) -> Elements:
    parsed = Elements()
    parsed.feed(page.replace(render.plotly_source(), ""))
    return parsed


def test_the_same_facts_give_the_same_bytes(facts: dict[str, Any], page: str) -> None:
    again = copy.deepcopy(facts)
    again = dict(reversed(again.items()))
    assert render.to_html(again).encode() == page.encode()
    assert render.to_markdown(again) == render.to_markdown(facts)


def test_the_page_is_complete_and_not_too_large(page: str) -> None:
    own = sum(len(render.page_file(name).encode()) for name in ("template.html", "style.css", "script.js"))
    assert own < 40_000
    assert len(page.encode()) < 6_000_000
    assert page.startswith("<!doctype html>")
    assert page.count(render.plotly_source()) == 1


def test_the_scripts_cannot_end_their_element() -> None:
    for source in (render.plotly_source(), render.page_file("script.js")):
        assert "</script" not in source.lower()
        assert "<!--" not in source
        assert "\r" not in source
    assert "</style" not in render.page_file("style.css")


def test_a_hostile_name_is_text(facts: dict[str, Any], elements: Elements) -> None:
    assert [attrs.get("type") for tag, attrs in elements.tags if tag == "script"] == ["application/json", None, None]
    assert sum(HOSTILE in text for text in elements.texts) >= 1 + 1 + 7  # verdict, paragraph, its row and its column
    assert not [tag for tag, attrs in elements.tags if any(name.startswith("on") for name in attrs)]
    charts = [{"charts": section["charts"]} for section in facts["sections"]]
    assert json.loads(elements.scripts[1]) == {"methods": facts["methods"], "sections": charts}


def test_facts_json_cannot_leave_its_script() -> None:
    text = render.as_json({"title": "</script><!-- & \u2028 \u2029 é"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"title": "</script><!-- & \u2028 \u2029 é"}


def test_nan_is_refused_not_written() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        render.as_json({"value": math.nan})


def test_a_missing_fact_is_an_error(facts: dict[str, Any]) -> None:
    with pytest.raises(UndefinedError, match="warnings"):
        render.to_html({name: value for name, value in facts.items() if name != "warnings"})


def test_nothing_is_loaded_and_only_our_scripts_run(elements: Elements, page: str) -> None:
    assert not [attrs for tag, attrs in elements.tags if "src" in attrs or tag in ("link", "img", "iframe", "base")]
    assert all(attrs["href"].startswith("#") for tag, attrs in elements.tags if tag == "a" and attrs["href"])
    (content,) = [
        attrs["content"] for _, attrs in elements.tags if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    assert content is not None
    assert content.startswith("default-src 'none'; script-src 'sha256-")
    assert "'unsafe-inline'" not in content.split("style-src")[0]
    assert "unsafe-eval" not in content
    assert not re.search(r"/(home|tmp|work|root)/", page.replace(render.plotly_source(), ""))


def test_ids_are_unique_and_references_resolve(elements: Elements) -> None:
    ids = [attrs["id"] for _, attrs in elements.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in elements.tags:
        for name in ("aria-labelledby", "for"):
            assert name not in attrs or attrs[name] in ids
        assert not (attrs.get("href") or "").startswith("#") or attrs["href"][1:] in ids


@pytest.mark.parametrize(("kind", "word"), VERDICTS.items())
def test_every_kind_of_verdict_has_a_word(facts: dict[str, Any], kind: str, word: str) -> None:
    said = {**facts, "verdict": [{"kind": kind, "text": "So it is."}]}
    assert re.search(
        rf'<li class="{kind}">\s*<svg.*?</svg>\s*<p><strong>{word}</strong> <span>So it is.</span></p>',
        render.to_html(said),
        re.S,
    )
    assert f"- **{word}.** So it is." in render.to_markdown(said)


def test_an_unknown_kind_of_verdict_is_an_error(facts: dict[str, Any]) -> None:
    said = {**facts, "verdict": [{"kind": "praise", "text": "Well done."}]}
    with pytest.raises(UndefinedError, match="praise"):
        render.to_html(said)
    with pytest.raises(KeyError, match="praise"):
        render.to_markdown(said)


def test_empty_facts_leave_no_empty_sections() -> None:
    bare = {
        "title": "Nothing",
        "subtitle": "",
        "verdict": [],
        "sections": [],
        "methods": [],
        "warnings": [],
        "provenance": [],
    }
    page = render.to_html(bare)
    assert "<section" not in page
    assert "<li>" not in page
    assert render.to_markdown(bare) == "# Nothing\n"


def test_cells_carry_the_raw_value(page: str) -> None:
    assert '<td class="p" data-value="0.01">0.010</td>' in page
    assert '<td class="p" data-value="">–</td>' in page
    assert '<th scope=row class="text">k-means</th>' in page


def palettes() -> list[dict[str, str]]:
    blocks = re.findall(r":root[^{]*\{([^}]*)\}", render.page_file("style.css"))
    return [dict(re.findall(r"--(\w+): (#\w{6});", block)) for block in blocks]


def test_both_ways_into_the_dark_lead_to_the_same_colours() -> None:
    light, by_system, by_button = palettes()
    assert by_system == by_button
    assert light.keys() == by_system.keys()


@pytest.mark.parametrize("palette", palettes()[:2], ids=["light", "dark"])
def test_colours_can_be_seen(palette: dict[str, str]) -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(name: str, ground: str) -> float:
        bright, dim = sorted([luminance(palette[name]), luminance(palette[ground])], reverse=True)
        return (bright + 0.05) / (dim + 0.05)

    # WCAG 2.2: 4.5 for text, 3 for what is drawn.
    assert (
        min(contrast(n, g) for n in ("ink", "muted", "link", "good", "bad", "warn") for g in ("paper", "raised")) >= 4.5
    )
    assert min(contrast(f"c{i}", "paper") for i in range(7)) >= 3


def test_only_a_yes_has_a_tick(facts: dict[str, Any]) -> None:
    tick = "M4.5 12.5l5 5 10-11"
    for kind in VERDICTS:
        page = render.to_html({**facts, "verdict": [{"kind": kind, "text": "So it is."}]})
        assert (tick in page) == (kind == "separated")


def test_every_verdict_has_its_own_sign(facts: dict[str, Any]) -> None:
    drawn = set()
    for kind in ("separated", "continuous-structure", "no-evidence-of-clusters", "inconclusive"):
        page = render.to_html({**facts, "verdict": [{"kind": kind, "text": "So it is."}]})
        drawn.update(re.findall(rf'<li class="{kind}">\s*<svg[^>]*>(.*?)</svg>', page, re.S))
    assert len(drawn) == 4


def test_a_sign_is_read_as_its_word(facts: dict[str, Any]) -> None:
    entry = {"status": "merged", "n": 3, "share": 0.25, "replicability": 0.5, "low": 0.4, "high": 0.6}
    columns = {"a": ("A", "text"), "b": ("B", "sign"), "c": ("C", "entry")}
    table = _table("t", "T", columns, [["x", "not found", entry], ["y", "", entry]])
    section = {"id": "s", "title": "S", "text": [], "charts": [], "tables": [{**table, "note": "✗ not found"}]}
    page = render.to_html({**facts, "sections": [section]})
    assert '<td class="sign sign-not-found"><span class="mark" aria-hidden="true">✗</span> not found</td>' in page
    assert (
        '<td class="entry sign-merged" data-value="3"><span class="mark" aria-hidden="true" title="merged">⋎</span>'
        '<span class="unseen">merged</span> 3 (25.0 %)<br><span class="score">0.50 [0.40, 0.60]</span></td>'
    ) in page
    assert '<p class="note">✗ not found</p>' in page
    written = render.to_markdown({**facts, "sections": [section]})
    assert "| x | ✗ not found | ⋎ 3 (25.0 %)<br>0.50 \\[0.40, 0.60\\] |" in written
