"""The file of sentences holds one for every malformed input, and nothing else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests import test_bad_files, test_bad_inputs
from tests.cli import test_malformed_formats, test_malformed_options, test_malformed_tables
from tests.data import test_bad_studies
from tests.sentences import check_snapshot, key_of, snapshot

ROOT = Path(__file__).parents[1]


def test_every_sentence_belongs_to_a_test():
    commands = (test_malformed_formats, test_malformed_options, test_malformed_tables)
    expected = {module.CASES.heading: set(map(key_of, module.CASES)) for module in commands}
    tables = (test_bad_inputs.EVERYWHERE, test_bad_files.TABLES, test_bad_studies.TABLES, test_bad_studies.FILES)
    for heading, rows in [item for table in tables for item in table.items()]:
        expected[heading] = {key_of(name) for name, *_ in rows}
    of_tests = {heading for heading in snapshot() if heading.startswith("tests/")}
    assert {heading: set(snapshot()[heading]) for heading in set(snapshot()) - of_tests} == expected
    for heading in of_tests:
        tree = ast.parse((ROOT / heading).read_text(encoding="utf-8"))
        functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert {re.split(r"[\[ ]", name)[0].split("::")[-1] for name in snapshot()[heading]} <= functions


def test_another_sentence_is_noticed(monkeypatch):
    monkeypatch.delenv("UPDATE_SENTENCES", raising=False)
    (heading, entries) = next(iter(snapshot().items()))
    (name, sentence) = next(iter(entries.items()))
    check_snapshot(heading, name, sentence)
    with pytest.raises(AssertionError):
        check_snapshot(heading, name, f"{sentence} Or not.")
