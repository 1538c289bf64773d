"""What the experiments of appendix C share: pairs of clusters in order, and estimates with errors."""

from __future__ import annotations

import numpy as np
import pytest
from paper.appendix_c_common import above, counted, share_of_pairs


def test_share_of_pairs_by_hand():
    """Two spurious and two real clusters of one k: three of four pairs; then one pair of another k, tied."""
    first, second = np.array([[1.0, 3.0, 0.0, 2.0]]), np.array([[5.0, 5.0]])
    flags = [np.array([True, True, False, False]), np.array([True, False])]
    assert share_of_pairs([first], flags[:1]) == pytest.approx(0.75)
    assert share_of_pairs([first, second], flags) == pytest.approx((3 + 0.5) / 5)
    assert counted(flags) == "3/3/5"


def test_above_asks_for_two_errors():
    draws = np.tile([0.4, 0.6], 200)  # a standard error of 0.1
    assert above(np.concatenate([[0.75], draws]), 0.5)
    assert not above(np.concatenate([[0.65], draws]), 0.5)
    assert not above(np.full(401, 0.5), 0.5)
