"""How often pairs of points share a cluster."""

from __future__ import annotations

from clustrep._kernels.compiled import compiled
from clustrep.types import IntArray


@compiled
def count_together(codes: IntArray, first: IntArray, second: IntArray, together: IntArray, both: IntArray) -> None:
    """Count for every listed pair the replicates that have both points, and those in which both have the same code.

    codes : (n_points, n_replicates), −1 where a point is not in a replicate
    first, second : (n_pairs,)
    together, both : (n_pairs,), written
    """
    for pair in range(len(first)):
        one, other = codes[first[pair]], codes[second[pair]]
        n_both = n_together = 0
        for b in range(len(one)):
            present = (one[b] >= 0) & (other[b] >= 0)
            n_both += present
            n_together += present & (one[b] == other[b])
        both[pair], together[pair] = n_both, n_together
