"""Which study lacks a cluster that the others have, or has none."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from calibration.relations import CASES
from scipy.stats import binomtest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans

import clustrep as cr
from clustrep.across.apart import blurred_pvalues, lacking_pvalues
from clustrep.errors import AllReplicatesFailed, ParameterError

FOUR = KMeans(4, n_init=3)
N_COLLECTIONS = 40


def collection(case, i, size=(200, 2, 3)):
    return CASES[case](*size, np.random.default_rng([77, list(CASES).index(case), i]))


def flagged(case, clusterer=FOUR, n=N_COLLECTIONS, size=(200, 2, 3)):
    """Which studies stand apart, collection by collection, (n, S)."""
    return np.array(
        [cr.study_relations(clusterer, collection(case, i, size), n_resamples=25, rng=i).apart for i in range(n)]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", ["no difference", "shares vary, Dirichlet(20, …)", "no clusters anywhere", "weak clusters"]
)
def test_at_most_one_collection_in_twenty_has_a_false_flag(case):
    false = int(flagged(case).any(axis=1).sum())
    assert binomtest(false, N_COLLECTIONS, 0.05, alternative="greater").pvalue > 0.01


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", ["the last lacks one of four", "the last is one Gaussian alike", "the last is one round Gaussian"]
)
@pytest.mark.parametrize("clusterer", [FOUR, AgglomerativeClustering(4)], ids=["k-means", "ward"])
def test_four_of_five_studies_that_differ_are_found(case, clusterer):
    found = flagged(case, clusterer)
    assert binomtest(int(found[:, -1].sum()), N_COLLECTIONS, 0.8, alternative="less").pvalue > 0.01
    assert found[:, -1].mean() >= 0.8
    assert binomtest(int(found[:, :-1].any(axis=1).sum()), N_COLLECTIONS, 0.05, alternative="greater").pvalue > 0.01


def test_what_is_lacking_has_its_name():
    tables = dict(zip(("mainz", "vdx", "unt"), collection("the last lacks one of four", 0), strict=True))
    result = cr.study_relations(FOUR, tables, rng=0)
    assert str(result) == "unt lacks a cluster that the others have"
    assert result.lacks[2].sum() == 1
    frame = result.to_frame()
    assert len(frame) == 12
    (row,) = frame[frame["lacks"]].to_dict("records")
    assert (row["study"], row["share"] < 0.03, 0.2 < row["share_elsewhere"] < 0.3) == ("unt", True, True)
    blob = cr.study_relations(FOUR, collection("the last is one Gaussian alike", 0), rng=0)
    assert str(blob) == "the others' clusters are blurred in 3"
    nothing = cr.study_relations(FOUR, collection("no difference", 0), rng=0)
    assert str(nothing) == "no study lacks a cluster that the others have"


def test_lacking_is_a_binomial_sum_by_hand():
    here, elsewhere = np.array([3, 17]), np.array([30, 30])
    part = (20 / 2) / (20 / 2 + 60)
    by_hand = [
        sum(comb(x + y, j) * part**j * (1 - part) ** (x + y - j) for j in range(x + 1)) for x, y in ((3, 30), (17, 30))
    ]
    np.testing.assert_allclose(lacking_pvalues(here, elsewhere), by_hand, rtol=1e-10)


def test_given_clusters_with_half_the_share_have_the_level():
    """Exact where the clusters are given: half the share is the edge of the hypothesis."""
    rng = np.random.default_rng(5)
    low = 0
    for _ in range(2000):
        here, elsewhere = rng.multinomial(200, [0.125, 0.875]), rng.multinomial(400, [0.25, 0.75])
        low += lacking_pvalues(here, elsewhere)[0] <= 0.05
    assert binomtest(low, 2000, 0.05, alternative="greater").pvalue > 1e-3
    assert low > 40


def test_more_unexplained_than_elsewhere_is_blurred():
    pvalues = blurred_pvalues(np.log([0.2, 0.2, 0.2, 0.6]), [0.1] * 4)
    assert pvalues[3] < 1e-3
    assert (pvalues[:3] > 0.5).all()
    assert blurred_pvalues(np.log([0.2, 0.24]), [0.05, 0.05]).min() > 0.5  # less than the margin
    # Measured with another number of clusters, nothing can be said; the others are compared with each other.
    apart = blurred_pvalues(np.log([0.2, 0.2, 0.2, 0.6]), [0.1] * 4, [3, 3, 3, 4])
    assert apart[3] == 1
    np.testing.assert_array_equal(apart[:3], blurred_pvalues(np.log([0.2] * 3), [0.1] * 3))


def test_counts_are_those_of_a_function_learned_on_the_others():
    tables = collection("no difference", 1, (60, 2, 3))
    result = cr.study_relations(AgglomerativeClustering(3), tables, n_resamples=2, rng=0)
    pooled = np.concatenate(tables[:2])
    labels = AgglomerativeClustering(3).fit_predict(pooled)
    nearest = ((tables[2][:, None] - pooled) ** 2).sum(axis=2).argmin(axis=1)
    assert sorted(result.counts[2]) == sorted(np.bincount(labels[nearest], minlength=3))
    assert sorted(result.counts_elsewhere[2]) == sorted(np.bincount(labels))


def test_workers_order_and_files_change_nothing(tmp_path):
    tables = dict(zip("abc", collection("the last lacks one of four", 3, (60, 2, 3)), strict=True))
    one = cr.study_relations(FOUR, tables, rng=1)
    two = cr.study_relations(FOUR, tables, rng=1, n_jobs=2)
    turned = cr.study_relations(FOUR, dict(reversed(tables.items())), rng=1)
    one.save(tmp_path / "differences.npz")
    loaded = cr.load(tmp_path / "differences.npz")
    for other in (two, loaded):
        np.testing.assert_array_equal(other.lacks_pvalue, one.lacks_pvalue)
        np.testing.assert_array_equal(other.blurred_pvalue, one.blurred_pvalue)
    np.testing.assert_array_equal(turned.lacks_pvalue[::-1], one.lacks_pvalue)
    assert repr(loaded) == repr(one)


def test_noise_is_no_cluster_and_more_features_than_samples_are_no_obstacle():
    rng = np.random.default_rng(2)
    tables = [rng.normal(size=(40, 2)) + 8 * rng.integers(2, size=(40, 1)) for _ in range(3)]
    tables[2][0] = 100.0
    result = cr.study_relations(DBSCAN(eps=2.0, min_samples=4), tables, rng=0)
    assert result.counts.shape == (3, 2)
    wide = [np.hstack([table, rng.normal(size=(40, 100))]) for table in tables[:2]]
    assert cr.study_relations(KMeans(2, n_init=3), wide, rng=0).counts.sum(axis=1).tolist() == [40, 40]


def test_what_can_not_be_asked_says_why():
    tables = collection("no difference", 0, (60, 2, 3))
    with pytest.raises(ParameterError, match="at least two studies"):
        cr.study_relations(FOUR, tables[:1])
    with pytest.raises(ParameterError, match="n_resamples"):
        cr.study_relations(FOUR, tables, n_resamples=1)

    def never(X):
        raise ValueError("not today")

    with pytest.raises(AllReplicatesFailed, match="The clusterer failed on all studies but '1': ValueError: not today"):
        cr.study_relations(never, tables, rng=0)


def test_an_analysis_says_which_study_lacks_a_cluster(tmp_path):
    tables = collection("the last lacks one of four", 5)
    analysis = cr.analyse(FOUR, tables, n_clusters=[3, 4], null=None, n_resamples=5, rng=0)
    focus = analysis.focus
    alone = cr.study_relations(KMeans(focus.n_clusters, n_init=3), tables, rng=analysis.provenance.seed)
    np.testing.assert_array_equal(analysis.differences.lacks_pvalue, alone.lacks_pvalue)
    analysis.save(tmp_path / "analysis.npz")
    assert str(cr.load(tmp_path / "analysis.npz").differences) == str(alone)


def test_an_analysis_goes_on_where_pooled_studies_fail():
    def of_few(X):
        if len(X) > 70:
            raise ValueError("too many")
        return (X[:, 0] > 2).astype(int)

    analysis = cr.analyse(of_few, collection("no difference", 0, (60, 2, 3)), null=None, n_resamples=3, rng=0)
    assert analysis.differences is None
    assert analysis.counterparts is not None
