"""The figures of an analysis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

from clustrep.cli.output import Results
from clustrep.results import Analysis, LocalReplicability

PANEL_HEIGHT = {"clusters": 2.6, "map": 3.3}  # inches

MOST_STACKED = 3  # panels above each other, 8 to 9 cm wide; more have two columns


def draw_analysis(results: Results, analysis: Analysis, formats: Sequence[str]) -> None:
    """Draw everything that an analysis shows."""
    if not formats:
        return
    comparison, replicability = analysis.comparison, analysis.replicability
    drawings: dict[str, Callable[[], Any]] = {"findings": analysis.findings.plot}
    for agreement in comparison.agreements:
        drawings[f"curves-{agreement}"] = partial(comparison.plot, agreement=agreement, reference=analysis.reference)
    if analysis.tree is not None:
        drawings["subclusters"] = analysis.tree.plot
    drawings["matrices"] = partial(comparison.plot, kind="matrices")
    if replicability is not None:
        drawings["pairs"] = replicability.plot
        drawings["distributions"] = partial(replicability.plot, kind="distribution")
    for train in dict.fromkeys(local.train for local in analysis.local):
        in_other_studies = [local for local in analysis.local if local.train == train]
        drawings[f"clusters-{train}"] = partial(_panels, in_other_studies, "clusters")
        drawings[f"map-{train}"] = partial(_maps, in_other_studies, analysis)
    for name, draw in drawings.items():
        results.figure(name, draw, formats)


def _maps(results: Sequence[LocalReplicability], analysis: Analysis) -> Any:
    """Draw one map for every test study, all with the same coordinates."""
    figure = _panels(results, "map", points=analysis.coordinates_of(results[0].train))
    for ax in figure.axes:
        if ax.get_xlabel() == "first coordinate":
            ax.set_xlabel(analysis.coordinate_names[0])
            ax.set_ylabel(analysis.coordinate_names[1])
    return figure


def _panels(results: Sequence[LocalReplicability], kind: Literal["map", "clusters"], **drawing: Any) -> Any:
    """Draw one panel for every test study."""
    from clustrep.figures.canvas import DOUBLE, SINGLE, literal, panels

    n_columns = 1 if len(results) <= MOST_STACKED else 2
    n_rows = -(-len(results) // n_columns)
    width = SINGLE if n_columns == 1 else DOUBLE
    with panels(n_rows, n_columns, width, 0.3 + PANEL_HEIGHT[kind] * n_rows) as (figure, axes):
        for ax, result in zip(axes.flat, results, strict=False):
            result.plot(ax, kind=kind, **drawing)
            ax.title.set_text(f"in {literal(result.test)}")  # where the title stands, over the legend
        figure.suptitle(f"clusters of {literal(results[0].train)}")
        for ax in axes.flat[len(results) :]:
            ax.set_visible(False)
        return figure
