"""The gold-standard figure (section B): whether replicable partitions of the cohorts are like the known subtypes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

import clustrep as cr
from paper.common import Claim, verdict_of, with_error
from paper.fig5_fig6_breast.scores import CLUSTERERS, KS, Array, Scores, draws, mean

LIKE = "Clustering functions with high replicability scores give partitions similar to the three-gene subtypes."
BIOLOGY = "Reproducible partitions are consistent with accepted biology: here, the three-gene subtypes."
WHERE = "Fig. 9 of the supplement"


@dataclass(frozen=True)
class Likeness:
    """Mean scores, and how like the subtypes each setting's retained partition is.

    Both are (1 + n_draws, n_settings, n_pairs), settings being clusterers × ks: from all resamples first, then from
    bootstrap draws of them, which give errors.
    """

    scores: Array
    like: Array

    def correlations(self) -> Array:
        """Return the rank correlations on every pair, (1 + n_draws, n_pairs)."""
        both = zip(self.scores, self.like, strict=True)
        return np.array([[spearmanr(s, t)[0] for s, t in zip(scores.T, like.T, strict=True)] for scores, like in both])

    def pooled(self) -> Array:
        """Return the rank correlations over all settings and pairs, (1 + n_draws,)."""
        return np.array([spearmanr(s.ravel(), t.ravel())[0] for s, t in zip(self.scores, self.like, strict=True)])


def likeness(scores: Scores, studies: cr.Studies, n_draws: int, *, merged: bool = False) -> Likeness:
    """Retain every setting's partition with the highest score over resamples, and compare it with the known subtypes.

    By AMI; or merged, by ARI, with the luminal subtypes as one. Samples with the empty label are left out.
    """
    all_draws = np.array([np.arange(scores.n), *draws(scores.n, n_draws)])
    like = np.empty((len(all_draws), *scores.ari.shape[:3]))
    for c, j, p in np.ndindex(like.shape[1:]):
        result, (train, test) = scores.comparison.replicability(CLUSTERERS[c], KS[j]), scores.pairs[p]
        drawn = scores.ari[c, j, p][all_draws]  # (1 + n_draws, n_resamples)
        best = all_draws[np.arange(len(all_draws)), np.nanargmax(drawn, axis=1)]
        retained, place = np.unique(best, return_inverse=True)
        with threadpool_limits(1):  # the fits are small
            functions = [result.clustering_function(train, resample=int(b)) for b in retained]
            likes = [_like(function, studies[test], merged) for function in functions]
        like[:, c, j, p] = np.array(likes)[place]
    means = np.array([mean(scores.ari[..., drawn]) for drawn in all_draws])
    shape = (len(all_draws), -1, len(scores.pairs))
    return Likeness(means.reshape(shape), like.reshape(shape))


def _like(function: Any, test: cr.Study, merged: bool) -> float:
    known = np.asarray(test.labels).astype(str)
    is_known = known != ""
    clusters, known = function(test.X)[is_known], known[is_known]
    if merged:
        known = np.where(np.char.startswith(known, "Lum"), "Lum", known)
        return cr.adjusted_rand_index(clusters, known)
    return cr.adjusted_mutual_information(clusters, known)


def claims(ours: Likeness, theirs: Likeness, figure: str) -> list[Claim]:
    """Ask whether high scores mean likeness, and whether the best k does."""
    rho = with_error(theirs.pooled()[0], _sd(theirs.pooled()))
    published = f"ARI to the subtypes with LumA and LumB merged, scores as in Fig. 5 as published: {rho} in all."
    return [correlated(ours, LIKE, WHERE, published, figure), _consistent(ours, theirs)]


def correlated(ours: Likeness, claim: str, where: str, as_published: str = "", figure: str = "") -> Claim:
    """Ask for a rank correlation of score and likeness on every pair."""
    rho, pooled = ours.correlations(), ours.pooled()
    errors = rho[1:].std(axis=0, ddof=1)
    yes = rho[0] > 2 * errors
    listed = ", ".join(with_error(value, error) for value, error in zip(rho[0], errors, strict=True))
    by_k = ours.scores[0].reshape(len(CLUSTERERS), len(KS), -1).mean(axis=2)[0]
    like_by_k = ours.like.reshape(len(ours.like), len(CLUSTERERS), len(KS), -1).mean(axis=3)[:, 0]
    most, likest = int(by_k.argmax()), int(like_by_k[0].argmax())
    at = {i: with_error(like_by_k[0, i], _sd(like_by_k[:, i])) for i in (most, likest)}
    below = int((like_by_k[0] < like_by_k[0, most]).sum())
    return Claim(
        where=where,
        claim=claim,
        as_written=f"Rank correlation of score and AMI to the subtypes over {ours.scores.shape[1]} "
        f"settings, on the six pairs: {listed}; in all {with_error(pooled[0], _sd(pooled))}.",
        as_published=as_published,
        verdict=verdict_of(yes),
        rule="for each pair: rank correlation above 0 by two standard errors (bootstrap of the resamples; too small "
        "an error, perhaps, as partitions are those of the highest score)",
        why=f"On {yes.sum()} of {len(yes)} pairs, settings with higher scores are clearly more like the subtypes. "
        f"{'And' if most == likest else 'But'} k-means scores highest at k = {KS[most]}, where its AMI to the subtypes "
        f"is {at[most]}, more than at {below} of the {len(KS) - 1} other ks"
        + ("." if most == likest else f"; it is most like them at k = {KS[likest]}, {at[likest]}."),
        figures=(figure,) if figure else (),
        values={"rho": rho, "pooled": pooled, "ks": (KS[most], KS[likest]), "like": like_by_k},
    )


def _consistent(ours: Likeness, theirs: Likeness) -> Claim:
    gains, gains_published = _gains(ours), _gains(theirs)
    yes, yes_published = (gain[0] > 2 * gain[1:].std(axis=0, ddof=1) for gain in (gains, gains_published))
    return Claim(
        where="Section 5.1",
        claim=BIOLOGY,
        as_written="With the k of the highest score, AMI to the subtypes is above the median over k, on average over "
        f"the pairs, by: {_by_clusterer(gains)}.",
        as_published=f"By ARI, LumA and LumB merged, so on {_counts(yes_published)} pairs, on average by: "
        f"{_by_clusterer(gains_published)}.",
        verdict=verdict_of(yes.ravel()),
        rule="for each clusterer and pair: with the k of the highest score more like the subtypes than with the median "
        "k, by two standard errors",
        why=f"The most replicable k is clearly more like the subtypes than the median k on {_counts(yes)} pairs.",
        values={"yes": yes, "gains": gains.mean(axis=2)},
    )


def _gains(likeness_of: Likeness) -> Array:
    """How much more like the subtypes the most replicable k is than the median one.

    (1 + n_draws, n_clusterers, n_pairs)
    """
    shape = (len(likeness_of.like), len(CLUSTERERS), len(KS), -1)
    scores, like = likeness_of.scores.reshape(shape), likeness_of.like.reshape(shape)
    at_highest = np.take_along_axis(like, scores.argmax(axis=2)[:, :, None], axis=2)[:, :, 0]
    return at_highest - np.median(like, axis=2)


def _by_clusterer(gains: Array) -> str:
    averages = gains.mean(axis=2)
    each = zip(CLUSTERERS, averages[0], averages[1:].std(axis=0, ddof=1), strict=True)
    return ", ".join(f"{name} {with_error(gain, error)}" for name, gain, error in each)


def _counts(yes: Array) -> str:
    counts = ", ".join(f"{flags.sum()} ({name})" for name, flags in zip(CLUSTERERS, yes, strict=True))
    return f"{counts} of {yes.shape[1]}"


def _sd(values: Array) -> float:
    """Return the error of the first value, from the others."""
    return float(values[1:].std(ddof=1))
