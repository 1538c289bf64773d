"""Figures of a report: what each shows, the line of Python that draws it, its numbers, and its drawing."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import IO, Any

import numpy as np
import pandas as pd

from clustrep.agreement.agreements import shown
from clustrep.algorithms.pairwise import Replicability
from clustrep.analysis.result import Analysis
from clustrep.errors import ReplicateWarning, warn
from clustrep.findings.annotations import Annotations
from clustrep.findings.plot import annotations_shown, dots_shown, features_shown
from clustrep.findings.result import Findings
from clustrep.report.page import page_file

WITHOUT_TIME: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
DPI = 300
# Of pictures inside vector figures, such as maps of many samples.
PAGE_DPI = 150
# With more rows, a page has no CSV of a figure: it must stay small, and the line of Python has them all.
MOST_ROWS = 4000


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure of a report.

    Attributes
    ----------
    name : str
        Of its file, and of its place on the page.
    title, description : str
    python : str
        The line that draws it.
    draw : function
        The same; returns axes, an array of these, or a figure.
    frame : DataFrame
        Its numbers, for the CSV.
    columns : tuple of str
        Those of the table behind it; empty for none.
    """

    name: str
    title: str
    description: str
    python: str
    draw: Callable[[], Any]
    frame: pd.DataFrame = field(default_factory=pd.DataFrame)
    columns: tuple[str, ...] = ()


def write_figure(name: str, draw: Callable[[], Any], target: IO[Any], extension: str, dpi: int = DPI) -> bool:
    """Draw a figure into a file, the same bytes every time; return whether that worked.

    A figure that can't be drawn is a warning: the results are not to be lost because of it.
    """
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    as_text: dict[Any, Any] = {"svg.fonttype": "none", "pdf.fonttype": 42}  # letters can be edited in vector files
    before = plt.get_fignums()
    with mpl.rc_context({"svg.hashsalt": name, "figure.max_open_warning": 0, **as_text}):
        try:
            drawn = draw()
            figure = drawn.flat[0].figure if hasattr(drawn, "flat") else getattr(drawn, "figure", drawn)
            figure.savefig(target, format=extension, dpi=dpi, metadata=WITHOUT_TIME[extension])
            return True
        except Exception as error:
            warn(f"The figure {name} can't be drawn: {type(error).__name__}: {error}.", ReplicateWarning)
            return False
        finally:
            for number in set(plt.get_fignums()) - set(before):
                plt.close(number)


def svg_of(figure: Figure) -> str:
    """Draw a figure as an element of the page, without the parts that only a file needs; "" where it can't be drawn.

    Identifiers that nothing refers to are left out, and the others are those of this figure alone; numbers have two
    decimals, which is a hundredth of a point.
    """
    drawn = io.StringIO()
    if not write_figure(figure.name, figure.draw, drawn, "svg", PAGE_DPI):
        return ""
    text = drawn.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", "", text, flags=re.S)
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    text = re.sub(r' id="([^"]*)"', lambda match: match[0] if match[1] in used else "", text)
    text = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\.\d\d)\d+", r"\1", tag[0]), text)
    text = re.sub(r"font-family:[^;\"]*;?|; opacity: 1(?=[;\"])", "", text)
    (box,) = re.findall(r'viewBox="[^"]*"', text[: text.index(">")])
    body = re.sub(r"\s*\n\s*", "\n", text[text.index(">") + 1 :])
    return f'<svg {box} xmlns:xlink="http://www.w3.org/1999/xlink" aria-hidden="true" focusable="false">{body}'.strip()


# ---------------------------------------------------------------------------------------------------------------------
# the figures of findings and of an analysis


@cache
def _texts() -> dict[str, dict[str, str]]:
    """Read the titles and descriptions of figures, and the columns of the tables behind them."""
    return {row["figure"]: row for row in csv.DictReader(page_file("figures.csv").splitlines())}


def _figure(
    kind: str, python: str, draw: Callable[[], Any], frame: pd.DataFrame, *, name: str | None = None, **words: str
) -> Figure:
    """Make a figure of a kind; `words` are put into its title and description."""
    text = _texts()[kind]
    title, description = text["title"].format(**words), text["description"].format(**words)
    return Figure(name or kind, title, description, python, draw, frame, tuple(text["columns"].split()))


def table_figure(findings: Findings, name: str) -> Figure:
    """Clusters × studies: on the page, the cards show it."""
    return _figure("findings", f"{name}.plot()", findings.plot, findings.table())


def valleys_figure(findings: Findings, name: str) -> Figure | None:
    """Density valleys; None where there are none."""
    if not np.isfinite(findings.valley_depth).any():
        return None
    draw = partial(findings.plot, kind="valleys")
    return _figure("valleys", f'{name}.plot(kind="valleys")', draw, findings.table())


def features_figure(findings: Findings, name: str) -> Figure | None:
    """Features × clusters × studies; None where there are none."""
    if not findings.feature_names or not np.isfinite(findings.effect).any():
        return None
    draw = partial(findings.plot, kind="features")
    return _figure("features", f'{name}.plot(kind="features")', draw, features_shown(findings))


def dots_figure(findings: Findings, name: str) -> Figure | None:
    """Features × clusters, shares of samples above zero; None where the features are no counts."""
    if not findings.above_zero.size:
        return None
    return _figure("dots", f'{name}.plot(kind="dots")', partial(findings.plot, kind="dots"), dots_shown(findings))


def annotations_figure(annotations: Annotations, name: str) -> Figure | None:
    """Annotations × clusters × studies; None where no study has several clusters."""
    if not np.isfinite(annotations.difference).any():
        return None
    return _figure("annotations", f"{name}.plot()", annotations.plot, annotations_shown(annotations))


def map_figures(analysis: Analysis) -> list[Figure]:
    """All samples by cluster, and those of every study."""
    samples = analysis.labels().drop(columns="sample")  # a page that is sent around names no samples
    samples[["x", "y"]] = np.vectorize(lambda value: float(f"{value:.4g}"), otypes=[float])(analysis.coordinates)
    frame = samples if len(samples) <= MOST_ROWS else pd.DataFrame()
    figures = [_figure("map", "analysis.plot()", analysis.plot, frame)]
    if len(analysis.names) > 1:
        draw = partial(analysis.plot, by="study")
        figures.append(_figure("studies", 'analysis.plot(by="study")', draw, frame))
    return figures


def choice_figures(analysis: Analysis) -> list[Figure]:
    """Scores over the number of clusters, and the tree over k."""
    reference, tree, summary = analysis.reference, analysis.clustering_tree, analysis.summary()
    summary = summary[summary["agreement"] == analysis.agreement].dropna(axis=1, how="all")
    python = f"analysis.comparison.plot({'' if reference is None else 'reference=analysis.reference'})"
    draw = partial(analysis.comparison.plot, reference=reference)
    null = "" if reference is None else " Hatched or grey: 95 % of the scores of simulated null data."
    figures = [_figure("curves", python, draw, summary, agreement=shown(analysis.agreement), null=null)]
    if tree is not None:
        about = {"study": tree.study, "clusterer": tree.clusterer}
        figures.append(_figure("tree", "analysis.clustering_tree.plot()", tree.plot, tree.to_frame(), **about))
    return figures


def pairs_figure(analysis: Analysis) -> Figure | None:
    """Draw the forest plot of the configuration in focus; None where there is none."""
    result = analysis.replicability
    is_split = len(analysis.names) == 1
    return None if result is None else forest_figure(result, "pairs", "analysis.replicability", is_split=is_split)


def forest_figure(result: Replicability, name: str, python: str, *, is_split: bool = False) -> Figure:
    """Draw the forest plot of all pairs; `is_split` where these are the random halves of one study."""
    pairs = result.to_frame().rename(columns={"score": "observed"})
    pairs = pairs[pairs["train"] != pairs["test"]].reset_index(drop=True)
    title, unit = ("Random halves of the study", "half") if is_split else ("Pairs of studies", "study")
    draw = partial(result.plot, kind="forest")
    return _figure("pairs", f'{python}.plot(kind="forest")', draw, pairs, name=name, title=title, unit=unit)


def subclusters_figure(tree: Any, name: str) -> Figure:
    """Clusters within clusters."""
    return _figure("subclusters", f"{name}.plot()", tree.plot, tree.to_frame())


def figures_of(analysis: Analysis) -> list[Figure]:
    """Return all figures of an analysis, in the order of the page."""
    findings, name = analysis.findings, "analysis.findings"
    figures = [
        table_figure(findings, name),
        *map_figures(analysis),
        *choice_figures(analysis),
        pairs_figure(analysis),
        valleys_figure(findings, name),
        features_figure(findings, name),
        dots_figure(findings, name),
        None if analysis.annotations is None else annotations_figure(analysis.annotations, "analysis.annotations"),
        None if analysis.tree is None else subclusters_figure(analysis.tree, "analysis.tree"),
    ]
    return [figure for figure in figures if figure is not None]
