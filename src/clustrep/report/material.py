"""Results → the material of a report: what was passed, sorted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from clustrep.algorithms.choice import Candidate, Choice, obstacle_to
from clustrep.algorithms.comparison import Comparison
from clustrep.algorithms.pairwise import Replicability
from clustrep.analysis.headline import Said, headline_of_comparison, headline_of_findings
from clustrep.analysis.result import Analysis
from clustrep.errors import ParameterError
from clustrep.execution.failures import Failures
from clustrep.federated.combined import Combined
from clustrep.findings.result import Findings
from clustrep.findings.verdict import best_above
from clustrep.null.null_scores import NullReference
from clustrep.results import RESULTS

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Material:
    """What a report shows.

    Attributes
    ----------
    analysis : Analysis or None
    findings, headline : Findings or None, tuple of Said
        Those of the analysis, or of what was passed alone.
    comparison, reference, choice, focus, replicability
        All configurations, their null distributions, the choice among them, and the pairs of studies of the one that
        is looked at closely; those of the analysis, or of what was passed alone.
    others : tuple
        Results with a section of their own.
    failures : Failures
        How many values are missing, by cause.
    warnings : tuple of str
    """

    failures: Failures
    headline: tuple[Said, ...] = ()
    analysis: Analysis | None = None
    findings: Findings | None = None
    comparison: Comparison | None = None
    reference: NullReference | None = None
    choice: Choice | None = None
    focus: Candidate | None = None
    replicability: Replicability | None = None
    others: tuple[Any, ...] = ()
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, results: Sequence[Any]) -> Material:
        """Sort results; an analysis brings everything along."""
        flat = [part for result in results for part in (result.values() if isinstance(result, dict) else [result])]
        withheld = [line for result in flat if isinstance(result, Combined) for line in result.withheld]
        flat = [part for result in flat for part in (_parts_of(result) if isinstance(result, Combined) else [result])]
        if not flat:
            raise ParameterError("A report needs at least one result.", parameter="results")
        for result in flat:
            if not isinstance(result, tuple(RESULTS.values())):
                name = type(result).__name__
                raise ParameterError(
                    f"A report is made of results such as compare returns, got {name}.", parameter="results"
                )
        if _all(flat, Analysis):
            return cls.of_analysis(_with_embedded(flat))
        return replace(cls.of_parts(flat), warnings=tuple(f"Withheld: {line}" for line in withheld))

    @classmethod
    def of_analysis(cls, analysis: Analysis) -> Material:
        """Read everything off an analysis."""
        shared = ("findings", "headline", "comparison", "reference", "choice", "focus", "replicability")
        read = {name: getattr(analysis, name) for name in (*shared, "failures", "warnings")}
        return cls(analysis=analysis, **read)

    @classmethod
    def of_parts(cls, results: Sequence[Any]) -> Material:
        """Put single results together; a reference is shown beside the comparison that it belongs to."""
        comparison, findings = _only(results, Comparison), _only(results, Findings)
        references = [result for result in _all(results, NullReference) if result.is_comparison]
        reference = references[0] if references and comparison is not None else None
        choice = None if comparison is None else comparison.choice(reference)
        # What the headline names: the best above the null model, else the best.
        focus = None if choice is None else best_above(choice) or choice.best
        said = [] if findings is None else [*headline_of_findings(findings)]
        if comparison is not None and choice is not None:
            said += headline_of_comparison(choice, obstacle_to(comparison, focus))
        others = [result for result in results if result is not findings and result is not reference]
        # The failures of single configurations are among those of the comparison.
        inside = () if comparison is None else (Replicability,)
        failing = [getattr(result, "failures", {}) for result in others if not isinstance(result, inside)]
        return cls(
            findings=findings,
            headline=tuple(said),
            comparison=comparison,
            reference=reference,
            choice=choice,
            focus=focus,
            replicability=next(iter(_all(results, Replicability)), None),
            others=tuple(others),
            failures=Failures.merge(list(map(Failures, failing))),
        )

    @property
    def provenances(self) -> list[Any]:
        """How the results were made."""
        parts = self.others if self.comparison is None else (self.comparison, *self.others)
        return [part.provenance for part in parts if hasattr(part, "provenance")]


def _parts_of(combined: Combined) -> list[Any]:
    """Return the results of several sites one by one; pairs of trusted sites are those of the best configuration."""
    if combined.comparison is None:
        return [combined.scores, combined.clusters]
    best = combined.comparison.best()
    return [combined.comparison, combined.comparison.replicability(best.clusterer, best.n_clusters), combined.clusters]


def _all(results: Sequence[Any], kind: type[Result]) -> list[Result]:
    return [result for result in results if isinstance(result, kind)]


def _only(results: Sequence[Any], kind: type[Result]) -> Result | None:
    of_kind = _all(results, kind)
    if len(of_kind) > 1:
        raise ParameterError(f"A report has one {kind.__name__}, got {len(of_kind)}.", parameter="results")
    return of_kind[0] if of_kind else None


def _with_embedded(results: Sequence[Any]) -> Analysis:
    """Take an analysis, with the same comparison in an embedding of every training study beside it, if there is one."""
    (analysis, *further), others = _all(results, Analysis), [each for each in results if not isinstance(each, Analysis)]
    if further or any(not isinstance(each, Comparison) for each in others) or len(others) > 1:
        raise ParameterError(
            "An analysis makes a report by itself: pass nothing beside it but the comparison in an embedding of every "
            "training study.",
            parameter="results",
        )
    if not others:
        return analysis
    (embedded,) = others
    if "transformer" not in embedded.provenance.parameters or embedded.names != analysis.names:
        raise ParameterError(
            "A comparison beside an analysis must be one of the same studies by pipelines such as "
            "make_pipeline(TrainEmbedding(), ...): it is shown beside the scores of the analysis.",
            parameter="results",
        )
    return replace(analysis, embedded=embedded)
