"""Material → facts: one plain dict, from which the page, the Markdown and the JSON are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

import clustrep.report.columns as columns
import clustrep.report.words as words
from clustrep.agreement.agreements import shown
from clustrep.algorithms.choice import Candidate, Choice
from clustrep.algorithms.comparison import CLUSTERS, PARAMETER
from clustrep.algorithms.comparison_plot import ScoreCurves, curves_chart
from clustrep.algorithms.local_plot import clusters_chart, map_chart
from clustrep.algorithms.pairwise_plot import matrices_chart, strips_chart
from clustrep.analysis.headline import NEXT
from clustrep.findings.cluster_tree import ClusterTree, NestedClusters
from clustrep.findings.plot import FindingsGrid
from clustrep.findings.result import INCONCLUSIVE, SEPARATED, UNMATCHED, Findings
from clustrep.plots.charts import Chart
from clustrep.report.columns import Table, plain_value, table_of, without_zero_counts
from clustrep.report.material import Material, clusters_of, entries_of, overview_of, studies_of
from clustrep.report.words import Run, methods_of
from clustrep.separation.result import Separation, valleys_chart
from clustrep.stability.plots import indices_chart, null_distribution_chart
from clustrep.stability.results import ClusterTest, Validation
from clustrep.summaries import label
from clustrep.text import plural

Facts = dict[str, Any]
Section = dict[str, Any]


def facts_of(material: Material, title: str | None = None) -> Facts:
    """Write all that results have, in plain types."""
    runs = [Run.of(result.provenance) for result in material.results]
    studies = {name: about for run in runs for name, about in run.studies.items()}
    findings = material.findings
    data = _data(studies)
    sections = [
        data if findings is None else None,
        *_findings(material),
        _samples(material),
        _choice(material),
        _embedded(material),
        _pairs(material),
        _clusters(material),
        _map(material),
        _tree(material),
        *(_other(result, number) for number, result in enumerate(material.others, 1)),
        None if findings is None else data,
    ]
    return {
        "title": title or _title(material),
        "subtitle": _subtitle(material, studies),
        "samples": words.NAMES_SAMPLES if material.names_samples else words.NO_SAMPLES,
        "verdict": verdict_of(material),
        "answer": answer_of(material),
        "overview": None if findings is None or findings.n_clusters < 2 else overview_of(findings),
        "sections": [section for section in sections if section is not None],
        "methods": methods_of(material.comparison, material.reference, findings),
        "warnings": [*material.warnings, *filter(None, [material.failures.sentence("score")])],
        "provenance": runs[0].rows() if runs else [],
    }


def _title(material: Material) -> str:
    others = material.others
    if others and material.results == others and all(isinstance(result, ClusterTest) for result in others):
        return words.TITLE_OF_TESTS
    if material.results == others and len(others) == 1 and isinstance(others[0], Validation):
        return f"{_studies_of(others[0])}: {others[0].clusterer}"
    return words.TITLE


def _subtitle(material: Material, studies: dict[str, dict[str, Any]]) -> str:
    """Name the studies, and count their samples."""
    if material.findings is not None:
        names, n_samples = material.findings.names, int(material.findings.sizes.sum())
    else:
        names, n_samples = tuple(studies), sum(about["samples"] for about in studies.values())
    return f"{', '.join(names)}: {n_samples:,} samples."


def _studies_of(result: Any) -> str:
    return ", ".join(Run.of(result.provenance).studies)


# ---------------------------------------------------------------------------------------------------------------------
# the answer, for people and for scripts


def verdict_of(material: Material) -> list[dict[str, str]]:
    """Write the answer, how well it replicates, why; studies, clusters, cautions, failures; what to do next."""
    others = material.others
    sentences: list[tuple[str, str]] = [said for said in material.headline if said.kind != NEXT]
    if material.findings is None:
        if material.replicabilities:
            sentences.append(("studies", words.about_studies(material.replicabilities[0])))
        sentences.append(("clusters", words.about_clusters(material.local)))
    tests = [result for result in others if isinstance(result, ClusterTest)]
    sentences += [("clusters", words.about_test(test, _studies_of(test))) for test in tests]
    sentences += [("clusters", words.about_indices(result)) for result in others if isinstance(result, Validation)]
    separations = [result for result in others if isinstance(result, Separation)]
    sentences += [(SEPARATED if result.separated else INCONCLUSIVE, str(result)) for result in separations]
    if material.replicabilities:
        sentences += [("caution", sentence) for sentence in words.cautions(material.replicabilities[0])]
    sentences.append(("failure", words.about_failures(material.failures)))
    sentences += [said for said in material.headline if said.kind == NEXT]
    if separations:
        any_valley = any(result.separated for result in separations)
        sentences.append((NEXT, words.AFTER_VALLEYS if any_valley else words.AFTER_NO_VALLEYS))
    return [{"kind": kind.replace(" ", "-"), "text": text} for kind, text in sentences if text]


def answer_of(material: Material) -> dict[str, Any]:
    """Give the answer to scripts: the findings, the best configuration and its rivals."""
    answer: dict[str, Any] = {}
    findings, choice = material.findings, material.choice
    if findings is not None:
        answer |= {
            "verdict": findings.verdict,
            "reason": findings.reason,
            "n_clusters": None if findings.verdict == INCONCLUSIVE else findings.n_clusters,
            "pvalue": plain_value(findings.pvalue),
            "alignment": findings.alignment,
            "table": table_of(findings.table(), "", "")["rows"],
            "clusters": table_of(findings.clusters(), "", "")["rows"],
            "studies": table_of(findings.studies(), "", "")["rows"],
        }
    if choice is not None:
        rivals = () if choice.best is None else choice.best.rivals
        answer |= {
            "best": _candidate(choice.best, choice),
            "rivals": [_candidate(rival, choice) for rival in rivals],
            "focus": _candidate(material.focus, choice),
        }
    if material.replicabilities:
        answer["heterogeneity"] = plain_value(material.replicabilities[0].heterogeneity)
    return answer


def _candidate(candidate: Candidate | None, choice: Choice) -> dict[str, Any] | None:
    if candidate is None:
        return None
    against = {} if choice.against is None else vars(choice.against)
    about = {
        "clusterer": candidate.clusterer,
        "k": candidate.n_clusters,
        "mean": candidate.score,
        "low": candidate.low,
        "high": candidate.high,
        **{name: float(values[choice.place(candidate)]) for name, values in against.items()},
    }
    return {name: plain_value(value) for name, value in about.items()}


# ---------------------------------------------------------------------------------------------------------------------
# sections


def _section(
    name: str, title: str, text: Sequence[str], charts: Sequence[Chart | None], tables: Sequence[Table]
) -> Section:
    return {
        "id": name,
        "title": title,
        "text": list(text),
        "charts": [chart for chart in charts if chart is not None],
        "tables": list(tables),
    }


def _findings(material: Material) -> list[Section]:
    """Show the clusters in every study, and the studies, with what was done to compare them."""
    findings = material.findings
    if findings is None:
        return []
    sections = []
    if findings.n_clusters > 1:
        tables = [clusters_of(findings), entries_of(findings)]
        chart = FindingsGrid.of(findings).chart()
        sections.append(_section("findings", "Clusters in every study", [words.ABOUT_TABLE], [chart], tables))
    tables = [studies_of(findings)]
    if material.known is not None and findings.n_clusters > 1:
        tables.append(_known_table(material.known, findings))
    return [*sections, _section("studies", "Studies", list(filter(None, [findings.alignment])), [], tables)]


def _known_table(known: pd.DataFrame, findings: Findings) -> Table:
    explanations = {name: f"Samples in cluster {name}" for name in (*findings.letters, UNMATCHED)}
    most, title = len(known.columns), "Known labels and clusters"
    table = table_of(known, "known-table", title, explanations=explanations, most=most)
    for column in table["columns"][1:]:
        column["kind"] = "count"
    return table


def _samples(material: Material) -> Section | None:
    """Show all samples by cluster."""
    if material.samples is None:
        return None
    return _section("samples", "Map of samples", [], [material.samples.chart()], [])


def _tree(material: Material) -> Section | None:
    """Show the clusters within the separated clusters."""
    tree = material.tree
    if tree is None:
        return None
    return _tree_section(tree, "subclusters")


def _tree_section(tree: ClusterTree, name: str) -> Section:
    chart = {**NestedClusters.of(tree).chart(), "id": f"{name}-chart"}
    table = table_of(tree.to_frame(), f"{name}-table", "Clusters within clusters", columns.TREE)
    return _section(name, "Clusters within clusters", [str(tree), words.ABOUT_TREE], [chart], [table])


def _valleys_of(separation: Separation) -> tuple[list[Chart], list[Table]]:
    """Draw the density valleys of the chosen clustering; tables of all."""
    densities = valleys_chart(separation, max(separation.chosen, 0))
    by_k = separation.summary()[["k", "separated", "adjusted", "depth", "complete", "pvalue", "near_depth"]]
    tables = [table_of(by_k, "valleys-by-k-table", f"Density valleys by number of clusters: {separation.clusterer}")]
    every_k, note = separation.to_frame(), words.NUMBERS_OF_CLUSTERS
    tables.append(table_of(every_k, "valleys-table", "Neighbouring clusters", columns.VALLEYS, note=note))
    return ([] if densities is None else [densities]), tables


def _data(studies: dict[str, dict[str, Any]]) -> Section | None:
    if not studies:
        return None
    frame = pd.DataFrame([{"study": name, **about} for name, about in studies.items()])
    return _section("data", "Data", [], [], [table_of(frame, "studies-table", "Studies")])


def _choice(material: Material) -> Section | None:
    comparison, summary = material.comparison, material.summary
    if comparison is None or summary is None:
        return None
    both = comparison.curves.parameters not in ([], ["k"]) and len(comparison.curves.parameters) == 1
    curves = [
        ScoreCurves.of(comparison, agreement, material.reference, against)
        for agreement in comparison.agreements
        for against in ((PARAMETER, CLUSTERS) if both else (None,))
    ]
    tables = []
    for place, agreement in enumerate(comparison.agreements):
        table = without_zero_counts(summary[summary["agreement"] == agreement]).dropna(axis=1, how="all")
        name = "choice-table" if place == 0 else f"choice-table-{place}"
        tables.append(
            table_of(table, name, f"Clusterers and numbers of clusters by {shown(agreement)}", columns.CHOICE)
        )
    text = [words.SCORE_AND_RIVALS]
    return _section("choice", "Clusterers and numbers of clusters", text, [curves_chart(curves)], tables)


def _embedded(material: Material) -> Section | None:
    """Put scores in an embedding of every training study beside those of the analysis."""
    if material.embedded is None or material.comparison is None:
        return None
    shared = Run.of(material.comparison.provenance).settings.get("shared_embedding", "the given features")
    spaces = {str(shared): material.comparison, "learned on the training study": material.embedded}
    frames = [comparison.summary().assign(space=space) for space, comparison in spaces.items()]
    frame = pd.concat(frames).sort_values(["agreement", "clusterer", "k"], kind="stable")
    table = table_of(frame, "embedded-table", "Scores in both spaces", columns.EMBEDDED)
    return _section("embedded", "Aligned before, or not", [words.ABOUT_EMBEDDED], [], [table])


def _pairs(material: Material) -> Section | None:
    if not material.replicabilities:
        return None
    focus = material.replicabilities[0]
    name = label(focus.clusterer, focus.n_clusters)
    pairs = focus.to_frame().rename(columns={"score": "estimate"})
    text = [words.about_studies(focus), f"Shown first: {name}. Scores are {shown(focus.agreement)}."]
    charts = [matrices_chart(material.replicabilities)]
    charts.append(strips_chart(focus))
    tables = [table_of(without_zero_counts(pairs), "pairs-table", f"Pairs of studies: {name}", columns.PAIRS)]
    return _section("pairs", "Study × study", text, charts, tables)


def _clusters(material: Material) -> Section | None:
    """Show the local scores of a clusterer's own clusters, where there are no findings to show them by."""
    if material.clusters is None:
        return None
    text = [f"Clusters of {words.named(material.local[0])}. {words.ABOUT_LOCAL}"]
    tables = [table_of(material.clusters, "clusters-table", "Clusters in the other studies", columns.CLUSTERS)]
    return _section("clusters", "Local replicability by cluster", text, [clusters_chart(material.local)], tables)


def _map(material: Material) -> Section | None:
    chart = map_chart(material.maps)
    return None if chart is None else _section("map", "Local replicability", [words.ABOUT_LOCAL], [chart], [])


def _other(result: Any, number: int) -> Section:
    """Show a result in a section of its own: a chart where there is one, and its table."""
    kind = type(result).__name__
    name, title = f"{kind.lower()}-{number}", words.SECTIONS.get(kind, kind)
    chart: Chart | None = None
    if isinstance(result, ClusterTest):
        chart, title = null_distribution_chart(result), f"Test for clusters: {_studies_of(result)}"
    if isinstance(result, Validation):
        chart, title = indices_chart(result), f"Indices within one study: {_studies_of(result)}"
    if isinstance(result, Separation):
        charts, tables = _valleys_of(result)
        numbered = [{**part, "id": f"{part['id']}-{number}"} for part in tables]
        charts = [{**part, "id": f"{part['id']}-{number}"} for part in charts]
        title = f"Density valleys between clusters: {result.clusterer}"
        return _section(name, title, [words.ABOUT_VALLEYS], charts, numbered)
    if isinstance(result, ClusterTree):
        return _tree_section(result, name)
    if chart is not None:
        chart = {**chart, "id": f"{chart['id']}-{number}"}
    frame = result.to_frame()
    return _section(name, title, [], [chart], [table_of(frame, f"{name}-table", plural(len(frame), "row"))])
