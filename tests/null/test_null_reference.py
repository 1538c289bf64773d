"""Scores beside data without clusters: p-values, seeds, refusals, wide studies, tables and files."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace

import joblib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control, ks_2samp
from sklearn.cluster import AgglomerativeClustering, BisectingKMeans, KMeans
from sklearn.preprocessing import FunctionTransformer
from tests.helpers import configured
from tests.null import null_cases
from tests.null.null_cases import WARD, gaussians, mixtures, off_diagonal

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, DataError, ParameterError, ReplicateWarning
from clustrep.execution.forecast import PROCESSES_START, THREADS_START, WORTHWHILE, Workers, choose_workers
from clustrep.null.gaussian import GaussianModel
from clustrep.null.models import NULLS
from clustrep.null.null_reference import NullPlan
from clustrep.null.null_scores import NullReference

# Fixtures under the names by which the tests ask for them.
three = null_cases.three
result = null_cases.result
reference = null_cases.reference
comparison = null_cases.comparison
comparison_reference = null_cases.comparison_reference
local = null_cases.local
local_reference = null_cases.local_reference


# ---------------------------------------------------------------------------------------------------------------------
# scores of simulated data sets, by hand


class Recorded:
    """A sampler that remembers what it drew: rows of the study, and noise."""

    def __init__(self):
        self.tables = []

    def __call__(self, study, rng):
        self.tables.append(study.X[rng.permutation(len(study))] + rng.normal(size=study.X.shape))
        return self.tables[-1]

    def collections(self, names):
        """Studies are simulated in the order of their names."""
        by_name = [dict(zip(sorted(names), part, strict=True)) for part in self.batches(len(names))]
        return [{name: tables[name] for name in names} for tables in by_name]

    def batches(self, size):
        return [self.tables[i : i + size] for i in range(0, len(self.tables), size)]


@pytest.mark.parametrize("agreement", ["ari", "ami"])
def test_every_simulated_collection_is_scored_like_the_studies(three, agreement):
    results = cr.replicability(WARD, three, agreement=("ari", "ami"), n_resamples=2, rng=0)
    null = Recorded()
    reference = cr.null_reference(results[agreement], 5, null=null)
    assert reference.distribution.shape == (5, 3, 3)
    for scores, tables in zip(reference.distribution, null.collections(list(three)), strict=True):
        expected = cr.replicability(WARD, tables, agreement=agreement, n_resamples=1, rng=9).estimate
        np.testing.assert_allclose(off_diagonal(scores), off_diagonal(expected))
    assert reference.agreements == (agreement,)
    np.testing.assert_array_equal(off_diagonal(reference.observed), off_diagonal(results[agreement].estimate))


def test_all_configurations_of_a_comparison_see_the_same_collections(comparison, three):
    null = Recorded()
    reference = cr.null_reference(comparison, 4, null=null)
    assert reference.distribution.shape == (4, 3, 2, 3, 3)
    for scores, tables in zip(reference.distribution, null.collections(list(three)), strict=True):
        expected = cr.compare(
            {"ward": AgglomerativeClustering()}, tables, n_clusters=[2, 3, 4], n_resamples=1, rng=3
        ).estimate
        np.testing.assert_allclose(off_diagonal(scores), off_diagonal(expected))
    assert len(null.tables) == 12


@pytest.mark.parametrize("at", ["train", "test"])
def test_local_scores_are_those_of_the_simulated_clusters(three, at):
    mainz, vdx = cr.Study(three["mainz"], "mainz"), cr.Study(three["vdx"], "vdx")
    points = None if at == "train" else vdx
    result = cr.local_replicability(WARD, train=mainz, test=vdx, at=points, n_resamples=2, rng=0)
    null = Recorded()
    reference = cr.null_reference(result, 5, null=null)
    assert reference.distribution.shape == (5, 3)
    for scores, (train, test) in zip(reference.distribution, null.batches(2), strict=True):
        again = cr.local_replicability(
            WARD, train=train, test=test, at=None if at == "train" else test, n_resamples=1, rng=1
        )
        np.testing.assert_allclose(np.sort(scores), np.sort(again.by_cluster()["estimate"]))
    np.testing.assert_array_equal(reference.observed, result.by_cluster()["estimate"])


def test_the_mean_repeats_all_resamples_in_every_collection(three):
    n_fits = 0

    def halves(X):
        nonlocal n_fits
        n_fits += 1
        return (X[:, 0] > np.median(X[:, 0])).astype(int)

    result = cr.replicability(halves, three, n_resamples=3, diagonal=False, rng=0)
    n_fits = 0
    cr.null_reference(result, 2)
    assert n_fits == (1 + 2) * 3  # and the studies as they are, to see whether they are single blocks
    n_fits = 0
    reference = cr.null_reference(result, 2, statistic="mean")
    assert n_fits == (1 + 2 * (1 + 3)) * 3  # separateness is that of the studies as they are
    np.testing.assert_array_equal(off_diagonal(reference.observed), off_diagonal(result.mean))
    assert reference.statistic == reference.provenance["statistic"] == "mean"


def test_resamples_that_change_nothing_give_the_mean_of_equal_scores(three):
    # A permutation of all samples: the tree does not notice.
    result = cr.replicability(WARD, three, n_resamples=3, resampling=cr.resampling.Subsample(1.0), rng=0)
    mean, estimate = (cr.null_reference(result, 5, statistic=statistic) for statistic in ("mean", "estimate"))
    np.testing.assert_allclose(mean.distribution, estimate.distribution)
    bootstrap = cr.replicability(WARD, three, n_resamples=3, rng=0)
    other = cr.null_reference(bootstrap, 5, statistic="mean")
    assert not np.allclose(off_diagonal(other.distribution), off_diagonal(estimate.distribution))


@pytest.mark.parametrize("statistic", ["estimate", "mean"])
def test_what_is_observed_is_the_result(comparison, local, statistic):
    reference = cr.null_reference(comparison, 2, statistic=statistic)
    expected = comparison.estimate if statistic == "estimate" else comparison.distribution.mean(axis=2)
    np.testing.assert_allclose(off_diagonal(reference.observed), off_diagonal(expected))
    assert np.isnan(np.diagonal(reference.observed, axis1=2, axis2=3)).all()
    np.testing.assert_array_equal(
        cr.null_reference(local, 2, statistic=statistic).observed, local.by_cluster()[statistic]
    )


# ---------------------------------------------------------------------------------------------------------------------
# p-values


def test_pvalues_count_exceedances_one_by_one(reference):
    assert reference.pvalue.shape == (3, 3)
    for s, t in itertools.product(range(3), repeat=2):
        if s == t:
            assert np.isnan(reference.pvalue[s, t])
            continue
        above = sum(float(one[s, t]) >= float(reference.observed[s, t]) for one in reference.distribution)
        assert reference.pvalue[s, t] == pytest.approx((1 + above) / 13)
    assert len(set(off_diagonal(reference.pvalue))) > 1
    np.testing.assert_allclose(reference.mean, np.where(np.eye(3), np.nan, reference.distribution.mean(axis=0)))
    np.testing.assert_allclose(reference.excess, reference.observed - reference.mean)


def test_pvalues_of_a_comparison_count_exceedances_one_by_one(comparison_reference):
    reference = comparison_reference
    assert reference.pvalue.shape == (3, 2, 3, 3)
    for place in np.ndindex(reference.pvalue.shape):
        if place[2] != place[3]:
            above = sum(float(one[place]) >= float(reference.observed[place]) for one in reference.distribution)
            assert reference.pvalue[place] == pytest.approx((1 + above) / 13)


def test_a_cluster_is_compared_with_all_clusters_of_each_collection(local_reference):
    reference = local_reference
    for observed, pvalue in zip(reference.observed, reference.pvalue, strict=True):
        above = [[score >= observed for score in one if not np.isnan(score)] for one in reference.distribution]
        assert pvalue == pytest.approx((1 + sum(sum(one) / len(one) for one in above)) / 13)
    assert len(set(reference.pvalue)) > 1
    means = [np.nanmean(one) for one in reference.distribution]
    np.testing.assert_allclose(reference.mean, np.mean(means))
    assert reference.overall == pytest.approx(reference.observed.mean())
    assert reference.overall_pvalue == pytest.approx((1 + sum(one >= reference.overall for one in means)) / 13)


def test_ties_count_as_exceedances_and_missing_scores_do_not():
    reference = by_hand(observed=[[np.nan, 0.5], [0.25, np.nan]], scores=[[0.5, 0.25], [0.75, np.nan], [0.25, 0.0]])
    assert reference.pvalue[0, 1] == (1 + 2) / 4
    assert reference.pvalue[1, 0] == (1 + 1) / 3
    assert reference.mean[1, 0] == 0.125
    assert reference.overall == 0.375
    assert reference.overall_distribution.tolist() == [0.375, 0.75, 0.125]
    assert reference.overall_pvalue == (1 + 2) / 4
    assert reference.overall_excess == pytest.approx(0.375 - 1.25 / 3)
    np.testing.assert_allclose(off_diagonal(reference.quantile(0.5)), [0.5, 0.125])


def by_hand(observed, scores):
    """Two studies; of every simulated data set the scores of both pairs."""
    distribution = np.full((len(scores), 2, 2), np.nan)
    distribution[:, 0, 1], distribution[:, 1, 0] = np.transpose(scores)
    return NullReference(
        kind="replicability",
        statistic="estimate",
        names=("a", "b"),
        agreements=("ari",),
        clusterers=("ward",),
        n_clusters=(2,),
        clusters=np.zeros(0, dtype=int),
        observed=np.array(observed),
        distribution=distribution,
        provenance={"null": "'gaussian'", "seed": 1},
    )


def test_qvalues_are_benjamini_and_hochbergs_over_all_of_one_agreement(
    reference, comparison_reference, local_reference
):
    np.testing.assert_allclose(off_diagonal(reference.qvalue), false_discovery_control(off_diagonal(reference.pvalue)))
    np.testing.assert_allclose(local_reference.qvalue, false_discovery_control(local_reference.pvalue))
    for a in range(2):
        pvalues = off_diagonal(comparison_reference.pvalue)[:, a]
        expected = false_discovery_control(pvalues.ravel()).reshape(pvalues.shape)
        np.testing.assert_allclose(off_diagonal(comparison_reference.qvalue)[:, a], expected)
        overall = false_discovery_control(comparison_reference.configuration_pvalue[:, a])
        np.testing.assert_allclose(comparison_reference.overall_qvalue[:, a], overall)
    assert reference.overall_qvalue == reference.configuration_pvalue


def test_whole_collections_are_compared_by_their_mean_over_pairs(reference, comparison_reference):
    assert reference.overall.shape == ()
    for one in (reference, comparison_reference):
        overall = off_diagonal(one.observed).mean(axis=-1)
        simulated = off_diagonal(one.distribution).mean(axis=-1)
        np.testing.assert_allclose(one.overall, overall)
        np.testing.assert_allclose(one.overall_distribution, simulated)
        np.testing.assert_allclose(one.overall_excess, overall - simulated.mean(axis=0))
        np.testing.assert_allclose(one.configuration_pvalue, (1 + (simulated >= overall).sum(axis=0)) / 13)
    assert comparison_reference.configuration_pvalue.shape == (3, 2)


def test_quantiles_are_those_of_the_simulated_scores(reference, local_reference):
    expected = np.quantile(off_diagonal(reference.distribution), [0.1, 0.9], axis=0)
    np.testing.assert_allclose(off_diagonal(reference.quantile([0.1, 0.9])), expected)
    assert local_reference.quantile([0.1, 0.9]).shape == (2, 3)
    pooled = local_reference.distribution[~np.isnan(local_reference.distribution)]
    np.testing.assert_allclose(local_reference.quantile(0.9), np.quantile(pooled, 0.9))
    with pytest.raises(ParameterError, match="q must"):
        reference.quantile(1.5)


def test_pairs_without_a_score_are_left_out_on_both_sides(reference):
    observed = np.array(reference.observed)
    observed[0] = observed[:, 0] = np.nan  # one pair of studies is left
    part = replace(reference, observed=observed)
    assert part.overall == pytest.approx(observed[[1, 2], [2, 1]].mean())
    np.testing.assert_allclose(part.overall_distribution, reference.distribution[:, [1, 2], [2, 1]].mean(axis=1))


# ---------------------------------------------------------------------------------------------------------------------
# seeds and workers


def test_workers_and_batches_change_nothing_and_few_collections_begin_many(three):
    result = cr.replicability(KMeans(3, n_init=1), three, n_resamples=1, rng=4)
    ten = cr.null_reference(result, 10)
    np.testing.assert_array_equal(cr.null_reference(result, 10, n_jobs=2).distribution, ten.distribution)
    np.testing.assert_array_equal(cr.null_reference(result, 10).distribution, ten.distribution)
    first = cr.null_reference(result, 10, null="elliptical")
    np.testing.assert_array_equal(first.distribution, ten.distribution)
    np.testing.assert_array_equal(cr.null_reference(result, 20, null="elliptical").distribution[:10], ten.distribution)


@pytest.mark.parametrize("null", list(NULLS))
def test_the_seed_decides(result, null):
    one, again, other = (cr.null_reference(result, 6, null=null, rng=seed).distribution for seed in (5, 5, 6))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other, equal_nan=True)


def test_without_a_seed_the_results_own_is_taken(result, reference, three):
    np.testing.assert_array_equal(cr.null_reference(result, 12).distribution, reference.distribution)
    again = cr.replicability(WARD, three, n_resamples=2, rng=0)
    np.testing.assert_array_equal(cr.null_reference(again, 12).distribution, reference.distribution)
    elsewhere = cr.replicability(WARD, three, n_resamples=2, rng=1)
    assert not np.array_equal(cr.null_reference(elsewhere, 12).distribution, reference.distribution, equal_nan=True)
    named = cr.null_reference(result, 12, rng=reference.provenance["seed"])
    np.testing.assert_array_equal(named.distribution, reference.distribution)


def test_a_comparison_and_its_parts_have_the_same_collections(comparison, comparison_reference):
    part = cr.null_reference(comparison.replicability("ward", 4, "ami"), 12)
    whole = comparison_reference.distribution[:, 2, 1]
    np.testing.assert_allclose(off_diagonal(part.distribution), off_diagonal(whole))
    np.testing.assert_allclose(part.pvalue, comparison_reference.pvalue[2, 1])


# ---------------------------------------------------------------------------------------------------------------------
# what is refused


def test_results_without_data_or_clusterer_are_refused(result, comparison, three, tmp_path):
    result.save(tmp_path / "result.npz")
    with pytest.raises(ParameterError, match=r"read from a file, which holds scores but no data.* rng=0 "):
        cr.null_reference(cr.load(tmp_path / "result.npz"))
    comparison.save(tmp_path / "comparison.npz")
    with pytest.raises(ParameterError, match="read from a file"):
        cr.null_reference(cr.load(tmp_path / "comparison.npz"))
    known = cr.replicability(
        None, three, labels={name: np.arange(len(X)) % 3 for name, X in three.items()}, n_resamples=2, rng=0
    )
    with pytest.raises(ParameterError, match="known labels, which can't be carried over to simulated data"):
        cr.null_reference(known, null="gaussian")


def test_other_things_are_refused_with_a_sentence(result, three):
    several = cr.replicability(WARD, three, agreement=("ari", "ami"), n_resamples=1, rng=0)
    with pytest.raises(ParameterError, match=r"for one agreement and one test study; got dict"):
        cr.null_reference(several)
    with pytest.raises(ParameterError, match=r"result must be what replicability, compare or .* got ndarray"):
        cr.null_reference(result.estimate)
    with pytest.raises(ParameterError, match=r"n must be a positive integer, got 0"):
        cr.null_reference(result, 0)
    with pytest.raises(
        ParameterError,
        match=r"null must be one of 'unimodal', 'elliptical', 'margins', 'components', 'gaussian', .* 'gaussian'\?",
    ):
        cr.null_reference(result, 2, null="gausian")
    with pytest.raises(ParameterError, match=r"statistic must be one of 'estimate', 'mean'; got 'median'"):
        cr.null_reference(result, 2, statistic="median")


def test_local_scores_at_other_points_are_refused(three):
    local = cr.local_replicability(
        WARD, train=three["mainz"], test=three["vdx"], at=three["mainz"] + 1, n_resamples=1, rng=0
    )
    with pytest.raises(ParameterError, match="at the points of its training or test study: run local_replicability"):
        cr.null_reference(local, 2)


def test_a_sampler_that_returns_another_table_is_refused(result):
    with pytest.raises(DataError, match="null must return a table like study 'mainz'"):
        cr.null_reference(result, 2, null=lambda study, rng: study.X[:, :1])


def test_it_is_said_when_no_collection_can_be_scored(rng):
    def only_whole_numbers(X):
        if np.mod(X, 1).any():
            raise ValueError("not these")
        return (X[:, 1] > X[:, 1].mean()).astype(int)

    tables = [np.round(9 * rng.normal(size=(20, 2))) for _ in range(2)]
    result = cr.replicability(only_whole_numbers, tables, n_resamples=2, diagonal=False, rng=0)
    with pytest.raises(AllReplicatesFailed, match="Not one simulated data set could be scored"):
        cr.null_reference(result, 5)


def only_near(X):
    if np.abs(X[:, 0]).max() > 1:
        raise ValueError("not these")
    return (X[:, 1] > X[:, 1].mean()).astype(int)


def test_collections_that_cannot_be_scored_count_neither_way(rng):
    tables = [rng.uniform(-1, 1, size=(20, 2)) for _ in range(2)]
    result = cr.replicability(only_near, tables, n_resamples=1, diagonal=False, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReplicateWarning)
        reference = cr.null_reference(result, 60)
    scores = reference.distribution[:, 0, 1]
    scores = scores[~np.isnan(scores)]
    assert 0 < len(scores) < 60
    assert reference.pvalue[0, 1] == pytest.approx((1 + sum(scores >= reference.observed[0, 1])) / (1 + len(scores)))


def test_it_is_said_when_some_collections_cannot_be_scored(rng):
    tables = [rng.uniform(-1, 1, size=(20, 2)) for _ in range(2)]
    result = cr.replicability(only_near, tables, n_resamples=1, diagonal=False, rng=0)
    with pytest.warns(ReplicateWarning, match=r"The clusterer failed on \d+ simulated data sets of 60"):
        cr.null_reference(result, 60)


def test_a_sampler_that_fails_is_told_so(three):
    result = cr.replicability(WARD, three, n_resamples=1, diagonal=False, rng=0)
    with pytest.raises(DataError, match=r"null failed for study .*: TypeError.*It is called with \(study, rng\)"):
        cr.null_reference(result, 2, null=lambda X: X)


# ---------------------------------------------------------------------------------------------------------------------
# more features than samples


@pytest.mark.parametrize("make", [lambda: KMeans(2, n_init=2), lambda: AgglomerativeClustering(2)])
def test_in_coordinates_scores_are_distributed_as_in_all_features(make):
    tables = gaussians(2, np.r_[7.0, 3.0, np.ones(88)], (20, 24), turned=True)
    fast, plain = (
        cr.null_reference(
            configured(cr.replicability, accelerate=accelerate)(make(), tables, n_resamples=1, diagonal=False, rng=0),
            150,
        )
        for accelerate in (True, False)
    )
    assert fast.overall == pytest.approx(plain.overall, abs=0.15)
    assert ks_2samp(fast.overall_distribution, plain.overall_distribution).pvalue > 0.001


def test_wide_studies_are_simulated_in_few_columns(monkeypatch):
    tables = gaussians(2, np.ones(500), (10, 12))
    result = cr.replicability(AgglomerativeClustering(2), tables, n_resamples=1, diagonal=False, rng=0)
    shapes, draw = set(), GaussianModel.draw

    def watched(self, rng):
        drawn = draw(self, rng)
        shapes.update(X.shape for X in drawn)
        return drawn

    monkeypatch.setattr(GaussianModel, "draw", watched)
    cr.null_reference(result, 3)
    assert {n for n, _ in shapes} == {10, 12}
    assert max(n_columns for _, n_columns in shapes) <= 44


def test_points_as_parameters_keep_the_features():
    tables = mixtures(1, (10, 12), n_features=60)
    start = np.stack([tables[0][i] for i in range(3)])
    result = cr.replicability(KMeans(3, init=start, n_init=1), tables, n_resamples=1, diagonal=False, rng=0)
    assert np.isfinite(off_diagonal(cr.null_reference(result, 4).distribution)).all()


@pytest.mark.parametrize("at", ["train", "test"])
def test_local_scores_of_wide_studies(at):
    train, test = mixtures(1, (15, 18), n_features=80, separation=3)
    points = None if at == "train" else test
    result = cr.local_replicability(KMeans(3, n_init=2), train=train, test=test, at=points, n_resamples=1, rng=0)
    reference = cr.null_reference(result, 39, null="gaussian")
    assert (reference.observed == 1).all()
    assert (reference.pvalue < 0.15).all()


@pytest.mark.parametrize(
    "p",
    [
        2,
        80,
    ],
)
def test_local_scores_of_a_study_tested_on_itself(p):
    study = cr.Study(mixtures(1, (30,), n_features=p, separation=3)[0], "mainz")
    result = cr.local_replicability(KMeans(3, n_init=2), train=study, test=study, n_resamples=1, rng=0)
    reference = cr.null_reference(result, 9)
    assert reference.names == ("mainz", "mainz")
    assert np.isfinite(reference.pvalue).all()


# ---------------------------------------------------------------------------------------------------------------------
# tables, words, files, pictures


def test_tables_have_a_row_for_every_score(reference, comparison_reference, local_reference):
    columns = ["observed", "null_mean", "null_low", "null_high", "excess", "pvalue", "qvalue"]
    frame = reference.to_frame()
    assert list(frame.columns) == ["train", "test", *columns]
    assert len(frame) == 6
    row = frame[(frame["train"] == "vdx") & (frame["test"] == "mainz")].iloc[0]
    assert row["observed"] == reference.observed[1, 0]
    assert row["pvalue"] == reference.pvalue[1, 0]
    low, high = np.quantile(reference.distribution[:, 1, 0], [0.025, 0.975])
    assert (row["null_low"], row["null_high"]) == (pytest.approx(low), pytest.approx(high))
    narrow = reference.to_frame(0.5)
    assert (narrow["null_high"] - narrow["null_low"] < frame["null_high"] - frame["null_low"]).all()
    frame = comparison_reference.to_frame()
    assert list(frame.columns) == ["clusterer", "k", "agreement", "train", "test", *columns]
    assert len(frame) == 3 * 2 * 6
    row = frame.query("k == 4 and agreement == 'ami' and train == 'nki' and test == 'vdx'").iloc[0]
    assert row["observed"] == comparison_reference.observed[2, 1, 2, 1]
    frame = local_reference.to_frame()
    assert list(frame.columns) == ["cluster", *columns]
    assert frame["cluster"].tolist() == [0, 1, 2]


def test_the_summary_has_a_row_for_every_configuration(reference, comparison_reference, local_reference):
    columns = ["clusterer", "k", "agreement", "observed", "null_mean", "excess", "pvalue", "qvalue"]
    for one, n_rows in [(reference, 1), (comparison_reference, 6), (local_reference, 1)]:
        of_both = [] if one is local_reference else ["separateness", "null_separateness"]
        assert list(one.summary().columns) == [*columns, *of_both, "adjusted"]
        assert len(one.summary()) == n_rows
    row = comparison_reference.summary().query("k == 3 and agreement == 'ami'").iloc[0]
    assert row["observed"] == comparison_reference.overall[1, 1]
    assert row["null_mean"] == pytest.approx(comparison_reference.overall_distribution[:, 1, 1].mean())
    assert row["pvalue"] == comparison_reference.configuration_pvalue[1, 1]
    assert row["qvalue"] == comparison_reference.overall_qvalue[1, 1]


def test_it_says_what_it_is(reference, comparison_reference, local_reference, result):
    assert repr(reference).startswith(
        f"ARI (R̂) beside 12 simulated data sets, null 'unimodal', seed {reference.provenance['seed']}\n"
        f"Models: elliptical p = {reference.overall_pvalue:.2g}; below: elliptical\n"
    )
    assert repr(comparison_reference).startswith("ARI, AMI (R̂) beside 12 simulated data sets")
    assert "null_mean" in repr(local_reference)
    assert "(mean over resamples) beside 1 simulated data set, " in repr(cr.null_reference(result, 1, statistic="mean"))


def test_it_survives_a_file_and_is_read_only(reference, comparison_reference, local_reference, tmp_path):
    for number, one in enumerate([reference, comparison_reference, local_reference]):
        one.save(tmp_path / f"{number}.npz")
        again = cr.load(tmp_path / f"{number}.npz")
        assert type(again) is NullReference
        assert repr(again) == repr(one)
        pd.testing.assert_frame_equal(again.to_frame(), one.to_frame())
        np.testing.assert_array_equal(again.distribution, one.distribution)
        for array in (one.observed, one.distribution, again.observed, again.distribution):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1


def test_clusters_with_names_survive_a_file(three, tmp_path):
    def sides(X):
        return np.where(X[:, 0] > X[:, 0].mean(), "right", "left")

    local = cr.local_replicability(sides, train=three["mainz"], test=three["vdx"], n_resamples=1, rng=0)
    reference = cr.null_reference(local, 3)
    reference.save(tmp_path / "null.npz")
    assert cr.load(tmp_path / "null.npz").clusters.tolist() == reference.clusters.tolist() == ["left", "right"]


def test_pictures_are_drawn_where_they_are_asked_for(reference, comparison_reference, local_reference):
    for one in (reference, comparison_reference, local_reference):
        figure, ax = plt.subplots()
        assert one.plot(ax=ax) is ax
        assert ax.has_data()
        plt.close(figure)
    ax = comparison_reference.plot(agreement="ami")
    np.testing.assert_allclose(ax.lines[0].get_ydata(), comparison_reference.overall[:, 1])
    assert ax.lines[0].get_xdata().tolist() == [2, 3, 4]
    assert "AMI" in ax.get_ylabel()
    plt.close(ax.figure)
    ax = reference.plot()
    assert next(tick.get_text() for tick in ax.get_xticklabels()) == "mainz → vdx"
    plt.close(ax.figure)
    with pytest.raises(ParameterError, match="agreement must be one of"):
        comparison_reference.plot(agreement="ri")


# ---------------------------------------------------------------------------------------------------------------------
# collections together


def plan_of(comparison, null="margins", statistic="estimate"):
    return NullPlan.of(comparison, comparison._origins, null, statistic, 7)


def equal_scores(some, others):
    return all(
        np.array_equal(a, b, equal_nan=True)
        for first, second in zip(some, others, strict=True)
        for a, b in zip(first, second, strict=True)
    )


CLUSTERERS = {
    "k-means": KMeans(n_init=2),
    "ward": AgglomerativeClustering(),
    "any": BisectingKMeans(),
}


@pytest.mark.parametrize("p", [2, 20, 300])
@pytest.mark.parametrize("name", CLUSTERERS)
def test_scores_of_a_collection_do_not_depend_on_those_beside_it(name, p):
    studies = dict(zip("bac", mixtures(0, (24, 30, 20), p), strict=True))
    comparison = cr.compare(
        {name: CLUSTERERS[name], "2": CLUSTERERS["ward"]}, studies, n_clusters=[2, 3], n_resamples=2, rng=0
    )
    plan = plan_of(comparison)
    assert plan.batch > 1
    together = plan.block([1, 2, 3, 4])
    assert equal_scores(together, [plan.replicate(number) for number in (1, 2, 3, 4)])
    assert equal_scores(together[1:3], plan.block([2, 3]))


def test_collections_that_are_transformed_do_not_depend_on_those_beside_them():
    studies = dict(zip("ab", mixtures(0, (24, 30), 6), strict=True))
    comparison = cr.compare(
        KMeans(n_init=1), studies, n_clusters=[2, 3], n_resamples=2, rng=0, embed=FunctionTransformer(np.cbrt)
    )
    plan = plan_of(comparison)
    assert equal_scores(plan.block([1, 2]), [plan.replicate(number) for number in (1, 2)])


def test_a_run_asks_for_collections_in_blocks(comparison, monkeypatch):
    sizes = []
    block = NullPlan.block
    monkeypatch.setattr(NullPlan, "block", lambda plan, numbers: sizes.append(len(numbers)) or block(plan, numbers))
    cr.null_reference(comparison, 40, null="margins")
    assert sum(sizes) == 40
    assert max(sizes) > 1


def test_long_collections_are_shared_among_workers_and_short_ones_are_not(monkeypatch):
    measured = {"PROCESSES_START": PROCESSES_START, "THREADS_START": THREADS_START, "WORTHWHILE": WORTHWHILE}
    for name, value in measured.items():
        monkeypatch.setattr(f"clustrep.execution.forecast.{name}", value)
    short = cr.compare(KMeans(n_init=1), mixtures(0), n_clusters=[2], n_resamples=2, rng=0)
    long = cr.compare(KMeans(n_init=30), mixtures(0, (700, 700), 8), n_clusters=range(2, 9), n_resamples=2, rng=0)
    chosen = []
    for comparison in (short, long):
        plan = plan_of(comparison)
        chosen.append(choose_workers(plan.cost, 199, 2, in_threads=plan.in_threads))
    assert chosen[0] is Workers.NONE
    assert chosen[1] is not Workers.NONE
    means = plan_of(short, statistic="mean")
    assert means.cost.total > plan_of(short).cost.total
    assert not plan_of(short, lambda study, rng: study.X).in_threads


def test_two_threads_return_the_bits_of_one():
    comparison = cr.compare(KMeans(n_init=5), mixtures(0, (100, 100), 8), n_clusters=range(2, 9), n_resamples=2, rng=0)
    alone = cr.null_reference(comparison, 60, null="margins")
    with joblib.parallel_config(backend="threading", n_jobs=2):
        together = cr.null_reference(comparison, 60, null="margins")
    for name, value in vars(alone).items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_array_equal(value, getattr(together, name))
