"""The result of Algorithms 1 and 2: the study × study matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from clustrep.agreement.agreements import shown
from clustrep.checks import check_choice, check_integer, check_known, read_only
from clustrep.errors import ParameterError
from clustrep.files.saved import Printed, Saved
from clustrep.plots.canvas import COLOURS, canvas, height_for, largest, legend_above, literal, names_below, smallest
from clustrep.provenance import Provenance
from clustrep.statistics import estimate_is_far, two_modes
from clustrep.summaries import TRIVIAL_AT_MOST, Failing, Resampled, label, quiet
from clustrep.text import listing, notebook_html, plural
from clustrep.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.fitting.function import ClusteringFunction
    from clustrep.fitting.setting import RunOrigin

# A variance between scores that rounding alone may have.
ROUNDING = 1e-20


class Tabled(Saved):
    """A result whose text is a table between a heading and notes."""

    def _shown(self) -> tuple[str, pd.DataFrame, list[str]]:
        """Return the heading, the table and the notes."""
        raise NotImplementedError

    def __repr__(self) -> str:
        head, table, notes = self._shown()
        return "\n".join([head, table.round(3).to_string(index=False), *notes])

    def _repr_html_(self) -> str:
        head, table, notes = self._shown()
        return notebook_html([head, *notes], table)


@dataclass(frozen=True, eq=False)
class TrainingAverage(Resampled, Printed):
    """Algorithm 2: the average over all test studies of one training study's scores.

    With r(s, t) the score of training study s on test study t, r(s) = Σ_{t ≠ s} r(s, t) / (S − 1): once for the studies
    as they are, and once for every resample. Mean, standard deviation and interval are those of r⁽ᵇ⁾(s) over resamples.

    Attributes
    ----------
    name : str
        The training study.
    estimate : float
        The average of the observed scores.
    distribution : ndarray, (n_resamples,)
        The average in every resample; NaN where a score failed.

    See Also
    --------
    Replicability.for_training_on : The method that returns it.
    """

    name: str
    estimate: float
    distribution: FloatArray  # (n_resamples,)

    def __repr__(self) -> str:
        low, high = self.confidence_interval()
        return f"Trained on {self.name}: {self.estimate:.2f}, mean {self.mean:.2f} [{low:.2f}, {high:.2f}]"


@dataclass(frozen=True, eq=False, repr=False)
class Replicability(Resampled, Failing, Tabled):
    """How well each study's clustering predicts every other's: axes are always (train, test).

    With ψ_s the clustering function learned on study s, and r the agreement of two partitions of the same points:

        R̂(s, t)    = r(ψ_s(X_t), ψ_t(X_t))
        R̂⁽ᵇ⁾(s, t) = the same with every study replaced by its draw X⁽ᵇ⁾ in resample b

    On the diagonal, ψ of a second, independent draw of the study is tested on the first.

    Attributes
    ----------
    names : tuple of str
        The studies.
    agreement : str
        What the scores measure.
    clusterer : str
        The clusterer's name.
    n_clusters : int or None
        The number of clusters asked for; None where the clusterer finds it by itself.
    estimate : ndarray, (S, S)
        R̂: the observed scores. NaN where that fit failed.
    distribution : ndarray, (n_resamples, S, S)
        R̂⁽ᵇ⁾. NaN where a replicate failed, and on the diagonal where that was not asked for.
    trivial : ndarray of bool, (n_resamples, S, S)
        Resamples with a single-cluster score, which is not informative.
    clusters_found : ndarray of int, (n_resamples, S)
        Number of clusters in each study's draw, noise apart; −1 where the fit failed.
    failed : ndarray of int, (n_resamples + 1, S, S)
        The cause of every failure: 0 for none, i for `causes[i - 1]`; first the observed scores.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.

    Notes
    -----
    `mean`, `sd`, `quantile` and `confidence_interval` are taken over resamples, pair by pair:

        mean(s, t) = Σ_b R̂⁽ᵇ⁾(s, t) / n,    sd(s, t) = √( Σ_b (R̂⁽ᵇ⁾(s, t) − mean(s, t))² / (n − 1) )

    over the n resamples that did not fail, and the interval is the percentile interval. The mean is not an estimate of
    R̂: a resample holds fewer samples (63 % of those of a study, 80 % with `Subsample(0.8)`), so that R̂ may lie outside
    the interval.

    A high score shows that a cut repeats, not that there are clusters: see `null_reference`.

    References
    ----------
    .. [1] Masoero, L., Thomas, E., Parmigiani, G., Tyekucheva, S. and Trippa, L. (2023). Cross-study replicability in
       cluster analysis. Statistical Science 38(2), 303-316, Algorithms 1 and 2.

    See Also
    --------
    replicability : The function that returns it.
    Comparison : The same for several clusterers and numbers of clusters.
    LocalReplicability : The same point by point, and for every cluster.
    Findings : Which clusters each study has, and which study is an outlier.
    """

    names: tuple[str, ...]
    agreement: str
    clusterer: str
    n_clusters: int | None
    estimate: FloatArray
    distribution: FloatArray
    trivial: BoolArray
    clusters_found: IntArray
    failed: IntArray  # (n_resamples + 1, S, S): 0, or 1 + position in causes; first the observed scores
    causes: tuple[str, ...]
    provenance: Provenance
    _origin: RunOrigin | None = None

    def for_training_on(self, name: str) -> TrainingAverage:
        """Average over the test studies, for one training study (Algorithm 2).

        Parameters
        ----------
        name : str
            The training study.

        Returns
        -------
        TrainingAverage
            Σ_{t ≠ s} R̂(s, t) / (S − 1), and the same in every resample.
        """
        check_known(name, "study", self.names, parameter="name")
        t = self.names.index(name)
        others = [s for s in range(len(self.names)) if s != t]
        return TrainingAverage(
            name, float(self.estimate[t, others].mean()), read_only(self.distribution[:, t, others].mean(axis=1))
        )

    @property
    def heterogeneity(self) -> float:
        """I²: the share of the variance between pairs of studies that resampling does not explain, 0 to 1.

        max(0, 1 − W / V): V is the variance between pairs of their means over resamples, W the mean over resamples of
        the variance between pairs of the deviations from these means, times B / (B − 1). NaN with one resample, or
        with fewer than two pairs.
        """
        scores = self.distribution[:, ~np.eye(len(self.names), dtype=bool)]  # (n_resamples, n_pairs)
        B = len(scores)
        if B < 2 or scores.shape[1] < 2:
            return float("nan")
        with quiet():
            means = np.nanmean(scores, axis=0)
            between = float(np.nanvar(means, ddof=1))
            # What pairs share in a resample, because they share studies, is no difference between them.
            resampling = float(np.nanmean(np.nanvar(scores - means, axis=1, ddof=1))) * B / (B - 1)
        return max(0.0, 1 - resampling / between) if between > ROUNDING else 0.0

    @property
    def cautions(self) -> list[str]:
        """Where intervals would mislead, in sentences: scores with two modes, or far from the observed one."""
        bimodal: list[str] = []
        far: list[tuple[str, float, float]] = []
        for s, t in zip(*np.nonzero(~np.eye(len(self.names), dtype=bool)), strict=True):
            pair, values = f"{self.names[s]} → {self.names[t]}", self.distribution[:, s, t]
            modes, estimate = two_modes(values), float(self.estimate[s, t])
            if modes is not None:
                bimodal.append(f"{pair} ({modes.low:z.2f} and {modes.high:z.2f})")
            if estimate_is_far(estimate, values):
                far.append((pair, estimate, float(np.nanmean(values))))
        sentences = []
        if bimodal:
            sentences.append(
                f"Scores have two modes: {listing(bimodal, 2)}. The clusterer may alternate between two solutions: "
                "look at the distributions, not at the intervals."
            )
        if far:
            pair, estimate, mean = max(far, key=lambda item: abs(item[1] - item[2]))
            differ = "differs" if len(far) == 2 else "differ"
            others = "" if len(far) == 1 else f"; {plural(len(far) - 1, 'more pair')} {differ}, too"
            sentences.append(
                f"The observed score of {pair}, {estimate:z.2f}, is far from the mean over resamples, "
                f"{mean:z.2f}{others}."
            )
        return sentences

    def clustering_function(self, name: str, resample: int | None = None) -> ClusteringFunction:
        """Return ψ learned on a study, or on its draw in a resample: fitted again from its seed.

        Parameters
        ----------
        name : str
            The study.
        resample : int, optional
            Which resample, from 0; by default the study without resampling.

        Returns
        -------
        ClusteringFunction

        Raises
        ------
        ParameterError
            For a result that was read from a file, which holds no data, and where that fit failed.
        """
        check_known(name, "study", self.names, parameter="name")
        if self._origin is None:
            raise ParameterError(
                "This result was read from a file, which holds scores but no data: run replicability again with "
                f"rng={self.provenance['seed']} to get its clustering functions.",
                parameter=None,
            )
        if resample is not None:
            check_integer(resample, "resample", at_least=0)
            if resample >= len(self.distribution):
                raise ParameterError(
                    f"resample must be below {len(self.distribution)}, got {resample}.", parameter="resample"
                )
        return self._origin.refit(self.names.index(name), resample)

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every pair of studies: train, test, agreement, score, mean, sd, low, high, trivial, failed.

        `score` is R̂; `trivial` and `failed` count resamples.
        """
        S = len(self.names)
        train, test = np.divmod(np.arange(S * S), S)
        frame = pd.DataFrame(
            {
                "train": np.array(self.names, dtype=object)[train],
                "test": np.array(self.names, dtype=object)[test],
                "agreement": self.agreement,
                "score": self.estimate.ravel(),
                **self.columns(confidence_level),
                "trivial": self.trivial.sum(axis=0).ravel(),
                "failed": (self.failed[1:] > 0).sum(axis=0).ravel(),
            }
        )
        asked = np.full(S * S, True) if self.provenance["diagonal"] else train != test
        return frame.loc[asked].reset_index(drop=True)

    def plot(self, ax: Axes | None = None, *, kind: str = "matrix") -> Axes:
        """Draw the study × study matrix of means; or kind="forest", every pair with its interval and resamples."""
        from clustrep.algorithms.score_plots import draw_forest, draw_matrix

        check_choice(kind, "kind", ("matrix", "forest"))
        return draw_matrix(self, ax) if kind == "matrix" else draw_forest(self, ax)

    def _shown(self) -> tuple[str, pd.DataFrame, list[str]]:
        """Return what it is, the matrix with intervals in its cells, and notes."""
        low, high = self.confidence_interval()
        suspect = self.trivial.mean(axis=0) > TRIVIAL_AT_MOST
        cells = [
            [_cell(*values) for values in zip(*row, strict=True)]
            for row in zip(self.mean, low, high, suspect, strict=True)
        ]
        table = pd.DataFrame(cells, index=pd.Index(self.names, name="train \\ test"), columns=list(self.names))
        head = (
            f"Replicability of {label(self.clusterer, self.n_clusters)}: {shown(self.agreement)}, "
            f"mean and 95 % interval of {plural(len(self.distribution), 'resample')}, seed {self.provenance['seed']}"
        )
        share = f"{100 * TRIVIAL_AT_MOST:.0f} %"
        note = f"* single-cluster scores (one side has a single cluster) in more than {share} of the resamples"
        return head, table.reset_index(), [*([note] if suspect.any() else []), *self.failures.lines("score")]


def _cell(mean: float, low: float, high: float, suspect: bool) -> str:
    return "" if np.isnan(mean) else f"{mean:.2f} [{low:.2f}, {high:.2f}]{'*' if suspect else ''}"


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOneStudyOut(Resampled, Failing, Saved):
    """How well all other studies together predict each study's clustering.

    With X_{−t} all studies but t, pooled, R̂(t) = r(ψ(X_t; X_{−t}), ψ(X_t; X_t)), the agreement of the two partitions of
    study t; R̂⁽ᵇ⁾(t) is the same for the draws of resample b.

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    n_clusters : int or None
        The number of clusters asked for; None where the clusterer finds it by itself.
    agreement : str
        What the scores measure.
    names : tuple of str
        The studies that were tested on.
    estimate : ndarray, (S,)
        R̂, the score of the studies without resampling.
    distribution : ndarray, (n_resamples, S)
        R̂⁽ᵇ⁾; NaN where a replicate failed.
    failed : ndarray of int, (n_resamples + 1, S)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.

    Notes
    -----
    Studies that differ in location or scale form clusters of their own when they are pooled: scale them first
    (`Studies.scaled`).

    See Also
    --------
    leave_one_study_out : The function that returns it.
    Replicability : One training study at a time.
    """

    clusterer: str
    n_clusters: int | None
    agreement: str
    names: tuple[str, ...]
    estimate: FloatArray
    distribution: FloatArray
    failed: IntArray
    causes: tuple[str, ...]
    provenance: Provenance

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every study: test, agreement, score, mean, sd, low, high."""
        scores = {"test": self.names, "agreement": self.agreement, "score": self.estimate}
        return pd.DataFrame({**scores, **self.columns(confidence_level)})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw every study's score with its interval."""
        low, high = self.confidence_interval()
        names = [literal(name, 24) for name in self.names]
        with canvas(ax, height=height_for(names)) as ax:
            places = np.arange(len(names))
            ax.vlines(places, low, high, color=COLOURS[0], lw=2)
            ax.plot(places, self.mean, "o", color=COLOURS[0], label="mean over resamples, 95 %")
            ax.plot(places, self.estimate, "_", color="black", markersize=12, label="R̂")
            names_below(ax, places, names)
            ax.set_xlim(-0.6, len(places) - 0.4)
            ax.set_xlabel("tested on, trained on all others")
            ax.set_ylabel(literal(shown(self.agreement)))
            ax.set_ylim(smallest(low) - 0.03, max(largest(high), largest(self.estimate)) + 0.03)
            legend_above(ax)
            return ax

    def __repr__(self) -> str:
        lines = [
            f"Trained on all other studies: {label(self.clusterer, self.n_clusters)}, {shown(self.agreement)}, "
            f"{plural(len(self.distribution), 'resample')}, seed {self.provenance['seed']}",
            self.to_frame().drop(columns="agreement").round(3).to_string(index=False),
            *self.failures.lines("score"),
        ]
        return "\n".join(lines)
