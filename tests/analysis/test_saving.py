"""The whole analysis in one file."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN
from tests.analysis.cases import assert_same
from tests.helpers import write_archive
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import DataError
from clustrep.files.saved import HEADER


@pytest.mark.parametrize("kind", ["found", "compared"])
def test_everything_comes_back(kind, request, tmp_path):
    one = dataclasses.replace(request.getfixturevalue(kind), warnings=("be careful", "höher"))
    one.save(tmp_path / "result.npz")
    again = cr.load(tmp_path / "result.npz")
    assert_same(one, again)
    assert repr(again) == repr(one)
    for table in ("scores", "samples", "labels", "summary"):
        pd.testing.assert_frame_equal(getattr(again, table)(), getattr(one, table)())
    again.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "result.npz").read_bytes()
    assert not again.coordinates.flags.writeable


def test_nothing_to_look_at_comes_back_too(studies, tmp_path):
    one = cr.analyse(DBSCAN(eps=1000), studies, n_null=0, n_resamples=2, rng=0)
    one.save(tmp_path / "result.npz")
    assert_same(one, cr.load(tmp_path / "result.npz"))


def test_the_file_holds_plain_arrays_and_one_text(found, tmp_path):
    found.save(tmp_path / "result.npz")
    with np.load(tmp_path / "result.npz", allow_pickle=False) as archive:
        assert all(archive[name].dtype.kind in "biufU" for name in archive.files)
        header = json.loads(str(archive[HEADER]))
        assert {"coordinates", "comparison/distribution", "local/0/tables", "findings/codes"} <= set(archive.files)
    assert header["kind"] == "Analysis"
    assert sorted(header["parts"]) == ["annotations", "clustering_tree", "comparison", "findings", "local"]


def damaged(path, change):
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays[HEADER]))
    change(arrays, header)
    arrays[HEADER] = np.array(json.dumps(header))
    write_archive(path, **arrays)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda arrays, _: arrays.pop("comparison/distribution"), id="an array within is missing"),
        pytest.param(lambda arrays, _: arrays.pop("local/1/tables"), id="an array of one of several is missing"),
        pytest.param(lambda arrays, _: arrays.update({"local/0/more": np.zeros(2)}), id="an array too many"),
        pytest.param(lambda _, header: header["parts"].pop("comparison"), id="a part is missing"),
        pytest.param(lambda _, header: header["parts"]["comparison"].update(kind="Bomb"), id="a part of another kind"),
        pytest.param(lambda _, header: header["parts"].update(local=3), id="a part that is a number"),
        pytest.param(lambda _, header: header["parts"]["local"].append(7), id="a number among the parts"),
        pytest.param(lambda _, header: header.update(parts=[1]), id="parts without names"),
        pytest.param(lambda _, header: header["parts"]["comparison"].pop("values"), id="a part without values"),
        pytest.param(lambda _, header: header["values"].pop("coordinate_names"), id="a value is missing"),
    ],
)
def test_a_damaged_file_is_refused_in_one_sentence(change, compared, tmp_path):
    path = tmp_path / "result.npz"
    compared.save(path)
    damaged(path, change)
    with refused(DataError):
        cr.load(path)
