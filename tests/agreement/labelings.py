"""Pairs of labelings that the tests of all agreements and indices share."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


@st.composite
def labelings(draw, max_samples=12):
    """Two labelings of the same samples, of any coarseness."""
    n = draw(st.integers(1, max_samples))
    one, other = (
        draw(st.lists(st.integers(0, draw(st.integers(0, n))), min_size=n, max_size=n).map(np.array)) for _ in range(2)
    )
    return one, other


# The first two are of equal coarseness; then one side is fine, or coarse, or a single cluster.
TEN_SAMPLES = [
    ("aaabbbcccc", "xxxyyyzzzz"),
    ("aaabbbcccc", "xxyyyyzzzx"),
    ("aaaaaaaaab", "xyyyyyyyyy"),
    ("aabbccddee", "xyxyxyxyxy"),
    ("aaaaabbbbb", "xxyyzxxyyz"),
    ("aaaabbbbcd", "xxxxyyyyzz"),
    ("abcdefghij", "xxxxxyyyyy"),
    ("aaaaaaaaaa", "xyzzyxxyzz"),
    ("abcdefghii", "xxyzuvwrst"),
]
