"""The null of known labels: the same labels on other samples of their study."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.errors import ParameterError
from clustrep.null.models import PERMUTED, PermutedModel
from clustrep.null.null_reference import _with_missing

N = 40
LABELS = {name: np.array(["t", "b", "nk"])[np.arange(N) % 3] for name in "ab"}


def studies(apart):
    """Three cell types, so many standard deviations apart."""
    rng = np.random.default_rng(0)
    centres = apart * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    return {name: rng.normal(size=(N, 2)) + centres[np.arange(N) % 3] for name in "ab"}


def reference(apart, n=39, **options):
    result = cr.replicability(None, studies(apart), labels=LABELS, n_resamples=2, rng=0)
    return result, cr.null_reference(result, n, **options)


def test_labels_that_follow_the_data_are_above_permuted_ones():
    result, against = reference(6.0)
    assert against.model == PERMUTED
    assert against.overall_pvalue == 1 / 40
    assert abs(against.mean[0, 1]) < 0.1  # chance, of an adjusted score
    assert result.estimate[0, 1] > 0.9


def test_labels_that_have_nothing_to_do_with_the_data_are_not():
    assert reference(0.0)[1].overall_pvalue > 0.05


def test_every_permutation_keeps_the_samples():
    tables = (np.arange(6.0)[:, None], np.arange(4.0)[:, None])
    drawn = PermutedModel(tables).draw(np.random.default_rng(1))
    assert [sorted(X.ravel().tolist()) for X in drawn] == [X.ravel().tolist() for X in tables]
    assert not np.array_equal(drawn[0], tables[0])


def test_local_scores_of_labels_have_a_null_too():
    named = cr.Studies(studies(6.0))
    local = cr.local_replicability(None, train=named["a"], test=named["b"], labels=LABELS, n_resamples=2, rng=0)
    against = cr.null_reference(local, 39)
    assert (against.to_frame()["pvalue"] <= 0.05).all()
    assert set(against.to_frame()["cluster"]) == {"t", "b", "nk"}


def test_each_null_is_for_what_it_can_say():
    with pytest.raises(ParameterError, match="null must be 'permuted' for known labels"):
        reference(1.0, null="gaussian")
    clustered = cr.replicability(KMeans(2, n_init=1), studies(1.0), n_resamples=1, rng=0)
    with pytest.raises(ParameterError, match="null='permuted' is for known labels"):
        cr.null_reference(clustered, 19, null="permuted")


def test_permuted_studies_have_as_many_missing_values_as_the_studies():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 3)) < 0.2, np.nan, rng.normal(size=(40, 3)))
    study = cr.Study(X, "a", allow_missing=True)
    permuted = _with_missing(rng.permutation(X), study)
    assert np.isnan(permuted).sum() == np.isnan(X).sum()
    simulated = _with_missing(rng.normal(size=(40, 3)), study)
    np.testing.assert_array_equal(np.isnan(simulated), np.isnan(X))
