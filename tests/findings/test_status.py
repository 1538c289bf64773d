"""Statuses of clusters in studies: the binomial rule and the others, by hand."""

from __future__ import annotations

from math import comb

import numpy as np
import pandas as pd
import pytest
from tests.findings.random_studies import findings_of

from clustrep.findings.coordinates import Coordinates
from clustrep.findings.model import Model, Place
from clustrep.findings.result import FOUND, MERGED, NOT_FOUND, SEPARATED, SPLIT, UNDETERMINED
from clustrep.findings.sentences import missing_sentences
from clustrep.findings.status import LEAST_SHARE, entries_of, status_by_counts, with_splits

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
    entries = entries_of(model_of_counts(rng, [(60, 40), (50, 30)], merged=frozenset({frozenset({0, 1})})))
    assert entries.status.tolist() == [[FOUND, MERGED], [FOUND, MERGED]]


def test_a_wide_cluster_is_merged(rng):
    model = model_of_counts(rng, [(60, 40), (80, 0)])
    model.X[1][:, 0] *= 3
    assert entries_of(model).status[:, 1].tolist() == [MERGED, MERGED]


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


# ---------------------------------------------------------------------------------------------------------------------
# split: one study against the others


def triangle_of_clusters(rng, noise, n=90):
    """Three clusters; the first two, 6 apart, are blurred by noise along the line between them."""
    centres = np.array([[0.0, 0], [6, 0], [3, 14]])
    X = np.repeat(centres, n, axis=0) + rng.normal(size=(3 * n, 2)) * [noise, 1]
    return pd.DataFrame(X, columns=["x", "y"])


@pytest.mark.parametrize("n_blurred", [1, 2, 3])
def test_what_one_study_alone_shows_apart_is_split_there(n_blurred):
    rng = np.random.default_rng(n_blurred)
    studies = {"sharp": triangle_of_clusters(rng, 1.0)}
    studies |= {f"blurred {i}": triangle_of_clusters(rng, 2.6) for i in range(n_blurred)}
    findings = findings_of(studies)
    assert findings.verdict == SEPARATED
    if n_blurred == 1:  # one against one: neither is the exception
        assert findings.n_clusters == 3
        assert sorted(findings.status[:, 1].tolist()) == [FOUND, MERGED, MERGED]
        return
    assert findings.status.tolist() == [[SPLIT, *[FOUND] * n_blurred], [FOUND] * (n_blurred + 1)]
    assert findings.counts[:, 0].tolist() == [180, 90]
    assert missing_sentences(findings) == [
        "Cluster A is split in two in sharp; the other studies show no density valley within it."
    ]


def test_clusters_that_two_studies_show_apart_are_not_split():
    rng = np.random.default_rng(0)
    studies = {f"sharp {i}": triangle_of_clusters(rng, 1.0) for i in range(2)}
    studies |= {f"blurred {i}": triangle_of_clusters(rng, 2.6) for i in range(2)}
    findings = findings_of(studies)
    assert findings.n_clusters == 3
    assert SPLIT not in findings.status


def three_clusters(rng, merged, n=30):
    """A model of three clusters, and in every study the sets of them that are merged."""
    centres = np.array([[0.0, 0], [8, 0], [0, 20]])
    labels = np.repeat([0, 1, 2], n)
    tables = [centres[labels] + rng.normal(size=(3 * n, 2)) for _ in merged]
    places = [Place(np.zeros(2), 1.0, labels, merged=frozenset(map(frozenset, sets))) for sets in merged]
    study = np.repeat(np.arange(len(tables)), 3 * n)
    coordinates = Coordinates("as given", np.concatenate(tables), study, np.ones(2), np.eye(2))
    return Model(0.001, coordinates, [], tables, np.eye(2), centres, places)


def test_joined_clusters_keep_their_samples_and_the_numbers_of_the_others(rng):
    model = with_splits(three_clusters(rng, [[], [{0, 1}], [{0, 1}]]))
    np.testing.assert_allclose(model.centres, [[4, 0], [0, 20]])
    assert [np.bincount(place.labels).tolist() for place in model.places] == [[60, 30]] * 3
    assert entries_of(model).status.tolist() == [[SPLIT, FOUND, FOUND], [FOUND] * 3]


def test_the_last_two_clusters_stay(rng):
    model = with_splits(three_clusters(rng, [[], [{0, 1, 2}], [{0, 1, 2}]]))
    assert model.n_clusters == 2
    assert entries_of(model).status[:, 1:].tolist() == [[MERGED, MERGED]] * 2
