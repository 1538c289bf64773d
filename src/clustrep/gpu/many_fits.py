"""k-means from many starts together: first centres by greedy k-means++, then Lloyd's iterations, all on the device.

The rules and the random numbers are those of the compiled kernels (`_kernels.first_centres`, `_kernels.lloyd`): the
same seed gives the same first centres, but for rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from clustrep.execution.seeds import breathe
from clustrep.gpu.plain_steps import PlainSteps, refill, sum_blocks


@dataclass(frozen=True, eq=False)
class Starts:
    """Starts that are computed together, those with most clusters first; all arrays are on the device.

    Attributes
    ----------
    weights : Tensor, (n_samples, n_points)
    sample : Tensor of int, (n_starts,)
        Whose weights a start has.
    k, n_trials, max_iter : Tensor of int, (n_starts,)
    tol : Tensor, (n_starts,)
        Of the squared shifts of all centres together.
    """

    weights: Any
    sample: Any
    k: Any
    n_trials: Any
    max_iter: Any
    tol: Any

    @property
    def absent(self) -> Any:
        """Which centres a start does not have, (n_starts, most clusters)."""
        places = torch.arange(int(self.k[0]), device=self.k.device)
        return places >= self.k[:, None]


def choose_first(steps: PlainSteps, starts: Starts, uniforms: Any) -> Any:
    """Choose the points that are the first centres, (n_starts, most clusters); `uniforms`: (n_starts, n_uniforms)."""
    weights, sample, k = starts.weights, starts.sample, starts.k
    masses = sum_blocks(weights.double())[sample]
    picks = torch.zeros((len(k), int(k[0])), dtype=torch.int64, device=k.device)
    picks[:, 0] = steps.place(masses, uniforms[:, :1], weights, sample, None)[:, 0]
    closest = torch.full((len(k), len(steps.points)), torch.inf, dtype=steps.points.X.dtype, device=k.device)
    masses = steps.draw_near(picks[:, 0], closest, weights, sample)
    n_left = (k[:, None] > torch.arange(int(k[0]), device=k.device)).sum(dim=0).tolist()
    drawn = _by_trial(uniforms, starts, int(k[0]))
    is_no_trial = torch.arange(drawn.shape[2], device=k.device) >= starts.n_trials[:, None]
    for j in range(1, int(k[0])):
        some = slice(0, n_left[j])  # the others have all their centres
        candidates = steps.place(masses[some], drawn[j - 1, some], weights, sample[some], closest[some])
        candidates = torch.where(masses[some].sum(dim=1, keepdim=True) > 0, candidates, picks[some, :1])
        potentials = steps.potentials(candidates, closest[some], weights, sample[some])
        best = potentials.masked_fill_(is_no_trial[some], torch.inf).argmin(dim=1, keepdim=True)
        new = candidates.gather(1, best)[:, 0]
        picks[some, j] = new
        masses[some] = steps.draw_near(new, closest[some], weights, sample[some])
        breathe()
    return picks


def _by_trial(uniforms: Any, starts: Starts, most: int) -> Any:
    """Return the random numbers of the candidates for all centres but the first, (most - 1, n_starts, n_trials)."""
    n_trials = starts.n_trials[:, None]
    trials = torch.minimum(torch.arange(int(starts.n_trials[0]), device=n_trials.device), n_trials - 1)
    before = torch.arange(most - 1, device=n_trials.device)[:, None, None]
    numbers = (1 + before * n_trials + trials).clamp(max=uniforms.shape[1] - 1)  # some have all their centres earlier
    return uniforms.expand(most - 1, *uniforms.shape).gather(2, numbers)


def move_centres(steps: PlainSteps, starts: Starts, centres: Any) -> Any:
    """Move centres, (n_starts, most clusters, n_features), to where they stay; return the numbers of iterations.

    A start stops once its centres' squared shifts sum to at most `tol`: with the same labels they do not move.
    """
    settled = steps.settle(starts, centres)
    if settled is not None:
        return settled
    absent = starts.absent
    n_iter = torch.zeros_like(starts.k)
    active = torch.arange(len(centres), device=centres.device)
    while len(active):
        old, sample = centres[active], starts.sample[active]
        lengths = squared_lengths(old, absent[active])
        sums, sizes = steps.sums(old, lengths, starts.weights, sample)
        is_empty = ((sizes == 0) & ~absent[active]).any(dim=1)
        for f in torch.nonzero(is_empty)[:, 0].tolist():
            k = int(starts.k[active[f]])
            refill(steps, old[f, :k], starts.weights, sample[f], sums[f], sizes[f])
        new = torch.where(sizes[..., None] > 0, sums / sizes.clamp(min=1)[..., None], old.double()).to(old.dtype)
        shifts = ((new.double() - old.double()) ** 2).sum(dim=(1, 2))
        centres[active] = new
        n_iter[active] += 1
        active = active[(shifts > starts.tol[active]) & (n_iter[active] < starts.max_iter[active])]
        breathe()
    return n_iter


def squared_lengths(centres: Any, absent: Any) -> Any:
    """Squared lengths of centres, (n_starts, k), infinite for those that a start does not have."""
    return (centres.double() ** 2).sum(dim=2).to(centres.dtype).masked_fill(absent, torch.inf)
