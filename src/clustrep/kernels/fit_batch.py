"""Many draws, fits of k-means and tables in one call: all resamples of a study, all numbers of clusters, all starts.

No fit depends on the others in its batch. As in single kernels, a call returns False once more than `budget` numbers
were compared, and the next call with the same arrays goes on from there.
"""

from __future__ import annotations

import math

import numpy as np

from clustrep.kernels.compiled import compiled
from clustrep.kernels.distances import TILE, in_rows, n_columns, n_rows, nearest_in_table, pad_centres
from clustrep.kernels.first_centres import choose_centres, lowest
from clustrep.kernels.lloyd import lloyd_by_distance, lloyd_in_table, squared_lengths
from clustrep.kernels.streams import fill_integers, fill_uniforms
from clustrep.types import BoolArray, FloatArray, IntArray

# The columns of a member: its number of clusters, starts and iterations, the words of its seeds, the
# random numbers of a start, and whether its first centres are given.
CLUSTERS, STARTS, ITERATIONS, WORDS, UNIFORMS, GIVEN = range(6)
# Where a batch is: the sample, the member, the step, and the start and centre that are chosen next.
SAMPLE, MEMBER, PHASE, CHOICE = 0, 1, 2, 3
BEGIN, CHOOSE, MOVE = 0, 1, 2
# Iterations that a start takes, roughly: decides how often control returns between fits.
USUAL_ITERATIONS = 15
# What all starts of a fit need.
Room = tuple[FloatArray, IntArray, FloatArray, IntArray, FloatArray, IntArray, FloatArray, IntArray, IntArray]


def n_uniforms(n_clusters: int) -> int:
    """Return how many random numbers choose the first centres of a start; as many candidates as in scikit-learn."""
    return 1 + (n_clusters - 1) * (2 + int(math.log(n_clusters)))


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
def fit_samples(
    by_feature: FloatArray | None,
    squared: FloatArray | None,
    points: FloatArray | None,
    weights: FloatArray,
    members: IntArray,
    borders: IntArray,
    tolerances: FloatArray,
    n_features: int,
    words: IntArray,
    given: FloatArray,
    room: Room,
    centres: FloatArray,
    inertia: FloatArray,
    n_iter: IntArray,
    state: IntArray,
    budget: int,
) -> bool:
    """Fit all members to all samples of one study: from its features, or from distances between its points.

    by_feature : (n_features, n), the points; None: distances are given
    squared : (n, n), squared distances between the points; None: features are given
    points : (n, n_features), the points to which distances belong; None: features are given
    weights : (n_samples, n), how often each point was drawn
    members : (n_members, 6)
    borders : (n_members + 1,), the first centre of every member
    tolerances : (n_members,), relative to the variance
    n_features : how many there were before points were rotated
    words : (n_samples, n_members, n_words), of the seeds
    given : (n_centres, n_features), first centres of members that have them; none where distances are given
    room : for the uniforms, picks, closest distances, labels, inertia and steps of all starts of a fit; from features
        for their centres, from distances for their members and taken points
    centres : (n_samples, n_centres, n_features), written
    inertia, n_iter : (n_samples, n_members), written; no iterations where there are fewer points than clusters, or
        numbers that are not finite
    """
    while state[SAMPLE] < len(weights):
        sample = state[SAMPLE]
        rows = np.flatnonzero(weights[sample])
        drawn = weights[sample][rows]
        known = (members, borders, tolerances, words[sample], given, room)
        written = (centres[sample], inertia[sample], n_iter[sample])
        # Numba omits the branch for an argument that is None only with this form of the condition.
        if by_feature is not None:
            table = in_rows(by_feature, rows)
            variance = _variance(table, drawn) / n_features
            budget = _fit_members(table, None, None, None, drawn, variance, *known, *written, state, budget)
        if squared is not None:
            between = _between(squared, rows)
            centred, mean = _centred(points, rows, drawn)
            variance = _mean_square(centred, drawn) / n_features
            budget = _fit_members(None, between, centred, mean, drawn, variance, *known, *written, state, budget)
        if budget < 0:
            return False
        state[SAMPLE], state[MEMBER] = sample + 1, 0
    return True


@compiled
def _fit_members(
    table: FloatArray | None,
    between: FloatArray | None,
    centred: FloatArray | None,
    mean: FloatArray | None,
    drawn: FloatArray,
    variance: float,
    members: IntArray,
    borders: IntArray,
    tolerances: FloatArray,
    words: IntArray,
    given: FloatArray,
    room: Room,
    centres: FloatArray,
    inertia: FloatArray,
    n_iter: IntArray,
    state: IntArray,
    budget: int,
) -> int:
    """Fit all members to one sample; return the rest of the budget, negative where there is more to do."""
    if not math.isfinite(variance):
        state[MEMBER] = len(members)
    while state[MEMBER] < len(members):
        if budget < 0:
            return budget
        member = state[MEMBER]
        known, begin, end = members[member], borders[member], borders[member + 1]
        if known[CLUSTERS] <= drawn.size:
            seed, tol = words[member, : known[WORDS]], tolerances[member] * variance
            if not _fit(table, between, drawn, known, tol, seed, given[begin:end], room, state, budget):
                return -1
            best = lowest(room[4][: known[STARTS]])
            inertia[member], n_iter[member] = room[4][best], -1 - room[5][best]
            if table is not None:
                _copy_centres(room[6], best, centres[begin:end])
                budget -= drawn.size * known[STARTS] * USUAL_ITERATIONS * known[CLUSTERS] * len(table)
            if centred is not None:
                _take_means(room[7], room[8], best, centred, mean, drawn, centres[begin:end])
                budget -= drawn.size * known[STARTS] * USUAL_ITERATIONS * drawn.size
        state[MEMBER], state[PHASE] = member + 1, BEGIN
    return max(budget, 0)


@compiled
def _fit(
    table: FloatArray | None,
    between: FloatArray | None,
    drawn: FloatArray,
    known: IntArray,
    tol: float,
    seed: IntArray,
    given: FloatArray,
    room: Room,
    state: IntArray,
    budget: int,
) -> bool:
    """Fit one member to one sample, or go on with that; its starts are left in `room`."""
    k, n_starts, n, p = known[CLUSTERS], known[STARTS], drawn.size, given.shape[1]
    uniforms = room[0][: n_starts * known[UNIFORMS]].reshape((n_starts, known[UNIFORMS]))
    picks, closest = room[1][: n_starts * k].reshape((n_starts, k)), room[2][:n]
    labels = room[3][: n_starts * n].reshape((n_starts, n))
    inertia, steps = room[4][:n_starts], room[5][:n_starts]
    if state[PHASE] == BEGIN:
        labels[:] = -1
        steps[:] = 0
        state[CHOICE:] = 0
        fill_uniforms(seed, uniforms)
        state[PHASE] = CHOOSE
    begins, chosen = state[PHASE] == CHOOSE, True
    if begins and known[GIVEN] == 0:
        chosen = choose_centres(table, between, drawn, uniforms, picks, closest, state[CHOICE:], budget)
    if not chosen:
        return False
    state[PHASE] = MOVE
    done = False
    if table is not None:
        centres = room[6][: n_starts * k * p].reshape((n_starts, k, p))
        if begins:
            for s in range(n_starts):
                for j in range(k):
                    for f in range(p):
                        centres[s, j, f] = given[j, f] if known[GIVEN] == 1 else table[f, picks[s, j]]
        done = lloyd_in_table(table, drawn, centres, labels, inertia, steps, known[ITERATIONS], tol, budget)
    if between is not None:
        members = room[7][: n_starts * n].reshape((n_starts, n))
        taken = room[8][: n_starts * k].reshape((n_starts, k))
        if begins:
            members[:] = -1
            taken[:] = -1
        arrays = (picks, labels, members, taken, inertia, steps)
        done = lloyd_by_distance(between, drawn, *arrays, known[ITERATIONS], tol, budget)
    return done


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
def _copy_centres(flat: FloatArray, start: int, centres: FloatArray) -> None:
    """Write the centres of one start, (k, n_features), of those of all starts."""
    k, p = centres.shape
    for j in range(k):
        for f in range(p):
            centres[j, f] = flat[(start * k + j) * p + f]


@compiled
def _take_means(
    all_members: IntArray,
    all_taken: IntArray,
    start: int,
    rows: FloatArray,
    mean: FloatArray,
    weights: FloatArray,
    means: FloatArray,
) -> None:
    """Write the means of the clusters of one start, (k, n_features), of centred rows and their own mean."""
    n, (k, p) = weights.size, means.shape
    members, taken = all_members[start * n : (start + 1) * n], all_taken[start * k : (start + 1) * k]
    own, sizes = weights.copy(), np.zeros(k)
    means[:] = 0.0
    for j in range(k):
        point = taken[j]
        if point >= 0:  # a copy of it belongs to a cluster that had become empty
            own[point] -= 1.0
            sizes[j] += 1.0
            for f in range(p):
                means[j, f] += rows[point, f]
    for i in range(n):
        j, w = members[i], own[i]
        sizes[j] += w
        for f in range(p):
            means[j, f] += w * rows[i, f]
    for j in range(k):
        for f in range(p):  # fewer different points than clusters: nobody's nearest
            means[j, f] = means[j, f] / sizes[j] + mean[f] if sizes[j] > 0.0 else np.inf


# ---------------------------------------------------------------------------------------------------------------------
# labels


@compiled
def label_points(
    by_feature: FloatArray,
    centres: FloatArray,
    borders: IntArray,
    is_fitted: BoolArray,
    weights: FloatArray,
    labels: IntArray,
    n_found: IntArray,
    state: IntArray,
    budget: int,
) -> bool:
    """Give all points of one study, (n_features, n), the labels of many clustering functions.

    centres : (n_functions, n_centres, n_features), those of one member after the other
    borders : (n_members + 1,), the first centre of every member
    is_fitted : (n_functions, n_members)
    weights : (n_functions, n), or (0, n) where nothing is counted
    labels : (n_functions, n_members, n), written
    n_found : (n_functions, n_members), written: how many labels the points with a weight have
    state : (2,), the function and the member
    """
    p, n = by_feature.shape
    table, sums = in_rows(by_feature, np.arange(n)), np.empty(TILE)
    best, nearest = np.empty(n_columns(n)), np.empty(n_columns(n))
    while state[0] < len(centres):
        function, member = state
        k = borders[member + 1] - borders[member]
        if is_fitted[function, member]:
            padded = np.zeros((k, n_rows(p)))
            pad_centres(centres[function, borders[member] : borders[member + 1]], padded)
            nearest_in_table(table, padded, best, nearest, sums)
            found = labels[function, member]
            for i in range(n):
                found[i] = np.int32(nearest[i])
            if len(weights) > 0:
                n_found[function, member] = _count_labels(found, weights[function], k)
        state[1] += 1
        if state[1] == len(borders) - 1:
            state[0] += 1
            state[1] = 0
        budget -= n * k * p
        if budget < 0:
            return False
    return True


@compiled
def _count_labels(labels: IntArray, weights: FloatArray, n_clusters: int) -> int:
    """Count the labels that points with a weight have."""
    seen, n_seen = np.zeros(n_clusters, np.bool_), 0
    for i in range(labels.size):
        if weights[i] > 0.0 and not seen[labels[i]]:
            seen[labels[i]] = True
            n_seen += 1
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
