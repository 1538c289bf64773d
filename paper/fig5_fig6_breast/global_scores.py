"""Figure 5 (section 5.1): which scores are high on the three cohorts, by ARI and by AMI."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from paper.common import Claim, clearly_positive, error_of, number, row, verdict_of
from paper.fig5_fig6_breast.scores import CLUSTERERS, KS, Array, Scores, mean, shown

BEST = "With the three genes, k = 3 has the highest replicability scores."
RANKING = "The ranking of the clusterers by replicability is the same with ARI and with AMI."
CLAIMS = (BEST, RANKING)
STORED_KS, STORED = range(2, 7), (0.976, 0.873, 0.645, 0.391, 0.714)
SETTING = "bootstrap, 10 k-means starts, Ward's linkage, genes unscaled"


def claims(written: Scores, published: Scores, figure: str) -> list[Claim]:
    """Ask for the best k, for the stored numbers, and for the two measures."""
    return [
        best_k(written, 3, BEST, "Fig. 5", _best_published(published), figure),
        _stored(written, published),
        _ranking(written),
    ]


# ---------------------------------------------------------------------------------------------------------------------
# the best number of clusters


def best_k(scores: Scores, k: int, claim: str, where: str, as_published: str = "", figure: str = "") -> Claim:
    """Ask whether k clusters have the highest score, for every clusterer on every pair."""
    at = KS.index(k)
    others = [j for j in range(len(KS)) if j != at]
    wins = clearly_positive(scores.ari[:, [at]] - scores.ari[:, others]).all(axis=1)  # (n_clusterers, n_pairs)
    over_pairs = np.nanmean(scores.ari, axis=2)  # (n_clusterers, n_ks, n_resamples)
    sentences, rivals = [], {}
    for name, ours in zip(CLUSTERERS, over_pairs, strict=True):
        rival = max(others, key=lambda j, ours=ours: mean(ours[j]))
        rivals[name] = KS[rival]
        change = shown(ours[at] - ours[rival])
        sentences.append(f"{name} {shown(ours[at])} @{k}, next {shown(ours[rival])} @{KS[rival]}, difference {change}")
    first = {name: int(won.sum()) for name, won in zip(CLUSTERERS, wins, strict=True)}
    c, j = np.unravel_index(np.argmax(mean(over_pairs)), over_pairs.shape[:2])
    return Claim(
        where=where,
        claim=claim,
        as_written=f"Mean over pairs: {'; '.join(sentences)} (paired; {scores.n} resamples; {SETTING}).",
        as_published=as_published,
        verdict=verdict_of(wins.ravel()),
        rule=f"for each clusterer and pair: k = {k} above every other k by two paired standard errors",
        why=f"{_by_clusterer(k, mean(over_pairs))} k = {k} is clearly first on {_counts(first)} of {len(scores.pairs)} "
        f"pairs. The highest mean of all: {CLUSTERERS[c]} {shown(over_pairs[c, j])} @{KS[j]}.",
        figures=(figure,) if figure else (),
        values={"first": first, "rival": rivals, "best": (CLUSTERERS[c], KS[j]), "scores": over_pairs},
    )


def _by_clusterer(k: int, means: Array) -> str:
    """Say which k is best on average over the pairs, from (n_clusterers, n_ks), and if that is the clusterer's."""
    best = [KS[j] for j in means.argmax(axis=1)]
    if len(set(best)) == 1:
        remark = "" if best[0] == k else f", not k = {k}"
        return f"On average over the pairs, k = {best[0]} is best with all clusterers{remark}."
    listed = ", ".join(f"k = {best_k_of} with {name}" for name, best_k_of in zip(CLUSTERERS, best, strict=True))
    return f"The best k depends on the clusterer: on average over the pairs, {listed}."


def _best_published(scores: Scores) -> str:
    best = np.array(KS)[mean(scores.ari).argmax(axis=1)]  # (n_clusterers, n_pairs)
    listed = "; ".join(f"{name} {', '.join(map(str, ks))}" for name, ks in zip(CLUSTERERS, best, strict=True))
    return (
        f"{scores.n} permutations, 50 k-means starts, complete linkage; agglomerative clustering of the test study is "
        f"always Ward's with k = 2. Best k on the six pairs: {listed}."
    )


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} ({name})" for name, count in counts.items())


def _stored(written: Scores, published: Scores) -> Claim:
    """Ask whether the numbers in the authors' files come out."""
    at = written.pairs.index(("vdx", "mainz"))
    mine = [written.ari[0, KS.index(k), at] for k in STORED_KS]
    theirs = [published.ari[0, KS.index(k), at] for k in STORED_KS]
    off = np.abs([mean(ours) - stored for ours, stored in zip(theirs, STORED, strict=True)])
    off_written = np.abs([mean(ours) - stored for ours, stored in zip(mine, STORED, strict=True)])
    within = [abs(mean(m) - s) < 2 * error_of(m) for m, s in zip(mine, STORED, strict=True)]
    return Claim(
        where="Fig. 5",
        claim="k-means trained on VDX and tested on Mainz has the means stored in the authors' files, "
        f"{row(STORED, 3)} at k = 2, …, 6.",
        as_written=f"{', '.join(map(number, mine))} ({written.n} bootstrap resamples).",
        as_published=f"{', '.join(number(scores, 3) for scores in theirs)} ({published.n} permutations, "
        f"50 k-means starts): within {off.max():.3f} of those stored.",
        verdict=verdict_of(within),
        rule="for each k: the stored mean within two standard errors of ours, as written",
        why=f"The stored means are {'nearer to' if off.max() < off_written.max() else 'no nearer to'} those of "
        f"permutations, which use every patient once (at most {off.max():.3f} off), than to the bootstrap's (up to "
        f"{off_written.max():.2f} off).",
        values={"written": mine, "published": theirs},
        ours=True,
    )


# ---------------------------------------------------------------------------------------------------------------------
# ARI and AMI


def _ranking(scores: Scores) -> Claim:
    """Ask whether ARI and AMI ever contradict each other, on the mean over pairs."""
    ari, ami = (np.nanmean(values, axis=2) for values in (scores.ari, scores.ami))  # (n_clusterers, n_ks, n_resamples)
    clusterers = [_contrary(ari[c] - ari[d], ami[c] - ami[d]) for c, d in combinations(range(len(CLUSTERERS)), 2)]
    ks = [_contrary(ari[:, i] - ari[:, j], ami[:, i] - ami[:, j]) for i, j in combinations(range(len(KS)), 2)]
    same = sum((np.argsort(mean(ari[:, j])) == np.argsort(mean(ami[:, j]))).all() for j in range(len(KS)))
    falls = [(values[:, 0] - values[:, -1]).mean(axis=0) for values in (ari, ami)]
    return Claim(
        where="Fig. 5",
        claim=RANKING,
        as_written=f"The same order of all three for {same} of {len(KS)} numbers of clusters; of "
        f"{np.size(clusterers)} comparisons of two clusterers with one k, {np.sum(clusterers)} contrary.",
        as_published="",
        verdict=verdict_of(~np.ravel(clusterers)),
        rule="for each k and two clusterers: no contrary order by ARI and AMI, each by two paired standard errors",
        why=(
            "They contradict each other about clusterers"
            if np.any(clusterers)
            else "Where both tell two clusterers clearly apart, they agree about their order"
        )
        + f". About two ks with one clusterer they disagree in {np.sum(ks)} of {np.size(ks)} comparisons: from "
        f"k = {KS[0]} to {KS[-1]}, ARI changes by {shown(-falls[0])}, AMI by {shown(-falls[1])}.",
        values={
            "same": same,
            "contrary": int(np.sum(clusterers)),
            "ks": int(np.sum(ks)),
            "falls": falls,
        },
    )


def _contrary(by_ari: Array, by_ami: Array) -> Array:
    """Whether one difference is above and the other below zero, each by two standard errors."""
    return (clearly_positive(by_ari) & clearly_positive(-by_ami)) | (
        clearly_positive(-by_ari) & clearly_positive(by_ami)
    )
