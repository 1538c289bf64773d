"""Clusters × studies: one row for every cluster, one column for every study, one sign in every cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

import clustrep.report.words as words
from clustrep.report.columns import Table, table_of
from clustrep.report.formatting import cell
from clustrep.results.analysis import NOISE, NOT_COMPARED, UNTESTED
from clustrep.results.presence_words import CANT_TELL, NEW
from clustrep.text import printable

NEW_SAMPLES = "new samples"
TITLE = "What became of each cluster"
IN_STUDY = "in "  # before the name of a study, so that no study's column has the key of another column


def grid_of(presence: pd.DataFrame, clusters: pd.DataFrame, names: Sequence[str]) -> Table | None:
    """Make the table of what became of clusters in other studies; else of whether they hold; None without either."""
    if len(presence):
        return _table(_cases(presence), names, words.LEGEND_OF_PRESENCE)
    judged = clusters[~clusters["verdict"].isin([NOISE, NOT_COMPARED, UNTESTED])] if len(clusters) else clusters
    if judged.empty:
        return None
    short = judged["verdict"].map(lambda verdict: words.SHORT.get(verdict, CANT_TELL))
    return _table(judged.assign(word=short), names, words.LEGEND_OF_HOLDING)


def overview_of(presence: pd.DataFrame, names: Sequence[str]) -> Table | None:
    """Make the small table of clusters × studies: one row for all clusters with the same number.

    A cell shows what most other studies say of their cluster of this number there; without a majority, one can't tell.
    """
    cases = presence[presence["word"] != NEW]
    if cases.empty:
        return None
    cases = cases.assign(number=[str(cluster).split(" ")[0] for cluster in cases["cluster"]])
    called = cases.groupby("number")["cluster"].agg(lambda clusters: clusters.mode()[0])
    order = sorted(called.index, key=lambda number: (len(number), number))
    rows = []
    for number in order:
        row = {"cluster": called[number], **{IN_STUDY + name: "" for name in names}}
        for test, words_there in cases[cases["number"] == number].groupby("test")["word"]:
            counts = words_there.value_counts()
            row[f"{IN_STUDY}{test}"] = str(counts.index[0]) if (counts == counts.iloc[0]).sum() == 1 else CANT_TELL
        rows.append(row)
    return _signs(pd.DataFrame(rows), "overview-table", TITLE, names, words.LEGEND_OF_OVERVIEW)


def _cases(presence: pd.DataFrame) -> pd.DataFrame:
    """Put the number of new samples beside their word; clusters first, then what is new."""
    is_new = presence["word"] == NEW
    new = presence[is_new].assign(cluster=NEW_SAMPLES)
    if "n_like" in new:
        new = new[new["n_like"] > 0]
        new = new.assign(word=[f"{NEW} {int(count)}" for count in new["n_like"]])
    order = {name: place for place, name in enumerate(presence["train"].unique())}
    cases = pd.concat([presence[~is_new], new])
    return cases.sort_values("train", key=lambda column: column.map(order), kind="stable")


def _table(cases: pd.DataFrame, names: Sequence[str], legend: str) -> Table:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for train, cluster, test, word in cases[["train", "cluster", "test", "word"]].itertuples(index=False, name=None):
        row = rows.setdefault((train, str(cluster)), {"train": train, "cluster": str(cluster)})
        row[IN_STUDY + test] = word
    columns = ["train", "cluster", *(IN_STUDY + name for name in names)]
    frame = pd.DataFrame(list(rows.values())).reindex(columns=columns).fillna("")
    return _signs(frame, "presence-table", TITLE, names, legend)


def _signs(frame: pd.DataFrame, name: str, title: str, names: Sequence[str], legend: str) -> Table:
    """Write a table in which a sign stands for what became of clusters in each study."""
    explanations = {IN_STUDY + study: f"What became of the cluster in {study}" for study in names}
    table = table_of(frame, name, title, explanations=explanations, note=legend)
    for column in table["columns"]:
        column["more"] = False  # a sign is narrow
        if column["key"].startswith(IN_STUDY):
            column.update(kind="sign", label=column["key"].removeprefix(IN_STUDY))
    return table


def text_of(table: Mapping[str, Any]) -> str:
    """Write the table for the terminal, in columns."""
    columns = table["columns"]
    cells = [[column["label"] for column in columns]]
    cells += [[cell(row[column["key"]], column["kind"]) for column in columns] for row in table["rows"]]
    cells = [[printable(text) for text in row] for row in cells]
    widths = [max(len(row[c]) for row in cells) for c in range(len(columns))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([*lines, printable(table["note"], lines=True)])
