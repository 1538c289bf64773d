"""Every result type: frozen, with the whole resampling distribution inside."""

from __future__ import annotations

import contextlib
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep._engine import one_thread
from clustrep._files import save_result
from clustrep._learning import Configuration, Source
from clustrep._types import BoolArray, FloatArray, IntArray, Labels, read_only
from clustrep._validation import (
    check_choice,
    check_known,
    check_numbers_between,
    check_open_fraction,
    check_positive_integer,
    plural,
)
from clustrep.errors import AllReplicatesFailed, ParameterError, ReplicateWarning, warn
from clustrep.functions import ClusteringFunction
from clustrep.studies import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRIVIAL_AT_MOST = 0.05
CHOICE_LEVEL = 0.95
# Points whose whole distribution is gathered at once.
POINTS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class Origin:
    """What a result came from, kept in memory only: data does not travel in result files."""

    source: Source
    studies: tuple[Study, ...]
    configuration: Configuration


class Resampled:
    """A distribution over resamples, and what can be said of it; failed resamples, NaN, are left out."""

    distribution: FloatArray  # (n_resamples, ...)

    @property
    def mean(self) -> FloatArray:
        """Mean over resamples."""
        with _quiet():
            return np.asarray(np.nanmean(self.distribution, axis=0))

    @property
    def sd(self) -> FloatArray:
        """Standard deviation over resamples (with n − 1)."""
        with _quiet():
            return np.asarray(np.nanstd(self.distribution, axis=0, ddof=1))

    def quantile(self, q: float | Sequence[float]) -> FloatArray:
        """Quantiles over resamples."""
        check_numbers_between(q, "q", 0, 1)
        with _quiet():
            return np.asarray(np.nanquantile(self.distribution, q, axis=0))

    def confidence_interval(self, confidence_level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Percentile interval: (low, high)."""
        low, high = self.quantile(_tails(confidence_level))
        return low, high


class Saved:
    """A result that can be written to one file."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything but the data to one file, whole or not at all; `clustrep.load` reads it."""
        save_result(self, path)


@dataclass(frozen=True, eq=False)
class TrainingAverage(Resampled):
    """Algorithm 2: the average over all test studies of one training study's scores."""

    name: str
    estimate: float
    distribution: FloatArray  # (n_resamples,)

    def __repr__(self) -> str:
        low, high = self.confidence_interval()
        return f"Trained on {self.name}: {self.estimate:.2f}, mean {self.mean:.2f} [{low:.2f}, {high:.2f}]"


@dataclass(frozen=True, eq=False, repr=False)
class Replicability(Resampled, Saved):
    """How well each study's clustering predicts every other's: axes are always (train, test).

    Attributes
    ----------
    names : tuple of str
        The studies.
    agreement : str
        What the scores measure.
    estimate : ndarray, (S, S)
        R̂: the studies as they are. NaN where that fit failed.
    distribution : ndarray, (n_resamples, S, S)
        R̂⁽ᵇ⁾. NaN where a replicate failed, and on the diagonal where that was not asked for.
    trivial : ndarray of bool, (n_resamples, S, S)
        Replicates in which either partition is a single block: their score says nothing.
    clusters_found : ndarray of int, (n_resamples, S)
        Number of clusters in each study's draw, noise apart; −1 where the fit failed.
    provenance : dict
        Seed, parameters and versions.
    """

    names: tuple[str, ...]
    agreement: str
    clusterer: str
    n_clusters: int | None
    estimate: FloatArray
    distribution: FloatArray
    trivial: BoolArray
    clusters_found: IntArray
    failed: IntArray  # (n_resamples + 1, S, S): 0, or 1 + position in causes; first the studies as they are
    causes: tuple[str, ...]
    provenance: dict[str, Any]
    _origin: Origin | None = None

    def __post_init__(self) -> None:
        _freeze(self)

    @property
    def failures(self) -> dict[str, int]:
        """How many scores are missing, by cause."""
        return _count_causes(self.failed, self.causes)

    def for_training_on(self, name: str) -> TrainingAverage:
        """Average over the test studies, for one training study (Algorithm 2)."""
        check_known(name, "study", self.names)
        t = self.names.index(name)
        others = [s for s in range(len(self.names)) if s != t]
        return TrainingAverage(
            name, float(self.estimate[t, others].mean()), read_only(self.distribution[:, t, others].mean(axis=1))
        )

    def clustering_function(self, name: str, resample: int | None = None) -> ClusteringFunction:
        """Return ψ learned on a study as it is, or on its draw in a resample: fitted again from its seed."""
        check_known(name, "study", self.names)
        if self._origin is None:
            raise ParameterError(
                "This result was read from a file, which holds scores but no data: run replicability again with "
                f"rng={self.provenance['seed']} to have its clustering functions."
            )
        replicate = 0
        if resample is not None:
            check_positive_integer(resample, "resample", at_least=0)
            if resample >= len(self.distribution):
                raise ParameterError(f"resample must be below {len(self.distribution)}, got {resample}.")
            replicate = resample + 1
        source, study = self._origin.source, self._origin.studies[self.names.index(name)]
        draw = source.draw(study, replicate)
        with one_thread():  # as in the run
            function = source.function(self._origin.configuration, study, draw, replicate)
        function.features = study.features if study.features_are_named else None
        return function

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every pair of studies: train, test, agreement, score, mean, sd, low, high, trivial, failed.

        `score` is R̂; `trivial` and `failed` count resamples.
        """
        low, high = self.confidence_interval(confidence_level)
        S = len(self.names)
        train, test = np.divmod(np.arange(S * S), S)
        frame = pd.DataFrame(
            {
                "train": np.array(self.names, dtype=object)[train],
                "test": np.array(self.names, dtype=object)[test],
                "agreement": self.agreement,
                "score": self.estimate.ravel(),
                "mean": self.mean.ravel(),
                "sd": self.sd.ravel(),
                "low": low.ravel(),
                "high": high.ravel(),
                "trivial": self.trivial.sum(axis=0).ravel(),
                "failed": (self.failed[1:] > 0).sum(axis=0).ravel(),
            }
        )
        asked = np.full(S * S, True) if self.provenance["diagonal"] else train != test
        return frame.loc[asked].reset_index(drop=True)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the study × study matrix of bootstrap means as a heat map."""
        from clustrep import plots

        return plots.heat_map(self, ax)

    def __repr__(self) -> str:
        low, high = self.confidence_interval()
        cells = [
            ["" if np.isnan(m) else f"{m:.2f} [{lo:.2f}, {hi:.2f}]" for m, lo, hi in zip(*row, strict=True)]
            for row in zip(self.mean, low, high, strict=True)
        ]
        table = pd.DataFrame(cells, index=pd.Index(self.names, name="train \\ test"), columns=list(self.names))
        k = "" if self.n_clusters is None else f", k = {self.n_clusters}"
        lines = [
            f"Replicability of {self.clusterer}{k}: {self.agreement.upper()}, mean and 95 % interval of "
            f"{plural(len(self.distribution), 'resample')}, seed {self.provenance['seed']}",
            table.reset_index().to_string(index=False),
        ]
        off = ~np.eye(len(self.names), dtype=bool)
        if self.trivial[:, off].any():
            lines.append(
                f"Trivial (a single block on either side): {_percent(self.trivial[:, off].mean())} of the scores"
            )
        lines += [f"Failed: {plural(count, 'score')}: {cause}" for cause, count in self.failures.items()]
        return "\n".join(lines)


@dataclass(frozen=True)
class Candidate:
    """A clusterer with its number of clusters, and its score: the mean over ordered pairs of different studies."""

    clusterer: str
    n_clusters: int | None
    score: float
    low: float
    high: float

    def __str__(self) -> str:
        k = "" if self.n_clusters is None else f", k = {self.n_clusters}"
        return f"{self.clusterer}{k} ({self.score:.2f} [{self.low:.2f}, {self.high:.2f}])"


@dataclass(frozen=True)
class Best(Candidate):
    """The candidate with the highest score, and those that can't be told from it."""

    agreement: str
    rivals: tuple[Candidate, ...]

    def __str__(self) -> str:
        best = super().__str__()
        if not self.rivals:
            return f"{best} replicates best by {self.agreement.upper()}"
        others = [Candidate.__str__(rival) for rival in self.rivals]
        return f"By {self.agreement.upper()}, can't tell between {best} and {', '.join(others)}"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Saved):
    """The scores of several clusterers and numbers of clusters, from the same draws.

    Attributes
    ----------
    names, agreements, clusterers, n_clusters : tuple
        The studies; the agreements; and for every configuration its clusterer's name and number of clusters (None
        where the clusterer finds it by itself).
    estimate : ndarray, (n_configurations, n_agreements, S, S)
    distribution : ndarray, (n_configurations, n_agreements, n_resamples, S, S)
    """

    names: tuple[str, ...]
    agreements: tuple[str, ...]
    clusterers: tuple[str, ...]
    n_clusters: tuple[int | None, ...]
    estimate: FloatArray
    distribution: FloatArray
    trivial: BoolArray  # (n_configurations, n_resamples, S, S)
    clusters_found: IntArray  # (n_configurations, n_resamples, S)
    failed: IntArray  # (n_configurations, n_resamples + 1, S, S)
    causes: tuple[str, ...]
    provenance: dict[str, Any]
    _origins: tuple[Origin, ...] | None = None

    def __post_init__(self) -> None:
        _freeze(self)

    @property
    def failures(self) -> dict[str, int]:
        """How many scores are missing, by cause, over all configurations."""
        return _count_causes(self.failed, self.causes)

    def replicability(
        self, clusterer: str, n_clusters: int | None = None, agreement: str | None = None
    ) -> Replicability:
        """Return the result of one configuration; by the first agreement unless another is named."""
        check_known(clusterer, "clusterer", dict.fromkeys(self.clusterers))
        having = [c for c, name in enumerate(self.clusterers) if name == clusterer]
        if n_clusters is None and len(having) > 1:
            raise ParameterError(
                f"n_clusters must be given: {clusterer!r} was run with {[self.n_clusters[c] for c in having]}."
            )
        if n_clusters is not None and self.n_clusters[having[0]] is None:
            raise ParameterError(f"{clusterer!r} finds its number of clusters by itself: leave n_clusters out.")
        if n_clusters is not None:
            check_known(n_clusters, f"number of clusters of {clusterer!r}", [self.n_clusters[c] for c in having])
            having = [c for c in having if self.n_clusters[c] == n_clusters]
        return self._at(having[0], self._agreement(agreement))

    def _at(self, c: int, a: int) -> Replicability:
        clusterers = {self.clusterers[c]: self.provenance["clusterers"][c]}
        return Replicability(
            names=self.names,
            agreement=self.agreements[a],
            clusterer=self.clusterers[c],
            n_clusters=self.n_clusters[c],
            estimate=self.estimate[c, a],
            distribution=self.distribution[c, a],
            trivial=self.trivial[c],
            clusters_found=self.clusters_found[c],
            failed=self.failed[c],
            causes=self.causes,
            provenance={**self.provenance, "clusterers": clusterers},
            _origin=None if self._origins is None else self._origins[c],
        )

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every configuration, agreement and pair of studies.

        Columns: clusterer, k, train, test, agreement, score (R̂), mean, sd, low, high, trivial, failed (counts of
        resamples) and clusters_found (mean over resamples, in the training study).
        """
        frames = []
        for c, k in enumerate(self.n_clusters):
            found = np.where(self.clusters_found[c] < 0, np.nan, self.clusters_found[c])  # (n_resamples, S)
            with _quiet():
                by_study = dict(zip(self.names, np.nanmean(found, axis=0), strict=True))
            for a in range(len(self.agreements)):
                frame = self._at(c, a).to_frame(confidence_level)
                frame.insert(0, "clusterer", self.clusterers[c])
                frame.insert(1, "k", pd.Series([k] * len(frame), dtype="Int64"))
                frame["clusters_found"] = frame["train"].map(by_study)
                frames.append(frame)
        return pd.concat(frames, ignore_index=True)

    def summary(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every configuration and agreement, averaged over ordered pairs of different studies."""
        rows = [
            {
                "clusterer": self.clusterers[c],
                "k": self.n_clusters[c],
                "agreement": agreement,
                "score": self._scores[c, a],
                "low": low,
                "high": high,
                "trivial": self._trivial_share[c],
                "failed": int((self.failed[c] > 0).sum()),
                "may_be_best": bool(self._eligible[c, a]),
            }
            for c in range(len(self.clusterers))
            for a, agreement in enumerate(self.agreements)
            for low, high in [self._interval(self._averages[c, a], confidence_level)]
        ]
        return pd.DataFrame(rows).astype({"k": "Int64"})

    def best(self, agreement: str | None = None) -> Best:
        """Return the configuration with the highest score (ties to the smaller k), and its rivals.

        The score is the mean over ordered pairs of different studies of the bootstrap mean. A rival is any other whose
        difference to the best, resample by resample, has a 95 % interval that includes 0. A configuration with more
        than 5 % trivial replicates is never picked, nor one without a score for some pair.
        """
        a = self._agreement(agreement)
        eligible = np.flatnonzero(self._eligible[:, a]).tolist()
        if not eligible:
            raise ParameterError(
                "No configuration can be best: each has more than 5 % trivial replicates or a pair of studies without "
                "any score; see summary()."
            )
        winner = min(eligible, key=lambda c: (-self._scores[c, a], self.n_clusters[c] or 0, c))
        rivals = [c for c in eligible if c != winner and self._includes_zero(winner, c, a)]
        rivals.sort(key=lambda c: (-self._scores[c, a], self.n_clusters[c] or 0, c))
        return Best(
            **vars(self._candidate(winner, a)),
            agreement=self.agreements[a],
            rivals=tuple(self._candidate(c, a) for c in rivals),
        )

    def plot(self, ax: Axes | None = None, agreement: str | None = None) -> Axes:
        """Draw the score against the number of clusters, a line for each clusterer."""
        from clustrep import plots

        return plots.curves(self, self.agreements[self._agreement(agreement)], ax)

    def __repr__(self) -> str:
        table = self.summary().drop(columns="may_be_best").round(3).to_string(index=False)
        lines = [f"Comparison on {plural(len(self.names), 'study')}: {', '.join(self.names)}", table]
        lines += [f"Failed: {plural(count, 'score')}: {cause}" for cause, count in self.failures.items()]
        lines += (
            [str(self.best(agreement)) for agreement in self.agreements] if self._eligible.all(axis=1).any() else []
        )
        return "\n".join(lines)

    @cached_property
    def _averages(self) -> FloatArray:
        """Mean over ordered pairs of different studies, (n_configurations, n_agreements, n_resamples)."""
        off = ~np.eye(len(self.names), dtype=bool)
        return np.asarray(self.distribution[..., off].mean(axis=-1))

    @cached_property
    def _scores(self) -> FloatArray:
        """Mean over pairs of the bootstrap mean, (n_configurations, n_agreements)."""
        off = ~np.eye(len(self.names), dtype=bool)
        with _quiet():
            return np.asarray(np.nanmean(self.distribution[..., off], axis=-2).mean(axis=-1))

    @cached_property
    def _trivial_share(self) -> FloatArray:
        off = ~np.eye(len(self.names), dtype=bool)
        return np.asarray(self.trivial[..., off].mean(axis=(1, 2)))

    @cached_property
    def _eligible(self) -> BoolArray:
        return np.asarray((self._trivial_share <= TRIVIAL_AT_MOST)[:, None] & np.isfinite(self._scores))

    def _agreement(self, agreement: str | None) -> int:
        if agreement is None:
            return 0
        check_choice(agreement, "agreement", self.agreements)
        return self.agreements.index(agreement)

    def _interval(self, values: FloatArray, confidence_level: float) -> tuple[float, float]:
        with _quiet():
            low, high = np.nanquantile(values, _tails(confidence_level))
        return float(low), float(high)

    def _candidate(self, c: int, a: int) -> Candidate:
        low, high = self._interval(self._averages[c, a], CHOICE_LEVEL)
        return Candidate(self.clusterers[c], self.n_clusters[c], float(self._scores[c, a]), low, high)

    def _includes_zero(self, winner: int, other: int, a: int) -> bool:
        low, high = self._interval(self._averages[winner, a] - self._averages[other, a], CHOICE_LEVEL)
        return not (low > 0 or high < 0)


@dataclass(frozen=True, eq=False, repr=False)
class LocalReplicability(Saved):
    """How well the clustering around each point replicates (Algorithm 3).

    A point's score depends only on the pair of its labels under the two functions, so a resample is kept as a small
    table of scores and two labels for every point; distributions are gathered from these when asked for.

    Attributes
    ----------
    train, test : str
        The studies' names.
    samples : tuple of str
        Names of the points.
    labels : ndarray, (n_points,)
        ψ(at; the training study as it is): the clusters that `by_cluster` speaks of.
    estimate : ndarray, (n_points,)
        Local scores for the studies as they are.
    tables : ndarray, (n_resamples, k_train, k_test)
        The score of a point with label i under the training and j under the test function.
    """

    train: str
    test: str
    agreement: str
    clusterer: str
    n_clusters: int | None
    noise: str
    samples: tuple[str, ...]
    labels: Labels
    estimate: FloatArray
    tables: FloatArray
    at_train: IntArray  # (n_resamples, n_points): codes under the training function
    at_test: IntArray  # (n_resamples, n_points): codes under the test function
    test_points_train: IntArray  # (n_resamples, n_test): codes of the test study's own points
    test_points_test: IntArray
    noise_codes: IntArray  # (n_resamples, 2): the code that is noise under either function, −1 for none
    failed: IntArray  # (n_resamples + 1,)
    causes: tuple[str, ...]
    provenance: dict[str, Any]
    _points: FloatArray | None = None

    def __post_init__(self) -> None:
        _freeze(self)

    @property
    def failures(self) -> dict[str, int]:
        """How many resamples have no scores, by cause."""
        return _count_causes(self.failed, self.causes)

    @property
    def distribution(self) -> FloatArray:
        """Local scores of all points in all resamples, (n_resamples, n_points); NaN where there is none."""
        return self._scores_at(slice(None))

    @property
    def mean(self) -> FloatArray:
        """Mean over resamples, (n_points,)."""
        return self._moments[0]

    @property
    def sd(self) -> FloatArray:
        """Standard deviation over resamples (with n − 1), (n_points,)."""
        return self._moments[1]

    def quantile(self, q: float | Sequence[float]) -> FloatArray:
        """Quantiles over resamples, (n_points,) or (n_quantiles, n_points)."""
        check_numbers_between(q, "q", 0, 1)
        n_points = self.at_train.shape[1]
        with _quiet():
            blocks = [
                np.nanquantile(self._scores_at(slice(i, i + POINTS_AT_ONCE)), q, axis=0)
                for i in range(0, n_points, POINTS_AT_ONCE)
            ]
        return np.concatenate(blocks, axis=-1)

    def confidence_interval(self, confidence_level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Percentile interval of every point: (low, high)."""
        low, high = self.quantile(_tails(confidence_level))
        return low, high

    @cached_property
    def cluster_distribution(self) -> FloatArray:
        """Mean over each cluster's points in each resample, (n_resamples, n_clusters)."""
        codes, sizes = np.unique(self.labels, return_inverse=True, return_counts=True)[1:]
        rows = [_mean_by(codes, row, len(sizes)) for row in self._rows()]
        return np.array(rows).reshape(len(self.tables), len(sizes))

    def by_cluster(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """Say which clusters hold: cluster, size, estimate, mean, sd, low, high.

        In each resample the scores of the cluster's points are averaged; mean, standard deviation and interval are
        those of these averages.
        """
        clusters, codes, sizes = np.unique(self.labels, return_inverse=True, return_counts=True)
        with _quiet():
            low, high = np.nanquantile(self.cluster_distribution, _tails(confidence_level), axis=0)
            return pd.DataFrame(
                {
                    "cluster": clusters,
                    "size": sizes,
                    "estimate": _mean_by(codes, self.estimate, len(clusters)),
                    "mean": np.nanmean(self.cluster_distribution, axis=0),
                    "sd": np.nanstd(self.cluster_distribution, axis=0, ddof=1),
                    "low": low,
                    "high": high,
                }
            )

    def co_clustering(self, point: int) -> FloatArray:
        """How often each test point shares a point's cluster, under the training and the test function, (2, n_test).

        Over all original test points, also those not drawn, and all resamples that did not fail (section 4.3).
        """
        check_positive_integer(point, "point", at_least=0)
        if point >= len(self.samples):
            raise ParameterError(f"point must be below {len(self.samples)}, got {point}.")
        sides = [(self.at_train, self.test_points_train), (self.at_test, self.test_points_test)]
        frequencies = []
        for side, (at, test_points) in enumerate(sides):
            own = at[:, [point]]
            together = test_points == own
            if self.noise != "label":  # there, noise shares nothing
                together = together & (own != self.noise_codes[:, [side]])
            with _quiet():
                frequencies.append(np.nanmean(np.where(self._worked[:, None], together, np.nan), axis=0))
        return np.array(frequencies)

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every point: sample, cluster, estimate, mean, sd, low, high."""
        low, high = self.confidence_interval(confidence_level)
        return pd.DataFrame(
            {
                "sample": self.samples,
                "cluster": self.labels,
                "estimate": self.estimate,
                "mean": self.mean,
                "sd": self.sd,
                "low": low,
                "high": high,
            }
        )

    def plot(self, ax: Axes | None = None, *, points: FloatArray | None = None) -> Axes:
        """Draw the points in two dimensions, coloured by their mean score.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        points : ndarray, (n_points, 2), optional
            Where to draw the points; by default the points themselves in two dimensions, else their first two
            principal components. Needed for a result that was read from a file.
        """
        from clustrep import plots

        return plots.local_map(self, self._points if points is None else points, ax)

    def __repr__(self) -> str:
        k = "" if self.n_clusters is None else f", k = {self.n_clusters}"
        lines = [
            f"Local replicability of {self.clusterer}{k}, trained on {self.train}, tested on {self.test}: "
            f"{self.agreement.upper()}, {plural(len(self.tables), 'resample')}, seed {self.provenance['seed']}",
            self.by_cluster().round(3).to_string(index=False),
        ]
        lines += [f"Failed: {plural(count, 'resample')}: {cause}" for cause, count in self.failures.items()]
        return "\n".join(lines)

    @property
    def _worked(self) -> BoolArray:
        return np.asarray(self.failed[1:] == 0)

    def _scores_at(self, points: slice) -> FloatArray:
        resamples = np.arange(len(self.tables))[:, None]
        return np.asarray(self.tables[resamples, self.at_train[:, points], self.at_test[:, points]])

    def _rows(self) -> Iterator[FloatArray]:
        for table, i, j in zip(self.tables, self.at_train, self.at_test, strict=True):
            yield table[i, j]

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation, without holding the distribution."""
        n_points = self.at_train.shape[1]
        count, total, squares = np.zeros(n_points), np.zeros(n_points), np.zeros(n_points)
        with _quiet():
            for row in self._rows():
                count += ~np.isnan(row)
                total += np.nan_to_num(row)
            mean = np.where(count > 0, total / count, np.nan)
            for row in self._rows():
                squares += np.nan_to_num((row - mean) ** 2)
            sd = np.where(count > 1, np.sqrt(squares / (count - 1)), np.nan)
        return read_only(mean), read_only(sd)


# ---------------------------------------------------------------------------------------------------------------------


def number_causes(causes: NDArray[np.object_]) -> tuple[IntArray, tuple[str, ...]]:
    """Number the causes of failure, from 1 in the order of their appearance; 0 is no failure."""
    names = tuple(dict.fromkeys(cause for cause in causes.ravel() if cause))
    numbers = {"": 0, **{cause: i for i, cause in enumerate(names, 1)}}
    return np.vectorize(numbers.__getitem__, otypes=[np.int64])(causes), names


def report_failures(failures: dict[str, int], n_scores: int, what: str, *, no_resample_left: bool) -> None:
    """Say once, grouped by cause, what could not be scored; raise where no resample could."""
    if not failures:
        return
    n_failed = sum(failures.values())
    causes = "; ".join(f"{cause} ({count:,})" for cause, count in failures.items())
    if no_resample_left:
        raise AllReplicatesFailed(f"Not one resample could be scored; {plural(n_failed, what)} failed: {causes}.")
    warn(
        f"{plural(n_failed, what)} of {n_scores:,} failed and {'is' if n_failed == 1 else 'are'} left out: {causes}.",
        ReplicateWarning,
    )


def _count_causes(failed: IntArray, causes: Sequence[str]) -> dict[str, int]:
    counts = Counter(failed[failed > 0].tolist())
    return {cause: counts[i] for i, cause in enumerate(causes, 1) if counts[i]}


def _mean_by(codes: IntArray, values: FloatArray, n_groups: int) -> FloatArray:
    """Mean of the values in each group, NaN left out."""
    known = ~np.isnan(values)
    sums = np.bincount(codes[known], values[known], minlength=n_groups)
    counts = np.bincount(codes[known], minlength=n_groups)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _tails(confidence_level: float) -> list[float]:
    check_open_fraction(confidence_level, "confidence_level")
    return [(1 - confidence_level) / 2, (1 + confidence_level) / 2]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _freeze(result: Any) -> None:
    for name, value in vars(result).items():
        if isinstance(value, np.ndarray):
            object.__setattr__(result, name, read_only(value))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence NumPy's warnings about empty slices: a score without any replicate is NaN, and said elsewhere."""
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        yield
