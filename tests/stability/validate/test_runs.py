"""Fits that indices share, laws and failures of `validate`."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from tests.helpers import configured
from tests.stability.validate.cases import (
    KMEANS,
    LABELS,
    ROOT,
    RUN,
    B,
    S,
    X,
    blobs,
    calls,
    counted,
    expect,
    rows_of,
    stability_rows,
)

import clustrep as cr
from clustrep.agreement.cluster_indices import INDICES
from clustrep.errors import DataWarning, ReplicateWarning


def n_fits(**options):
    calls.clear()
    result = cr.stability.validate(counted, X, n_resamples=B, n_splits=S, rng=ROOT, n_jobs=1, **options)
    return len(calls), result


# ---------------------------------------------------------------------------------------------------------------------
# shared fits


@pytest.mark.parametrize(
    ("indices", "fits"),
    [
        (["r"], B),
        (["d"], B),
        (["r", "d"], B),
        (["inclusion"], B),
        (["jaccard"], B),
        (["matching", "pac", "consensus", "assignment"], B),
        (["matching", "assignment"], B),
        (["pac", "consensus"], B),
        (["prediction_strength"], 2 * S),
        (["prediction_strength", "relative_validation"], 2 * S),
        (["instability"], 2 * B),
        (["in_group"], 0),
        (["test"], 0),
        (None, 6 * B + 2 * S),
    ],
)
def test_indices_share_their_fits_and_the_reference_is_fitted_once(indices, fits):
    found, _ = n_fits(n_clusters=[2, 3, 4], indices=indices)
    without_reference = {"prediction_strength", "relative_validation", "instability", "test"}
    reference = indices is None or not set(indices) <= without_reference
    assert found == 3 * (reference + fits)


def test_the_reference_is_no_fit_where_labels_are_given():
    found, _ = n_fits(indices=["r", "d", "matching", "pac", "in_group"], labels=LABELS)
    assert found == 2 * B
    found, _ = n_fits(indices="in_group", labels=LABELS)
    assert found == 0


def test_no_reference_is_fitted_where_no_index_needs_it():
    assert n_fits(indices="test")[0] == 0
    assert n_fits(indices=["prediction_strength", "relative_validation"])[0] == 2 * S
    assert n_fits(indices="instability")[0] == 2 * B


def test_single_functions_together_take_more_fits():
    found, _ = n_fits(n_clusters=[2])
    calls.clear()
    for index in ("matching", "inclusion", "jaccard", "r", "d"):
        cr.stability.stability(counted, X, index=index, n_resamples=B, rng=ROOT)
    for verb in (cr.stability.consensus, cr.stability.assignment_consistency, cr.stability.bootstrap_instability):
        verb(counted, X, n_resamples=B, rng=ROOT)
    for verb in (cr.stability.prediction_strength, cr.stability.relative_validation):
        verb(counted, X, n_splits=S, rng=ROOT)
    cr.stability.in_group_proportion(X, clusterer=counted, rng=ROOT)
    assert found == 1 + 6 * B + 2 * S
    assert len(calls) == 5 * (B + 1) + 2 * (B + 1) + 2 * B + 4 * S + 1


# ---------------------------------------------------------------------------------------------------------------------
# laws


def test_workers_and_batches_change_nothing():
    def run(**options):
        indices = ["r", "jaccard", "prediction_strength", "instability", "pac", "assignment", "in_group"]
        clusterer = AgglomerativeClustering()
        return cr.stability.validate(clusterer, X, n_clusters=[2, 3], indices=indices, **RUN, **options).to_frame()

    expected = run()
    pd.testing.assert_frame_equal(run(n_jobs=2), expected, check_exact=True)
    pd.testing.assert_frame_equal(configured(run, progress=False)(), expected, check_exact=True)
    # Shortcuts number the clusters in their own way.
    slow = configured(run, accelerate=False)()
    whole = expected["cluster"] == "all"
    np.testing.assert_allclose(
        slow.loc[whole, ["value", "sd", "low", "high"]], expected.loc[whole, ["value", "sd", "low", "high"]], rtol=1e-12
    )


def test_the_seed_is_all_that_a_run_follows_from(validation):
    some = ["jaccard", "test", "relative_validation"]
    run = {"n_clusters": 2, "indices": some, "n_resamples": B, "n_splits": S}
    one, other = (cr.stability.validate(KMEANS, X, rng=seed, **run).to_frame() for seed in (ROOT, ROOT + 1))
    assert not np.array_equal(one["value"], other["value"])
    generator = cr.stability.validate(KMEANS, X, rng=np.random.default_rng(0), **run)
    again = cr.stability.validate(KMEANS, X, rng=generator.provenance["seed"], **run)
    pd.testing.assert_frame_equal(generator.to_frame(), again.to_frame(), check_exact=True)
    # One number for all of it, also where a generator was given: the test belongs to the same run.
    test = cr.stability.cluster_test(X, rng=generator.provenance["seed"])
    assert generator.pvalue == test.pvalue


def test_a_k_is_the_same_alone_and_among_others(validation):
    alone = cr.stability.validate(KMEANS, X, n_clusters=3, **RUN).to_frame()
    full = validation.to_frame()
    expected = full[(full["k"] == 3) | full["k"].isna()].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, expected, check_exact=True)
    own = cr.stability.validate(KMeans(3, n_init=2), X, **RUN).to_frame()
    pd.testing.assert_frame_equal(own, expected, check_exact=True)


def test_studies_frames_and_tables_are_the_same_data():
    run = {"n_clusters": 2, "indices": ["r", "assignment", "in_group"], **RUN}
    expected = cr.stability.validate(KMEANS, X, **run).to_frame()
    study = cr.Study(X, "X", labels=LABELS)
    for data in (X.tolist(), pd.DataFrame(X), study):
        pd.testing.assert_frame_equal(cr.stability.validate(KMEANS, data, **run).to_frame(), expected, check_exact=True)
    known = cr.stability.validate(KMEANS, study, labels=True, **run)
    given = cr.stability.validate(KMEANS, X, labels=LABELS, **run)
    pd.testing.assert_frame_equal(known.to_frame(), given.to_frame(), check_exact=True)


def test_clear_clusters_are_the_best_there_is():
    centres = np.repeat([[0.0, 0.0, 0.0], [50.0, 0.0, 0.0], [0.0, 50.0, 0.0]], 10, axis=0)
    points = np.random.default_rng(0).normal(size=(30, 3)) * 0.5 + centres
    indices = [index for index in INDICES if index not in ("inclusion", "r", "d", "test")]
    row = cr.stability.validate(KMeans(n_init=5), points, n_clusters=3, indices=indices, **RUN).overall().loc[3]
    assert row.to_dict() == {index: float(INDICES[index].higher_is_better) for index in indices}


@pytest.mark.parametrize("n", [4, 5])
def test_few_samples_are_enough(n):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReplicateWarning)  # a bootstrap sample of one point, four times
        warnings.simplefilter("ignore", DataWarning)  # too few samples for the test's Gaussian
        result = cr.stability.validate(AgglomerativeClustering(2), X[:n], **RUN)
    assert set(result.index) == set(INDICES)
    assert result.overall().shape == (1, 12)


def test_one_cluster_and_constant_features_are_no_trouble():
    result = cr.stability.validate(lambda X: np.zeros(len(X), dtype=int), np.ones((8, 2)), **RUN)
    values = dict(zip(result.index[result.cluster == "all"], result.value[result.cluster == "all"], strict=True))
    values.pop("test")
    assert values == {index: float(INDICES[index].higher_is_better) for index in values}


# ---------------------------------------------------------------------------------------------------------------------
# failures


def sometimes(X, n_clusters=2):
    """Fails where the first sample of the study is missing."""
    if not (X[:, 0] == blobs()[0, 0]).any():
        raise ValueError("no luck")
    return counted(X, n_clusters)


def test_failures_are_said_and_left_out():
    with pytest.warns(ReplicateWarning, match=r"failed and (was|were) omitted: ValueError: no luck"):
        result = cr.stability.validate(
            sometimes, X, indices=["matching", "jaccard", "pac", "assignment"], n_resamples=8, rng=1
        )
    with pytest.warns(ReplicateWarning, match="no luck"):
        jaccard = cr.stability.stability(sometimes, X, n_resamples=8, rng=1)
    assert np.isnan(jaccard.overall_distribution).any()
    expect(result, "jaccard", stability_rows(jaccard, 2))


def test_a_k_that_always_fails_does_not_take_the_others_with_it():
    with pytest.warns(ReplicateWarning, match="more clusters asked for than there are distinct points"):
        result = cr.stability.validate(
            AgglomerativeClustering(), X[:10], n_clusters=[2, 9], indices=["matching", "jaccard"], **RUN
        )
    overall = result.overall()
    assert overall.notna().all(axis=1).tolist() == [True, False]


def test_an_index_without_any_value_is_nan():
    """Clusters of one have no pairs: `stability` gives NaN."""
    result = cr.stability.validate(AgglomerativeClustering(10), X[:10], indices="r", **RUN)
    assert np.isnan(result.value).all()


def test_an_index_without_any_value_is_an_empty_panel():
    with pytest.warns(ReplicateWarning, match="every test cluster has one sample"):
        result = cr.stability.validate(AgglomerativeClustering(2), X[:4], indices=["prediction_strength", "d"], **RUN)
    assert np.isnan(result.value[result.index == "prediction_strength"]).all()
    assert result.plot().shape == (1, 2)


def test_a_cluster_may_be_called_all():
    labels = ["all"] * 15 + ["some"] * 15
    result = cr.stability.validate(KMEANS, X, n_clusters=2, labels=labels, indices=["jaccard", "in_group"], **RUN)
    assert result.overall().shape == (1, 2)
    assert "k = 2" in repr(result)


def test_overall_has_a_row_for_a_clusterer_without_k():
    result = cr.stability.validate(DBSCAN(1.1, min_samples=3), X, indices=["jaccard", "in_group"], **RUN)
    overall = result.overall()
    assert overall.shape == (1, 2)
    assert overall.index.isna().all()
    assert overall["in_group"].item() == rows_of(result, "in_group")["value"].iloc[-1]


def test_indices_may_come_in_an_array():
    result = cr.stability.validate(KMEANS, X, n_clusters=2, indices=np.array(["r", "d"]), **RUN)
    assert set(result.index) == {"r", "d"}


def test_the_test_for_clusters_is_carried_out_like_the_rest(monkeypatch):
    seen = []

    def recorded(*args, **options):
        seen.append(options)
        return cr.stability.cluster_test(*args, **options)

    monkeypatch.setattr("clustrep.stability.validation.cluster_test", recorded)
    cr.stability.validate(KMEANS, X, n_clusters=2, indices="test", n_jobs=2, **RUN)
    assert seen[0].get("n_jobs") == 2
