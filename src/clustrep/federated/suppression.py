"""Small counts: withheld, together with as many others as keep them from being found by subtraction in one table.

Subtraction between tables, or between the tables and the scores, is not considered.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from clustrep.types import BoolArray, FloatArray, IntArray

NOT_TOLD = -1


def suppressed_sizes(sizes: IntArray, least: int) -> IntArray:
    """Replace all sizes but 0 by −1 where one is from 1 below the rule.

    The sum is known, so that one alone, or two of a single sample each, would follow from the others. So would one
    that is withheld with the next larger, if another number of clusters leaves that one as it is and tells its size.
    Zeros remain: whoever chooses the clusters learns which of them are empty.

    Examples
    --------
    >>> suppressed_sizes(np.array([40, 3, 0, 25]), 10).tolist()
    [-1, -1, 0, -1]
    """
    any_small = bool(((sizes > 0) & (sizes < least)).any())
    return np.where((sizes > 0) & any_small, NOT_TOLD, sizes)


def suppressed_table(counts: IntArray, least: int) -> IntArray:
    """Replace small counts of a table by −1, and as many others as keep these within an interval of `least` counts.

    Row and column sums are taken as known, because sizes of clusters are told elsewhere. Given these and the counts
    that remain, the smallest and the largest value of every small count follow by linear programming; as long as these
    are closer than `least`, a further count of its row or column is withheld, the smallest first.

    Examples
    --------
    >>> suppressed_table(np.array([[40, 3, 20], [2, 35, 30], [25, 22, 60]]), 10)
    array([[-1, -1, -1],
           [-1, -1, 30],
           [25, -1, 60]])
    """
    small = (counts > 0) & (counts < least)
    hidden = small.copy()
    while True:
        exposed = [cell for cell in np.argwhere(small) if _width(counts, hidden, tuple(cell)) < least]
        if not exposed:
            return np.where(hidden, NOT_TOLD, counts)
        partner = _partner(counts, hidden, exposed[0])
        if partner is None:  # everything that could hide it is hidden
            return np.where(hidden.any(), NOT_TOLD, counts)
        hidden[partner] = True


def _width(counts: IntArray, hidden: BoolArray, cell: tuple[int, ...]) -> float:
    """Return how far apart the smallest and the largest possible value of a hidden count are."""
    low, high = bounds_of(counts, hidden, cell)
    return high - low


def bounds_of(counts: IntArray, hidden: BoolArray, cell: tuple[int, ...]) -> tuple[float, float]:
    """Return the smallest and the largest value that a hidden count can have, given all sums and the other counts."""
    cells = np.argwhere(hidden)
    places = {tuple(place): i for i, place in enumerate(cells)}
    rows = [[float(place[0] == i) for place in cells] for i in range(counts.shape[0])]
    columns = [[float(place[1] == j) for place in cells] for j in range(counts.shape[1])]
    shown = np.where(hidden, 0, counts)
    sums: FloatArray = np.concatenate([(counts - shown).sum(axis=1), (counts - shown).sum(axis=0)]).astype(float)
    objective = np.zeros(len(cells))
    objective[places[cell]] = 1.0
    ends = [
        linprog(sign * objective, A_eq=[*rows, *columns], b_eq=sums, bounds=(0, None)).fun * sign for sign in (1, -1)
    ]
    return float(ends[0]), float(ends[1])


def _partner(counts: IntArray, hidden: BoolArray, cell: IntArray) -> tuple[int, int] | None:
    """Return the smallest count that is still told in the cell's row or column; empty cells last."""
    i, j = cell
    candidates = [(i, c) for c in range(counts.shape[1])] + [(r, j) for r in range(counts.shape[0])]
    told = [place for place in candidates if not hidden[place]]
    if not told:
        told = [(int(r), int(c)) for r, c in np.argwhere(~hidden)]
    lonely = [place for place in told if _is_lonely(hidden, place, (int(i), int(j)))]
    pool = lonely or told
    return min(pool, key=lambda place: (counts[place] == 0, counts[place])) if pool else None


def _is_lonely(hidden: BoolArray, place: tuple[int, int], cell: tuple[int, int]) -> bool:
    """Whether hiding a count helps a cell that is the only hidden one of its row or column."""
    in_row = place[0] == cell[0] and hidden[cell[0]].sum() == 1
    in_column = place[1] == cell[1] and hidden[:, cell[1]].sum() == 1
    return bool(in_row or in_column)


def conservative_window(counts: IntArray, least: int) -> IntArray:
    """Round small counts (left, middle, right) so that no gap appears that is not there, (n_edges, 3).

    A middle below the rule is told as the largest number below it, a side below the rule as 0.

    Examples
    --------
    >>> conservative_window(np.array([[30, 2, 25], [40, 12, 4]]), 10).tolist()
    [[30, 9, 25], [40, 12, 0]]
    """
    rounded = np.array(counts)
    rounded[:, [0, 2]] = np.where(counts[:, [0, 2]] < least, 0, counts[:, [0, 2]])
    rounded[:, 1] = np.maximum(counts[:, 1], least - 1)
    return rounded
