"""What the experiment behind Fig. 1 measures with: paired differences, errors by resampling, gaps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from paper.fig1_benchmark_sets.published import as_published
from paper.fig1_benchmark_sets.runs import as_high, as_written, behind, best, by_resampling, scores
from paper.fig1_benchmark_sets.spiral import arms_in_halves, gaps

import clustrep as cr


def test_differences_are_paired_by_resample():
    noise = np.random.default_rng(0).normal(size=50)
    curve = pd.DataFrame(
        [noise + 0.1, noise, noise + 5 * np.random.default_rng(2).normal(size=50) - 0.5], index=[2, 3, 4]
    )
    assert best(curve) == 2
    assert behind(curve, 3) == pytest.approx((0.1, 0.0), abs=1e-9)
    assert as_high(curve, 2)
    assert not as_high(curve, 3)  # a small difference, but the same in every resample
    assert as_high(curve, 4)
    assert not as_high(curve, 5)  # left out


def test_the_error_of_a_mean_by_resampling():
    values = pd.DataFrame(np.random.default_rng(0).normal(size=(1, 100)))
    mean, error = by_resampling(np.mean, [values])
    assert mean == pytest.approx(values.to_numpy().mean())
    # A standard deviation of 100 draws has a relative error of 1/√200.
    assert error == pytest.approx(values.to_numpy().std() / 10, rel=4 / np.sqrt(200))


def test_gaps_within_and_between_classes():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [0.0, 5.0], [0.5, 5.0]])
    assert gaps(X, np.array([0, 0, 0, 1, 1])) == pytest.approx((2.0, 5.0))


def test_the_same_numbers_twice(data_folder):
    spiral = cr.datasets.load_shape("spiral", data_folder)
    for again in (
        lambda: scores(as_written(spiral, (3, 4), 3, 1)),
        lambda: as_published(spiral, (4,), 2, 2, 1),
        lambda: arms_in_halves(spiral, 2),
    ):
        pd.testing.assert_frame_equal(again(), again(), check_exact=True)


def test_splits_as_published_differ(data_folder):
    rows = as_published(cr.datasets.load_shape("spiral", data_folder), (4,), 2, 1, 1)
    first, second = np.array_split(rows["whole"].to_numpy(), 2)
    assert not np.allclose(first, second)
