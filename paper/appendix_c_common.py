"""What the experiments of appendix C share: data, spurious clusters, errors over resamples, clusters above stems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import clustrep as cr
from clustrep import datasets
from paper.common import make_rng, with_error

GROUPS = {"aggregation": 7, "compound": 6, "r15": 15}
CLOSE = 0.9  # what we call close to 1
SPURIOUS = 0.5  # a cluster whose Jaccard coefficient with every group is at most this, Hennig's limit for "dissolved"
N_AGAIN = 400  # bootstrap draws of resamples, for the Monte Carlo error of what is not a mean
SPURIOUS_MARK = f"cross: spurious, its Jaccard coefficient with every group at most {SPURIOUS}"
NEW_STARTS = "no resampling, 50 new k-means starts each time"
LESS_NOISE = "less noise, the class label left in the data as a feature, as in the authors' files"


def load_shapes() -> dict[str, cr.Study]:
    """Load the three data sets, two coordinates each."""
    return {name: datasets.load_shape(name) for name in GROUPS}


def is_spurious(labels: Any, truth: Any) -> Any:
    """Say for each cluster whether it is no group, in the order of the labels."""
    return cr.jaccard(labels, truth) <= SPURIOUS


# An estimate is an array: first the value from all resamples, then those from bootstrap draws of the resamples.


def weights_of(n: int) -> Any:
    """Return how often each of n resamples counts, (1 + N_AGAIN, n): first all of them once."""
    return np.vstack([np.ones(n), make_rng(30, n).multinomial(n, np.full(n, 1 / n), size=N_AGAIN)])


def means(distribution: Any, weights: Any) -> Any:
    """Return the means over resamples of each cluster, (1 + N_AGAIN, k); NaN for a cluster without values."""
    known = weights @ np.isfinite(distribution)
    return np.where(known > 0, weights @ np.nan_to_num(distribution) / np.where(known > 0, known, 1), np.nan)


def error_over_draws(estimate: Any) -> float:
    """Return the standard error of an estimate."""
    return float(np.std(estimate[1:], ddof=1))


def above(estimate: Any, level: float) -> bool:
    """Say whether an estimate is above a level by more than two errors."""
    return bool(estimate[0] - level > max(2 * error_over_draws(estimate), 1e-9))


def listed(estimates: Mapping[str, Any]) -> str:
    """Write one number for every data set, none of them as if it were exact."""
    return ", ".join(
        f"{name} {with_error(estimate[0], max(error_over_draws(estimate), 1e-8))}"
        for name, estimate in estimates.items()
    )


def share_of_pairs(badness: Iterable[Any], spurious: Iterable[Any]) -> Any:
    """How often a spurious cluster is worse than a real one of the same k, ties half; 0.5 by chance, (n,).

    For every k: how bad each cluster is, (n, k), and whether it is spurious, (k,).
    """
    pairs = [
        np.sign(values[:, flags, None] - values[:, None, ~flags]).reshape(len(values), -1)
        for values, flags in zip(badness, spurious, strict=True)
    ]
    return np.nanmean(np.concatenate(pairs, axis=1), axis=1) / 2 + 0.5


def counted(spurious: Sequence[Any]) -> str:
    """Write how many spurious clusters are compared with how many real ones, in how many pairs of the same k."""
    pairs = sum(flags.sum() * (~flags).sum() for flags in spurious)
    n_spurious = sum(flags.sum() for flags in spurious)
    return f"{n_spurious}/{sum(map(len, spurious)) - n_spurious}/{pairs}"


def on_which(flags: Mapping[str, Any]) -> str:
    """Write on which data sets something is the case."""
    names = [name for name, flag in flags.items() if flag]
    if len(names) == len(flags):
        return f"all {len(flags)} data sets" if len(names) > 2 else f"both {' and '.join(names)}"
    return " and ".join(names) or ("neither data set" if len(flags) == 2 else "no data set")


def draw_clusters(ax: Any, X: Any, labels: Any, title: str) -> Any:
    """Draw clusters, and return their colours."""
    clusters = np.unique(labels)
    colours = plt.get_cmap("tab20")((2 * np.arange(len(clusters)) + (np.arange(len(clusters)) >= 10)) % 20)
    ax.scatter(*X.T, s=1.5, c=colours[np.searchsorted(clusters, labels)])
    ax.set(title=title, xticks=[], yticks=[])
    return colours


def draw_stems(ax: Any, values: Any, colours: Any, spurious: Any, ylabel: str, top: float = 1.12) -> None:
    """Draw one value for every cluster, with a cross for spurious ones."""
    places = np.arange(len(values))
    ax.vlines(places, 0, values, colors=colours)
    ax.scatter(places[~spurious], values[~spurious], c=colours[~spurious], s=14)
    ax.scatter(places[spurious], values[spurious], c="black", marker="x", s=22, lw=1.2, zorder=3)
    ax.set(xticks=[], ylim=(0, top), xlim=(-0.7, len(values) - 0.3), ylabel=ylabel)
