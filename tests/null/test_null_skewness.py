"""Features too skewed for a Gaussian null."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.null.null_cases import WARD, exponentials

import clustrep as cr
from clustrep.errors import DataWarning


def halves(X):
    return (X[:, 0] > np.median(X[:, 0])).astype(int)


def two_values(n_high, n=40):
    """A feature with two values."""
    return 0.25 + 0.5 * (np.arange(n) < n_high)


def skewness_by_hand(values):
    mean = sum(values) / len(values)
    second, third = (sum((x - mean) ** power for x in values) / len(values) for power in (2, 3))
    return third / second**1.5


def halved(*tables):
    """Cut at the median of a first feature without skewness, in every study."""
    tables = dict(zip(["mainz", "vdx", "nki"], tables, strict=False))
    return cr.replicability(halves, tables, n_resamples=1, diagonal=False, rng=0)


@pytest.mark.parametrize("sign", [1, -1])
def test_it_is_said_where_features_are_too_skewed_for_a_gaussian(sign):
    skewed, less = two_values(6), two_values(7)
    border = 1 + 2 * np.sqrt(6 / 40)
    assert skewness_by_hand(skewed) > border > skewness_by_hand(less) > 1.6
    line = np.linspace(-1, 1, 40)
    even, very = np.c_[line, less, less], np.c_[line, sign * skewed, -sign * skewed]
    for tables, name in [((even, very), "vdx"), ((very, even), "mainz"), ((even, very + 9, even), "vdx")]:
        result = halved(*tables)
        with pytest.warns(
            DataWarning, match=f"of the features of study '{name}', or more, have a skewness above 1.8: "
        ):
            reference = cr.null_reference(result, 2, null="gaussian")
        assert len(reference.distribution) == 2
        cr.null_reference(result, 2, null="copula")  # any warning is an error here
        cr.null_reference(result, 2, null=lambda study, rng: study.X[rng.permutation(len(study))])
    cr.null_reference(halved(even, even), 2, null="gaussian")  # none is skewed enough
    cr.null_reference(
        halved(np.c_[line, line, skewed], np.c_[line, skewed, line]), 2, null="gaussian"
    )  # not half of the features


def test_the_first_skewed_study_is_named():
    rng = np.random.default_rng(2)
    even = rng.normal(size=(60, 5))
    tables = [even, rng.exponential(size=(60, 5)) ** 2, rng.exponential(size=(60, 5)) ** 3]
    with pytest.warns(
        DataWarning, match=f"of study 'vdx', or more, .* above {1 + 2 * 0.1**0.5:.1f}: .* null='unimodal'"
    ):
        cr.null_reference(halved(*tables), 1, null="gaussian")


def test_small_gaussian_studies_are_seldom_called_skewed():
    said = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cr.null_reference(halved(rng.normal(size=(12, 1)), rng.normal(size=(12, 1))), 1, null="gaussian")
        said += any("skewness" in str(one.message) for one in caught)
    assert said <= 3


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: rng.normal(size=(60, 3)) * [1, 5, 9] + 100,
        lambda rng: rng.uniform(size=(60, 3)),
        lambda rng: np.concatenate([X := np.exp(rng.normal(size=(30, 3))), -X]),  # long tails on both sides
        lambda rng: np.repeat([[0.0], [8.0]], 30, axis=0) + rng.normal(size=(60, 3)),  # two groups of one size
    ],
    ids=["gaussian", "uniform", "tails", "groups"],
)
def test_nothing_is_said_of_features_without_skewness(make):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        cr.null_reference(halved(make(rng), make(rng)), 1, null="gaussian")


def test_constant_features_have_no_skewness(rng):
    even, skewed = np.linspace(-1, 1, 40)[:, None], two_values(4)[:, None]
    constant = np.full((40, 3), 7.0)
    cr.null_reference(halved(np.c_[even, constant], np.c_[even, constant]), 2, null="gaussian")
    with pytest.warns(
        DataWarning, match=r"'vdx', or more, have a skewness above 1\.8"
    ):  # of those that are not constant
        cr.null_reference(halved(np.c_[even, constant], np.c_[skewed, constant]), 2, null="gaussian")
    with pytest.warns(DataWarning, match=r"'vdx', or more, have a skewness above 1\.8"):
        cr.null_reference(halved(constant, np.c_[skewed, skewed, skewed]), 2, null="gaussian")
    cr.null_reference(halved(constant, constant + 1), 2, null="gaussian")


@pytest.mark.parametrize("verb", ["compare", "local"])
def test_skewness_is_told_of_whatever_was_run(verb):
    tables = exponentials(0, [1.0, 1.0])
    if verb == "compare":
        result = cr.compare(WARD, tables, n_clusters=[2], n_resamples=1, diagonal=False, rng=0)
    else:
        result = cr.local_replicability(WARD, train=tables[0], test=tables[1], n_resamples=1, rng=0)
    with pytest.warns(DataWarning, match="skewness"):
        cr.null_reference(result, 1, null="gaussian")
