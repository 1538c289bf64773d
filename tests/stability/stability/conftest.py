"""Fixtures that several tests of this folder share."""

from __future__ import annotations

import numpy as np
import pytest
from tests.stability.stability.cases import WARD, N, X, stable

import clustrep as cr


@pytest.fixture(scope="module")
def jaccard():
    return stable(
        WARD,
        X,
        n_resamples=12,
        perturbation=cr.resampling.Subsample(0.6),
        labels=np.array(["A", "B", "C"])[np.arange(N) % 3],
    )
