"""Facts → page and Markdown, without a browser."""

from __future__ import annotations

import copy
import html as stdlib_html
import json
import math
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from jinja2 import UndefinedError

from clustrep.report import formatting, html, markdown

HOSTILE = "<script>alert(1)</script> & \"Co\" 'x' {{ 7 * 7 }} {% if %}"
STUDIES = ["mainz", "transbig", "vdx", HOSTILE]


def sample_facts() -> dict[str, Any]:
    """Everything a report can hold, with one study whose name attacks the page."""
    rng = np.random.default_rng(5)
    sections = [_curves(rng), _studies(rng), _local(rng), _clusters(rng)]
    return {
        "title": "Breast cancer subtypes in four cohorts",
        "subtitle": "Which clusters hold up when someone else repeats the study: k-means and Ward on 50 genes, "
        "100 bootstrap resamples.",
        "verdict": [
            {
                "kind": "best",
                "text": "k-means with 4 clusters replicates best: agreement 0.71 (95 % interval 0.64–0.78).",
            },
            {"kind": "studies", "text": f"mainz and transbig predict each other; {HOSTILE} is predicted by none."},
            {
                "kind": "clusters",
                "text": "Clusters 1 and 3 hold up everywhere. Cluster 2 is found again in two of four.",
            },
            {"kind": "caution", "text": "Can't tell between k = 4 and k = 5: their difference has an interval with 0."},
            {"kind": "failure", "text": "Ward failed in 3 of 100 resamples of vdx."},
        ],
        "sections": sections,
        "methods": [
            "Replicability was measured with clustrep 0.1.0: a clustering function was learned on each study and "
            "applied to every other, and its labels were compared with that study's own by the adjusted Rand index.",
            "Intervals are percentile bootstrap intervals over 100 resamples of all studies (Masoero et al., 2022).",
        ],
        "warnings": ["12 features were dropped: not in every study.", "vdx has 3 resamples with one cluster only."],
        "provenance": [["seed", 20231], ["clustrep", "0.1.0"], ["parameters", {"k": [2, 3, 4], "whiten": False}]],
    }


def _section(name: str, title: str, text: str, *parts: dict[str, Any]) -> dict[str, Any]:
    charts = [part for part in parts if "views" in part]
    tables = [part for part in parts if "rows" in part]
    return {"id": name, "title": title, "text": [text], "charts": charts, "tables": tables}


def _chart(name: str, title: str, description: str, height: int, *views: Any) -> dict[str, Any]:
    shown = [{"name": view, "data": data, "layout": layout} for view, data, layout in views]
    return {"id": name, "title": title, "description": description, "height": height, "views": shown}


def _table(name: str, title: str, columns: dict[str, tuple[str, str]], rows: list[list[Any]]) -> dict[str, Any]:
    described = [{"key": key, "label": label, "kind": kind} for key, (label, kind) in columns.items()]
    return {
        "id": name,
        "title": title,
        "columns": described,
        "rows": [dict(zip(columns, row, strict=True)) for row in rows],
    }


def _curves(rng: np.random.Generator) -> dict[str, Any]:
    ks = list(range(2, 11))
    data: list[dict[str, Any]] = []
    rows: list[list[Any]] = []
    for i, (name, peak) in enumerate([("k-means", 0.71), ("Ward", 0.63), ("Gaussian mixture", 0.55)]):
        mean = [round(peak - 0.012 * (k - 4) ** 2 + 0.02 * rng.standard_normal(), 3) for k in ks]
        low, high = [m - 0.06 for m in mean], [m + 0.05 for m in mean]
        band = {
            "x": ks + ks[::-1],
            "y": high + low[::-1],
            "fill": "toself",
            "fillcolor": f"@c{i}/0.15",
            "line": {"width": 0},
        }
        data.append(band | {"mode": "lines", "hoverinfo": "skip", "showlegend": False, "legendgroup": name})
        data.append(
            {
                "x": ks,
                "y": mean,
                "name": name,
                "legendgroup": name,
                "mode": "lines+markers",
                "line": {"color": f"@c{i}"},
            }
        )
        shown = zip(ks, mean, low, high, strict=True)
        rows += [[name, k, m, a, b, None if k > 9 else 0.005 * k, 0.01 * (k - 2), k == 4] for k, m, a, b in shown]
    axes = {
        "xaxis": {"title": {"text": "number of clusters"}, "dtick": 1},
        "yaxis": {"title": {"text": "agreement (ARI)"}},
    }
    curves = "Mean agreement between studies against the number of clusters, with 95 % bands, one curve per method."
    columns = {"name": ("Method", "text"), "k": ("k", "count"), "mean": ("Mean", "number"), "low": ("Low", "number")}
    columns |= {"high": ("High", "number"), "p": ("p", "p"), "trivial": ("Trivial", "share"), "best": ("Best", "flag")}
    text = "Agreement is highest at four clusters for k-means. Beyond six, every method loses more than it gains."
    return _section(
        "choice",
        "How many clusters",
        text,
        _chart("curves", "Agreement over k", curves, 380, ("ARI", data, axes)),
        _table("scores", "Scores of every method and k", columns, rows),
    )


def _studies(rng: np.random.Generator) -> dict[str, Any]:
    names = [stdlib_html.escape(name, quote=False) for name in STUDIES]
    score = np.round(0.35 + 0.5 * rng.random((4, 4)), 3)
    sd = np.round(0.02 + 0.06 * rng.random((4, 4)), 3)
    hover = "trained on %{y}<br>tested on %{x}<br>%{z:.3f}<extra></extra>"

    def heat(z: Any, **options: Any) -> list[dict[str, Any]]:
        values = z.tolist()
        common = {
            "type": "heatmap",
            "x": names,
            "y": names,
            "z": values,
            "hovertemplate": hover,
            "texttemplate": "%{z:.2f}",
        }
        return [common | options]

    layout = {
        "xaxis": {"title": {"text": "tested on"}, "showgrid": False, "constrain": "domain"},
        "yaxis": {"title": {"text": "trained on"}, "autorange": "reversed", "showgrid": False},
    }
    views = (
        ("Mean", heat(score, zmin=0, zmax=1), layout),
        ("Standard deviation", heat(sd, colorscale=[[0, "@paper"], [1, "@c1"]]), layout),
        ("Excess over chance", heat(score - 0.3), layout),
    )
    pairs = [
        [a, b, float(score[i, j]), int(40 + 1000 * i)] for i, a in enumerate(STUDIES) for j, b in enumerate(STUDIES)
    ]
    columns = {"train": ("Trained on", "text"), "test": ("Tested on", "text"), "mean": ("Mean", "number")}
    text = f"Rows train, columns test. {HOSTILE} stands apart."
    return _section(
        "studies",
        "Which studies predict each other",
        text,
        _chart("matrix", "Study by study", "Agreement of each training study with each test study.", 440, *views),
        _table("pairs", "Every pair of studies", columns | {"n": ("Samples", "count")}, pairs),
    )


def _local(rng: np.random.Generator) -> dict[str, Any]:
    centres = np.array([[0, 0], [4, 1], [1, 4], [5, 5]])
    names = [f"GSM{1000 + i}" for i in range(240)]
    at = np.repeat(centres, 60, axis=0) + 0.8 * rng.standard_normal((240, 2))
    scores = np.clip(0.9 - 0.15 * np.abs(rng.standard_normal(240)) - 0.3 * np.repeat([0, 1, 0, 0.5], 60), 0, 1)
    marker = {
        "size": 7,
        "color": scores.round(3).tolist(),
        "colorscale": "Viridis",
        "cmin": 0,
        "cmax": 1,
        "showscale": True,
    }
    point = {"type": "scatter", "mode": "markers", "x": at[:, 0].round(3).tolist(), "y": at[:, 1].round(3).tolist()}
    hover = {"text": names, "hovertemplate": "%{text}<br>local agreement %{marker.color:.2f}<extra></extra>"}
    groups = [
        {"type": "scatter", "mode": "markers", "name": f"cluster {c + 1}", "marker": {"color": f"@c{c}", "size": 7}}
        | {
            "x": point["x"][60 * c : 60 * c + 60],
            "y": point["y"][60 * c : 60 * c + 60],
            "text": names[60 * c : 60 * c + 60],
        }
        for c in range(4)
    ]
    axes = {"xaxis": {"title": {"text": "PC 1"}}, "yaxis": {"title": {"text": "PC 2"}}}
    views = (("Local agreement", [point | hover | {"marker": marker}], axes), ("Clusters", groups, axes))
    rows = [[name, 1 + i // 60, float(score)] for i, (name, score) in enumerate(zip(names, scores, strict=True))]
    columns = {"name": ("Sample", "text"), "cluster": ("Cluster", "count"), "score": ("Local agreement", "number")}
    return _section(
        "local",
        "Where it holds up",
        "Each point is a sample of mainz, coloured by how far its neighbourhood is found again in transbig.",
        _chart("map", "Local map", "Samples by their first two components, coloured by local agreement.", 460, *views),
        _table("samples", "Every sample", columns, rows),
    )


def _clusters(rng: np.random.Generator) -> dict[str, Any]:
    names = [f"cluster {c + 1}" for c in range(4)]
    error = {
        "type": "data",
        "symmetric": False,
        "array": [0.05, 0.1, 0.06, 0.08],
        "arrayminus": [0.06, 0.12, 0.05, 0.1],
    }
    tones = ["@good", "@bad", "@good", "@muted"]
    bars = [{"type": "bar", "x": names, "y": [0.88, 0.42, 0.81, 0.6], "error_y": error, "marker": {"color": tones}}]
    strips = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": "@bad",
            "x": (0.4 + 0.1 * c + 0.06 * rng.standard_normal(50)).tolist(),
        }
        | {"y": (c + 0.2 * rng.random(50)).tolist(), "marker": {"color": f"@c{c}/0.6", "size": 5}}
        for c in range(4)
    ]
    ticks = {
        "xaxis": {"title": {"text": "Jaccard, one point per resample"}},
        "yaxis": {"tickvals": [0, 1, 2, 3], "ticktext": names},
    }
    return _section(
        "clusters",
        "Which clusters hold up",
        "A cluster is found again where more of it is kept than not.",
        _chart(
            "bars",
            "Mean agreement per cluster",
            "Bars with 95 % intervals.",
            320,
            ("Mean", bars, {"yaxis": {"range": [0, 1]}}),
        ),
        _chart(
            "strips",
            "All resamples",
            "One strip of points per cluster.",
            320,
            ("All", strips, ticks | {"showlegend": False}),
        ),
    )


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
    return html.render(facts)


@pytest.fixture(scope="module")
def elements(page: str) -> Elements:
    parsed = Elements()
    parsed.feed(page.replace(html.plotly_source(), ""))
    return parsed


def test_the_same_facts_give_the_same_bytes(facts: dict[str, Any], page: str) -> None:
    again = copy.deepcopy(facts)
    again = dict(reversed(again.items()))
    assert html.render(again).encode() == page.encode()
    assert markdown.render(again) == markdown.render(facts)


def test_the_page_is_complete_and_not_too_large(page: str) -> None:
    own = sum(len(html.page_file(name).encode()) for name in ("template.html", "style.css", "script.js"))
    assert own < 40_000
    assert len(page.encode()) < 6_000_000
    assert page.startswith("<!doctype html>")
    assert page.count(html.plotly_source()) == 1


def test_the_scripts_cannot_end_their_element() -> None:
    for source in (html.plotly_source(), html.page_file("script.js")):
        assert "</script" not in source.lower()
        assert "<!--" not in source
        assert "\r" not in source
    assert "</style" not in html.page_file("style.css")


def test_a_hostile_name_is_text(facts: dict[str, Any], elements: Elements) -> None:
    assert [attrs.get("type") for tag, attrs in elements.tags if tag == "script"] == ["application/json", None, None]
    assert sum(HOSTILE in text for text in elements.texts) >= 1 + 1 + 7  # verdict, paragraph, its row and its column
    assert not [tag for tag, attrs in elements.tags if any(name.startswith("on") for name in attrs)]
    charts = [{"charts": section["charts"]} for section in facts["sections"]]
    assert json.loads(elements.scripts[1]) == {"methods": facts["methods"], "sections": charts}


def test_facts_json_cannot_leave_its_script() -> None:
    text = html.as_json({"title": "</script><!-- & \u2028 \u2029 é"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"title": "</script><!-- & \u2028 \u2029 é"}


def test_nan_is_refused_not_written() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        html.as_json({"value": math.nan})


def test_a_missing_fact_is_an_error(facts: dict[str, Any]) -> None:
    with pytest.raises(UndefinedError, match="warnings"):
        html.render({name: value for name, value in facts.items() if name != "warnings"})


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
    assert not re.search(r"/(home|tmp|work|root)/", page.replace(html.plotly_source(), ""))


def test_ids_are_unique_and_references_resolve(elements: Elements) -> None:
    ids = [attrs["id"] for _, attrs in elements.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in elements.tags:
        for name in ("aria-labelledby", "for"):
            assert name not in attrs or attrs[name] in ids
        assert not (attrs.get("href") or "").startswith("#") or attrs["href"][1:] in ids


@pytest.mark.parametrize(("kind", "word"), html.VERDICTS.items())
def test_every_kind_of_verdict_has_a_word(facts: dict[str, Any], kind: str, word: str) -> None:
    said = {**facts, "verdict": [{"kind": kind, "text": "So it is."}]}
    assert re.search(
        rf'<li class="{kind}">\s*<svg.*?</svg>\s*<p><strong>{word}</strong> So it is.</p>', html.render(said), re.S
    )
    assert f"- **{word}.** So it is." in markdown.render(said)


def test_an_unknown_kind_of_verdict_is_an_error(facts: dict[str, Any]) -> None:
    said = {**facts, "verdict": [{"kind": "praise", "text": "Well done."}]}
    with pytest.raises(UndefinedError, match="praise"):
        html.render(said)
    with pytest.raises(KeyError, match="praise"):
        markdown.render(said)


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
    page = html.render(bare)
    assert "<section" not in page
    assert "<li>" not in page
    assert markdown.render(bare) == "# Nothing\n"


@pytest.mark.parametrize(
    ("value", "kind", "text", "raw"),
    [
        (None, "number", "–", ""),
        (None, "text", "–", ""),
        (0.005, "p", "0.005", "0.005"),
        (0.0004, "p", "< 0.001", "0.0004"),
        (0.71234, "number", "0.712", "0.71234"),
        (1, "number", "1.000", "1"),
        (-0.0, "number", "0.000", "-0.0"),
        (-0.25, "number", "-0.250", "-0.25"),
        (1234, "count", "1,234", "1234"),
        (0.5, "share", "50.0 %", "0.5"),
        (0, "share", "0.0 %", "0"),
        (True, "flag", "yes", "1"),
        (False, "flag", "no", "0"),
        ("k-means", "text", "k-means", None),
        ("can't tell", "number", "can't tell", None),
        (4, "text", "4", None),
    ],
)
def test_values_are_written_by_kind(value: Any, kind: str, text: str, raw: str | None) -> None:
    assert formatting.cell(value, kind) == text
    assert formatting.sort_value(value, kind) == raw


def test_an_unknown_kind_of_column_is_an_error() -> None:
    with pytest.raises(KeyError, match="money"):
        formatting.cell(1.0, "money")


def test_cells_carry_the_raw_value(page: str) -> None:
    assert '<td class="p" data-value="0.01">0.010</td>' in page
    assert '<td class="p" data-value="">–</td>' in page
    assert '<th scope=row class="text">k-means</th>' in page


def test_markdown_tables_keep_their_shape(facts: dict[str, Any]) -> None:
    table = _table("t", "A|B", {"a": ("A|B", "text"), "p": ("p", "p")}, [["x|y\nz", 0.0001], ["\\|", None]])
    section = {"id": "s", "title": "S", "text": [], "charts": [], "tables": [table]}
    lines = markdown.render({**facts, "sections": [section]}).splitlines()
    start = lines.index("| A\\|B | p |")
    assert lines[start + 1 : start + 4] == ["| --- | ---: |", "| x\\|y<br>z | < 0.001 |", "| \\\\\\| | – |"]
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3 for line in lines[start : start + 4])


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("<script>alert(1)</script>", "&lt;script>alert(1)&lt;/script>"),
        ("p < 0.05 in R&D, n_resamples", "p < 0.05 in R&D, n_resamples"),
        ("&lt;", "&amp;lt;"),
        ("*a* _b_ `c` [d](e)", "\\*a\\* \\_b\\_ \\`c\\` \\[d\\](e)"),
        ("# not a heading\n# nor this", "\\# not a heading # nor this"),
        ("- item", "\\- item"),
        ("2. item", "2\\. item"),
        ("---", "\\---"),
    ],
)
def test_markdown_text_is_read_as_it_stands(text: str, written: str) -> None:
    assert markdown.escape(text) == written


def test_markdown_has_everything(facts: dict[str, Any]) -> None:
    text = markdown.render(facts)
    assert text.startswith("# Breast cancer subtypes in four cohorts\n\n")
    assert "*Figure.* **Study by study.** Agreement of each training study with each test study." in text
    assert "| seed | 20231 |" in text
    assert "<script" not in text
    for heading in ("How many clusters", "Methods", "Warnings", "How this was computed"):
        assert f"## {heading}\n" in text


def palettes() -> list[dict[str, str]]:
    blocks = re.findall(r":root[^{]*\{([^}]*)\}", html.page_file("style.css"))
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
