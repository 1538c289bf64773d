"""The page in a real browser: what it draws, sorts, prints, and what it refuses to load or run."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from tests.report.sample_page import HOSTILE, sample_facts

from clustrep.report import render

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: the page is not tried")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CUT = """() => [...document.querySelectorAll('.scroll')]
    .filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.getAttribute('aria-labelledby'))"""
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    found = os.environ.get("CLUSTREP_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser: neither CLUSTREP_BROWSER nor {', '.join(BROWSERS)}")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"], headless=True)
        yield started
        started.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "a report & more.html"
    path.write_text(render.to_html(sample_facts()), encoding="utf-8")
    return path.as_uri()


class Visit:
    """The report, opened offline, and whatever it complains of, asks for or pops up."""

    def __init__(self, browser: Any, address: str, width: int = 1200, **options: Any) -> None:
        self.complaints: list[str] = []
        self.context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, **options)
        self.context.set_default_timeout(8000)
        self.context.set_default_navigation_timeout(60_000)  # reading plotly takes long on a busy machine
        self.page = self.context.new_page()
        self.page.on("request", self._note_request)
        self.page.on("console", self._note_console)
        self.page.on("dialog", self._note_dialog)
        self.page.on("pageerror", lambda error: self.complaints.append(f"page error: {error}"))
        self.page.goto(address)

    def _note_request(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.complaints.append(f"request: {request.url}")

    def _note_console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console: {message.text}")

    def _note_dialog(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@pytest.fixture(scope="module")
def visit(browser: Any, address: str) -> Iterator[Visit]:
    opened = Visit(browser, address, color_scheme="light", permissions=["clipboard-read", "clipboard-write"])
    yield opened
    opened.context.close()


@pytest.fixture
def page(visit: Visit) -> Iterator[Any]:
    """One visit serves all tests, because loading plotly takes seconds; its theme and its orders are put back."""
    page = visit.page
    yield page
    chosen = page.evaluate("""() => {
        for (const head of document.querySelectorAll("[aria-sort]")) head.removeAttribute("aria-sort");
        const chosen = "theme" in document.documentElement.dataset;
        delete document.documentElement.dataset.theme;
        return chosen;
    }""")
    for scheme, other in (("dark", "Light theme"), ("light", "Dark theme"))[0 if chosen else 1 :]:
        page.emulate_media(media="screen", color_scheme=scheme)
        page.get_by_role("button", name=other).wait_for()
    assert visit.complaints == []


def cells(page: Any, table: str, column: int) -> list[str]:
    rows = page.locator(f"#table-{table} tbody tr:visible")
    texts: list[str] = rows.locator(f":nth-child({column})").all_inner_texts()
    return texts


def head(page: Any, table: str, name: str) -> Any:
    return page.locator(f"#table-{table} thead").get_by_role("button", name=name, exact=True)


def font_colours(page: Any) -> set[str]:
    return set(page.evaluate("[...document.querySelectorAll('.plot')].map(plot => plot._fullLayout.font.color)"))


def test_every_chart_is_drawn(page: Any) -> None:
    charts = [chart for section in sample_facts()["sections"] for chart in section["charts"]]
    for chart in charts:
        plot = page.get_by_role("img", name=chart["description"], exact=True)
        assert plot.bounding_box()["height"] == pytest.approx(chart["height"], abs=8)
        assert plot.locator(".main-svg").count() > 0
    assert page.title() == sample_facts()["title"]


def test_colour_tokens_are_resolved_but_names_are_left_alone(page: Any) -> None:
    data = "id => document.querySelector(`#chart-${id} .plot`).data"
    (bars,) = page.evaluate(data, "bars")
    assert bars["marker"]["color"] == ["#00734f", "#b3351b", "#00734f", "#59636f"]
    band, curve, *_ = page.evaluate(data, "curves")
    assert (band["fillcolor"], curve["line"]["color"]) == ("rgba(0, 114, 178, 0.15)", "#0072b2")
    assert {strip["name"] for strip in page.evaluate(data, "strips")} == {"@bad"}


def test_hovering_over_a_point_shows_the_samples_name(page: Any) -> None:
    page.locator("#chart-map .plot").scroll_into_view_if_needed()
    page.wait_for_timeout(100)
    box = page.locator("#chart-map .point").nth(17).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2 - 3, box["y"] + box["height"] / 2)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
    label = page.locator("#chart-map .hovertext")
    label.wait_for()
    assert re.search(r"GSM1\d{3}", label.text_content())


def test_a_view_is_chosen_by_its_name(page: Any) -> None:
    views = page.locator("#chart-matrix").get_by_label("View")
    shown = "document.querySelector('#chart-matrix .plot').data[0].z[0][0]"
    before = page.evaluate(shown)
    views.select_option("Standard deviation")
    assert page.evaluate(shown) != before
    assert "Standard deviation" in page.get_by_role("status").inner_text()
    views.focus()
    page.keyboard.press("ArrowUp")
    assert page.evaluate(shown) == before
    assert page.locator("#chart-curves select").count() == 0


def test_sorting_by_click_is_numeric_with_missing_values_last(page: Any) -> None:
    samples = head(page, "pairs", "Samples")
    samples.click()
    assert page.locator("#table-pairs th[aria-sort=ascending]").inner_text().startswith("Samples")
    assert cells(page, "pairs", 4) == ["40"] * 4 + ["1,040"] * 4 + ["2,040"] * 4 + ["3,040"] * 4
    samples.click()
    assert page.locator("#table-pairs th[aria-sort=descending]").count() == 1
    assert cells(page, "pairs", 4)[0] == "3,040"
    page.locator("#table-scores").get_by_role("button", name="Show all rows").click()
    for direction in ("ascending", "descending"):
        head(page, "scores", "p").click()
        ordered = cells(page, "scores", 6)
        assert ordered[-3:] == ["–"] * 3
        assert ordered[:-3] == sorted(ordered[:-3], reverse=direction == "descending")
    page.locator("#table-scores").get_by_role("button", name="Show the first 20 rows").click()


def test_sorting_by_keyboard_is_announced(page: Any) -> None:
    head(page, "scores", "Method").focus()
    page.keyboard.press("Enter")
    assert cells(page, "scores", 1) == sorted(cells(page, "scores", 1), key=str.lower)
    assert page.get_by_role("status").inner_text() == "Scores of every method and k: sorted by Method, ascending."
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert cells(page, "scores", 2)[:3] == ["2", "2", "2"]
    assert page.locator("#table-scores th[aria-sort]").count() == 1


def test_a_long_table_shows_its_beginning_until_asked(page: Any) -> None:
    rows = page.locator("#table-samples tbody tr:visible")
    assert rows.count() == 20
    head(page, "samples", "Cluster").click()
    head(page, "samples", "Cluster").click()
    assert rows.count() == 20
    assert rows.first.locator("td").first.inner_text() == "4"
    page.locator("#table-samples").get_by_role("button", name="Show all rows").click()
    assert rows.count() == 240
    page.get_by_role("button", name="Show the first 20 rows").first.click()
    assert rows.count() == 20


def test_a_wide_table_shows_six_columns_until_asked(page: Any) -> None:
    heads = page.locator("#table-scores thead th:visible")
    assert heads.count() == 6
    assert page.locator("#table-scores tbody tr").first.locator(":visible:is(th, td)").count() == 6
    page.get_by_role("button", name="Show all 8 columns").click()
    assert heads.count() == 8
    page.get_by_role("button", name="Show the first 6 columns").click()
    assert heads.count() == 6
    assert page.locator("#table-pairs .more").count() == 0


def test_every_header_explains_itself(page: Any) -> None:
    assert page.locator("#table-pairs thead th").first.get_attribute("title") == "What Trained on means"
    assert page.locator("thead th:not([title])").count() == 0


def test_no_table_is_cut_on_paper(page: Any) -> None:
    page.set_viewport_size({"width": 680, "height": 900})
    page.emulate_media(media="print", color_scheme="light")
    wider = "[...document.querySelectorAll('table')].filter(t => t.getBoundingClientRect().right > innerWidth).length"
    assert page.evaluate(wider) == 0
    page.emulate_media(media="screen", color_scheme="light")
    page.set_viewport_size({"width": 1200, "height": 900})


def test_light_and_dark_follow_the_system_and_the_button(page: Any) -> None:
    page.emulate_media(color_scheme="light")
    light = font_colours(page)
    page.emulate_media(color_scheme="dark")
    page.get_by_role("button", name="Light theme").wait_for()
    dark = font_colours(page)
    assert len(light) == len(dark) == 1
    assert light != dark
    page.get_by_role("button", name="Light theme").click()
    assert font_colours(page) == light
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.get_by_role("button", name="Dark theme").click()
    assert font_colours(page) == dark


def test_a_zoom_survives_the_theme_but_not_the_view(page: Any) -> None:
    plot = "document.querySelector('#chart-map .plot')"
    page.evaluate(f"Plotly.relayout({plot}, {{'xaxis.range': [0, 1]}})")
    page.locator("#report-theme").click()
    assert page.evaluate(f"{plot}._fullLayout.xaxis.range") == [0, 1]
    page.locator("#chart-map").get_by_label("View").select_option("Clusters")
    assert page.evaluate(f"{plot}._fullLayout.xaxis.range") != [0, 1]


def test_paper_is_light_complete_and_as_wide_as_it_is(page: Any) -> None:
    light = font_colours(page)
    page.emulate_media(media="screen", color_scheme="dark")
    page.get_by_role("button", name="Light theme").wait_for()
    page.emulate_media(media="print", color_scheme="dark")
    page.locator("#report-provenance details[open]").wait_for()
    assert font_colours(page) == light
    assert page.evaluate("Math.max(...[...document.querySelectorAll('.plot svg')].map(svg => svg.clientWidth))") <= 680
    assert page.locator("#table-samples tbody tr:visible").count() == 240
    assert page.locator(".provenance").is_visible()
    for unneeded in ("nav", "#report-theme", "#report-copy", ".more"):
        assert page.locator(f"{unneeded}:visible").count() == 0
    page.emulate_media(media="screen", color_scheme="dark")
    page.locator("#report-provenance details:not([open])").wait_for()
    assert font_colours(page) != light
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_a_narrow_screen_does_not_scroll_sideways(browser: Any, address: str) -> None:
    narrow = Visit(browser, address, width=360, color_scheme="dark", has_touch=True)
    assert narrow.page.evaluate(OVERFLOW) <= 0
    assert narrow.page.evaluate(CUT) == []
    assert narrow.complaints == []
    narrow.context.close()


@pytest.mark.parametrize("width", [320, 800, 1600])
def test_no_width_makes_the_page_scroll_sideways(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_timeout(500)
    assert page.evaluate(OVERFLOW) <= 0
    assert page.locator("#chart-curves .main-svg").first.bounding_box()["width"] <= width
    page.set_viewport_size({"width": 1200, "height": 900})


def test_a_hostile_name_is_shown_and_does_nothing(page: Any) -> None:
    assert page.locator(".verdict .studies").get_by_text(HOSTILE).is_visible()
    assert page.locator("#table-pairs tbody").get_by_text(HOSTILE, exact=True).count() == 8
    ticks = page.locator("#chart-matrix .ytick text").all_text_contents()
    assert any(tick.startswith("<script>alert(1)</script>") for tick in ticks)
    assert page.locator("body script").count() == 3
    cell = page.locator("#chart-matrix .plot .nsewdrag")
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + box["height"] - 12)
    page.mouse.move(box["x"] + 14, box["y"] + box["height"] - 10, steps=3)
    page.locator("#chart-matrix .hovertext").wait_for()
    assert HOSTILE in page.locator("#chart-matrix .hovertext").text_content()


def test_an_injected_script_would_not_run(page: Any, visit: Visit) -> None:
    page.evaluate("""() => {
        document.body.insertAdjacentHTML("beforeend", "<button id=evil onclick='attacked = true'>evil</button>");
        const script = Object.assign(document.createElement("script"), { textContent: "attacked = true" });
        const button = document.getElementById("evil");
        button.append(script);
        button.click();
        button.remove();
    }""")
    assert page.evaluate("window.attacked") is None
    assert len(visit.complaints) == 2
    assert all("Content Security Policy" in complaint for complaint in visit.complaints)
    visit.complaints.clear()


def test_the_keyboard_reaches_everything_in_order(page: Any) -> None:
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    page.mouse.click(2, 2)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "report-main"
    assert page.get_by_role("main").count() == page.get_by_role("banner").count() == 1
    assert page.get_by_role("navigation", name="Contents").get_by_role("link").count() == 8
    assert page.locator("html").get_attribute("lang") == "en"
    named = "e => Boolean(e.ariaLabel || e.textContent || e.labels.length)"
    assert page.evaluate(f"[...document.querySelectorAll('button, select')].every({named})")
    assert page.evaluate("[...document.querySelectorAll('[role=img] *')].filter(e => e.tabIndex >= 0).length") == 0


def test_the_methods_are_copied(page: Any) -> None:
    page.get_by_role("button", name="Copy the methods").click()
    page.get_by_text("Copied", exact=True).first.wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "\n\n".join(sample_facts()["methods"])


def test_a_chart_is_saved_as_a_picture(page: Any) -> None:
    page.locator("#chart-bars .plot").hover()
    with page.expect_download() as saved:
        page.locator("#chart-bars .modebar-btn[data-title^=Download]").click()
    assert saved.value.suggested_filename == "bars.svg"


def test_without_scripting_text_and_tables_are_all_there(browser: Any, address: str) -> None:
    plain = Visit(browser, address, java_script_enabled=False)
    assert plain.page.locator("#table-samples tbody tr:visible").count() == 240
    assert plain.page.locator(".verdict li:visible").count() == 5
    assert plain.page.locator("noscript p:visible").count() == 5
    assert plain.page.locator("button:visible, select:visible").count() == 0
    assert plain.complaints == []
    plain.context.close()


# ---------------------------------------------------------------------------------------------------------------------
# the page of an analysis, with names of a usual length


@pytest.fixture(scope="module")
def analysed(browser: Any, report: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    path = tmp_path_factory.mktemp("analysis") / "report.html"
    report.write_html(path)
    visit = Visit(browser, path.as_uri())
    yield visit.page
    assert visit.complaints == []
    visit.context.close()


def test_the_first_screen_has_the_answer_and_clusters_by_studies(analysed: Any) -> None:
    analysed.set_viewport_size({"width": 1366, "height": 768})
    for part in ("#report-verdict li.separated", "#table-overview-table table"):
        box = analysed.locator(part).bounding_box()
        assert box["y"] + box["height"] <= 768, part


@pytest.mark.parametrize("width", [1200, 400])
def test_no_table_is_cut(analysed: Any, width: int) -> None:
    analysed.set_viewport_size({"width": width, "height": 800})
    for _ in range(100):  # charts follow the window a moment later
        if analysed.evaluate(OVERFLOW) <= 0:
            break
        analysed.wait_for_timeout(100)
    assert analysed.evaluate(CUT) == []


def test_all_columns_fit_into_a_normal_window(analysed: Any) -> None:
    analysed.set_viewport_size({"width": 1200, "height": 800})
    buttons = analysed.get_by_role("button", name=re.compile(r"Show all \d+ columns"))
    for _ in range(buttons.count()):
        buttons.first.click()
    assert analysed.evaluate(CUT) == []


def test_no_table_is_wider_than_paper(analysed: Any) -> None:
    analysed.set_viewport_size({"width": 680, "height": 900})
    analysed.emulate_media(media="print")
    widths = analysed.evaluate("[...document.querySelectorAll('.table table')].map(table => table.scrollWidth)")
    analysed.emulate_media(media="screen")
    assert max(widths) <= 680


def test_a_cluster_has_one_colour_in_every_table_and_chart(analysed: Any) -> None:
    colours = analysed.evaluate("""() => {
        const seen = {};
        for (const mark of document.querySelectorAll('.swatch')) {
            const name = mark.parentElement.textContent.trim().match(/^[A-Z]+/)[0];
            (seen[name] ??= new Set()).add(getComputedStyle(mark).backgroundColor);
        }
        return Object.fromEntries(Object.entries(seen).map(([name, set]) => [name, [...set]]));
    }""")
    assert sorted(colours) == ["A", "B", "C"]
    assert all(len(of_cluster) == 1 for of_cluster in colours.values())
    traces = analysed.evaluate("document.querySelector('#chart-samples .plot').data")
    for trace in traces:
        red, green, blue = (int(trace["marker"]["color"][i : i + 2], 16) for i in (1, 3, 5))
        assert colours[trace["name"]] == [f"rgb({red}, {green}, {blue})"]


def test_columns_are_explained_below_their_table(analysed: Any) -> None:
    table = analysed.locator("#table-findings-table")
    table.get_by_text("What the columns mean").click()
    assert table.get_by_text("Whether the cluster is found in the study.").is_visible()
