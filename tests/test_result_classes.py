"""What all result classes have in common: they explain their fields, and are named by one label."""

from __future__ import annotations

import dataclasses
import inspect
import re

import numpy as np
import pytest

import clustrep as cr
from clustrep import results
from clustrep.algorithms.choice import Against
from clustrep.summaries import Resampled, label

KINDS = [*results.RESULTS.values(), results.Choice, results.Candidate, results.Best]
KINDS += [results.TrainingAverage, Against]
# Functions before packages of the same name.
PLACES = (cr.stability, cr.agreement, cr.resampling, cr.separation, cr.federated, cr, results)


def section(text, title):
    """The lines of one section of a NumPy docstring."""
    return re.split(r"\n\n\S[^\n]*\n-+\n", text.partition(f"{title}\n{'-' * len(title)}\n")[2])[0].splitlines()


def explained(kind):
    heads = [line.split(":")[0] for line in section(inspect.getdoc(kind), "Attributes") if not line.startswith(" ")]
    return [name.strip() for head in heads for name in head.split(",") if name.strip()]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_field_is_explained_once(kind):
    fields = [field.name for field in dataclasses.fields(kind) if not field.name.startswith("_")]
    assert sorted(explained(kind)) == sorted(fields)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_class_points_to_what_belongs_to_it(kind):
    heads = [line.split(" : ")[0] for line in section(inspect.getdoc(kind), "See Also") if not line.startswith(" ")]
    assert heads
    for name in [name.strip() for head in heads for name in head.split(",")]:
        first, *rest = name.split(".")
        rooms = (cr, cr.stability, cr.separation, cr.federated, cr.datasets, results)
        found = next(getattr(room, first) for room in rooms if hasattr(room, first))
        assert not rest or hasattr(found, rest[0]), name


def test_summaries_are_their_formulas():
    class Drawn(Resampled):
        distribution = np.array([[0.1, np.nan], [0.4, 0.2], [0.7, 0.4], [0.2, np.nan]])

    drawn = Drawn()
    first, second = [0.1, 0.4, 0.7, 0.2], [0.2, 0.4]  # without what failed
    for place, values in enumerate((first, second)):
        n, mean = len(values), sum(values) / len(values)
        assert drawn.mean[place] == pytest.approx(mean)
        assert drawn.sd[place] == pytest.approx((sum((x - mean) ** 2 for x in values) / (n - 1)) ** 0.5)
        low, high = drawn.confidence_interval(0.8)
        assert (low[place], high[place]) == pytest.approx(tuple(np.quantile(values, [0.1, 0.9])))


@pytest.mark.parametrize(("k", "name"), [(3, "ward, k = 3"), (None, "ward")])
def test_a_configuration_has_one_label(k, name):
    assert label("ward", k) == name
    assert results.Candidate("ward", k, 0.5, 0.4, 0.6).label == name
    assert str(results.Candidate("ward", k, 0.5, 0.4, 0.6)) == f"{name} (0.50 [0.40, 0.60])"
