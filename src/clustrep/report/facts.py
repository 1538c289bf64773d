"""Material → facts: one plain dict, from which the page, the Markdown and the JSON are made, and the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

import clustrep.report.words as words
from clustrep.algorithms.choice import Candidate, Choice
from clustrep.algorithms.comparison import Comparison
from clustrep.algorithms.local_scores import LocalReplicability
from clustrep.algorithms.pairwise import Replicability
from clustrep.analysis.headline import NEXT, STUDIES, SURE, heterogeneity_sentence
from clustrep.analysis.result import Analysis, summary_of
from clustrep.findings.annotations import CATEGORY, Annotations
from clustrep.findings.cluster_tree import ClusterTree
from clustrep.findings.features import clear_features, feature_sentences
from clustrep.findings.result import INCONCLUSIVE, SEPARATED, Findings
from clustrep.findings.sentences import depth_sentence, missing_sentences, outlier_sentence, own_sentence
from clustrep.report import figures as drawings
from clustrep.report.columns import Table, plain_value, table_of
from clustrep.report.figures import Figure
from clustrep.report.material import Material
from clustrep.report.words import methods_of, rows_of, settings_of
from clustrep.separation.result import Separation
from clustrep.stability.results import ClusterTest, Validation

Facts = dict[str, Any]

MOST_FEATURES = 3  # of a card, in either direction: as in the sentences
MOST_TABLES = 4  # of annotations with their categories; `Annotations.table_of` has all
COMPARABILITY = ("study", "n", "clusters", "own_clusters", "own_pvalue", "shift", "scale", "mixing")
ENTRY = ("study", "status", "n", "share", "replicability", "low", "high")


class Story:
    """The sections of a report in order: plain facts, and the figures by their names."""

    def __init__(self) -> None:
        self.sections: list[dict[str, Any]] = []
        self.figures: dict[str, Figure] = {}

    def tell(
        self,
        name: str,
        title: str,
        text: Sequence[str],
        figures: Sequence[Figure | None] = (),
        tables: Sequence[Table] = (),
    ) -> None:
        """Add a section, unless it has nothing to show."""
        drawn = [self._figure(figure) for figure in figures if figure is not None]
        said = [sentence for sentence in text if sentence]
        if said or drawn or tables:
            self.sections.append({"id": name, "title": title, "text": said, "figures": drawn, "tables": list(tables)})

    def _figure(self, figure: Figure) -> dict[str, Any]:
        self.figures[figure.name] = figure
        table = table_of(figure.frame, f"{figure.name}-table", figure.title, figure.columns) if figure.columns else None
        about = {"id": figure.name, "title": figure.title, "description": figure.description, "python": figure.python}
        return {**about, "table": table}


def facts_of(material: Material, title: str | None = None) -> tuple[Facts, dict[str, Figure]]:
    """Write all that results have, in plain types; and return the figures by their names."""
    runs = material.provenances
    studies = {name: about for run in runs for name, about in run["studies"].items()}
    findings, story = material.findings, Story()
    if material.analysis is not None:
        _tell_analysis(story, material.analysis)
    elif findings is not None:
        _tell_clusters(story, findings, "findings")
        _tell_evidence(story, findings, "findings")
    for number, result in enumerate(material.others, 1):
        _tell_result(story, result, number, material)
    facts = {
        "title": title or _title(material),
        "subtitle": _subtitle(material, studies),
        "verdict": verdict_of(material),
        "answer": answer_of(material),
        "clusters": None if findings is None or findings.n_clusters < 2 else cards_of(findings),
        "studies": None if findings is None else _studies(findings, material),
        "sections": story.sections,
        "methods": methods_of(material.comparison, material.reference, findings),
        "warnings": [*material.warnings, *filter(None, [material.failures.sentence("score")])],
        "data": _data(words.studies_as_read(studies, findings)) if studies else None,
        "provenance": rows_of(runs[0]) if runs else [],
    }
    return facts, story.figures


def _title(material: Material) -> str:
    others = material.others
    if others and all(isinstance(result, ClusterTest) for result in others):
        return words.TITLE_OF_TESTS
    if len(others) == 1 and isinstance(others[0], Validation):
        return f"{_studies_of(others[0])}: {others[0].clusterer}"
    return words.TITLE


def _subtitle(material: Material, studies: dict[str, dict[str, Any]]) -> str:
    """Name the studies, and count their samples."""
    if material.findings is not None:
        sizes = dict(zip(material.findings.names, material.findings.sizes.tolist(), strict=True))
    else:
        sizes = {name: about["samples"] for name, about in studies.items()}
    each = ", ".join(f"{name} ({size:,})" for name, size in sizes.items())
    return f"{sum(sizes.values()):,} samples: {each}. {words.NO_SAMPLES}"


def _studies_of(result: Any) -> str:
    return ", ".join(result.provenance["studies"])


# ---------------------------------------------------------------------------------------------------------------------
# the answer, for people and for scripts


def verdict_of(material: Material) -> list[dict[str, str]]:
    """Write the answer, how well it replicates, why; studies, cautions, failures; what to do next."""
    sentences: list[tuple[str, str]] = [said for said in material.headline if said.kind != NEXT]
    separations = [result for result in material.others if isinstance(result, Separation)]
    for result in material.others:
        if isinstance(result, ClusterTest):
            sentences.append(("clusters", words.about_test(result, _studies_of(result))))
        if isinstance(result, Validation):
            sentences.append(("clusters", words.about_indices(result)))
        if isinstance(result, Separation):
            sentences.append((SEPARATED if result.separated else INCONCLUSIVE, str(result)))
    if material.replicability is not None:
        sentences += [("caution", sentence) for sentence in material.replicability.cautions]
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
            "table": _records(findings.table()),
            "clusters": _records(findings.clusters()),
            "studies": _records(findings.studies()),
        }
    if choice is not None:
        rivals = () if choice.best is None else choice.best.rivals
        answer |= {
            "best": _candidate(choice.best, choice),
            "rivals": [_candidate(rival, choice) for rival in rivals],
            "focus": _candidate(material.focus, choice),
        }
    if material.replicability is not None and len(material.replicability.names) > 2:  # two are a single pair
        answer["heterogeneity"] = plain_value(material.replicability.heterogeneity)
    return answer


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): plain_value(value) for name, value in row.items()} for row in frame.to_dict("records")]


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
# the first screen: clusters and studies


def cards_of(findings: Findings) -> list[dict[str, Any]]:
    """Describe every cluster: how often it is found, in every study, and its clearest features."""
    table, clear = findings.table(), clear_features(findings)
    cards = []
    for card in _records(findings.clusters()):
        of_cluster = clear[clear["cluster"] == card["cluster"]]
        features = {
            direction: of_cluster["feature"][of_cluster["direction"] == direction].head(MOST_FEATURES).tolist()
            for direction in ("higher", "lower")
        }
        entries = _records(table[table["cluster"] == card["cluster"]][list(ENTRY)])
        cards.append({**card, **features, "studies": entries})
    return cards


def _studies(findings: Findings, material: Material) -> dict[str, Any]:
    """Say how comparable the studies are."""
    text = [said.text for said in material.headline if said.kind == STUDIES]
    if material.analysis is None:
        text = [findings.alignment, own_sentence(findings), outlier_sentence(findings)]
    # "0 clusters" would read as if there were none.
    columns = [name for name in COMPARABILITY if name != "clusters" or findings.verdict != INCONCLUSIVE]
    table = table_of(findings.studies(), "studies-table", "Comparability of the studies", columns)
    return {"text": list(filter(None, text)), "table": table}


def _data(studies: Mapping[str, Mapping[str, Any]]) -> Table:
    frame = pd.DataFrame([{"study": name, **about} for name, about in studies.items()])
    return table_of(frame.rename(columns={"scale": "scaling"}), "data-table", "Data as they were read")


# ---------------------------------------------------------------------------------------------------------------------
# sections of an analysis


def _tell_analysis(story: Story, analysis: Analysis) -> None:
    findings, name = analysis.findings, "analysis.findings"
    _tell_clusters(story, findings, name)
    story.tell("samples", "Map of samples", [], drawings.map_figures(analysis))
    text = [words.NUMBER[findings.verdict], *(said.text for said in analysis.headline if said.kind == SURE)]
    story.tell("choice", "Number of clusters", text, drawings.choice_figures(analysis))
    pairs = drawings.pairs_figure(analysis)
    if analysis.replicability is not None and pairs is not None:
        _tell_pairs(story, analysis.replicability, pairs)
    _tell_evidence(story, findings, name)
    if analysis.annotations is not None and findings.n_clusters > 1:
        _tell_annotations(story, analysis.annotations)
    if analysis.tree is not None:
        figure = drawings.subclusters_figure(analysis.tree, "analysis.tree")
        story.tell("subclusters", "Clusters within clusters", [str(analysis.tree), words.ABOUT_TREE], [figure])
    if analysis.embedded is not None:
        story.tell("embedded", "Aligned before, or not", [words.ABOUT_EMBEDDED], tables=[_embedded(analysis)])


def _tell_pairs(story: Story, result: Replicability, figure: Figure, name: str = "pairs") -> None:
    several = heterogeneity_sentence(result.heterogeneity) if len(result.names) > 2 else ""  # two are a single pair
    story.tell(name, figure.title, [several, *result.cautions], [figure])


def _tell_clusters(story: Story, findings: Findings, name: str) -> None:
    if findings.n_clusters > 1:
        story.tell("findings", "Clusters", missing_sentences(findings), [drawings.table_figure(findings, name)])


def _tell_evidence(story: Story, findings: Findings, name: str) -> None:
    """Show valleys and features."""
    story.tell("valleys", "Density valleys", [depth_sentence(findings)], [drawings.valleys_figure(findings, name)])
    features = [drawings.features_figure(findings, name), drawings.dots_figure(findings, name)]
    story.tell("features", "Features", feature_sentences(findings), features)


def _tell_annotations(story: Story, annotations: Annotations) -> None:
    """Show what clusters have to do with known labels and other annotations, and the samples of every category."""
    figure = drawings.annotations_figure(annotations, "analysis.annotations")
    tables: list[Table] = []
    for i, column in enumerate(annotations.columns):
        if annotations.kinds[i] == CATEGORY and len(annotations.letters) > 1 and len(tables) < MOST_TABLES:
            title = f"{column[:1].upper()}{column[1:]} and clusters"
            table = table_of(annotations.table_of(column).reset_index(), f"known-table-{len(tables) + 1}", title)
            for each in table["columns"][1:]:
                each["title"] = f"Samples with this {column} in cluster {each['key']}"
            tables.append(table)
    story.tell("annotations", "Annotations", annotations.notes, [figure], tables)


def _embedded(analysis: Analysis) -> Table:
    """Put scores in an embedding of every training study beside those of the analysis."""
    assert analysis.embedded is not None
    shared = settings_of(analysis.provenance).get("shared_embedding", "the given features")
    spaces = {str(shared): analysis.comparison, "learned on the training study": analysis.embedded}
    frames = [comparison.summary().assign(space=space) for space, comparison in spaces.items()]
    frame = pd.concat(frames).sort_values(["agreement", "clusterer", "k"], kind="stable")
    columns = ("clusterer", "k", "clusters_found", "agreement", "space", "score", "low", "high")
    return table_of(frame, "embedded-table", "Scores in both spaces", columns)


# ---------------------------------------------------------------------------------------------------------------------
# sections of single results


def _tell_result(story: Story, result: Any, number: int, material: Material) -> None:
    """Show a result in one section: its drawing where there is one, and its table."""
    kind = type(result).__name__
    name, title = f"{kind.lower()}-{number}", words.SECTIONS.get(kind, kind)
    if isinstance(result, ClusterTree):
        story.tell(name, title, [str(result), words.ABOUT_TREE], [drawings.subclusters_figure(result, "tree")])
        return
    if isinstance(result, Replicability):
        _tell_pairs(story, result, drawings.forest_figure(result, name, "result"), name)
        return
    frame, draw, text = result.to_frame(), getattr(result, "plot", None), ""
    arguments: dict[str, Any] = {}
    if isinstance(result, Comparison) and material.choice is not None:
        frame, arguments = summary_of(result, material.choice, material.reference), {"reference": material.reference}
    if isinstance(result, LocalReplicability):
        frame, arguments, text = result.by_cluster(), {"kind": "clusters"}, words.ABOUT_LOCAL
        title = f"{title}: {result.train} → {result.test}"
    if isinstance(result, Separation):
        frame, text = result.summary(), words.ABOUT_VALLEYS
    if isinstance(result, ClusterTest | Validation):
        title = f"{title}: {_studies_of(result)}"
    if draw is None or not _is_drawn(result):
        story.tell(name, title, [text], tables=[table_of(frame, f"{name}-table", title)])
        return
    line = ", ".join(f"{key}={value if key == 'reference' else repr(value)}" for key, value in arguments.items())
    figure = Figure(
        name, title, repr(result).partition("\n")[0], f"result.plot({line})", partial(draw, **arguments), frame,
        tuple(map(str, frame.columns)),
    )  # fmt: skip
    story.tell(name, title, [text], [figure])


def _is_drawn(result: Any) -> bool:
    """Whether there is anything to draw: not of a validation by the test for clusters alone."""
    return not isinstance(result, Validation) or result.overall().shape[1] > 0
