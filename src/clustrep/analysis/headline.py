"""The answer of an analysis in sentences: the same in the terminal, on the page and in Markdown.

First the verdict, then how sure it is, then the reason, then what to do next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clustrep.agreement.agreements import shown
from clustrep.algorithms.choice import TRIVIAL, Candidate, Choice, Obstacle, obstacle_to
from clustrep.algorithms.comparison import Comparison
from clustrep.algorithms.pairwise import Replicability
from clustrep.cached import cached_property
from clustrep.findings.features import feature_sentences
from clustrep.findings.result import CONTINUOUS, INCONCLUSIVE, NO_EVIDENCE, SEPARATED, Findings
from clustrep.findings.sentences import (
    MOST_NAMES,
    depth_sentence,
    missing_sentences,
    outlier_sentence,
    own_sentence,
    sentences_of,
    verdict_sentence,
)
from clustrep.findings.verdict import best_above, decided, focus_of
from clustrep.null.null_scores import NullReference
from clustrep.text import listing, p_text, plural

# Kinds of sentences: the verdict for the first, then these.
SURE, REASON, CLUSTERS, STUDIES, CAUTION, NEXT = "sure", "reason", "clusters", "studies", "caution", "next"
MOST_RIVALS = 3
NEXT_STEPS = {
    SEPARATED: "The table of features shows how clusters differ; the table of labels has the cluster of every sample.",
    CONTINUOUS: "Do not interpret these clusters as discrete types. Consider a continuous score.",
    NO_EVIDENCE: "Add samples, or use features in which clusters are expected.",
    INCONCLUSIVE: "",
}


class Said(NamedTuple):
    """A sentence or two, and what they are about: see the kinds above."""

    kind: str
    text: str


def headline_of(
    findings: Findings,
    choice: Choice,
    obstacle: Obstacle | None,
    pairs: Replicability | None = None,
    annotated: Sequence[str] = (),
) -> tuple[Said, ...]:
    """Return the verdict, the best clusterer, the reasons, cautions and what to do next.

    Parameters
    ----------
    findings : Findings
    choice : Choice
    obstacle : Obstacle or None
        What keeps the configuration in focus, or all, from being called the best.
    pairs : Replicability, optional
        All pairs of studies in the configuration in focus; without them, what they show is left out.
    annotated : sequence of str, default=()
        What clusters have to do with known labels and annotations.
    """
    focus = focus_of(findings, choice)
    partition = "" if focus is None else f"{focus.label}, {shown(choice.agreement)} {focus.score:z.2f}"
    said = [Said(findings.verdict, verdict_sentence(findings, partition))]
    if focus is not None and not choice.says_nothing:
        sure = (
            _best(findings, choice, focus),
            _other_number(findings, focus),
            _where_asked(findings, focus, pairs),
            _rivals(choice, focus),
        )
        said.append(Said(SURE, " ".join(filter(None, sure))))
    reasons = (depth_sentence(findings), *missing_sentences(findings), *feature_sentences(findings))
    said += [Said(REASON, text) for text in reasons]
    said += [Said(CLUSTERS, text) for text in annotated]
    said.append(Said(STUDIES, findings.alignment))
    # Two studies are a single pair; a study that lacks a cluster scores low, which is no news.
    is_told = pairs is not None and len(pairs.names) > 2 and not _incomplete(findings)
    heterogeneity = pairs.heterogeneity if pairs is not None and is_told else float("nan")
    studies = (own_sentence(findings), outlier_sentence(findings), heterogeneity_sentence(heterogeneity))
    said.append(Said(STUDIES, " ".join(filter(None, studies))))
    next_step = NEXT_STEPS[findings.verdict]
    if (largest := _largest_reached(findings, choice, focus)) is not None:
        said.append(Said(CAUTION, f"{largest} is the largest number of clusters that was tried: there may be more."))
        next_step = f"Run again with more clusters, such as 2 to {2 * largest}."
    # A study that lacks a cluster is a finding, and no obstacle.
    if obstacle is not None and not (obstacle.kind == TRIVIAL and obstacle.study in _incomplete(findings)):
        said.append(Said(CAUTION, obstacle.sentence))
        next_step = next_step if findings.verdict == SEPARATED else obstacle.next_step
    said.append(Said(NEXT, next_step))
    return tuple(each for each in said if each.text)


def _largest_reached(findings: Findings, choice: Choice, focus: Candidate | None) -> int | None:
    """Return the largest number of clusters that was tried, where it is the answer; None where it is not."""
    tried = {each.n_clusters for each in choice.candidates if each.n_clusters is not None}
    if len(tried) < 2:
        return None
    answer = None
    if findings.verdict == SEPARATED:
        answer = findings.n_clusters
    elif findings.verdict == CONTINUOUS and focus is not None:
        answer = focus.n_clusters
    return max(tried) if answer is not None and answer >= max(tried) else None


def sensitivity_sentence(findings: Findings, alternatives: Mapping[str, int]) -> tuple[bool, str]:
    """Say under which alternatives the decision is another one; also return whether there is one.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> separated = SimpleNamespace(verdict="separated", n_clusters=3)
    >>> sensitivity_sentence(separated, {"scale=study": 3, "k = 2 to 4": 2})
    (False, 'Clusters are also separated with scale=study, k = 2 to 4 (2 clusters).')
    >>> sensitivity_sentence(separated, {"scale=study": 1, "k = 2 to 4": 3})
    (True, 'The verdict is sensitive: no clusters are separated with scale=study, but with k = 2 to 4.')
    """
    is_separated = findings.verdict == SEPARATED
    names = {
        name: f"{name} ({plural(n, 'cluster')})" if 1 < n != findings.n_clusters else name
        for name, n in alternatives.items()
    }
    same = [names[name] for name, n in alternatives.items() if (n > 1) == is_separated]
    other = [names[name] for name, n in alternatives.items() if (n > 1) != is_separated]
    if not other:
        words = "Clusters are also separated with {}." if is_separated else "With {}, no clusters are separated either."
        return False, words.format(listing(same)) if same else ""
    words = "no clusters are separated with {}{}." if is_separated else "clusters are separated with {}{}."
    contrast = f", {'but' if is_separated else 'not'} with {listing(same)}" if same else ""
    return True, f"The verdict is sensitive: {words.format(listing(other), contrast)}"


def headline_of_findings(findings: Findings) -> tuple[Said, ...]:
    """Return the verdict and its reasons: what findings without scores can show."""
    verdict, *reasons = sentences_of(findings)
    return Said(findings.verdict, verdict), *(Said(REASON, text) for text in reasons)


def headline_of_comparison(choice: Choice, obstacle: Obstacle | None) -> tuple[Said, ...]:
    """Return the best clusterer, its score beside the null distribution, and cautions: what scores alone can show."""
    said = []
    if choice.best is not None:
        said.append(
            Said(SURE, f"Best clusterer: {_score(choice, choice.best)}. {_rivals(choice, choice.best)}".strip())
        )
    said.append(Said(REASON, _beside_null(choice)))
    if obstacle is not None:
        said += [Said(CAUTION, obstacle.sentence), Said(NEXT, obstacle.next_step)]
    return tuple(each for each in said if each.text)


def heterogeneity_sentence(heterogeneity: float) -> str:
    """Write I²; empty where it is not known.

    Examples
    --------
    >>> heterogeneity_sentence(0.54)
    'Heterogeneity between pairs: I² = 54 %.'
    """
    return "" if np.isnan(heterogeneity) else f"Heterogeneity between pairs: I² = {100 * heterogeneity:.0f} %."


def _beside_null(choice: Choice) -> str:
    """Compare scores with their null distributions; empty without a null model."""
    if choice.against is None or choice.says_nothing:
        return ""
    above = best_above(choice)
    if above is None:
        p = p_text(choice.against.smallest)
        return f"No partition exceeds the null model in score and separateness (smallest adjusted {p})."
    p = p_text(float(choice.against.adjusted[choice.place(above)]))
    return f"{above.label} replicates better than under the null model (score and separateness together, adjusted {p})."


def _best(findings: Findings, choice: Choice, focus: Candidate) -> str:
    """Name the configuration in focus; where it is not the best of all, for which number of clusters it is."""
    if len(choice.candidates) == 1:
        return f"Clusterer: {_score(choice, focus)}."
    is_best = choice.best is not None and choice.place(choice.best) == choice.place(focus)
    if not is_best and findings.verdict == SEPARATED and focus.n_clusters == findings.n_clusters:
        return f"Best clusterer with {focus.n_clusters} clusters: {_score(choice, focus)}."
    return f"Best clusterer: {_score(choice, focus)}."


def _other_number(findings: Findings, focus: Candidate) -> str:
    """Say that the score is not that of the separated clusters, where no partition into as many was compared."""
    if findings.verdict != SEPARATED or focus.complexity in (0, findings.n_clusters):
        return ""
    return f"This score is of {focus.complexity:.3g} clusters, not of the {findings.n_clusters} that are separated."


def _incomplete(findings: Findings) -> list[str]:
    """Name the studies in which not all separated clusters are found."""
    if findings.verdict != SEPARATED:
        return []
    return [findings.names[s] for s in np.flatnonzero(~findings.here.all(axis=0))]


def _where_asked(findings: Findings, focus: Candidate, pairs: Replicability | None) -> str:
    """Name the studies that are cut into clusters which they lack, and give the score between the others.

    A clusterer that is asked for k clusters cuts a study with fewer in pieces, which replicate nowhere: the score over
    all pairs is low, however clear the clusters are.
    """
    incomplete = _incomplete(findings)
    if pairs is None or pairs.names != findings.names or not incomplete or focus.n_clusters != findings.n_clusters:
        return ""
    asked = (
        f"It is asked for {focus.n_clusters} clusters in every study, also in {listing(incomplete, MOST_NAMES)}, where "
        "not all are found"
    )
    complete = [s for s, name in enumerate(pairs.names) if name not in incomplete]
    if len(complete) < 2:
        return f"{asked}: as no two studies have all of them, this score says little."
    scores = pairs.mean[np.ix_(complete, complete)][~np.eye(len(complete), dtype=bool)]
    return f"{asked}; {shown(pairs.agreement)} between the other studies is {np.nanmean(scores):z.2f}."


def _score(choice: Choice, candidate: Candidate) -> str:
    interval = "" if np.isnan(candidate.low) else f", 95 % interval {candidate.low:z.2f} to {candidate.high:z.2f}"
    return f"{candidate.label}; replicability ({shown(choice.agreement)}) {candidate.score:z.2f}{interval}"


def _rivals(choice: Choice, focus: Candidate) -> str:
    """Name the configurations that are not distinguishable from the best, where the best is shown."""
    if choice.best is None or not choice.best.rivals or choice.place(choice.best) != choice.place(focus):
        return ""
    rivals = [f"{rival.label} ({rival.score:z.2f})" for rival in choice.best.rivals]
    return f"Not distinguishable from it: {listing(rivals, MOST_RIVALS)}."


# ---------------------------------------------------------------------------------------------------------------------
# Sentences about an analysis that still runs: from the first resamples, or before everything is compared


@dataclass(frozen=True, eq=False, repr=False)
class Preliminary:
    """A preliminary answer of `analyse`: what the resamples and simulated data sets so far say.

    They are the first of those that the final answer uses: with 20 resamples so far, the scores are those of
    `n_resamples=20`.

    Attributes
    ----------
    comparison : Comparison
        All clusterers and numbers of clusters, with the resamples so far.
    found : Findings
        The clusters and statuses, which are final; the verdict is, too, where clusters are separated.
    reference : NullReference or None
        The comparison beside the simulated data sets so far; None where there are none yet.

    See Also
    --------
    analyse : The function that hands it to `progress` of `config_context`.
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
        """The number of simulated data sets so far."""
        return 0 if self.reference is None else len(self.reference.distribution)

    @cached_property
    def choice(self) -> Choice:
        """Which clusterer and k, as far as is known."""
        return self.comparison.choice(self.reference)

    @cached_property
    def findings(self) -> Findings:
        """The findings, with the verdict so far."""
        return decided(self.found, self.choice)

    @property
    def verdict(self) -> str | None:
        """The verdict; None where it needs a null model and nothing was simulated yet."""
        return None if self.reference is None and self.found.verdict != SEPARATED else self.findings.verdict

    @cached_property
    def headline(self) -> tuple[Said, ...]:
        """The answer so far, in sentences."""
        obstacle = obstacle_to(self.comparison, focus_of(self.findings, self.choice))
        return headline_of(self.findings, self.choice, obstacle)

    @property
    def answer(self) -> str:
        """The first sentence of the headline; the best clusterer, where there is no verdict yet."""
        return self.headline[0].text if self.verdict is not None or len(self.headline) < 2 else self.headline[1].text

    def __str__(self) -> str:
        simulated = f" and {plural(self.n_null, 'simulated data set')}" if self.n_null else ""
        return f"Preliminary, {plural(self.n_resamples, 'resample')}{simulated}: {self.answer}"

    __repr__ = __str__
