"""Stability and sensitivity, against loops over sets of points and by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from tests.helpers import configured
from tests.stability.plain import NOISE, SEED, draws, index_of, scripted, stability_loop

import clustrep as cr
from clustrep.agreement.cluster_indices import INDICES as RECORDS
from clustrep.agreement.cluster_indices import Fits, IndexRecord
from clustrep.errors import ParameterError, ReplicateWarning
from clustrep.resampling import Bootstrap, FeatureSubset, Jitter, Rerun, Subsample
from clustrep.stability.perturbation import READERS

N_RESAMPLES = 5
INDICES = ["matching", "inclusion", "jaccard", "r", "d"]
WARD = AgglomerativeClustering(3)
every_index = pytest.mark.parametrize("index", INDICES)
stable = partial(cr.stability.stability, rng=SEED, n_resamples=N_RESAMPLES)
curve_of = partial(cr.stability.sensitivity, rng=SEED, n_resamples=N_RESAMPLES)


def blurred(n=15, p=4):
    """Three clusters that run into each other: of different sizes, and not the same in every resample."""
    rng = np.random.default_rng(5)
    centres = rng.normal(scale=1.5, size=(3, p))
    return centres[np.arange(n) % 5 // 2] + rng.normal(size=(n, p))


X = blurred()
N = len(X)
SCATTERED = np.concatenate([X, [[9.0] * 4, [-9.0] * 4]])
DENSITY = DBSCAN(eps=2.2, min_samples=3)
LINE = np.arange(6.0)[:, None]
REFERENCE = ["a", "a", "a", "a", "b", "b"]


def assert_is_loop(result, expected):
    """Compare; shortcuts may number the clusters of the reference in another order than scikit-learn."""
    reference, per_cluster, overall = expected
    names = dict(zip(result.labels.tolist(), reference, strict=True))
    assert len(names) == len(set(reference)) == len(set(zip(result.labels.tolist(), reference, strict=True)))
    np.testing.assert_allclose(result.overall_distribution, overall, rtol=1e-12, atol=0)
    if result.index == "matching":
        np.testing.assert_array_equal(result.distribution, result.overall_distribution)
        return
    kept = sorted(label for label in names.values() if per_cluster.shape[1] == len(names) or label != NOISE)
    columns = [kept.index(names[cluster]) for cluster in result.clusters.tolist()]
    np.testing.assert_allclose(result.distribution, per_cluster[:, columns], rtol=1e-12, atol=0)


# ---------------------------------------------------------------------------------------------------------------------
# against the loop


@pytest.mark.parametrize(
    "perturbation",
    [
        Bootstrap(),
        Bootstrap(distinct=True),
        Subsample(0.27),
        FeatureSubset(0.5),
        Jitter(0.9, relative=False),
        Subsample(0.8) + Jitter(0.5),
        Jitter(0.5) + Bootstrap(),
        Bootstrap() + FeatureSubset(0.75),
    ],
    ids=repr,
)
@every_index
def test_an_index_is_that_of_the_loop(index, perturbation):
    for relative in {False, RECORDS[index].has_relative}:
        expected = stability_loop(WARD, X, index, perturbation, relative=relative)
        assert len(np.unique(expected[2])) > 1
        assert_is_loop(stable(WARD, X, index=index, relative=relative, perturbation=perturbation), expected)


@every_index
@pytest.mark.parametrize(
    ("clusterer", "table"),
    [
        (AgglomerativeClustering(4, linkage="single"), X),
        (AgglomerativeClustering(4, linkage="average"), X),
        (WARD, np.repeat(X, 2, axis=0)),
        (WARD, np.column_stack([X, np.full(N, 7.0)])),
        (WARD, np.random.default_rng(1).normal(size=(12, 60)) + np.repeat([0, 0.4], 6)[:, None]),
        (AgglomerativeClustering(2), X[:4]),
    ],
    ids=["single", "average", "duplicates", "constant feature", "wide", "four samples"],
)
def test_other_clusterers_and_tables_are_those_of_the_loop(index, clusterer, table):
    for perturbation in (Subsample(0.7) + Jitter(0.3), Jitter(0.5)):
        expected = stability_loop(clusterer, table, index, perturbation)
        assert_is_loop(stable(clusterer, table, index=index, perturbation=perturbation), expected)


@every_index
def test_noise_is_a_cluster(index):
    given = [NOISE] * 3 + [0] * 6 + [1] * (len(SCATTERED) - 9)
    for perturbation in (Bootstrap(), Subsample(0.8) + Jitter(0.1), FeatureSubset(0.5)):
        for clusterer, labels in ((DENSITY, None), (WARD, given)):
            result = stable(clusterer, SCATTERED, index=index, labels=labels, n_resamples=4, perturbation=perturbation)
            expected = stability_loop(clusterer, SCATTERED, index, perturbation=perturbation, reference=labels, n=4)
            assert_is_loop(result, expected)
            assert NOISE in result.clusters
            assert result.sizes.sum() == len(SCATTERED)
            assert NOISE in result.labels


@every_index
def test_without_shortcuts_the_values_are_the_same(index):
    labels = WARD.fit_predict(X)  # else clusters may be numbered in another order
    run = partial(stable, WARD, X, index=index, perturbation=Subsample(0.6) + Jitter(0.3), labels=labels)
    fast, plain = (configured(run, accelerate=flag)() for flag in (True, False))
    np.testing.assert_array_equal(fast.distribution, plain.distribution)


# ---------------------------------------------------------------------------------------------------------------------
# by hand and by theory

BY_HAND = {
    "matching": (None, 2.0, 2 / 6),
    "inclusion": ([0.0, 0.0], 0.0, 0.0),
    "jaccard": ([3 / 4, 1 / 2], 4 / 6, 4 / 6),
    "r": ([1 / 2, 0.0], 3 / 7, 3 / 7),
    "d": ([1.0, 1.0], 2.0, 2 / 6),  # of the two blocks that overlap b by one sample, the smaller one counts
}


@every_index
def test_four_and_two_samples_by_hand(index):
    per_cluster, overall, relative = BY_HAND[index]
    new = [0, 0, 0, 1, 1, 2]
    run = {"labels": REFERENCE, "index": index, "perturbation": Rerun(), "n_resamples": 2}
    result = stable(scripted(new, new), LINE, **run)
    assert result.overall == pytest.approx(overall)
    assert stable(scripted(new, new), LINE, relative=True, **run).overall == pytest.approx(relative)
    assert (result.clusters.tolist(), result.sizes.tolist()) == (["a", "b"], [4, 2])
    if per_cluster is None:
        assert result.distribution.tolist() == [2.0, 2.0]
        assert not hasattr(result, "per_cluster")
    else:
        np.testing.assert_allclose(result.distribution, [per_cluster] * 2)


@pytest.mark.parametrize(("new", "distance"), [([0] * 6, 2), ([0, 1, 2, 3, 4, 5], 4), ([7, 7, 7, 7, 3, 3], 0)])
def test_a_label_without_a_partner_is_a_mismatch(new, distance):
    run = {"labels": REFERENCE, "index": "matching", "perturbation": Rerun(), "n_resamples": 1}
    assert stable(scripted(new), LINE, **run).overall == distance


@pytest.mark.parametrize("clusterer", [WARD, AgglomerativeClustering(1)], ids=["three", "one"])
def test_separated_clusters_and_a_single_one_are_always_found_again(clusterer):
    far = np.concatenate([X + 100 * i for i in range(3)])
    for index, perfect in zip(INDICES, [0, 1, 1, 1, 0], strict=True):
        perturbation = Jitter(0.01) if index in ("r", "d") else None
        assert (stable(clusterer, far, index=index, perturbation=perturbation).distribution == perfect).all()


def random_labels(X, random_state=None, n_labels=4):
    return np.random.default_rng(random_state).integers(n_labels, size=len(X))


def test_random_labels_have_the_values_of_theory():
    """A pair is together with probability 1/4; the matching distance of a fair coin is a folded binomial."""
    run = {"perturbation": Rerun(), "n_resamples": 400}
    r = stable(random_labels, np.arange(40.0)[:, None], labels=[0] * 25 + [1] * 15, index="r", **run)
    for values in (*r.distribution.T, r.overall_distribution):
        assert abs(values.mean() - 1 / 4) < 4 * values.std() / math.sqrt(400)
        assert values.std() > 0
    coin = partial(random_labels, n_labels=2)
    distance = stable(coin, np.arange(9.0)[:, None], labels=[0] * 9, index="matching", **run)
    expected = sum(math.comb(9, i) * min(i, 9 - i) for i in range(10)) / 2**9
    assert abs(distance.overall - expected) < 4 * distance.sd / math.sqrt(400)


def test_a_cluster_of_which_nothing_is_drawn_has_jaccard_0_and_no_other_value():
    perturbation, reference = Subsample(0.27), WARD.fit_predict(X)
    drawn = [reference[draw.order] for draw in draws(X, perturbation, 20)]
    missing = np.array([[c not in labels for c in range(3)] for labels in drawn])
    assert missing.any()
    run = {"labels": reference, "perturbation": perturbation, "n_resamples": 20}
    values = {index: stable(WARD, X, index=index, **run).distribution for index in INDICES[1:]}
    np.testing.assert_array_equal(values["jaccard"] == 0, missing)
    np.testing.assert_array_equal(np.isnan(values["inclusion"]), missing)
    np.testing.assert_array_equal(np.isnan(values["d"]), missing)
    assert np.isnan(values["r"][missing]).all()


def test_indices_of_one_perturbation_see_the_same_fits():
    """A cluster that is included has R index 1; one with D index 0 has Jaccard 1."""
    run = {"perturbation": Jitter(), "n_resamples": 20}
    values = {index: stable(WARD, X, index=index, **run).distribution for index in INDICES[1:]}
    np.testing.assert_array_equal(values["inclusion"] == 1, values["r"] == 1)
    np.testing.assert_array_equal(values["d"] == 0, values["jaccard"] == 1)


def test_a_rerun_is_compared_with_what_the_clusterer_returned():
    for index in INDICES:
        labelings = [random_labels(X, seed, n_labels=3) for seed in range(N_RESAMPLES + 1)]
        result = stable(scripted(*labelings), X, index=index, perturbation=Rerun(), n_jobs=1)
        reference, *new = (labels.tolist() for labels in labelings)
        values = [index_of(index, reference, one, range(N), sorted(set(reference))) for one in new]
        assert_is_loop(result, (reference, np.array([v for v, _ in values]), np.array([both[1] for both in values])))


# ---------------------------------------------------------------------------------------------------------------------
# references, defaults, failures


@pytest.mark.parametrize(
    ("index", "default"),
    [
        ("matching", Subsample(0.8)),
        ("inclusion", FeatureSubset(0.8)),
        ("jaccard", Bootstrap(distinct=True)),
        ("r", Jitter(math.sqrt(0.5))),
        ("d", Jitter(math.sqrt(0.5))),
    ],
)
def test_each_index_has_the_perturbation_that_it_was_proposed_with(index, default):
    result, given = stable(WARD, X, index=index), stable(WARD, X, index=index, perturbation=default)
    np.testing.assert_array_equal(result.distribution, given.distribution)
    assert result.provenance["resampling"] == repr(default)


def test_jaccard_and_r_are_the_defaults_with_a_hundred_resamples():
    assert cr.stability.stability(WARD, X, rng=SEED).index == "jaccard"
    curve = cr.stability.sensitivity(WARD, X, rng=SEED)
    assert (curve.index, curve.distribution.shape) == ("r", (100, 6, 3))


@pytest.mark.parametrize("p", [4, 60])  # with many features some settings work in fewer coordinates
def test_the_reference_is_the_same_whatever_the_perturbation(p):
    table = blurred(p=p)
    for clusterer in (KMeans(5, n_init=1), AgglomerativeClustering(5)):
        run = partial(stable, clusterer, table, index="inclusion", n_resamples=1)
        labels = [run(perturbation=each).labels for each in (Subsample(0.8), Jitter(), FeatureSubset(0.5))]
        labels.append(cr.stability.in_group_proportion(table, clusterer=clusterer, rng=SEED).labels)
        for other in labels[1:]:
            np.testing.assert_array_equal(other, labels[0])


def test_existing_labels_are_found_by_name_and_their_names_do_not_matter():
    samples, numbers = [f"patient {i}" for i in range(N)], np.arange(N) % 3
    names = np.array(["LumB", "Basal", "Her2"])[numbers]  # sorted: Basal, Her2, LumB
    study = cr.Study(X, "X", samples=samples, labels=names)
    series = pd.Series(names, index=samples).sample(frac=1, random_state=0)
    for index in INDICES:
        plain = stable(WARD, X, index=index, labels=numbers)
        for table, labels in ((X, names), (study, True), (study, series), (X, pd.Series(names).sample(frac=1))):
            other = stable(WARD, table, index=index, labels=labels)
            np.testing.assert_allclose(other.overall_distribution, plain.overall_distribution, rtol=1e-12)
            assert other.clusters.tolist() == ["Basal", "Her2", "LumB"]
            if index != "matching":
                np.testing.assert_array_equal(plain.distribution[:, [1, 2, 0]], other.distribution)


def test_existing_labels_need_no_fit_to_the_study_itself():
    seen = []

    def recorded(X):
        seen.append(len(X))
        return (X[:, 0] > 2).astype(int)

    stable(recorded, LINE, labels=REFERENCE, perturbation=Subsample(0.5))
    assert seen == [3] * N_RESAMPLES
    stable(recorded, LINE, perturbation=Subsample(0.5))
    assert seen[N_RESAMPLES:] == [6] + [3] * N_RESAMPLES


def test_a_cluster_of_one_has_no_r_index():
    result = stable(WARD, X, index="r", labels=[0] * 8 + [1] * (N - 9) + [2])
    assert np.isnan(result.distribution[:, 2]).all()
    assert np.isfinite(result.overall)
    assert np.isnan(result.to_frame()["mean"][2])
    assert len(result.plot().get_xticklabels()) == 3


def missing_first(X):
    if not (LINE[0] == X).all(axis=1).any():
        raise ValueError("where is the first sample?\nA second line.")
    return (X[:, 0] > 2).astype(int)


@every_index
def test_failed_resamples_are_missing_counted_and_omitted(index, tmp_path):
    failing = np.array([0 not in draw.order for draw in draws(LINE, Subsample(0.7), 12)])
    assert 1 < failing.sum() < 12
    with pytest.warns(ReplicateWarning):
        result = stable(missing_first, LINE, index=index, perturbation=Subsample(0.7), n_resamples=12)
    np.testing.assert_array_equal(np.isnan(result.overall_distribution), failing)
    np.testing.assert_array_equal(result.failed > 0, failing)
    assert result.failures == {"ValueError: where is the first sample?": failing.sum()}
    assert np.isfinite(result.to_frame()["mean"]).all()
    if index == "jaccard":
        assert result.recovered().tolist() == [(~failing).sum()] * 2
        assert result.dissolved().tolist() == [0, 0]
    result.plot()
    result.save(tmp_path / "x")
    assert cr.load(tmp_path / "x").failures == result.failures


def test_fewer_distinct_samples_or_clusters_than_asked_for_are_failures():
    few = X[:5]
    distinct = np.array([len(set(draw.order.tolist())) for draw in draws(few, Bootstrap(), 20)])
    for accelerate in (True, False):
        with pytest.warns(ReplicateWarning):
            result = configured(stable, accelerate=accelerate)(
                AgglomerativeClustering(4), few, perturbation=Bootstrap(), n_resamples=20
            )
        np.testing.assert_array_equal(np.isnan(result.overall_distribution), distinct < 4)

    def lazy(X, n_clusters=2):
        return (X[:, 0] > 2).astype(int) * int((LINE[0] == X).any())

    with pytest.warns(ReplicateWarning):
        result = stable(lazy, LINE, perturbation=Subsample(0.7), n_resamples=12)
    assert list(result.failures) == ["fewer clusters than asked for"]


# ---------------------------------------------------------------------------------------------------------------------
# the result


def test_summaries_and_counts_are_over_resamples():
    values = np.array([[0.5, 0.75, np.nan], [0.500001, 0.750001, 1.0], [0.0, 0.74, 0.2]])
    plain = stable(WARD, X, labels=np.array(["A", "B", "C"])[np.arange(N) % 3])
    result = replace(plain, distribution=values, overall_distribution=values.mean(axis=1))
    assert (result.dissolved().tolist(), result.recovered().tolist()) == ([2, 0, 1], [0, 1, 1])
    assert (result.dissolved(0.2).tolist(), result.recovered(0.5).tolist()) == ([1, 0, 1], [1, 3, 1])
    frame = result.to_frame(0.5)
    expected = {"mean": np.nanmean, "sd": partial(np.nanstd, ddof=1), "median": np.nanmedian}
    for name, summary in expected.items():
        np.testing.assert_allclose(frame[name], summary(values, axis=0))
    np.testing.assert_allclose(frame[["low", "high"]].T, np.nanquantile(values, [0.25, 0.75], axis=0))
    assert frame["cluster"].tolist() == ["A", "B", "C"]
    assert list(frame) == ["cluster", "size", "mean", "sd", "median", "low", "high", "dissolved", "recovered"]
    matching = stable(WARD, X, index="matching")
    assert matching.to_frame()[["cluster", "size", "mean"]].to_numpy().tolist() == [["all", N, matching.overall]]
    with pytest.raises(ParameterError):
        matching.dissolved()
    for call in (lambda: result.to_frame(95), lambda: result.quantile(2)):
        with pytest.raises(ParameterError):
            call()


def test_names_of_many_clusters_are_not_drawn():
    result = stable(AgglomerativeClustering(16), np.random.default_rng(0).normal(size=(40, 2)), index="inclusion")
    assert [text.get_text() for text in result.plot().get_xticklabels()] == [""] * 16


# ---------------------------------------------------------------------------------------------------------------------
# more and more noise


@every_index
def test_a_curve_is_the_stability_at_every_scale(index):
    scales = [0.05, 0.6, 1.5]
    curve = curve_of(WARD, X, index=index, scales=np.array(scales), relative=True)
    for i, scale in enumerate(scales):
        one = stable(WARD, X, index=index, perturbation=Jitter(scale), relative=True)
        np.testing.assert_array_equal(curve.distribution[:, i], one.distribution)
        np.testing.assert_array_equal(curve.overall_distribution[:, i], one.overall_distribution)
        assert curve.overall[i] == one.overall
    frame = curve.to_frame(0.5)
    names = ["all"] if index == "matching" else ["0", "1", "2", "all"]
    assert frame["cluster"].astype(str).tolist() == names * 3
    np.testing.assert_allclose(frame["mean"][len(names) - 1 :: len(names)], curve.overall)
    values = curve.distribution.reshape(N_RESAMPLES, 3, -1)[:, 2, 0]
    row = frame.iloc[2 * len(names)]
    expected = [values.mean(), values.std(ddof=1), *np.quantile(values, [0.25, 0.75])]
    np.testing.assert_allclose(row[["mean", "sd", "low", "high"]].to_numpy(float), expected)
    assert [line.get_ydata()[-1] for line in curve.plot().lines][-1] == curve.overall[-1]


def test_a_resample_has_the_same_noise_at_every_scale_and_the_study_is_clustered_once():
    one, other = (draws(X, Jitter(scale), 1)[0].points - X for scale in (0.1, 1.0))
    np.testing.assert_allclose(10 * one, other, rtol=1e-6, atol=1e-9)
    seen = []

    def recorded(X):
        seen.append(np.array(X))
        return (X[:, 0] > 0).astype(int)

    curve_of(recorded, X, scales=[0.1, 0.2, 0.3])
    assert [len(seen), np.array_equal(seen[0], X)] == [1 + 3 * N_RESAMPLES, True]


def test_more_noise_makes_clusters_less_stable():
    apart = np.repeat([[0.0, 0.0], [3.0, 0.0]], 15, axis=0) + blurred(30, 2) / 4
    curve = curve_of(AgglomerativeClustering(2), apart, scales=[0.01, 0.5, 3.0])
    assert curve.overall[0] == 1
    assert (np.diff(curve.overall) < 0).all()


def test_failures_of_a_curve_are_counted_at_every_scale():
    def jumpy(X):
        if np.ptp(X) > 15:
            raise ValueError("too wide")
        return (X[:, 0] > X[:, 0].mean()).astype(int)

    with pytest.warns(ReplicateWarning):
        curve = curve_of(jumpy, X, scales=[0.01, 1.3, 50.0], n_resamples=20)
    np.testing.assert_array_equal(np.isnan(curve.overall_distribution), curve.failed > 0)
    assert [(column > 0).mean() > 0 for column in curve.failed.T] == [False, True, True]
    assert np.isnan(curve.overall).tolist() == [False, False, True]


@pytest.mark.parametrize(
    "scales", [[], 0.5, "0.5", {0.1, 0.2}, [0.1, 0], [0.1, -1], [np.inf], [np.nan], [True], ["much"]]
)
def test_scales_are_numbers_above_0(scales):
    with pytest.raises(ParameterError) as caught:
        curve_of(WARD, X, scales=scales)
    assert caught.value.parameter == "scales"


# ---------------------------------------------------------------------------------------------------------------------
# another index


def test_a_record_and_a_reader_add_an_index(monkeypatch):
    """The share of each cluster that the largest part of it in any new cluster has."""

    def read(tables, sizes, relative):
        shares = tables.max(axis=2) / np.maximum(tables.sum(axis=2), 1)
        return np.column_stack([shares, shares.min(axis=1)])

    record = IndexRecord("largest_part", "largest part", Fits.SUBSAMPLES)
    monkeypatch.setitem(RECORDS, record.name, record)
    monkeypatch.setitem(READERS, record.name, read)
    result = stable(WARD, X, index="largest_part")
    assert result.provenance["resampling"] == "Subsample(fraction=0.8)"
    assert (result.overall_distribution == result.distribution.min(axis=1)).all()
    table = cr.stability.validate(WARD, X, indices=["jaccard", "largest_part"], n_resamples=N_RESAMPLES, rng=SEED)
    assert table.overall()["largest_part"].tolist() == [result.overall]
