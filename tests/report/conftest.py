from __future__ import annotations

import numpy as np
import pytest
from tests.report.samples import THREE, WARD, cohorts_named

import clustrep as cr


@pytest.fixture(scope="session")
def studies():
    return cohorts_named("alpha", "beta", "gamma")


@pytest.fixture(scope="session")
def analysis(studies):
    return cr.analyse({"ward": WARD}, studies, n_clusters=[2, 3], n_null=19, n_resamples=20, rng=0)


@pytest.fixture(scope="session")
def unimodal():
    """An analysis without evidence of clusters: its scores are compared with a null model."""
    rng = np.random.default_rng(4)
    tables = {name: rng.normal(size=(60, 2)) * [4, 1] for name in ("alpha", "beta", "gamma")}
    return cr.analyse({"ward": WARD}, tables, n_clusters=[2, 3], n_null=39, n_resamples=4, rng=0)


@pytest.fixture(scope="session")
def report(analysis):
    return cr.Report(analysis)


@pytest.fixture(scope="session")
def parts(studies):
    """Results of every kind, each from its own function."""
    alpha, few = studies["alpha"], {"n_resamples": 4, "rng": 0}
    comparison = cr.compare(WARD, studies, n_clusters=[2, 3], **few)
    result = cr.replicability(THREE, studies, **few)
    local = cr.local_replicability(THREE, train=alpha, test=studies, **few)
    return {
        "comparison": comparison,
        "replicability": result,
        "local": local,
        "null": cr.null_reference(comparison, 19),
        "null of pairs": cr.null_reference(result, 19),
        "separation": cr.separation.density_valleys(WARD, studies, n_clusters=[2, 3], rng=0),
        "leave one out": cr.leave_one_study_out(THREE, studies, **few),
        "validation": cr.stability.validate(WARD, alpha, n_clusters=[2, 3], indices=("jaccard", "r", "test"), **few),
        "test": cr.stability.cluster_test(alpha, n_resamples=19, rng=0),
        "other test": cr.stability.cluster_test(studies["beta"], n_resamples=19, rng=0),
        "stability": cr.stability.stability(THREE, alpha, **few),
        "sensitivity": cr.stability.sensitivity(THREE, alpha, **few),
        "prediction": cr.stability.prediction_strength(WARD, alpha, n_clusters=[2, 3], n_splits=2, rng=0),
        "instability": cr.stability.bootstrap_instability(WARD, alpha, n_clusters=[2, 3], **few),
        "consensus": cr.stability.consensus(THREE, alpha, **few),
        "assignment": cr.stability.assignment_consistency(THREE, alpha, **few),
        "relative": cr.stability.relative_validation(WARD, alpha, n_clusters=[2, 3], n_splits=2, rng=0),
    }
