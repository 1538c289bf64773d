"""Fixtures that several tests of this folder share."""

from __future__ import annotations

import pytest


@pytest.fixture
def X(rng):
    return rng.normal(size=(14, 3))
