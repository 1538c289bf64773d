"""What is known of an analysis while it runs: from the first resamples, or before everything is compared."""

from __future__ import annotations

from dataclasses import dataclass

from clustrep.findings.result import SEPARATED, Findings
from clustrep.findings.verdict import decided, focus_of
from clustrep.remembered import cached_property
from clustrep.results.choice import Choice
from clustrep.results.comparison import Comparison
from clustrep.results.headline import Evidence, Said, headline_of
from clustrep.results.null_scores import NullReference
from clustrep.results.obstacles import obstacle_to
from clustrep.text import plural


@dataclass(frozen=True, eq=False, repr=False)
class Preliminary:
    """A preliminary answer of `analyse`: what the resamples and simulated collections so far say.

    They are the first of those that the final answer uses: with 20 resamples so far, the scores are those of
    `n_resamples=20`.

    Attributes
    ----------
    comparison : Comparison
        All clusterers and numbers of clusters, with the resamples so far.
    found : Findings
        The clusters and statuses, which are final; the verdict is, too, where clusters are separated.
    reference : NullReference or None
        The comparison beside the simulated collections so far; None where there are none yet.

    See Also
    --------
    analyse : The function that hands it to `on_progress`.
    """

    comparison: Comparison
    found: Findings
    reference: NullReference | None

    @property
    def n_resamples(self) -> int:
        """The number of resamples so far."""
        return int(self.comparison.distribution.shape[2])

    @property
    def n_null(self) -> int:
        """The number of simulated collections so far."""
        return 0 if self.reference is None else len(self.reference.distribution)

    @cached_property
    def choice(self) -> Choice:
        """Which clusterer and k, as far as is known."""
        return self.comparison.choice(self.reference)

    @cached_property
    def findings(self) -> Findings:
        """The findings, with the verdict as far as it is known."""
        return decided(self.found, self.choice)

    @property
    def verdict(self) -> str | None:
        """The verdict; None where it needs a null model and nothing was simulated yet."""
        return None if self.reference is None and self.found.verdict != SEPARATED else self.findings.verdict

    @cached_property
    def headline(self) -> tuple[Said, ...]:
        """The answer in sentences, as far as it is known."""
        obstacle = obstacle_to(self.comparison, focus_of(self.findings, self.choice))
        return headline_of(Evidence(self.findings, self.choice, obstacle))

    @property
    def answer(self) -> str:
        """The first sentence of the headline; the best clusterer, where there is no verdict yet."""
        return self.headline[0].text if self.verdict is not None or len(self.headline) < 2 else self.headline[1].text

    def __str__(self) -> str:
        collections = f" and {plural(self.n_null, 'simulated collection')}" if self.n_null else ""
        return f"Preliminary, {plural(self.n_resamples, 'resample')}{collections}: {self.answer}"

    __repr__ = __str__
