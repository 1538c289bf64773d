"""What the kernels compute, written as the formulas stand; the tests hold the kernels to these."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, xlogy

from clustrep.types import FloatArray, IntArray


def mutual_information(
    cells: FloatArray,
    row_of_cell: IntArray,
    column_of_cell: IntArray,
    rows: FloatArray,
    columns: FloatArray,
    totals: FloatArray,
) -> FloatArray:
    """Equation (6) of the paper."""
    n = totals[:, None]
    occupied = cells > 0
    independent = rows[:, row_of_cell] * columns[:, column_of_cell]
    ratio = np.where(occupied, cells * n / np.where(occupied, independent, 1.0), 1.0)
    return np.asarray(np.maximum((cells / n * np.log(ratio)).sum(axis=1), 0.0))


def entropy(sizes: FloatArray, totals: FloatArray) -> FloatArray:
    """Entropy of a partition from the sizes of its blocks."""
    shares = sizes / totals[:, None]
    return np.asarray(-xlogy(shares, shares).sum(axis=1))


def expected_mutual_information(rows: FloatArray, columns: FloatArray, totals: FloatArray) -> FloatArray:
    """Vinh, Epps & Bailey (2010), equation (24a), with logarithms of factorials."""
    result = np.zeros(len(rows))
    for t, n in enumerate(totals):
        for a in rows[t][rows[t] > 0]:
            for b in columns[t][columns[t] > 0]:
                x = np.arange(max(1.0, a + b - n), min(a, b) + 1.0)
                log_probability = (
                    gammaln(a + 1)
                    + gammaln(b + 1)
                    + gammaln(n - a + 1)
                    + gammaln(n - b + 1)
                    - gammaln(n + 1)
                    - gammaln(x + 1)
                    - gammaln(a - x + 1)
                    - gammaln(b - x + 1)
                    - gammaln(n - a - b + x + 1)
                )
                result[t] += np.sum(x / n * np.log(n * x / (a * b)) * np.exp(log_probability))
    return result


# ---------------------------------------------------------------------------------------------------------------------
# k-means of weighted points, (n, n_features)


def choose_centres(X: FloatArray, weights: FloatArray, uniforms: FloatArray, n_clusters: int) -> IntArray:
    """Greedy k-means++, Arthur & Vassilvitskii (2007), sec. 6: the points chosen in every start, (n_starts, k)."""
    n_trials = (uniforms.shape[1] - 1) // max(n_clusters - 1, 1)
    picks = np.empty((len(uniforms), n_clusters), np.int64)
    for s, u in enumerate(uniforms):
        shares = [u[:1], *u[1:].reshape(n_clusters - 1, n_trials)]
        masses, closest = weights, np.full(len(X), np.inf)
        for c, share in enumerate(shares):
            cumulative = np.cumsum(masses)
            candidates = np.searchsorted(cumulative, share * cumulative[-1], side="right").clip(max=len(X) - 1)
            nearer = np.minimum(closest, ((X - X[candidates, None]) ** 2).sum(axis=2))  # (n_trials, n)
            best = (weights * nearer).sum(axis=1).argmin()
            picks[s, c], closest = candidates[best], nearer[best]
            masses = weights * closest
    return picks


def nearest_centres(X: FloatArray, centres: FloatArray) -> tuple[IntArray, FloatArray]:
    """Nearest centre of every point, the first of equal ones, and its squared distance."""
    squared = ((X[:, None] - centres) ** 2).sum(axis=2)  # (n, k)
    return squared.argmin(axis=1), squared.min(axis=1)


def lloyd(
    X: FloatArray, weights: FloatArray, centres: FloatArray, max_iter: int, tol: float
) -> tuple[FloatArray, IntArray, float, int]:
    """Lloyd's iterations: the final centres, (k, n_features), the labels, the inertia and the number of iterations."""
    labels, distances = nearest_centres(X, centres)
    n_iter, settled, repeated = 0, False, False
    while n_iter < max_iter and not (settled or repeated):
        in_cluster = memberships(labels, distances, weights, len(centres))  # (k, n)
        sizes = in_cluster.sum(axis=1, keepdims=True)
        means = np.where(sizes > 0, in_cluster @ X / np.where(sizes > 0, sizes, 1.0), centres)
        shift = ((means - centres) ** 2).sum()
        before, centres = labels, means
        labels, distances = nearest_centres(X, centres)
        settled, repeated = shift <= tol, bool(np.all((labels == before) | (weights == 0)))
        n_iter += 1
    if repeated and not settled and n_iter < max_iter:
        n_iter += 1  # the iteration that changed nothing
    return centres, labels, float((weights * distances).sum()), n_iter


def memberships(labels: IntArray, distances: FloatArray, weights: FloatArray, n_clusters: int) -> FloatArray:
    """Give points to their clusters by weight, and to an empty one a copy of the farthest that leaves none empty."""
    in_cluster = weights * (labels == np.arange(n_clusters)[:, None])
    for j in range(n_clusters):
        sizes = in_cluster.sum(axis=1)
        n_copies = in_cluster[labels, np.arange(len(labels))]
        free = (n_copies > 0) & (sizes[labels] > 1) & (distances > 0)
        if sizes[j] == 0 and free.any():
            farthest = np.where(free, distances, -1.0).argmax()
            in_cluster[labels[farthest], farthest] -= 1
            in_cluster[j, farthest] = 1
    return np.asarray(in_cluster)


# ---------------------------------------------------------------------------------------------------------------------
# agglomerative trees of weighted points

WARD, COMPLETE, AVERAGE, SINGLE = 0, 1, 2, 3  # the numbers that the kernels know them by


def start_dissimilarities(
    distances: FloatArray, rows: IntArray, weights: FloatArray, linkage: int, root: bool
) -> FloatArray:
    """Dissimilarities between some rows of a table of distances, (n, n), infinite to themselves."""
    work: FloatArray = distances[np.ix_(rows, rows)]
    if linkage == WARD:
        work *= 2 * np.outer(weights, weights) / np.add.outer(weights, weights)
    elif root:
        work = np.sqrt(work)
    np.fill_diagonal(work, np.inf)
    return work


def merge_points(work: FloatArray, linkage: int, sizes: FloatArray) -> tuple[IntArray, FloatArray]:
    """Greedy algorithm with the formula of Lance & Williams (1967): the merges, (n − 1, 2), and their heights."""
    work, sizes = work.copy(), sizes.copy()
    merges, heights = np.empty((len(sizes) - 1, 2), np.int64), np.empty(len(sizes) - 1)
    for m in range(len(heights)):
        x, y = merges[m] = np.unravel_index(work.argmin(), work.shape)
        heights[m] = work[x, y]
        if linkage == WARD:
            joint = (sizes[x] + sizes) * work[x] + (sizes[y] + sizes) * work[y] - sizes * work[x, y]
            joint /= sizes[x] + sizes[y] + sizes
        elif linkage == AVERAGE:
            joint = (sizes[x] * work[x] + sizes[y] * work[y]) / (sizes[x] + sizes[y])
        else:
            joint = (np.maximum if linkage == COMPLETE else np.minimum)(work[x], work[y])
        work[y] = work[:, y] = joint
        work[x] = work[:, x] = work[y, y] = np.inf
        sizes[y] += sizes[x]
    return merges, heights


def merge_ward(X: FloatArray, sizes: FloatArray) -> tuple[IntArray, FloatArray]:
    """Ward's tree of points, (n, n_features)."""
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    return merge_points(start_dissimilarities(squared, np.arange(len(X)), sizes, WARD, False), WARD, sizes)


def cut_tree(merges: IntArray, n_clusters: int) -> IntArray:
    """Make all merges but the last ones; a cluster goes by its first point until all are numbered."""
    first = np.arange(len(merges) + 1)
    for a, b in merges[: len(first) - n_clusters]:
        joined = (first == first[a]) | (first == first[b])
        first[joined] = first[joined].min()
    return np.unique(first, return_inverse=True)[1]


# ---------------------------------------------------------------------------------------------------------------------
# pairs of points


def count_together(codes: IntArray, first: IntArray, second: IntArray, together: IntArray, both: IntArray) -> None:
    """Count for every listed pair the replicates that have both points, and those in which both have the same code."""
    one, other = codes[first], codes[second]
    present = (one >= 0) & (other >= 0)
    both[:] = present.sum(axis=1)
    together[:] = (present & (one == other)).sum(axis=1)


# ---------------------------------------------------------------------------------------------------------------------
# tables of pairs of labelings


def count_tables(u: IntArray, v: IntArray, weights: FloatArray, function: int, member: int, tables: FloatArray) -> None:
    """Count the labelings of several functions u against one v of the same weighted points, in many replicates."""
    for b, f, m, i in np.ndindex(len(tables), u.shape[1], tables.shape[2], u.shape[3]):
        tables[b, function + f, m, u[b, f, member + m, i], v[b, member + m, i]] += weights[b, i]


# ---------------------------------------------------------------------------------------------------------------------
# distances


def squares_between(X: FloatArray) -> FloatArray:
    """Squared distances between all rows, (n, n): features are added in their order."""
    squares = np.zeros((len(X), len(X)))
    for column in X.T.astype(float):
        difference = column - column[:, None]
        squares += difference * difference
    return squares


def keep_least(block: FloatArray, first_column: int, values: FloatArray, columns: IntArray) -> None:
    """Sort what was kept and what is new together, what was kept first among equal values."""
    numbers = np.broadcast_to(first_column + np.arange(block.shape[1]), block.shape)
    together, where = np.hstack([values, block]), np.hstack([columns, numbers])
    order = np.argsort(together, axis=1, kind="stable")[:, : values.shape[1]]
    values[:], columns[:] = np.take_along_axis(together, order, axis=1), np.take_along_axis(where, order, axis=1)
