"""Files that a released version saved load, with the numbers that they were saved with."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from tests.golden.make import FOLDER, MEANS, kinds_within, means

import clustrep as cr
from clustrep.errors import DataError
from clustrep.files.archives import write_archive
from clustrep.results import RESULTS

SAVED = json.loads(MEANS.read_text())


@pytest.mark.parametrize("kind", SAVED)
def test_a_saved_file_loads_with_its_numbers(kind):
    result = cr.load(FOLDER / f"{kind}.npz")
    assert type(result) is RESULTS[kind]
    assert means(result) == pytest.approx(SAVED[kind], rel=1e-12)
    assert repr(result)


CHANGES = {
    "a row less": lambda array: array[:-1],
    "a row more": lambda array: np.concatenate([array, array[:1]]),
    "turned": lambda array: array.T if array.ndim > 1 else array[:, None],
    "flat": lambda array: array.ravel() if array.ndim > 1 else array[None],
    "empty": lambda array: array[:0],
    "deeper": lambda array: array[..., None],
    "a column more": lambda array: np.concatenate([array, array[..., :1]], axis=-1) if array.ndim > 1 else array,
    "references to nothing": lambda array: array - 100 if array.dtype.kind == "i" else array,
}


@pytest.mark.parametrize("kind", SAVED)
def test_arrays_of_other_shapes_are_refused_or_harmless(kind, tmp_path):
    """Of files that somebody put together by hand, with the right checksum."""
    with np.load(FOLDER / f"{kind}.npz", allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    n_refused = 0
    for name, change in itertools.product(sorted(set(arrays) - {"clustrep"}), CHANGES):
        array = arrays[name]
        changed = CHANGES[change](array) if array.ndim else array
        if changed is array or (changed.shape == array.shape and change != "references to nothing"):
            continue
        path = tmp_path / "crafted.npz"
        with open(path, "w+b") as stream:
            write_archive(stream, {**arrays, name: changed})
        try:
            result = cr.load(path)
        except DataError:
            n_refused += 1
            continue
        if hasattr(result, "to_frame"):
            result.to_frame()
        if kind == "Analysis":
            cr.Report(result).to_markdown()
    assert n_refused


def test_every_kind_of_result_has_a_golden_file():
    there = set().union(*(kinds_within(cr.load(FOLDER / f"{kind}.npz")) for kind in SAVED))
    assert there >= set(RESULTS)
