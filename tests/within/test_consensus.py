"""Bootstrap instability, consensus and assignment consistency, against loops over points, pairs and resamples."""

from __future__ import annotations

import dataclasses
import itertools
import tracemalloc

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linear_sum_assignment
from scipy.stats import chisquare
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.helpers import configured

import clustrep as cr
from clustrep._kernels import pairs, plain
from clustrep.clustering.sample import Source
from clustrep.errors import AllReplicatesFailed, DataError, ParameterError, ReplicateWarning
from clustrep.results import co_assignment as consensus_results
from clustrep.results.co_assignment import all_pairs
from clustrep.within import consensus as _consensus
from clustrep.within.question import Question

ROOT = 8
WARD = AgglomerativeClustering()


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")


@pytest.fixture
def X():
    """Twelve points without clusters worth the name: resamples disagree."""
    return np.random.default_rng(12).normal(size=(12, 2))


def slices(X, n_clusters=3):
    """Cut the points into so many parts by the rank of their first feature; equal points may be parted."""
    ranks = np.argsort(np.argsort(X[:, 0], kind="stable"), kind="stable")
    return ranks * n_clusters // len(X)


def two_or_three(X):
    """Three clusters where an odd number of the lowest points is there, else two."""
    return slices(X, 2 + (X[:, 0] < 0).sum() % 2)


def ward(X, n_clusters=3):
    return AgglomerativeClustering(n_clusters).fit_predict(X)


def far_is_noise(X):
    """Two clusters, and noise where the second feature is large."""
    return np.where(np.abs(X[:, 1]) > 1, -1, (X[:, 0] > np.median(X[:, 0])) * 1)


def scripted(*labelings):
    """A clusterer that says, fit by fit, what it is told to; an exception is raised."""
    script = iter(labelings)

    def told(X):
        labels = next(script)
        if isinstance(labels, Exception):
            raise labels
        return np.asarray(labels)

    return told


def induced(sample, labels, points):
    """Every point's label is that of the nearest training point, the first of equal ones."""
    result = []
    for point in points:
        nearest, at = 0, np.inf
        for i, other in enumerate(sample):
            distance = ((point - other) ** 2).sum()
            if distance < at:
                nearest, at = i, distance
        result.append(labels[nearest])
    return result


def draws(X, perturbation, n_resamples, second=False):
    study = X if isinstance(X, cr.Study) else cr.Study(X, "X")
    return [Source(perturbation, ROOT).draw(study, b + 1, second=second) for b in range(n_resamples)]


def relabelled(function, draw, **options):
    """Ψ(X; X⁽ᵇ⁾) and the rows of X⁽ᵇ⁾."""
    labels = function(draw.sample, **options)
    return induced(draw.sample, labels, draw.originals), np.flatnonzero(draw.weights)


def assert_same_results(one, other):
    assert type(one) is type(other)
    for field in dataclasses.fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
        else:
            assert a == b


def assert_saves_and_loads(result, path):
    result.save(path)
    loaded = cr.load(path)
    assert_same_results(loaded, result)
    assert repr(loaded) == repr(result)
    pd.testing.assert_frame_equal(loaded.to_frame(), result.to_frame())
    assert_arrays_are_read_only(result)
    assert_arrays_are_read_only(loaded)


def assert_arrays_are_read_only(result):
    some = [value for value in vars(result).values() if isinstance(value, np.ndarray)]
    assert some
    for value in some:
        assert not value.flags.writeable
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.clusterer = "other"


def assert_draws_on(ax, result):
    """`plot` draws on the axes given and opens no figure; without any it makes its own; settings stay."""
    before, numbers = dict(plt.rcParams), plt.get_fignums()
    assert result.plot(ax) is ax
    assert plt.get_fignums() == numbers
    assert result.plot() is not ax
    assert len(plt.get_fignums()) == len(numbers) + 1
    assert dict(plt.rcParams) == before
    with pytest.raises(ParameterError, match="ax must be a matplotlib Axes, got list"):
        result.plot([ax])


# ---------------------------------------------------------------------------------------------------------------------
# instability: all ordered pairs of points


def instability_by_pairs(first, second, *, one_sided=False, counted=None):
    """Fang and Wang (2012): the share of ordered pairs that one function puts together and the other apart."""
    rows = range(len(first)) if counted is None else counted
    disagreements = 0
    for i in rows:
        for j in rows:
            together, also = first[i] == first[j], second[i] == second[j]
            disagreements += (together and not also) if one_sided else together != also
    return disagreements / len(rows) ** 2


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("perturbation", [cr.Bootstrap(), cr.Subsample(0.6), cr.Jitter(0.5)], ids=repr)
def test_instability_is_the_share_of_ordered_pairs_that_two_functions_disagree_on(X, perturbation, one_sided):
    result = cr.bootstrap_instability(
        slices, X, n_clusters=[2, 4], n_resamples=5, one_sided=one_sided, perturbation=perturbation, rng=ROOT
    )
    expected = np.empty((5, 2))
    both = zip(draws(X, perturbation, 5), draws(X, perturbation, 5, second=True), strict=True)
    for b, (one, other) in enumerate(both):
        for i, k in enumerate([2, 4]):
            first, second = (relabelled(slices, draw, n_clusters=k)[0] for draw in (one, other))
            expected[b, i] = instability_by_pairs(first, second, one_sided=one_sided)
    assert len(np.unique(expected)) > 4
    np.testing.assert_allclose(result.distribution, expected, rtol=0, atol=1e-15)
    np.testing.assert_allclose(result.instability, expected.mean(axis=0), rtol=1e-14)
    assert result.one_sided is one_sided
    assert result.n_clusters == (2, 4)


@pytest.mark.parametrize("accelerate", [True, False])
def test_instability_of_a_tree_is_that_of_the_pairs(X, accelerate):
    result = configured(cr.bootstrap_instability, accelerate=accelerate)(WARD, X, n_clusters=3, n_resamples=6, rng=ROOT)
    both = zip(draws(X, cr.Bootstrap(), 6), draws(X, cr.Bootstrap(), 6, second=True), strict=True)
    expected = [instability_by_pairs(relabelled(ward, one)[0], relabelled(ward, other)[0]) for one, other in both]
    np.testing.assert_allclose(result.distribution[:, 0], expected, rtol=0, atol=1e-15)


def test_one_sided_counts_pairs_together_under_the_first_function_alone():
    """As R's fpc::nselectboot: Σ row² − Σ C² over n². Here C = (3 1; 0 0 | 2), rows (4, 2), columns (3, 3)."""
    points = np.arange(6.0)[:, None]
    first, second = [0, 0, 0, 0, 1, 1], ["a", "a", "a", "b", "b", "b"]
    options = {"perturbation": cr.Rerun(), "n_resamples": 1, "rng": 0}
    result = cr.bootstrap_instability(scripted(first, second), points, one_sided=True, **options)
    assert result.distribution.item() == (16 + 4 - 9 - 1 - 4) / 36
    result = cr.bootstrap_instability(scripted(second, first), points, one_sided=True, **options)
    assert result.distribution.item() == (9 + 9 - 9 - 1 - 4) / 36
    result = cr.bootstrap_instability(scripted(first, second), points, **options)
    assert result.distribution.item() == (20 + 18 - 28) / 36


def test_instability_knows_labels_by_no_name(X):
    def renamed(X, n_clusters):
        return np.array(["zebra", "ant", "mouse"])[slices(X, n_clusters)]

    one, other = (
        cr.bootstrap_instability(function, X, n_clusters=3, n_resamples=4, rng=ROOT) for function in (slices, renamed)
    )
    np.testing.assert_array_equal(one.distribution, other.distribution)


def test_instability_of_random_labels_is_what_chance_gives():
    """Two independent labelings with k equal parts disagree on a pair with probability 2 (1/k) (1 − 1/k)."""
    points = np.random.default_rng(0).normal(size=(200, 1))

    def thrown(X, n_clusters, random_state=None):
        return np.random.default_rng(random_state).integers(n_clusters, size=len(X))

    result = cr.bootstrap_instability(thrown, points, n_clusters=[2, 5], n_resamples=20, rng=0)
    np.testing.assert_allclose(result.instability, [2 * 0.5 * 0.5, 2 * 0.2 * 0.8], atol=0.02)


@pytest.mark.parametrize("noise", ["label", "drop"])
def test_noise_is_a_cluster_or_is_left_out_where_either_function_says_so(X, noise):
    result = cr.bootstrap_instability(far_is_noise, X, n_resamples=5, noise=noise, rng=ROOT)
    expected = []
    for one, other in zip(draws(X, cr.Bootstrap(), 5), draws(X, cr.Bootstrap(), 5, second=True), strict=True):
        first, second = (relabelled(far_is_noise, draw)[0] for draw in (one, other))
        kept = [i for i in range(12) if noise == "label" or (first[i] != -1 and second[i] != -1)]
        expected.append(instability_by_pairs(first, second, counted=kept))
        assert (noise == "label") == (len(kept) == 12)
    np.testing.assert_allclose(result.distribution[:, 0], expected, rtol=0, atol=1e-15)
    assert result.provenance["noise"] == noise


def test_known_labels_travel_with_the_draw(X):
    labels = np.array(list("aabbccaabbcc"))
    result = cr.bootstrap_instability(None, X, labels=labels, n_resamples=5, rng=ROOT)
    expected = []
    for one, other in zip(draws(X, cr.Bootstrap(), 5), draws(X, cr.Bootstrap(), 5, second=True), strict=True):
        first, second = (induced(draw.sample, labels[draw.order], X) for draw in (one, other))
        expected.append(instability_by_pairs(first, second))
    np.testing.assert_allclose(result.distribution[:, 0], expected, rtol=0, atol=1e-15)
    assert result.clusterer == "known labels"
    assert result.n_clusters == (None,)
    study = cr.Study(X, "X", labels=labels)
    np.testing.assert_array_equal(
        cr.bootstrap_instability(None, study, labels=True, n_resamples=5, rng=ROOT).distribution, result.distribution
    )


def test_the_lowest_instability_chooses_k():
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [3.0, 5.0]])
    points = np.random.default_rng(1).normal(size=(60, 2)) * 0.4 + np.repeat(centres, 20, axis=0)
    result = cr.bootstrap_instability(WARD, points, n_clusters=[5, 4, 3, 2], n_resamples=10, rng=0)
    assert result.best_n_clusters == 3
    assert "Lowest at k = 3" in repr(result)
    tied = dataclasses.replace(result, distribution=np.zeros((10, 4)))
    assert tied.best_n_clusters == 2
    alone = cr.bootstrap_instability(AgglomerativeClustering(3), points, n_resamples=2, rng=0)
    assert alone.best_n_clusters == 3
    assert "Lowest" not in repr(alone)
    assert cr.bootstrap_instability(ward, points, n_resamples=2, rng=0).best_n_clusters == 3
    assert cr.bootstrap_instability(two_or_three, points, n_resamples=2, rng=0).best_n_clusters is None


def test_instability_tabulates_prints_saves_and_draws(X, tmp_path):
    result = cr.bootstrap_instability(slices, X, n_clusters=[4, 2], n_resamples=5, rng=ROOT)
    frame = result.to_frame(0.5)
    assert list(frame.columns) == ["k", "mean", "sd", "low", "high"]
    assert frame["k"].tolist() == [4, 2]
    np.testing.assert_allclose(frame["sd"], result.distribution.std(axis=0, ddof=1))
    np.testing.assert_allclose(frame[["low", "high"]].T, np.quantile(result.distribution, [0.25, 0.75], axis=0))
    assert repr(result).startswith(f"Bootstrap instability of slices: 5 resamples, seed {ROOT}\n")
    assert_saves_and_loads(result, tmp_path / "one.npz")
    _, ax = plt.subplots()
    assert_draws_on(ax, result)
    line = ax.lines[0]
    assert line.get_xdata().tolist() == [2, 4]
    np.testing.assert_array_equal(line.get_ydata(), result.mean[::-1])
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylabel() == "bootstrap instability"
    assert ax.get_title() == "slices"
    assert ax.get_xticks().tolist() == [2, 4]
    without = cr.bootstrap_instability(two_or_three, X, n_resamples=2, rng=0)
    with pytest.raises(ParameterError, match="There is no number of clusters to draw against: pass n_clusters"):
        without.plot()


def test_instability_leaves_failed_pairs_out():
    points = np.arange(4.0)[:, None]
    halves, odd = [0, 0, 1, 1], [0, 1, 0, 1]
    fits = [halves, halves, halves, ValueError("no luck."), halves, odd]
    with pytest.warns(ReplicateWarning, match=r"^1 fit of 3 failed and was omitted: ValueError: no luck \(1\)\.$"):
        result = cr.bootstrap_instability(
            scripted(*fits), points, perturbation=cr.Rerun(), n_resamples=3, rng=0, n_jobs=1
        )
    np.testing.assert_array_equal(result.distribution[:, 0], [0, np.nan, 8 / 16])
    assert result.failed[:, 0].tolist() == [0, 1, 0]
    assert result.failures == {"ValueError: no luck": 1}
    assert result.instability.item() == 0.25
    assert "Failed: 1 value: ValueError: no luck" in repr(result)


def test_instability_says_that_every_pair_failed(X):
    def never(X):
        raise ValueError("no luck")

    with pytest.raises(AllReplicatesFailed, match=r"Not one resample could be scored; 3 fits failed: ValueError: no"):
        cr.bootstrap_instability(never, X, n_resamples=3, rng=0)


def test_instability_has_no_value_for_a_k_that_always_fails(X):
    with pytest.warns(ReplicateWarning, match="more clusters asked for than there are distinct points"):
        result = cr.bootstrap_instability(WARD, X, n_clusters=[2, 12], n_resamples=4, rng=ROOT)
    assert np.isnan(result.instability).tolist() == [False, True]
    assert result.best_n_clusters == 2


def test_a_pair_of_functions_that_call_everything_noise_has_no_instability():
    points = np.arange(4.0)[:, None]
    fits = scripted([-1] * 4, [0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1])
    with pytest.warns(ReplicateWarning):
        result = cr.bootstrap_instability(fits, points, noise="drop", perturbation=cr.Rerun(), n_resamples=2, rng=0)
    assert np.isnan(result.distribution[0, 0])


# ---------------------------------------------------------------------------------------------------------------------
# consensus: every pair, every resample


def codes_by_point(X, function, perturbation, n_resamples, **options):
    """What every sample was called in every resample; None where it was not drawn."""
    codes = []
    for draw in draws(X, perturbation, n_resamples):
        labels = induced(draw.sample, function(draw.sample, **options), draw.points)
        codes.append([labels[i] if draw.weights[i] else None for i in range(len(X))])
    return codes


def matrix_by_pairs(codes):
    """Times together, and times both drawn."""
    n = len(codes[0])
    together, both = np.zeros((2, n, n), dtype=int)
    for i in range(n):
        for j in range(n):
            for one in codes:
                if one[i] is not None and one[j] is not None:
                    both[i, j] += 1
                    together[i, j] += one[i] == one[j]
    return together, both


PERTURBATIONS = [cr.Subsample(0.5), cr.Bootstrap(), cr.Bootstrap(distinct=True), cr.Jitter(0.7)]


@pytest.mark.parametrize("perturbation", PERTURBATIONS, ids=repr)
@pytest.mark.parametrize("function", [slices, ward])
def test_consensus_is_times_together_of_times_both_drawn(X, function, perturbation):
    clusterer = WARD if function is ward else slices
    result = cr.consensus(clusterer, X, n_clusters=[2, 3], n_resamples=6, perturbation=perturbation, rng=ROOT)
    for i, k in enumerate([2, 3]):
        codes = codes_by_point(X, function, perturbation, 6, n_clusters=k)
        together, both = matrix_by_pairs(codes)
        expected = np.full((12, 12), np.nan)
        np.divide(together, both, out=expected, where=both > 0)
        np.testing.assert_array_equal(result.matrix(k), expected)
        np.testing.assert_array_equal(result.matrix(k, rows=[7, 0, 7]), expected[[7, 0, 7]])
        counts = np.zeros((7, 7), dtype=int)
        for a, b in itertools.combinations(range(12), 2):
            counts[together[a, b], both[a, b]] += 1
        np.testing.assert_array_equal(result.counts[i], counts)
        drawn = np.array([[code is not None for code in one] for one in codes])
        np.testing.assert_array_equal(result.codes[i] >= 0, drawn)

        values = [expected[a, b] for a, b in itertools.combinations(range(12), 2) if both[a, b]]
        for at in (0, 0.1, 1 / 3, 0.5, 2 / 3, 0.9, 1):
            assert result.cdf(at, k) == pytest.approx(np.mean([v <= at + 1e-9 for v in values]), abs=1e-14)
        ambiguous = np.mean([0.1 < v <= 0.9 for v in values])
        assert result.pac()[i] == pytest.approx(ambiguous, abs=1e-14)
        assert 0 < ambiguous < 1

        reference = function(X, k)
        for c in range(k):
            inside = [
                expected[a, b] for a, b in itertools.combinations(np.flatnonzero(reference == c), 2) if both[a, b]
            ]
            own = result.labels[i][reference == c][0]
            assert result.cluster_consensus[i, own] == pytest.approx(np.mean(inside), abs=1e-14)
    assert result.n_pairs == 66
    assert not result.sampled
    assert result.cdf([0.2, 0.4], 2).tolist() == [result.cdf(0.2, 2), result.cdf(0.4, 2)]


def test_consensus_leaves_the_partners_of_features_to_the_copy():
    """A copy with some features is clustered, and counted, by those features alone."""
    points = np.random.default_rng(3).normal(size=(9, 4))
    perturbation = cr.FeatureSubset(0.5)
    result = cr.consensus(slices, points, n_resamples=4, perturbation=perturbation, rng=ROOT)
    together, both = matrix_by_pairs(codes_by_point(points, slices, perturbation, 4))
    assert (both == 4).all()
    np.testing.assert_array_equal(result.matrix(), together / 4)


def four_points(*labelings, **options):
    points = np.array([[0.0], [1.0], [2.0], [3.0]])
    options = {"perturbation": cr.Rerun(), "n_resamples": len(labelings) - 1, "rng": 0} | options
    return cr.consensus(scripted(*labelings), points, **options)


def test_consensus_by_hand():
    """Ten resamples: {0, 1} together in 9, {2, 3} in all, {0, 2} and {0, 3} in 1, the others never."""
    apart = [0, 1, 2, 2]
    result = four_points([5, 5, 7, 7], *[[0, 0, 1, 1]] * 8, [3, 3, 4, 4], [0, 1, 0, 0])
    expected = [[1, 0.9, 0.1, 0.1], [0.9, 1, 0, 0], [0.1, 0, 1, 1], [0.1, 0, 1, 1]]
    np.testing.assert_array_equal(result.matrix(), expected)
    # Six pairs: 0, 0, .1, .1, .9, 1. F(.9) counts .9, F(.1) counts .1: only .9 is ambiguous.
    assert result.pac().tolist() == pytest.approx([1 / 6])
    assert result.pac(0.05, 0.9) == pytest.approx([3 / 6])
    assert result.pac(0.1, 0.89) == pytest.approx([0])
    assert result.cdf([0, 0.0999, 0.1, 0.9, 1]).tolist() == pytest.approx([2 / 6, 2 / 6, 4 / 6, 5 / 6, 1])
    assert result.cluster_consensus.tolist() == [[0.9, 1.0]]
    assert result.clusters.tolist() == [["5", "7"]]
    assert result.labels.tolist() == [[0, 0, 1, 1]]
    frame = result.to_frame()
    assert list(frame.columns) == ["k", "cluster", "size", "consensus", "pac"]
    assert frame["cluster"].tolist() == ["5", "7", "all"]
    assert frame["size"].tolist() == [2, 2, 4]
    np.testing.assert_array_equal(frame["consensus"], [0.9, 1, np.nan])
    np.testing.assert_allclose(frame["pac"], [np.nan, np.nan, 1 / 6])
    assert frame["k"].isna().all()
    single = four_points(apart, *[[0, 0, 1, 1]] * 2)
    np.testing.assert_array_equal(single.cluster_consensus, [[np.nan, np.nan, 1]])


@pytest.mark.parametrize("n_resamples", [10, 20, 30, 70, 90])
def test_a_tenth_and_nine_tenths_are_on_the_same_side_whatever_the_number_of_resamples(n_resamples):
    """9/10 and 63/70 are the same number to a reader; in floating point they need not be."""
    often, seldom = 9 * n_resamples // 10, n_resamples // 10
    labelings = [[0, 0, b < seldom, 2] if b < often else [0, 1, 3, 2] for b in range(n_resamples)]
    labelings = [[a, b, 0 if c is True else 3, d] for a, b, c, d in labelings]
    result = four_points([0, 0, 1, 1], *labelings)
    assert result.matrix()[0, 1] == often / n_resamples
    assert result.matrix()[0, 2] == seldom / n_resamples
    assert result.pac() == pytest.approx([1 / 6])  # 0.9 is ambiguous, 0.1 is not


def test_samples_never_drawn_together_have_no_consensus_and_count_for_nothing(X):
    result = cr.consensus(slices, X, n_clusters=2, n_resamples=2, perturbation=cr.Subsample(0.5), rng=ROOT)
    _, both = matrix_by_pairs(codes_by_point(X, slices, cr.Subsample(0.5), 2, n_clusters=2))
    matrix = result.matrix()
    assert (both == 0).any()
    assert (both.diagonal() == 0).any()  # a sample that was never drawn at all
    np.testing.assert_array_equal(np.isnan(matrix), both == 0)
    assert result.n_pairs == 66 > np.triu(both > 0, 1).sum()
    assert result.cdf(1) == 1
    above = np.triu(np.ones((12, 12), dtype=bool), 1)
    assert result.cdf(0) == (matrix[above] == 0).sum() / (both[above] > 0).sum()


def test_known_labels_are_the_clusters_to_average_in(X):
    labels = np.array(list("xyzxyzxyzxyz"))
    plain_result = cr.consensus(slices, X, n_clusters=[2, 3], n_resamples=4, rng=ROOT)
    result = cr.consensus(slices, X, n_clusters=[2, 3], n_resamples=4, labels=labels, rng=ROOT)
    np.testing.assert_array_equal(result.codes, plain_result.codes)
    np.testing.assert_array_equal(result.counts, plain_result.counts)
    for i, k in enumerate([2, 3]):
        matrix = result.matrix(k)
        for c, name in enumerate("xyz"):
            rows = np.flatnonzero(labels == name)
            inside = [matrix[a, b] for a, b in itertools.combinations(rows, 2)]
            assert result.cluster_consensus[i, c] == pytest.approx(np.nanmean(inside), abs=1e-14)
    assert result.clusters.tolist() == [["x", "y", "z"]] * 2
    assert result.provenance["labels"] == "known"


def test_several_k_have_as_many_clusters_as_they_have(X):
    result = cr.consensus(slices, X, n_clusters=[4, 2], n_resamples=3, rng=ROOT)
    assert result.cluster_consensus.shape == (2, 4)
    assert np.isnan(result.cluster_consensus[1]).tolist() == [False, False, True, True]
    assert result.clusters[1].tolist() == ["0", "1", "", ""]
    frame = result.to_frame()
    assert frame["k"].tolist() == [4] * 5 + [2] * 3
    assert frame["cluster"].tolist() == ["0", "1", "2", "3", "all", "0", "1", "all"]
    assert frame["size"].tolist() == [3, 3, 3, 3, 12, 6, 6, 12]


def test_the_lowest_pac_chooses_k():
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [3.0, 5.0]])
    points = np.random.default_rng(1).normal(size=(45, 2)) * 0.4 + np.repeat(centres, 15, axis=0)
    result = cr.consensus(KMeans(n_init=3), points, n_clusters=[6, 3, 5], n_resamples=15, rng=0)
    assert result.best_n_clusters == 3
    assert result.pac()[1] == 0 < min(result.pac()[[0, 2]])
    same = dataclasses.replace(result, counts=result.counts[[1, 1, 1]])
    assert same.best_n_clusters == 3
    assert dataclasses.replace(same, n_clusters=(6, 9, 5)).best_n_clusters == 5
    assert cr.consensus(two_or_three, points, n_resamples=2, rng=0).best_n_clusters is None


# ---------------------------------------------------------------------------------------------------------------------
# some of the pairs


def test_a_sample_of_pairs_agrees_with_all_of_them():
    points = np.random.default_rng(5).normal(size=(120, 2))
    run = {"n_clusters": [2, 4], "n_resamples": 12, "rng": ROOT}
    full, some = (cr.consensus(slices, points, n_pairs=n, **run) for n in (None, 3000))
    assert (full.sampled, some.sampled) == (False, True)
    assert (full.n_pairs, some.n_pairs) == (120 * 119 // 2, 3000)
    np.testing.assert_array_equal(some.codes, full.codes)
    for k in (2, 4):
        for at in (0, 0.1, 0.5, 0.9):
            p = full.cdf(at, k)
            assert abs(some.cdf(at, k) - p) < 4 * np.sqrt(p * (1 - p) / 3000) + 1e-12
            assert p not in (0, 1)
    np.testing.assert_allclose(some.cluster_consensus, full.cluster_consensus, atol=0.06)
    assert not np.array_equal(some.cluster_consensus, full.cluster_consensus)
    np.testing.assert_array_equal(some.matrix(2), full.matrix(2))  # always exact
    assert "3,000 pairs, a random sample" in repr(some)
    assert "7,140 pairs," in repr(full)
    assert "sample," not in repr(full)


def chosen_pairs(n, n_pairs):
    X = np.arange(n, dtype=float)[:, None]
    question = Question.of(slices, X, None, None, ROOT, None)
    sampled, some = _consensus._pairs(question, n_pairs)
    return sampled, [np.concatenate(part) for part in zip(*some, strict=True)]


def test_every_pair_is_as_likely_in_a_sample():
    # Asked for fewer than all, so many are drawn; here often enough for statistics, through several roots.
    counts = np.zeros((7, 7), dtype=int)
    for root in range(300):
        question = Question.of(slices, np.arange(7.0)[:, None], None, None, root, None)
        sampled, [(first, second)] = _consensus._pairs(question, 20)
        assert sampled
        assert len(first) == len(second) == 20
        np.add.at(counts, (first, second), 1)
    assert (counts.diagonal() == 0).all()
    ordered = counts[~np.eye(7, dtype=bool)]
    assert chisquare(ordered).pvalue > 1e-4


def test_pairs_are_sampled_from_five_million_on():
    assert chosen_pairs(3162, None)[0] is False
    sampled, (first, _) = chosen_pairs(3163, None)
    assert sampled
    assert len(first) == 1_000_000
    assert chosen_pairs(10, 45) == (False, [])
    assert chosen_pairs(10, 10**9) == (False, [])
    sampled, (first, _) = chosen_pairs(10, 44)
    assert sampled
    assert len(first) == 44


def test_the_same_pairs_are_sampled_whatever_else_is_asked_for(X):
    one = cr.consensus(slices, X, n_clusters=3, n_pairs=20, n_resamples=4, rng=ROOT)
    other = cr.consensus(slices, X, n_clusters=[2, 3], n_pairs=20, n_resamples=4, rng=ROOT)
    np.testing.assert_array_equal(one.counts[0], other.counts[1])
    np.testing.assert_array_equal(one.cluster_consensus[0], other.cluster_consensus[1])


@pytest.mark.parametrize("n", [2, 3, 5, 12])
@pytest.mark.parametrize("at_once", [1, 7, 24, 10**6])
def test_all_pairs_come_once_whatever_the_size_of_the_pieces(n, at_once, monkeypatch):
    monkeypatch.setattr(consensus_results, "AT_ONCE", at_once)
    pieces = list(all_pairs(n))
    found = [(int(i), int(j)) for first, second in pieces for i, j in zip(first, second, strict=True)]
    assert found == list(itertools.combinations(range(n), 2))
    assert all(len(first) <= max(at_once, n) for first, _ in pieces)


def test_pieces_change_nothing(X, monkeypatch):
    run = {"n_clusters": [2, 3], "n_resamples": 4, "rng": ROOT}
    expected = cr.consensus(slices, X, **run)
    monkeypatch.setattr(consensus_results, "AT_ONCE", 30)
    result = cr.consensus(slices, X, **run)
    np.testing.assert_array_equal(result.counts, expected.counts)
    np.testing.assert_allclose(result.cluster_consensus, expected.cluster_consensus, rtol=1e-14)


def signs(X):
    return (X[:, 0] > 0) * 1


def test_a_hundred_thousand_samples_need_no_matrix():
    n = 100_000
    points = np.random.default_rng(0).normal(size=(n, 1))
    cr.consensus(signs, points[:100], n_resamples=3, n_pairs=50, rng=0)  # what is imported and compiled counts no more
    tracemalloc.start()
    try:
        result = cr.consensus(signs, points, n_resamples=3, rng=0, n_jobs=1)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200 * 2**20 < n * n / 8 / 5  # a fifth of one bit for every pair
    assert kept < 20 * 2**20
    assert result.sampled
    assert result.n_pairs == 1_000_000
    assert result.pac().item() == 0
    np.testing.assert_allclose(result.cluster_consensus, [[1, 1]], rtol=0, atol=1e-3)
    rows = result.matrix(rows=[0, n - 1])
    assert rows.shape == (2, n)
    same = signs(points) == signs(points)[n - 1]
    assert (rows[1, same & ~np.isnan(rows[1])] == 1).all()
    assert n > consensus_results.WHOLE_MATRIX  # else the next line would fill the memory
    message = "rows must say which rows: the whole matrix of 100,000 samples would have 10,000,000,000 numbers"
    with pytest.raises(ParameterError, match=message):
        result.matrix()


def test_the_whole_matrix_is_had_up_to_a_size(X, monkeypatch):
    result = cr.consensus(slices, X, n_resamples=3, rng=ROOT)
    monkeypatch.setattr(consensus_results, "WHOLE_MATRIX", 12)
    assert result.matrix().shape == (12, 12)
    monkeypatch.setattr(consensus_results, "WHOLE_MATRIX", 11)
    with pytest.raises(ParameterError, match="rows must say which rows: the whole matrix of 12 samples would have 144"):
        result.matrix()
    assert result.matrix(rows=range(12)).shape == (12, 12)


# ---------------------------------------------------------------------------------------------------------------------
# the kernel


@pytest.mark.parametrize("count", [pairs.count_together, pairs.count_together.py_func, plain.count_together])
@given(st.data())
def test_pairs_are_counted_as_a_loop_counts_them(count, data):
    n, n_replicates, n_pairs = (data.draw(st.integers(1, most)) for most in (6, 5, 8))
    codes = data.draw(arrays(np.int32, (n, n_replicates), elements=st.integers(-1, 2)))
    first, second = (data.draw(arrays(np.int64, n_pairs, elements=st.integers(0, n - 1))) for _ in range(2))
    together, both = np.full((2, n_pairs), 99, dtype=np.int64)
    count(codes, first, second, together, both)
    for pair, (i, j) in enumerate(zip(first, second, strict=True)):
        present = [b for b in range(n_replicates) if codes[i, b] != -1 and codes[j, b] != -1]
        assert both[pair] == len(present)
        assert together[pair] == sum(codes[i, b] == codes[j, b] for b in present)


# ---------------------------------------------------------------------------------------------------------------------
# assignment consistency


def assignments_by_sample(X, function, perturbation, n_resamples, reference, **options):
    """How often each sample, while left out, is in each cluster of the reference; unmatched labels in the totals."""
    n, k = len(X), max(reference) + 1
    counts, totals = np.zeros((n, k), dtype=int), np.zeros(n, dtype=int)
    everything = draws(X, perturbation, n_resamples)
    none_left_out = all((draw.weights > 0).all() for draw in everything)
    for draw in everything:
        labels, _ = relabelled(function, draw, **options)
        names = sorted(set(labels))
        table = np.array([[sum(np.equal(labels, u) & np.equal(reference, v)) for v in range(k)] for u in names])
        new, old = linear_sum_assignment(table, maximize=True)
        partner = {names[u]: v for u, v in zip(new, old, strict=True) if table[u, v]}
        for i in range(n):
            if none_left_out or draw.weights[i] == 0:
                totals[i] += 1
                if labels[i] in partner:
                    counts[i, partner[labels[i]]] += 1
    return counts, totals


def modal_by_sample(counts, reference):
    """The most frequent cluster: of several the sample's own, else the largest of the reference; −1 for none."""
    sizes = [list(reference).count(c) for c in range(counts.shape[1])]
    modal = []
    for own, row in zip(reference, counts.tolist(), strict=True):
        best = [c for c, count in enumerate(row) if count == max(row) > 0]
        modal.append(own if own in best else max(best, key=lambda c: sizes[c], default=-1))
    return modal


def consistency_by_sample(counts, totals, modal):
    """CRI, WCRI and TWCRI."""
    n_assigned, k = (totals > 0).sum(), counts.shape[1]
    cri, wcri = np.full(k, np.nan), np.full(k, np.nan)
    for c in range(k):
        own = [i for i in range(len(counts)) if modal[i] == c]
        if own:
            cri[c] = np.mean([counts[i].max() / totals[i] for i in own])
            wcri[c] = cri[c] * len(own) / n_assigned
    return cri, wcri, np.nansum(wcri)


def assert_assignments(result, i, counts, totals, reference):
    k = counts.shape[1]
    np.testing.assert_array_equal(result.counts[i, :, :k], counts)
    assert not result.counts[i, :, k:].any()
    np.testing.assert_array_equal(result.totals[i], totals)
    modal = modal_by_sample(counts, reference)
    cri, wcri, twcri = consistency_by_sample(counts, totals, modal)
    np.testing.assert_allclose(result.cri[i, :k], cri, rtol=1e-13)
    np.testing.assert_allclose(result.wcri[i, :k], wcri, rtol=1e-13)
    assert result.twcri[i] == pytest.approx(twcri, rel=1e-13)
    assert result.modal[i].tolist() == modal
    assert result.labels[i].tolist() == list(reference)
    sizes = [(result.modal[i] == c).sum() for c in range(result.counts.shape[2])]
    assert result.sizes[i].tolist() == sizes


@pytest.mark.parametrize("perturbation", PERTURBATIONS, ids=repr)
@pytest.mark.parametrize("function", [slices, ward])
def test_samples_left_out_are_counted_in_the_cluster_that_matches_their_label(X, function, perturbation):
    # Without shortcuts, which number clusters in their own way: of equally good matchings they may take another.
    clusterer = WARD if function is ward else slices
    run = {"n_clusters": [2, 4], "n_resamples": 8, "rng": ROOT}
    result = configured(cr.assignment_consistency, accelerate=False)(clusterer, X, perturbation=perturbation, **run)
    for i, k in enumerate([2, 4]):
        reference = np.unique(function(X, k), return_inverse=True)[1]
        counts, totals = assignments_by_sample(X, function, perturbation, 8, reference, n_clusters=k)
        assert_assignments(result, i, counts, totals, reference)
        assert 0 < result.twcri[i] < 1
    if isinstance(perturbation, cr.Jitter):
        assert (result.totals == 8).all()
    else:
        n_left_out = [(draw.weights == 0).sum() for draw in draws(X, perturbation, 8)]
        assert (result.totals.sum(axis=1) == sum(n_left_out)).all()


def test_labels_without_a_partner_count_in_the_totals_alone(X):
    reference = slices(X, 2)
    result = cr.assignment_consistency(two_or_three, X, labels=reference, n_resamples=12, rng=ROOT)
    counts, totals = assignments_by_sample(X, two_or_three, cr.Subsample(0.8), 12, reference)
    assert_assignments(result, 0, counts, totals, reference)
    assert counts.sum() < totals.sum()


def line(*labelings, n=6, **options):
    options = {"perturbation": cr.Rerun(), "n_resamples": len(labelings) - 1, "rng": 0} | options
    return cr.assignment_consistency(scripted(*labelings), np.arange(float(n))[:, None], **options)


def test_assignment_consistency_by_hand():
    """Sample 3 changes sides once in four, sample 0 gets a third label once in four: .75 twice, else 1."""
    usual = [0, 0, 0, 1, 1, 1]
    result = line(["a", "a", "a", "b", "b", "b"], usual, [1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1], [2, 0, 0, 1, 1, 1])
    assert result.counts[0].tolist() == [[3, 0], [4, 0], [4, 0], [1, 3], [0, 4], [0, 4]]
    assert result.totals[0].tolist() == [4] * 6
    np.testing.assert_array_equal(result.per_sample, [[0.75, 1, 1, 0.75, 1, 1]])
    np.testing.assert_allclose(result.cri, [[2.75 / 3, 2.75 / 3]])
    np.testing.assert_allclose(result.wcri, [[2.75 / 6, 2.75 / 6]])
    np.testing.assert_allclose(result.twcri, [5.5 / 6])
    assert result.clusters.tolist() == [["a", "b"]]
    frame = result.to_frame()
    assert list(frame.columns) == ["k", "cluster", "size", "cri", "wcri"]
    assert frame["cluster"].tolist() == ["a", "b", "all"]
    assert frame["size"].tolist() == [3, 3, 6]
    np.testing.assert_allclose(frame["cri"], [2.75 / 3, 2.75 / 3, np.nan])
    np.testing.assert_allclose(frame["wcri"], [2.75 / 6, 2.75 / 6, 5.5 / 6])
    samples = result.samples_frame()
    assert list(samples.columns) == ["sample", "cluster", "consistency", "times"]
    assert samples["cluster"].tolist() == list("aaabbb")
    assert samples["times"].tolist() == [4] * 6
    assert samples["consistency"].tolist() == [0.75, 1, 1, 0.75, 1, 1]
    assert samples["sample"].tolist() == list(result.samples)


def test_a_sample_that_was_never_left_out_has_no_consistency(X):
    result = cr.assignment_consistency(slices, X, n_clusters=2, n_resamples=2, rng=ROOT)
    counts, totals = assignments_by_sample(X, slices, cr.Subsample(0.8), 2, slices(X, 2), n_clusters=2)
    never = totals == 0
    assert 0 < never.sum() < 12
    assert_assignments(result, 0, counts, totals, slices(X, 2))
    np.testing.assert_array_equal(np.isnan(result.per_sample[0]), never)
    np.testing.assert_array_equal(result.modal[0] == -1, never)
    assert result.sizes.sum() == (~never).sum()
    samples = result.samples_frame(2)
    assert samples["cluster"].isna().tolist() == never.tolist()
    assert samples["consistency"].isna().tolist() == never.tolist()


def test_known_labels_are_the_reference(X):
    labels = np.array(list("pqpqrrppqqrr"))
    codes = np.unique(labels, return_inverse=True)[1]
    result = cr.assignment_consistency(slices, X, n_clusters=[2, 3], labels=labels, n_resamples=8, rng=ROOT)
    for i, k in enumerate([2, 3]):
        counts, totals = assignments_by_sample(X, slices, cr.Subsample(0.8), 8, codes, n_clusters=k)
        assert_assignments(result, i, counts, totals, codes)
    assert result.clusters.tolist() == [["p", "q", "r"]] * 2
    frame = pd.DataFrame(X, index=[f"s{i}" for i in range(12)])
    named = pd.Series(labels, index=frame.index)[::-1]  # found by name
    again = cr.assignment_consistency(
        slices, cr.Study(frame, "X"), n_clusters=[2, 3], labels=named, n_resamples=8, rng=ROOT
    )
    np.testing.assert_array_equal(again.counts, result.counts)
    assert again.samples_frame(3)["sample"].tolist() == list(frame.index)


def test_consistency_is_one_where_clusters_are_plain():
    points = np.repeat([[0.0], [9.0]], 8, axis=0) + np.tile(np.linspace(0, 1, 8), 2)[:, None]
    result = cr.assignment_consistency(WARD, points, n_clusters=[3, 2], n_resamples=20, rng=0)
    assert result.twcri[1] == 1 > result.twcri[0]
    assert result.best_n_clusters == 2
    both = {name: getattr(result, name)[[1, 1]] for name in ("counts", "totals", "labels")}
    tied = dataclasses.replace(result, **both)
    assert tied.best_n_clusters == 2
    assert cr.assignment_consistency(two_or_three, points, n_resamples=2, rng=0).best_n_clusters is None


def test_a_label_is_no_partner_of_a_cluster_that_it_shares_no_sample_with():
    """A = {0, …, 4} falls into two parts, B = {5} and C = {6} become one: the smaller part of A is not B."""
    reference, new = [0, 0, 0, 0, 0, 1, 2], [0, 0, 0, 1, 1, 2, 2]
    result = line(reference, new, n=7)
    assert not result.counts[0, [3, 4], 1:].any()
    assert result.totals[0].tolist() == [1] * 7


def test_what_a_resample_counts_depends_on_no_other_resample():
    reference, new, more = [0, 0, 0, 0, 0, 1, 2], [0, 0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 3, 3, 3]
    one, other, both = (line(reference, *labelings, n=7) for labelings in ([new], [more], [new, more]))
    np.testing.assert_array_equal(both.counts, one.counts + other.counts)


def test_of_equally_frequent_clusters_the_own_counts_then_the_largest():
    """Sample 5 is as often in a as in its own c; sample 6 as often in a as in b, never in its own."""
    reference = [0, 0, 0, 1, 1, 2, 2]
    in_a, in_b = [0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 1, 1, 2, 1]
    for a, b in ((in_a, in_b), (in_b, in_a)):
        result = line(reference, a, b, n=7)
        assert result.counts[0, 5].tolist() == [1, 0, 1]
        assert result.counts[0, 6].tolist() == [1, 1, 0]
        assert result.modal[0].tolist() == [0, 0, 0, 1, 1, 2, 0]
        np.testing.assert_allclose(result.cri, [[3.5 / 4, 1, 0.5]])
        np.testing.assert_allclose(result.wcri, [[3.5 / 7, 2 / 7, 0.5 / 7]])
    names = np.array(["z", "y", "x"])  # the other way round, the largest comes last
    renamed = line(names[reference], in_a, in_b, n=7)
    assert renamed.clusters.tolist() == [["x", "y", "z"]]
    np.testing.assert_allclose(renamed.cri, [[0.5, 1, 3.5 / 4]])


@pytest.mark.parametrize("n_resamples", [2, 4])
@pytest.mark.parametrize("perturbation", [cr.Subsample(0.6), cr.Jitter(0.4)], ids=repr)
def test_a_clusters_consistency_does_not_depend_on_its_name(n_resamples, perturbation):
    """Parts of different sizes, so that matchings are unique; few resamples, so that there are ties."""
    points = np.random.default_rng(3).normal(size=(30, 1))
    n_tied, frames = 0, []
    for names in itertools.permutations("abc"):

        def parts(X, names=names):
            cuts = X.min() + np.array([0.4, 0.75]) * (X.max() - X.min())
            return np.array(names)[np.searchsorted(cuts, X[:, 0])]

        result = cr.assignment_consistency(parts, points, perturbation=perturbation, n_resamples=n_resamples, rng=ROOT)
        n_tied += ((result.counts == result.counts.max(axis=2, keepdims=True)).sum(axis=2) > 1).sum()
        n_tied -= (result.totals == 0).sum()
        frame = result.to_frame().set_index("cluster")
        frames.append(frame.loc[[*names, "all"], ["size", "cri", "wcri"]].to_numpy())
    assert n_tied > 0
    for other in frames[1:]:
        np.testing.assert_allclose(other, frames[0], rtol=1e-13)


# ---------------------------------------------------------------------------------------------------------------------
# noise


def test_consensus_may_count_noise_as_not_drawn(X):
    perturbation = cr.Subsample(0.8)
    run = {"perturbation": perturbation, "n_resamples": 8, "rng": ROOT}
    results = {noise: cr.consensus(far_is_noise, X, noise=noise, **run) for noise in ("label", "drop")}
    assert not np.array_equal(results["label"].matrix(), results["drop"].matrix(), equal_nan=True)
    reference = far_is_noise(X)
    for noise, result in results.items():
        together, both = np.zeros((2, 12, 12))
        for draw in draws(X, perturbation, 8):
            labels, rows = relabelled(far_is_noise, draw)
            there = [i for i in rows if noise == "label" or labels[i] != -1]
            for i, j in itertools.product(there, there):
                both[i, j] += 1
                together[i, j] += labels[i] == labels[j]
        expected = np.where(both > 0, together / np.maximum(both, 1), np.nan)
        np.testing.assert_array_equal(result.matrix(), expected)
        names = result.clusters[0].tolist()
        for c in (0, 1):
            own = np.flatnonzero(reference == c)
            values = [expected[i, j] for i, j in itertools.combinations(own, 2) if both[i, j]]
            at = result.cluster_consensus[0, names.index(str(c))]
            assert at == pytest.approx(np.mean(values), rel=1e-13)
        ratios = [expected[i, j] for i, j in itertools.combinations(range(12), 2) if both[i, j]]
        assert result.cdf(0.5) == pytest.approx(np.mean([ratio <= 0.5 for ratio in ratios]))
        assert result.pac().item() == pytest.approx(np.mean([0.1 < ratio <= 0.9 for ratio in ratios]))


@pytest.mark.parametrize("verb", [cr.consensus, cr.assignment_consistency])
def test_noise_that_is_dropped_is_no_cluster(verb, X):
    result = verb(far_is_noise, X, noise="drop", n_resamples=8, rng=ROOT)
    assert result.to_frame()["cluster"].tolist() == ["0", "1", "all"]


@pytest.mark.parametrize("verb", [cr.consensus, cr.assignment_consistency])
def test_the_provenance_says_what_noise_was_taken_for(verb, X):
    assert verb(far_is_noise, X, noise="drop", n_resamples=8, rng=ROOT).provenance["noise"] == "drop"


def test_assignments_leave_out_samples_that_either_side_calls_noise(X):
    perturbation = cr.Subsample(0.6)
    run = {"perturbation": perturbation, "n_resamples": 8, "rng": ROOT}
    classes, reference = np.unique(far_is_noise(X), return_inverse=True)
    assert classes.tolist() == [-1, 0, 1]
    counts, totals = np.zeros((12, 3), dtype=int), np.zeros(12, dtype=int)
    n_other = 0  # noise on one side alone
    for draw in draws(X, perturbation, 8):
        labels, rows = relabelled(far_is_noise, draw)
        either = [i for i in range(12) if labels[i] == -1 or reference[i] == 0]
        n_other += sum((labels[i] == -1) != (reference[i] == 0) for i in either)
        left = [i for i in range(12) if i not in either]
        kept = {
            swap: sum(labels[i] == (classes[reference[i]] if not swap else 1 - classes[reference[i]]) for i in left)
            for swap in (False, True)
        }
        assert kept[False] != kept[True]
        swap = kept[True] > kept[False]
        partner = {0: 1 + swap, 1: 2 - swap}
        shared = {new: any(labels[i] == new and reference[i] == partner[new] for i in left) for new in (0, 1)}
        for i in left:
            if i not in rows:
                totals[i] += 1
                if shared[labels[i]]:
                    counts[i, partner[labels[i]]] += 1
    assert n_other
    result = cr.assignment_consistency(far_is_noise, X, noise="drop", **run)
    assert_assignments(result, 0, counts, totals, reference)
    assert not result.counts[0, :, 0].any()
    assert (result.totals[0, reference == 0] == 0).all()
    plain = cr.assignment_consistency(far_is_noise, X, **run)
    assert plain.totals.sum() > result.totals.sum()


@pytest.mark.parametrize("verb", [cr.consensus, cr.assignment_consistency])
def test_without_noise_there_is_nothing_to_drop(verb, X):
    one, other = (
        verb(slices, X, n_clusters=[2, 3], n_resamples=4, rng=ROOT, noise=noise) for noise in ("label", "drop")
    )
    for name in ("counts", "failed", "labels"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


# ---------------------------------------------------------------------------------------------------------------------
# failures


@pytest.fixture
def failing():
    """Six points, eight resamples of them, of which the second and the fifth fail."""
    fits = [[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 1, 1]]
    script = [fits[0], fits[1], ValueError("no luck."), fits[2], fits[0], RuntimeError(), fits[1], fits[1], fits[0]]
    message = r"^2 fits of 8 failed and were omitted: ValueError: no luck \(1\); RuntimeError \(1\)\.$"

    def run(verb):
        options = {"perturbation": cr.Rerun(), "n_resamples": 8, "rng": 0, "n_jobs": 1}
        with pytest.warns(ReplicateWarning, match=message):
            return verb(scripted(*script), np.arange(6.0)[:, None], **options)

    return run


def test_consensus_leaves_failed_fits_out(failing):
    result = failing(cr.consensus)
    assert result.failed[:, 0].tolist() == [0, 1, 0, 0, 2, 0, 0, 0]
    assert result.failures == {"ValueError: no luck": 1, "RuntimeError": 1}
    assert (result.codes[0, [1, 4]] == -1).all()
    matrix = result.matrix()
    assert matrix[0, 3] == 3 / 6
    assert matrix[2, 3] == (3 + 1) / 6
    assert result.counts[0, :, 6].sum() == result.n_pairs == 15
    assert "Failed: 1 fit: ValueError: no luck\nFailed: 1 fit: RuntimeError" in repr(result)


def test_assignment_consistency_leaves_failed_fits_out(failing):
    result = failing(cr.assignment_consistency)
    assert result.failed[:, 0].tolist() == [0, 1, 0, 0, 2, 0, 0, 0]
    assert result.failures == {"ValueError: no luck": 1, "RuntimeError": 1}
    assert (result.totals == 6).all()
    assert result.counts[0].tolist() == [[6, 0], [6, 0], [5, 1], [3, 3], [0, 6], [0, 6]]
    assert result.modal[0].tolist() == [0, 0, 0, 1, 1, 1]  # of equally frequent ones its own
    assert "Failed: 1 fit: ValueError: no luck" in repr(result)


@pytest.mark.parametrize("verb", [cr.consensus, cr.assignment_consistency])
def test_everything_failing_raises(verb, X):
    labels = [0] * 6 + [1] * 6

    def never(X):
        raise ValueError("no luck")

    with pytest.raises(AllReplicatesFailed, match=r"^Not one resample could be scored; 3 fits failed: ValueError: no"):
        verb(never, X, labels=labels, n_resamples=3, rng=0)
    with pytest.raises(AllReplicatesFailed, match="never failed on the data as they are, so there are no clusters"):
        verb(never, X, n_resamples=3, rng=0)
    with pytest.raises(AllReplicatesFailed, match="AgglomerativeClustering, k = 13 failed on the data as they are"):
        verb(WARD, X, n_clusters=[2, 13], n_resamples=3, rng=0)


def one_k_fails(verb, X):
    """Twelve clusters can be had of twelve samples, but not of the nine that are drawn."""
    with pytest.warns(ReplicateWarning, match="4 fits of 8 failed.*more clusters asked for than there are distinct"):
        return verb(WARD, X, n_clusters=[12, 2], n_resamples=4, rng=ROOT)


def test_consensus_has_no_value_for_a_k_that_always_fails(X):
    result = one_k_fails(cr.consensus, X)
    assert np.isnan(result.pac()).tolist() == [True, False]
    assert result.best_n_clusters == 2
    assert "NaN" in repr(result)
    assert result.to_frame()["pac"].notna().sum() == 1
    result.plot()


def test_consensus_has_no_value_where_no_counted_pair_was_drawn(X):
    run = {"n_clusters": 2, "n_resamples": 1, "rng": 2}
    result = cr.consensus(slices, X, perturbation=cr.Subsample(0.2), n_pairs=2, **run)
    assert result.counts[0, 0, 0] == 2
    assert np.isnan(result.pac()).all()


def test_assignment_consistency_has_no_value_for_a_k_that_always_fails(X):
    result = one_k_fails(cr.assignment_consistency, X)
    assert np.isnan(result.twcri).tolist() == [True, False]
    assert result.best_n_clusters == 2


# ---------------------------------------------------------------------------------------------------------------------
# laws


VERBS = [cr.bootstrap_instability, cr.consensus, cr.assignment_consistency]


@pytest.mark.parametrize("verb", VERBS)
def test_workers_batches_and_progress_change_nothing(verb, X):
    run = {"n_clusters": [2, 3], "n_resamples": 4, "rng": ROOT}
    expected = verb(ward, X, **run)
    assert_same_results(verb(ward, X, n_jobs=2, **run), expected)
    assert_same_results(configured(verb, progress=False)(ward, X, **run), expected)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("clusterer", [WARD, KMeans(n_init=2)], ids=["ward", "k-means"])
def test_a_k_is_the_same_alone_and_among_others(verb, clusterer, X):
    several = verb(clusterer, X, n_clusters=[4, 3, 2], n_resamples=4, rng=ROOT)
    alone = verb(clusterer, X, n_clusters=3, n_resamples=4, rng=ROOT)
    if verb is cr.bootstrap_instability:
        np.testing.assert_array_equal(several.distribution[:, [1]], alone.distribution)
    elif verb is cr.consensus:
        np.testing.assert_array_equal(several.codes[[1]], alone.codes)
        np.testing.assert_array_equal(several.counts[[1]], alone.counts)
        np.testing.assert_array_equal(several.cluster_consensus[[1], :3], alone.cluster_consensus)
    else:
        np.testing.assert_array_equal(several.counts[[1], :, :3], alone.counts)
        np.testing.assert_array_equal(several.twcri[[1]], alone.twcri)


@pytest.mark.parametrize("verb", VERBS)
def test_shortcuts_change_nothing(verb, X):
    fast, slow = (
        configured(verb, accelerate=accelerate)(WARD, X, n_clusters=[2, 4], n_resamples=5, rng=ROOT)
        for accelerate in (True, False)
    )
    if verb is cr.bootstrap_instability:
        np.testing.assert_array_equal(fast.distribution, slow.distribution)
    elif verb is cr.consensus:
        np.testing.assert_array_equal(fast.counts, slow.counts)
    else:  # shortcuts number the clusters in their own way
        for one, other in zip(fast.counts, slow.counts, strict=True):
            assert sorted(one.T.tolist()) == sorted(other.T.tolist())


@pytest.mark.parametrize("verb", VERBS)
def test_the_seed_is_all_that_a_run_follows_from(verb, X):
    one, same, other = (verb(KMeans(3, n_init=1), X, n_resamples=5, rng=seed) for seed in (1, 1, 2))
    assert_same_results(one, same)
    assert one.provenance["seed"] == 1
    name = "distribution" if verb is cr.bootstrap_instability else "counts"
    assert not np.array_equal(getattr(one, name), getattr(other, name))
    generator = verb(KMeans(3, n_init=1), X, n_resamples=5, rng=np.random.default_rng(3))
    again = verb(KMeans(3, n_init=1), X, n_resamples=5, rng=generator.provenance["seed"])
    assert_same_results(generator, again)


def test_a_longer_run_begins_with_the_shorter_one(X):
    short, long = (cr.bootstrap_instability(WARD, X, n_clusters=[2, 3], n_resamples=n, rng=ROOT) for n in (3, 6))
    np.testing.assert_array_equal(long.distribution[:3], short.distribution)
    short, long = (cr.consensus(WARD, X, n_clusters=[2, 3], n_resamples=n, rng=ROOT) for n in (3, 6))
    np.testing.assert_array_equal(long.codes[:, :3], short.codes)
    short, long = (cr.assignment_consistency(slices, X, n_clusters=[2, 3], n_resamples=n, rng=ROOT) for n in (3, 6))
    assert (long.counts >= short.counts).all()
    assert (long.totals >= short.totals).all()


@pytest.mark.parametrize("verb", VERBS)
def test_tables_frames_and_studies_are_the_same_data(verb, X):
    expected = verb(WARD, X, n_clusters=2, n_resamples=3, rng=ROOT)
    for data in (X.tolist(), np.asfortranarray(X), cr.Study(X, "X")):
        assert_same_results(verb(WARD, data, n_clusters=2, n_resamples=3, rng=ROOT), expected)
    single = verb(WARD, X.astype(np.float32), n_clusters=2, n_resamples=3, rng=ROOT)
    framed = verb(WARD, pd.DataFrame(X, columns=["g1", "g2"]), n_clusters=2, n_resamples=3, rng=ROOT)
    name = "distribution" if verb is cr.bootstrap_instability else "counts"
    np.testing.assert_array_equal(getattr(single, name), getattr(expected, name))
    np.testing.assert_array_equal(getattr(framed, name), getattr(expected, name))


def test_consensus_and_assignment_know_labels_by_no_name(X):
    def renamed(X, n_clusters):
        return np.array(["b", "c", "a"])[slices(X, n_clusters)]

    one, other = (cr.consensus(function, X, n_clusters=3, n_resamples=4, rng=ROOT) for function in (slices, renamed))
    np.testing.assert_array_equal(one.counts, other.counts)
    np.testing.assert_array_equal(one.cluster_consensus[0], other.cluster_consensus[0, [1, 2, 0]])
    assert other.clusters.tolist() == [["a", "b", "c"]]
    one, other = (
        cr.assignment_consistency(function, X, n_clusters=3, n_resamples=4, rng=ROOT) for function in (slices, renamed)
    )
    np.testing.assert_array_equal(one.counts[0], other.counts[0][:, [1, 2, 0]])
    np.testing.assert_allclose(one.twcri, other.twcri)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("verb", VERBS)
def test_few_samples_are_enough(verb, n, X):
    result = verb(lambda X: np.arange(len(X)) % 2, X[:n], n_resamples=5, rng=ROOT)
    assert "seed 8" in repr(result)
    assert len(result.to_frame())


@pytest.mark.parametrize("verb", VERBS)
def test_one_cluster_is_as_stable_as_can_be(verb, X):
    result = verb(lambda X: np.zeros(len(X), dtype=int), X, n_resamples=3, rng=0)
    if verb is cr.bootstrap_instability:
        assert result.instability.tolist() == [0]
    elif verb is cr.consensus:
        assert result.pac().tolist() == [0]
        assert result.cluster_consensus.tolist() == [[1]]
    else:
        assert result.twcri.tolist() == [1]


def test_equal_samples_are_samples_like_any_other():
    points = np.repeat([[0.0, 1.0], [4.0, 2.0]], [5, 4], axis=0)
    result = cr.consensus(WARD, points, n_clusters=2, n_resamples=10, rng=0)
    assert result.pac().tolist() == [0]
    assert result.cluster_consensus.tolist() == [[1, 1]]
    assert cr.assignment_consistency(WARD, points, n_clusters=2, n_resamples=10, rng=0).twcri.tolist() == [1]


def test_a_cluster_may_have_an_empty_name(X):
    labels = [""] * 6 + ["b"] * 6
    result = cr.assignment_consistency(slices, X, n_clusters=2, labels=labels, n_resamples=6, rng=ROOT)
    assert result.to_frame()["cluster"].tolist() == ["", "b", "all"]


# ---------------------------------------------------------------------------------------------------------------------
# files and figures


def test_consensus_saves_and_loads(X, tmp_path):
    result = cr.consensus(slices, X, n_clusters=[2, 3], n_resamples=4, n_pairs=30, rng=ROOT)
    assert_saves_and_loads(result, tmp_path / "one.npz")
    loaded = cr.load(tmp_path / "one.npz")
    np.testing.assert_array_equal(loaded.matrix(3), result.matrix(3))
    np.testing.assert_array_equal(loaded.pac(), result.pac())
    assert repr(result).startswith(f"Consensus of slices: 4 resamples, 30 pairs, a random sample, seed {ROOT}\n")


def test_assignment_consistency_saves_and_loads(X, tmp_path):
    result = cr.assignment_consistency(slices, X, n_clusters=[2, 3], n_resamples=4, rng=ROOT)
    assert_saves_and_loads(result, tmp_path / "one.npz")
    loaded = cr.load(tmp_path / "one.npz")
    np.testing.assert_array_equal(loaded.cri, result.cri)
    pd.testing.assert_frame_equal(loaded.samples_frame(3), result.samples_frame(3))
    assert repr(result).startswith(f"Assignment consistency of slices: 4 resamples, seed {ROOT}\n")
    without = cr.assignment_consistency(two_or_three, X, n_resamples=4, rng=ROOT)
    assert_saves_and_loads(without, tmp_path / "two.npz")


def test_the_distribution_of_the_consensus_is_drawn_for_every_k(X):
    result = cr.consensus(slices, X, n_clusters=[2, 3], n_resamples=5, rng=ROOT)
    _, ax = plt.subplots()
    assert_draws_on(ax, result)
    assert len(ax.lines) == 2
    for line_, k in zip(ax.lines, [2, 3], strict=True):
        np.testing.assert_array_equal(line_.get_ydata(), result.cdf(line_.get_xdata().tolist(), k))
        assert (line_.get_xdata()[0], line_.get_xdata()[-1]) == (0, 1)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [f"k = {k}, PAC {pac:.2f}" for k, pac in zip([2, 3], result.pac(), strict=True)]
    assert ax.get_ylim() == (0, 1.02)
    assert (ax.get_xlabel(), ax.get_title()) == ("consensus of a pair", "slices")
    own = cr.consensus(two_or_three, X, n_resamples=3, rng=0).plot()
    assert own.get_legend().get_texts()[0].get_text().startswith("PAC ")


def test_assignment_consistency_is_drawn_against_k(X):
    result = cr.assignment_consistency(slices, X, n_clusters=[2, 4], n_resamples=5, rng=ROOT)
    _, ax = plt.subplots()
    assert_draws_on(ax, result)
    *clusters, total = ax.lines
    np.testing.assert_array_equal(total.get_ydata(), result.twcri)
    for line, k, values in zip(clusters, [2, 4], result.cri, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), values[:k])
        assert np.isnan(values[k:]).all()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["2", "4"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["clusters", "all samples"]
    assert ax.get_ylim() == (0, 1.03)
    assert (ax.get_ylabel(), ax.get_title()) == ("assignment consistency", "slices")
    one = cr.assignment_consistency(two_or_three, X, n_resamples=3, rng=0).plot()
    assert [text.get_text() for text in one.get_xticklabels()] == [""]


def test_assignment_consistency_is_drawn_in_the_order_of_k(X):
    ax = cr.assignment_consistency(slices, X, n_clusters=[4, 2, 3], n_resamples=3, rng=ROOT).plot()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["2", "3", "4"]


def test_one_pair_is_no_plural(X):
    assert " 1 pair," in repr(cr.consensus(lambda X: np.arange(len(X)), X[:2], n_resamples=2, rng=0))


# ---------------------------------------------------------------------------------------------------------------------
# what can not be asked for


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 0}, "n_resamples must be a positive integer, got 0"),
        ({"n_resamples": 2.0}, r"n_resamples must be a positive integer, got 2\.0"),
        ({"perturbation": "bootstrap"}, r"perturbation must be Bootstrap\(\), Subsample\(fraction\), FeatureSubset"),
        ({"perturbation": cr.Bootstrap}, r"perturbation must be Bootstrap\(\)"),
        ({"n_clusters": 1}, "n_clusters must be"),
        ({"n_clusters": [2, 2]}, r"n_clusters must hold every number once, got \[2, 2\]"),
        ({"n_jobs": 0}, "n_jobs must be a positive integer"),
        ({"rng": -1}, "rng must be a non-negative integer"),
        ({"labels": True}, "labels is True, but study 'X' has no known labels"),
    ],
)
def test_what_is_asked_for_is_checked(verb, options, message, X):
    with pytest.raises(ParameterError, match=message):
        verb(slices, X, **options)


@pytest.mark.parametrize(
    ("verb", "default"),
    [
        (cr.bootstrap_instability, cr.Bootstrap()),
        (cr.consensus, cr.Subsample(0.8)),
        (cr.assignment_consistency, cr.Subsample(0.8)),
    ],
)
def test_no_perturbation_is_the_default_one(verb, default, X):
    results = [
        verb(slices, X, n_resamples=4, rng=ROOT, **options)
        for options in ({}, {"perturbation": None}, {"perturbation": default})
    ]
    for result in results:
        assert_same_results(result, results[0])
        assert result.provenance["resampling"] == repr(default)
        assert result.provenance["n_resamples"] == 4


@pytest.mark.parametrize("verb", VERBS)
def test_arguments_the_wrong_way_round_are_refused(verb, X):
    with pytest.raises(
        ParameterError, match="X must be a table of samples by features, got KMeans: are the arguments the wrong way"
    ):
        verb(X, KMeans(2))
    with pytest.raises(ParameterError, match=r"X must be one study or table, got dict: pick one, studies\[name\]"):
        verb(slices, {"a": X, "b": X + 1})


@pytest.mark.parametrize("verb", VERBS)
def test_one_study_is_asked_for(verb, X):
    with pytest.raises(ParameterError, match=r"X must be one study or table, got Studies: pick one, studies\[name\]"):
        verb(slices, cr.Studies({"a": X, "b": X + 1}))
    with pytest.raises(
        DataError, match="labels of study 'X' must have one label for every point of study 'X': 12; got"
    ):
        verb(slices, X, labels=[0, 1])
    with pytest.raises(DataError, match="missing value"):
        verb(slices, np.where(X > 1, np.nan, X))
    with pytest.raises(ParameterError, match="has no parameter for the number of clusters"):
        verb(two_or_three, X, n_clusters=2)


@pytest.mark.parametrize("verb", [cr.consensus, cr.assignment_consistency])
def test_labels_can_not_be_found_again_without_a_clusterer(verb, X):
    with pytest.raises(ParameterError, match="clusterer is None: a clusterer must find the clusters again, also those"):
        verb(None, X, labels=[0] * 12)


def test_instability_needs_a_clusterer_or_labels(X):
    with pytest.raises(ParameterError, match="clusterer is None: pass a clusterer, or existing labels with labels="):
        cr.bootstrap_instability(None, X)
    with pytest.raises(ParameterError, match="n_clusters needs a clusterer: labels have the clusters that they have"):
        cr.bootstrap_instability(None, X, labels=[0, 1] * 6, n_clusters=2)
    with pytest.raises(ParameterError, match="one_sided must be True or False, got 'yes'"):
        cr.bootstrap_instability(slices, X, one_sided="yes")
    with pytest.raises(ParameterError, match="noise must be one of 'label', 'drop'; got 'singletons'"):
        cr.bootstrap_instability(slices, X, noise="singletons")


@pytest.mark.parametrize("verb", [cr.consensus, cr.assignment_consistency])
def test_noise_is_a_cluster_or_dropped(verb, X):
    with pytest.raises(ParameterError, match="noise must be one of 'label', 'drop'; got 'singletons'"):
        verb(slices, X, noise="singletons")


@pytest.mark.parametrize(("n_labels", "dtype"), [(2, np.int8), (127, np.int8), (128, np.int16), (200, np.int16)])
def test_codes_are_kept_small(n_labels, dtype):
    points = np.arange(200.0)[:, None]
    result = cr.consensus(lambda X: np.arange(len(X)) % n_labels, points, perturbation=cr.Rerun(), n_resamples=2, rng=0)
    assert result.codes.dtype == dtype
    assert result.codes.max() == n_labels - 1
    assert np.isfinite(result.matrix(rows=[0])).all()


@pytest.mark.parametrize("verb", [cr.consensus, cr.assignment_consistency])
def test_words_name_the_best_k_of_several(verb, X):
    several = verb(slices, X, n_clusters=[2, 3], n_resamples=4, rng=ROOT)
    assert repr(several).splitlines()[-1] == f"Best at k = {several.best_n_clusters}"
    assert "Best at" not in repr(verb(slices, X, n_clusters=2, n_resamples=4, rng=ROOT))
    assert "Best at" not in repr(verb(two_or_three, X, n_resamples=4, rng=ROOT))


@pytest.mark.parametrize("verb", VERBS)
def test_a_perturbation_that_keeps_everything_says_so(verb, X):
    with pytest.warns(ReplicateWarning, match=r"Subsample\(fraction=1\.0\) changes nothing here, and Agglomerative"):
        verb(WARD, X, perturbation=cr.Subsample(1.0), n_resamples=2, rng=0)


@pytest.mark.parametrize("n_pairs", [0, -1, 1.5, True, "all"])
def test_n_pairs_is_a_positive_integer(n_pairs, X):
    with pytest.raises(ParameterError, match="n_pairs must be a positive integer, got"):
        cr.consensus(slices, X, n_pairs=n_pairs)


def test_what_is_asked_of_a_consensus_is_checked(X):
    result = cr.consensus(slices, X, n_clusters=[2, 3], n_resamples=2, rng=0)
    for ask in (result.matrix, lambda: result.cdf(0.5)):
        with pytest.raises(ParameterError, match=r"n_clusters must say which: one of \[2, 3\]"):
            ask()
    with pytest.raises(ParameterError, match="There is no number of clusters 7; there are 2, 3"):
        result.matrix(7)
    for rows in ([12], [-1], [0.5], 3, [[0]], ["a"], [True]):
        with pytest.raises(ParameterError, match="rows must be whole numbers from 0 to 11, got"):
            result.matrix(2, rows=rows)
    for values in (1.1, [-0.1], "half", [0.5, np.nan]):
        with pytest.raises(ParameterError, match="values must be a number from 0 to 1, or several; got"):
            result.cdf(values, 2)
    with pytest.raises(ParameterError, match="low and high must be a number from 0 to 1"):
        result.pac(0.1, 90)
    for low, high in ((0.9, 0.1), (0.5, 0.5)):
        with pytest.raises(ParameterError, match=f"low must be below high, got {low} and {high}"):
            result.pac(low, high)
    assignments = cr.assignment_consistency(slices, X, n_clusters=[2, 3], n_resamples=2, rng=0)
    with pytest.raises(ParameterError, match=r"n_clusters must say which: one of \[2, 3\]"):
        assignments.samples_frame()
    with pytest.raises(ParameterError, match="There is no number of clusters 4; there are 2, 3"):
        assignments.samples_frame(4)


@pytest.mark.parametrize("verb", VERBS)
def test_a_run_in_which_nothing_can_vary_says_so(verb, X):
    with pytest.warns(
        ReplicateWarning, match=r"Rerun\(\) changes nothing here, and AgglomerativeClustering has no random"
    ):
        verb(WARD, X, perturbation=cr.Rerun(), n_resamples=2, rng=0)
