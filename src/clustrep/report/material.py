"""Results → the material of a report: what was passed, sorted, with the tables that it shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd

import clustrep.report.columns as columns
import clustrep.report.words as words
from clustrep.algorithms.choice import Candidate, Choice, obstacle_to
from clustrep.algorithms.comparison import Comparison
from clustrep.algorithms.local_plot import LocalMap
from clustrep.algorithms.local_scores import LocalReplicability
from clustrep.algorithms.pairwise import Replicability
from clustrep.analysis.headline import Said, headline_of_comparison, headline_of_findings
from clustrep.analysis.result import Analysis, summary_of
from clustrep.errors import ParameterError
from clustrep.execution.failures import Failures
from clustrep.federated.joint import Combined
from clustrep.findings.cluster_tree import ClusterTree
from clustrep.findings.result import UNMATCHED, Findings
from clustrep.findings.sample_maps import SampleMap
from clustrep.null.null_scores import NullReference
from clustrep.report.columns import Table, plain_value, table_of
from clustrep.report.formatting import cell
from clustrep.results import RESULTS
from clustrep.text import printable

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Material:
    """What a report shows.

    Attributes
    ----------
    findings, headline, focus
        Which clusters there are in which studies, the answer in sentences, and the configuration that is looked at
        closely; None and empty where there is no analysis.
    comparison, reference, choice, summary
        All configurations, their null distributions, the choice among them and its table.
    replicabilities
        Pairs of studies, a result for every configuration; the one in focus first.
    local, clusters, maps
        Local scores; without findings, the table of the clusterer's own clusters; and where the samples are drawn.
    samples, known
        The map of all samples by cluster, and how many samples of every known label are in every cluster.
    embedded
        The comparison in an embedding that is learned on every training study alone, beside the other.
    tree
        Clusters within the separated clusters; None where these were not looked for.
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
    local: tuple[LocalReplicability, ...]
    maps: tuple[LocalMap, ...]
    failures: Failures
    headline: tuple[Said, ...] = ()
    findings: Findings | None = None
    focus: Candidate | None = None
    clusters: pd.DataFrame | None = None
    samples: SampleMap | None = None
    known: pd.DataFrame | None = None
    others: tuple[Any, ...] = ()
    warnings: tuple[str, ...] = ()
    tree: ClusterTree | None = None
    embedded: Comparison | None = None

    @classmethod
    def of(cls, results: Sequence[Any]) -> Material:
        """Sort results; an analysis brings everything along."""
        flat = [part for result in results for part in (result.values() if isinstance(result, dict) else [result])]
        withheld = tuple(line for result in flat if isinstance(result, Combined) for line in result.withheld)
        flat = [part for result in flat for part in (_parts_of(result) if isinstance(result, Combined) else [result])]
        if not flat:
            raise ParameterError("A report needs at least one result.", parameter="results")
        for result in flat:
            if not isinstance(result, tuple(RESULTS.values())):
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
            findings=analysis.findings,
            headline=analysis.headline,
            focus=analysis.focus,
            comparison=analysis.comparison,
            reference=analysis.reference,
            choice=analysis.choice,
            summary=analysis.summary(),
            replicabilities=analysis.replicabilities,
            local=analysis.local,
            maps=tuple(_map_of(analysis, result) for result in analysis.local),
            samples=SampleMap.of(analysis),
            known=_known_labels(analysis),
            failures=analysis.failures,
            warnings=analysis.warnings,
            tree=analysis.tree,
            embedded=analysis.embedded,
        )

    @classmethod
    def of_parts(cls, results: Sequence[Any]) -> Material:
        """Put single results together; a reference is shown beside the result that it belongs to."""
        comparison, findings = _only(results, Comparison), _only(results, Findings)
        replicabilities, local = _all(results, Replicability), _all(results, LocalReplicability)
        pairs = [(result.train, result.test) for result in local]
        if len(set(pairs)) < len(pairs):
            raise ParameterError(
                "A report has one local result for each pair of studies: make a report of each.", parameter="results"
            )
        in_sections = (Comparison, Findings, Replicability, LocalReplicability)
        kinds_shown = {"comparison"} if comparison is not None else set()
        kinds_shown |= {"local"} if local else set()
        references = [result for result in _all(results, NullReference) if result.kind in kinds_shown]
        reference = next((result for result in references if result.kind == "comparison"), None)
        others = [result for result in results if not isinstance(result, in_sections) and result not in references]
        choice = None if comparison is None else comparison.choice(reference)
        # The failures of single configurations are among those of the comparison.
        failing = [comparison, *([] if comparison is not None else replicabilities), *local, *others]
        return cls(
            findings=findings,
            headline=(
                *(() if findings is None else headline_of_findings(findings)),
                *(() if comparison is None or choice is None else _headline_of(comparison, choice)),
            ),
            focus=None if choice is None else choice.focus,
            comparison=comparison,
            reference=reference,
            choice=choice,
            summary=None if comparison is None or choice is None else summary_of(comparison, choice, reference),
            replicabilities=tuple(replicabilities),
            local=tuple(local),
            clusters=_cluster_table(local, references) if local else None,
            maps=tuple(_map_from_memory(result) for result in local if _is_of_training_study(result)),
            failures=_merged_failures(failing),
            others=tuple(others),
        )

    def unnamed(self) -> Material:
        """Return the same material without the names of samples."""
        samples = None if self.samples is None else self.samples.unnamed()
        return replace(self, maps=tuple(map(LocalMap.unnamed, self.maps)), samples=samples)

    @property
    def names_samples(self) -> bool:
        """Whether hover texts name samples."""
        in_samples = self.samples is not None and self.samples.names_samples
        return in_samples or any(points.names_samples for points in self.maps)

    @property
    def results(self) -> tuple[Any, ...]:
        """All results that have a provenance, in the order of the report."""
        parts = [self.comparison, *self.replicabilities, *self.local, *self.others]
        return tuple(result for result in parts if result is not None)


def _headline_of(comparison: Comparison, choice: Choice) -> tuple[Said, ...]:
    return headline_of_comparison(choice, obstacle_to(comparison, choice.focus))


def _parts_of(combined: Combined) -> list[Any]:
    """Return the results of several sites one by one; pairs of sites are those of the best configuration."""
    comparison, reference = combined.comparison, combined.reference
    choice = comparison.choice(reference)
    best = choice.best if choice.best is not None else choice.chosen
    pairs = [] if best is None else [comparison.replicability(best.clusterer, best.n_clusters)]
    parts = [comparison, *pairs, reference, combined.clusters, combined.gaps, combined.tables]
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
    names = analysis.findings.labels_of(result.train).tolist()
    return LocalMap.of(result, analysis.coordinates_of(result.train), (x, y), names)


def _map_from_memory(result: LocalReplicability) -> LocalMap:
    return LocalMap.placed(result, None, result._points)


def _is_of_training_study(result: LocalReplicability) -> bool:
    """Whether the points are in memory, and those of the training study: a map of others would need other words."""
    if result._points is None or result._origin is None:
        return False
    return np.array_equal(result._points, result._origin.studies[0].X, equal_nan=True)


# ---------------------------------------------------------------------------------------------------------------------
# tables


def _cluster_table(local: Sequence[LocalReplicability], references: Sequence[NullReference]) -> pd.DataFrame:
    """Return the local scores of every cluster in every test study, with p-values where there is a reference."""
    frames = []
    for result in local:
        frame = result.by_cluster().assign(train=result.train, test=result.test)
        reference = _reference_of(result, references)
        if reference is not None:
            columns = ["cluster", "null_mean", "pvalue", "qvalue"]
            frame = frame.merge(reference.to_frame()[columns], how="left", on="cluster")
        frames.append(frame.assign(cluster=frame["cluster"].astype(str)))
    return pd.concat(frames, ignore_index=True)


def _known_labels(analysis: Analysis) -> pd.DataFrame | None:
    """Count the samples of every known label in every cluster; None where no labels are known."""
    known = analysis.known_labels
    if not (known != "").any():
        return None
    cluster = analysis.labels()["cluster"].to_numpy()
    counts = pd.crosstab(pd.Series(known[known != ""], name="label"), cluster[known != ""])
    order = [letter for letter in (*analysis.findings.letters, UNMATCHED) if letter in counts]
    return counts[order].reset_index().rename_axis(None, axis=1)


# ---------------------------------------------------------------------------------------------------------------------
# Findings → tables: clusters × studies, one row for every cluster and study, one for every study


IN_STUDY = "in "  # before the name of a study, so that no study's column has the key of another column
ENTRY = ("status", "n", "share", "replicability", "low", "high")
SCALE = "How much wider the clusters of the study are than those of the others"


def overview_of(findings: Findings) -> Table:
    """Make the table of clusters × studies: status, n, share and local replicability in every cell."""
    rows: dict[str, dict[str, Any]] = {}
    for entry in findings.table().to_dict("records"):
        row = rows.setdefault(entry["cluster"], {"cluster": entry["cluster"]})
        row[IN_STUDY + entry["study"]] = {name: plain_value(entry[name]) for name in ENTRY}
    has_scores = any(value["replicability"] is not None for row in rows.values() for value in list(row.values())[1:])
    cluster = {"key": "cluster", "label": "cluster", "kind": "text", "title": "The cluster", "more": False}
    by_study = [
        {"key": IN_STUDY + name, "label": name, "kind": "entry", "title": f"The cluster in {name}", "more": False}
        for name in findings.names
    ]
    return {
        "id": "overview-table",
        "title": "Clusters × studies",
        "note": words.LEGEND_WITH_SCORES if has_scores else f"{words.LEGEND}.",
        "columns": [cluster, *by_study],
        "rows": list(rows.values()),
    }


def entries_of(findings: Findings) -> Table:
    """Make the table with one row for every cluster and study."""
    table = findings.table()
    kept = [name for name in columns.FINDINGS if not table[name].isna().all()]
    return table_of(table, "findings-table", "Every cluster in every study", kept)


def clusters_of(findings: Findings) -> Table:
    """Make the table with one row for every cluster."""
    explanations = {
        "pvalue": "p-value of the density valley in at least two studies (partial conjunction), or in the only one",
        "replicability": "Local replicability, mean over the studies in which the cluster is found",
    }
    return table_of(findings.clusters(), "clusters-of-findings-table", "Clusters", explanations=explanations)


def studies_of(findings: Findings) -> Table:
    """Make the table with one row for every study."""
    table = findings.studies()
    table["outlier"] = [why or "no" for why in table["why"]]
    kept = [name for name in columns.STUDIES if not table[name].isna().all()]
    explanations = {"scale": SCALE}
    return table_of(table, "studies-of-findings-table", "Studies", kept, explanations=explanations)


def text_of(table: Mapping[str, Any]) -> str:
    """Write the table of clusters × studies for the terminal: status, n and share."""
    cells = [[column["label"] for column in table["columns"]]]
    for row in table["rows"]:
        cells.append([cell(row[column["key"]], column["kind"]).partition("\n")[0] for column in table["columns"]])
    cells = [[printable(text) for text in row] for row in cells]
    widths = [max(len(row[c]) for row in cells) for c in range(len(table["columns"]))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([*lines, f"{words.LEGEND}."])
