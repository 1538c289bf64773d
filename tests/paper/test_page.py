"""The page: a story in ten lines, a matrix of one screen, tables with quotes; details apart."""

from __future__ import annotations

from dataclasses import replace

import pytest
from paper.claims import Claim
from paper.page import Section, front_page, headlines, write
from paper.run import EXPERIMENTS, line
from paper.verdicts import Verdict

CLAIM = Claim(
    "fig1.peak",
    where="Section 4.1",
    line=308,
    quote="When the clusters | are well separated",
    short="the true k",
    asks="at most 0.02 below",
    kind="all",
    printed="@31",
    ours_written="31",
    ours_published="31, too",
    sentence="Because.",
    written=Verdict.HOLDS,
    published=Verdict.EXCEPTION,
    because="label column",
    front=True,
    headline=True,
    exceptions_published="agglomerative",
)


@pytest.fixture
def sections():
    return [Section(name, title, [CLAIM, replace(CLAIM, front=False)], {}) for name, title in EXPERIMENTS.items()]


def test_the_first_ten_lines_say_what_stands_and_what_does_not():
    only = replace(CLAIM, short="lower", written=Verdict.FAILS, published=Verdict.HOLDS)
    fails = replace(CLAIM, short="k = 3", written=Verdict.MOSTLY_NOT, published=Verdict.FAILS)
    text = front_page([Section("fig1", "Fig. 1", [CLAIM, only, fails], {})])
    first = "\n".join(text.splitlines()[:10])
    assert "**What stands:** the true k." in first
    assert "only as published, and why:** lower (label column)." in first
    assert "**What fails:** k = 3." in first


def test_experiments_that_were_not_run_are_named():
    nothing = replace(CLAIM, written=Verdict.NOT_RUN, published=Verdict.NOT_RUN)
    sections = [Section("fig1", "Fig. 1", [CLAIM], {}), Section("fig2", "Fig. 2", [nothing], {})]
    assert "*Not run with these rules yet: fig2.*" in front_page(sections)
    assert "Not run with these rules" not in front_page(sections[:1])


def test_what_was_not_run_is_no_part_of_the_story():
    assert headlines([replace(CLAIM, written=Verdict.NOT_RUN)]) == ["Nothing was run yet."]


def test_what_is_not_settled_is_said_in_the_head():
    (*_, rest) = headlines([replace(CLAIM, written=Verdict.UNSETTLED, published=Verdict.UNSETTLED)])
    assert rest == "- **What small sizes can't settle:** the true k."


def test_the_matrix_has_a_row_a_figure_and_a_symbol_a_claim(sections):
    text = front_page(sections)
    rows = [row for row in text.splitlines() if row.startswith("| [")]
    assert len(rows) == len(EXPERIMENTS) <= 15
    assert all(row.endswith("| ●● | ◕◕ |") for row in rows)
    assert text.index(rows[0]) < 2500


def test_a_claim_stands_with_its_quote_line_numbers_and_both_verdicts(sections):
    text = front_page(sections)
    (row,) = {row for row in text.splitlines() if "well separated" in row}
    assert row.startswith("| “When the clusters \\| are well separated” (l. 308) | @31 | 31 | 31, too |")
    assert "● holds; ◕ holds with an exception (agglomerative) | Because. |" in row
    assert "1 more, the questions asked" in text


def test_remarks_are_not_counted(sections):
    text = front_page([replace(sections[0], claims=[CLAIM, replace(CLAIM, remark=True)])])
    assert "1 in all" in text


def test_details_have_the_question_and_the_parts(sections, tmp_path):
    claim = replace(CLAIM, parts=("d31: 0.010 ± 0.001 (yes)",), reason="Decided again.")
    write(tmp_path, {"fig1": "Fig. 1"}, {"fig1": [claim]}, {}, ["fig1"])
    text = (tmp_path / "details" / "fig1.md").read_text(encoding="utf-8")
    for words in ("Asked: at most 0.02 below", "d31: 0.010", "Decided again.", "<details>", "small sizes"):
        assert words in text
    assert "Small sizes (fig1)" in (tmp_path / "RESULTS.md").read_text(encoding="utf-8")


def test_the_terminal_has_one_line_a_claim():
    assert line(CLAIM) == "fig1.peak              ● ◕  the true k: holds; as published: holds with an exception"
    assert "\n" not in line(CLAIM)
