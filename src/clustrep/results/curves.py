"""One number for each k and replicate: prediction strength, instability, relative validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from clustrep.checks import check_fraction, freeze
from clustrep.errors import ParameterError
from clustrep.provenance import Provenance
from clustrep.results.base import Failing, Resampled
from clustrep.saved import Saved
from clustrep.text import plural
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Tibshirani & Walther (2005): "above 0.8 to 0.9".
THRESHOLDS = (0.8, 0.9)


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Resampled, Failing, Saved):
    """One number for each number of clusters, in every replicate.

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    n_clusters : tuple of int or None
        The numbers of clusters; None where the clusterer finds it by itself.
    distribution : ndarray, (n_replicates, number of k)
        NaN where a replicate failed.
    failed : ndarray of int, (n_replicates, number of k)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.
    """

    title: ClassVar[str]
    replicate: ClassVar[str] = "resample"
    higher_is_better: ClassVar[bool]

    clusterer: str
    n_clusters: tuple[int | None, ...]
    distribution: FloatArray
    failed: IntArray  # (n_replicates, number of k): which cause, 0 for none
    causes: tuple[str, ...]
    provenance: Provenance

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def best_n_clusters(self) -> int | None:
        """The k ≥ 2 with the best mean, the smallest of several; None without any number of clusters."""
        means = {k: mean for k, mean in zip(self.n_clusters, self.mean, strict=True) if k is not None and k > 1}
        known = {k: mean for k, mean in means.items() if np.isfinite(mean)}
        if not known:
            return None
        best = (max if self.higher_is_better else min)(known.values())
        return min(k for k, mean in known.items() if mean == best)

    def to_frame(self, confidence_level: float = 0.95) -> pd.DataFrame:
        """One row for every k: k, mean, sd, low, high."""
        low, high = self.confidence_interval(confidence_level)
        return pd.DataFrame(
            {
                "k": pd.array(list(self.n_clusters), dtype="Int64"),
                "mean": self.mean,
                "sd": self.sd,
                "low": low,
                "high": high,
            }
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the mean against k, with the interval over replicates as a band."""
        from clustrep.figures.one_study import CurveOverK

        return CurveOverK.of(self).draw(ax)

    def __repr__(self) -> str:
        lines = [
            f"{self.title} of {self.clusterer}: {plural(len(self.distribution), self.replicate)}, "
            f"seed {self.provenance['seed']}",
            self.to_frame().round(3).to_string(index=False),
            *self._conclusions(),
        ]
        lines += self.failures.lines("value")
        return "\n".join(lines)

    def _conclusions(self) -> list[str]:
        best = self.best_n_clusters
        word = "Highest" if self.higher_is_better else "Lowest"
        return [f"{word} at k = {best}"] if best is not None and len(self.n_clusters) > 1 else []


@dataclass(frozen=True, eq=False, repr=False)
class PredictionStrength(Curve):
    """How well one half of a study predicts which samples of the other half belong together (section 2.3.1).

    With A_1, …, A_k the clusters of the test half, and ψ the function learned on the other half:

        ps(k) = min_c #{pairs in A_c that ψ puts together} / #{pairs in A_c}

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    n_clusters : tuple of int or None
        The numbers of clusters; None where the clusterer finds it by itself.
    distribution : ndarray, (n_splits, number of k)
        The prediction strength, equation (4): the smallest over clusters; of both directions the mean.
    failed : ndarray of int, (n_splits, number of k)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.
    by_direction : ndarray, (n_splits, n_directions, number of k)
        Before the mean over directions: trained on the first part, then on the second.
    cluster_strengths, cluster_sizes : ndarray, (n_splits, n_directions, number of k, most clusters)
        What the smallest is taken of: for each cluster of the test part, the share of its pairs that are together under
        the function learned on the other part; NaN for a cluster of one. Clusters of different splits are different.

    Notes
    -----
    The minimum makes it pessimistic for many clusters and for small ones; ps(1) = 1 always.

    References
    ----------
    .. [1] Tibshirani, R. and Walther, G. (2005). Cluster validation by prediction strength. Journal of Computational
       and Graphical Statistics 14(3), 511-528.

    See Also
    --------
    prediction_strength : The function that returns it.
    """

    title = "Prediction strength"
    replicate = "split"
    higher_is_better = True

    by_direction: FloatArray
    cluster_strengths: FloatArray
    cluster_sizes: FloatArray

    @property
    def strength(self) -> FloatArray:
        """Mean over splits, (number of k,)."""
        return self.mean

    @property
    def per_cluster(self) -> dict[int | None, FloatArray]:
        """For every k, the strength of every test cluster, (n_splits, n_directions, k)."""
        strengths = {}
        for i, k in enumerate(self.n_clusters):
            sizes = self.cluster_sizes[:, :, i]
            n_labels = int(np.max(np.nonzero(sizes.any(axis=(0, 1)))[0], initial=0)) + 1
            strengths[k] = self.cluster_strengths[:, :, i, :n_labels]
        return strengths

    def recommended(self, threshold: float = THRESHOLDS[0]) -> int:
        """Return the largest k whose strength is above the threshold, as Tibshirani and Walther advise; else 1."""
        check_fraction(threshold, "threshold")
        if self.n_clusters == (None,):
            raise ParameterError(
                "There is no number of clusters to recommend: pass n_clusters.", parameter="n_clusters"
            )
        strengths = zip(self.n_clusters, self.strength, strict=True)
        above = [k for k, strength in strengths if k is not None and strength > threshold]
        return max(above, default=1)

    @property
    def n_singletons(self) -> IntArray:
        """How many test clusters of one sample were omitted from the minimum, (number of k,)."""
        return np.asarray((self.cluster_sizes == 1).sum(axis=(0, 1, 3)))

    def _conclusions(self) -> list[str]:
        lines = super()._conclusions()
        if lines:
            rule = [self.recommended(threshold) for threshold in THRESHOLDS]
            said = "1, no clusters" if rule == [1, 1] else f"{rule[0]} (above 0.8), {rule[1]} (above 0.9)"
            lines.append(f"Tibshirani and Walther's rule, the largest k with enough strength: {said}")
        if self.n_singletons.any():
            lines.append(f"Left out: {plural(int(self.n_singletons.sum()), 'test cluster')} of one sample")
        return lines


@dataclass(frozen=True, eq=False, repr=False)
class BootstrapInstability(Curve):
    """How often two bootstrap samples disagree about a pair of samples (Fang and Wang 2012).

    With ψ and ψ′ learned on two independent bootstrap samples of the same study:

        instability = #{(i, j) : [ψ(x_i) = ψ(x_j)] ≠ [ψ′(x_i) = ψ′(x_j)]} / n²

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    n_clusters : tuple of int or None
        The numbers of clusters; None where the clusterer finds it by itself.
    distribution : ndarray, (n_resamples, number of k)
        The share of ordered pairs of samples that one function puts together and the other apart.
    failed : ndarray of int, (n_resamples, number of k)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.
    one_sided : bool
        Only pairs together under the first function, as R's fpc counts.

    Notes
    -----
    It tends to 0 with many clusters, because few pairs are together at all.

    References
    ----------
    .. [1] Fang, Y. and Wang, J. (2012). Selection of the number of clusters via the bootstrap method. Computational
       Statistics & Data Analysis 56(3), 468-477.

    See Also
    --------
    bootstrap_instability : The function that returns it.
    """

    title = "Bootstrap instability"
    higher_is_better = False

    one_sided: bool

    @property
    def instability(self) -> FloatArray:
        """Mean over resamples, (number of k,)."""
        return self.mean


@dataclass(frozen=True, eq=False, repr=False)
class RelativeValidation(Curve):
    """Disagreement of transferred labels with those of the half itself, relative to random labels (Lange et al. 2004).

    With d the smallest share, over all renamings of the labels, of samples of one half whose transferred label differs
    from their own, and d_random the same between random labels: d / mean of d_random.

    Attributes
    ----------
    clusterer : str
        The clusterer's name.
    n_clusters : tuple of int or None
        The numbers of clusters; None where the clusterer finds it by itself.
    distribution : ndarray, (n_splits, number of k)
        The mean of both directions, divided by `random`.
    failed : ndarray of int, (n_splits, number of k)
        The cause of every failure: 0 for none, i for `causes[i - 1]`.
    causes : tuple of str
        Why values failed; `failures` counts them.
    provenance : Provenance
        Seed, parameters, clusterers, studies and versions.
    random : ndarray, (number of k,)
        The mean over splits of the disagreement between random labels.

    References
    ----------
    .. [1] Lange, T., Roth, V., Braun, M. L. and Buhmann, J. M. (2004). Stability-based validation of clustering
       solutions. Neural Computation 16(6), 1299-1323.

    See Also
    --------
    relative_validation : The function that returns it.
    """

    title = "Relative validation"
    replicate = "split"
    higher_is_better = False

    random: FloatArray
