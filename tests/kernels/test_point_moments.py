from __future__ import annotations

import numpy as np
import pytest
from tests.kernels import plain

from clustrep.kernels import reductions as point_moments


@pytest.mark.parametrize("form", ["compiled", "interpreted"])
def test_sums_of_scores_are_the_plain_ones_bit_for_bit(form, rng):
    tables = rng.normal(size=(9, 3, 4))
    tables[rng.random(tables.shape) < 0.3] = np.nan
    rows, columns = rng.integers(3, size=(9, 50)).astype(np.uint8), rng.integers(4, size=(9, 50)).astype(np.uint8)
    rows[:, 0], columns[:, 0], tables[:, 0, 0] = 0, 0, np.nan  # a point without any score

    def computed(kernels):
        counts, totals, squares = np.zeros((3, 50))
        kernels["add_scores"](tables, rows, columns, counts, totals)
        with np.errstate(invalid="ignore"):
            means = totals / counts
        kernels["add_squares"](tables, rows, columns, means, squares)
        return counts, totals, squares

    kernels = {name: getattr(point_moments, name) for name in ("add_scores", "add_squares")}
    if form == "interpreted":
        kernels = {name: kernel.py_func for name, kernel in kernels.items()}
    np.testing.assert_array_equal(computed(kernels), computed(vars(plain)))
