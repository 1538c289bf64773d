"""Statuses of clusters in studies: the binomial rule and the others, by hand."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from clustrep.findings.coordinates import Coordinates
from clustrep.findings.model import Model, Place
from clustrep.findings.result import FOUND, MERGED, NOT_FOUND, UNDETERMINED
from clustrep.findings.status import LEAST_SHARE, entries_of, status_by_counts

CENTRES = np.array([[0.0, 0], [8, 0]])


def chance_of_at_most(count, n, p):
    return sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(count + 1))


@pytest.mark.parametrize("n", [5, 10, 19, 20, 40])
@pytest.mark.parametrize("count", [0, 1, 3, 4])
def test_a_cluster_is_not_found_where_half_its_share_would_show(n, count):
    counts = np.array([[30, 60, count], [70, 140, n - count]])
    sizes = counts.sum(axis=0)
    expected = FOUND
    if count < 4:  # the share is 0.3 elsewhere
        is_rare = chance_of_at_most(count, n, LEAST_SHARE * 0.3) <= 0.05
        expected = NOT_FOUND if is_rare else UNDETERMINED if count == 0 else FOUND
    assert status_by_counts(counts, sizes)[0].tolist() == [FOUND, FOUND, expected]


def test_a_cluster_that_no_other_study_has_is_not_missed():
    status = status_by_counts(np.array([[3, 0], [50, 50]]), np.array([53, 50]))
    assert status.tolist() == [[FOUND, UNDETERMINED], [FOUND, FOUND]]


def model_of_counts(rng, counts, **of_last):
    """Two clusters in the plane, with these numbers of samples in every study; options are those of the last place."""
    tables, places = [], []
    for s, numbers in enumerate(counts):
        labels = np.repeat([0, 1], numbers)
        tables.append(CENTRES[labels] + rng.normal(size=(len(labels), 2)))
        options = of_last if s == len(counts) - 1 else {}
        places.append(Place(**{"shift": np.zeros(2), "scale": 1.0, "labels": labels, **options}))
    study = np.repeat(np.arange(len(tables)), [len(X) for X in tables])
    coordinates = Coordinates("as given", np.concatenate(tables), study, np.ones(2), np.eye(2))
    return Model(0.001, coordinates, [], tables, np.eye(2), CENTRES, places)


@pytest.mark.parametrize("n", [5, 12, 13, 40])
def test_not_found_and_undetermined_of_a_model(rng, n):
    entries = entries_of(model_of_counts(rng, [(60, 40), (30, 30), (n, 0)]))
    np.testing.assert_array_equal(entries.counts, [[60, 30, n], [40, 30, 0]])
    expected = (1 - LEAST_SHARE * 0.45) ** n  # the median share of the others
    assert entries.status.tolist() == [[FOUND] * 3, [FOUND, FOUND, NOT_FOUND if expected <= 0.05 else UNDETERMINED]]


def test_a_filled_middle_is_merged(rng):
    entries = entries_of(model_of_counts(rng, [(60, 40), (50, 30)], merged=frozenset({0, 1})))
    assert entries.status.tolist() == [[FOUND, MERGED], [FOUND, MERGED]]


def test_a_wide_cluster_is_merged(rng):
    model = model_of_counts(rng, [(60, 40), (80, 0)])
    model.X[1][:, 0] *= 3
    assert entries_of(model).status[:, 1].tolist() == [FOUND, MERGED]


def test_a_study_that_cannot_be_matched_is_undetermined(rng):
    entries = entries_of(model_of_counts(rng, [(60, 40), (80, 0)], undetermined=True))
    assert entries.status[:, 1].tolist() == [UNDETERMINED, UNDETERMINED]
    entries = entries_of(model_of_counts(rng, [(60, 40), (80, 0)], shift=None))
    assert entries.status[:, 1].tolist() == [FOUND, UNDETERMINED]


def test_valleys_by_hand(rng):
    model = model_of_counts(rng, [(60, 40), (80, 0)])
    entries = entries_of(model)
    assert np.isnan(entries.valley_depth[:, 1]).all()
    X, labels = model.X[0], model.places[0].labels
    a, b = (X[labels == c].mean(axis=0) for c in (0, 1))
    along = ((X - a) @ (b - a)) / ((b - a) @ (b - a))  # 0 and 1 at the centres
    left = ((along >= -1 / 6) & (along < 1 / 6)).sum()
    middle = ((along > 1 / 3) & (along < 2 / 3)).sum()
    right = ((along > 5 / 6) & (along <= 7 / 6)).sum()
    side = min(left, right)
    np.testing.assert_allclose(entries.valley_depth[:, 0], 1 - middle / side)
    np.testing.assert_allclose(entries.valley_p[:, 0], chance_of_at_most(int(middle), int(middle + side), 0.5))
