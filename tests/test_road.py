"""How many source files a reader must open to follow one call."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

import clustrep as cr

SOURCE = Path(cr.__file__).parent
AT_MOST = 16


def files_of(call):
    """Return the source files in which code runs during a call; compiled kernels count with the file they stand in."""
    files = set()

    def record(frame, event, argument):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(SOURCE) and path.stem != "remembered":  # stands for functools
            files.add(path.relative_to(SOURCE).as_posix())

    before = sys.getprofile()
    sys.setprofile(record)
    try:
        call()
    finally:
        sys.setprofile(before)
    return files


def three_groups(n_features):
    rng = np.random.default_rng(5)
    centres = 6 * rng.normal(size=(3, n_features))
    return [rng.normal(size=(60, n_features)) + np.repeat(centres, 20, axis=0) for _ in range(3)]


def as_frames(tables):
    return {
        f"study {s}": pd.DataFrame(
            table,
            index=[f"sample {s}.{i}" for i in range(len(table))],
            columns=[f"feature {j}" for j in range(table.shape[1])],
        )
        for s, table in enumerate(tables)
    }


@pytest.mark.parametrize(
    ("studies", "at_most"),
    [
        (three_groups(2), AT_MOST),
        (cr.Studies(as_frames(three_groups(2))), AT_MOST),
        (as_frames(three_groups(2)), AT_MOST + 1),  # `studies/alignment.py` compares the names
    ],
    ids=["arrays", "studies", "frames"],
)
def test_one_call_of_replicability_runs_in_few_files(studies, at_most):
    def call():
        cr.replicability(KMeans(3), studies, n_resamples=5, rng=0)

    call()  # imports, and compiles kernels
    files = files_of(call)
    assert {"across/replicability.py", "clustering/shortcuts/kmeans.py", "tables/agreement.py"} <= files
    assert len(files) <= at_most, sorted(files)
