"""The file of sentences holds one for every malformed input, and nothing else."""

from __future__ import annotations

import pytest
from tests import test_bad_files, test_bad_inputs
from tests.cli import test_malformed_formats, test_malformed_options, test_malformed_tables
from tests.sentences import check_snapshot, key_of, snapshot


def test_every_sentence_belongs_to_a_test():
    commands = (test_malformed_formats, test_malformed_options, test_malformed_tables)
    expected = {module.CASES.heading: set(map(key_of, module.CASES)) for module in commands}
    for heading, rows in {**test_bad_inputs.EVERYWHERE, **test_bad_files.TABLES}.items():
        expected[heading] = {key_of(name) for name, *_ in rows}
    assert {heading: set(entries) for heading, entries in snapshot().items()} == expected


def test_another_sentence_is_noticed(monkeypatch):
    monkeypatch.delenv("UPDATE_SENTENCES", raising=False)
    (heading, entries) = next(iter(snapshot().items()))
    (name, sentence) = next(iter(entries.items()))
    check_snapshot(heading, name, sentence)
    with pytest.raises(AssertionError):
        check_snapshot(heading, name, f"{sentence} Or not.")
