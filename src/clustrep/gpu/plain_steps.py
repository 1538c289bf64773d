"""What k-means does with all points at once, in plain PyTorch: on any device, for any shape, many fits together.

Fits are rows of arrays: `centres`, (n_fits, k, n_features), `lengths`, (n_fits, k), the squared lengths of the centres,
infinite where a fit has fewer than k; `weights`, (n_samples, n_points), of the samples, and `sample`, (n_fits,), says
which of them a fit belongs to. A fit does not depend on the others, but for rounding.

Points are one table with any number of samples, or several tables of equally many points with one sample each: then
`sample` says whose points a fit sees, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from clustrep.execution.devices import GPU
from clustrep.gpu.points import DevicePoints
from clustrep.kernels.lloyd import fill_empty

# Points whose masses are summed into one number, for the choice of first centres.
BLOCK = 256
# Cells of the matrix of fits' centres and points that are in memory at once, on the processor and on a GPU.
CELLS, GPU_CELLS = 2**20, 2**27
# Products are rounded in proportion to the lengths: a point this near to a centre is taken to be at the centre.
NEAR = {torch.float32: 1e-6, torch.float64: 1e-14}


class PlainSteps:
    """Steps on one table of points, or on several with a sample each.

    Parameters
    ----------
    points : DevicePoints
    """

    def __init__(self, points: DevicePoints):
        self.points = points
        self.n_blocks = -(-len(points) // BLOCK)
        self.several = points.X.ndim == 3

    def _pieces(self, n_fits: int, n_rows: int) -> Iterator[slice]:
        """Divide the points so that their distances to `n_rows` rows of fits fit into memory; in whole blocks."""
        cells = GPU_CELLS if self.points.device == GPU else CELLS
        per_fit = max(n_rows, self.points.n_features) if self.several else n_rows  # of several, each fit has a copy
        step = max(1, cells // max(1, n_fits * per_fit) // BLOCK) * BLOCK
        return (slice(begin, begin + step) for begin in range(0, len(self.points), step))

    def _seen(self, sample: Any, piece: slice) -> Any:
        """Some of the points, (n_points, n_features); of several tables those of every fit, (n_fits, …)."""
        return self.points.X[sample, piece] if self.several else self.points.X[piece]

    def _lengths_seen(self, sample: Any, piece: slice) -> Any:
        """Squared lengths of some of the points, (n_fits or 1, n_points)."""
        return self.points.lengths[sample, piece] if self.several else self.points.lengths[None, piece]

    def rows(self, sample: Any, rows: Any) -> Any:
        """Return some points for every fit, (n_fits, n_rows, n_features)."""
        return self.points.X[sample[:, None], rows] if self.several else self.points.X[rows]

    def table(self, sample: Any) -> Any:
        """Return the points of one sample, (n_points, n_features)."""
        return self.points.X[sample] if self.several else self.points.X

    def _from_centres(self, centres: Any, lengths: Any, sample: Any, piece: slice) -> Any:
        """Squared distances, less the points' squared lengths, (n_fits, k, n_points)."""
        n_fits, k, p = centres.shape
        if self.several:
            products = centres @ self._seen(sample, piece).mT
        else:
            products = (centres.reshape(n_fits * k, p) @ self._seen(sample, piece).T).reshape(n_fits, k, -1)
        return lengths[:, :, None] - 2 * products

    def sums(self, centres: Any, lengths: Any, weights: Any, sample: Any) -> tuple[Any, Any]:
        """Sum the weighted points, (n_fits, k, n_features), and the weights, (n_fits, k), of every cluster."""
        n_fits, k, p = centres.shape
        sums = torch.zeros((n_fits, k, p), dtype=torch.float64, device=centres.device)
        sizes = torch.zeros((n_fits, k), dtype=torch.float64, device=centres.device)
        for piece in self._pieces(n_fits, k):
            distances = self._from_centres(centres, lengths, sample, piece)
            labels = distances.argmin(dim=1, keepdim=True)
            member = distances.zero_().scatter_(1, labels, weights[sample, piece].to(distances.dtype)[:, None])
            rows = member if self.several else member.reshape(n_fits * k, -1)
            sums += (rows @ self._seen(sample, piece)).reshape(n_fits, k, p)
            sizes += member.sum(dim=2)
        return sums, sizes

    def inertia(self, centres: Any, lengths: Any, weights: Any, sample: Any) -> Any:
        """Sum the weighted squared distances to the nearest centre, (n_fits,)."""
        total = torch.zeros(len(centres), dtype=torch.float64, device=centres.device)
        for piece in self._pieces(*centres.shape[:2]):
            nearest = self._from_centres(centres, lengths, sample, piece).amin(dim=1)
            nearest += self._lengths_seen(sample, piece)
            total += (nearest.clamp(min=0).double() * weights[sample, piece]).sum(dim=1)
        return total

    def labels(self, centres: Any, lengths: Any, sample: Any = None) -> Any:
        """Find the nearest centre of every point, (n_fits, n_points); `sample` only where there are several tables."""
        small = torch.uint8 if centres.shape[1] <= 256 else torch.int32
        labels = torch.empty((len(centres), len(self.points)), dtype=small, device=centres.device)
        for piece in self._pieces(*centres.shape[:2]):
            labels[:, piece] = self._from_centres(centres, lengths, sample, piece).argmin(dim=1).to(small)
        return labels

    def potentials(self, candidates: Any, closest: Any, weights: Any, sample: Any) -> Any:
        """Sum the weighted squared distances to the nearest centre, were a candidate one, (n_fits, n_candidates)."""
        total = torch.zeros(candidates.shape, dtype=torch.float64, device=candidates.device)
        for piece in self._pieces(*candidates.shape):
            distances = torch.minimum(self._between(candidates, sample, piece), closest[:, None, piece])
            total += (distances * weights[sample, piece].to(distances.dtype)[:, None]).sum(dim=2)
        return total

    def draw_near(self, picks: Any, closest: Any, weights: Any, sample: Any) -> Any:
        """Take the picked points, (n_fits,), as further centres: change `closest`, and sum weight × closest by blocks.

        closest : (n_fits, n_points), squared distances to the nearest centre
        Returns (n_fits, n_blocks).
        """
        masses = torch.empty((len(picks), self.n_blocks), dtype=torch.float64, device=closest.device)
        for piece in self._pieces(len(picks), 1):
            closest[:, piece] = torch.minimum(closest[:, piece], self._between(picks[:, None], sample, piece)[:, 0])
            weighted = closest[:, piece].double() * weights[sample, piece]
            blocks = slice(piece.start // BLOCK, -(-piece.stop // BLOCK))
            masses[:, blocks] = sum_blocks(weighted)
        return masses

    def settle(self, starts: Any, centres: Any) -> Any:
        """Move centres to where they stay, where that is faster than `sums` again and again; None where it is not."""
        return None

    def place(self, masses: Any, shares: Any, weights: Any, sample: Any, closest: Any) -> Any:
        """Find the points at which the running sums of masses exceed shares of the total; never one without mass.

        masses : (n_starts, n_blocks); shares : (n_starts, n_shares); closest : None where the weights alone are masses
        """
        n_starts = len(shares)
        running = masses.cumsum(dim=1)
        aims = shares * running[:, -1:]
        block = torch.searchsorted(running, aims, right=True).clamp(max=running.shape[1] - 1)
        before = torch.where(block > 0, running.gather(1, (block - 1).clamp(min=0)), 0.0)
        rows = block[..., None] * BLOCK + torch.arange(BLOCK, device=block.device)
        inside = rows < weights.shape[1]
        rows = rows.clamp(max=weights.shape[1] - 1)
        in_block = weights[sample[:, None, None], rows].double() * inside
        if closest is not None:
            in_block *= closest.gather(1, rows.reshape(n_starts, -1)).reshape(rows.shape)
        reached = (before[..., None] + in_block.cumsum(dim=2) > aims[..., None]) & (in_block > 0)
        last = BLOCK - 1 - (in_block > 0).flip(2).int().argmax(dim=2)
        place = torch.where(reached.any(dim=2), reached.int().argmax(dim=2), last)
        return rows.gather(2, place[..., None])[..., 0]

    def _between(self, rows: Any, sample: Any, piece: slice) -> Any:
        """Squared distances between some points, (n_fits, n_rows), and a piece of them, (n_fits, n_rows, n_points)."""
        lengths = self.points.lengths[sample[:, None], rows] if self.several else self.points.lengths[rows]
        both = lengths[..., None] + self._lengths_seen(sample, piece)[:, None]
        distances = both + self._from_centres(self.rows(sample, rows), torch.zeros_like(lengths), sample, piece)
        return distances.masked_fill_(distances < NEAR[distances.dtype] * both, 0.0)


def sum_blocks(masses: Any) -> Any:
    """Sum numbers of points, (n_rows, n_points), by blocks of them, (n_rows, n_blocks)."""
    missing = -masses.shape[1] % BLOCK
    padded = torch.nn.functional.pad(masses, (0, missing))
    return padded.reshape(len(masses), -1, BLOCK).sum(dim=2)


def count_tables(u: Any, v: Any, weights: Any, row: Any, n_labels: int) -> Any:
    """Count labelings u, (n_tables, n_points), against labelings v, as tables, (n_tables, n_labels, n_labels).

    v, weights : (n_rows, n_points); row : (n_tables,), which of them belong to a table
    """
    n_tables = len(u)
    tables = torch.zeros((n_tables, n_labels**2), dtype=torch.float64, device=u.device)
    step = max(1, CELLS // max(1, u.shape[1]))
    for begin in range(0, n_tables, step):
        some = slice(begin, begin + step)
        cells = u[some].long() * n_labels + v[row[some]].long()
        tables[some].scatter_add_(1, cells, weights[row[some]].double())
    return tables.reshape(n_tables, n_labels, n_labels)


def refill(steps: PlainSteps, centres: Any, weights: Any, sample: Any, sums: Any, sizes: Any) -> None:
    """Give every empty cluster of one start a copy of the point farthest from its centre; `sums`, `sizes` change."""
    X, k = steps.table(sample), len(centres)
    lengths = (centres * centres).sum(dim=1)[None]
    labels = steps.labels(centres[None], lengths, sample[None])[0].long()
    distances = ((X - centres[labels]) ** 2).sum(dim=1).double().cpu().numpy()
    codes, taken = labels.int().cpu().numpy(), np.empty(k, np.int64)
    left = sizes[:k].double().cpu().numpy().copy()
    fill_empty(codes, distances, weights[sample].double().cpu().numpy(), left, taken)
    for j in np.flatnonzero(taken >= 0):
        sums[codes[taken[j]]] -= X[taken[j]]
        sums[j] = X[taken[j]]
    sizes[:k] = torch.as_tensor(left, device=sizes.device)
