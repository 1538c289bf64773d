"""Lloyd's iterations for many features and few points: all from the points' squared distances to each other."""

from __future__ import annotations

import numpy as np

from clustrep._kernels.compiled import compiled, vectorised
from clustrep._kernels.lloyd import fill_empty, has_empty, stopped, take_over, weigh, weighted_sum
from clustrep.types import FloatArray, IntArray


@compiled
def lloyd_by_distance(
    squared: FloatArray,
    weights: FloatArray,
    picks: IntArray,
    labels: IntArray,
    members: IntArray,
    taken: IntArray,
    inertia: FloatArray,
    steps: IntArray,
    max_iter: int,
    tol: float,
    budget: int,
) -> bool:
    """Find the `members`, (n_starts, n), whose means are the final centres, from the points that are the first ones.

    A copy of the point `taken`, (n_starts, k), belongs to another cluster, where that had become empty; −1 for none.
    `labels`, (n_starts, n), and both others are −1 at first.

    The squared distance of x to the mean of a cluster with weights w, W in all, is Σ w_l D(x, l) / W − q with
    q = Σ Σ w_l w_m D(l, m) / 2W²: features are never looked at again, and nothing cancels within a tight cluster.
    """
    n = weights.size
    n_starts, k = picks.shape
    distances = np.empty(n)
    now = np.empty(n, np.int32)
    sums, old_sums = np.empty((k, n)), np.empty((k, n))
    sizes, old_sizes = np.empty(k), np.empty(k)
    spreads, old_spreads, between = np.empty(k), np.empty(k), np.empty(k)
    spent = 0
    for s in range(n_starts):
        if steps[s] == 0:
            for j in range(k):
                sums[j] = squared[picks[s, j]]
            sizes[:] = 1.0
            spreads[:] = 0.0
        elif steps[s] > 0:  # taken up again
            weigh(members[s], weights, sizes)
            for j in range(k):
                if taken[s, j] >= 0:
                    sizes[members[s, taken[s, j]]] -= 1.0
                    sizes[j] = 1.0
            _sum_distances(squared, weights, members[s], taken[s], sizes, sums, spreads)
        settled = False
        while steps[s] >= 0:
            _nearest_means(sums, sizes, spreads, now, distances)
            same = take_over(now, labels[s], weights)
            if settled or steps[s] == max_iter or (same and steps[s] > 0):
                inertia[s] = weighted_sum(weights, distances)
                steps[s] = stopped(steps[s], settled or steps[s] == max_iter)
                break
            sums, old_sums = old_sums, sums
            sizes, old_sizes = old_sizes, sizes
            spreads, old_spreads = old_spreads, spreads
            members[s] = now
            taken[s] = -1
            weigh(now, weights, sizes)
            if has_empty(sizes):
                fill_empty(now, distances, weights, sizes, taken[s])
            _sum_distances(squared, weights, now, taken[s], sizes, sums, spreads)
            _sum_own(weights, now, taken[s], old_sums, between)
            shift = 0.0
            for j in range(k):
                if sizes[j] > 0.0 and old_sizes[j] > 0.0:
                    shift += max(between[j] / (sizes[j] * old_sizes[j]) - spreads[j] - old_spreads[j], 0.0)
            steps[s] += 1
            settled = tol > 0.0 and shift <= tol
            spent += n * n
            if spent > budget and not settled:
                return False
    return True


@vectorised
def _sum_distances(
    squared: FloatArray,
    weights: FloatArray,
    members: IntArray,
    taken: IntArray,
    sizes: FloatArray,
    sums: FloatArray,
    spreads: FloatArray,
) -> None:
    """Sum the weighted distances of every point to each cluster's members, (k, n), and within clusters, (k,)."""
    n = weights.size
    sums[:] = 0.0
    for m in range(n):
        w = weights[m]
        if w > 0.0:
            total, row = sums[members[m]], squared[m]
            for i in range(n):
                total[i] += w * row[i]
    for j in range(taken.size):
        if taken[j] >= 0:
            sums[members[taken[j]]] -= squared[taken[j]]
            sums[j] = squared[taken[j]]
    _sum_own(weights, members, taken, sums, spreads)
    for j in range(sizes.size):
        if sizes[j] > 0.0:
            spreads[j] /= 2.0 * sizes[j] * sizes[j]


@compiled
def _sum_own(weights: FloatArray, members: IntArray, taken: IntArray, values: FloatArray, totals: FloatArray) -> None:
    """Sum the weighted values, (k, n), of every cluster's own members, (k,)."""
    totals[:] = 0.0
    for i in range(weights.size):
        totals[members[i]] += weights[i] * values[members[i], i]
    for j in range(taken.size):
        if taken[j] >= 0:
            totals[members[taken[j]]] -= values[members[taken[j]], taken[j]]
            totals[j] += values[j, taken[j]]


@vectorised
def _nearest_means(
    sums: FloatArray, sizes: FloatArray, spreads: FloatArray, labels: IntArray, distances: FloatArray
) -> None:
    distances[:] = np.inf
    labels[:] = 0
    for j in range(sizes.size):
        if sizes[j] > 0.0:
            row, share, spread = sums[j], 1.0 / sizes[j], spreads[j]
            for i in range(distances.size):
                d = row[i] * share - spread
                closer = d < distances[i]
                labels[i] = j if closer else labels[i]
                distances[i] = d if closer else distances[i]
