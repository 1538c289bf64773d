"""Values of a parameter on the command line."""

from __future__ import annotations

import click
import pytest

from clustrep.cli.clusterer_names import numbers_of_range, ranged_clusterers_of, without_range
from clustrep.cli.option_types import ParameterValues
from clustrep.errors import ParameterError


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0.1:1.0", (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)),
        ("0.1:2.0:3", (0.1, 1.05, 2.0)),
        ("2:5", (2, 3, 4, 5)),
        ("1e-4:1e-3:4", (0.0001, 0.0004, 0.0007, 0.001)),
        ("1:0", None),
        ("0.1", None),
        ("a:b", None),
        ("0.1:1:1", None),
        ("0:5000", None),
    ],
)
def test_ranges(text, numbers):
    assert numbers_of_range(text) == numbers


def test_a_range_is_taken_out_of_the_clusterer():
    assert without_range("dbscan:eps=0.1:1.0:2,min_samples=4") == ("dbscan:min_samples=4", {"eps": (0.1, 1.0)})
    assert without_range("dbscan:eps=0.1") == ("dbscan:eps=0.1", {})


def test_ranges_and_resolutions_for_all():
    specs = ("leiden:n_neighbors=8", "dbscan:eps=0.5:1.0:2", "kmeans", "louvain:resolution=1:3")
    clusterers, over = ranged_clusterers_of(specs, {"resolution": (0.1, 0.5)})
    assert list(clusterers) == ["leiden:n_neighbors=8", "dbscan", "kmeans", "louvain"]
    assert over == {
        "leiden:n_neighbors=8": {"resolution": (0.1, 0.5)},
        "dbscan": {"eps": (0.5, 1.0)},
        "louvain": {"resolution": (1, 2, 3)},
    }


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        (("dbscan:eps=1:2,min_samples=2:3",), "only one parameter can have a range, got eps and min_samples"),
        (("dbscan:eps=1:2", "dbscan"), "--clusterer dbscan came twice"),
        (("kmeans:n_clusters=2:3",), "set by --k"),
        (("kmeans",), "--resolution: no --clusterer has such a parameter"),
        (("dbscan:epsilon=1:2",), "has no parameter 'epsilon'"),
    ],
)
def test_what_is_refused(specs, message):
    with pytest.raises(ParameterError, match=message):
        ranged_clusterers_of(specs, {"resolution": (0.1,)} if specs == ("kmeans",) else {})


def test_values_of_an_option():
    values = ParameterValues()
    assert values.convert("0.1,0.5:1.5:3,0.5", None, None) == (0.1, 0.5, 1.0, 1.5)
    assert values.convert([0.1, 2], None, None) == (0.1, 2.0)
    with pytest.raises(click.BadParameter, match="'wide' is no value"):
        values.convert("wide", None, None)
