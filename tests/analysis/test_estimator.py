"""The analysis as a scikit-learn estimator: its checks, and the same answer as `analyse`."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import clustrep as cr
from clustrep.errors import DataError

SMALL = {"n_clusters": [2, 3], "n_resamples": 3, "n_null": 0}
STUDY = np.tile(["south", "north", "east"], 50)


@pytest.fixture(scope="module")
def table():
    """Three studies, row by row, with clusters of 75, 50 and 25 samples; the second one is shifted."""
    rng = np.random.default_rng(1)
    cluster = rng.permutation(np.repeat([0, 1, 2], [75, 50, 25]))
    X = np.array([[0.0, 0, 0], [9, 0, 0], [0, 9, 0]])[cluster] + rng.normal(size=(150, 3))
    X[STUDY == "north"] += 4
    return pd.DataFrame(X, columns=["ESR1", "ERBB2", "AURKA"], index=[f"p{i}" for i in range(150)]), cluster


@pytest.fixture(scope="module")
def fitted(table):
    estimator = cr.ReplicableClusters(KMeans(n_init=2), random_state=3, **SMALL)
    return estimator.fit(table[0], groups=STUDY)


@pytest.mark.skipif(not hasattr(sklearn.utils, "get_tags"), reason="scikit-learn 1.6 collects what fails")
@pytest.mark.filterwarnings("ignore")  # of data that the checks make
def test_scikit_learns_checks_pass():
    estimator = cr.ReplicableClusters(KMeans(n_init=1), n_clusters=2, n_resamples=2, n_null=0)
    outcomes = check_estimator(estimator, on_skip=None, on_fail=None)
    assert {one["check_name"]: one["exception"] for one in outcomes if one["status"] == "failed"} == {}


def test_it_answers_as_analyse_in_the_order_of_the_rows(table, fitted):
    X, cluster = table
    studies = {name: X[name == STUDY] for name in ("south", "north", "east")}
    analysis = cr.analyse(KMeans(n_init=2), studies, rng=3, **SMALL)
    assert fitted.findings_.names == analysis.names
    assert (fitted.verdict_, fitted.n_clusters_) == (analysis.verdict, analysis.n_clusters) == ("separated", 3)
    assert fitted.labels_.tolist() == cluster.tolist()  # 0 is the largest
    letters = pd.Series(np.array(analysis.findings.letters)[fitted.labels_], index=X.index)
    for name, labels in analysis.findings.labels.items():
        assert letters[name == STUDY].tolist() == labels.tolist()


def test_prediction_corrects_the_shift_of_a_study_that_is_named(table, fitted):
    X, cluster = table
    codes = fitted.predict(X, groups=STUDY)
    assert set(codes[codes != cluster]) <= {-1}
    assert (codes == cluster).mean() > 0.9
    alone = [fitted.predict(X.iloc[[i]], groups=STUDY[[i]])[0] for i in range(20)]
    assert alone == codes[:20].tolist()
    assert fitted.predict(X + 1000.0).tolist() == [-1] * 150


def test_scores_are_those_of_the_comparison(fitted):
    results, comparison = fitted.cv_results_, fitted.analysis_.comparison
    assert results["params"][1] == {"clusterer": "KMeans", "n_clusters": 3}
    assert results["mean_test_score"] == pytest.approx(comparison.summary().query("agreement == 'ari'")["score"])
    pair = fitted.splits_.index(("north", "east"))
    score = comparison.replicability("KMeans", 3).mean[1, 2]
    assert results[f"split{pair}_test_score"][1] == pytest.approx(score)
    assert results["rank_test_score"].min() == 1


def test_it_is_the_last_step_of_a_pipeline(table, fitted):
    X, _ = table
    pipeline = make_pipeline(StandardScaler(), cr.ReplicableClusters(KMeans(n_init=2), random_state=3, **SMALL))
    pipeline.fit(X, replicableclusters__groups=STUDY)
    assert pipeline[-1].labels_.tolist() == fitted.labels_.tolist()
    assert pipeline.predict(X).shape == (150,)


def test_one_cluster_and_no_answer_have_their_own_codes(rng):
    X = rng.normal(size=(200, 2))
    one = cr.ReplicableClusters(KMeans(n_init=1), 2, n_resamples=2, n_null=19, random_state=0).fit(X)
    assert one.n_clusters_ == 1
    assert set(one.labels_) == set(one.predict(X)) == {0}
    none = cr.ReplicableClusters(KMeans(n_init=1), 2, n_resamples=2, n_null=0, random_state=0).fit(X)
    assert none.n_clusters_ is None
    assert set(none.labels_) == set(none.predict(X)) == {-1}


def test_groups_must_name_every_sample(table):
    with pytest.raises(DataError):
        cr.ReplicableClusters(KMeans()).fit(table[0], groups=STUDY[:9])
