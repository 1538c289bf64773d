"""The least values of every row: against the plain function of its name."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernels import plain

from clustrep.kernels.reductions import CHUNK, keep_least

KERNELS = {"compiled": keep_least, "uncompiled": keep_least.py_func, "plain": plain.keep_least}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("n_columns", "n_kept"), [(1, 1), (5, 3), (CHUNK, 4), (CHUNK + 1, 9), (3 * CHUNK - 5, 20)])
def test_blocks_of_any_width_keep_what_a_stable_sort_puts_first(name, n_columns, n_kept, rng):
    table = np.rint(3 * rng.normal(size=(7, n_columns)))  # with equal values
    values, columns = np.full((7, n_kept), np.inf), np.zeros((7, n_kept), dtype=np.int64)
    for begin in range(0, n_columns, 50):
        KERNELS[name](table[:, begin : begin + 50], begin, values, columns)
    order = np.argsort(table, axis=1, kind="stable")[:, :n_kept]
    np.testing.assert_array_equal(columns[:, : order.shape[1]], order)
    np.testing.assert_array_equal(values[:, : order.shape[1]], np.take_along_axis(table, order, axis=1))
    assert np.isinf(values[:, order.shape[1] :]).all()
