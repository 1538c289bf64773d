"""What the paper says of the breast cancer studies (Section 5.1), tried on the sets of Fig. 1."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.stats import rankdata

import clustrep as cr
from paper.common import FAILS, HOLDS, Claim, verdict_of, with_error
from paper.fig1_benchmark_sets.runs import CLUSTERERS, as_high, best, by_resampling, scores

WHERE = "Section 5.1, tried on the sets of Fig. 1"
RANK = "The best number of clusters by ARI is the best one by AMI, too."
ROLES = "The best number of clusters is the same when the training and the test half change places."


def rank_claim(written: Mapping[str, cr.results.Comparison]) -> Claim:
    """The k chosen by ARI, judged by AMI."""
    parts, rank = {}, {}
    for name, comparison in written.items():
        ari, ami = _common(scores(comparison, "ari"), scores(comparison, "ami"))
        parts |= {(name, clusterer): as_high(ami.loc[clusterer], best(ari.loc[clusterer])) for clusterer in CLUSTERERS}
        rank[name] = by_resampling(_rank_correlation, [ari, ami])
    return Claim(
        WHERE,
        RANK,
        "Rank correlation over k and algorithms: " + _each(rank),
        "",
        verdict_of(parts.values()),
        "AMI at ARI's best k not below the highest AMI by more than two standard errors of the difference; algorithm × "
        "set",
        _plainly("The k with the highest ARI has the highest AMI, too, within Monte Carlo error", parts),
        values={"parts": parts, "rank": rank},
        ours=True,
    )


def roles_claim(written: Mapping[str, cr.results.Comparison]) -> Claim:
    """The k chosen in one direction, judged in the other."""
    parts, rank, said = {}, {}, []
    for name, comparison in written.items():
        ahead, back = _common(scores(comparison), scores(comparison, swapped=True))
        parts |= {
            (name, clusterer): as_high(back.loc[clusterer], best(ahead.loc[clusterer])) for clusterer in CLUSTERERS
        }
        rank[name] = by_resampling(_rank_correlation, [ahead, back])
        difference = ahead - back  # the same draws
        by_chance = (difference.sem(axis=1) * np.sqrt(2 / np.pi)).mean()
        said.append(f"{name} {difference.mean(axis=1).abs().mean():.3f} ({by_chance:.3f})")
    return Claim(
        WHERE,
        ROLES,
        f"Mean absolute difference over k and algorithms (what chance in resampling would make it): "
        f"{', '.join(said)}. Rank correlation: {_each(rank)}.",
        "",
        verdict_of(parts.values()),
        "the best k of one direction is, in the other, not below the highest by more than two standard errors of the "
        "difference; algorithm × set",
        _plainly("The best k of one direction is the best of the other, too, within Monte Carlo error", parts),
        values={"parts": parts, "rank": rank},
        ours=True,
    )


def _common(first: pd.DataFrame, second: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Keep the rows that both have."""
    rows = first.index.intersection(second.index, sort=False)
    return first.loc[rows], second.loc[rows]


def _rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    ranks = [rankdata(np.nanmean(table, axis=1)) for table in (first, second)]
    return float(np.corrcoef(*ranks)[0, 1])


def _each(rank: Mapping[str, tuple[float, float]]) -> str:
    return ", ".join(f"{name} {with_error(*value)}" for name, value in rank.items())


def _plainly(what: str, parts: Mapping[tuple[str, str], bool]) -> str:
    """Say for which algorithms and sets it is so."""
    verdict = verdict_of(parts.values())
    if verdict == HOLDS:
        return f"{what}, for every algorithm and set."
    if verdict == FAILS:
        return f"{what}: for no algorithm and set."
    exceptions = ", ".join(f"{clusterer} on {name}" for (name, clusterer), is_so in parts.items() if not is_so)
    return f"{what}, except for {exceptions}."
