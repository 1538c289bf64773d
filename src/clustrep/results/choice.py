"""Which clusterer and which k, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from clustrep.results.base import FALSE_FINDING
from clustrep.results.labels import label
from clustrep.tables.agreement import shown
from clustrep.text import listing
from clustrep.types import BoolArray, FloatArray

MOST_RIVALS = 5
# Of trivial scores: beyond this share of them, a score says nothing about clusters.
MOSTLY = 0.5
NO_BEST = (
    "No configuration can be best: in each, more than 5 % of the scores are trivial (a single block on either side), "
    "or more than half of the resamples lack a score."
)


@dataclass(frozen=True)
class Candidate:
    """A configuration and its score: the mean over ordered pairs of different studies of the mean over resamples.

    Attributes
    ----------
    clusterer : str
    n_clusters : int or None
        None where the clusterer finds its number of clusters by itself.
    score : float
    low, high : float
        95 % percentile interval, over resamples, of the mean over pairs.
    clusters_found : float or None
        Of one value of a parameter such as a resolution: mean number of clusters over resamples and studies.

    See Also
    --------
    Comparison : Where the score and its formula come from.
    """

    clusterer: str
    n_clusters: int | None
    score: float
    low: float
    high: float
    clusters_found: float | None = field(default=None, kw_only=True)

    @property
    def label(self) -> str:
        """The name of the configuration; how many clusters it found, where that follows from another parameter."""
        return label(self.clusterer, self.n_clusters, self.clusters_found)

    @property
    def complexity(self) -> float:
        """The number of clusters, asked for or found; 0 where neither is known."""
        return self.n_clusters or self.clusters_found or 0.0

    def __str__(self) -> str:
        return f"{self.label} ({self.score:.2f} [{self.low:.2f}, {self.high:.2f}])"


@dataclass(frozen=True)
class Best(Candidate):
    """The candidate with the highest score, and those that are not distinguishable from it.

    Attributes
    ----------
    clusterer, n_clusters, score, low, high, clusters_found
        As in `Candidate`.
    agreement : str
        By which agreement.
    rivals : tuple of Candidate
        All eligible candidates whose difference to the best, resample by resample, has a 95 % interval that includes 0,
        by their score.

    See Also
    --------
    Comparison.best : The method that returns it.
    """

    agreement: str
    rivals: tuple[Candidate, ...]

    def __str__(self) -> str:
        best = super().__str__()
        if not self.rivals:
            return f"{best} replicates best by {shown(self.agreement)}"
        others = [Candidate.__str__(rival) for rival in self.rivals]
        more = f"; and {len(others) - MOST_RIVALS} more" if len(others) > MOST_RIVALS else ""
        rivals = "; ".join(others[:MOST_RIVALS]) + more
        return f"By {shown(self.agreement)}, {best} is not distinguishable from {rivals}"


@dataclass(frozen=True, eq=False)
class Against:
    """Candidates beside data without clusters, (n_candidates,) each.

    Attributes
    ----------
    observed, null_mean, excess : ndarray
        The score that is compared (R̂, or the mean over resamples), its mean over simulated collections, and the
        difference.
    pvalue, adjusted : ndarray
        The p-value, and the same adjusted for the chance of any false finding among all candidates.

    See Also
    --------
    NullReference : Where the values and their formulas come from.
    """

    observed: FloatArray
    null_mean: FloatArray
    excess: FloatArray
    pvalue: FloatArray
    adjusted: FloatArray

    @property
    def smallest(self) -> float:
        """The smallest adjusted p-value; 1 where none is known."""
        return float(np.nanmin(self.adjusted, initial=1.0))


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """A choice among clusterers and numbers of clusters, with its uncertainty.

    Attributes
    ----------
    agreement : str
        By which agreement.
    best : Best or None
        The highest score, and the rivals that are not distinguishable from it; None where no configuration is eligible.
    simplest : Candidate or None
        The smallest k whose score is at least score(best) − sd(a_b of the best): within one standard error; above data
        without clusters, where a reference was given.
    candidates : tuple of Candidate
        All that have a score, by their number of clusters.
    eligible : ndarray of bool, (n_candidates,)
        Which can be called the best: at most 5 % trivial scores, and a score for every pair of studies in at least half
        of the resamples.
    probability_best : ndarray, (n_candidates,)
        The share of resamples in which no eligible candidate scores higher; where several have the same highest score,
        all count.
    against : Against or None
        Beside data without clusters, where a reference was given.
    chosen : Candidate or None
        Without a reference, the best. With one, the highest excess among those above data without clusters (adjusted
        p-value at most 0.05); None where none is.
    cause : str
        Where no configuration is eligible: which study causes it, how, and what to try next.
    trivial_share : ndarray, (n_candidates,)
        The share of scores in which a study is put into a single cluster, or called noise as a whole.

    See Also
    --------
    Comparison.choice : The method that returns it.
    NullReference : Data without clusters.
    """

    agreement: str
    best: Best | None
    simplest: Candidate | None
    candidates: tuple[Candidate, ...]
    eligible: BoolArray
    probability_best: FloatArray
    against: Against | None
    chosen: Candidate | None
    cause: str = ""
    trivial_share: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def says_nothing(self) -> bool:
        """Whether most scores of every candidate are trivial: then neither high nor low ones mean anything."""
        return bool(self.trivial_share.size) and bool((self.trivial_share > MOSTLY).all())

    @property
    def focus(self) -> Candidate | None:
        """The candidate to look at closely.

        Of the best and its rivals, the candidate with the highest excess over data without clusters; where none of
        these is above such data, the candidate with the highest excess of all; the best where no candidate is above
        them, or where there is no reference.
        """
        if self.best is None or self.against is None or self.chosen is None:
            return self.best or self.chosen
        near = [candidate for candidate in (self.best, *self.best.rivals) if self.is_above(candidate)]
        excess = self.against.excess
        return max(near, key=lambda candidate: excess[self.place(candidate)], default=self.chosen)

    @property
    def nothing(self) -> str:
        """The words for "none of the candidates" in a sentence."""
        return "no k" if all(candidate.n_clusters is not None for candidate in self.candidates) else "nothing"

    def is_above(self, candidate: Candidate) -> bool:
        """Whether a candidate is above data without clusters, as far as that is known."""
        return self.against is not None and bool(self.against.adjusted[self.place(candidate)] <= FALSE_FINDING)

    def place(self, candidate: Candidate) -> int:
        """Find a candidate among all."""
        names = [(candidate.clusterer, candidate.n_clusters) for candidate in self.candidates]
        return names.index((candidate.clusterer, candidate.n_clusters))

    def to_frame(self) -> pd.DataFrame:
        """One row for every candidate."""
        rivals = {(rival.clusterer, rival.n_clusters) for rival in (self.best.rivals if self.best else ())}
        frame = pd.DataFrame(
            {
                "clusterer": [candidate.clusterer for candidate in self.candidates],
                "k": pd.array([candidate.n_clusters for candidate in self.candidates], dtype="Int64"),
                "score": [candidate.score for candidate in self.candidates],
                "low": [candidate.low for candidate in self.candidates],
                "high": [candidate.high for candidate in self.candidates],
                "eligible": self.eligible,
                "probability_best": self.probability_best,
                "rival": [(candidate.clusterer, candidate.n_clusters) in rivals for candidate in self.candidates],
            }
        )
        n_found = [candidate.clusters_found for candidate in self.candidates]
        if any(number is not None for number in n_found):
            frame.insert(2, "clusters_found", pd.Series(n_found, dtype=float))
        return frame if self.against is None else frame.assign(**vars(self.against))

    def __str__(self) -> str:
        lines = [str(self.best) if self.best is not None else f"{NO_BEST} {self.cause}".strip()]
        if self.against is not None:
            lines.append(self._beside_null(self.against))
        same = self.best and self.simplest and self.place(self.best) == self.place(self.simplest)
        if self.simplest is not None and not same:
            smallest = "Smallest k" if self.simplest.clusters_found is None else "Fewest clusters"
            lines.append(f"{smallest} within one standard error of the best: {self.simplest}")
        if self.best is not None and not self.eligible.all():
            left_out = [
                candidate.label
                for candidate, is_eligible in zip(self.candidates, self.eligible, strict=True)
                if not is_eligible
            ]
            lines.append(f"Too many single blocks or failures to be called the best: {listing(left_out)}")
        return "\n".join(lines)

    def _beside_null(self, against: Against) -> str:
        if self.chosen is None:
            return (
                f"By {shown(self.agreement)}, {self.nothing} is better than data without clusters "
                f"(smallest adjusted p = {against.smallest:.2g})"
            )
        place = self.place(self.chosen)
        text = (
            f"Farthest above data without clusters: {self.chosen.label}, {against.observed[place]:.2f} against "
            f"{against.null_mean[place]:.2f}, adjusted p = {against.adjusted[place]:.2g}"
        )
        if self.best is None or self.is_above(self.best):
            return text
        p = against.adjusted[self.place(self.best)]
        return f"{text}\nThe highest score, of {self.best.label}, is not above them (adjusted p = {p:.2g})"

    def __repr__(self) -> str:
        return f"{self}\n{self.to_frame().round(3).to_string(index=False)}"
