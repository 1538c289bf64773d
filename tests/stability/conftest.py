"""Fixtures that several tests of this folder share."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")
