"""Fixtures that several tests of this folder share."""

from __future__ import annotations

import pytest

import clustrep as cr


@pytest.fixture
def study(rng):
    """Features of very different spread, one of them constant."""
    X = rng.normal(size=(30, 5)) * [1, 10, 0.01, 3, 0] + [0, 100, 0, -5, 7]
    return cr.Study(X, "mainz")
