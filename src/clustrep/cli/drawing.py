"""The figures of an analysis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from clustrep.cli.output import Results
from clustrep.results import Analysis, LocalReplicability

PANEL = (3.4, 3.4)  # inches

MOST_COLUMNS = 3


def draw_analysis(results: Results, found: Analysis, formats: Sequence[str]) -> None:
    """Draw everything that an analysis shows."""
    if not formats:
        return
    comparison, result, partners = found.comparison, found.replicability, found.counterparts
    drawings: dict[str, Callable[[], Any]] = {
        f"curves-{agreement}": partial(comparison.plot, agreement=agreement, reference=found.reference)
        for agreement in comparison.agreements
    }
    drawings["matrices"] = partial(comparison.plot, kind="matrices")
    if result is not None:
        drawings |= {"pairs": result.plot, "distributions": partial(result.plot, kind="distribution")}
    if found.relations is not None:
        drawings["studies"] = found.relations.plot
    for name in dict.fromkeys(one.train for one in found.local):
        own = [one for one in found.local if one.train == name]
        drawings[f"clusters-{name}"] = partial(_panels, own, kind="clusters")
        drawings[f"map-{name}"] = partial(_maps, own, found)
        if partners is not None:
            drawings[f"counterparts-{name}"] = partial(partners.plot, train=name)
    for name, draw in drawings.items():
        results.figure(name, draw, formats)


def _maps(local: Sequence[LocalReplicability], found: Analysis) -> Any:
    """Draw one map for every test study, all in the same place."""
    figure = _panels(local, kind="map", points=found.coordinates_of(local[0].train))
    for ax in figure.axes:
        if ax.get_xlabel() == "first coordinate":
            ax.set_xlabel(found.coordinate_names[0])
            ax.set_ylabel(found.coordinate_names[1])
    return figure


def _panels(local: Sequence[LocalReplicability], **how: Any) -> Any:
    """Draw one panel for every test study."""
    import matplotlib.pyplot as plt

    from clustrep.figures.canvas import literal

    n_columns = min(MOST_COLUMNS, len(local))
    n_rows = -(-len(local) // n_columns)
    figure, axes = plt.subplots(
        n_rows, n_columns, figsize=(PANEL[0] * n_columns, PANEL[1] * n_rows), layout="constrained", squeeze=False
    )
    for ax, one in zip(axes.flat, local, strict=False):
        one.plot(ax, **how)
        ax.title.set_text(f"in {literal(one.test)}")  # where the title stands, over the legend
    figure.suptitle(f"clusters of {literal(local[0].train)}", fontsize=10)
    for ax in axes.flat[len(local) :]:
        ax.set_visible(False)
    return figure
