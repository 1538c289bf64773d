"""Figure 5 (section 5.1): how much scores change with the pair of studies, their roles, the clusterer and k."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from paper.common import Claim, clearly_positive, verdict_of, with_error
from paper.fig5_fig6_breast.scores import Array, Scores, draws, mean

PAIRS = "Scores are comparable across most pairs of training and test study."
SWAPPED = "Scores are similar when training and test study change roles."
CRUCIAL = "The choice of clusterer and of k is crucial for the scores."
CLAIMS = (PAIRS, SWAPPED, CRUCIAL)
LESS = "changes scores less, by two standard errors, than another k does, and than another clusterer"


@dataclass(frozen=True)
class Changes:
    """The mean size of a score's change with one choice, on each pair: (1 + n_draws, n_pairs).

    The first row is from all resamples, the others from bootstrap draws of them, which give its error.
    """

    clusterer: Array
    k: Array
    pair: Array
    swap: Array
    sd: Array  # over resamples, the bars of the figure


def claims(scores: Scores) -> list[Claim]:
    """Ask what matters for the scores."""
    changes = changes_of(scores)
    return [_pairs(changes), _swapped(changes, scores), _crucial(changes)]


def changes_of(scores: Scores) -> Changes:
    """Average the sizes of all changes, and again for draws of the resamples."""
    all_draws = [np.arange(scores.n), *draws(scores.n)]
    means = np.array(
        [mean(scores.ari[..., drawn]) for drawn in all_draws]
    )  # (1 + n_draws, n_clusterers, n_ks, n_pairs)
    sd = np.array([np.nanstd(scores.ari[..., drawn], axis=-1, ddof=1).mean(axis=(0, 1)) for drawn in all_draws])
    between = np.abs(means[..., None] - means[..., None, :]).mean(axis=(1, 2))  # (1 + n_draws, n_pairs, n_pairs)
    return Changes(
        clusterer=_change(means, axis=1),
        k=_change(means, axis=2),
        pair=between.sum(axis=-1) / (len(scores.pairs) - 1),
        swap=np.abs(means - means[..., scores.swapped()]).mean(axis=(1, 2)),
        sd=sd,
    )


def _change(means: Array, axis: int) -> Array:
    couples = combinations(range(means.shape[axis]), 2)
    changes = [np.abs(means.take(i, axis) - means.take(j, axis)).mean(axis=1) for i, j in couples]
    return np.mean(changes, axis=0)


def _less(small: Array, large: Array) -> Array:
    """Whether one change is less than another by two standard errors."""
    gap = large - small
    return gap[0] > 2 * gap[1:].std(axis=0, ddof=1)


def _average(changes: Array) -> str:
    """Write the average over pairs with its error."""
    averages = changes.mean(axis=1)
    return with_error(averages[0], averages[1:].std(ddof=1), 3)


def _settings(changes: Changes) -> str:
    return f"another k by {_average(changes.k)}, another clusterer by {_average(changes.clusterer)}"


# ---------------------------------------------------------------------------------------------------------------------
# claims


def _pairs(changes: Changes) -> Claim:
    than_k, than_clusterer = _less(changes.pair, changes.k), _less(changes.pair, changes.clusterer)
    return Claim(
        where="Fig. 5",
        claim=PAIRS,
        as_written=f"Another pair changes a score by {_average(changes.pair)} on average, {_settings(changes)}.",
        as_published="",
        verdict=verdict_of(2 * flags.sum() > len(flags) for flags in (than_k, than_clusterer)),
        rule=f"for more than half of the pairs: taking another {LESS}",
        why=f"The pair clearly matters less than k for {than_k.sum()} of {len(than_k)} pairs, and less than the "
        f"clusterer for {than_clusterer.sum()}.",
        values={"k": than_k, "clusterer": than_clusterer, "changes": changes},
    )


def _swapped(changes: Changes, scores: Scores) -> Claim:
    swapped = scores.swapped()
    once = [p for p, other in enumerate(swapped) if p < other]  # each two studies
    swap = changes.swap[:, once]
    by_k, by_clusterer = ((by + by[:, swapped])[:, once] / 2 for by in (changes.k, changes.clusterer))
    than_k, than_clusterer = _less(swap, by_k), _less(swap, by_clusterer)
    sizes = ", ".join(f"{' and '.join(scores.pairs[p])} {_average(changes.swap[:, [p]])}" for p in once)
    differences = scores.ari[:, :, once] - scores.ari[:, :, [swapped[p] for p in once]]
    up, down = clearly_positive(differences), clearly_positive(-differences)  # (n_clusterers, n_ks, 3)
    signs = [
        f"{_arrow(scores, p)} above {_arrow(scores, swapped[p])} in {up[..., i].sum()}, below in {down[..., i].sum()}"
        for i, p in enumerate(once)
    ]
    return Claim(
        where="Fig. 5",
        claim=SWAPPED,
        as_written=f"Swapping changes a score on average by: {sizes}; {_settings(changes)}.",
        as_published="",
        verdict=verdict_of([*than_k, *than_clusterer]),
        rule=f"for each two studies: swapping them {LESS}",
        why=f"Swapping clearly matters less than k for {than_k.sum()} of the {len(once)} couples of studies, and less "
        f"than the clusterer for {than_clusterer.sum()}. Clear differences (two paired standard errors) in "
        f"{up[..., 0].size} settings: {'; '.join(signs)}.",
        values={"k": than_k, "clusterer": than_clusterer, "differences": differences},
    )


def _arrow(scores: Scores, pair: int) -> str:
    return "→".join(scores.pairs[pair])


def _crucial(changes: Changes) -> Claim:
    k, clusterer = _less(changes.sd, changes.k), _less(changes.sd, changes.clusterer)
    return Claim(
        where="Fig. 5",
        claim=CRUCIAL,
        as_written=f"A score changes with {_settings(changes)}, on average; the standard deviation over resamples is "
        f"{_average(changes.sd)}.",
        as_published="",
        verdict=verdict_of([*k, *clusterer]),
        rule="for each pair: another k changes scores more, by two standard errors, than their standard deviation over "
        "resamples, the figure's bars; and so does another clusterer",
        why=f"Another k clearly changes scores by more than their scatter over resamples on {k.sum()} of {len(k)} "
        f"pairs, another clusterer on {clusterer.sum()}.",
        values={"k": k, "clusterer": clusterer, "changes": changes},
    )
