"""How often pairs of points share a cluster."""

from __future__ import annotations

from clustrep.kernels.compiled import compiled
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


# ---------------------------------------------------------------------------------------------------------------------
# The least values of every row, kept while blocks of a large table are made one after the other


# Values that are compared with the largest kept at once, in a loop without branches.
CHUNK = 64


@compiled
def keep_least(block: FloatArray, first_column: int, values: FloatArray, columns: IntArray) -> None:
    """Bring the least values of every row up to date with further columns; of equal ones the first column stays.

    block : (n_rows, n_columns), the columns from `first_column` on
    values, columns : (n_rows, n_kept), the least values so far in ascending order and where they are, changed
    """
    n_kept = values.shape[1]
    for i in range(block.shape[0]):
        row, least, where = block[i], values[i], columns[i]
        largest = least[n_kept - 1]
        for begin in range(0, len(row), CHUNK):
            end = min(begin + CHUNK, len(row))
            n_less = 0
            for j in range(begin, end):
                n_less += row[j] < largest
            if n_less == 0:
                continue
            for j in range(begin, end):
                if row[j] < largest:
                    place = n_kept - 1
                    while place > 0 and row[j] < least[place - 1]:
                        least[place], where[place] = least[place - 1], where[place - 1]
                        place -= 1
                    least[place], where[place] = row[j], first_column + j
                    largest = least[n_kept - 1]
