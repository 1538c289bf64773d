"""Our estimators follow scikit-learn's conventions: its own checks."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.cluster import AgglomerativeClustering
from sklearn.utils.estimator_checks import check_estimator

import clustrep as cr
from clustrep.errors import ParameterError

ESTIMATORS = {
    "leiden": cr.clusterers.Leiden(),
    "louvain": cr.clusterers.Louvain(),
    "induced": cr.Induced(AgglomerativeClustering(2)),
    "embedding": cr.TrainEmbedding(),
}
# What it wraps is fitted itself, so that it can be looked at, and is followed through pipelines.
EXPECTED = {"induced": {"check_estimators_overwrite_params": "the clusterer inside is the one that is fitted"}}


@pytest.mark.skipif(not hasattr(sklearn.utils, "get_tags"), reason="scikit-learn 1.6 collects what fails")
@pytest.mark.filterwarnings("ignore")  # of data that the checks make
@pytest.mark.parametrize("name", ESTIMATORS)
def test_scikit_learns_checks_pass(name):
    if name in ("leiden", "louvain"):
        pytest.importorskip("igraph")
    outcomes = check_estimator(ESTIMATORS[name], expected_failed_checks=EXPECTED.get(name), on_skip=None, on_fail=None)
    failed = {outcome["check_name"]: outcome["exception"] for outcome in outcomes if outcome["status"] == "failed"}
    assert failed == {}


@pytest.mark.parametrize("name", ["leiden", "embedding"])
def test_other_features_than_those_of_the_fit_are_refused(name, rng):
    if name == "leiden":
        pytest.importorskip("igraph")
    fitted = ESTIMATORS[name].fit(rng.normal(size=(30, 3)))
    apply = fitted.predict if name == "leiden" else fitted.transform
    with pytest.raises(ParameterError) as raised:
        apply(np.zeros((2, 4)))
    assert raised.value.parameter == "X"
