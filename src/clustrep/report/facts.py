"""Results → facts: one plain dict, from which the page, the Markdown and the JSON are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

import clustrep.report.methods as methods
import clustrep.report.words as words
from clustrep.errors import ParameterError
from clustrep.figures.plotly import charts, charts_within
from clustrep.figures.plotly.charts import Chart, numbers
from clustrep.gaussian import principal_axes
from clustrep.results import (
    RESULTS,
    Analysis,
    Candidate,
    Choice,
    ClusterTest,
    Comparison,
    Counterparts,
    LocalReplicability,
    NullReference,
    Replicability,
    StudyRelations,
    Validation,
)
from clustrep.results.analysis import cluster_names, cluster_table, summary_of
from clustrep.results.validation import INDICES
from clustrep.tables.agreement import shown
from clustrep.text import plural
from clustrep.types import FloatArray

Facts = dict[str, Any]
Section = dict[str, Any]

KINDS = {
    "verdict": "text",
    "counterpart": "text",
    "k": "count",
    "size": "count",
    "samples": "count",
    "features": "count",
    "failed": "count",
    "pvalue": "p",
    "qvalue": "p",
    "adjusted": "p",
    "probability_best": "share",
    "found": "share",
    "trivial": "share",
    "rival": "flag",
    "apart": "flag",
}
LABELS = {
    "pvalue": "p",
    "qvalue": "q",
    "adjusted": "adjusted p",
    "null_mean": "without clusters",
    "null_low": "without clusters, low",
    "null_high": "without clusters, high",
    "estimate": "R̂",
    "observed": "R̂",
}

CHOICE_COLUMNS = (
    "clusterer",
    "k",
    "agreement",
    "mean",
    "low",
    "high",
    "observed",
    "null_mean",
    "excess",
    "pvalue",
    "adjusted",
    "probability_best",
    "rival",
    "trivial",
    "failed",
)


@dataclass(frozen=True, eq=False)
class Material:
    """The results that a report tells of, sorted."""

    comparison: Comparison | None = None
    reference: NullReference | None = None  # of the comparison
    replicabilities: tuple[Replicability, ...] = ()  # the one in focus first
    relations: StudyRelations | None = None
    local: tuple[LocalReplicability, ...] = ()
    local_references: tuple[NullReference | None, ...] = ()
    counterparts: Counterparts | None = None
    places: Mapping[tuple[str, str], FloatArray] = field(default_factory=dict)  # by training and test study
    place_names: tuple[str, ...] = ("", "")
    others: tuple[Any, ...] = ()
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, results: Sequence[Any]) -> Material:
        """Sort results; an analysis brings everything along."""
        flat = [one for result in results for one in (result.values() if isinstance(result, dict) else [result])]
        if not flat:
            raise ParameterError("A report needs at least one result.", parameter="results")
        for one in flat:
            if not isinstance(one, (StudyRelations, *RESULTS.values())):
                raise ParameterError(
                    f"A report is made of results such as compare returns, got {type(one).__name__}.",
                    parameter="results",
                )
        analyses = [one for one in flat if isinstance(one, Analysis)]
        if analyses:
            if len(flat) > 1:
                raise ParameterError(
                    "An analysis makes a report of its own: pass nothing beside it.", parameter="results"
                )
            return cls.of_analysis(analyses[0])
        local = tuple(_all(flat, LocalReplicability))
        references = _all(flat, NullReference)
        of_local = {one.provenance.get("of"): one for one in references if one.kind == "local"}
        pairs = [(one.train, one.test) for one in local]
        if len(set(pairs)) < len(pairs):
            raise ParameterError(
                "A report has one local result for each pair of studies: make a report of each.", parameter="results"
            )
        known = (Comparison, Replicability, StudyRelations, LocalReplicability, Counterparts)
        comparison = _only(flat, Comparison)
        told_with = {"comparison"} if comparison is not None else set()
        told_with |= {"local"} if local else set()
        material = cls(
            comparison=comparison,
            reference=next((one for one in references if one.kind in told_with - {"local"}), None),
            replicabilities=tuple(_all(flat, Replicability)),
            relations=_only(flat, StudyRelations),
            local=local,
            local_references=tuple(of_local.get(one._fingerprint) for one in local),
            counterparts=_only(flat, Counterparts),
            others=tuple(
                one
                for one in flat
                if not isinstance(one, known) and not (isinstance(one, NullReference) and one.kind in told_with)
            ),
        )
        if not material.everything:
            raise ParameterError(
                "Relations are told beside the result that they come from: pass that, too.", parameter="results"
            )
        return material._with_places_from_memory()

    @classmethod
    def of_analysis(cls, found: Analysis) -> Material:
        """Take an analysis apart."""
        focus = found.replicability
        comparison = found.comparison
        every = [
            comparison.replicability(name, k)
            for name, k in zip(comparison.clusterers, comparison.n_clusters, strict=True)
            if focus is None or (name, k) != (focus.clusterer, focus.n_clusters)
        ]
        return cls(
            comparison=comparison,
            reference=found.reference,
            replicabilities=tuple(every if focus is None else [focus, *every]),
            relations=found.relations,
            local=found.local,
            local_references=found.local_references or (None,) * len(found.local),
            counterparts=found.counterparts,
            places={(one.train, one.test): found.coordinates_of(one.train) for one in found.local},
            place_names=found.coordinate_names,
            warnings=found.warnings,
        )

    def _with_places_from_memory(self) -> Material:
        """Place the samples of results from this session: in two dimensions as they are, else by principal axes."""
        places: dict[tuple[str, str], FloatArray] = {}
        names = ("first coordinate", "second coordinate")
        for one in self.local:
            if one._points is None or one._origin is None or not np.array_equal(one._points, one._origin.studies[0].X):
                continue  # of other points than the training study's, a map would need other words
            X = np.asarray(one._points, dtype=float)
            if X.shape[1] > 2:
                X = X @ principal_axes(X)[:2].T
                names = ("first principal component", "second principal component")
            places[one.train, one.test] = np.column_stack([X, np.zeros(len(X))])[:, :2]
        return replace(self, places=places, place_names=names)

    @cached_property
    def choice(self) -> Choice | None:
        """Which clusterer and k."""
        return None if self.comparison is None else self.comparison.choice(self.reference)

    @cached_property
    def clusters(self) -> pd.DataFrame:
        """Which clusters hold."""
        choice = self.choice
        nothing_is_above = choice is not None and choice.against is not None and choice.chosen is None
        return cluster_table(self.local, self.local_references, self.counterparts, untested=nothing_is_above)

    @property
    def everything(self) -> tuple[Any, ...]:
        """All results, in the order of the report."""
        one = [self.comparison, *self.replicabilities, *self.local, self.counterparts, *self.others]
        return tuple(result for result in one if result is not None)

    @property
    def failures(self) -> dict[str, int]:
        """How many values are missing, by cause."""
        counts: dict[str, int] = {}
        compared = self.comparison is not None
        for one in self.everything:
            if compared and isinstance(one, Replicability):
                continue  # counted by the comparison
            for cause, count in getattr(one, "failures", {}).items():
                counts[cause] = counts.get(cause, 0) + count
        return counts


def _all(results: Sequence[Any], kind: type) -> list[Any]:
    return [one for one in results if isinstance(one, kind)]


def _only(results: Sequence[Any], kind: type) -> Any:
    found = _all(results, kind)
    if len(found) > 1:
        raise ParameterError(f"A report has one {kind.__name__}, got {len(found)}.", parameter="results")
    return found[0] if found else None


# ---------------------------------------------------------------------------------------------------------------------
# facts


def facts_of(material: Material, title: str | None = None) -> Facts:
    """Say everything that results say, in plain types."""
    made = material.everything[0].provenance
    studies = {name: about for one in material.everything for name, about in one.provenance.get("studies", {}).items()}
    sections = [
        _data(studies),
        _choice(material),
        _pairs(material),
        _clusters(material),
        _map(material),
        *(_other(one, i) for i, one in enumerate(material.others, 1)),
    ]
    return {
        "title": title or _title(material),
        "subtitle": f"{', '.join(studies)}: {sum(about['samples'] for about in studies.values()):,} samples",
        "verdict": verdict_of(material),
        "answer": answer_of(material),
        "sections": [section for section in sections if section is not None],
        "methods": methods.methods_of(material.comparison, material.reference),
        "warnings": list(material.warnings),
        "provenance": methods.provenance_of(made),
    }


def answer_of(material: Material) -> dict[str, Any]:
    """Give the answer to scripts: the best, its rivals, what is above data without clusters, who stands apart."""
    choice, relations = material.choice, material.relations
    if choice is None:
        return {}
    near = [] if choice.best is None else [_candidate(one, choice) for one in choice.best.rivals]
    return {
        "best": _candidate(choice.best, choice),
        "rivals": near,
        "farthest_above": _candidate(choice.chosen, choice) if choice.against is not None else None,
        "looked_at": _candidate(choice.focus, choice),
        "apart": None
        if relations is None
        else [name for name, apart in zip(relations.names, relations.apart, strict=True) if apart],
    }


def _candidate(one: Candidate | None, choice: Choice) -> dict[str, Any] | None:
    if one is None:
        return None
    against = {} if choice.against is None else vars(choice.against)
    about = {"clusterer": one.clusterer, "k": one.n_clusters, "mean": one.score, "low": one.low, "high": one.high}
    about |= {name: float(values[choice.place(one)]) for name, values in against.items()}
    return {name: _plain(value) for name, value in about.items()}


def _title(material: Material) -> str:
    others = material.others
    if material.everything == others and all(isinstance(one, ClusterTest) for one in others):
        return "Are there clusters at all?"
    if material.everything == others and len(others) == 1 and isinstance(others[0], Validation):
        return f"{_studies_of(others[0])}: {others[0].clusterer}"
    return "Which clusters hold up when someone else repeats the study"


def verdict_of(material: Material) -> list[dict[str, str]]:
    """Say what was found: the choice, the studies, the clusters, what to be careful about, what failed."""
    said: list[tuple[str, str]] = []
    choice = material.choice
    if choice is not None:
        found = choice.best is not None and (choice.against is None or choice.chosen is not None)
        said.append(("best" if found else "caution", words.about_choice(choice)))
    if material.replicabilities and (choice is None or choice.best is not None):
        said.append(("studies", words.about_studies(material.replicabilities[0], material.relations)))
    said += [("clusters", sentence) for sentence in words.about_clusters(material.clusters)]
    said += [("clusters", words.about_test(one)) for one in _all(material.others, ClusterTest)]
    said += [("clusters", words.about_indices(one)) for one in _all(material.others, Validation)]
    said.append(("caution", words.about_resolution(material.clusters)))
    if material.replicabilities:
        said += [("caution", sentence) for sentence in words.cautions(material.replicabilities[0])]
    said.append(("failure", words.about_failures(material.failures)))
    return [{"kind": kind, "text": text} for kind, text in said if text]


def table_of(frame: pd.DataFrame, name: str, title: str, columns: Sequence[str] | None = None) -> dict[str, Any]:
    """Write a frame as a table of plain types."""
    shown_columns = [column for column in columns or frame.columns if column in frame]
    return {
        "id": name,
        "title": title,
        "columns": [
            {"key": column, "label": LABELS.get(column, column.replace("_", " ")), "kind": _kind(column, frame[column])}
            for column in shown_columns
        ],
        "rows": [
            {column: _plain(value) for column, value in zip(shown_columns, row, strict=True)}
            for row in frame[shown_columns].itertuples(index=False, name=None)
        ],
    }


def _kind(column: str, values: pd.Series) -> str:
    if column in KINDS:
        return KINDS[column]
    return "number" if pd.api.types.is_float_dtype(values) else "text"


def _plain(value: Any) -> Any:
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return None
    return numbers(value)


def _section(
    name: str, title: str, text: Sequence[str], drawn: Sequence[Chart | None], tables: Sequence[dict[str, Any]]
) -> Section:
    return {
        "id": name,
        "title": title,
        "text": [one for one in text if one],
        "charts": [chart for chart in drawn if chart is not None],
        "tables": list(tables),
    }


def _data(studies: Mapping[str, Mapping[str, Any]]) -> Section | None:
    if not studies:
        return None
    frame = pd.DataFrame([{"study": name, **about} for name, about in studies.items()])
    return _section("data", "Data", [], [], [table_of(frame, "studies-table", "Studies")])


def _telling(table: pd.DataFrame) -> pd.DataFrame:
    """Leave out counts of what did not happen."""
    return table.drop(columns=[name for name in ("trivial", "failed") if name in table and not table[name].any()])


def _choice(material: Material) -> Section | None:
    comparison, choice = material.comparison, material.choice
    if comparison is None or choice is None:
        return None
    summary = summary_of(comparison, choice, material.reference)
    summary["agreement"] = [shown(one) for one in summary["agreement"]]
    return _section(
        "choice",
        "Which algorithm, and how many clusters",
        [
            "The score is the mean over ordered pairs of different studies and over resamples. A rival can't be told "
            "from the best: the resample-wise difference has a 95 % interval that includes 0."
        ],
        [charts.curves(comparison, material.reference)],
        [table_of(_telling(summary), "choice-table", "Clusterers and numbers of clusters", CHOICE_COLUMNS)],
    )


def _pairs(material: Material) -> Section | None:
    if not material.replicabilities:
        return None
    focus = material.replicabilities[0]
    relations = material.relations
    pairs = _telling(focus.to_frame().assign(agreement=shown(focus.agreement)).rename(columns={"score": "estimate"}))
    tables = [table_of(pairs, "pairs-table", f"Pairs of studies: {words.named(focus)}")]
    if relations is not None:
        tables.append(table_of(relations.to_frame(), "relations-table", "Studies against the others"))
    return _section(
        "pairs",
        "Which studies agree",
        [
            f"Shown first: {words.named(focus)}.",
            "A study stands apart if its scores with the others, even with its closest partner, lie below the "
            "diagonals of the tested studies, and farther below than those of the pairs without it."
            if relations is not None
            else "",
        ],
        [
            charts.matrices(material.replicabilities),
            charts.strips(focus),
            charts.tree(relations) if relations is not None else None,
        ],
        tables,
    )


def _clusters(material: Material) -> Section | None:
    table = material.clusters
    if table.empty:
        return None
    columns = ["train", "cluster", "size", "test", "verdict", "estimate", "null_mean", "pvalue", "qvalue", "mean"]
    columns += ["low", "high"]
    tables = [table_of(table, "clusters-table", "Clusters in the other studies", columns)]
    if material.counterparts is not None:
        partners = material.counterparts.to_frame()
        tables.append(table_of(partners, "counterparts-table", "Which cluster is which"))
    focus = material.local[0]
    return _section(
        "clusters",
        "Which clusters hold",
        [
            f"Clusters of {words.named(focus)}. A cluster's score in another study is the mean local score of its "
            "samples. It holds where R̂, the score of the studies as they are, is above that of data without clusters "
            "(q at most 0.05), and R̂ and the bootstrap's mean are at least 0.5; a low score above data without "
            "clusters holds weakly. q-values are over all rows of the table but noise.",
            "Counterparts are matched one to one on the tested study's samples; overlap is the Jaccard coefficient "
            "there, found the share of resamples in which both clusters were found again."
            if material.counterparts is not None
            else "",
        ],
        [charts.clusters(table, focus.agreement)],
        tables,
    )


def _map(material: Material) -> Section | None:
    names = {
        (one.train, one.test): cluster_names(material.counterparts, one.train, one.labels.tolist())
        for one in material.local
    }
    drawn = charts.local_map(material.local, names, dict(material.places), material.place_names)
    return None if drawn is None else _section("map", "Sample by sample", [], [drawn], [])


def _other(result: Any, number: int) -> Section:
    """Tell of a result that is about one study: a chart where there is one, and its table."""
    name = f"{type(result).__name__.lower()}-{number}"
    drawn: Chart | None = None
    frame = result.to_frame()
    title = type(result).__name__
    if isinstance(result, ClusterTest):
        drawn, title = charts_within.null_histogram(result), f"Are there clusters at all: {_studies_of(result)}"
    if isinstance(result, Validation):
        table = frame.assign(
            name=[INDICES[index][0] for index in frame["index"]],
            good=["high" if INDICES[index][1] else "low" for index in frame["index"]],
            whole=result.whole,
        )
        drawn = charts_within.indices(table[table["index"] != "test"])
        title = f"Indices within one study: {_studies_of(result)}"
    if drawn is not None:
        drawn = {**drawn, "id": f"{drawn['id']}-{number}"}
    table = table_of(frame, f"{name}-table", f"{plural(len(frame), 'row')}")
    return _section(name, title, [], [drawn], [table])


def _studies_of(result: Any) -> str:
    return ", ".join(result.provenance.get("studies", {}))
