"""Section 4.1's headline: whether the score leads to the k, and the algorithm, that are nearest to the classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.cluster import DBSCAN
from threadpoolctl import threadpool_limits

import clustrep as cr
from paper.common import FAILS, HOLDS, Claim, make_rng, number, row, verdict_of, with_error
from paper.fig1_benchmark_sets.runs import CLUSTERERS, TRUTH, best, by_resampling, halves, in_deviations, scores

WHERE = "Section 4.1, and the discussion"
NUMBER = "The score guides the choice of the number of clusters of each algorithm."
ALGORITHM = "The score guides the choice of the algorithm."
DENSITY = "DBSCAN"


def setting(clusterer: str, value: Any) -> Any:
    """A clusterer with its k, or DBSCAN with its eps; its random starts fixed."""
    if clusterer == DENSITY:
        return DBSCAN(eps=float(value), min_samples=1)
    with_k = clone(CLUSTERERS[clusterer]).set_params(n_clusters=int(value))
    return with_k.set_params(random_state=0) if "random_state" in with_k.get_params() else with_k


class Training:
    """The training half of a set, in the units that each clusterer works in."""

    def __init__(self, study: cr.Study):
        plain, scaled = (halves(in_units)["1"] for in_units in (study, in_deviations(study)))
        self._plain, self._scaled, self._classes = plain.X, scaled.X, np.asarray(plain.labels)

    def nearness(self, choice: tuple[str, Any], rows: Any = slice(None)) -> float:
        """ARI of the partition of these rows with their classes."""
        X = self._scaled if choice[0] == DENSITY else self._plain
        return float(cr.adjusted_rand_index(self._classes[rows], setting(*choice).fit_predict(X[rows])))

    def draws(self, n: int) -> list[Any]:
        """Rows of bootstrap draws."""
        size = len(self._classes)
        return [make_rng(1, 3, b).integers(size, size=size) for b in range(n)]


@threadpool_limits.wrap(limits=1)  # more are slower at these sizes
def nearness(study: cr.Study, settings: list[tuple[str, Any]]) -> pd.Series:
    """ARI of the training half's partition with its classes, for every setting."""
    training = Training(study)
    return pd.Series([training.nearness(choice) for choice in settings], index=pd.MultiIndex.from_tuples(settings))


@threadpool_limits.wrap(limits=1)
def nearness_in_draws(study: cr.Study, settings: list[tuple[str, Any]], n_draws: int) -> pd.DataFrame:
    """The same of bootstrap draws of the training half: settings are rows, draws columns."""
    training = Training(study)
    drawn = training.draws(n_draws)
    table = [[training.nearness(choice, rows) for rows in drawn] for choice in settings]
    return pd.DataFrame(table, index=[name for name, _ in settings])


def rank_correlation(curve: pd.DataFrame, near: pd.Series) -> tuple[float, float]:
    """Spearman's correlation of scores and nearness over settings, and its standard error over resamples."""
    ranks = rankdata(near.loc[curve.index])
    return by_resampling(lambda table: float(np.corrcoef(rankdata(np.nanmean(table, axis=1)), ranks)[0, 1]), [curve])


def number_claim(written: Mapping[str, cr.results.Comparison], near: Mapping[str, pd.Series]) -> Claim:
    """For every algorithm and set: the k with the highest score against a k at random."""
    parts, said, rank = {}, [], {}
    for name, comparison in written.items():
        curve, pairs = scores(comparison), []
        for clusterer in CLUSTERERS:
            chosen, by_k = best(curve.loc[clusterer]), near[name].loc[clusterer]
            parts[name, clusterer] = by_k[chosen] > by_k.mean()
            pairs.append(f"{row([by_k[chosen], by_k.max(), by_k.mean()]).replace(', ', '/')}")
        rank[name] = rank_correlation(curve, near[name])
        said.append(f"{name} {', '.join(pairs)}")
    lower = [f"{clusterer} on {name}" for (name, clusterer), ahead in parts.items() if not ahead]
    verdict = verdict_of(parts.values())
    plainly = "The k with the highest score is nearer to the classes than an average k"
    plainly += {HOLDS: ", for every algorithm and set", FAILS: ": never"}.get(verdict, f", except {', '.join(lower)}")
    return Claim(
        WHERE,
        NUMBER,
        f"ARI with the classes at the k of the highest score/at the best k/average over k (training half, fitted "
        f"once), {', '.join(CLUSTERERS)}: {'; '.join(said)}.",
        "",
        verdict,
        "nearer to the classes at the k of the highest score than on average over k; algorithm × set",
        f"{plainly}. Rank correlation of score and ARI with the classes over all k: "
        + ", ".join(f"{name} {with_error(*value)}" for name, value in rank.items())
        + ".",
        values={"parts": parts, "rank": rank},
    )


def algorithm_claim(
    sets: Mapping[str, cr.Study],
    written: Mapping[str, cr.results.Comparison],
    density: Mapping[str, cr.results.Comparison],
    near: Mapping[str, pd.Series],
    n_draws: int,
) -> Claim:
    """For every set: the algorithm with the highest score against the one nearest to the classes."""
    parts, without, said, attainable, by_density, few = {}, {}, [], [], [], []
    for name, study in sets.items():
        curve, by_eps = scores(written[name]), scores(density[name])
        chosen = {
            clusterer: (curve.loc[clusterer].mean(axis=1).max(), best(curve.loc[clusterer])) for clusterer in CLUSTERERS
        }
        if len(by_eps):
            eps = best(by_eps)
            chosen[DENSITY] = (by_eps.loc[eps].mean(), eps)
            clusters = density[name].clusters_found[density[name].clusterers.index(eps), :, 0]
            by_density.append(f"{name} {number(by_eps.loc[eps])}, with {number(clusters, 1)} clusters")
        in_draws = nearness_in_draws(study, [(clusterer, value) for clusterer, (_, value) in chosen.items()], n_draws)
        parts[name], top, nearest = _agrees(chosen, in_draws)
        n_clusters = clusters.mean() if top == DENSITY else chosen[top][1]
        if not parts[name] and n_clusters < TRUTH[name]:
            few.append(f"{name} ({n_clusters:.0f} of {TRUTH[name]})")
        without[name], *_ = _agrees(
            {clusterer: chosen[clusterer] for clusterer in CLUSTERERS}, in_draws.loc[list(CLUSTERERS)]
        )
        other = "" if top == nearest else f", nearest {_named(nearest, chosen)} {number(in_draws.loc[nearest])}"
        said.append(f"{name} {_named(top, chosen)} {number(in_draws.loc[top])}{other}")
        attainable.append(f"{name} {near[name].max():.2f}")
    four = [name for name, agrees in without.items() if agrees]
    wrong = [name for name, agrees in parts.items() if not agrees]
    plainly = "On every set no algorithm is clearly nearer to the classes than the one with the highest score."
    if wrong:
        plainly = (
            f"On {', '.join(wrong)} another algorithm than the one with the highest score is nearer to the classes."
        )
    if few:
        plainly += f" The highest score is at fewer clusters than classes on {', '.join(few)}."
    return Claim(
        WHERE,
        ALGORITHM,
        f"Algorithm with the highest score, and its ARI with the classes over {n_draws} draws of the training half: "
        f"{'; '.join(said)}.",
        "",
        verdict_of(parts.values()),
        "of five algorithms, each at its highest-scoring setting, none is nearer to the classes by two standard errors "
        "than the one with the highest score; each set",
        f"{plainly} Without DBSCAN, the highest score leads to the nearest on: {', '.join(four) or 'none'}. The "
        "highest score of DBSCAN is "
        f"{'; '.join(by_density)}. Highest ARI with the classes of the others at any k: "
        f"{', '.join(attainable)}.",
        values={"parts": parts, "without": without},
    )


def _agrees(chosen: Mapping[str, tuple[float, Any]], in_draws: pd.DataFrame) -> tuple[bool, str, str]:
    top, nearest = max(chosen, key=lambda clusterer: chosen[clusterer][0]), best(in_draws)
    difference = in_draws.loc[nearest] - in_draws.loc[top]
    return bool(difference.mean() <= 2 * difference.sem()), top, nearest


def _named(clusterer: str, chosen: Mapping[str, tuple[float, Any]]) -> str:
    value = chosen[clusterer][1]
    return f"{clusterer} eps {value}" if clusterer == DENSITY else f"{clusterer} @{value}"
