"""Fixtures that several tests of this folder share."""

from __future__ import annotations

import numpy as np
import pytest
from tests.algorithms.by_hand import SHARED, mixture


@pytest.fixture(scope="module")
def overlapping():
    """Three studies of different sizes with blurred clusters, so that no score is 0 or 1."""
    rng = np.random.default_rng(5)
    return {name: mixture(rng, SHARED[:, :3] * 0.7, n) for name, n in (("a", 17), ("b", 22), ("c", 13))}
