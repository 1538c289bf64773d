"""Material → facts: one plain dict, from which the page, the Markdown and the JSON are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

import clustrep.report.columns as columns
import clustrep.report.words as words
from clustrep.figures.between_studies import PairStrips, StudyMatrix, matrices_chart
from clustrep.figures.charts import Chart
from clustrep.figures.cluster_trees import NestedClusters
from clustrep.figures.gap_densities import GapDensities
from clustrep.figures.local_maps import ClusterBars, clusters_chart, map_chart
from clustrep.figures.one_study import NullHistogram
from clustrep.figures.over_k import IndexPanels
from clustrep.figures.score_curves import ScoreCurves, curves_chart
from clustrep.figures.study_relations import StudyTree
from clustrep.report.cluster_grid import grid_of, overview_of
from clustrep.report.columns import Table, plain_value, table_of, without_zero_counts
from clustrep.report.material import Material
from clustrep.report.methods import Run, methods_of
from clustrep.results import (
    Candidate,
    Choice,
    ClusterTest,
    ClusterTree,
    Separation,
    StudyDifferences,
    StudyRelations,
    Validation,
)
from clustrep.results.along import CLUSTERS, PARAMETER
from clustrep.results.headline import NEXT
from clustrep.results.labels import label
from clustrep.results.presence_words import ABSENT
from clustrep.results.shared_numbers import place_in_focus, renamed
from clustrep.results.verdict import ONE_PIECE, separation_of
from clustrep.tables.agreement import shown
from clustrep.text import plural

Facts = dict[str, Any]
Section = dict[str, Any]


def facts_of(material: Material, title: str | None = None) -> Facts:
    """Say everything that results say, in plain types."""
    runs = [Run.of(result.provenance) for result in material.results]
    studies = {name: about for run in runs for name, about in run.studies.items()}
    sections = [
        _presence(material, list(studies)),
        _gaps(material),
        _tree(material),
        _data(studies),
        _choice(material),
        _embedded(material),
        _pairs(material),
        _clusters(material),
        _map(material),
        *(_other(result, number) for number, result in enumerate(material.others, 1)),
    ]
    return {
        "title": title or _title(material),
        "subtitle": f"{', '.join(studies)}: {sum(about['samples'] for about in studies.values()):,} samples.",
        "samples": words.NAMES_SAMPLES if any(points.names_samples for points in material.maps) else words.NO_SAMPLES,
        "verdict": verdict_of(material),
        "answer": answer_of(material),
        "overview": overview_of(presence_told(material), list(studies)),
        "sections": [section for section in sections if section is not None],
        "methods": methods_of(material.comparison, material.reference),
        "warnings": [*material.warnings, *filter(None, [material.failures.sentence("score")])],
        "provenance": runs[0].rows(),
    }


def _title(material: Material) -> str:
    others = material.others
    if material.results == others and all(isinstance(result, ClusterTest) for result in others):
        return words.TITLE_OF_TESTS
    if material.results == others and len(others) == 1 and isinstance(others[0], Validation):
        return f"{_studies_of(others[0])}: {others[0].clusterer}"
    return words.TITLE


def _studies_of(result: Any) -> str:
    return ", ".join(Run.of(result.provenance).studies)


# ---------------------------------------------------------------------------------------------------------------------
# the verdict, for people and for scripts


def verdict_of(material: Material) -> list[dict[str, str]]:
    """Say what was found: the answer, how sure it is, why; studies, clusters, cautions, failures; what to do next."""
    others, verdict = material.others, material.verdict
    sentences: list[tuple[str, str]] = [said for said in material.headline if said.kind != NEXT]
    presence = presence_told(material)
    if material.replicabilities and (verdict is None or verdict.focus is not None):
        differences = material.differences
        differ = ABSENT in set(presence["word"]) or (differences is not None and bool(differences.apart.any()))
        about = words.about_studies(material.replicabilities[0], material.relations, differ=differ)
        sentences.append(("studies", about))
    if verdict is not None and verdict.degree != ONE_PIECE:
        sentences.append(("studies", words.about_differences(material.differences, material.followed, presence)))
    in_studies = words.about_presence(presence) or words.about_clusters(material.clusters)
    sentences.append(("clusters", in_studies))
    tests = [result for result in others if isinstance(result, ClusterTest)]
    sentences += [("clusters", words.about_test(test, _studies_of(test))) for test in tests]
    sentences += [("clusters", words.about_indices(result)) for result in others if isinstance(result, Validation)]
    gaps = [result for result in others if isinstance(result, Separation)]
    sentences += [("separated" if result.separated else "unknown", words.about_gaps(result)) for result in gaps]
    if presence.empty:
        sentences.append(("caution", words.about_resolution(material.clusters)))
    if material.replicabilities:
        sentences += [("caution", sentence) for sentence in words.cautions(material.replicabilities[0])]
    sentences.append(("failure", words.about_failures(material.failures)))
    sentences += [said for said in material.headline if said.kind == NEXT]
    if gaps:
        any_gap = any(result.separated for result in gaps)
        sentences.append((NEXT, words.AFTER_GAPS if any_gap else words.AFTER_NO_GAPS))
    return [{"kind": kind.replace(" ", "-"), "text": text} for kind, text in sentences if text]


def presence_told(material: Material) -> pd.DataFrame:
    """Return what became of clusters in other studies; nothing for data in one piece, which have no clusters."""
    in_one_piece = material.verdict is not None and material.verdict.degree == ONE_PIECE
    return material.presence[:0] if in_one_piece else material.presence


def answer_of(material: Material) -> dict[str, Any]:
    """Give the answer to scripts: degree, number of clusters, presence, the best and its rivals, who stands apart."""
    choice, verdict, relations = material.choice, material.verdict, material.relations
    if choice is None or verdict is None:
        return {}
    rivals = () if choice.best is None else choice.best.rivals
    return {
        "degree": verdict.degree,
        "n_clusters": verdict.n_clusters,
        "levels": list(verdict.levels),
        "pvalue": plain_value(verdict.pvalue),
        "presence": table_of(material.presence, "presence", "")["rows"],
        "best": _candidate(choice.best, choice),
        "rivals": [_candidate(rival, choice) for rival in rivals],
        "farthest_above": _candidate(choice.chosen, choice) if choice.against is not None else None,
        "looked_at": _candidate(verdict.focus, choice),
        "differs": None if material.differences is None else _flagged(material.differences),
        "apart": None if relations is None else _flagged(relations),
    }


def _flagged(result: StudyRelations | StudyDifferences) -> list[str]:
    return [name for name, apart in zip(result.names, result.apart, strict=True) if apart]


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


def _presence(material: Material, names: Sequence[str]) -> Section | None:
    table = grid_of(presence_told(material), material.clusters, names)
    if table is None:
        return None
    return _section("presence", "Clusters in every study", [], [], [table])


def _gaps(material: Material) -> Section | None:
    """Show the gaps of the clustering in focus; of all others in the table."""
    if material.verdict is None:
        return None
    separation = separation_of(material.verdict, material.separations)
    if separation is None:
        return None
    parts = _gaps_of(separation, material.verdict.focus, material.pieces)
    return _section("gaps", "Gaps between clusters", [words.ABOUT_GAPS], *parts)


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


def _gaps_of(
    separation: Separation, focus: Candidate | None = None, pieces: Mapping[str, str] | None = None
) -> tuple[list[Chart], list[Table]]:
    """Draw the gaps of one clustering, that in focus where it has any; tables of all."""
    densities = GapDensities.of(separation, place_in_focus(separation, focus), pieces)
    by_k = separation.summary()[["k", "groups", "adjusted", "depth", "complete", "pvalue", "near_depth"]]
    tables = [table_of(by_k, "gaps-by-k-table", f"Gaps by number of clusters: {separation.clusterer}")]
    every_k = separation.to_frame()
    tables.append(table_of(every_k, "gaps-table", "Neighbouring clusters", columns.GAPS, note=words.NUMBERS_OF_PIECES))
    return ([densities.chart()] if densities.pairs else []), tables


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
        table = without_zero_counts(summary[summary["agreement"] == agreement])
        name = "choice-table" if place == 0 else f"choice-table-{place}"
        tables.append(
            table_of(table, name, f"Clusterers and numbers of clusters by {shown(agreement)}", columns.CHOICE)
        )
    text = [words.SCORE_AND_RIVALS]
    return _section("choice", "Which algorithm, and how many clusters", text, [curves_chart(curves)], tables)


def _embedded(material: Material) -> Section | None:
    """Put scores in an embedding of every training study beside those of the analysis."""
    if material.embedded is None or material.comparison is None:
        return None
    shared = Run.of(material.comparison.provenance).settings.get("shared_embedding", "the features as they are")
    spaces = {str(shared): material.comparison, "learned on the training study": material.embedded}
    frames = [comparison.summary().assign(space=space) for space, comparison in spaces.items()]
    frame = pd.concat(frames).sort_values(["agreement", "clusterer", "k"], kind="stable")
    table = table_of(frame, "embedded-table", "Scores in both spaces", columns.EMBEDDED)
    return _section("embedded", "Aligned before, or not", [words.ABOUT_EMBEDDED], [], [table])


def _pairs(material: Material) -> Section | None:
    if not material.replicabilities:
        return None
    focus, relations = material.replicabilities[0], material.relations
    name = label(focus.clusterer, focus.n_clusters)
    pairs = focus.to_frame().rename(columns={"score": "estimate"})
    text = [f"Shown first: {name}. Scores are {shown(focus.agreement)}."]
    charts = [matrices_chart([StudyMatrix.of(result) for result in material.replicabilities])]
    charts.append(PairStrips.of(focus).chart())
    tables = [table_of(without_zero_counts(pairs), "pairs-table", f"Pairs of studies: {name}", columns.PAIRS)]
    if relations is not None:
        text.append(words.STANDS_APART)
        charts.append(StudyTree.of(relations).chart())
        tables.append(
            table_of(relations.to_frame(), "relations-table", "Studies against the others", columns.RELATIONS)
        )
    if material.differences is not None:
        text.append(words.WHAT_DIFFERS)
        frame = material.differences.to_frame()
        frame = frame[frame["study"].isin(material.followed)].rename(columns={"cluster": "of the others"})
        title = "Studies in the clusters of the others"
        tables.append(table_of(frame, "differences-table", title, columns.DIFFERENCES))
    return _section("pairs", "Which studies agree", text, charts, tables)


def _clusters(material: Material) -> Section | None:
    table = material.clusters
    if table.empty:
        return None
    focus = material.local[0]
    text = [f"Clusters of {label(focus.clusterer, focus.n_clusters)}. {words.WHAT_HOLDS}"]
    tables = [table_of(table, "clusters-table", "Clusters in the other studies", columns.CLUSTERS)]
    if material.counterparts is not None:
        text.append(words.WHAT_COUNTERPARTS_ARE)
        matched = renamed(material.counterparts.to_frame(), material.names)
        matched = matched[matched["train"].isin(material.followed)]
        tables.append(table_of(matched, "counterparts-table", "Which cluster is which", columns.COUNTERPARTS))
    bars = [
        ClusterBars.of(result, table[(table["train"] == result.train) & (table["test"] == result.test)])
        for result in material.local
    ]
    return _section("clusters", "Which clusters hold", text, [clusters_chart(bars)], tables)


def _map(material: Material) -> Section | None:
    chart = map_chart(material.maps)
    return None if chart is None else _section("map", "Sample by sample", [], [chart], [])


def _other(result: Any, number: int) -> Section:
    """Tell of a result in a section of its own: a chart where there is one, and its table."""
    kind = type(result).__name__
    name, title = f"{kind.lower()}-{number}", words.SECTIONS.get(kind, kind)
    chart: Chart | None = None
    if isinstance(result, ClusterTest):
        chart, title = NullHistogram.of(result).chart(), f"Are there clusters at all: {_studies_of(result)}"
    if isinstance(result, Validation):
        chart, title = IndexPanels.of(result).chart(), f"Indices within one study: {_studies_of(result)}"
    if isinstance(result, Separation):
        charts, tables = _gaps_of(result)
        numbered = [{**part, "id": f"{part['id']}-{number}"} for part in tables]
        charts = [{**part, "id": f"{part['id']}-{number}"} for part in charts]
        return _section(name, f"Gaps between clusters: {result.clusterer}", [words.ABOUT_GAPS], charts, numbered)
    if isinstance(result, ClusterTree):
        return _tree_section(result, name)
    if chart is not None:
        chart = {**chart, "id": f"{chart['id']}-{number}"}
    frame = result.to_frame()
    return _section(name, title, [], [chart], [table_of(frame, f"{name}-table", plural(len(frame), "row"))])
