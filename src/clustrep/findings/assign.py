"""To which cluster new samples belong, or to none of them: conformal sets, calibrated on studies that took no part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from clustrep.checks import check_fraction, check_known
from clustrep.data.studies import Studies
from clustrep.data.study import Study
from clustrep.data.values import completed
from clustrep.errors import DataError, DataWarning, warn
from clustrep.files.saved import Saved
from clustrep.findings.result import CONTINUOUS, MERGED, SEPARATED, Findings
from clustrep.separation.valleys import CONSTANT, FEWEST, centres_of
from clustrep.text import listing
from clustrep.types import FloatArray

NONE = "none of these"
# Features whose spread within the new study differs by more than this factor from that of every study are probably
# measured in another unit. Between the ends of the interquartile range a normal and a two-cluster study differ by less.
OTHER_UNIT = 20.0
# Concentration steps (Rousseeuw and Van Driessen 1999) to the half of a new study that is nearest beside the axes.
STEPS = 3
# Features that are named in an error at most.
MOST_NAMES = 5


@dataclass(frozen=True, eq=False, repr=False)
class Reference(Saved):
    """Clusters as new samples are compared with them: a clustering function of any table, without samples.

    Attributes
    ----------
    letters : tuple of str
        The clusters, A, B, C….
    names : tuple of str
        The studies that defined them.
    features : tuple of str
    location, spread : ndarray of shape (n_studies, n_features)
        ``(X - location) / spread`` aligns a sample that was measured as in that study.
    axes : ndarray of shape (n_coordinates, n_features)
        Coordinates of an aligned sample are ``axes @ x``; with 10 features at most they are the features.
    metric : ndarray of shape (n_coordinates, n_coordinates)
        ``coordinates @ metric`` has unit covariance within clusters.
    centres : ndarray of shape (n_clusters, n_coordinates)
        In that metric.
    radius : ndarray of shape (n_clusters,)
        Root mean square distance of a cluster's samples from its centre.
    shares : ndarray of shape (n_clusters,)
        Mean share of every cluster in the studies that have it.
    calibration : ndarray of shape (n_samples,)
        Sorted distances of samples from the centre of their cluster in the *other* studies, in radii.
    noise : ndarray of shape (n_features,)
        Standard deviation of every aligned feature beside the axes; zeros where the axes leave nothing.
    length : ndarray of shape (n_studies,)
        Median length of what samples have beside the axes, in these standard deviations.
    length_sd : float
        Standard deviation of that length within studies.

    See Also
    --------
    Findings.assign : Where a reference comes from.
    """

    letters: tuple[str, ...]
    names: tuple[str, ...]
    features: tuple[str, ...]
    location: FloatArray
    spread: FloatArray
    axes: FloatArray
    metric: FloatArray
    centres: FloatArray
    radius: FloatArray
    shares: FloatArray
    calibration: FloatArray
    noise: FloatArray = field(default_factory=lambda: np.empty(0))
    length: FloatArray = field(default_factory=lambda: np.empty(0))
    length_sd: float = 1.0

    def __repr__(self) -> str:
        return (
            f"Reference of clusters {listing(self.letters)}, {len(self.features)} features, learned from "
            f"{listing(self.names)}"
        )

    def assign(
        self, X: Any, *, confidence_level: float = 0.95, like: str | None = None, estimate_shift: bool = True
    ) -> pd.DataFrame:
        """Assign new samples to the clusters: see `Findings.assign`; each by itself where no shift is estimated."""
        check_fraction(confidence_level, "confidence_level")
        if like is not None:
            check_known(like, "study", self.names, parameter="like")
        study = self._study(X)
        X = self._aligned(study.X, like)
        Z = X @ self.axes.T @ self.metric
        is_study = like is None and estimate_shift and len(Z) >= 2 * FEWEST
        shift, scale = self._shift(Z) if is_study else (np.zeros(Z.shape[1]), 1.0)
        distance = np.linalg.norm(((Z - shift) / scale)[:, None] - self.centres, axis=-1)  # (n_samples, n_clusters)
        if self.noise.any() and (is_study or like is not None):
            distance = np.hypot(distance, self._beside(X, distance.min(axis=1), like)[:, None])
        logs = np.log(self.shares) - 0.5 * distance**2
        probability = np.exp(logs - logs.max(axis=1, keepdims=True))
        probability /= probability.sum(axis=1, keepdims=True)
        farther = len(self.calibration) - np.searchsorted(self.calibration, distance / self.radius)
        pvalue = (1 + farther) / (1 + len(self.calibration))
        inside = pvalue > 1 - confidence_level
        best = np.where(inside, probability, -1.0).argmax(axis=1)
        names = np.array(self.letters, dtype=object)
        frame = pd.DataFrame(
            {
                "cluster": np.where(inside.any(axis=1), names[best], NONE),
                "probability": np.where(inside.any(axis=1), np.take_along_axis(probability, best[:, None], 1)[:, 0], 0),
                "set": [" ".join(names[row]) for row in inside],
                "pvalue": pvalue.max(axis=1),
            },
            index=pd.Index(study.samples, name="sample"),
        )
        frame.attrs.update(shift=float(np.linalg.norm(shift)), scale=scale)
        return frame

    def _study(self, X: Any) -> Study:
        """Check new samples: their features, in the order of the reference."""
        study = X if isinstance(X, Study) else _study_of(X, self.features)
        missing = sorted(set(self.features) - set(study.features))
        if missing:
            named = listing(missing, MOST_NAMES)
            raise DataError(
                f"{len(missing)} of the {len(self.features)} features of the clusters are missing: {named}. Pass a "
                "table with these columns."
            )
        study = study.select(self.features)
        if len(study) >= 2 * FEWEST:
            here = study.X.std(axis=0)
            ratio = np.log(np.maximum(here, 1e-300) / (self.spread * self._typical_spread()))
            far = (np.abs(ratio) > np.log(OTHER_UNIT)).all(axis=0) & (here > 0)
            if 2 * far.sum() > len(far):
                warn(
                    f"{far.sum()} of {len(far)} features have another scale than in the studies that define the "
                    f"clusters (standard deviations differ more than {OTHER_UNIT:.0f}-fold). Give them in the same "
                    "unit.",
                    DataWarning,
                )
        return study

    def _typical_spread(self) -> FloatArray:
        """Return the standard deviation of every aligned feature in a study with all clusters, (n_features,)."""
        back = np.linalg.pinv(self.metric)
        between = np.cov((self.centres @ back).T, aweights=self.shares, bias=True).reshape(len(self.axes), -1)
        total = between + back @ back
        beside = self.noise**2 if self.noise.any() else 0.0
        return np.asarray(np.sqrt(np.maximum(np.einsum("qp,qr,rp->p", self.axes, total, self.axes) + beside, 1e-300)))

    def _aligned(self, X: FloatArray, like: str | None) -> FloatArray:
        """Return samples as if measured in one study, or in the mean of all, (n_samples, n_features)."""
        chosen = slice(None) if like is None else [self.names.index(like)]
        location, spread = self.location[chosen].mean(axis=0), self.spread[chosen].mean(axis=0)
        return np.asarray((completed(X).astype(float) - location) / spread)

    def _shift(self, Z: FloatArray) -> tuple[FloatArray, float]:
        """Return how a new study lies: two of the clusters at least must agree about it."""
        if len(self.letters) > 1:
            from clustrep.findings.model import starts_of
            from clustrep.findings.placement import locate

            located = locate(Z, self.centres, starts_of(Z, self.centres, 0))
            if (located.shares[:-1] * len(Z) >= FEWEST).sum() > 1:
                return located.shift, located.scale
        return np.zeros(Z.shape[1]), 1.0

    def _beside(self, X: FloatArray, distance: FloatArray, like: str | None) -> FloatArray:
        """Return how much farther than usual samples lie beside the axes, where another cluster may be, (n_samples,).

        Where a new study lies there, and what is usual, is told by its half that is nearest to the centres.
        """
        beside = (X - X @ self.axes.T @ self.axes) / np.where(self.noise > 0, self.noise, np.inf)
        length = np.linalg.norm(beside, axis=1)
        if like is not None:
            return np.asarray(np.maximum(length - self.length[self.names.index(like)], 0.0) / self.length_sd)
        near = inner = distance <= np.median(distance)
        for _ in range(STEPS):
            length = np.linalg.norm(beside - beside[inner].mean(axis=0), axis=1)
            length[inner] *= inner.sum() / (inner.sum() - 1)  # as if compared with the mean of the others
            inner = length <= np.median(length)  # without another cluster that lies beside one of these
        return np.asarray(np.maximum(length - np.median(length[near]), 0.0) / self.length_sd)


def _study_of(X: Any, features: Sequence[str]) -> Study:
    """Make a study of a table; a single sample, too. An array has the features of the reference, in their order."""
    if not isinstance(X, pd.DataFrame):
        X = np.atleast_2d(np.asarray(X, dtype=float))
        if X.shape[1] != len(features):
            raise DataError(
                f"New samples must have {len(features)} features, got {X.shape[1]}: pass a DataFrame with their names."
            )
        X = pd.DataFrame(X, columns=list(features), index=[str(i) for i in range(1, len(X) + 1)])
    missing = sorted(set(features) - set(map(str, X.columns)))
    kept = X if missing else X[[column for column in X.columns if str(column) in set(features)]]
    if len(kept) != 1:
        return Study(kept, "new samples", label=False, allow_missing=True)
    twice = pd.concat([kept, kept]).set_axis([str(kept.index[0]), f"{kept.index[0]} again"])  # a study has two at least
    return Study(twice, "new samples", label=False, allow_missing=True)._part(np.array([0]), "new samples")


def with_reference(findings: Findings, given: Studies, compared: Studies) -> Findings:
    """Return findings with what new samples are compared with; the studies are those read, and those aligned."""
    if findings.verdict not in (SEPARATED, CONTINUOUS) or findings.n_clusters < 2:
        return findings
    from clustrep.findings.coordinates import principal_axes
    from clustrep.findings.model import whitening

    tables = [completed(study.X).astype(float) for study in compared.values()]
    axes = principal_axes(np.concatenate(tables), np.repeat(np.arange(len(tables)), [len(X) for X in tables]))
    k = findings.n_clusters
    codes = np.split(findings.codes, np.cumsum(findings.sizes)[:-1])
    location, spread = _affine(given, tables)
    tables = [X[code >= 0] for X, code in zip(tables, codes, strict=True)]
    codes = [code[code >= 0] for code in codes]
    clustered = [s for s, code in enumerate(codes) if len(code)]
    # A sample of a study has nothing beside the axes, on average.
    left = [X - X @ axes.T @ axes for X in tables]
    means = np.array([X.mean(axis=0) if len(X) else np.zeros(X.shape[1]) for X in left])
    location += spread * means
    left = [X - mean for X, mean in zip(left, means, strict=True)]
    noise = np.sqrt(np.mean(np.concatenate(left) ** 2, axis=0))
    noise[noise <= CONSTANT * np.concatenate(tables).std(axis=0).max()] = 0.0  # rounding errors
    unit = np.where(noise > 0, noise, np.inf)
    lengths = [np.linalg.norm(X / unit, axis=1) * len(X) / max(len(X) - 1, 1) for X in left]  # as from the others' mean
    length = np.array([np.median(each) if len(each) else 0.0 for each in lengths])
    longer = [each - usual for each, usual in zip(lengths, length, strict=True)]
    length_sd = float(np.std(np.concatenate(longer))) or 1.0
    beside = [np.maximum(each, 0.0) / length_sd for each in longer]
    Z = [X @ axes.T for X in tables]
    metric = whitening([Z[s] for s in clustered], [codes[s] for s in clustered])
    Z = [z @ metric for z in Z]
    means = np.array([centres_of(z, code, k) for z, code in zip(Z, codes, strict=True)])
    # Merged clusters are told apart by their places alone, which says nothing about where they are.
    apart = (findings.status != MERGED) | (findings.status == MERGED).all(axis=1, keepdims=True)
    weights = np.sqrt(findings.counts * apart).T  # (n_studies, n_clusters)
    centres = _averaged(means, weights)
    distances, members = [], []
    for s in clustered:
        elsewhere = _averaged(means, np.where(np.arange(len(Z))[:, None] == s, 0.0, weights))
        half = np.zeros(len(Z[s]), dtype=int)
        for c in range(k):  # samples may alternate between clusters
            half[codes[s] == c] = np.arange(np.count_nonzero(codes[s] == c)) % 2
        for h in (0, 1):  # a cluster of this study alone is compared with the study's other half
            own = centres_of(Z[s][half != h], codes[s][half != h], k)
            label = codes[s][half == h]
            places = np.where(np.isnan(elsewhere), own, elsewhere)[label]
            distances.append(np.hypot(np.linalg.norm(Z[s][half == h] - places, axis=1), beside[s][half == h]))
            members.append(label)
    distance, member = np.concatenate(distances), np.concatenate(members)
    distance, member = distance[np.isfinite(distance)], member[np.isfinite(distance)]
    square = np.bincount(member, distance**2, minlength=k) / np.maximum(np.bincount(member, minlength=k), 1)
    radius = np.sqrt(np.where(square > 0, square, np.mean(distance**2)))
    shares = findings.counts / findings.sizes
    reference = Reference(
        letters=findings.letters,
        names=findings.names,
        features=tuple(given.features),
        location=location,
        spread=spread,
        axes=axes,
        metric=metric,
        centres=centres,
        radius=radius,
        shares=np.array([row[row > 0].mean() for row in shares]),
        calibration=np.sort(distance / radius[member]),
        noise=noise,
        length=length,
        length_sd=length_sd,
    )
    return replace(findings, reference=reference)


def _averaged(means: FloatArray, weights: FloatArray) -> FloatArray:
    """Average the centres of the studies, (n_clusters, n_coordinates); NaN where no study has one."""
    known = np.isfinite(means[:, :, :1])
    total = np.where(known, means, 0.0) * weights[:, :, None]
    weight = (weights * known[:, :, 0]).sum(axis=0)[:, None]
    return np.asarray(np.where(weight > 0, total.sum(axis=0) / np.where(weight > 0, weight, 1.0), np.nan))


def _affine(given: Studies, compared: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return location and spread of the map from given to aligned values, feature by feature."""
    location, spread = [], []
    for study, after in zip(given.values(), compared, strict=True):
        before = completed(study.X).astype(float)
        sd_after = after.std(axis=0)
        factor = np.where(sd_after > 0, before.std(axis=0) / np.where(sd_after > 0, sd_after, 1.0), 1.0)
        location.append(before.mean(axis=0) - factor * after.mean(axis=0))
        spread.append(np.where(factor > 0, factor, 1.0))
    return np.array(location), np.array(spread)
