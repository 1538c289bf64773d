"""What is known of an analysis while it runs: from the first resamples, or before everything is compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from clustrep.remembered import cached_property
from clustrep.results.analysis import PRESENCE
from clustrep.results.choice import Choice
from clustrep.results.comparison import Comparison
from clustrep.results.groups import Separation
from clustrep.results.headline import Evidence, Said, headline_of
from clustrep.results.null_scores import NullReference
from clustrep.results.obstacles import obstacle_to
from clustrep.results.verdict import Verdict, verdict_of
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
    separations : sequence of Separation
        The gaps between clusters, for every clusterer: these are final.
    reference : NullReference or None
        The comparison beside the simulated collections so far; None where there are none yet.

    See Also
    --------
    analyse : The function that hands it to `on_progress`.
    """

    comparison: Comparison
    separations: Sequence[Separation]
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
    def verdict(self) -> Verdict:
        """To what degree there are groups, as far as is known."""
        return verdict_of(self.choice, self.separations)

    @cached_property
    def headline(self) -> tuple[Said, ...]:
        """The answer in sentences, as far as it is known."""
        obstacle, nowhere = obstacle_to(self.comparison, self.verdict.focus), pd.DataFrame(columns=list(PRESENCE))
        return headline_of(Evidence(self.verdict, self.choice, self.separations, obstacle, nowhere))

    @property
    def answer(self) -> str:
        """The first sentence of the headline."""
        return self.headline[0].text

    def __str__(self) -> str:
        collections = f" and {plural(self.n_null, 'simulated collection')}" if self.n_null else ""
        return f"Preliminary, {plural(self.n_resamples, 'resample')}{collections}: {self.answer}"

    __repr__ = __str__
