"""Two labelings of the same points, and the table of counts between them.

Rows always belong to the first labeling U, columns to the second V. A point may have a weight, a whole number: it then
counts as so many equal points. Codes are labels renumbered 0, 1, …; a code that no point has is an empty row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from clustrep.device.available import PROCESSOR
from clustrep.label_checks import check_labels, check_weights
from clustrep.tables.noise import NOISE
from clustrep.types import BoolArray, FloatArray, IntArray, Labels


@dataclass(frozen=True, eq=False)
class Counts:
    """What the agreements read: cells with their margins, for many tables at once.

    The cells may be a dense table, flattened, or the occupied ones alone: formulas are the same for both.
    """

    cells: FloatArray  # (n_tables, n_cells)
    row_of_cell: IntArray  # (n_cells,): the row that a cell stands in, in all tables
    column_of_cell: IntArray  # (n_cells,)
    rows: FloatArray  # (n_tables, k_u)
    columns: FloatArray  # (n_tables, k_v)
    totals: FloatArray  # (n_tables,)

    @property
    def identical(self) -> BoolArray:
        """Whether the two partitions are the same: as many occupied cells as blocks on either side, (n_tables,)."""
        occupied, rows, columns = (np.count_nonzero(sizes, axis=1) for sizes in (self.cells, self.rows, self.columns))
        return np.asarray((occupied == rows) & (occupied == columns))

    @classmethod
    def from_tables(cls, tables: FloatArray) -> Counts:
        """Take dense tables, (n_tables, k_u, k_v)."""
        tables = np.asarray(tables, dtype=float)
        n_tables, k_u, k_v = tables.shape
        rows, columns = tables.sum(axis=2), tables.sum(axis=1)
        row_of_cell, column_of_cell = np.divmod(np.arange(k_u * k_v), k_v)
        return cls(
            cells=tables.reshape(n_tables, k_u * k_v),
            row_of_cell=row_of_cell,
            column_of_cell=column_of_cell,
            rows=rows,
            columns=columns,
            totals=rows.sum(axis=1),
        )

    @classmethod
    def from_codes(cls, u: IntArray, v: IntArray, weights: IntArray | None = None) -> Counts:
        """Take two labelings as codes: occupied cells only, so n blocks against n blocks need memory for n cells."""
        if weights is not None:
            drawn = weights > 0
            u, v, weights = u[drawn], v[drawn], weights[drawn]
        k_v = int(v.max(initial=0)) + 1
        occupied, cell_of_point = np.unique(u.astype(np.int64) * k_v + v, return_inverse=True)
        cells = np.bincount(cell_of_point, weights, minlength=occupied.size).astype(float)
        row_of_cell, column_of_cell = np.divmod(occupied, k_v)
        rows = np.bincount(row_of_cell, cells).astype(float)
        columns = np.bincount(column_of_cell, cells).astype(float)
        return cls(
            cells=cells[None],
            row_of_cell=row_of_cell,
            column_of_cell=column_of_cell,
            rows=rows[None],
            columns=columns[None],
            totals=cells.sum(keepdims=True),
        )


def contingency_table(u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None) -> IntArray:
    """Count how many points have label i in `u` and label j in `v`.

    Parameters
    ----------
    u, v : array_like, (n_points,)
        Two labelings of the same points; labels of any kind.
    weights : array_like of int, (n_points,), optional
        How many times each point counts.

    Returns
    -------
    ndarray of int, (number of labels in u, number of labels in v)
        Rows and columns in the sorted order of the labels.

    See Also
    --------
    adjusted_rand_index, adjusted_mutual_information : How much the two labelings agree, from this table.
    match_labels : Which label of `v` corresponds to which of `u`.

    Notes
    -----
    With many labels on both sides the table is large and nearly empty; the agreements list its occupied cells instead.

    Examples
    --------
    >>> contingency_table(["a", "a", "b", "b"], [1, 1, 1, 2])
    array([[2, 0],
           [1, 1]])
    """
    codes_u, codes_v, counts = check_labelings(u, v, weights)
    shape = (int(codes_u.max()) + 1, int(codes_v.max()) + 1)
    return np.asarray(tables_of(codes_u[None], codes_v, counts, shape)[0], dtype=np.int64)


def tables_of(u: IntArray, v: IntArray, weights: IntArray | BoolArray | None, shape: tuple[int, int]) -> FloatArray:
    """Count many labelings u, (n_tables, n_points), against one v, (n_points,), or one each, (n_tables, n_points).

    `weights` are those of the points, (n_points,), or of the points in each table, (n_tables, n_points).
    """
    n_tables, (k_u, k_v) = len(u), shape
    cell = (np.arange(n_tables)[:, None] * k_u + u) * k_v + v
    each = None if weights is None else np.broadcast_to(weights, cell.shape).ravel()
    counts = np.bincount(cell.ravel(), each, minlength=n_tables * k_u * k_v)
    return counts.reshape(n_tables, k_u, k_v).astype(float)


def tables_of_pairs(
    us: Sequence[IntArray],
    vs: Sequence[IntArray],
    weights: Sequence[IntArray | BoolArray],
    shape: tuple[int, int],
    device: str = PROCESSOR,
) -> FloatArray:
    """Count pairs of labelings, each of other points with other weights, at once: (n_tables, k_u, k_v)."""
    if device != PROCESSOR:
        from clustrep.device.counting import count_pairs  # imports PyTorch

        return count_pairs(us, vs, weights, shape, device)
    k_u, k_v = shape
    sizes = [len(u) for u in us]
    cell = np.repeat(np.arange(len(us)) * (k_u * k_v), sizes)
    cell += np.concatenate(us, dtype=np.int64) * k_v
    cell += np.concatenate(vs, dtype=np.int64)
    counts = np.bincount(cell, np.concatenate(weights), minlength=len(us) * k_u * k_v)
    return counts.reshape(len(us), k_u, k_v).astype(float, copy=False)


@dataclass(frozen=True, eq=False)
class Partition:
    """Points partitioned by a clustering function: each has the position of its label among all that occur."""

    codes: IntArray  # (n_points,)
    classes: Labels  # (n_labels,), sorted

    @property
    def labels(self) -> Labels:
        """The points' labels, (n_points,)."""
        return np.asarray(self.classes[self.codes])

    @property
    def small_codes(self) -> IntArray:
        """The codes in as few bytes as they need."""
        return self.codes.astype(np.min_scalar_type(self.n_labels))

    @property
    def n_labels(self) -> int:
        """How many labels there are; some may have no point here."""
        return len(self.classes)

    @property
    def noise(self) -> int:
        """The code of the noise label −1, itself −1 where there is none."""
        classes = self.classes.tolist()
        return classes.index(NOISE) if NOISE in classes else -1

    @property
    def is_noise(self) -> BoolArray:
        """Which points are noise, (n_points,)."""
        return np.asarray(self.codes == self.noise)


def encode(labelings: Sequence[Labels]) -> list[Partition]:
    """Renumber the labels that one clustering function gave to several sets of points, in sorted order."""
    classes, codes = np.unique(np.concatenate(labelings), return_inverse=True)
    borders = np.cumsum([len(labels) for labels in labelings])[:-1]
    return [Partition(part, classes) for part in np.split(codes.astype(np.int64), borders)]


def check_labelings(
    u: ArrayLike, v: ArrayLike, weights: ArrayLike | None
) -> tuple[IntArray, IntArray, IntArray | None]:
    """Check two labelings of the same points, and return them as codes with their weights."""
    labels_u = check_labels(u, "u")
    labels_v = check_labels(v, "v", length=len(labels_u), same_as="u")
    counts = None if weights is None else check_weights(weights, length=len(labels_u))
    return encode([labels_u])[0].codes, encode([labels_v])[0].codes, counts
