"""Many draws, fits of k-means and tables in one call: all resamples of a study, all numbers of clusters, all starts.

No fit depends on the others in its batch. As in single kernels, a call returns False once more than `budget` numbers
were compared, and the next call with the same arrays goes on from there.
"""

from __future__ import annotations

import math

import numpy as np

from clustrep.kernels.compiled import compiled
from clustrep.kernels.distances import TILE, in_rows, n_columns, n_rows, nearest_in_table
from clustrep.kernels.first_centres import choose_by_distance, choose_in_table
from clustrep.kernels.lloyd import lloyd_by_distance, lloyd_in_table, squared_lengths
from clustrep.kernels.streams import fill_integers, fill_uniforms
from clustrep.types import BoolArray, FloatArray, IntArray

# What is known about a member, in columns: its number of clusters, starts and iterations, the words of its seeds, and
# whether its first centres are given.
CLUSTERS, STARTS, ITERATIONS, WORDS, GIVEN = range(5)
# Where a batch is: the sample, the member, what is being done with it, and the start and centre that are chosen next.
SAMPLE, MEMBER, PHASE, CHOICE = 0, 1, 2, 3
BEGIN, CHOOSE, MOVE = 0, 1, 2
# Iterations that a start takes, roughly: to know when to come up for air between fits.
USUAL_ITERATIONS = 15


@compiled
def draw_with_replacement(words: IntArray, orders: IntArray, counts: IntArray) -> None:
    """Draw n of n samples from every seed, whose words are (n_draws, n_words).

    orders, counts : (n_draws, n), written: the samples that were drawn, and how often each was
    """
    counts[:] = 0
    for draw in range(len(words)):
        fill_integers(words[draw], orders[draw])
        for i in orders[draw]:
            counts[draw, i] += 1


@compiled
def n_uniforms(n_clusters: int) -> int:
    """Return how many random numbers choose the first centres of a start; as many candidates as in scikit-learn."""
    return 1 + (n_clusters - 1) * (2 + int(math.log(n_clusters)))


@compiled
def fit_by_feature(
    by_feature: FloatArray,
    weights: FloatArray,
    members: IntArray,
    tolerances: FloatArray,
    n_features: int,
    words: IntArray,
    given: FloatArray,
    room: tuple[FloatArray, IntArray, FloatArray, FloatArray, IntArray, FloatArray, IntArray],
    centres: FloatArray,
    inertia: FloatArray,
    n_iter: IntArray,
    state: IntArray,
    budget: int,
) -> bool:
    """Fit all members to all samples of one study, (n_features, n).

    weights : (n_samples, n), how often each point was drawn
    members, tolerances : (n_members, 5) and (n_members,), the latter relative to the variance
    n_features : how many there were before points were rotated
    words : (n_samples, n_members, n_words), of the seeds
    given : (n_centres, n_features), first centres of members that have them; those of one member after the other
    room : for the uniforms, picks, closest distances, centres, labels, inertia and steps of all starts of a fit
    centres : (n_samples, n_centres, n_features), written
    inertia, n_iter : (n_samples, n_members), written; no iterations where there are fewer points than clusters, or
        numbers that are not finite
    """
    while state[SAMPLE] < len(weights):
        sample = state[SAMPLE]
        table, drawn = _drawn_points(by_feature, weights[sample])
        variance = _variance(table, drawn) / n_features
        if not math.isfinite(variance):
            state[MEMBER] = len(members)
        while state[MEMBER] < len(members):
            member = state[MEMBER]
            known = members[member]
            begin = members[:member, CLUSTERS].sum()
            end = begin + known[CLUSTERS]
            if known[CLUSTERS] <= drawn.size:
                tol, seed = tolerances[member] * variance, words[sample, member, : known[WORDS]]
                if not _fit_table(table, drawn, known, tol, seed, given[begin:end], room, state, budget):
                    return False
                best = room[5][: known[STARTS]].argmin()
                moved = _as_centres(room[3], known, centres.shape[2])
                centres[sample, begin:end] = moved[best]
                inertia[sample, member], n_iter[sample, member] = room[5][best], -1 - room[6][best]
            state[MEMBER], state[PHASE] = member + 1, BEGIN
            budget -= drawn.size * known[CLUSTERS] * known[STARTS] * len(table) * USUAL_ITERATIONS
            if budget < 0:
                return False
        state[SAMPLE], state[MEMBER] = sample + 1, 0
    return True


@compiled
def _fit_table(
    table: FloatArray,
    drawn: FloatArray,
    known: IntArray,
    tol: float,
    seed: IntArray,
    given: FloatArray,
    room: tuple[FloatArray, IntArray, FloatArray, FloatArray, IntArray, FloatArray, IntArray],
    state: IntArray,
    budget: int,
) -> bool:
    """Fit one member to one sample, or go on with that; its starts are left in `room`."""
    k, n_starts, n, p = known[CLUSTERS], known[STARTS], drawn.size, given.shape[1]
    uniforms = room[0][: n_starts * n_uniforms(k)].reshape((n_starts, n_uniforms(k)))
    picks, closest = room[1][: n_starts * k].reshape((n_starts, k)), room[2][:n]
    centres, labels = _as_centres(room[3], known, p), room[4][: n_starts * n].reshape((n_starts, n))
    inertia, steps = room[5][:n_starts], room[6][:n_starts]
    if state[PHASE] == BEGIN:
        labels[:] = -1
        steps[:] = 0
        state[CHOICE:] = 0
        if known[GIVEN] == 1:
            centres[0] = given
            state[PHASE] = MOVE
        else:
            fill_uniforms(seed, uniforms)
            state[PHASE] = CHOOSE
    if state[PHASE] == CHOOSE:
        if not choose_in_table(table, drawn, uniforms, picks, closest, state[CHOICE:], budget):
            return False
        for s in range(n_starts):
            for j in range(k):
                centres[s, j] = table[:p, picks[s, j]]
        state[PHASE] = MOVE
    done: bool = lloyd_in_table(table, drawn, centres, labels, inertia, steps, known[ITERATIONS], tol, budget)
    return done


@compiled
def _as_centres(flat: FloatArray, known: IntArray, n_features: int) -> FloatArray:
    k, n_starts = known[CLUSTERS], known[STARTS]
    return flat[: n_starts * k * n_features].reshape((n_starts, k, n_features))


@compiled
def _drawn_points(by_feature: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Put the points with a weight into a table, and return it with their weights."""
    p, rows = by_feature.shape[0], np.flatnonzero(weights)
    table = np.zeros((n_rows(p), n_columns(rows.size)))
    for f in range(p):
        for i in range(rows.size):
            table[f, i] = by_feature[f, rows[i]]
    return table, weights[rows]


@compiled
def _variance(table: FloatArray, weights: FloatArray) -> float:
    """Return the variance of weighted points, summed over features."""
    total: float = weights.sum()
    variance = 0.0
    for f in range(table.shape[0]):
        mean = 0.0
        for i in range(weights.size):
            mean += weights[i] * table[f, i]
        mean /= total
        for i in range(weights.size):
            variance += weights[i] * (table[f, i] - mean) ** 2
    return variance / total


# ---------------------------------------------------------------------------------------------------------------------
# from distances


@compiled
def fit_by_distance(
    squared: FloatArray,
    points: FloatArray,
    weights: FloatArray,
    members: IntArray,
    tolerances: FloatArray,
    n_features: int,
    words: IntArray,
    room: tuple[FloatArray, IntArray, FloatArray, IntArray, IntArray, IntArray, FloatArray, IntArray],
    centres: FloatArray,
    inertia: FloatArray,
    n_iter: IntArray,
    state: IntArray,
    budget: int,
) -> bool:
    """Fit all members to all samples of one study, (n, n_features), from the squared distances between its points.

    squared : (n, n)
    room : for the uniforms, picks, closest distances, labels, members, taken points, inertia and steps of all starts
    Other arguments as above; no first centres are given.
    """
    while state[SAMPLE] < len(weights):
        sample = state[SAMPLE]
        rows = np.flatnonzero(weights[sample])
        between, drawn = _between(squared, rows), weights[sample][rows]
        centred, mean = _centred(points, rows, drawn)
        variance = _mean_square(centred, drawn) / n_features
        if not math.isfinite(variance):
            state[MEMBER] = len(members)
        while state[MEMBER] < len(members):
            member = state[MEMBER]
            known = members[member]
            if known[CLUSTERS] <= rows.size:
                tol, seed = tolerances[member] * variance, words[sample, member, : known[WORDS]]
                if not _fit_distances(between, drawn, known, tol, seed, room, state, budget):
                    return False
                best = room[6][: known[STARTS]].argmin()
                begin = members[:member, CLUSTERS].sum()
                means = centres[sample, begin : begin + known[CLUSTERS]]
                _take_means(known, best, centred, drawn, room[4], room[5], means)
                means += mean
                inertia[sample, member], n_iter[sample, member] = room[6][best], -1 - room[7][best]
            state[MEMBER], state[PHASE] = member + 1, BEGIN
            budget -= rows.size * rows.size * known[STARTS] * USUAL_ITERATIONS
            if budget < 0:
                return False
        state[SAMPLE], state[MEMBER] = sample + 1, 0
    return True


@compiled
def _centred(points: FloatArray, rows: IntArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return some points without their weighted mean, (n_rows, n_features), and that mean."""
    centred, mean = np.empty((rows.size, points.shape[1])), np.zeros(points.shape[1])
    for i in range(rows.size):
        centred[i] = points[rows[i]]
        for f in range(mean.size):
            mean[f] += weights[i] * centred[i, f]
    mean /= weights.sum()
    for i in range(rows.size):
        for f in range(mean.size):
            centred[i, f] -= mean[f]
    return centred, mean


@compiled
def _mean_square(rows: FloatArray, weights: FloatArray) -> float:
    """Return the weighted mean of the rows' squared lengths."""
    lengths = squared_lengths(rows)
    total: float = (weights * lengths).sum() / weights.sum()
    return total


@compiled
def _between(squared: FloatArray, rows: IntArray) -> FloatArray:
    """Return the distances between some points alone, (n_rows, n_rows)."""
    between = np.empty((rows.size, rows.size))
    for i in range(rows.size):
        row = squared[rows[i]]
        for j in range(rows.size):
            between[i, j] = row[rows[j]]
    return between


@compiled
def _fit_distances(
    between: FloatArray,
    drawn: FloatArray,
    known: IntArray,
    tol: float,
    seed: IntArray,
    room: tuple[FloatArray, IntArray, FloatArray, IntArray, IntArray, IntArray, FloatArray, IntArray],
    state: IntArray,
    budget: int,
) -> bool:
    """Fit one member, or go on with that; its starts are left in `room`."""
    k, n_starts, n = known[CLUSTERS], known[STARTS], drawn.size
    uniforms = room[0][: n_starts * n_uniforms(k)].reshape((n_starts, n_uniforms(k)))
    picks, closest = room[1][: n_starts * k].reshape((n_starts, k)), room[2][:n]
    labels, members = room[3][: n_starts * n].reshape((n_starts, n)), room[4][: n_starts * n].reshape((n_starts, n))
    taken = room[5][: n_starts * k].reshape((n_starts, k))
    inertia, steps = room[6][:n_starts], room[7][:n_starts]
    if state[PHASE] == BEGIN:
        labels[:] = -1
        members[:] = -1
        taken[:] = -1
        steps[:] = 0
        state[CHOICE:] = 0
        fill_uniforms(seed, uniforms)
        state[PHASE] = CHOOSE
    if state[PHASE] == CHOOSE:
        if not choose_by_distance(between, drawn, uniforms, picks, closest, state[CHOICE:], budget):
            return False
        state[PHASE] = MOVE
    arrays = (picks, labels, members, taken, inertia, steps)
    done: bool = lloyd_by_distance(between, drawn, *arrays, known[ITERATIONS], tol, budget)
    return done


@compiled
def _take_means(
    known: IntArray,
    start: int,
    rows: FloatArray,
    weights: FloatArray,
    members: IntArray,
    taken: IntArray,
    means: FloatArray,
) -> None:
    """Write the means of the clusters of one start, (k, n_features)."""
    k, n, own = known[CLUSTERS], weights.size, weights.copy()
    sizes = np.zeros(k)
    means[:] = 0.0
    for j in range(k):
        point = taken[start * k + j]
        if point >= 0:  # a copy of it belongs to a cluster that had become empty
            own[point] -= 1.0
            sizes[j] += 1.0
            means[j] += rows[point]
    for i in range(n):
        j, w = members[start * n + i], own[i]
        sizes[j] += w
        for f in range(rows.shape[1]):
            means[j, f] += w * rows[i, f]
    for j in range(k):
        if sizes[j] > 0.0:
            means[j] /= sizes[j]
        else:  # fewer different points than clusters: nobody's nearest
            means[j] = np.inf


# ---------------------------------------------------------------------------------------------------------------------
# labels


@compiled
def label_points(
    by_feature: FloatArray,
    centres: FloatArray,
    members: IntArray,
    is_fitted: BoolArray,
    weights: FloatArray,
    labels: IntArray,
    n_found: IntArray,
    state: IntArray,
    budget: int,
) -> bool:
    """Give all points of one study, (n_features, n), the labels of many clustering functions.

    centres : (n_functions, n_centres, n_features), those of one member after the other
    is_fitted : (n_functions, n_members)
    weights : (n_functions, n), or (0, n) where nothing is counted
    labels : (n_functions, n_members, n), written
    n_found : (n_functions, n_members), written: how many labels the points with a weight have
    state : (2,), the function and the member
    """
    p, n = by_feature.shape
    table, sums = in_rows(by_feature), np.empty(TILE)
    best, nearest = np.empty(n_columns(n)), np.empty(n_columns(n))
    while state[0] < len(centres):
        function, member = state
        k = members[member, CLUSTERS]
        if is_fitted[function, member]:
            begin = members[:member, CLUSTERS].sum()
            padded = np.zeros((k, n_rows(p)))
            padded[:, :p] = centres[function, begin : begin + k]
            nearest_in_table(table, padded, best, nearest, sums)
            found = labels[function, member]
            for i in range(n):
                found[i] = np.int32(nearest[i])
            if len(weights) > 0:
                n_found[function, member] = _count_labels(found, weights[function], k)
        state[1] += 1
        if state[1] == len(members):
            state[0] += 1
            state[1] = 0
        budget -= n * k * p
        if budget < 0:
            return False
    return True


@compiled
def _count_labels(labels: IntArray, weights: FloatArray, n_clusters: int) -> int:
    """Count the labels that points with a weight have."""
    seen = np.zeros(n_clusters, np.bool_)
    for i in range(labels.size):
        if weights[i] > 0.0:
            seen[labels[i]] = True
    n_seen: int = seen.sum()
    return n_seen


@compiled
def count_tables(u: IntArray, v: IntArray, weights: FloatArray, function: int, member: int, tables: FloatArray) -> None:
    """Count the labelings of several functions u against one v of the same weighted points, in many replicates.

    u : (n_replicates, n_functions, all_members, n_points)
    v : (n_replicates, all_members, n_points)
    weights : (n_replicates, n_points), whole numbers
    function, member : the place of the first function in the tables, and of the first table among all members
    tables : (n_replicates, all_functions, n_members, k, k), added to
    """
    for b in range(len(tables)):
        times = weights[b]
        for f in range(u.shape[1]):
            for m in range(tables.shape[2]):
                table, rows, columns = tables[b, function + f, m], u[b, f, member + m], v[b, member + m]
                for i in range(times.size):
                    table[rows[i], columns[i]] += times[i]
