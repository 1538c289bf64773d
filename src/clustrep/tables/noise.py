"""What is done with points that a clusterer calls noise, label −1."""

from __future__ import annotations

import numpy as np

from clustrep.types import BoolArray, IntArray

NOISE = -1


def separate(codes: IntArray, is_noise: BoolArray) -> IntArray:
    """Make each noise point a block of its own."""
    codes = codes.copy()
    codes[is_noise] = codes.max() + 1 + np.arange(np.count_nonzero(is_noise))
    return codes
