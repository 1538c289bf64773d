"""What distinguishes each cluster: features whose difference is tested in studies that did not define the cluster.

A cluster differs in the features that it was defined by, whatever these are: noise that is cut in two differs, too. So
the samples of a study are assigned by the clusters of the *other* studies, and by all features *but the one that is
tested*. Where the samples cannot be assigned without a feature, because it alone separates the clusters, the p-value is
that of the density valley between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control, norm
from scipy.stats import t as student

from clustrep.data.studies import Studies
from clustrep.data.values import completed
from clustrep.findings.result import CONTINUOUS, SEPARATED, Findings
from clustrep.separation.valleys import nearest_centre
from clustrep.summaries import FALSE_FINDING, quiet
from clustrep.types import BoolArray, FloatArray, IntArray

# A feature defines a cluster by itself if without it fewer than this share of the samples keep their cluster.
KEEP = 0.9
# Features whose distances are computed at once.
BLOCK = 256
# Differences below this many sd are not named in sentences: half a sd is a medium effect (Cohen 1988).
SMALLEST_EFFECT = 0.5
# More clusters than this are described by the table alone.
MOST_CLUSTERS = 8
# Steps of k-means at most.
STEPS = 20


def with_features(findings: Findings, studies: Studies, read: Studies) -> Findings:
    """Return findings with the differences between clusters in every feature, and of counts the shares above zero.

    studies : aligned; read : the same as they were given
    """
    if findings.verdict not in (SEPARATED, CONTINUOUS) or findings.n_clusters < 2:
        return findings
    tables = [completed(study.X).astype(float) for study in studies.values()]
    codes = np.split(findings.codes, np.cumsum(findings.sizes)[:-1])
    found = differences(tables, codes, findings.valley_p if findings.verdict == SEPARATED else None)
    return replace(
        findings,
        feature_names=tuple(studies.features),
        effect=found.effect,
        effect_error=found.error,
        higher=found.higher,
        lower=found.lower,
        above_zero=shares_above_zero([study.X for study in read.values()], codes, findings.n_clusters),
    )


def shares_above_zero(tables: Sequence[FloatArray], codes: Sequence[IntArray], n_clusters: int) -> FloatArray:
    """Return the share of each cluster's samples above zero, (n_clusters, n_features), mean over studies; of counts.

    Counts, or log counts, are never negative, and most features have zeros; without, the shares are empty. Missing
    values count for nothing.
    """
    has_zeros = np.any([(X == 0).any(axis=0) for X in tables], axis=0)
    if any((X < 0).any() for X in tables) or 2 * has_zeros.sum() < len(has_zeros):
        return np.empty((0, 0))
    above = [np.where(np.isnan(X), np.nan, X > 0) for X in tables]
    with quiet():
        shares = [
            [np.nanmean(X[code == c], axis=0) for c in range(n_clusters)] for X, code in zip(above, codes, strict=True)
        ]
        return np.asarray(np.nanmean(shares, axis=0))


def feature_table(findings: Findings, study: str | None = None) -> pd.DataFrame:
    """Return the table of `Findings.features`."""
    names = ["cluster", "feature", "effect", "low", "high", "direction", "same", "of", "pvalue", "fdr"]
    if not findings.feature_names:
        return pd.DataFrame(columns=names)
    chosen = slice(None) if study is None else [findings.names.index(study)]
    effect, error = findings.effect[:, chosen].astype(float), findings.effect_error[:, chosen].astype(float)
    higher, lower = findings.higher[:, chosen].astype(float), findings.lower[:, chosen].astype(float)
    known = np.isfinite(effect)
    n = known.sum(axis=1)
    mean = np.where(known, effect, 0.0).sum(axis=1) / np.maximum(n, 1)
    half = norm.ppf(0.975) * np.sqrt((np.where(known, error, 0.0) ** 2).sum(axis=1)) / np.maximum(n, 1)
    pvalue = joint_pvalues(higher, lower)
    fdr = np.full(pvalue.shape, np.nan)
    tested = np.isfinite(pvalue)
    if tested.any():
        fdr[tested] = false_discovery_control(pvalue[tested])
    cluster, feature = np.nonzero(n > 0)
    flat = (cluster, feature)
    table = pd.DataFrame(
        {
            "cluster": np.array(findings.letters)[cluster],
            "feature": np.array(findings.feature_names)[feature],
            "effect": mean[flat],
            "low": (mean - half)[flat],
            "high": (mean + half)[flat],
            "direction": np.where(mean[flat] > 0, "higher", "lower"),
            "same": (known & (np.sign(effect) == np.sign(mean)[:, None])).sum(axis=1)[flat],
            "of": n[flat],
            "pvalue": pvalue[flat],
            "fdr": fdr[flat],
        }
    )
    order = np.lexsort((-np.abs(table["effect"]), table["fdr"].fillna(1.0), cluster))
    return table.iloc[order].reset_index(drop=True)


def clear_features(findings: Findings) -> pd.DataFrame:
    """Return the rows of the features that describe a cluster: a large difference, and a significant one if tested."""
    table = findings.features()
    large = table[(table["low"] > SMALLEST_EFFECT) | (table["high"] < -SMALLEST_EFFECT)]
    return large[(large["fdr"] <= FALSE_FINDING) | large["fdr"].isna()]


def feature_sentences(findings: Findings, most: int = 3) -> list[str]:
    """Describe every cluster by its clearest features: "Cluster A: higher ESR1, GATA3; lower KRT5; …"."""
    if findings.verdict != SEPARATED or findings.n_clusters > MOST_CLUSTERS:
        return []
    sentences = []
    for letter, rows in clear_features(findings).groupby("cluster", sort=False):
        named = [rows[rows["direction"] == direction].head(most) for direction in ("higher", "lower")]
        parts = [f"{part['direction'].iloc[0]} {', '.join(part['feature'])}" for part in named if len(part)]
        shown = pd.concat(named)
        if shown["fdr"].isna().all():
            where = "in one study, not tested in another"
        else:
            same, of = min(zip(shown["same"], shown["of"], strict=True))
            at_least = "" if (shown["same"] == same).all() else "at least "
            where = "tested in one study" if of == 1 else f"same direction in {at_least}{same} of {of} studies"
        sentences.append(f"Cluster {letter}: {'; '.join(parts)}; {where}.")
    return sentences


class Differences(NamedTuple):
    """Differences of every cluster from the others of the same study, by feature: (n_clusters, n_studies, n_features).

    effect, error : difference of means in within-cluster standard deviations, and its standard error
    higher, lower : one-sided p-values: the feature is higher, or lower, in this cluster
    """

    effect: FloatArray
    error: FloatArray
    higher: FloatArray
    lower: FloatArray


def differences(
    tables: Sequence[FloatArray], codes: Sequence[IntArray], valley_p: FloatArray | None = None
) -> Differences:
    """Compare every cluster with the others of the same study, feature by feature.

    The others count alike, however many samples they have: composition changes nothing.

    Parameters
    ----------
    tables : sequence of ndarray, (n_samples, n_features)
        The aligned studies.
    codes : sequence of ndarray of int, (n_samples,)
        The cluster of every sample; −1 where it has none.
    valley_p : ndarray, (n_clusters, n_studies), optional
        P-values of the density valleys, where clusters are separated.
    """
    n_clusters = max(int(code.max(initial=-1)) for code in codes) + 1
    n_features = tables[0].shape[1]
    largest = np.max([np.abs(X).max(axis=0) for X in tables], axis=0)  # effects have no unit, and squares are finite
    tables = [X / np.where(largest > 0, largest, 1.0) for X in tables]
    shape = (n_clusters, len(tables), n_features)
    effect, error, higher, lower = (np.full(shape, np.nan, dtype=np.float32) for _ in range(4))
    moments = [_moments(X, code, n_clusters) for X, code in zip(tables, codes, strict=True)]
    for s, (X, own) in enumerate(zip(tables, moments, strict=True)):
        sd = _within(own)
        difference, of_difference, _ = _contrast(own)
        effect[:, s], error[:, s] = difference / sd, of_difference / sd
        if len(tables) == 1:
            break
        others = _without(s, tables, moments) if valley_p is None else [*moments[:s], *moments[s + 1 :]]
        centres, known = _centres(others, n_clusters)
        testable = np.flatnonzero(known & (own.n > 1))
        if len(testable) < 2:
            continue
        tested = _tested(X, centres[testable], _variance(others))
        up, down = tested.higher, tested.lower
        if valley_p is not None:
            p = np.nan_to_num(valley_p[testable, s], nan=1.0)[:, None]
            is_up = effect[testable, s] > 0
            up = np.where(tested.defines, np.where(is_up, p, 1.0), up)
            down = np.where(tested.defines, np.where(is_up, 1.0, p), down)
        higher[testable, s], lower[testable, s] = up, down
    return Differences(effect, error, higher, lower)


class _Moments(NamedTuple):
    n: FloatArray  # (n_clusters,) or (n_clusters, n_features)
    mean: FloatArray  # (n_clusters, n_features)
    squares: FloatArray  # (n_clusters, n_features): sums of squares about the mean


def _moments(X: FloatArray, labels: IntArray, n_clusters: int) -> _Moments:
    member = (labels[:, None] == np.arange(n_clusters)).astype(float)  # (n_samples, n_clusters)
    n = member.sum(axis=0)
    divisor = np.maximum(n, 1)[:, None]
    mean = member.T @ X / divisor
    known = labels >= 0
    residual = X[known] - mean[labels[known]]
    return _Moments(n, mean, member[known].T @ residual**2)


def _within(moments: _Moments) -> FloatArray:
    """Return the standard deviation within clusters of every feature; 1 where nothing varies."""
    free = max(int((moments.n - (moments.n > 0)).sum()), 1)
    sd = np.sqrt(moments.squares.sum(axis=0) / free)
    return np.asarray(np.where(sd > 0, sd, 1.0))


def _variance(studies: Sequence[_Moments]) -> FloatArray:
    free = max(sum(int((each.n - (each.n > 0)).sum()) for each in studies), 1)
    variance = np.sum([each.squares.sum(axis=0) for each in studies], axis=0) / free
    return np.asarray(np.where(variance > 0, variance, np.inf))


def _centres(studies: Sequence[_Moments], n_clusters: int) -> tuple[FloatArray, BoolArray]:
    """Return the mean over studies of every cluster's centre, and whether any study has it."""
    there = np.array([each.n > 0 for each in studies]).reshape(len(studies), n_clusters)
    total = sum((each.mean * (each.n > 0)[:, None] for each in studies), np.zeros((n_clusters, 1)))
    return np.asarray(total / np.maximum(there.sum(axis=0), 1)[:, None]), np.asarray(there.any(axis=0))


def _without(s: int, tables: Sequence[FloatArray], moments: Sequence[_Moments]) -> list[_Moments]:
    """Partition the other studies again, by k-means from the centres that they have: this study takes no part."""
    elsewhere = [t for t in range(len(tables)) if t != s]
    others = [moments[t] for t in elsewhere]
    for _ in range(STEPS):
        centres, known = _centres(others, len(moments[s].n))
        here, sd = np.flatnonzero(known), np.sqrt(_variance(others))
        labels = [here[nearest_centre(tables[t] / sd, centres[here] / sd)] for t in elsewhere]
        new = [_moments(tables[t], code, len(known)) for t, code in zip(elsewhere, labels, strict=True)]
        if all(np.array_equal(a.n, b.n) for a, b in zip(new, others, strict=True)):
            break
        others = new
    return others


def _contrast(moments: _Moments) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compare each cluster with the others: difference, standard error, degrees of freedom (Welch, Satterthwaite).

    Clusters with fewer than two samples are left out, as NaN; the others count alike.
    """
    n, mean, squares = moments
    n = n[:, None] if n.ndim == 1 else n
    usable = np.broadcast_to(n > 1, mean.shape)
    m = np.maximum(usable.sum(axis=0) - usable, 0).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        known = np.where(usable, mean, 0.0)
        spread = np.where(usable, squares / (n - 1) / n, 0.0)  # variance of the mean
        parts = np.where(usable, spread**2 / (n - 1), 0.0)
        difference = known - (known.sum(axis=0) - known) / m
        variance = spread + (spread.sum(axis=0) - spread) / m**2
        free = variance**2 / (parts + (parts.sum(axis=0) - parts) / m**4)
    valid = usable & (m > 0)
    return np.where(valid, difference, np.nan), np.sqrt(np.where(valid, variance, np.nan)), free


class _Tested(NamedTuple):
    higher: FloatArray  # (n_clusters, n_features)
    lower: FloatArray
    defines: BoolArray


def _tested(X: FloatArray, centres: FloatArray, variance: FloatArray) -> _Tested:
    """Test every feature between clusters to which samples are assigned without it.

    centres : (n_clusters, n_features), of the other studies; variance : (n_features,), within their clusters
    """
    (k, p), sd = centres.shape, np.sqrt(variance)
    scaled, places = X / sd, centres / sd
    squared = (scaled**2).sum(axis=1)[:, None] - 2 * scaled @ places.T + (places**2).sum(axis=1)
    base = squared.argmin(axis=1)
    # Without one feature, a sample goes elsewhere only if that feature's share of the distance exceeds the margin.
    largest = np.column_stack([((scaled - place) ** 2).max(axis=1) for place in places])
    is_open = ((squared - squared.min(axis=1, keepdims=True) <= largest) & (np.arange(k) != base[:, None])).any(axis=1)
    middle = X.mean(axis=0)  # sums of squares about a value near the means
    settled = (base[:, None] == np.arange(k))[~is_open].astype(float).T  # (k, n_settled)
    n = np.repeat(settled.sum(axis=1)[:, None], p, axis=1)
    total, squares = settled @ (X[~is_open] - middle), settled @ (X[~is_open] - middle) ** 2
    stays = n.copy()
    rows = np.flatnonzero(is_open)
    for start in range(0, p if len(rows) else 0, BLOCK):
        block = slice(start, min(start + BLOCK, p))
        values = X[rows, block] - middle[block]
        labels = (squared[rows, :, None] - (scaled[rows][:, None, block] - places[:, block]) ** 2).argmin(axis=1)
        for c in range(k):
            member = labels == c  # (n_open, n_block)
            n[c, block] += member.sum(axis=0)
            total[c, block] += (member * values).sum(axis=0)
            squares[c, block] += (member * values**2).sum(axis=0)
            stays[c, block] += (member & (base[rows] == c)[:, None]).sum(axis=0)
    mean = total / np.maximum(n, 1)
    difference, error, free = _contrast(_Moments(n, mean, np.maximum(squares - n * mean**2, 0.0)))
    valid = error > 0
    statistic, free = np.where(valid, difference, 0.0) / np.where(valid, error, 1.0), np.where(valid, free, 1.0)
    higher, lower = (np.where(valid, p_of(statistic, free), np.nan) for p_of in (student.sf, student.cdf))
    size = np.bincount(base, minlength=k)[:, None]
    defines = (stays < KEEP * size) | (stays.sum(axis=0) < KEEP * len(X))
    return _Tested(higher, lower, defines)


def joint_pvalues(higher: FloatArray, lower: FloatArray) -> FloatArray:
    """Return the p-value of "differs in one direction in two studies at least", (n_clusters, n_features).

    Partial conjunction (Benjamini and Heller 2008) over the studies that were tested, for each direction; the smaller
    counts twice. With a single study that could be tested, it is that study's.
    """
    joint = []
    for pvalues in (higher, lower):
        ordered = np.sort(np.where(np.isfinite(pvalues), pvalues, np.inf), axis=1)  # NaN last
        n = np.isfinite(pvalues).sum(axis=1)
        second = ordered[:, min(1, ordered.shape[1] - 1)]
        joint.append(np.where(n > 1, (n - 1) * np.where(n > 1, second, 0.0), np.where(n == 1, ordered[:, 0], np.nan)))
    return np.asarray(np.minimum(1.0, 2 * np.minimum(*joint)))
