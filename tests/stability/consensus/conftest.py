"""Fixtures that several tests of this folder share."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def X():
    """Twelve points without clusters worth the name: resamples disagree."""
    return np.random.default_rng(12).normal(size=(12, 2))
