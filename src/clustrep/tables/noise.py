"""The three treatments of points that a clusterer calls noise, label −1.

`label` treats noise as a cluster like any other, `drop` omits points that either partition calls noise, `singletons`
makes each noise point a cluster of its own. Each is a small object with the operations that comparisons need.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from clustrep.checks import check_choice
from clustrep.types import BoolArray, FloatArray, IntArray, Labels

NOISE = -1
# The same among names of clusters, which are text.
NOISE_NAME = str(NOISE)

ONLY_NOISE = "fewer than two points left after dropping noise"

Noise: TypeAlias = Literal["label", "drop", "singletons"]

NoiseWithin: TypeAlias = Literal["label", "drop"]


class Margins(NamedTuple):
    """For every pair of labels (i, j), the points with both labels, with label i and with label j, (k_u, k_v) each."""

    cells: FloatArray
    rows: FloatArray
    columns: FloatArray


class NoiseRule:
    """Noise is a cluster like any other."""

    is_cluster = True  # whether noise is one of the clusters that have a score
    omits = False  # whether noise points are omitted from comparisons
    is_split = False  # whether noise points are apart from one another, so that there may be as many labels as points

    def counted(self, *is_noise: BoolArray) -> BoolArray:
        """Return which points are compared, given which of them each partition calls noise."""
        return np.ones(is_noise[0].shape, dtype=bool)

    def clusters(self, labels: Labels) -> BoolArray:
        """Return which labels are clusters."""
        return np.array([self.is_cluster or label != NOISE for label in labels.tolist()], dtype=bool)

    def codes(self, codes: IntArray, is_noise: BoolArray) -> IntArray:
        """Return one partition's codes as they are compared."""
        return codes

    def margins(self, margins: Margins, noise: IntArray) -> Margins:
        """Return how many points share the labels of a point, in many tables, (n_tables, k_u, k_v).

        noise : the codes of noise on both sides (−1 for none), (n_tables, 2)
        """
        return margins

    def point_scores(self, scores: FloatArray, noise: IntArray) -> FloatArray:
        """Return the scores of a point for every pair of labels, (n_tables, k_u, k_v), as NaN where it has none."""
        return scores


class _Drop(NoiseRule):
    """Points that either partition calls noise are omitted."""

    is_cluster = False
    omits = True

    def counted(self, *is_noise: BoolArray) -> BoolArray:
        return np.asarray(~np.logical_or.reduce(is_noise))

    def point_scores(self, scores: FloatArray, noise: IntArray) -> FloatArray:
        in_row, in_column = _is_noise(scores.shape, noise)
        return np.where(in_row | in_column, np.nan, scores)


class _Singletons(NoiseRule):
    """Each noise point is a cluster of its own."""

    is_cluster = False
    is_split = True

    def codes(self, codes: IntArray, is_noise: BoolArray) -> IntArray:
        return separate(codes, is_noise)

    def margins(self, margins: Margins, noise: IntArray) -> Margins:
        in_row, in_column = _is_noise(margins.cells.shape, noise)
        # A noise point shares its cluster with no other point.
        return Margins(
            cells=np.where(in_row | in_column, 0.0, margins.cells),
            rows=np.where(in_row, 0.0, margins.rows),
            columns=np.where(in_column, 0.0, margins.columns),
        )


def _is_noise(shape: tuple[int, ...], noise: IntArray) -> tuple[BoolArray, BoolArray]:
    """Return which rows, (n_tables, k_u, 1), and which columns, (n_tables, 1, k_v), of tables are noise."""
    of_rows, of_columns = noise.T[:, :, None, None]
    return np.arange(shape[1])[:, None] == of_rows, np.arange(shape[2]) == of_columns


RULES: dict[str, NoiseRule] = {"label": NoiseRule(), "drop": _Drop(), "singletons": _Singletons()}


def separate(codes: IntArray, is_noise: BoolArray) -> IntArray:
    """Make each noise point a block of its own."""
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


def check_noise_within(noise: NoiseWithin) -> NoiseWithin:
    """Check the treatment of noise within one study, where clusters are followed: single points are none."""
    check_choice(noise, "noise", [name for name, rule in RULES.items() if not rule.is_split])
    return noise
