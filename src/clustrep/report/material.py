"""Results → the material of a report: what was passed, sorted, with the tables that it tells of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from clustrep.errors import ParameterError
from clustrep.failures import Failures
from clustrep.figures.local_maps import LocalMap
from clustrep.results import (
    RESULTS,
    Analysis,
    Choice,
    ClusterTree,
    Combined,
    Comparison,
    Counterparts,
    LocalReplicability,
    NullReference,
    Preliminary,
    Replicability,
    Separation,
    StudyDifferences,
    StudyRelations,
)
from clustrep.results.analysis import PRESENCE, cluster_names, cluster_table, summary_of
from clustrep.results.headline import Said
from clustrep.results.relations import relations_if_any
from clustrep.results.shared_numbers import Names, piece_names
from clustrep.results.verdict import Verdict

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Material:
    """What a report tells of.

    Attributes
    ----------
    comparison, reference, choice, summary
        All configurations, beside data without clusters, the choice among them and its table.
    verdict, headline, separations
        To what degree there are groups, in sentences, and the gaps between clusters.
    presence
        Whether clusters are present in other studies: see `Analysis.presence`; empty where it is not known.
    replicabilities
        Pairs of studies, a result for every configuration; the one in focus first.
    local, clusters, counterparts, maps
        Local scores of the configuration in focus, the table of its clusters, their counterparts, and where the samples
        are drawn.
    differences
        Which study lacks a cluster that the others have; None where it is not known.
    embedded
        The comparison in an embedding that is learned on every training study alone, beside the other.
    tree
        Clusters within the separated clusters; None where these were not looked for.
    pieces
        What the pieces are called between which gaps are drawn, where that differs from their numbers.
    names
        What clusters are called, by their study and the clusterer's own number, where that differs.
    others
        Results with a section of their own.
    failures
        How many values are missing, by cause.
    """

    comparison: Comparison | None
    reference: NullReference | None
    choice: Choice | None
    summary: pd.DataFrame | None
    replicabilities: tuple[Replicability, ...]
    relations: StudyRelations | None
    local: tuple[LocalReplicability, ...]
    clusters: pd.DataFrame
    counterparts: Counterparts | None
    maps: tuple[LocalMap, ...]
    failures: Failures
    others: tuple[Any, ...] = ()
    warnings: tuple[str, ...] = ()
    verdict: Verdict | None = None
    headline: tuple[Said, ...] = ()
    separations: tuple[Separation, ...] = ()
    presence: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(PRESENCE)))
    differences: StudyDifferences | None = None
    tree: ClusterTree | None = None
    embedded: Comparison | None = None
    names: Names = field(default_factory=dict)
    pieces: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, results: Sequence[Any]) -> Material:
        """Sort results; an analysis brings everything along."""
        flat = [part for result in results for part in (result.values() if isinstance(result, dict) else [result])]
        withheld = tuple(line for result in flat if isinstance(result, Combined) for line in result.withheld)
        flat = [part for result in flat for part in (_parts_of(result) if isinstance(result, Combined) else [result])]
        if not flat:
            raise ParameterError("A report needs at least one result.", parameter="results")
        for result in flat:
            if not isinstance(result, (StudyRelations, *RESULTS.values())):
                name = type(result).__name__
                raise ParameterError(
                    f"A report is made of results such as compare returns, got {name}.", parameter="results"
                )
        if not _all(flat, Analysis):
            return replace(cls.of_parts(flat), warnings=tuple(f"Withheld or changed: {line}" for line in withheld))
        return cls.of_analysis(_with_embedded(flat))

    @classmethod
    def of_analysis(cls, analysis: Analysis) -> Material:
        """Read everything off an analysis."""
        return cls(
            comparison=analysis.comparison,
            reference=analysis.reference,
            choice=analysis.choice,
            summary=analysis.summary(),
            replicabilities=analysis.replicabilities,
            relations=analysis.relations,
            local=analysis.local,
            clusters=analysis.clusters(),
            counterparts=analysis.counterparts,
            names=analysis.shared_names,
            pieces=piece_names(analysis),
            maps=tuple(_map_of(analysis, result) for result in analysis.local),
            failures=analysis.failures,
            warnings=analysis.warnings,
            verdict=analysis.verdict,
            headline=analysis.headline,
            separations=analysis.separations,
            presence=analysis.presence(),
            differences=analysis.differences,
            tree=analysis.tree,
            embedded=analysis.embedded,
        )

    @classmethod
    def of_parts(cls, results: Sequence[Any]) -> Material:
        """Put single results together; a reference is told beside the result that it belongs to."""
        comparison, counterparts = _only(results, Comparison), _only(results, Counterparts)
        replicabilities, local = _all(results, Replicability), _all(results, LocalReplicability)
        pairs = [(result.train, result.test) for result in local]
        if len(set(pairs)) < len(pairs):
            raise ParameterError(
                "A report has one local result for each pair of studies: make a report of each.", parameter="results"
            )
        separations = [] if comparison is None else _all(results, Separation)
        in_sections = (Comparison, Replicability, StudyRelations, LocalReplicability, Counterparts)
        kinds_told = {"comparison"} if comparison is not None else set()
        kinds_told |= {"local"} if local else set()
        references = [result for result in _all(results, NullReference) if result.kind in kinds_told]
        reference = next((result for result in references if result.kind == "comparison"), None)
        told = [*references, *separations]
        others = [result for result in results if not isinstance(result, in_sections) and result not in told]
        if comparison is None and counterparts is None and not (replicabilities or local or others):
            raise ParameterError(
                "Relations are told beside the result that they come from: pass that, too.", parameter="results"
            )
        answer = None if comparison is None else Preliminary(comparison, separations, reference)
        choice = None if answer is None else answer.choice
        # The failures of single configurations are among those of the comparison.
        failing = [comparison, *([] if comparison is not None else replicabilities), *local, counterparts, *others]
        return cls(
            comparison=comparison,
            reference=reference,
            choice=choice,
            summary=None if comparison is None or choice is None else summary_of(comparison, choice, reference),
            replicabilities=tuple(replicabilities),
            relations=_only(results, StudyRelations),
            local=tuple(local),
            clusters=cluster_table(
                local,
                [_reference_of(result, references) for result in local],
                counterparts,
                untested=reference is not None and choice is not None and choice.chosen is None,
            ),
            counterparts=counterparts,
            maps=tuple(_map_from_memory(result, counterparts) for result in local if _is_of_training_study(result)),
            failures=_merged_failures(failing),
            others=tuple(others),
            verdict=None if answer is None else answer.verdict,
            headline=() if answer is None else answer.headline,
            separations=tuple(separations),
        )

    @property
    def followed(self) -> tuple[str, ...]:
        """The studies whose clusters are followed into the others."""
        return tuple(dict.fromkeys(result.train for result in self.local))

    @property
    def results(self) -> tuple[Any, ...]:
        """All results, in the order of the report."""
        parts = [
            self.comparison,
            *self.replicabilities,
            *self.local,
            self.counterparts,
            *self.separations,
            *self.others,
        ]
        return tuple(result for result in parts if result is not None)


def _parts_of(combined: Combined) -> list[Any]:
    """Return the results of several sites one by one; pairs of sites are told of the best configuration."""
    comparison, reference = combined.comparison, combined.reference
    choice = comparison.choice(reference)
    best = choice.best if choice.best is not None else choice.chosen
    pairs = [] if best is None else [comparison.replicability(best.clusterer, best.n_clusters)]
    parts = [
        comparison,
        *pairs,
        *(relations_if_any(result) for result in pairs),
        reference,
        combined.clusters,
        combined.gaps,
        combined.tables,
    ]
    return [part for part in parts if part is not None]


def _all(results: Sequence[Any], kind: type[Result]) -> list[Result]:
    return [result for result in results if isinstance(result, kind)]


def _only(results: Sequence[Any], kind: type[Result]) -> Result | None:
    of_kind = _all(results, kind)
    if len(of_kind) > 1:
        raise ParameterError(f"A report has one {kind.__name__}, got {len(of_kind)}.", parameter="results")
    return of_kind[0] if of_kind else None


def _reference_of(result: LocalReplicability, references: Sequence[NullReference]) -> NullReference | None:
    of_result = [reference for reference in references if reference.provenance.get("of") == result._fingerprint]
    return of_result[-1] if of_result else None


def _merged_failures(results: Sequence[Any]) -> Failures:
    """Add the failures of results, without the number of all values: these are of different kinds."""
    return Failures.merge([Failures(getattr(result, "failures", {})) for result in results])


# ---------------------------------------------------------------------------------------------------------------------
# where samples are drawn


def _with_embedded(results: Sequence[Any]) -> Analysis:
    """Take an analysis, with the same comparison in an embedding of every training study beside it, if there is one."""
    (analysis, *further), others = _all(results, Analysis), [each for each in results if not isinstance(each, Analysis)]
    if further or any(not isinstance(each, Comparison) for each in others) or len(others) > 1:
        raise ParameterError(
            "An analysis makes a report by itself: pass nothing beside it but the comparison with embed='train'.",
            parameter="results",
        )
    result: Analysis = analysis
    if not others:
        return result
    (embedded,) = others
    if "transformer" not in embedded.provenance.parameters or embedded.names != result.names:
        raise ParameterError(
            "A comparison beside an analysis must be one of the same studies with embed='train': it is shown beside "
            "the scores of the analysis.",
            parameter="results",
        )
    return replace(result, embedded=embedded)


def _map_of(analysis: Analysis, result: LocalReplicability) -> LocalMap:
    x, y = analysis.coordinate_names
    return LocalMap.of(result, analysis.coordinates_of(result.train), (x, y), analysis.clusters_of(result.train))


def _map_from_memory(result: LocalReplicability, counterparts: Counterparts | None) -> LocalMap:
    names = cluster_names(counterparts, result.train, result.labels.tolist())
    return LocalMap.placed(result, None, result._points, names)


def _is_of_training_study(result: LocalReplicability) -> bool:
    """Whether the points are in memory, and those of the training study: a map of others would need other words."""
    if result._points is None or result._origin is None:
        return False
    return np.array_equal(result._points, result._origin.studies[0].X, equal_nan=True)
