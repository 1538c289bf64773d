"""Figures of a report: what each shows, the line of Python that draws it, its numbers, and its drawing."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
import pandas as pd

from clustrep.agreement.agreements import shown
from clustrep.algorithms.pairwise import Replicability
from clustrep.analysis.result import Analysis
from clustrep.errors import ReplicateWarning, warn
from clustrep.findings.plot import features_shown
from clustrep.findings.result import Findings

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


def table_figure(findings: Findings, name: str) -> Figure:
    """Clusters × studies: on the page, the cards show it."""
    return Figure(
        "findings",
        "Clusters × studies",
        "Status, samples and share of every cluster in every study, and its local replicability with a 95 % interval.",
        f"{name}.plot()",
        findings.plot,
        findings.table(),
        ("cluster", "study", "status", "n", "share", "replicability", "low", "high"),
    )


def valleys_figure(findings: Findings, name: str) -> Figure | None:
    """Density valleys; None where there are none."""
    if not np.isfinite(findings.valley_depth).any():
        return None
    return Figure(
        "valleys",
        "Density valleys",
        "Density halfway to the nearest cluster of the same study, compared with that on either side, in samples that "
        "were not used to find the clusters. 100 %: no samples halfway. 0 %: as many as on either side.",
        f'{name}.plot(kind="valleys")',
        lambda: findings.plot(kind="valleys"),
        findings.table(),
        ("cluster", "study", "status", "n", "valley_depth", "valley_p", "shift"),
    )


def features_figure(findings: Findings, name: str) -> Figure | None:
    """Features × clusters × studies; None where there are none."""
    if not findings.feature_names or not np.isfinite(findings.effect).any():
        return None
    return Figure(
        "features",
        "Features × clusters × studies",
        "How much higher (+, orange) or lower (−, violet) a feature is in a cluster than in the mean of the other "
        "clusters of the same study, in within-cluster standard deviations; the clearest features of every cluster.",
        f'{name}.plot(kind="features")',
        lambda: findings.plot(kind="features"),
        features_shown(findings),
        ("cluster", "feature", "effect", "low", "high", "same", "of", "fdr"),
    )


def map_figures(analysis: Analysis) -> list[Figure]:
    """All samples by cluster, and those of every study."""
    samples = analysis.labels().drop(columns="sample")  # a page that is sent around names no samples
    samples[["x", "y"]] = np.vectorize(lambda value: float(f"{value:.4g}"), otypes=[float])(analysis.coordinates)
    frame = samples if len(samples) <= MOST_ROWS else pd.DataFrame()
    figures = [
        Figure(
            "map",
            "All samples by cluster",
            "All samples after alignment; colour and shape show the cluster, numbers are samples.",
            "analysis.plot()",
            analysis.plot,
            frame,
        )
    ]
    if len(analysis.names) > 1:
        figures.append(
            Figure(
                "studies",
                "The samples of every study",
                "The same map for each study: its samples in the colours of their clusters, those of the other studies "
                "grey.",
                'analysis.plot(by="study")',
                lambda: analysis.plot(by="study"),
                frame,
            )
        )
    return figures


def choice_figures(analysis: Analysis) -> list[Figure]:
    """Scores over the number of clusters, and the tree over k."""
    comparison, reference, tree = analysis.comparison, analysis.reference, analysis.clustering_tree
    summary = analysis.summary()
    summary = summary[summary["agreement"] == analysis.agreement].dropna(axis=1, how="all")
    null = " Hatched or grey: 95 % of the scores of simulated null data." if reference is not None else ""
    figures = [
        Figure(
            "curves",
            f"{shown(analysis.agreement)} by number of clusters",
            "Mean over pairs of different studies and over resamples, with its 95 % interval as a band and ± sd as "
            f"bars.{null}",
            f"analysis.comparison.plot({'' if reference is None else 'reference=analysis.reference'})",
            lambda: comparison.plot(reference=reference),
            summary,
            ("clusterer", "k", "clusters_found", "mean", "low", "high", "adjusted", "probability_best", "rival"),
        )
    ]
    if tree is not None:
        figures.append(
            Figure(
                "tree",
                "Tree over the number of clusters",
                f"Clusters of {tree.study} by {tree.clusterer} as their number grows. Area: samples. Letters: the "
                "clusters above. Colour and number: observed replicability in the other studies, 1 where they show the "
                "same cluster. A continuum may be cut alike in all studies: a high number does not show clusters.",
                "analysis.clustering_tree.plot()",
                tree.plot,
                tree.to_frame(),
                ("level", "cluster", "letters", "n", "parent", "inside", "replicability"),
            )
        )
    return figures


def pairs_figure(analysis: Analysis) -> Figure | None:
    """Draw the forest plot of the configuration in focus; None where there is none."""
    result = analysis.replicability
    is_split = len(analysis.names) == 1
    return None if result is None else forest_figure(result, "pairs", "analysis.replicability", is_split=is_split)


def forest_figure(result: Replicability, name: str, python: str, *, is_split: bool = False) -> Figure:
    """Draw the forest plot of all pairs; `is_split` where these are the random halves of one study."""
    pairs = result.to_frame().rename(columns={"score": "observed"})
    return Figure(
        name,
        "Random halves of the study" if is_split else "Pairs of studies",
        f"How well the clusters learned in one {'half' if is_split else 'study'} predict those of another: mean over "
        "resamples and 95 % interval; 1 is perfect, 0 is chance. A pair scores low where one of its studies lacks a "
        "cluster. Dots: single resamples. Orange bar: all samples (R̂).",
        f'{python}.plot(kind="forest")',
        lambda: result.plot(kind="forest"),
        pairs[pairs["train"] != pairs["test"]].reset_index(drop=True),
        ("train", "test", "observed", "mean", "low", "high", "sd"),
    )


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
    ]
    if analysis.tree is not None:
        figures.append(subclusters_figure(analysis.tree, "analysis.tree"))
    return [figure for figure in figures if figure is not None]


def subclusters_figure(tree: Any, name: str) -> Figure:
    """Clusters within clusters."""
    return Figure(
        "subclusters",
        "Clusters within clusters",
        "Every separated cluster, split again where a density valley within it is found again in other studies.",
        f"{name}.plot()",
        tree.plot,
        tree.to_frame(),
        ("cluster", "size", "outcome", "adjusted", "study", "status", "count", "share"),
    )
