"""What the folders say of the paper's claims: complete, in the paper's own words, one place for printed numbers."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from paper.claims import Finding, claim_of, described, not_run
from paper.run import EXPERIMENTS
from paper.verdicts import KINDS, Part, Verdict

HERE = Path(__file__).parents[2] / "paper"
EACH = pytest.mark.parametrize("name", EXPERIMENTS)
KEYS = {
    *("short", "where", "line", "quote", "kind", "asks", "printed", "written", "published", "departure", "because"),
    *("reason", "sentence", "front", "headline", "needs_full", "remark"),
}
TEXT = {
    "where": "Fig. 1",
    "line": 1,
    "quote": "words",
    "short": "a claim",
    "asks": "at least {DIFFERENCE}",
    "written": "{a} as written",
    "published": "{b} as published",
    "sentence": "Because of {a}.",
}


@EACH
def test_a_folder_has_runs_claims_and_figures(name):
    assert {"runs.py", "claims.py", "claims.toml", "figures.py"} <= {path.name for path in (HERE / name).iterdir()}


@EACH
def test_every_claim_is_described_in_full(name):
    for key, text in described(name).items():
        assert set(text) <= KEYS, key
        assert text.get("kind", "all") in KINDS
        assert all(text[word] for word in ("short", "where", "line", "quote", "asks", "sentence"))
        assert bool(text.get("because")) == text.get("headline", False), key
        assert text.get("remark") or text.get("written") or text.get("published")


@EACH
def test_three_to_six_claims_of_a_figure_stand_on_the_front_page(name):
    assert 2 <= sum(text.get("front", False) for text in described(name).values()) <= 7


@EACH
def test_quotes_are_on_the_line_that_is_named(name):
    source = Path(os.environ.get("CLUSTREP_DATA", "no folder")).parent / "paper" / "paper.tex"
    if not source.is_file():
        pytest.skip("the paper's source is not here")
    lines = source.read_text(encoding="utf-8").splitlines()
    for key, text in described(name).items():
        there = words_of(" ".join(lines[text["line"] - 2 : text["line"] + 1]))
        quoted = words_of(re.sub(r"\[[^]]*\]", " ", text["quote"]))
        found = sum(word in there for word in quoted)
        assert found >= 0.8 * len(quoted), (key, [word for word in quoted if word not in there])


def words_of(text):
    """The words of a text of three letters or more, without the marks of LaTeX."""
    return re.findall(r"[a-z]{3,}", re.sub(r"\\[a-zA-Z]+\*?", " ", text).lower())


def test_printed_numbers_are_in_one_file():
    for path in sorted(HERE.glob("*/*.py")):
        assert not re.search(r"0\.(976|477|814|513|807|873)\b", path.read_text(encoding="utf-8")), path


def test_a_claim_has_two_verdicts_and_names_its_exceptions():
    good, bad = Part("good", 1.0), Part("bad", -1.0)
    finding = Finding([good, good, good, bad], [bad], {"a": 1, "b": 2})
    claim = claim_of("fig1.x", TEXT, finding, quick=False)
    assert (claim.written, claim.published) == (Verdict.EXCEPTION, Verdict.FAILS)
    assert claim.exceptions == "bad"
    assert claim.asks == "at least 0.02"
    assert (claim.ours_written, claim.ours_published, claim.sentence) == (
        "1 as written",
        "2 as published",
        "Because of 1.",
    )


def test_a_claim_without_a_side_has_no_verdict_there():
    claim = claim_of("fig1.x", TEXT, Finding([Part("good", 1.0)], None, {"a": 1}), quick=False)
    assert (claim.written, claim.published, claim.ours_published) == (Verdict.HOLDS, Verdict.NONE, "")


def test_quick_sizes_that_ask_fewer_parts_give_no_verdict():
    finding = Finding([Part("good", 1.0)], [Part("good", 1.0)], {"a": 1, "b": 2})
    claim = claim_of("fig1.x", TEXT | {"needs_full": True}, finding, quick=True)
    assert (claim.written, claim.published) == (Verdict.UNSETTLED, Verdict.UNSETTLED)


def test_a_claim_that_comes_out_the_other_way_round_is_a_misprint():
    finding = Finding([Part("falls", -1.0)], [Part("falls", -1.0)], {"a": 1, "b": 2}, opposite=[Part("rises", 1.0)])
    claim = claim_of("c3.x", TEXT, finding, quick=False)
    assert (claim.written, claim.published) == (Verdict.MISPRINT, Verdict.MISPRINT)


def test_what_was_not_run_says_so():
    assert {claim.written for claim in not_run("fig1")} == {Verdict.NOT_RUN}
