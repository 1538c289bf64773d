"""What all charts of the page share."""

from __future__ import annotations

import numpy as np
import pytest

from clustrep.plots.charts import numbers


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float64(1 / 3), 0.333333),
        (np.nan, None),
        (np.array([[1.0, np.inf]]), [[1.0, None]]),
        (np.int64(3), 3),
        ([1, "x", None], [1, "x", None]),
        ((0.1234567,), [0.123457]),
    ],
)
def test_numbers_become_plain(value, plain):
    assert numbers(value) == plain
