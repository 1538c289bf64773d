"""Files that a released version saved load, with the numbers that they were saved with."""

from __future__ import annotations

import json

import pytest
from tests.golden.make import FOLDER, MEANS, kinds_within, means

import clustrep as cr
from clustrep.results import RESULTS

SAVED = json.loads(MEANS.read_text())


@pytest.mark.parametrize("kind", SAVED)
def test_a_saved_file_loads_with_its_numbers(kind):
    result = cr.load(FOLDER / f"{kind}.npz")
    assert type(result) is RESULTS[kind]
    assert means(result) == pytest.approx(SAVED[kind], rel=1e-12)
    assert repr(result)


def test_every_kind_of_result_has_a_golden_file():
    there = set().union(*(kinds_within(cr.load(FOLDER / f"{kind}.npz")) for kind in SAVED))
    assert there >= set(RESULTS)
