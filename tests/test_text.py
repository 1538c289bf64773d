"""Text of others, made harmless for terminals and spreadsheets."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import DataError
from clustrep.files.saved import csv_text
from clustrep.text import at_command_line, for_spreadsheet, from_spreadsheet, listing, printable, said_by

CLIPBOARD = "\x1b]52;c;aGk=\x07"
HOSTILE = [
    CLIPBOARD,
    "\x9b2J",
    "\u202egnp.exe",
    "\u2066x\u2069",
    "\u2028",
    "\x7f",
    "\ufeff",
    "\udcff",
    "\U000e0041",
    "\r\x00",
    "\ufdd0label\ufdd1[\ufdd2",
]


def is_harmless(text):
    """An independent rule: printable by Python's own definition, or the joiners that scripts and emoji need."""
    return all(letter.isprintable() or letter in "\n\u200c\u200d" for letter in text)


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_terminal_obeys_is_escaped(text):
    shown = printable(f"a{text}b")
    assert is_harmless(shown)
    assert "\n" not in shown
    assert shown.startswith("a")
    assert shown.endswith("b")
    assert printable(shown) == shown


@pytest.mark.parametrize("text", ["ESR1", "α-Globin", "Müller", "中", "é😀", "👩\u200d🔬", "a b", "C:\\x1b"])
def test_what_people_write_is_shown_as_it_is(text):
    assert printable(text) == text


def test_line_ends_are_kept_only_where_they_are_wanted():
    assert printable("a\nb\tc") == r"a\nb\tc"
    assert printable("a\nb\tc", lines=True) == "a\nb\\tc"


@pytest.mark.parametrize("text", HOSTILE)
def test_json_stays_json(text):
    written = json.dumps({"name": text}, ensure_ascii=False)
    assert json.loads(printable(written, lines=True)) == {"name": text}


def test_lists_errors_and_objects_are_printable():
    name = f"a{CLIPBOARD}\u202e"
    assert is_harmless(listing([name]))
    assert is_harmless(str(DataError(f"There is no file {name}.")))
    table = np.arange(8.0).reshape(4, 2) ** 1.5
    studies = cr.Studies({name: table, "other": table + 1})
    assert is_harmless(repr(studies))
    assert is_harmless(repr(studies[name]))
    result = cr.replicability(lambda X: np.arange(len(X)) % 2, studies, n_resamples=2, rng=0)
    for shown in (result, result.for_training_on(name)):
        assert is_harmless(repr(shown))
        assert r"a\u001b]52" in repr(shown)
    assert result.names == (name, "other")


def test_what_a_clusterer_says_is_printable():
    table = np.arange(8.0).reshape(4, 2) ** 1.5

    def fails(X):
        raise ValueError(f"no{CLIPBOARD}")

    with refused(cr.errors.AllReplicatesFailed):
        cr.replicability(fails, [table, table + 1], n_resamples=2, rng=0)


def test_an_error_that_can_not_be_written_is_still_a_failure():
    class SilentError(Exception):
        def __str__(self):
            raise RuntimeError("never")

    assert said_by(SilentError()) == ""
    table = np.arange(8.0).reshape(4, 2) ** 1.5

    def fails(X):
        raise SilentError

    with refused(cr.errors.AllReplicatesFailed):
        cr.replicability(fails, [table, table + 1], n_resamples=2, rng=0)


@pytest.mark.parametrize("value", ["[", "nonsense", "(" * 1000, "{1: 2}", "[1]"])
def test_marks_in_a_name_do_no_harm(value):
    sentence = DataError(f"Feature \ufdd0label\ufdd1{value}\ufdd2 is odd.").sentence
    written = at_command_line(sentence, lambda name, *values: "".join([name, *(item[:9] for item in values)]))
    assert "label" in written


# ---------------------------------------------------------------------------------------------------------------------
# spreadsheets

NAMES = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "'=1", "''=1", "-", "+", "'t Hart", "-1.5", "ESR1-a"]


@pytest.mark.parametrize("name", NAMES)
def test_a_formula_is_guarded_and_comes_back(name):
    written = for_spreadsheet(name)
    assert from_spreadsheet(written) == name
    assert written[0] not in "=@\t\r"
    assert written[0] not in "+-" or len(written) == 1 or float(written)


def test_formulas_in_names_come_back_from_our_own_csv(tmp_path):
    names = [name.strip() for name in NAMES if name.strip() not in ("-1.5", "=1")]
    frame = pd.DataFrame(np.arange(2.0 * len(names)).reshape(-1, 2) ** 1.5, index=names, columns=["=A1", "@x"])
    frame.insert(0, "-type", ["=A", "+", "-"] * 3 + ["=A"] * (len(names) - 9))
    text = csv_text(frame, index_label="sample")
    assert text.splitlines()[0] == "sample,'-type,'=A1,'@x"
    (tmp_path / "mainz.csv").write_text(text)
    study = cr.Studies.read(tmp_path / "mainz.csv", label="-type")["mainz"]
    assert study.samples == tuple(names)
    assert study.features == ("=A1", "@x")
    assert study.labels.tolist() == frame["-type"].tolist()
    np.testing.assert_array_equal(study.X, frame[["=A1", "@x"]].to_numpy())


def test_numbers_in_csv_are_written_as_they_are():
    frame = pd.DataFrame({"k": pd.array([1, None], dtype="Int64"), "x": [-1.5, np.nan], "name": ["a", None]})
    assert csv_text(frame, index=False) == frame.to_csv(index=False)
