"""The nearest of some points on a device: those that the processor's search finds, ties included."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from clustrep.fitting.neighbours import nearest_point

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'clustrep[gpu]'")

DEVICES = ["torch", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(params=DEVICES)
def device(request):
    return request.param


def compared(points, X, device):
    search = nearest_point(points, "euclidean", device=device)
    np.testing.assert_array_equal(search(X), nearest_point(points, "euclidean")(X))
    return search


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("p", [1, 2, 15, 16, 50, 127, 128, 300])
def test_the_same_points_are_nearest(p, dtype, device):
    rng = np.random.default_rng(p)
    points, X = (rng.normal(3, 2, size=(n, p)).astype(dtype) for n in (700, 1500))
    compared(points, X, device)


def asked(search):
    """Record about how many rows the processor was asked."""
    numbers, exact = [], search.exact
    search.__dict__["exact"] = lambda X: numbers.append(len(X)) or exact(X)
    return numbers


@pytest.mark.parametrize("p", [2, 20, 50])
def test_hardly_any_row_is_left_to_the_processor(p, device):
    rng = np.random.default_rng(0)
    points, X = rng.normal(size=(5000, p)), rng.normal(size=(3000, p))
    search = nearest_point(points, "euclidean", device=device)
    numbers = asked(search)
    search(X)
    assert sum(numbers) <= 30


@pytest.mark.parametrize("p", [3, 20])
def test_of_equally_near_points_the_processor_chooses(p, device):
    rng = np.random.default_rng(1)
    lattice = rng.integers(0, 2, size=(400, p)).astype(float)
    points = np.unique(lattice, axis=0)
    X = rng.integers(0, 3, size=(600, p)) / 2  # halfway between two or more
    search = compared(points, X, device)
    numbers = asked(search)
    search(X)
    assert sum(numbers) > 100


@pytest.mark.parametrize("p", [2, 20])
def test_numbers_far_apart_and_far_away(p, device):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(500, p)) + 1e6
    points[0] += 1e9  # sets the unit of all others
    X = np.concatenate([rng.normal(size=(200, p)) + 1e6, rng.normal(size=(5, p)) * 1e13])
    compared(points, X, device)
    compared(1e-150 * rng.normal(size=(50, p)), 1e-150 * rng.normal(size=(60, p)), device)
    if p > 15:  # a tree finds none
        compared(1e200 * rng.normal(size=(50, p)), 1e200 * rng.normal(size=(60, p)), device)


def test_a_single_point_is_nearest(device):
    np.testing.assert_array_equal(nearest_point(np.ones((1, 20)), "euclidean", device=device)(np.zeros((3, 20))), 0)


def test_in_pieces(monkeypatch, device):
    rng = np.random.default_rng(3)
    points, X = rng.normal(size=(300, 20)), rng.normal(size=(1000, 20))
    for name, value in (("ROWS", 128), ("CELLS", 2000), ("GPU_CELLS", 2000)):
        monkeypatch.setattr(f"clustrep.gpu.row_search.{name}", value)
    compared(points, X, device)


def test_elsewhere_it_is_the_processors_search(device):
    points = np.random.default_rng(4).normal(size=(40, 20))
    search = pickle.loads(pickle.dumps(nearest_point(points, "euclidean", device=device)))
    assert type(search).__name__ == "NearestByProducts"


def test_other_metrics_stay_on_the_processor():
    points = np.random.default_rng(4).normal(size=(40, 20))
    assert type(nearest_point(points, "cityblock", device="torch")).__name__ == "NearestInBlocks"
