"""How often pairs of points share a cluster, and how many points share a pair of labels."""

from __future__ import annotations

from clustrep._kernels.compiled import compiled
from clustrep.types import FloatArray, IntArray


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


@compiled
def count_tables(u: IntArray, v: IntArray, weights: FloatArray, tables: FloatArray) -> None:
    """Count many labelings u against labelings v of the same weighted points.

    u, v : (n_replicates, n_members, n_points)
    weights : (n_replicates, n_points), whole numbers
    tables : (n_replicates, n_members, k_u, k_v), added to
    """
    for b in range(len(tables)):
        for m in range(tables.shape[1]):
            table, rows, columns, times = tables[b, m], u[b, m], v[b, m], weights[b]
            for i in range(times.size):
                table[rows[i], columns[i]] += times[i]
