"""Simulated cohorts are what their documentation says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from clustrep import datasets
from clustrep.errors import ParameterError


def test_subtypes_are_equally_far_apart_and_cohorts_lack_or_shift_what_was_asked_for():
    studies = datasets.simulate_cohorts(n_samples=4000, n_subtypes=3, n_features=4, separation=5, rng=0)
    alpha, gamma, delta = (studies[name] for name in ("alpha", "gamma", "delta"))
    means = np.array([alpha.X[alpha.labels == name].mean(axis=0) for name in "ABC"])
    np.testing.assert_allclose(pdist(means), 5, atol=0.15)
    assert set(gamma.labels) == {"A", "B"}
    moved = np.array([delta.X[delta.labels == name].mean(axis=0) for name in "ABC"])
    np.testing.assert_allclose(moved, 2 * means + 10, atol=0.3)
    assert len(datasets.simulate_cohorts(n_cohorts=1, missing={}, shifted={}, rng=0)) == 1
    first, again, other = (datasets.simulate_cohorts(rng=seed)["alpha"].X for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"n_cohorts": 11}, "n_cohorts"),
        ({"n_subtypes": 1}, "n_subtypes"),
        ({"n_subtypes": 9, "n_features": 9}, "n_subtypes"),
        ({"n_samples": 1}, "n_samples"),
        ({"n_features": 3}, "n_features"),
        ({"separation": 0}, "separation"),
        ({"missing": "alpha"}, "missing"),
        ({"missing": {"omega": "A"}}, "missing"),
        ({"missing": {"alpha": "Z"}}, "missing"),
        ({"shifted": {"omega": 1.0}}, "shifted"),
        ({"shifted": {"alpha": "far"}}, "shifted"),
    ],
)
def test_parameters_are_checked(options, parameter):
    with pytest.raises(ParameterError) as caught:
        datasets.simulate_cohorts(**options)
    assert caught.value.parameter == parameter
