"""Fixtures that several tests of this folder share."""

from __future__ import annotations

import pytest
from tests.stability.validate.cases import KMEANS, NUMBERS, RUN, X

import clustrep as cr


@pytest.fixture(scope="module")
def validation():
    return cr.stability.validate(KMEANS, X, n_clusters=NUMBERS, **RUN)
