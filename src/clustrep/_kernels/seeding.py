"""Greedy k-means++ (Arthur & Vassilvitskii 2007, sec. 6) for weighted points: all starts of one number of clusters.

Randomness comes in as uniform numbers, drawn beforehand: `uniforms[s, 0]` picks the first centre of start s, the next
few the candidates for its second, and so on. Points come as a table in one of three layouts.
"""

from __future__ import annotations

import numpy as np

from clustrep._kernels.compiled import compiled, vectorised
from clustrep._types import FloatArray, IntArray

BY_FEATURE, BY_POINT, DISTANCES = 0, 1, 2  # (n_features, n), (n, n_features), squared distances (n, n)
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
    (2,), both zero at first, to go on. `uniforms` is (n_starts, 1 + (k − 1) · n_trials).
    """
    n = weights.size
    n_starts, k = picks.shape
    n_trials = (uniforms.shape[1] - 1) // max(k - 1, 1)
    cumulative = np.empty((n + STEP - 1) // STEP)
    trials = np.empty((max(n_trials, 1), n))
    cost = n * max(n_trials, 1) * (1 if layout == DISTANCES else table.size // n)
    spent = 0
    while state[0] < n_starts:
        start, chosen = state[0], state[1]
        if chosen == 0:
            closest[:] = 1.0
            _accumulate(weights, closest, cumulative)
            best = _place(weights, closest, cumulative, uniforms[start, 0])
            closest[:] = np.inf
            _nearer(table, layout, best, weights, closest, trials[0])
            closest[:] = trials[0]
        else:
            _accumulate(weights, closest, cumulative)
            best, best_trial, lowest = -1, 0, np.inf
            for t in range(n_trials):
                candidate = _place(weights, closest, cumulative, uniforms[start, 1 + (chosen - 1) * n_trials + t])
                potential = _nearer(table, layout, candidate, weights, closest, trials[t])
                if best < 0 or potential < lowest:
                    best, best_trial, lowest = candidate, t, potential
            closest[:] = trials[best_trial]
        picks[start, chosen] = best
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
    step = min(np.searchsorted(cumulative, aim, side="right"), cumulative.size - 1)
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


@vectorised
def _nearer(
    table: FloatArray, layout: int, centre: int, weights: FloatArray, closest: FloatArray, out: FloatArray
) -> float:
    """Squared distances to the nearest centre, were this point one, and their weighted sum."""
    n, p = weights.size, table.shape[0]
    potential = 0.0
    if layout == DISTANCES:
        row = table[centre]
        for i in range(n):
            d = row[i]
            d = d if d < closest[i] else closest[i]
            out[i] = d
            potential += weights[i] * d
    elif layout == BY_FEATURE:
        for t in range(0, n, TILE):
            m = min(TILE, n - t)
            tile, near, w = out[t : t + m], closest[t : t + m], weights[t : t + m]
            tile[:] = 0.0
            for f in range(p - 1):
                row = table[f, t : t + m]
                c = np.float64(table[f, centre])
                for i in range(m):
                    difference = row[i] - c
                    tile[i] += difference * difference
            row = table[p - 1, t : t + m]
            c = np.float64(table[p - 1, centre])
            for i in range(m):
                difference = row[i] - c
                d = tile[i] + difference * difference
                d = d if d < near[i] else near[i]
                tile[i] = d
                potential += w[i] * d
    else:
        c = table[centre].astype(np.float64)
        for i in range(n):
            row = table[i]
            d = 0.0
            for f in range(row.size):
                difference = row[f] - c[f]
                d += difference * difference
            d = d if d < closest[i] else closest[i]
            out[i] = d
            potential += weights[i] * d
    return potential
