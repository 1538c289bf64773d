"""The page in a browser: what is on its first screen, how long and how large it is, on screens, phones and paper."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from tests.report.samples import WARD

import clustrep as cr

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: the page is not tried")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
CUT = """[...document.querySelectorAll('.scroll')]
    .filter(box => box.clientWidth && box.scrollWidth > box.clientWidth + 1)
    .map(box => box.querySelector('caption').textContent)"""
WIDTH, HEIGHT = 1280, 800
LARGEST = 2_000_000  # bytes


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium is installed: the page is not tried")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"], headless=True)
        yield started
        started.close()


class Visit:
    """A page that was opened, and all that it complained about or asked the network for."""

    def __init__(self, browser: Any, address: str, width: int = WIDTH, height: int = HEIGHT, **options: Any):
        self.context = browser.new_context(viewport={"width": width, "height": height}, **options)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.complaints.append(request.url) if request.url != address else None)
        self.page.goto(address)


@contextlib.contextmanager
def shown_at(page: Any, width: int, *, unfolded: bool = False) -> Iterator[None]:
    """Show a page at another width, with everything open where that is asked for."""
    page.set_viewport_size({"width": width, "height": HEIGHT})
    page.evaluate(f"document.querySelectorAll('details').forEach(each => each.open = {str(unfolded).lower()})")
    yield
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = false)")
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})


def cohorts(n_clusters: int, n_studies: int = 3, n_samples: int = 60) -> cr.Studies:
    options = {"n_samples": n_samples, "n_subtypes": n_clusters, "n_features": 6, "separation": 10}
    return cr.datasets.simulate_cohorts(n_cohorts=n_studies, missing={}, shifted={}, rng=2, **options)


@pytest.fixture(scope="module", params=[2, 3, 4, 5])
def sized(request, browser, tmp_path_factory) -> Iterator[Any]:
    """The page of an analysis of three studies with two to five clusters."""
    n, path = request.param, tmp_path_factory.mktemp("page") / "report.html"
    analysis = cr.analyse({"ward": WARD}, cohorts(n), n_clusters=range(2, 7), n_resamples=10, rng=0)
    assert analysis.n_clusters == n
    cr.Report(analysis).write_html(path)
    visit = Visit(browser, path.as_uri())
    yield n, visit.page, path
    assert visit.complaints == []
    visit.context.close()


def test_the_first_screen_has_the_answer_all_clusters_and_the_studies(sized):
    n, page, _ = sized
    cards = page.locator(".card").all()
    assert len(cards) == n
    for part in [page.locator("#verdict .separated"), *cards, page.locator("#studies-table")]:
        box = part.bounding_box()
        assert 0 <= box["y"] < box["y"] + box["height"] <= HEIGHT
        assert box["x"] + box["width"] <= WIDTH


def test_three_studies_take_six_screens_and_two_megabytes(sized):
    _, page, path = sized
    assert page.evaluate("document.documentElement.scrollHeight") <= 6 * HEIGHT
    assert path.stat().st_size <= LARGEST


@pytest.mark.parametrize("width", [390, 320, 800, 1920])
def test_no_width_makes_the_page_scroll_sideways(sized, width):
    _, page, _ = sized
    with shown_at(page, width, unfolded=True):
        assert page.evaluate(OVERFLOW) <= 0
        drawn = page.locator(".drawing svg").evaluate_all("all => all.map(svg => svg.getBoundingClientRect().width)")
        assert len(drawn) == 8
        assert max(drawn) <= width


def test_no_table_is_cut_on_a_screen(sized):
    _, page, _ = sized
    with shown_at(page, WIDTH, unfolded=True):
        assert page.evaluate(CUT) == []


def test_letters_of_figures_can_be_read_on_a_phone(sized):
    _, page, _ = sized
    scale = "svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width"
    with shown_at(page, 390):
        scales = page.locator(".drawing svg").evaluate_all(f"all => all.map({scale})")
    sizes = page.locator(".drawing svg").evaluate_all(
        "all => all.map(svg => Math.min(...[...svg.querySelectorAll('text')].map(t => parseFloat(t.style.fontSize))))"
    )
    assert min(scale * size for scale, size in zip(scales, sizes, strict=True)) >= 7.5  # pixels


def test_paper_has_everything_but_what_is_folded(sized):
    _, page, _ = sized
    page.emulate_media(media="print")
    with shown_at(page, 690):  # A4 less its margins
        assert page.evaluate(OVERFLOW) <= 0
        assert page.locator(".drawing svg:visible").count() == 8
        assert page.locator("summary:visible, h2 button:visible, .more:visible").count() == 0
    n_pages = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))
    page.emulate_media(media="screen")
    assert 2 <= n_pages <= 5


@pytest.fixture(scope="module")
def many(browser, tmp_path_factory) -> Iterator[Any]:
    """The page of ten studies."""
    path = tmp_path_factory.mktemp("many") / "report.html"
    made = cr.analyse({"ward": WARD}, cohorts(4, 10, 150), n_clusters=range(2, 9), n_resamples=5, rng=0)
    cr.Report(made).write_html(path)
    visit = Visit(browser, path.as_uri())
    yield visit.page, path
    assert visit.complaints == []
    visit.context.close()


def test_ten_studies_stay_small(many):
    page, path = many
    assert path.stat().st_size <= LARGEST
    assert page.evaluate(OVERFLOW) <= 0


def test_a_long_table_shows_its_beginning_until_asked(many):
    page, _ = many
    figure = page.locator("#figure-pairs")
    figure.get_by_text("Table", exact=True).click()
    rows = figure.locator("tbody tr:visible")
    assert rows.count() == 20
    figure.get_by_role("button", name=re.compile("Show all")).click()
    assert rows.count() == 90


def test_tables_are_sorted_by_number_with_missing_values_last(many):
    page, _ = many
    page.locator("#findings").get_by_text("Table", exact=True).click()
    head = page.locator("#findings-table thead button").get_by_text("n", exact=True)
    column = page.locator("#findings-table tbody tr td:nth-child(4)")
    for direction in (1, -1):
        head.click()
        values = [float(cell.get_attribute("data-value")) for cell in column.all()]
        assert values == sorted(values, reverse=direction < 0)
    assert page.locator("#findings-table th[aria-sort=descending]").count() == 1


def test_every_number_is_explained_where_the_pointer_rests(many):
    page, _ = many
    cell = page.locator("#studies-table tbody td.number").first
    cell.hover()
    assert cell.get_attribute("title") == page.locator("#studies-table th.number").first.get_attribute("title")
    assert page.locator("thead th:not([title]), .card dd:not([title]), .card li:not([title])").count() == 0


def test_every_figure_has_its_numbers_and_its_line_of_python(many):
    page, _ = many
    for figure in page.locator("figure").all():
        assert figure.locator("a[download]").count() == figure.locator("code").count() == 1
    with page.expect_download() as saved:
        page.locator("#figure-tree a[download]").click()
    assert saved.value.suggested_filename == "tree.csv"


def test_the_methods_are_copied(many):
    page, _ = many
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    page.get_by_text("Copied", exact=True).wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith("Replicability of clusters")


def test_an_injected_script_does_not_run(browser, many):
    visit = Visit(browser, many[1].as_uri())
    visit.page.evaluate("""() => {
        const script = Object.assign(document.createElement("script"), { textContent: "attacked = true" });
        document.body.append(script);
    }""")
    assert visit.page.evaluate("window.attacked") is None
    (complaint,) = visit.complaints
    assert "Content Security Policy" in complaint
    visit.context.close()


def test_without_scripting_everything_is_there(browser, many):
    plain = Visit(browser, many[1].as_uri(), java_script_enabled=False)
    assert plain.page.locator(".drawing svg:visible").count() == 8
    assert plain.page.locator("button:visible").count() == 0
    plain.page.locator("#figure-pairs").get_by_text("Table", exact=True).click()
    assert plain.page.locator("#pairs-table tbody tr:visible").count() == 90
    assert plain.complaints == []
    plain.context.close()
