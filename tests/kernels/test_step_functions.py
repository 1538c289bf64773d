from __future__ import annotations

import numpy as np
import pytest
from tests.kernels import plain

from clustrep.kernels import reductions as step_functions


@pytest.mark.parametrize("form", ["compiled", "interpreted"])
@pytest.mark.parametrize(("shape", "decimals"), [((7, 300), 12), ((40, 5), 1), ((3, 1), 12), ((5, 9), 0)])
def test_integrals_are_the_plain_ones_bit_for_bit(form, shape, decimals, rng):
    kernel = step_functions.integrate_steps
    values = np.round(rng.exponential(size=shape), decimals)  # with few decimals there are ties
    order, integrals, expected = np.argsort(values, axis=None), *np.empty((2, shape[0], shape[1] + 1))
    (kernel.py_func if form == "interpreted" else kernel)(values, order, integrals)
    plain.integrate_steps(values, order, expected)
    np.testing.assert_array_equal(integrals, expected)


def test_the_order_of_equal_values_changes_nothing(rng):
    values = rng.integers(4, size=(20, 6)).astype(float)
    stable = np.argsort(values, axis=None, kind="stable")
    reversed_ties = np.lexsort([-np.arange(values.size), values.ravel()])
    integrals, expected = np.empty((2, 20, 7))
    step_functions.integrate_steps(values, reversed_ties, integrals)
    step_functions.integrate_steps(values, stable, expected)
    np.testing.assert_array_equal(integrals, expected)
