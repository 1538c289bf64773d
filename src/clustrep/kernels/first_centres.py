"""Greedy k-means++ for weighted points (Arthur and Vassilvitskii 2007, sec. 6): the first centres of every start."""

from __future__ import annotations

import numpy as np

from clustrep.kernels.compiled import compiled, vectorised
from clustrep.kernels.distances import TILE, draw_near_in_table, n_columns, weigh_in_table
from clustrep.types import FloatArray, IntArray

# Points whose masses are summed at once.
STEP = 32


@compiled
def choose_centres(
    table: FloatArray | None,
    squared: FloatArray | None,
    weights: FloatArray,
    uniforms: FloatArray,
    picks: IntArray,
    closest: FloatArray,
    state: IntArray,
    budget: int,
) -> bool:
    """Choose the points that are the first centres of every start.

    A start's first centre is drawn by weight. For each further one, candidates are drawn by weight · d², where d is the
    distance to the nearest centre so far; the one that leaves the smallest Σ weight · d² becomes a centre.

    table : (n_rows, n_columns), points as `distances.in_rows` has them; None: `squared` is given
    squared : (n, n), squared distances between the points; None: `table` is given
    weights : (n,)
    uniforms : (n_starts, 1 + (k − 1) · n_trials)
    picks : (n_starts, k), written
    closest : (n,), overwritten
    state : (2,), zero at first: the start and the centre that are chosen next

    Returns False once more than `budget` numbers were compared: call again with the same arrays to go on.
    """
    n = weights.size
    n_starts, k = picks.shape
    n_trials = max((uniforms.shape[1] - 1) // max(k - 1, 1), 1)
    cumulative = np.empty((n + STEP - 1) // STEP)
    candidates, potentials = np.zeros(n_trials, np.int64), np.empty(n_trials)
    # Whole vectors, as tables have them; weights and distances beyond the points are zero.
    sums, masses, near = np.empty(TILE), np.zeros(n_columns(n)), np.zeros(n_columns(n))
    for i in range(n):
        masses[i], near[i] = weights[i], closest[i]
    spent, cost = 0, n * n_trials
    # Numba omits the branch for an argument that is None only with this form of the condition.
    if table is not None:
        cost *= table.shape[0]
    while state[0] < n_starts:
        best = _propose(weights, near[:n], uniforms[state[0]], state[1], cumulative, candidates)
        if table is not None:
            if best < 0:
                weigh_in_table(table, candidates, masses, near, sums, potentials)
                best = candidates[lowest(potentials)]
            draw_near_in_table(table, best, near, sums)
        if squared is not None:
            if best < 0:
                _weigh_by_distance(squared, candidates, weights, near[:n], potentials)
                best = candidates[lowest(potentials)]
            _draw_near(squared[best], near[:n])
        _take(picks, state, best)
        spent += cost
        if spent > budget and state[0] < n_starts:
            for i in range(n):
                closest[i] = near[i]
            return False
    return True


@compiled
def _propose(
    weights: FloatArray,
    closest: FloatArray,
    uniforms: FloatArray,
    chosen: int,
    cumulative: FloatArray,
    candidates: IntArray,
) -> int:
    """Draw candidates by their weighted squared distances; return the first centre of a start, which needs none."""
    if chosen == 0:
        closest[:] = 1.0
        _accumulate(weights, closest, cumulative)
        first: int = _place(weights, closest, cumulative, uniforms[0])
        closest[:] = np.inf
        return first
    _accumulate(weights, closest, cumulative)
    for t in range(candidates.size):
        candidates[t] = _place(weights, closest, cumulative, uniforms[1 + (chosen - 1) * candidates.size + t])
    return -1


@compiled
def lowest(potentials: FloatArray) -> int:
    """Return the place of the lowest value, the first of equal ones."""
    best = 0
    for t in range(1, potentials.size):
        if potentials[t] < potentials[best]:
            best = t
    return best


@compiled
def _take(picks: IntArray, state: IntArray, point: int) -> None:
    picks[state[0], state[1]] = point
    state[1] += 1
    if state[1] == picks.shape[1]:
        state[0] += 1
        state[1] = 0


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


@vectorised
def _weigh_by_distance(
    squared: FloatArray, candidates: IntArray, weights: FloatArray, closest: FloatArray, potentials: FloatArray
) -> None:
    """Sum the weighted squared distances to the nearest centre, were a candidate one, (n_candidates,)."""
    for t in range(candidates.size):
        row = squared[candidates[t]]
        potential = 0.0
        for i in range(weights.size):
            potential += weights[i] * (row[i] if row[i] < closest[i] else closest[i])
        potentials[t] = potential


@vectorised
def _draw_near(row: FloatArray, closest: FloatArray) -> None:
    for i in range(closest.size):
        closest[i] = row[i] if row[i] < closest[i] else closest[i]
