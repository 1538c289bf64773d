"""Tables that are counted on a device are those that are counted on the processor, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from clustrep.agreement.contingency import tables_of_pairs

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'clustrep[gpu]'")


@pytest.mark.parametrize("device", ["torch", *(["cuda"] if torch.cuda.is_available() else [])])
@pytest.mark.parametrize(("shape", "most"), [((3, 5), 4), ((300, 7), 4), ((4, 4), 1000)])
def test_tables(shape, most, device):
    rng = np.random.default_rng(0)
    sizes = (50, 80, 1, 200)
    us, vs = ([rng.integers(k, size=n) for n in sizes] for k in shape)
    weights = [rng.integers(most, size=n) for n in sizes]
    computed = tables_of_pairs(us, vs, weights, shape, device)
    assert computed.dtype == float
    np.testing.assert_array_equal(computed, tables_of_pairs(us, vs, weights, shape))


@pytest.mark.parametrize("device", ["torch", *(["cuda"] if torch.cuda.is_available() else [])])
def test_points_that_do_not_count(device):
    u, counted = np.array([0, 1, 1]), np.array([True, False, True])
    np.testing.assert_array_equal(tables_of_pairs([u], [u], [counted], (2, 2), device), [[[1, 0], [0, 1]]])
