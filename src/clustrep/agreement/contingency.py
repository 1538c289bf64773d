"""Two labelings of the same samples, and the table of counts between them.

Rows always belong to the first labeling U, columns to the second V. A sample may have a weight, a whole number: it then
counts as that many equal samples. Codes are labels renumbered 0, 1, …; a code that no sample has is an empty row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from clustrep.checks import check_labels, check_weights
from clustrep.execution.devices import PROCESSOR
from clustrep.types import BoolArray, FloatArray, IntArray, Labels


@dataclass(frozen=True, eq=False)
class Counts:
    """What the agreements read: cells with their margins, for many tables at once.

    The cells may be a dense table, flattened, or the occupied ones alone: formulas are the same for both.

    Attributes
    ----------
    cells : ndarray of shape (n_tables, n_cells)
        How many samples have both labels of a cell.
    row_of_cell, column_of_cell : ndarray of int, shape (n_cells,)
        The row and the column of a cell, the same in all tables.
    rows : ndarray of shape (n_tables, k_u)
        The sizes of the clusters of the first labeling.
    columns : ndarray of shape (n_tables, k_v)
        The sizes of the clusters of the second.
    totals : ndarray of shape (n_tables,)
        The numbers of samples.
    """

    cells: FloatArray
    row_of_cell: IntArray
    column_of_cell: IntArray
    rows: FloatArray
    columns: FloatArray
    totals: FloatArray

    @property
    def identical(self) -> BoolArray:
        """Whether the two partitions are the same: as many occupied cells as clusters on either side, (n_tables,)."""
        occupied, rows, columns = (np.count_nonzero(sizes, axis=1) for sizes in (self.cells, self.rows, self.columns))
        return np.asarray((occupied == rows) & (occupied == columns))

    @classmethod
    def from_tables(cls, tables: FloatArray) -> Counts:
        """Take dense tables, (n_tables, k_u, k_v)."""
        tables = np.asarray(tables, dtype=float)
        n_tables, k_u, k_v = tables.shape
        rows, columns = tables.sum(axis=2), tables.sum(axis=1)
        row_of_cell, column_of_cell = np.divmod(np.arange(k_u * k_v), k_v)
        cells = tables.reshape(n_tables, k_u * k_v)
        return cls(cells, row_of_cell, column_of_cell, rows, columns, rows.sum(axis=1))

    @classmethod
    def from_codes(cls, u: IntArray, v: IntArray, weights: IntArray | None = None) -> Counts:
        """Take two labelings as codes: occupied cells only, so n clusters against n need memory for n cells."""
        if weights is not None:
            drawn = weights > 0
            u, v, weights = u[drawn], v[drawn], weights[drawn]
        k_v = int(v.max(initial=0)) + 1
        occupied, cell_of_sample = np.unique(u.astype(np.int64) * k_v + v, return_inverse=True)
        cells = np.bincount(cell_of_sample, weights, minlength=occupied.size).astype(float)
        row_of_cell, column_of_cell = np.divmod(occupied, k_v)
        rows = np.bincount(row_of_cell, cells).astype(float)
        columns = np.bincount(column_of_cell, cells).astype(float)
        return cls(cells[None], row_of_cell, column_of_cell, rows[None], columns[None], cells.sum(keepdims=True))


def contingency_table(u: ArrayLike, v: ArrayLike, *, weights: ArrayLike | None = None) -> IntArray:
    """Count how many samples have label i in `u` and label j in `v`.

    Parameters
    ----------
    u, v : array-like of shape (n_samples,)
        Two labelings of the same samples; labels of any kind.
    weights : array-like of int, shape (n_samples,), default=None
        How many times each sample counts.

    Returns
    -------
    ndarray of int, shape (n_labels_u, n_labels_v)
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
    return np.asarray(labelled_table(u, v, weights)[2], dtype=np.int64)


def labelled_table(u: ArrayLike, v: ArrayLike, weights: ArrayLike | None) -> tuple[Labels, Labels, FloatArray]:
    """Check two labelings of the same samples, and return their labels and their table.

    Parameters
    ----------
    u, v : array-like of shape (n_samples,)
        Two labelings of the same samples.
    weights : array-like of int, shape (n_samples,), or None
        How often each sample counts; None: once.

    Returns
    -------
    labels_u, labels_v : ndarray of shape (k_u,) and (k_v,)
        The different labels.
    table : ndarray of shape (k_u, k_v)
        The counts.
    """
    first, second, counts = check_labelings(u, v, weights)
    table = tables_of(first.codes[None], second.codes, counts, (first.n_labels, second.n_labels))[0]
    return first.classes, second.classes, table


def tables_of(u: IntArray, v: IntArray, weights: IntArray | BoolArray | None, shape: tuple[int, int]) -> FloatArray:
    """Count many contingency tables at once.

    Parameters
    ----------
    u : ndarray of int, shape (n_tables, n_samples)
        The codes of the first labelings: rows.
    v : ndarray of int, shape (n_samples,) or (n_tables, n_samples)
        Those of the second, one for all tables or one each: columns.
    weights : ndarray of shape (n_samples,) or (n_tables, n_samples), or None
        How many times each sample counts; None: once.
    shape : tuple of int
        The numbers of rows and columns: codes run from 0.

    Returns
    -------
    ndarray of shape (n_tables, k_u, k_v)

    Examples
    --------
    >>> tables_of(np.array([[0, 0, 1], [1, 0, 1]]), np.array([0, 1, 1]), None, (2, 2)).astype(int).tolist()
    [[[1, 1], [0, 1]], [[0, 1], [1, 1]]]
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
    """Count pairs of labelings, each of other samples with other weights, at once: (n_tables, k_u, k_v).

    Parameters
    ----------
    us, vs : sequence of ndarray of int, shape (n_samples,)
        Two labelings as codes, for every pair.
    weights : sequence of ndarray of int, shape (n_samples,)
        How often each sample counts, for every pair.
    shape : tuple of int
        (k_u, k_v), of all tables.
    device : str, default="cpu"
        Where they are counted.

    Returns
    -------
    ndarray of shape (n_tables, k_u, k_v)
    """
    if device != PROCESSOR:
        from clustrep.gpu.counting import count_pairs  # imports PyTorch

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
    """Samples partitioned by a clustering function: each has the position of its label among all that occur.

    Attributes
    ----------
    codes : ndarray of int, shape (n_samples,)
        Every sample's label, as a position in `classes`.
    classes : ndarray of shape (n_labels,)
        All labels that the function can give, sorted: also those that no sample has here.

    Examples
    --------
    >>> first, second = encode([np.array(["b", "a"]), np.array(["c", "a", "a"])])
    >>> first.codes.tolist(), second.codes.tolist(), second.n_labels
    ([1, 0], [2, 0, 0], 3)
    """

    codes: IntArray
    classes: Labels

    @property
    def labels(self) -> Labels:
        """The samples' labels, (n_samples,)."""
        return np.asarray(self.classes[self.codes])

    @property
    def small_codes(self) -> IntArray:
        """The codes in as few bytes as they need."""
        return self.codes.astype(np.min_scalar_type(self.n_labels))

    @property
    def n_labels(self) -> int:
        """How many labels there are; some may have no sample here."""
        return len(self.classes)

    @property
    def noise(self) -> int:
        """The code of the noise label −1, itself −1 where there is none."""
        classes = self.classes.tolist()
        return classes.index(NOISE) if NOISE in classes else -1

    @property
    def is_noise(self) -> BoolArray:
        """Which samples are noise, (n_samples,)."""
        return np.asarray(self.codes == self.noise)


def encode(labelings: Sequence[Labels]) -> list[Partition]:
    """Renumber the labels that one clustering function gave to several sets of samples, in sorted order.

    Parameters
    ----------
    labelings : sequence of ndarray of shape (n_samples,)
        Labels of any kind that can be sorted together.

    Returns
    -------
    list of Partition
        One for each set, with the same `classes`.
    """
    classes, codes = np.unique(np.concatenate(labelings), return_inverse=True)
    borders = np.cumsum([len(labels) for labels in labelings])[:-1]
    return [Partition(part, classes) for part in np.split(codes.astype(np.int64), borders)]


def check_labelings(
    u: ArrayLike, v: ArrayLike, weights: ArrayLike | None
) -> tuple[Partition, Partition, IntArray | None]:
    """Check two labelings of the same samples, and return them as partitions with the samples' weights.

    Parameters
    ----------
    u, v : array-like of shape (n_samples,)
        Two labelings.
    weights : array-like of int, shape (n_samples,), or None
        How often each sample counts.

    Returns
    -------
    first, second : Partition
        The same as codes.
    counts : ndarray of int, shape (n_samples,), or None
        The weights.
    """
    labels_u = check_labels(u, "u")
    labels_v = check_labels(v, "v", length=len(labels_u), same_as="u")
    counts = None if weights is None else check_weights(weights, length=len(labels_u))
    return encode([labels_u])[0], encode([labels_v])[0], counts


# ---------------------------------------------------------------------------------------------------------------------
# The three treatments of samples that a clusterer calls noise, label −1


NOISE = -1

ONLY_NOISE = "fewer than two samples left after dropping noise"

Noise: TypeAlias = Literal["label", "drop", "singletons"]


@dataclass(frozen=True)
class NoiseRule:
    """Treatment of samples that a partition calls noise; by default they are a cluster like any other.

    Attributes
    ----------
    is_cluster : bool, default=True
        Whether noise is one of the clusters that have a score.
    omits : bool, default=False
        Whether samples that either partition calls noise are omitted from comparisons.
    is_split : bool, default=False
        Whether each noise sample is a separate cluster, so that there may be as many labels as samples.
    """

    is_cluster: bool = True
    omits: bool = False
    is_split: bool = False

    def counted(self, *is_noise: BoolArray) -> BoolArray:
        """Return which samples are compared, given which of them each partition calls noise."""
        if self.omits:
            return np.asarray(~np.logical_or.reduce(is_noise))
        return np.ones(is_noise[0].shape, dtype=bool)

    def codes(self, codes: IntArray, is_noise: BoolArray) -> IntArray:
        """Return one partition's codes for the comparison."""
        return separate(codes, is_noise) if self.is_split else codes


def in_noise(shape: tuple[int, ...], noise: IntArray) -> tuple[BoolArray, BoolArray]:
    """Return which rows, (n_tables, k_u, 1), and which columns, (n_tables, 1, k_v), of tables are noise.

    noise : the codes of noise on both sides (−1 for none), (n_tables, 2)
    """
    of_rows, of_columns = noise.T[:, :, None, None]
    return np.arange(shape[1])[:, None] == of_rows, np.arange(shape[2]) == of_columns


RULES: dict[str, NoiseRule] = {
    "label": NoiseRule(),
    "drop": NoiseRule(is_cluster=False, omits=True),
    "singletons": NoiseRule(is_cluster=False, is_split=True),
}


def separate(codes: IntArray, is_noise: BoolArray) -> IntArray:
    """Make each noise sample a cluster."""
    codes = codes.copy()
    codes[is_noise] = codes.max() + 1 + np.arange(np.count_nonzero(is_noise))
    return codes


def numbered(labels: Labels) -> IntArray:
    """Number the labels 0, 1, …; noise keeps −1.

    Examples
    --------
    >>> numbered(np.array([7, -1, 3, 7])).tolist(), numbered(np.array(["b", "a"])).tolist()
    ([1, -1, 0, 1], [1, 0])
    """
    is_noise = labels == NOISE if labels.dtype.kind == "i" else np.zeros(len(labels), dtype=bool)
    numbers = np.full(len(labels), NOISE)
    numbers[~is_noise] = np.unique(labels[~is_noise], return_inverse=True)[1]
    return numbers
