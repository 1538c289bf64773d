"""A preliminary answer: from the first replicates of the final one, which it does not change."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
from tests.analysis.cases import WARD, assert_same
from tests.helpers import configured
from tests.sentences import warned

import clustrep as cr
from clustrep.errors import ReplicateWarning


def counted(calls):
    """A clusterer that keeps the shapes of what it was fitted to."""

    def cut(X):
        calls.append(X.shape)
        return (X[:, 0] > np.median(X[:, 0])).astype(int)

    return cut


def test_a_preliminary_answer_uses_the_first_resamples_and_changes_no_number(studies):
    told, options = [], {"n_clusters": [2, 3], "n_resamples": 30, "n_null": 60, "rng": 3, "scale": "none"}
    plain = cr.analyse(WARD, studies, **options)
    again = configured(cr.analyse, progress=told.append)(WARD, studies, **options)
    assert_same(plain, again)
    (first,) = told  # clusters are separated: a null model is not needed
    assert_same(first.comparison, cr.compare(WARD, studies, n_clusters=[2, 3], n_resamples=20, rng=3))
    assert (first.n_resamples, first.n_null, first.verdict) == (20, 0, "separated")
    assert str(first) == f"Preliminary, 20 resamples: {plain.headline[0].text}"


def test_without_separated_clusters_there_is_a_second_preliminary_answer_beside_the_first_null_data():
    data = [np.random.default_rng(i).normal(size=(60, 2)) for i in range(2)]
    told, options = [], {"n_clusters": [2], "n_resamples": 21, "n_null": 41, "rng": 0}
    final = configured(cr.analyse, progress=told.append)(WARD, data, **options)
    assert [(answer.n_resamples, answer.n_null) for answer in told] == [(20, 0), (20, 19)]
    drawn = cr.null_reference(told[1].comparison, 19).distribution
    np.testing.assert_array_equal(told[1].reference.distribution, drawn)
    assert str(told[1]).startswith("Preliminary, 20 resamples and 19 simulated data sets: No evidence of clusters")
    assert_same(final, cr.analyse(WARD, data, **options))


def test_nothing_is_computed_twice_for_a_preliminary_answer():
    data = [np.random.default_rng(i).normal(size=(30, 2)) for i in range(2)]
    fits = []
    for progress in ("auto", lambda answer: None):
        calls = []
        configured(cr.analyse, progress=progress)(counted(calls), data, n_resamples=25, n_null=45, train=[], rng=0)
        fits.append(Counter(calls))
    assert fits[1] - fits[0] == {(30, 2): 2}  # the studies themselves, beside which null data are put


def test_few_resamples_have_no_preliminary_answer(studies):
    told = []
    configured(cr.analyse, progress=told.append)(WARD, studies, n_clusters=[3], n_resamples=20, n_null=0, rng=0)
    assert told == []


def test_warnings_of_both_parts_are_given_once_and_counted_together(studies):
    def warns(X):
        warnings.warn("odd", UserWarning, stacklevel=1)
        return (X[:, 0] > np.median(X[:, 0])).astype(int)

    messages = []
    for progress in ("auto", lambda answer: None):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            configured(cr.analyse, progress=progress)(warns, studies, n_resamples=22, n_null=0, train=[], rng=0)
        messages.append(sorted(str(warning.message) for warning in caught))
    assert messages[0] == messages[1]
    assert any("UserWarning: odd" in message for message in messages[0])


def test_where_the_first_resamples_fail_there_is_no_preliminary_answer(studies):
    """Those after them may succeed."""
    fits = iter(range(10**6))

    def fails_at_first(X):
        if 15 < len(X) < 30 and next(fits) < 6 * 20:  # a resample, not a half: two draws of three studies
            raise ValueError("not yet")
        return (X[:, 0] > np.median(X[:, 0])).astype(int)

    told = []
    with warned(ReplicateWarning):
        configured(cr.analyse, progress=told.append)(fails_at_first, studies, n_resamples=30, n_null=0, train=[], rng=0)
    assert told == []


def test_where_progress_is_shown_the_preliminary_answer_is_on_stderr(studies, capsys):
    with cr.config_context(progress=True):
        cr.analyse(WARD, studies, n_clusters=[3], n_resamples=21, n_null=0, train=[], rng=0)
    assert "Preliminary, 20 resamples: 3 separated clusters" in capsys.readouterr().err
    cr.analyse(WARD, studies, n_clusters=[3], n_resamples=21, n_null=0, train=[], rng=0)
    assert "Preliminary" not in capsys.readouterr().err
