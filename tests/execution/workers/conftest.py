"""Fixtures that several tests of this folder share."""

from __future__ import annotations

import pytest


@pytest.fixture
def tables(rng):
    tables = {name: rng.normal(size=(20, 2)) for name in ("a", "b")}
    for X in tables.values():
        X[0] = 0.25  # so that the studies as they are can be clustered
    return tables
