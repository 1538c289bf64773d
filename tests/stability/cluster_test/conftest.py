"""Fixtures that several tests of this folder share."""

from __future__ import annotations

import pytest


@pytest.fixture
def X(rng):
    return rng.normal(size=(13, 3)) @ [[1, 0.5, 0], [0, 2, -1], [0, 0, 0.4]] + [5, 0, -2]
