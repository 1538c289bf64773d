"""What stability and sensitivity refuse."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from tests.stability.stability.cases import WARD, N, X, curve_of, stable

import clustrep as cr
from clustrep.errors import DataError, ParameterError


@pytest.mark.parametrize("measure", [cr.stability.stability, cr.stability.sensitivity])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"index": "jacard"}, r"index must be one of 'matching', .*; got 'jacard'\. Did you mean 'jaccard'\?"),
        ({"index": None}, "index must be one of"),
        ({"index": ["r", "d"]}, "index must be one of"),
        ({"n_resamples": 0}, "n_resamples must be a positive integer, got 0"),
        ({"n_resamples": 2.5}, r"n_resamples must be a positive integer, got 2\.5"),
        ({"relative": "yes"}, "relative must be True or False, got 'yes'"),
        ({"noise": "singletons"}, "noise must be one of 'label', 'drop'; got 'singletons'"),
        ({"labels": True}, "labels is True, but study 'X' has no known labels"),
        ({"rng": -1}, "rng must be a non-negative integer"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_a_bad_parameter_is_named(measure, arguments, message):
    with pytest.raises(ParameterError, match=message):
        measure(WARD, X, **arguments)


@pytest.mark.parametrize("measure", [cr.stability.stability, cr.stability.sensitivity])
def test_a_bad_clusterer_or_study_is_refused(measure):
    with pytest.raises(ParameterError, match="a clusterer must find the clusters again, also those in labels"):
        measure(None, X)
    with pytest.raises(ParameterError, match="a clusterer must find the clusters again, also those in labels"):
        measure(None, X, labels=np.arange(N) % 2)
    with pytest.raises(ParameterError, match=r"write KMeans\(\)"):
        measure(KMeans, X)
    with pytest.raises(ParameterError, match=r"X must be one study or table, got Studies: pick one, studies\[name\]"):
        measure(WARD, cr.Studies({"a": X, "b": X}))
    with pytest.raises(DataError, match="one-dimensional"):
        measure(WARD, X[:, 0])
    with pytest.raises(DataError, match="missing value"):
        measure(WARD, np.where(np.arange(4) == 2, np.nan, X))


@pytest.mark.parametrize("measure", [cr.stability.stability, cr.stability.sensitivity])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1], "labels of study 'X' must have one label for every point of study 'X': 15; got 2"),
        ([0, None] * 7 + [1], "7 missing labels, the first at position 2"),
        (np.linspace(0, 1, N), "labels are names, not measurements"),
        (np.zeros((N, 1)), "one-dimensional"),
        ("aaaaabbbbbccccc", "must be a sequence of labels"),
        (False, "must be a sequence of labels"),
    ],
)
def test_bad_labels_are_refused(measure, labels, message):
    with pytest.raises(DataError, match=message):
        measure(WARD, X, labels=labels)


@pytest.mark.parametrize(
    "perturbation", ["bootstrap", cr.resampling.Bootstrap, 0.8, cr.resampling.Simulate(lambda study, rng: study.X)]
)
def test_a_perturbation_must_change_the_studys_own_samples(perturbation):
    with pytest.raises(ParameterError, match=r"perturbation must be Bootstrap\(\), .* or a sum such as"):
        stable(WARD, X, perturbation=perturbation)


@pytest.mark.parametrize(
    ("scales", "message"),
    [
        ([], r"scales must be a sequence of numbers, at least one; got \[\]"),
        (0.5, r"scales must be a sequence of numbers, at least one; got 0\.5"),
        ("0.5", "scales must be a sequence of numbers"),
        ({0.1, 0.2}, "scales must be a sequence of numbers"),
        ([0.1, 0], "scales must be a number above 0, got 0"),
        ([0.1, -1], "scales must be a number above 0, got -1"),
        ([np.inf], "scales must be a number above 0, got inf"),
        ([np.nan], "scales must be a number above 0, got nan"),
        ([True], "scales must be a number above 0, got True"),
        (["much"], "scales must be a number above 0, got 'much'"),
    ],
)
def test_scales_are_numbers_above_0(scales, message):
    with pytest.raises(ParameterError, match=message):
        curve_of(WARD, X, scales=scales)


def test_confidence_levels_and_quantiles_lie_between_0_and_1(jaccard):
    with pytest.raises(ParameterError, match="confidence_level must be a number strictly between 0 and 1, got 95"):
        jaccard.to_frame(95)
    with pytest.raises(ParameterError, match="q must be a number from 0 to 1"):
        jaccard.quantile(2)
    with pytest.raises(ParameterError, match="confidence_level must be a number strictly between 0 and 1, got 1"):
        curve_of(WARD, X, scales=[0.1]).to_frame(1)
