"""Findings: which clusters there are, in which studies, and how sure that is; everything else is a view of it."""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.checks import check_choice, check_known, check_refer, freeze
from clustrep.errors import ParameterError
from clustrep.files.saved import Saved
from clustrep.summaries import FALSE_FINDING
from clustrep.text import notebook_html
from clustrep.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from clustrep.findings.annotations import Annotations
    from clustrep.findings.assign import Reference

SEPARATED, CONTINUOUS, NO_EVIDENCE, INCONCLUSIVE = (
    "separated",
    "continuous structure",
    "no evidence of clusters",
    "inconclusive",
)
VERDICTS = (SEPARATED, CONTINUOUS, NO_EVIDENCE, INCONCLUSIVE)
FOUND, NOT_FOUND, MERGED, SPLIT, UNDETERMINED = "found", "not found", "merged", "split", "undetermined"
STATUSES = (FOUND, NOT_FOUND, MERGED, SPLIT, UNDETERMINED)
# One sign for each, for tables of clusters × studies.
SIGNS = {FOUND: "✓", NOT_FOUND: "✗", SPLIT: "⋏", MERGED: "⋎", UNDETERMINED: "?"}
# With two studies, neither can be called the outlier.
FEWEST_FOR_OUTLIER = 3
# The label of samples without a cluster: their study cannot be matched to the others, or no cluster is established.
UNMATCHED = "?"


def letters(n: int) -> list[str]:
    """Return names of clusters: A to Z, then AA, AB and so on."""
    alphabet = string.ascii_uppercase

    def names() -> Iterator[str]:
        yield from alphabet
        yield from ("".join(pair) for pair in product(alphabet, repeat=2))

    return [name for name, _ in zip(names(), range(n), strict=False)]


@dataclass(frozen=True, eq=False, repr=False)
class Findings(Saved):
    """Clusters of all studies, matched across them: one table of cluster × study.

    Attributes
    ----------
    names : tuple of str
        The studies.
    samples : ndarray of str, (n_samples,)
        The names of all samples, study by study.
    sizes : ndarray of int, (n_studies,)
        Numbers of samples.
    verdict : {"separated", "continuous structure", "no evidence of clusters", "inconclusive"}
        What the table says.
    reason : str
        Why the verdict is inconclusive, and the remedy; empty for the others.
    pvalue : float
        Of the verdict's own claim: of the density valleys where clusters are separated, else of the best score under
        the null model; NaN where nothing was tested.
    letters : tuple of str
        The clusters, A, B, C…, by their number of samples.
    codes : ndarray of int, (n_samples,)
        The cluster of every sample, as a position in `letters`; −1 where its study cannot be matched, and in all
        studies where the verdict is inconclusive.
    status : ndarray of str, (n_clusters, n_studies)
        *found*, *not found*, *merged*, *split* or *undetermined*. An inconclusive verdict establishes no cluster: the
        only entry of every study is *undetermined*.
    valley_depth, valley_p : ndarray, (n_clusters, n_studies)
        How much lower the density is halfway to the nearest cluster of the same study, and the p-value of that valley.
        The windows lie where the other studies have the two clusters, so that a study's samples are tested on a valley
        that others found; where no other study has a cluster, its own centre is taken, and the p-value is too small for
        a test. The verdict's p-value and `own_pvalue` are always of samples that did not define the clusters.
    replicability, low, high : ndarray, (n_clusters, n_studies)
        Local replicability of the study's samples in that cluster, averaged over the other studies, and its 95 %
        interval; of studies that have all clusters, by a partition into as many, else NaN.
    shift, scale : ndarray, (n_studies,)
        How far the study as a whole lies from the others, in within-cluster standard deviations, and how much wider it
        is; NaN where that cannot be estimated.
    divisor : ndarray, (n_features,)
        What every feature is divided by, so that all have one scale; 1 where they stay as given.
    offset : ndarray, (n_studies, n_features)
        The shift by feature: ``(X / divisor - offset) / scale`` is aligned.
    own_clusters : ndarray of int, (n_studies,)
        How many clusters each study shows by itself.
    own_pvalue : ndarray, (n_studies,)
        The p-value of the density valleys within each study by itself, adjusted for the numbers of clusters that were
        tried.
    mixing : ndarray, (n_studies,)
        Batch mixing of the aligned samples: effective number of studies among the nearest neighbours (iLISI), from 0,
        one study alone, to 1, as many as among samples drawn at random.
    alignment : str
        What was done to make the studies comparable, as one sentence.
    detectable : float
        The separation, in within-cluster standard deviations, that two equal clusters need to be found in 80 % of
        studies of these sizes; NaN where it was not simulated.
    feature_names : tuple of str
    effect, effect_error : ndarray, (n_clusters, n_studies, n_features)
        How much higher every feature is in a cluster than in the others of the same study, in within-cluster standard
        deviations, and its standard error; the other clusters count alike. NaN where the study has no two clusters.
    higher, lower : ndarray, (n_clusters, n_studies, n_features)
        One-sided p-values of that difference, between samples that were assigned by the other studies and without the
        feature itself; NaN where no other study has the cluster.
    above_zero : ndarray, (n_clusters, n_features)
        Of counts and log counts: the share of every cluster's samples above zero, mean over studies; else empty.
    reference : Reference or None
        What new samples are compared with, by `assign`; None without clusters.

    See Also
    --------
    analyse : The function that computes it.
    """

    names: tuple[str, ...]
    samples: NDArray[np.str_]
    sizes: IntArray
    verdict: str
    reason: str
    pvalue: float
    letters: tuple[str, ...]
    codes: IntArray
    status: NDArray[np.str_]
    valley_depth: FloatArray
    valley_p: FloatArray
    replicability: FloatArray
    low: FloatArray
    high: FloatArray
    shift: FloatArray
    scale: FloatArray
    divisor: FloatArray
    offset: FloatArray
    own_clusters: IntArray
    own_pvalue: FloatArray
    mixing: FloatArray
    alignment: str
    detectable: float
    feature_names: tuple[str, ...] = ()
    effect: FloatArray = field(default_factory=lambda: np.empty((0, 0, 0)))
    effect_error: FloatArray = field(default_factory=lambda: np.empty((0, 0, 0)))
    higher: FloatArray = field(default_factory=lambda: np.empty((0, 0, 0)))
    lower: FloatArray = field(default_factory=lambda: np.empty((0, 0, 0)))
    above_zero: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    reference: Reference | None = None

    def __post_init__(self) -> None:
        check_refer(self.codes, len(self.letters))
        freeze(self)

    # -----------------------------------------------------------------------------------------------------------------
    # views

    @property
    def n_clusters(self) -> int:
        """The number of clusters of all studies together."""
        return len(self.letters)

    @property
    def counts(self) -> IntArray:
        """Samples of every cluster in every study, (n_clusters, n_studies)."""
        study = np.repeat(np.arange(len(self.names)), self.sizes)
        counts = np.zeros((self.n_clusters, len(self.names)), dtype=np.int64)
        known = self.codes >= 0
        np.add.at(counts, (self.codes[known], study[known]), 1)
        return counts

    @property
    def here(self) -> BoolArray:
        """Whether a study has a cluster, (n_clusters, n_studies): it is found there, merged or split."""
        return np.isin(self.status, (FOUND, MERGED, SPLIT))

    @property
    def labels(self) -> dict[str, NDArray[np.str_]]:
        """The cluster of every sample, by study: arrays of letters; "?" where a sample has none."""
        letter = np.array([*self.letters, UNMATCHED])[self.codes]
        return dict(zip(self.names, np.split(letter, np.cumsum(self.sizes)[:-1]), strict=True))

    def labels_of(self, study: str) -> NDArray[np.str_]:
        """Return the cluster of every sample of one study."""
        check_known(study, "study", self.names, parameter="study")
        return self.labels[study]

    def table(self) -> pd.DataFrame:
        """One row for every cluster and study.

        Columns: cluster, study, status, n, share, shift, valley_depth, valley_p, replicability, low, high.
        """
        rows = []
        counts = self.counts
        for c, letter in enumerate(self.letters):
            for s, study in enumerate(self.names):
                rows.append(
                    {
                        "cluster": letter,
                        "study": study,
                        "status": str(self.status[c, s]),
                        "n": int(counts[c, s]),
                        "share": float(counts[c, s] / self.sizes[s]),
                        "shift": float(self.shift[s]),
                        "valley_depth": float(self.valley_depth[c, s]),
                        "valley_p": float(self.valley_p[c, s]),
                        "replicability": float(self.replicability[c, s]),
                        "low": float(self.low[c, s]),
                        "high": float(self.high[c, s]),
                    }
                )
        return pd.DataFrame(rows)

    def clusters(self) -> pd.DataFrame:
        """One row for every cluster.

        Columns: cluster, n (samples), found (studies in which it is found, merged or split), of (studies that could
        show it: all but the undetermined), confirmed (number of studies, at least, with a density valley beside it:
        partial conjunction at 5 %), pvalue (of a density valley in at least two of the studies in which it has a
        neighbour, or in the only one), replicability (mean over the studies in which it is found).
        """
        rows = []
        for c, letter in enumerate(self.letters):
            there = self.here[c]
            found, tested = self.replicability[c, there], self.valley_p[c, there & np.isfinite(self.valley_p[c])]
            rows.append(
                {
                    "cluster": letter,
                    "n": int(self.counts[c].sum()),
                    "found": int(there.sum()),
                    "of": int((self.status[c] != UNDETERMINED).sum()),
                    "confirmed": sum(partial_conjunction(tested, u + 1) <= FALSE_FINDING for u in range(len(tested))),
                    "pvalue": partial_conjunction(tested, min(2, len(tested))),
                    "replicability": float(np.nanmean(found)) if np.isfinite(found).any() else np.nan,
                }
            )
        return pd.DataFrame(rows)

    def studies(self) -> pd.DataFrame:
        """One row for every study.

        Columns: study, n, clusters (found in it), own_clusters (that it shows by itself), own_pvalue, shift, scale,
        mixing, outlier, why.
        """
        here = self.here.sum(axis=0)
        outlier = [self._why_outlier(s) for s in range(len(self.names))]
        return pd.DataFrame(
            {
                "study": self.names,
                "n": self.sizes,
                "clusters": here,
                "own_clusters": self.own_clusters,
                "own_pvalue": self.own_pvalue,
                "shift": self.shift,
                "scale": self.scale,
                "mixing": self.mixing,
                "outlier": [bool(why) for why in outlier],
                "why": outlier,
            }
        )

    def features(self, study: str | None = None) -> pd.DataFrame:
        """One row for every cluster and feature, the clearest first: what distinguishes the cluster from the others.

        Parameters
        ----------
        study : str, optional
            Differences in this study alone; by default over all studies.

        Returns
        -------
        DataFrame
            Columns: cluster, feature, effect (difference from the mean of the other clusters in within-cluster standard
            deviations, mean over studies), low, high (95 % interval), direction ("higher" or "lower"), same (studies
            with that direction), of (studies in which the cluster has neighbours), pvalue (partial conjunction: differs
            in one direction in two studies at least, each tested with clusters of the others), fdr (Benjamini–Hochberg
            over all clusters and features).

        Notes
        -----
        A cluster differs in the features that define it, even where it is noise that was cut in two. Therefore the
        samples of a study are assigned by the centres of the other studies, without the feature that is tested. Where
        samples cannot be assigned without it, because it alone separates the clusters, the p-value is that of the
        density valley.
        """
        from clustrep.findings.features import feature_table

        if study is not None:
            check_known(study, "study", self.names, parameter="study")
        return feature_table(self, study)

    def assign(self, X: Any, *, confidence_level: float = 0.95, like: str | None = None) -> pd.DataFrame:
        """Say to which cluster new samples belong, or that they belong to none of these.

        Parameters
        ----------
        X : DataFrame, Study or array-like of shape (n_samples, n_features)
            New samples, with the features of the studies; further columns are ignored. One sample is enough.
        confidence_level : float, default=0.95
            The share of samples whose set is to hold their cluster.
        like : str, optional
            The study as which the samples were measured: they are shifted and scaled as that one. By default the shift
            of the samples as a whole is estimated, where two clusters at least agree about it; else there is none.

        Returns
        -------
        DataFrame
            One row for every sample. Columns: cluster (the most probable of the set, or "none of these"), probability
            (among the clusters, by their shares and distances), set (all clusters that the sample may belong to),
            pvalue (share of the studies' samples that lie as far from their cluster). ``attrs`` has the shift, in
            standard deviations within clusters, and the scale.

        Raises
        ------
        DataError
            Where features are missing.

        Notes
        -----
        A conformal set [1]_ holds every cluster from whose centre the sample lies no farther than the studies' own
        samples from theirs, where each study is compared with the centres of the *other* studies. If a new sample
        differs from the studies as they differ from each other, the set holds its cluster with the probability
        `confidence_level`: so one in twenty members is called "none of these". docs/assign.md has simulations.

        References
        ----------
        .. [1] Vovk, V., Gammerman, A. and Shafer, G. (2005). Algorithmic Learning in a Random World. Springer.
        """
        if self.reference is None:
            raise ParameterError(
                f"New samples can be assigned where there are several clusters: the verdict is {self.verdict!r}.",
                parameter="X",
            )
        return self.reference.assign(X, confidence_level=confidence_level, like=like)

    def annotations(self, table: Any, *, survival: tuple[str, str] | None = None) -> Annotations:
        """Compare whatever else is known of the samples with the clusters: known classes, measurements, outcomes.

        Parameters
        ----------
        table : DataFrame, or mapping of study name to DataFrame
            A row for each sample, named by the index or by a column "sample", and a column for each annotation. Where
            studies have samples of the same name, a column "study" names the study. Samples may lack, and values:
            they are unknown.
        survival : (str, str), optional
            The columns of times and of events, 1 or 0, such as ``("months", "died")``; needs lifelines.

        Returns
        -------
        Annotations
            Cramér's V of categories (text, or two values), η² of numbers, and the log-rank test of survival, in every
            study; whether the other studies differ in the same direction; of categories the adjusted Rand index.

        Raises
        ------
        DataError
            Where no annotated sample is one of the studies.

        Notes
        -----
        Annotations took no part in finding the clusters, so that studies test them by themselves: a category by χ², a
        number by Kruskal and Wallis. The direction is that of the other studies: their differences between clusters
        are the weights of a sum over the samples of this study, which is compared with that of permuted samples.
        docs/annotations.md has simulations.
        """
        from clustrep.findings.annotations import annotations_of

        return annotations_of(self, table, survival)

    def _why_outlier(self, s: int) -> str:
        """Say why a study is an outlier: it lacks most clusters that most others have; empty where it is none."""
        if self.verdict != SEPARATED or len(self.names) < FEWEST_FOR_OUTLIER:
            return ""
        others = np.delete(self.here, s, axis=1)
        shared = others.mean(axis=1) > 1 / 2
        lacking = shared & (self.status[:, s] == NOT_FOUND)
        # With a single shared cluster, studies of one cluster each would all be outliers.
        if shared.sum() > 1 and 2 * lacking.sum() > shared.sum():
            return f"lacks {lacking.sum()} of {shared.sum()} clusters that most other studies have"
        return ""

    def plot(self, ax: Axes | None = None, *, kind: str = "table") -> Axes:
        """Draw the table, the density valleys or the features.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        kind : {"table", "valleys", "features", "dots"}, default="table"
            Clusters × studies, shares as bars and statuses as signs; the depth of the valley beside every cluster in
            every study; the clearest features of every cluster, features × clusters × studies; or, of counts, a dot for
            each of these features and clusters, whose size is the share of samples above zero.
        """
        from clustrep.findings.plot import draw_dots, draw_features, draw_findings, draw_valleys

        kinds = {"table": draw_findings, "valleys": draw_valleys, "features": draw_features, "dots": draw_dots}
        check_choice(kind, "kind", kinds)
        return kinds[kind](self, ax)

    def statuses(self) -> pd.DataFrame:
        """Return the status of every cluster, rows, in every study, columns."""
        return self.table().pivot(index="cluster", columns="study", values="status")[list(self.names)]

    def __repr__(self) -> str:
        from clustrep.findings.sentences import sentences_of

        return "\n".join([*sentences_of(self), self.statuses().to_string()])

    def _repr_html_(self) -> str:
        from clustrep.findings.sentences import sentences_of

        return notebook_html(sentences_of(self), self.statuses().reset_index())


def nothing_established(sizes: IntArray) -> dict[str, Any]:
    """Return the fields of findings without an established cluster: *undetermined* in every study, no sample in it."""
    return {**one_cluster(sizes), "codes": np.full(int(sizes.sum()), -1), "status": _statuses(UNDETERMINED, sizes)}


def one_cluster(sizes: IntArray) -> dict[str, Any]:
    """Return the fields of findings with all samples in one cluster, *found* in every study."""
    unknown = ("valley_depth", "valley_p", "replicability", "low", "high")
    return {
        "letters": ("A",),
        "codes": np.zeros(int(sizes.sum()), dtype=np.int64),
        "status": _statuses(FOUND, sizes),
        **{name: np.full((1, len(sizes)), np.nan) for name in unknown},
    }


def _statuses(status: str, sizes: IntArray) -> NDArray[np.str_]:
    return np.full((1, len(sizes)), status, dtype=f"<U{len(UNDETERMINED)}")


def partial_conjunction(pvalues: FloatArray, u: int) -> float:
    """Return the p-value of "at least u of the n hypotheses are false": (n − u + 1) p₍ᵤ₎.

    Benjamini and Heller (2008), with Bonferroni's combination.

    Examples
    --------
    >>> round(partial_conjunction(np.array([0.001, 0.02, 0.4]), 2), 3)
    0.04
    """
    known = np.sort(pvalues[np.isfinite(pvalues)])
    if u < 1 or len(known) < u:
        return float("nan")
    return float(min(1.0, (len(known) - u + 1) * known[u - 1]))
