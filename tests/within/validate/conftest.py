"""Fixtures that several tests of this folder share."""

from __future__ import annotations

import pytest
from tests.within.validate.cases import KMEANS, NUMBERS, RUN, X

import clustrep as cr


@pytest.fixture(scope="module")
def validation():
    return cr.validate(KMEANS, X, n_clusters=NUMBERS, **RUN)
