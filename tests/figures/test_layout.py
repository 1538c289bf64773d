"""How a figure is written: its numbers are a frozen dataclass, and drawers read nothing else."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re

import pytest

import clustrep.figures
from clustrep import results
from clustrep.figures.style import Look

MODULES = [
    importlib.import_module(f"clustrep.figures.{part.name}") for part in pkgutil.iter_modules(clustrep.figures.__path__)
]
CLASSES = [
    kind
    for module in MODULES
    for kind in vars(module).values()
    if inspect.isclass(kind) and kind.__module__ == module.__name__ and dataclasses.is_dataclass(kind)
]
DRAWN = [kind for kind in CLASSES if hasattr(kind, "draw") or hasattr(kind, "view")]


def test_figures_are_found():
    """Against checks that pass because they look at nothing."""
    assert {"StudyMatrix", "ScoreCurves", "LocalMap", "IndexPanels"} <= {kind.__name__ for kind in DRAWN}


@pytest.mark.parametrize("kind", CLASSES)
def test_numbers_are_frozen_and_come_from_a_result(kind):
    assert kind.__dataclass_params__.frozen
    assert kind.__doc__
    if kind in DRAWN:
        assert inspect.ismethod(kind.of)


@pytest.mark.parametrize("kind", CLASSES)
def test_a_figure_holds_no_result(kind):
    types = {word for field in dataclasses.fields(kind) for word in re.findall(r"\w+", str(field.type))}
    assert types
    assert not types & set(results.__all__)


@pytest.mark.parametrize("kind", DRAWN)
def test_drawers_are_given_places_alone(kind):
    """Axes, or how many points are drawn, or which of several this is: never something to compute numbers from."""
    for name in ("draw", "view", "chart", "trace"):
        if hasattr(kind, name):
            assert set(inspect.signature(getattr(kind, name)).parameters) <= {"self", "ax", "most", "i"}


def test_looks_are_one_record():
    assert {field.type for field in dataclasses.fields(Look)} == {"str"}
