"""Lloyd's iterations for many features and many points: matrix products, where bounds don't rule a change out."""

from __future__ import annotations

import numpy as np

from clustrep._kernels.compiled import compiled, vectorised
from clustrep._kernels.lloyd import fill_empty, has_empty, squared_lengths, stopped, weigh
from clustrep.types import FloatArray, IntArray

# Rows in one matrix product.
BLOCK = 256
# Iterations after which sums are taken afresh.
AFRESH = 16


@compiled
def lloyd_by_product(
    points: FloatArray,
    weights: FloatArray,
    centres: FloatArray,
    labels: IntArray,
    inertia: FloatArray,
    steps: IntArray,
    bounds: FloatArray,
    sums: FloatArray,
    max_iter: int,
    tol: float,
    budget: int,
) -> bool:
    """Move `centres`, (n_starts, k, n_features), to where they stay; points, (n, n_features), should be centred.

    `bounds`, (2, n), holds for every point an upper bound of the distance to its own centre and a lower bound of that
    to any other (Hamerly 2010): as long as the first is below the second, no distance has to be computed. Products are
    rounded in proportion to the longest point, so that much room is left between the two. `sums`, (k, n_features),
    follows the points that change their cluster, and is taken afresh before rounding could add up.
    """
    n, p = points.shape
    n_starts, k = centres.shape[:2]
    upper, lower = bounds[0], bounds[1]
    sizes = np.empty(k)
    moved = np.empty(k)
    distances = np.empty(n)
    lengths = squared_lengths(points)
    room = 1e-7 * np.sqrt(lengths.max())
    spent = 0
    for s in range(n_starts):
        settled = False
        while steps[s] >= 0:
            afresh = steps[s] % AFRESH == 0
            n_changed, n_compared = _reassign(
                points, weights, lengths, centres[s], labels[s], upper, lower, sums, room, steps[s] == 0, afresh
            )
            spent += n_compared * k * p
            if settled or steps[s] == max_iter or (n_changed == 0 and steps[s] > 0):
                inertia[s] = _own_distances(points, centres[s], weights, labels[s], distances)
                steps[s] = stopped(steps[s], settled or steps[s] == max_iter)
                break
            weigh(labels[s], weights, sizes)
            if afresh:
                _sum_rows(points, weights, labels[s], sums)
            totals = sums.copy()
            if has_empty(sizes):
                _own_distances(points, centres[s], weights, labels[s], distances)
                _give_points(points, weights, labels[s], distances, sizes, totals)
            shift = _move(totals, sizes, centres[s], moved)
            _widen(labels[s], moved, upper, lower)
            steps[s] += 1
            settled = shift <= tol
            spent += n * p
            if spent > budget and not settled:
                return False
    return True


@compiled
def _reassign(
    points: FloatArray,
    weights: FloatArray,
    lengths: FloatArray,
    centres: FloatArray,
    labels: IntArray,
    upper: FloatArray,
    lower: FloatArray,
    sums: FloatArray,
    room: float,
    first: bool,
    afresh: bool,
) -> tuple[int, int]:
    """Find the nearest centre of every point whose bounds leave a doubt; return how many changed and were compared."""
    (n, p), k = points.shape, centres.shape[0]
    active = np.empty(BLOCK, np.int64)
    was = np.empty(BLOCK, np.int32)
    gathered = np.empty((BLOCK, p))
    products = np.empty((BLOCK, k))
    margins = np.empty(k)
    by_feature = np.ascontiguousarray(centres.T)
    squares = squared_lengths(centres)
    _half_gaps(centres, margins)
    n_active = n_changed = n_compared = 0
    for i in range(n):
        if first or upper[i] + room >= max(lower[i], margins[labels[i]]):
            active[n_active] = i
            gathered[n_active] = points[i]
            n_active += 1
        if n_active == BLOCK or (i == n - 1 and n_active > 0):
            np.dot(gathered[:n_active], by_feature, products[:n_active])
            n_changed += _two_nearest(
                products[:n_active], squares, lengths, active[:n_active], labels, upper, lower, was
            )
            if not afresh:
                _follow(gathered, weights, active[:n_active], was, labels, sums)
            n_compared += n_active
            n_active = 0
    return n_changed, n_compared


@compiled
def _give_points(
    points: FloatArray,
    weights: FloatArray,
    labels: IntArray,
    distances: FloatArray,
    sizes: FloatArray,
    totals: FloatArray,
) -> None:
    """Give every empty cluster the point that is farthest from its own centre, as scikit-learn does."""
    taken = np.empty(len(sizes), np.int64)
    fill_empty(labels, distances, weights, sizes, taken)
    for j in range(len(sizes)):
        if taken[j] >= 0:
            totals[labels[taken[j]]] -= points[taken[j]]
            totals[j] = points[taken[j]]


@compiled
def _move(totals: FloatArray, sizes: FloatArray, centres: FloatArray, moved: FloatArray) -> float:
    """Move the centres to the means; return the sum of squared moves, and how far each moved in `moved`."""
    shift = 0.0
    for j in range(len(sizes)):
        moved[j] = 0.0
        if sizes[j] > 0.0:
            for f in range(centres.shape[1]):
                new = totals[j, f] / sizes[j]
                moved[j] += (new - centres[j, f]) ** 2
                centres[j, f] = new
        shift += moved[j]
        moved[j] = np.sqrt(moved[j])
    return shift


@compiled
def _widen(labels: IntArray, moved: FloatArray, upper: FloatArray, lower: FloatArray) -> None:
    """Let the bounds follow the centres' moves."""
    farthest = moved.max()
    for i in range(len(labels)):
        upper[i] += moved[labels[i]]
        lower[i] -= farthest


@vectorised
def _half_gaps(centres: FloatArray, margins: FloatArray) -> None:
    """Half the distance of every centre to the nearest other one: points nearer than that need no comparison."""
    k = centres.shape[0]
    margins[:] = np.inf
    for j in range(k):
        for other in range(j):
            d = 0.0
            for f in range(centres.shape[1]):
                difference = centres[j, f] - centres[other, f]
                d += difference * difference
            d = np.sqrt(d) / 2.0
            margins[j] = min(margins[j], d)
            margins[other] = min(margins[other], d)


@compiled
def _two_nearest(
    products: FloatArray,
    squares: FloatArray,
    lengths: FloatArray,
    active: IntArray,
    labels: IntArray,
    upper: FloatArray,
    lower: FloatArray,
    was: IntArray,
) -> int:
    """Give the active points their nearest centre, with new bounds; keep the old ones, and count those that changed."""
    n_changed = 0
    for a in range(active.size):
        first, second, nearest = np.inf, np.inf, 0
        for j in range(squares.size):
            d = squares[j] - 2.0 * products[a, j]
            if d < first:
                second = first
                first = d
                nearest = j
            elif d < second:
                second = d
        i = active[a]
        was[a] = labels[i]
        if labels[i] != nearest:
            n_changed += 1
            labels[i] = nearest
        upper[i] = np.sqrt(max(first + lengths[i], 0.0))
        lower[i] = np.sqrt(max(second + lengths[i], 0.0))
    return n_changed


@vectorised
def _follow(
    gathered: FloatArray,
    weights: FloatArray,
    active: IntArray,
    was: IntArray,
    labels: IntArray,
    sums: FloatArray,
) -> None:
    """Move the weighted points that changed their cluster from one sum to the other."""
    for a in range(active.size):
        i = active[a]
        if was[a] != labels[i]:
            row, w, before, after = gathered[a], weights[i], sums[was[a]], sums[labels[i]]
            for f in range(row.size):
                before[f] -= w * row[f]
                after[f] += w * row[f]


@vectorised
def _own_distances(
    points: FloatArray, centres: FloatArray, weights: FloatArray, labels: IntArray, distances: FloatArray
) -> float:
    """Squared distance of every point to its own centre, and their weighted sum."""
    total = 0.0
    for i in range(labels.size):
        d = 0.0
        for f in range(centres.shape[1]):
            difference = points[i, f] - centres[labels[i], f]
            d += difference * difference
        distances[i] = d
        total += weights[i] * d
    return total


@vectorised
def _sum_rows(points: FloatArray, weights: FloatArray, labels: IntArray, sums: FloatArray) -> None:
    sums[:] = 0.0
    for i in range(labels.size):
        total, w = sums[labels[i]], weights[i]
        for f in range(total.size):
            total[f] += w * points[i, f]
