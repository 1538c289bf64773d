"""Lloyd's iterations for weighted points: by features here, by distances and by products in files of their own.

Which of the three is fastest depends on the shape alone.

All follow scikit-learn's rules: stop when no label changes, or when the centres' squared shifts sum to at most `tol`; a
cluster that lost its points takes a copy of the point farthest from its centre; labels at the end belong to the final
centres.
Every call works on all starts of one number of clusters; it returns False once more than `budget` numbers were
compared, and the next call with the same arrays goes on from there. `steps`, (n_starts,), counts iterations; it becomes
−1 − count once a start has stopped.
"""

from __future__ import annotations

import numpy as np

from clustrep._kernels.compiled import compiled, vectorised
from clustrep._kernels.tiles import TILE, in_rows, n_columns, n_rows, nearest_in_table
from clustrep.types import FloatArray, IntArray


@compiled
def nearest_centres(by_feature: FloatArray, centres: FloatArray, labels: IntArray, distances: FloatArray) -> None:
    """Give every point, (n_features, n), the nearest of the centres, (k, n_features); the first of equal ones."""
    p, n = by_feature.shape
    padded = np.zeros((centres.shape[0], n_rows(p)))
    padded[:, :p] = centres
    best, nearest = np.empty(n_columns(n)), np.empty(n_columns(n))
    nearest_in_table(in_rows(by_feature), padded, best, nearest, np.empty(TILE))
    for i in range(n):
        labels[i] = np.int32(nearest[i])
        distances[i] = best[i]


@compiled
def lloyd_by_feature(
    by_feature: FloatArray,
    weights: FloatArray,
    centres: FloatArray,
    labels: IntArray,
    inertia: FloatArray,
    steps: IntArray,
    max_iter: int,
    tol: float,
    budget: int,
) -> bool:
    """Move `centres`, (n_starts, k, n_features), to where they stay; `labels` is (n_starts, n), −1 at first."""
    table = in_rows(by_feature)
    done: bool = lloyd_in_table(table, weights, centres, labels, inertia, steps, max_iter, tol, budget)
    return done


@compiled
def lloyd_in_table(
    table: FloatArray,
    weights: FloatArray,
    centres: FloatArray,
    labels: IntArray,
    inertia: FloatArray,
    steps: IntArray,
    max_iter: int,
    tol: float,
    budget: int,
) -> bool:
    """Do the same with points that were put into a table, (n_rows, n_columns), for several calls."""
    n = weights.size
    n_starts, k, p = centres.shape
    best, nearest, partial = np.empty(n_columns(n)), np.empty(n_columns(n)), np.empty(TILE)
    distances = best[:n]
    padded = np.zeros((k, n_rows(p)))
    taken = np.empty(k, np.int64)
    sums = np.empty((n_rows(p), k))
    sizes = np.empty(k)
    spent = 0
    for s in range(n_starts):
        settled = False
        while steps[s] >= 0:
            padded[:, :p] = centres[s]
            nearest_in_table(table, padded, best, nearest, partial)
            same = take_over(nearest, labels[s], weights)
            if settled or steps[s] == max_iter or (same and steps[s] > 0):
                inertia[s] = weighted_sum(weights, distances)
                steps[s] = stopped(steps[s], settled or steps[s] == max_iter)
                break
            _sum_table(table, weights, labels[s], sums, sizes)
            if has_empty(sizes):
                fill_empty(labels[s], distances, weights, sizes, taken)
                for j in range(k):
                    if taken[j] >= 0:
                        sums[:, labels[s, taken[j]]] -= table[:, taken[j]]
                        sums[:, j] = table[:, taken[j]]
            shift = _move(centres[s], sums, sizes)
            steps[s] += 1
            settled = shift <= tol
            spent += n * k * p
            if spent > budget and not settled:
                return False
    return True


@compiled
def stopped(n_moves: int, complete: bool) -> int:
    """Mark a start as stopped; an iteration that changed no label counts, too, as in scikit-learn."""
    return -1 - n_moves - (0 if complete else 1)


@vectorised
def weighted_sum(weights: FloatArray, values: FloatArray) -> float:
    """Sum weight × value."""
    total = 0.0
    for i in range(weights.size):
        total += weights[i] * values[i]
    return total


@compiled
def has_empty(sizes: FloatArray) -> bool:
    """Whether any cluster has lost all its points."""
    for j in range(sizes.size):  # noqa: SIM110 - compiled faster than any()
        if sizes[j] == 0.0:
            return True
    return False


@compiled
def take_over(now: IntArray | FloatArray, labels: IntArray, weights: FloatArray) -> bool:
    """Keep the new labels, and say whether they are the old ones for all points that count."""
    n_changed = 0
    for i in range(labels.size):
        label = np.int32(now[i])
        n_changed += (label != labels[i]) & (weights[i] > 0.0)
        labels[i] = label
    return n_changed == 0


@compiled
def _sum_table(table: FloatArray, weights: FloatArray, labels: IntArray, sums: FloatArray, sizes: FloatArray) -> None:
    """Sum the weighted points, (n_rows, k), and the weights of every cluster, (k,), point after point."""
    sizes[:] = 0.0
    sums[:] = 0.0
    _sum_two_rows(table, 0, weights, labels, sums, sizes)
    for f in range(2, table.shape[0] - 2, 4):
        _sum_four_rows(table, f, weights, labels, sums)
    if table.shape[0] % 4 == 0:
        _sum_two_rows(table, table.shape[0] - 2, weights, labels, sums, np.empty_like(sizes))


# Labels without a sign: nothing has to be done about negative ones. Several rows at a time: each has to wait until the
# last sum of the same cluster is written.


@compiled
def _sum_two_rows(
    table: FloatArray, f: int, weights: FloatArray, labels: IntArray, sums: FloatArray, sizes: FloatArray
) -> None:
    x, y, sum_x, sum_y = table[f], table[f + 1], sums[f], sums[f + 1]
    for i in range(labels.size):
        j, w = np.uint32(labels[i]), weights[i]
        sizes[j] += w
        sum_x[j] += w * x[i]
        sum_y[j] += w * y[i]


@compiled
def _sum_four_rows(table: FloatArray, f: int, weights: FloatArray, labels: IntArray, sums: FloatArray) -> None:
    x, y, z, u = table[f], table[f + 1], table[f + 2], table[f + 3]
    sum_x, sum_y, sum_z, sum_u = sums[f], sums[f + 1], sums[f + 2], sums[f + 3]
    for i in range(labels.size):
        j, w = np.uint32(labels[i]), weights[i]
        sum_x[j] += w * x[i]
        sum_y[j] += w * y[i]
        sum_z[j] += w * z[i]
        sum_u[j] += w * u[i]


@compiled
def fill_empty(
    labels: IntArray, distances: FloatArray, weights: FloatArray, sizes: FloatArray, taken: IntArray
) -> None:
    """Give every empty cluster one copy of the point farthest from its centre, of a cluster that keeps others.

    `taken`, (k,), says which point a cluster took, −1 for none; `sizes` are those after that.
    """
    taken[:] = -1
    for j in range(sizes.size):
        if sizes[j] == 0.0:
            distance = 0.0
            for i in range(labels.size):
                if distances[i] > distance and weights[i] > 0.0 and sizes[labels[i]] > 1.0:
                    n_copies = weights[i]
                    for other in range(j):
                        n_copies -= taken[other] == i
                    if n_copies > 0.0:
                        distance = distances[i]
                        taken[j] = i
            if taken[j] >= 0:
                sizes[labels[taken[j]]] -= 1.0
                sizes[j] = 1.0


@compiled
def _move(centres: FloatArray, sums: FloatArray, sizes: FloatArray) -> float:
    """Move centres to the means of their members, and return the sum of squared shifts."""
    shift = 0.0
    for j in range(centres.shape[0]):
        if sizes[j] > 0.0:
            for f in range(centres.shape[1]):
                new = sums[f, j] / sizes[j]
                shift += (new - centres[j, f]) ** 2
                centres[j, f] = new
    return shift


@compiled
def weigh(members: IntArray, weights: FloatArray, sizes: FloatArray) -> None:
    """Sum the weights of every cluster, (k,)."""
    sizes[:] = 0.0
    for i in range(members.size):
        sizes[members[i]] += weights[i]


@vectorised
def squared_lengths(rows: FloatArray) -> FloatArray:
    """Squared length of every row."""
    lengths = np.zeros(rows.shape[0])
    for i in range(rows.shape[0]):
        for f in range(rows.shape[1]):
            lengths[i] += np.float64(rows[i, f]) * np.float64(rows[i, f])
    return lengths
