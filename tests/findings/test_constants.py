"""The table of constants that decide a verdict has the values of the code."""

from __future__ import annotations

from ast import literal_eval
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "constants.md"
ROWS = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]


@pytest.mark.parametrize(("name", "value"), [(row[0].strip("| `"), row[1]) for row in ROWS])
def test_the_page_has_the_value_of_the_code(name, value):
    module, _, constant = name.rpartition(".")
    assert getattr(import_module(f"clustrep.{module}"), constant) == pytest.approx(literal_eval(value))
