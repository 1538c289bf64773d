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
from clustrep.types import FloatArray, IntArray

BY_FEATURE, DISTANCES = 0, 1  # (n_features, n), or squared distances, (n, n)
# Points compared at once: few enough for the nearest cache.
TILE = 256
# Points whose masses are summed at once.
STEP = 32


@compiled
def choose_centres(
    table: FloatArray,
    layout: int,
    weights: FloatArray,
    uniforms: FloatArray,
    picks: IntArray,
    closest: FloatArray,
    state: IntArray,
    budget: int,
) -> bool:
    """Fill `picks`, (n_starts, k), with the points that are the first centres of every start.

    Returns False once more than `budget` numbers were compared: call again with the same `closest`, (n,), and `state`,
    (2,), zero at first, to go on. `uniforms` is (n_starts, 1 + (k − 1) · n_trials).
    """
    n = weights.size
    n_starts, k = picks.shape
    n_trials = (uniforms.shape[1] - 1) // max(k - 1, 1)
    cumulative = np.empty((n + STEP - 1) // STEP)
    candidates = np.zeros(max(n_trials, 1), np.int64)
    nearer = np.empty((max(n_trials, 1), n))
    potentials = np.empty(max(n_trials, 1))
    cost = n * max(n_trials, 1) * (1 if layout == DISTANCES else table.size // n)
    spent = 0
    while state[0] < n_starts:
        start, chosen = state[0], state[1]
        if chosen == 0:
            closest[:] = 1.0
            _accumulate(weights, closest, cumulative)
            candidates[:] = _place(weights, closest, cumulative, uniforms[start, 0])
            closest[:] = np.inf
        else:
            _accumulate(weights, closest, cumulative)
            for t in range(n_trials):
                u = uniforms[start, 1 + (chosen - 1) * n_trials + t]
                candidates[t] = _place(weights, closest, cumulative, u)
        m = 1 if chosen == 0 else n_trials
        if layout == BY_FEATURE:
            _nearer_by_feature(table, candidates[:m], weights, closest, nearer[:m], potentials[:m])
        else:
            _nearer_by_distance(table, candidates[:m], weights, closest, nearer[:m], potentials[:m])
        best = 0
        for t in range(1, m):
            if potentials[t] < potentials[best]:
                best = t
        closest[:] = nearer[best]
        picks[start, chosen] = candidates[best]
        state[1] += 1
        if state[1] == k:
            state[0] += 1
            state[1] = 0
        spent += cost
        if spent > budget and state[0] < n_starts:
            return False
    return True


@vectorised
def _accumulate(weights: FloatArray, masses: FloatArray, cumulative: FloatArray) -> None:
    """Sum weight × mass, up to the end of every step of points."""
    running = 0.0
    for step in range(cumulative.size):
        w, m = weights[step * STEP : (step + 1) * STEP], masses[step * STEP : (step + 1) * STEP]
        total = 0.0
        for i in range(w.size):
            total += w[i] * m[i]
        running += total
        cumulative[step] = running


@compiled
def _place(weights: FloatArray, masses: FloatArray, cumulative: FloatArray, uniform: float) -> int:
    """Find the point at which the running sum exceeds a share of the total; never one without mass, if any has."""
    aim = uniform * cumulative[-1]
    step = 0
    while step < cumulative.size - 1 and cumulative[step] <= aim:
        step += 1
    running = cumulative[step - 1] if step > 0 else 0.0
    last = min((step + 1) * STEP, weights.size) - 1
    for i in range(step * STEP, last + 1):
        mass = weights[i] * masses[i]
        if mass > 0.0:
            last = i
            running += mass
            if running > aim:
                return i
    return last


# Squared distances to the nearest centre, were a candidate one, (n_candidates, n), and their weighted sums: twice


@vectorised
def _nearer_by_distance(
    squared: FloatArray,
    candidates: IntArray,
    weights: FloatArray,
    closest: FloatArray,
    nearer: FloatArray,
    potentials: FloatArray,
) -> None:
    for t in range(candidates.size):
        row, out = squared[candidates[t]], nearer[t]
        potential = 0.0
        for i in range(weights.size):
            d = row[i]
            d = d if d < closest[i] else closest[i]
            out[i] = d
            potential += weights[i] * d
        potentials[t] = potential


@vectorised
def _nearer_by_feature(
    by_feature: FloatArray,
    candidates: IntArray,
    weights: FloatArray,
    closest: FloatArray,
    nearer: FloatArray,
    potentials: FloatArray,
) -> None:
    p, n = by_feature.shape
    potentials[:] = 0.0
    for begin in range(0, n, TILE):
        end = min(begin + TILE, n)
        near, w = closest[begin:end], weights[begin:end]
        last = by_feature[p - 1, begin:end]
        for t in range(candidates.size):
            out = nearer[t, begin:end]
            out[:] = 0.0
            for f in range(p - 1):
                row = by_feature[f, begin:end]
                c = np.float64(by_feature[f, candidates[t]])
                for i in range(row.size):
                    difference = row[i] - c
                    out[i] += difference * difference
            c = np.float64(by_feature[p - 1, candidates[t]])
            potential = 0.0
            for i in range(last.size):
                difference = last[i] - c
                d = out[i] + difference * difference
                d = d if d < near[i] else near[i]
                out[i] = d
                potential += w[i] * d
            potentials[t] += potential


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
            same = take_over(now, labels[s], weights)
            if settled or steps[s] == max_iter or (same and steps[s] > 0):
                inertia[s] = weighted_sum(weights, distances)
                steps[s] = stopped(steps[s], settled or steps[s] == max_iter)
                break
            _sum_features(by_feature, weights, now, sums, sizes)
            if has_empty(sizes):
                fill_empty(now, distances, weights, sizes, taken)
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
def take_over(now: IntArray, labels: IntArray, weights: FloatArray) -> bool:
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
                new = sums[j, f] / sizes[j]
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
