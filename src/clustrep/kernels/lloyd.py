"""Lloyd's iterations for weighted points: by features, by distances and by products.

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

from clustrep.kernels.compiled import compiled, vectorised
from clustrep.kernels.distances import TILE, n_columns, n_rows, nearest_in_table, pad_centres
from clustrep.types import FloatArray, IntArray


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
    """Move the centres to where they stay, by the features of points.

    Every iteration gives each point the nearest centre, c(i) = argmin_j ‖x_i − m_j‖², and each centre the mean of its
    points, m_j = Σ w_i x_i / Σ w_i over i with c(i) = j.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns)
        Points, as `distances.in_rows` has them.
    weights : ndarray of shape (n,)
    centres : ndarray of shape (n_starts, k, n_features)
        The first centres; overwritten with the final ones.
    labels : ndarray of shape (n_starts, n)
        −1 at first; written.
    inertia : ndarray of shape (n_starts,)
        Written: Σ w_i ‖x_i − m_c(i)‖².
    steps : ndarray of shape (n_starts,)
        0 at first; written as described above.
    max_iter, tol
        When to stop; `tol` is compared with the sum of the centres' squared shifts.
    budget : int

    Returns
    -------
    bool
        Whether all starts have stopped.
    """
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
            pad_centres(centres[s], padded)
            nearest_in_table(table, padded, best, nearest, partial)
            same = take_over(nearest, labels[s], weights)
            if settled or steps[s] == max_iter or (same and steps[s] > 0):
                inertia[s] = weighted_sum(weights, distances)
                steps[s] = stopped(steps[s], settled or steps[s] == max_iter)
                break
            _sum_table(table, weights, labels[s], sums, sizes)
            if has_empty(sizes):
                fill_empty(labels[s], distances, weights, sizes, taken)
                _give_points(table.T, labels[s], taken, sums.T)
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
def _give_points(points: FloatArray, labels: IntArray, taken: IntArray, sums: FloatArray) -> None:
    """Move the points, (n, n_features), that empty clusters took from one sum, (k, n_features), to the other."""
    for j in range(taken.size):
        if taken[j] >= 0:
            for f in range(sums.shape[1]):
                sums[labels[taken[j]], f] -= points[taken[j], f]
                sums[j, f] = points[taken[j], f]


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


# ---------------------------------------------------------------------------------------------------------------------
# many features and few points: all from the points' squared distances to each other


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
    """Find the points whose means are the final centres, from the points that are the first ones.

    Parameters
    ----------
    squared : ndarray of shape (n, n)
        D, the squared distances between the points.
    weights : ndarray of shape (n,)
    picks : ndarray of shape (n_starts, k)
        The points that are the first centres.
    labels : ndarray of shape (n_starts, n)
        −1 at first; written: the nearest of the final centres.
    members : ndarray of shape (n_starts, n)
        −1 at first; written: the cluster in whose mean a point counts.
    taken : ndarray of shape (n_starts, k)
        −1 at first; written: the point of which one copy belongs to this cluster, which had become empty.
    inertia, steps, max_iter, tol, budget
        As in `lloyd_in_table`.

    Returns
    -------
    bool
        Whether all starts have stopped.

    Notes
    -----
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


# ---------------------------------------------------------------------------------------------------------------------
# many features and many points: matrix products, where bounds don't rule a change out


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
    """Move the centres to where they stay, by products of points and centres where bounds leave a doubt.

    Parameters
    ----------
    points : ndarray of shape (n, n_features)
        They should be centred.
    weights : ndarray of shape (n,)
    centres, labels, inertia, steps, max_iter, tol, budget
        As in `lloyd_in_table`.
    bounds : ndarray of shape (2, n)
    sums : ndarray of shape (k, n_features)

    Returns
    -------
    bool
        Whether all starts have stopped.

    Notes
    -----
    The squared distance of x to a centre m is ‖x‖² − 2 x·m + ‖m‖². `bounds` holds for every point an upper bound of
    the distance to its own centre and a lower bound of that to any other (Hamerly 2010): as long as the first is
    below the second, no distance has to be computed. Products are rounded in proportion to the longest point, so
    that much room is left between the two. `sums`, (k, n_features), follows the points that change their cluster,
    and is taken afresh before rounding could add up.
    """
    n, p = points.shape
    n_starts, k = centres.shape[:2]
    upper, lower = bounds[0], bounds[1]
    sizes = np.empty(k)
    taken = np.empty(k, np.int64)
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
                fill_empty(labels[s], distances, weights, sizes, taken)
                _give_points(points, labels[s], taken, totals)
            shift = _move_rows(totals, sizes, centres[s], moved)
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
def _move_rows(totals: FloatArray, sizes: FloatArray, centres: FloatArray, moved: FloatArray) -> float:
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
