"""Facts → page, without a browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from jinja2 import UndefinedError

import clustrep as cr
from clustrep.report import render
from clustrep.report.words import VERDICTS


class Elements(HTMLParser):
    """All tags of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def page(report):
    return report.to_html()


@pytest.fixture(scope="module")
def elements(page):
    return Elements(page)


def test_the_same_results_are_the_same_page(analysis, page, tmp_path):
    assert cr.Report(analysis).to_html() == page
    analysis.save(tmp_path / "result.npz")
    loaded = cr.Report(cr.load(tmp_path / "result.npz"))
    assert loaded.to_html() == page
    loaded.write_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == page


def test_nothing_is_loaded_and_only_our_script_runs(elements, page):
    loading = ("link", "iframe", "base", "object", "embed")
    assert not [attrs for tag, attrs in elements.tags if "src" in attrs or tag in loading]
    addresses = {attrs[name] for _, attrs in elements.tags for name in ("href", "xlink:href") if name in attrs}
    assert all(re.match("#|data:(text/csv|image/png);", address) for address in addresses)
    assert not re.search(r"url\((?!#)|@import", page)
    assert len([tag for tag, _ in elements.tags if tag == "script"]) == 1
    (policy,) = [a["content"] for _, a in elements.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy.replace("style-src 'unsafe-inline'", "")
    assert not re.search(r"/(home|tmp|work|root)/", page)


def test_the_files_of_the_page_cannot_end_their_element():
    assert "</script" not in render.page_file("script.js").lower()
    assert "</style" not in render.page_file("style.css")


def test_ids_are_unique_and_references_resolve(elements):
    ids = [attrs["id"] for _, attrs in elements.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in elements.tags:
        for name in ("aria-labelledby", "data-copy"):
            assert name not in attrs or attrs[name] in ids
        assert not (attrs.get("href") or "").startswith("#") or attrs["href"][1:] in ids


def test_a_missing_fact_is_an_error(report):
    without = {name: value for name, value in report.facts.items() if name != "warnings"}
    with pytest.raises(UndefinedError, match="warnings"):
        render.to_html(without, {})


def test_every_kind_of_sentence_has_a_word(report):
    said = [{"kind": kind, "text": f"It is {kind}."} for kind in VERDICTS]
    page = render.to_html({**report.facts, "verdict": said}, {})
    for kind, word in VERDICTS.items():
        assert re.search(rf'<p class="{kind}"><strong>{word}</strong> It is {kind}.</p>', page)


def test_colours_can_be_seen():
    """WCAG 2.2: 4.5 for text."""
    palette = dict(re.findall(r"--(\w+): (#\w{6});", render.page_file("style.css")))

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for name in ("ink", "muted", "link", "good", "bad", "warn"):
        for ground in ("paper", "raised"):
            dim, bright = sorted([luminance(palette[name]), luminance(palette[ground])])
            assert (bright + 0.05) / (dim + 0.05) >= 4.5, (name, ground)


def test_clusters_have_the_colours_and_markers_of_the_figures(page, report):
    for i, letter in enumerate("ABC"):
        assert f'class="card c{i}" aria-labelledby="cluster-{letter}"' in page
    assert len(render.GLYPHS) == len(render.COLOURS)
