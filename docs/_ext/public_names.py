"""The page that lists the API, written from the package's own list of public names: a new name is there by itself."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import TYPE_CHECKING

import clustrep

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGE = Path("reference", "api.rst")

# Which heading a name stands under, by the room that defines it.
HEADINGS = {
    "data": "Studies",
    "analysis": "Several studies",
    "algorithms": "Several studies",
    "null": "Several studies",
    "findings": "Several studies",
    "separation": "Separation of clusters",
    "metaneighbor": "MetaNeighbor's scores",
    "stability": "One study",
    "agreement": "Two partitions",
    "resampling": "Resampling",
    "fitting": "Clustering functions",
    "clusterers": "Clusterers",
    "tl": "Single cells",
    "federated": "Federated studies",
    "report": "Reports and files",
    "execution": "Settings",
    "datasets": "Data sets",
    "results": "Results",
    "errors": "Errors and warnings",
}
OTHERS = "More"


def names_by_heading() -> dict[str, list[str]]:
    """Group all public names, and those of the public modules, by heading."""
    grouped: dict[str, list[str]] = {heading: [] for heading in (*HEADINGS.values(), OTHERS)}
    for name in clustrep.__all__:
        thing = getattr(clustrep, name)
        if inspect.ismodule(thing):
            grouped[HEADINGS.get(name, OTHERS)] += [f"{name}.{member}" for member in _members(f"clustrep.{name}")]
        else:
            folder = "report" if name == "load" else thing.__module__.split(".")[1]
            grouped[HEADINGS.get(folder, OTHERS)].append(name)
    return {heading: names for heading, names in grouped.items() if names}


def _members(module: str) -> list[str]:
    """List what a public module exports; of one without that list, its classes."""
    public = importlib.import_module(module)
    classes = [name for name, thing in vars(public).items() if inspect.isclass(thing) and thing.__module__ == module]
    listed = getattr(public, "__all__", classes)
    return [name for name in listed if callable(getattr(public, name)) and name not in clustrep.__all__]


def write_page(app: Sphinx) -> None:
    """Write the page, unless it is the same as before, so that it is not read again."""
    lines = ["Public names", "============", "", ".. currentmodule:: clustrep", ""]
    for heading, names in names_by_heading().items():
        lines += [heading, "-" * len(heading), "", ".. autosummary::", "   :toctree: api", "   :nosignatures:", ""]
        lines += [f"   {name}" for name in names] + [""]
    path, text = Path(app.srcdir) / PAGE, "\n".join(lines)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the page before pages are counted."""
    app.connect("config-inited", lambda app, config: write_page(app))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
