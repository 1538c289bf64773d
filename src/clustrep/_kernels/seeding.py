"""Greedy k-means++ (Arthur & Vassilvitskii 2007, sec. 6) for weighted points: all starts of one number of clusters.

Randomness comes in as uniform numbers, drawn beforehand: `uniforms[s, 0]` picks the first centre of start s, the next
few the candidates for its second, and so on. Points come by feature, or as their squared distances.
"""

from __future__ import annotations

import numpy as np

from clustrep._kernels.compiled import compiled, vectorised
from clustrep._types import FloatArray, IntArray

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
