"""Lloyd's iterations for weighted points, three ways: which one is fastest depends on the shape alone.

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
from clustrep._kernels.seeding import TILE
from clustrep._types import FloatArray, IntArray

# Rows in one matrix product.
BLOCK = 256
# Iterations after which sums are taken afresh.
AFRESH = 16

# ---------------------------------------------------------------------------------------------------------------------
# few features: differences to every centre, tile by tile, in vectors over points


@vectorised
def nearest_centres(by_feature: FloatArray, centres: FloatArray, labels: IntArray, distances: FloatArray) -> None:
    """Give every point, (n_features, n), the nearest of the centres, (k, n_features); the first of equal ones."""
    p, n = by_feature.shape
    partial = np.empty(TILE)
    for t in range(0, n, TILE):
        m = min(TILE, n - t)
        best, nearest, sums = distances[t : t + m], labels[t : t + m], partial[:m]
        last = by_feature[p - 1, t : t + m]
        best[:] = np.inf
        nearest[:] = 0
        for j in range(centres.shape[0]):
            sums[:] = 0.0
            for f in range(p - 1):
                row = by_feature[f, t : t + m]
                c = centres[j, f]
                for i in range(m):
                    difference = row[i] - c
                    sums[i] += difference * difference
            c = centres[j, p - 1]
            for i in range(m):
                difference = last[i] - c
                d = sums[i] + difference * difference
                closer = d < best[i]
                nearest[i] = j if closer else nearest[i]
                best[i] = d if closer else best[i]


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
    p, n = by_feature.shape
    n_starts, k = centres.shape[:2]
    distances = np.empty(n)
    now = np.empty(n, np.int32)
    taken = np.empty(k, np.int64)
    sums = np.empty((k, p))
    sizes = np.empty(k)
    spent = 0
    for s in range(n_starts):
        settled = False
        while steps[s] >= 0:
            nearest_centres(by_feature, centres[s], now, distances)
            same = _take_over(now, labels[s], weights)
            if settled or steps[s] == max_iter or (same and steps[s] > 0):
                inertia[s] = _weighted_sum(weights, distances)
                steps[s] = _stopped(steps[s], settled or steps[s] == max_iter)
                break
            _sum_features(by_feature, weights, now, sums, sizes)
            if _has_empty(sizes):
                _fill_empty(now, distances, weights, sizes, taken)
                for j in range(k):
                    if taken[j] >= 0:
                        sums[now[taken[j]]] -= by_feature[:, taken[j]]
                        sums[j] = by_feature[:, taken[j]]
            shift = _move(centres[s], sums, sizes)
            steps[s] += 1
            settled = shift <= tol
            spent += n * k * p
            if spent > budget and not settled:
                return False
    return True


@compiled
def _stopped(n_moves: int, complete: bool) -> int:
    """Mark a start as stopped; an iteration that changed no label counts, too, as in scikit-learn."""
    return -1 - n_moves - (0 if complete else 1)


@vectorised
def _weighted_sum(weights: FloatArray, values: FloatArray) -> float:
    total = 0.0
    for i in range(weights.size):
        total += weights[i] * values[i]
    return total


@compiled
def _has_empty(sizes: FloatArray) -> bool:
    for j in range(sizes.size):  # noqa: SIM110 - compiled faster than any()
        if sizes[j] == 0.0:
            return True
    return False


@compiled
def _take_over(now: IntArray, labels: IntArray, weights: FloatArray) -> bool:
    """Keep the new labels, and say whether they are the old ones for all points that count."""
    n_changed = 0
    for i in range(now.size):
        n_changed += (now[i] != labels[i]) & (weights[i] > 0.0)
        labels[i] = now[i]
    return n_changed == 0


@compiled
def _sum_features(
    by_feature: FloatArray, weights: FloatArray, labels: IntArray, sums: FloatArray, sizes: FloatArray
) -> None:
    """Sum the weighted points and the weights of every cluster, (k, n_features) and (k,)."""
    p, n = by_feature.shape
    sums[:] = 0.0
    sizes[:] = 0.0
    for i in range(n):
        j, w = labels[i], weights[i]
        sizes[j] += w
        for f in range(p):
            sums[j, f] += w * by_feature[f, i]


@compiled
def _fill_empty(
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
                new = sums[j, f] / sizes[j]
                shift += (new - centres[j, f]) ** 2
                centres[j, f] = new
    return shift


# ---------------------------------------------------------------------------------------------------------------------
# many features, few points: everything from the points' squared distances to each other


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
            _weigh(members[s], weights, sizes)
            for j in range(k):
                if taken[s, j] >= 0:
                    sizes[members[s, taken[s, j]]] -= 1.0
                    sizes[j] = 1.0
            _sum_distances(squared, weights, members[s], taken[s], sizes, sums, spreads)
        settled = False
        while steps[s] >= 0:
            _nearest_means(sums, sizes, spreads, now, distances)
            same = _take_over(now, labels[s], weights)
            if settled or steps[s] == max_iter or (same and steps[s] > 0):
                inertia[s] = _weighted_sum(weights, distances)
                steps[s] = _stopped(steps[s], settled or steps[s] == max_iter)
                break
            sums, old_sums = old_sums, sums
            sizes, old_sizes = old_sizes, sizes
            spreads, old_spreads = old_spreads, spreads
            members[s] = now
            taken[s] = -1
            _weigh(now, weights, sizes)
            if _has_empty(sizes):
                _fill_empty(now, distances, weights, sizes, taken[s])
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


@compiled
def _weigh(members: IntArray, weights: FloatArray, sizes: FloatArray) -> None:
    sizes[:] = 0.0
    for i in range(members.size):
        sizes[members[i]] += weights[i]


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


# ---------------------------------------------------------------------------------------------------------------------
# many features, many points: matrix products for the points whose nearest centre may have changed


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
    totals = np.empty((k, p))
    sizes = np.empty(k)
    moved = np.empty(k)
    margins = np.empty(k)
    taken = np.empty(k, np.int64)
    distances = np.empty(n)
    active = np.empty(BLOCK, np.int64)
    was = np.empty(BLOCK, np.int32)
    gathered = np.empty((BLOCK, p))
    products = np.empty((BLOCK, k))
    lengths = squared_lengths(points)
    room = 1e-7 * np.sqrt(lengths.max())
    spent = 0
    for s in range(n_starts):
        settled = False
        while steps[s] >= 0:
            afresh = steps[s] % AFRESH == 0
            by_feature = np.ascontiguousarray(centres[s].T)
            squares = squared_lengths(centres[s])
            _half_gaps(centres[s], margins)
            n_changed = 0
            n_active = 0
            for i in range(n):
                if steps[s] == 0 or upper[i] + room >= max(lower[i], margins[labels[s, i]]):
                    active[n_active] = i
                    gathered[n_active] = points[i]
                    n_active += 1
                if n_active == BLOCK or (i == n - 1 and n_active > 0):
                    np.dot(gathered[:n_active], by_feature, products[:n_active])
                    n_changed += _two_nearest(
                        products[:n_active], squares, lengths, active[:n_active], labels[s], upper, lower, was
                    )
                    if not afresh:
                        _follow(gathered, weights, active[:n_active], was, labels[s], sums)
                    spent += n_active * k * p
                    n_active = 0
            if settled or steps[s] == max_iter or (n_changed == 0 and steps[s] > 0):
                inertia[s] = _own_distances(points, centres[s], weights, labels[s], distances)
                steps[s] = _stopped(steps[s], settled or steps[s] == max_iter)
                break
            _weigh(labels[s], weights, sizes)
            if afresh:
                _sum_rows(points, weights, labels[s], sums)
            totals[:] = sums
            if _has_empty(sizes):
                _own_distances(points, centres[s], weights, labels[s], distances)
                _fill_empty(labels[s], distances, weights, sizes, taken)
                for j in range(k):
                    if taken[j] >= 0:
                        totals[labels[s, taken[j]]] -= points[taken[j]]
                        totals[j] = points[taken[j]]
            shift = 0.0
            for j in range(k):
                moved[j] = 0.0
                if sizes[j] > 0.0:
                    for f in range(p):
                        new = totals[j, f] / sizes[j]
                        moved[j] += (new - centres[s, j, f]) ** 2
                        centres[s, j, f] = new
                shift += moved[j]
                moved[j] = np.sqrt(moved[j])
            farthest = moved.max()
            for i in range(n):
                upper[i] += moved[labels[s, i]]
                lower[i] -= farthest
            steps[s] += 1
            settled = shift <= tol
            spent += n * p
            if spent > budget and not settled:
                return False
    return True


@vectorised
def squared_lengths(rows: FloatArray) -> FloatArray:
    """Squared length of every row."""
    lengths = np.zeros(rows.shape[0])
    for i in range(rows.shape[0]):
        for f in range(rows.shape[1]):
            lengths[i] += np.float64(rows[i, f]) * np.float64(rows[i, f])
    return lengths


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
