"""Material → facts: one plain dict, from which the page, the Markdown and the JSON are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

import clustrep.report.columns as columns
import clustrep.report.words as words
from clustrep.figures.between_studies import PairStrips, StudyMatrix, matrices_chart
from clustrep.figures.charts import Chart
from clustrep.figures.local_maps import ClusterBars, clusters_chart, map_chart
from clustrep.figures.one_study import NullHistogram
from clustrep.figures.over_k import IndexPanels
from clustrep.figures.score_curves import ScoreCurves, curves_chart
from clustrep.figures.study_relations import StudyTree
from clustrep.report.columns import Table, plain_value, table_of, without_zero_counts
from clustrep.report.material import Material
from clustrep.report.methods import Run, methods_of
from clustrep.results import Candidate, Choice, ClusterTest, Validation
from clustrep.results.labels import label
from clustrep.tables.agreement import shown
from clustrep.text import plural

Facts = dict[str, Any]
Section = dict[str, Any]


def facts_of(material: Material, title: str | None = None) -> Facts:
    """Say everything that results say, in plain types."""
    runs = [Run.of(result.provenance) for result in material.results]
    studies = {name: about for run in runs for name, about in run.studies.items()}
    sections = [
        _data(studies),
        _choice(material),
        _pairs(material),
        _clusters(material),
        _map(material),
        *(_other(result, number) for number, result in enumerate(material.others, 1)),
    ]
    return {
        "title": title or _title(material),
        "subtitle": f"{', '.join(studies)}: {sum(about['samples'] for about in studies.values()):,} samples",
        "verdict": verdict_of(material),
        "answer": answer_of(material),
        "sections": [section for section in sections if section is not None],
        "methods": methods_of(material.comparison, material.reference),
        "warnings": list(material.warnings),
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
    """Say what was found: the choice, the studies, the clusters, what to be careful about, what failed."""
    sentences: list[tuple[str, str]] = []
    choice, others = material.choice, material.others
    if choice is not None:
        is_answer = choice.best is not None and (choice.against is None or choice.chosen is not None)
        sentences.append(("best" if is_answer else "caution", words.about_choice(choice)))
    if material.replicabilities and (choice is None or choice.best is not None):
        sentences.append(("studies", words.about_studies(material.replicabilities[0], material.relations)))
    sentences += [("clusters", sentence) for sentence in words.about_clusters(material.clusters)]
    tests = [result for result in others if isinstance(result, ClusterTest)]
    sentences += [("clusters", words.about_test(test, _studies_of(test))) for test in tests]
    sentences += [("clusters", words.about_indices(result)) for result in others if isinstance(result, Validation)]
    sentences.append(("caution", words.about_resolution(material.clusters)))
    if material.replicabilities:
        sentences += [("caution", sentence) for sentence in words.cautions(material.replicabilities[0])]
    sentences.append(("failure", material.failures.sentence("score")))
    return [{"kind": kind, "text": text} for kind, text in sentences if text]


def answer_of(material: Material) -> dict[str, Any]:
    """Give the answer to scripts: the best, its rivals, what is above data without clusters, who stands apart."""
    choice, relations = material.choice, material.relations
    if choice is None:
        return {}
    rivals = () if choice.best is None else choice.best.rivals
    return {
        "best": _candidate(choice.best, choice),
        "rivals": [_candidate(rival, choice) for rival in rivals],
        "farthest_above": _candidate(choice.chosen, choice) if choice.against is not None else None,
        "looked_at": _candidate(choice.focus, choice),
        "apart": None
        if relations is None
        else [name for name, apart in zip(relations.names, relations.apart, strict=True) if apart],
    }


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


def _data(studies: dict[str, dict[str, Any]]) -> Section | None:
    if not studies:
        return None
    frame = pd.DataFrame([{"study": name, **about} for name, about in studies.items()])
    return _section("data", "Data", [], [], [table_of(frame, "studies-table", "Studies")])


def _choice(material: Material) -> Section | None:
    comparison, summary = material.comparison, material.summary
    if comparison is None or summary is None:
        return None
    curves = [ScoreCurves.of(comparison, agreement, material.reference) for agreement in comparison.agreements]
    table = without_zero_counts(summary.assign(agreement=[shown(name) for name in summary["agreement"]]))
    return _section(
        "choice",
        "Which algorithm, and how many clusters",
        [words.SCORE_AND_RIVALS],
        [curves_chart(curves)],
        [table_of(table, "choice-table", "Clusterers and numbers of clusters", columns.CHOICE)],
    )


def _pairs(material: Material) -> Section | None:
    if not material.replicabilities:
        return None
    focus, relations = material.replicabilities[0], material.relations
    name = label(focus.clusterer, focus.n_clusters)
    pairs = focus.to_frame().assign(agreement=shown(focus.agreement)).rename(columns={"score": "estimate"})
    text = [f"Shown first: {name}."]
    charts = [matrices_chart([StudyMatrix.of(result) for result in material.replicabilities])]
    charts.append(PairStrips.of(focus).chart())
    tables = [table_of(without_zero_counts(pairs), "pairs-table", f"Pairs of studies: {name}")]
    if relations is not None:
        text.append(words.STANDS_APART)
        charts.append(StudyTree.of(relations).chart())
        tables.append(table_of(relations.to_frame(), "relations-table", "Studies against the others"))
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
        tables.append(table_of(material.counterparts.to_frame(), "counterparts-table", "Which cluster is which"))
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
    name, title = f"{type(result).__name__.lower()}-{number}", type(result).__name__
    chart: Chart | None = None
    if isinstance(result, ClusterTest):
        chart, title = NullHistogram.of(result).chart(), f"Are there clusters at all: {_studies_of(result)}"
    if isinstance(result, Validation):
        chart, title = IndexPanels.of(result).chart(), f"Indices within one study: {_studies_of(result)}"
    if chart is not None:
        chart = {**chart, "id": f"{chart['id']}-{number}"}
    frame = result.to_frame()
    return _section(name, title, [], [chart], [table_of(frame, f"{name}-table", plural(len(frame), "row"))])
