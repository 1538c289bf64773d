"""Changes to a study's own samples: distinct draws, fewer features, noise, nothing at all, and sums of these."""

from __future__ import annotations

import itertools
import pickle
import statistics

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare, kstest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, KMeans
from tests.helpers import configured

import clustrep as cr
from clustrep.clustering.path import Setting
from clustrep.clustering.sample import Configuration, Source
from clustrep.errors import AllReplicatesFailed, ParameterError
from clustrep.resampling import Combination, Draw, Perturbation, check_perturbation, check_resampling, whole


@pytest.fixture
def study(rng):
    """Features of very different spread, one of them constant."""
    X = rng.normal(size=(30, 5)) * [1, 10, 0.01, 3, 0] + [0, 100, 0, -5, 7]
    return cr.Study(X, "mainz")


def drawn(perturbation, study, seed=0):
    return perturbation.draw(study, np.random.default_rng(seed))


SINGLE = [
    cr.Bootstrap(),
    cr.Bootstrap(distinct=True),
    cr.Subsample(0.6),
    cr.FeatureSubset(0.6),
    cr.Jitter(),
    cr.Jitter(0.1, relative=False),
    cr.Rerun(),
]
SUMS = [
    cr.Subsample(0.8) + cr.Jitter(0.1),
    cr.Jitter(0.1) + cr.Subsample(0.8),
    cr.Bootstrap() + cr.Jitter(0.1),
    cr.Bootstrap() + cr.FeatureSubset(0.5) + cr.Jitter(0.1),
    cr.Bootstrap(distinct=True) + cr.Subsample(0.5),
]
every = pytest.mark.parametrize("perturbation", [*SINGLE, *SUMS], ids=repr)


# ---------------------------------------------------------------------------------------------------------------------
# every one of them


@every
def test_sample_weights_and_order_are_three_views_of_one_draw(perturbation, study):
    draw = drawn(perturbation, study)
    assert draw.sample.tolist() == [draw.points[i].tolist() for i in draw.order]
    assert draw.weights.tolist() == [draw.order.tolist().count(i) for i in range(30)]
    assert len(draw.points) == len(draw.originals) == 30
    assert draw.points.shape == draw.originals.shape
    assert draw.n_distinct() == len({tuple(row) for row in draw.sample.tolist()})


@every
def test_the_study_is_never_changed_and_never_handed_out_for_writing(perturbation, study):
    before = study.X.copy()
    draw = drawn(perturbation, study)
    assert not np.shares_memory(draw.sample, study.X)  # a clusterer may do with its sample what it likes
    draw.sample[:] = 0
    np.testing.assert_array_equal(study.X, before)
    assert not study.X.flags.writeable


@every
def test_the_same_seed_draws_the_same_and_another_does_not(perturbation, study):
    one, same, other = (drawn(perturbation, study, seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.sample, same.sample)
    assert np.array_equal(one.sample, other.sample) == (perturbation == cr.Rerun())


@every
def test_single_precision_stays(perturbation, study):
    single = cr.Study(study.X.astype(np.float32), "mainz")
    draw = drawn(perturbation, single)
    assert draw.points.dtype == draw.originals.dtype == draw.sample.dtype == np.float32
    np.testing.assert_allclose(draw.points, drawn(perturbation, study).points, rtol=1e-5, atol=1e-4)


@every
def test_points_and_features_are_kept_where_it_says_so(perturbation, study):
    draw = drawn(perturbation, study)
    assert perturbation.keeps_points == (draw.points is study.X)
    assert perturbation.keeps_features == (draw.points.shape[1] == 5)
    assert (draw.originals is draw.points) == np.array_equal(draw.originals, draw.points)


@every
def test_perturbations_are_values(perturbation):
    same = pickle.loads(pickle.dumps(perturbation))
    assert same == perturbation
    assert hash(same) == hash(perturbation)
    names = {name: getattr(cr, name) for name in ("Bootstrap", "Subsample", "FeatureSubset", "Jitter", "Rerun")}
    assert eval(repr(perturbation), names) == perturbation
    assert isinstance(perturbation, Perturbation)
    assert check_perturbation(perturbation) is perturbation
    name = next(iter(vars(perturbation)), "anything")
    with pytest.raises(AttributeError):
        setattr(perturbation, name, 0.3)


@every
def test_a_frame_is_perturbed_like_its_array(perturbation, study):
    frame = pd.DataFrame(study.X, columns=list("vwxyz"), index=[f"s{i}" for i in range(30)])
    np.testing.assert_array_equal(
        drawn(perturbation, cr.Study(frame, "mainz")).sample, drawn(perturbation, study).sample
    )


@pytest.mark.parametrize("perturbation", [cr.Bootstrap, "jitter", None, 0.8, cr.Simulate(lambda study, rng: study.X)])
def test_a_perturbation_must_be_one(perturbation):
    with pytest.raises(ParameterError, match=r"perturbation must be Bootstrap\(\), Subsample\(fraction\), Feature"):
        check_perturbation(perturbation)


# ---------------------------------------------------------------------------------------------------------------------
# distinct samples


def test_a_distinct_bootstrap_is_the_bootstrap_with_every_sample_once(study):
    for seed in range(5):
        every_time, once = drawn(cr.Bootstrap(), study, seed), drawn(cr.Bootstrap(distinct=True), study, seed)
        assert once.order.tolist() == sorted(set(every_time.order.tolist()))
        assert once.weights.tolist() == [min(1, weight) for weight in every_time.weights]
        assert once.points is study.X


def test_about_63_percent_of_the_samples_are_distinct():
    n, B = 50, 2000
    study = cr.Study(np.arange(n, dtype=float).reshape(n, 1) ** 1.5, "mainz")
    source = Source(cr.Bootstrap(distinct=True), 1)
    weights = np.array([source.draw(study, b).weights for b in range(1, B + 1)])
    assert weights.max() == 1
    assert weights.mean() == pytest.approx(1 - (1 - 1 / n) ** n, abs=0.005)
    assert chisquare(weights.sum(axis=0)).pvalue > 1e-4


def test_equal_samples_are_told_apart():
    """Two patients with the same values are two patients."""
    study = cr.Study(np.full((8, 1), 0.5), "mainz")
    draw = drawn(cr.Bootstrap(distinct=True), study)
    assert len(draw.order) == len(set(drawn(cr.Bootstrap(), study).order.tolist())) > 1
    assert draw.n_distinct() == 1


@pytest.mark.parametrize("distinct", [0.8, 1, "yes", None])
def test_distinct_must_be_a_flag(distinct):
    with pytest.raises(ParameterError, match="distinct must be True or False, got"):
        cr.Bootstrap(distinct)


# ---------------------------------------------------------------------------------------------------------------------
# fewer features


@pytest.mark.parametrize(
    ("p", "fraction", "kept"),
    [(5, 0.6, 3), (5, 0.79, 3), (5, 0.8, 4), (5, 1.0, 5), (5, 1, 5), (5, 0.01, 1), (1, 0.5, 1), (100, 0.29, 29)],
)
def test_a_fraction_of_the_features_is_kept_in_their_order(p, fraction, kept, rng):
    study = cr.Study(rng.normal(size=(6, p)), "mainz")
    draw = drawn(cr.FeatureSubset(fraction), study)
    assert draw.points.shape == (6, kept)
    places = [np.flatnonzero((column[:, None] == study.X).all(axis=0)).item() for column in draw.points.T]
    assert places == sorted(set(places))
    assert draw.order.tolist() == list(range(6))  # all samples, as they are
    assert draw.points.flags.c_contiguous


def test_features_are_those_of_the_permutation(study):
    expected = sorted(np.random.default_rng(0).permutation(5)[:3])
    np.testing.assert_array_equal(drawn(cr.FeatureSubset(0.6), study).points, study.X[:, expected])


def test_every_feature_is_as_likely():
    p, B = 10, 1000
    study = cr.Study(np.arange(2 * p, dtype=float).reshape(2, p) ** 1.5, "mainz")
    source = Source(cr.FeatureSubset(0.3), 5)
    firsts = np.concatenate([source.draw(study, b).points[0] for b in range(1, B + 1)])
    values, counts = np.unique(firsts, return_counts=True)
    assert len(firsts) == 3 * B
    assert values.tolist() == sorted(study.X[0])
    assert chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("fraction", [0, -0.5, 1.01, np.nan, True, "half", None])
def test_a_fraction_of_features_must_lie_above_0_and_at_most_at_1(fraction):
    with pytest.raises(ParameterError, match="fraction must be a number above 0 and at most 1, got"):
        cr.FeatureSubset(fraction)


# ---------------------------------------------------------------------------------------------------------------------
# noise


def test_noise_is_gaussian_in_units_of_the_features_deviation(study):
    """Number by number: scale × sample standard deviation, n − 1 in its denominator, × a standard normal number."""
    for scale in (0.1, 2, None):
        jitter = cr.Jitter() if scale is None else cr.Jitter(scale)
        draw = drawn(jitter, study)
        normal = np.random.default_rng(0).standard_normal((30, 5))
        for j in range(5):
            deviation = statistics.stdev(study.X[:, j].tolist())
            expected = study.X[:, j] + (scale or 0.5**0.5) * deviation * normal[:, j]
            np.testing.assert_allclose(draw.points[:, j], expected, rtol=1e-12)


def test_noise_in_the_datas_own_units(study):
    draw = drawn(cr.Jitter(0.25, relative=False), study)
    expected = study.X + 0.25 * np.random.default_rng(0).standard_normal((30, 5))
    np.testing.assert_allclose(draw.points, expected, rtol=1e-14)


def test_by_default_the_noise_has_half_the_variance_of_the_feature():
    """Section C.1: Ŝ²/2."""
    X = np.random.default_rng(2).normal(size=(20_000, 2)) * [1, 50]
    noise = drawn(cr.Jitter(), cr.Study(X, "mainz")).points - X
    np.testing.assert_allclose(noise.var(axis=0) / X.var(axis=0), 0.5, rtol=0.04)
    assert cr.Jitter().scale ** 2 == pytest.approx(0.5)
    for j, deviation in enumerate(X.std(axis=0, ddof=1)):
        assert kstest(noise[:, j] / (deviation * 0.5**0.5), "norm").pvalue > 1e-3
    correlations = [np.corrcoef(noise.T)[0, 1], np.corrcoef(noise[:-1, 0], noise[1:, 0])[0, 1]]
    assert np.abs(correlations).max() < 4 / np.sqrt(20_000)  # independent for every feature and every sample
    assert abs(np.corrcoef(noise[:, 0], X[:, 0])[0, 1]) < 4 / np.sqrt(20_000)


def test_all_samples_are_moved_and_all_are_drawn_once(study):
    draw = drawn(cr.Jitter(0.1), study)
    assert draw.order.tolist() == list(range(30))
    assert np.all(draw.points[:, :4] != study.X[:, :4])
    assert draw.originals is study.X


def test_a_constant_feature_stays_constant_unless_the_noise_is_absolute(study):
    assert np.all(drawn(cr.Jitter(), study).points[:, 4] == 7)
    assert len(np.unique(drawn(cr.Jitter(0.1, relative=False), study).points[:, 4])) == 30


def test_relative_noise_follows_a_change_of_units():
    X = np.random.default_rng(6).normal(size=(12, 2))
    units, shift = np.array([8.0, 0.125]), np.array([0.0, 4.0])
    moved = drawn(cr.Jitter(0.3), cr.Study(X, "mainz")).points
    rescaled = drawn(cr.Jitter(0.3), cr.Study(X * units + shift, "mainz")).points
    np.testing.assert_allclose(rescaled, moved * units + shift, rtol=1e-12)


def test_equal_samples_are_moved_apart():
    study = cr.Study([[1.0], [1.0], [2.0], [2.0]], "mainz")
    assert drawn(cr.Jitter(), study).n_distinct() == 4


def test_the_deviation_of_single_precision_is_computed_in_double(rng):
    """In single precision, the sum of so many large numbers loses more than they differ by."""
    X = (3000 + rng.normal(size=(100_000, 2))).astype(np.float32)
    noise = drawn(cr.Jitter(1.0), cr.Study(X, "mainz")).points.astype(float) - X
    normal = np.random.default_rng(0).standard_normal(X.shape)
    deviation = (noise * normal).sum(axis=0) / (normal**2).sum(axis=0)  # by least squares
    np.testing.assert_allclose(deviation, X.astype(float).std(axis=0, ddof=1), rtol=1e-4)
    assert not np.allclose(X.std(axis=0, ddof=1), X.astype(float).std(axis=0, ddof=1), rtol=1e-3)


@pytest.mark.parametrize("scale", [0, -1, np.nan, np.inf, True, "large", None])
def test_scale_must_be_a_number_above_0(scale):
    with pytest.raises(ParameterError, match="scale must be a number above 0, got"):
        cr.Jitter(scale)


@pytest.mark.parametrize("relative", [1, "yes", None])
def test_relative_must_be_a_flag(relative):
    with pytest.raises(ParameterError, match="relative must be True or False, got"):
        cr.Jitter(0.1, relative)


# ---------------------------------------------------------------------------------------------------------------------
# nothing


def test_a_rerun_draws_the_study_as_it_is(study):
    rng = np.random.default_rng(0)
    draw = cr.Rerun().draw(study, rng)
    assert draw.points is draw.originals is study.X
    assert draw.order.tolist() == list(range(30))
    assert rng.bit_generator.state == np.random.default_rng(0).bit_generator.state  # no random number was used


# ---------------------------------------------------------------------------------------------------------------------
# sums


def test_a_sum_makes_one_change_after_the_other(study):
    """By hand, with the same generator: first the rows, then the noise of all points."""
    rng = np.random.default_rng(0)
    rows = rng.permutation(30)[:24]
    noise = 0.1 * study.X.std(axis=0, ddof=1) * rng.standard_normal((30, 5))
    draw = drawn(cr.Subsample(0.8) + cr.Jitter(0.1), study)
    assert draw.order.tolist() == rows.tolist()
    np.testing.assert_allclose(draw.points, study.X + noise, rtol=1e-12)
    assert draw.originals is study.X


def test_the_order_of_a_sum_is_the_order_of_the_changes(study):
    rng = np.random.default_rng(0)
    noise = 0.1 * study.X.std(axis=0, ddof=1) * rng.standard_normal((30, 5))
    rows = rng.permutation(30)[:24]
    draw = drawn(cr.Jitter(0.1) + cr.Subsample(0.8), study)
    assert draw.order.tolist() == rows.tolist()
    np.testing.assert_allclose(draw.points, study.X + noise, rtol=1e-12)


@pytest.mark.parametrize("first", SINGLE, ids=repr)
def test_a_sum_begins_with_the_draw_of_its_first_part(first, study):
    alone, combined = drawn(first, study), drawn(first + cr.Jitter(0.1, relative=False), study)
    np.testing.assert_array_equal(combined.order, alone.order)
    np.testing.assert_array_equal(combined.originals, alone.originals)
    assert not np.array_equal(combined.points, alone.points)


@every
def test_doing_nothing_adds_nothing(perturbation, study):
    alone = drawn(perturbation, study)
    for combined in (cr.Rerun() + perturbation, perturbation + cr.Rerun()):
        draw = drawn(combined, study)
        for name in ("points", "order", "originals"):
            np.testing.assert_array_equal(getattr(draw, name), getattr(alone, name))
        assert (combined.keeps_points, combined.keeps_features) == (
            perturbation.keeps_points,
            perturbation.keeps_features,
        )


def test_sums_are_associative(study):
    a, b, c, d = cr.Bootstrap(), cr.FeatureSubset(0.5), cr.Jitter(0.1), cr.Subsample(0.5)
    sums = [((a + b) + c) + d, a + (b + (c + d)), (a + b) + (c + d), (a + (b + c)) + d]
    assert all(one == Combination((a, b, c, d)) for one in sums)
    assert len(set(sums)) == 1
    draws = [drawn(one, study) for one in sums]
    for draw in draws[1:]:
        np.testing.assert_array_equal(draw.sample, draws[0].sample)


def test_sums_read_as_they_are_written():
    both = cr.Subsample(0.8) + cr.Jitter(0.1)
    assert repr(both) == "Subsample(fraction=0.8) + Jitter(scale=0.1, relative=True)"
    assert repr(cr.Rerun() + both) == "Rerun() + Subsample(fraction=0.8) + Jitter(scale=0.1, relative=True)"
    assert both != cr.Jitter(0.1) + cr.Subsample(0.8)
    assert both != cr.Subsample(0.8) + cr.Jitter(0.2)


def test_a_sum_keeps_what_all_of_its_parts_keep():
    parts = [cr.Bootstrap(), cr.Subsample(0.5), cr.FeatureSubset(), cr.Jitter(), cr.Rerun()]
    keeps_points, keeps_features = {0, 1, 4}, {0, 1, 3, 4}
    assert {i for i, part in enumerate(parts) if part.keeps_points} == keeps_points
    assert {i for i, part in enumerate(parts) if part.keeps_features} == keeps_features
    for (i, one), (j, other) in itertools.product(enumerate(parts), repeat=2):
        assert (one + other).keeps_points == ({i, j} <= keeps_points)
        assert (one + other).keeps_features == ({i, j} <= keeps_features)
    assert not (parts[0] + parts[2] + parts[1]).keeps_features


def test_samples_drawn_twice_have_the_same_noise_twice(study):
    draw = drawn(cr.Bootstrap() + cr.Jitter(), study)
    assert draw.weights.max() > 1
    assert draw.order.tolist() == drawn(cr.Bootstrap(), study).order.tolist()
    twice = np.flatnonzero(draw.weights > 1)[0]
    copies = draw.sample[draw.order == twice]
    assert len(np.unique(copies, axis=0)) == 1
    assert draw.n_distinct() == np.count_nonzero(draw.weights)


def test_samples_are_drawn_from_those_drawn_before(study):
    rng = np.random.default_rng(0)
    first = rng.permutation(30)[:15]
    again = first[rng.integers(15, size=15)]
    assert drawn(cr.Subsample(0.5) + cr.Bootstrap(), study).order.tolist() == again.tolist()
    rng = np.random.default_rng(0)
    first = rng.integers(30, size=30)
    again = first[rng.permutation(30)[:15]]
    assert drawn(cr.Bootstrap() + cr.Subsample(0.5), study).order.tolist() == again.tolist()


def test_the_features_of_a_noisy_study(study):
    """Noise first: the features kept have it, and what they were without it is kept, too."""
    draw = drawn(cr.Jitter(0.1) + cr.FeatureSubset(0.6), study)
    rng = np.random.default_rng(0)
    noisy = study.X + 0.1 * study.X.std(axis=0, ddof=1) * rng.standard_normal((30, 5))
    kept = sorted(rng.permutation(5)[:3])
    np.testing.assert_allclose(draw.points, noisy[:, kept], rtol=1e-12)
    np.testing.assert_array_equal(draw.originals, study.X[:, kept])


def test_the_noise_of_some_features(study):
    """Features first: the noise has the scale of the features that are kept."""
    draw = drawn(cr.FeatureSubset(0.6) + cr.Jitter(0.1), study)
    rng = np.random.default_rng(0)
    kept = sorted(rng.permutation(5)[:3])
    noise = 0.1 * study.X[:, kept].std(axis=0, ddof=1) * rng.standard_normal((30, 3))
    np.testing.assert_allclose(draw.points, study.X[:, kept] + noise, rtol=1e-12)
    np.testing.assert_array_equal(draw.originals, study.X[:, kept])


def test_noise_twice_adds_variances_of_the_study_without_noise():
    X = np.random.default_rng(2).normal(size=(20_000, 1)) * 5
    noise = drawn(cr.Jitter(2.0) + cr.Jitter(3.0), cr.Study(X, "mainz")).points - X
    assert noise.var() / X.var() == pytest.approx(4 + 9, rel=0.05)  # with noise in the unit: 4 + 9 · 5


@pytest.mark.parametrize("other", [cr.Simulate(lambda study, rng: study.X), 0.1, "jitter", cr.Bootstrap, None])
def test_only_perturbations_can_be_added(other):
    with pytest.raises(TypeError, match="unsupported operand"):
        cr.Bootstrap() + other
    with pytest.raises(TypeError):
        other + cr.Bootstrap()


def test_a_perturbation_of_the_users_own_can_be_added(study):
    class Shift(Perturbation):
        def change(self, draw, rng):
            return Draw(draw.points + 1, draw.order, draw.originals)

    draw = drawn(cr.Subsample(0.5) + Shift(), study)
    np.testing.assert_array_equal(draw.points, study.X + 1)
    assert len(draw.order) == 15
    assert not (cr.Subsample(0.5) + Shift()).keeps_points  # nothing is presumed of it
    assert (cr.Subsample(0.5) + Shift()).keeps_features


def test_originals_of_other_draws_are_their_points(study):
    simulated = cr.Simulate(lambda study, rng: study.X + 1).draw(study, np.random.default_rng(0))
    for draw in (whole(study), simulated, drawn(cr.Subsample(0.5), study)):
        assert draw.originals is draw.points


# ---------------------------------------------------------------------------------------------------------------------
# as the resampling of runs


@pytest.fixture(scope="module")
def cloud():
    rng = np.random.default_rng(4)
    centres = np.array([[0, 0], [2.2, 0], [0, 2.2]])
    return {name: centres[np.arange(21) % 3] + 0.8 * rng.normal(size=(21, 2)) for name in ("one", "two")}


ALLOWED = [
    cr.Bootstrap(distinct=True),
    cr.Jitter(0.3),
    cr.Jitter(0.2, relative=False),
    cr.Subsample(0.8) + cr.Jitter(0.2),
    cr.Bootstrap() + cr.Jitter(0.2),
]
allowed = pytest.mark.parametrize("resampling", ALLOWED, ids=repr)
DETERMINISTIC = {
    "ward": AgglomerativeClustering(3),
    "single": AgglomerativeClustering(3, linkage="single"),
    "dbscan": DBSCAN(eps=0.8, min_samples=3),
    "birch": Birch(threshold=0.3, n_clusters=3),
    "given centres": KMeans(3, init=np.array([[0.0, 0], [2, 0], [0, 2]]), n_init=1, tol=0),
}


@allowed
@pytest.mark.parametrize("name", DETERMINISTIC)
def test_shortcuts_change_no_score(name, resampling, cloud):
    fast, plain = (
        configured(cr.replicability, accelerate=accelerate)(
            DETERMINISTIC[name], cloud, n_resamples=4, resampling=resampling, rng=5
        )
        for accelerate in (True, False)
    )
    np.testing.assert_allclose(fast.distribution, plain.distribution, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(fast.failed, plain.failed)
    assert len(np.unique(fast.distribution)) > 2


@allowed
def test_local_scores_are_the_same_without_shortcuts(resampling, cloud):
    fast, plain = (
        configured(cr.local_replicability, accelerate=accelerate)(
            AgglomerativeClustering(3),
            train=cloud["one"],
            test=cloud["two"],
            n_resamples=3,
            resampling=resampling,
            rng=5,
        )
        for accelerate in (True, False)
    )
    np.testing.assert_allclose(fast.distribution, plain.distribution, rtol=0, atol=1e-12)
    assert fast.distribution.shape == (3, 21)


@allowed
def test_what_is_clustered_is_the_draw(resampling, cloud):
    seen = []

    def halves(X):
        seen.append(X.tolist())
        return (X[:, 0] > 1).astype(int)

    cr.replicability(halves, cloud, n_resamples=2, resampling=resampling, rng=5, diagonal=False)
    studies, source = [cr.Study(X, name) for name, X in cloud.items()], Source(resampling, 5)
    expected = [source.draw(study, b).sample.tolist() for b in range(3) for study in studies]
    assert sorted(seen) == sorted(expected)


@allowed
def test_a_clustering_function_is_that_of_the_draw(resampling, cloud):
    result = cr.replicability(AgglomerativeClustering(3), cloud, n_resamples=2, resampling=resampling, rng=5)
    draw = Source(resampling, 5).draw(cr.Study(cloud["two"], "two"), 2)
    function, points = result.clustering_function("two", 1), cloud["one"]
    labels = AgglomerativeClustering(3).fit_predict(draw.sample)
    nearest = [min(range(len(draw.sample)), key=lambda i: np.sum((point - draw.sample[i]) ** 2)) for point in points]
    assert cr.adjusted_rand_index(function(points), labels[nearest]) == 1


@pytest.mark.parametrize("run", ["replicability", "compare", "local_replicability"])
@pytest.mark.parametrize("resampling", [cr.FeatureSubset(), cr.Subsample(0.5) + cr.FeatureSubset(0.5)], ids=repr)
def test_features_must_be_kept_across_studies(run, resampling, cloud):
    where = {"train": cloud["one"], "test": cloud["two"]} if run == "local_replicability" else {"studies": cloud}
    with pytest.raises(ParameterError, match=r"resampling must keep the features, got .*FeatureSubset\(") as caught:
        getattr(cr, run)(KMeans(2), **where, resampling=resampling)
    assert "stability(..., perturbation=FeatureSubset())" in str(caught.value)
    assert repr(resampling) in str(caught.value)


@pytest.mark.parametrize(
    ("perturbation", "n", "p", "nothing"),
    [
        (cr.Rerun(), 10, 5, True),
        (cr.Subsample(1.0), 10, 5, True),
        (cr.Subsample(0.99), 100, 5, False),
        (cr.Subsample(0.3), 2, 5, True),  # two samples at least
        (cr.Subsample(0.3), 3, 5, False),
        (cr.FeatureSubset(1.0), 10, 5, True),
        (cr.FeatureSubset(0.3), 10, 1, True),
        (cr.FeatureSubset(0.9), 10, 2, False),
        (cr.Bootstrap(), 10, 5, False),
        (cr.Bootstrap(distinct=True), 10, 5, False),
        (cr.Jitter(), 10, 5, False),
        (cr.Rerun() + cr.Subsample(1.0), 10, 5, True),
        (cr.Rerun() + cr.Subsample(0.5), 10, 5, False),
        (cr.Jitter(0.1) + cr.Subsample(1.0), 10, 5, False),
    ],
    ids=str,
)
def test_a_perturbation_knows_when_it_changes_nothing(perturbation, n, p, nothing, rng):
    assert perturbation.changes_nothing(n, p) is nothing
    study = cr.Study(rng.normal(size=(n, p)), "vdx")
    draws = [perturbation.draw(study, np.random.default_rng(i)) for i in range(20)]
    same = [
        draw.sample.shape == study.X.shape
        and np.array_equal(np.sort(draw.sample, axis=None), np.sort(study.X, axis=None))
        for draw in draws
    ]
    assert all(same) is nothing


@pytest.mark.parametrize("resampling", [cr.Jitter, cr.Rerun, "jitter"])
def test_resampling_must_be_an_object_that_draws(resampling, cloud):
    with pytest.raises(
        ParameterError, match=r"resampling must be .*Jitter\(scale\).*Subsample\(0.8\) \+ Jitter\(0.1\)"
    ):
        cr.replicability(KMeans(2), cloud, resampling=resampling)


@pytest.mark.parametrize("resampling", [*SINGLE[:3], *SINGLE[4:], *SUMS[:3]], ids=repr)
def test_whatever_keeps_features_can_be_a_resampling(resampling):
    assert check_resampling(resampling) is resampling


def test_a_rerun_of_a_clusterer_without_randomness_changes_nothing(cloud):
    result = cr.replicability(AgglomerativeClustering(3), cloud, n_resamples=3, resampling=cr.Rerun(), rng=5)
    np.testing.assert_array_equal(result.distribution, np.broadcast_to(result.estimate, (3, 2, 2)))
    assert np.diag(result.estimate).tolist() == [1, 1]
    assert 0 < result.estimate[0, 1] < 1


def test_a_rerun_of_a_random_clusterer_shows_its_randomness(cloud):
    result = configured(cr.replicability, accelerate=False)(
        KMeans(5, n_init=1, init="random"), cloud, n_resamples=5, resampling=cr.Rerun(), rng=5
    )
    assert len(np.unique(result.distribution[:, 0, 1])) > 1


@pytest.mark.parametrize("scale", [1e-9, 0.05])
def test_a_little_noise_does_nothing_to_clusters_that_lie_apart(scale, rng):
    far = {name: np.repeat([[0.0, 0], [50, 0]], 8, axis=0) + rng.normal(size=(16, 2)) for name in ("one", "two")}
    result = cr.replicability(KMeans(2, n_init=2), far, n_resamples=5, resampling=cr.Jitter(scale), rng=0)
    assert np.all(result.distribution == 1)


def test_more_noise_lowers_the_score(cloud):
    means = [
        cr.replicability(
            KMeans(3, n_init=3), cloud, n_resamples=15, resampling=cr.Jitter(scale), rng=0, diagonal=False
        ).mean[0, 1]
        for scale in (0.05, 1.0)
    ]
    assert means[0] > means[1] + 0.1


def test_known_labels_travel_with_noisy_samples():
    """Far too little noise to change a nearest neighbour."""
    studies = {"one": np.arange(8.0).reshape(8, 1), "two": np.arange(8.0).reshape(8, 1) + 0.1}
    labels = {"one": list("aaaabbbb"), "two": list("xxxxxyyy")}
    noisy, still = (
        cr.replicability(None, studies, labels=labels, n_resamples=4, resampling=resampling, rng=0)
        for resampling in (cr.Jitter(1e-6), cr.Rerun())
    )
    np.testing.assert_array_equal(noisy.distribution, still.distribution)
    assert 0 < still.estimate[0, 1] < 1


@allowed
def test_a_longer_run_begins_with_the_shorter_one_and_other_studies_do_not_matter(resampling, cloud, rng):
    three = {"zero": rng.normal(size=(9, 2)), **cloud}
    short, long, more = (
        cr.replicability(KMeans(3, n_init=1), studies, n_resamples=n, resampling=resampling, rng=5)
        for studies, n in ((cloud, 2), (cloud, 4), (three, 2))
    )
    np.testing.assert_array_equal(long.distribution[:2], short.distribution)
    np.testing.assert_array_equal(more.distribution[:, 1:, 1:], short.distribution)


def test_workers_change_nothing(cloud):
    options = {"n_resamples": 6, "resampling": cr.Subsample(0.8) + cr.Jitter(0.2), "rng": 5}
    plain, parallel = (cr.replicability(KMeans(3, n_init=1), cloud, n_jobs=n, **options) for n in (1, 2))
    np.testing.assert_array_equal(parallel.distribution, plain.distribution)


def test_a_saved_result_tells_where_replicates_came_from(cloud, tmp_path):
    result = cr.replicability(
        KMeans(2, n_init=1), cloud, n_resamples=2, resampling=cr.Bootstrap(distinct=True) + cr.Jitter(0.2), rng=5
    )
    result.save(tmp_path / "result.clustrep")
    back = cr.load(tmp_path / "result.clustrep")
    np.testing.assert_array_equal(back.distribution, result.distribution)
    assert back.provenance == result.provenance
    for part in ("Bootstrap(distinct=True)", "Jitter(scale=0.2, relative=True)"):
        assert part in back.provenance["resampling"]


def test_a_sum_is_written_in_a_result_as_users_write_it(cloud):
    resampling = cr.Subsample(0.8) + cr.Jitter(0.2)
    result = cr.replicability(KMeans(2, n_init=1), cloud, n_resamples=2, resampling=resampling, rng=5)
    assert result.provenance["resampling"] == repr(resampling)


# ---------------------------------------------------------------------------------------------------------------------
# more features than samples


WIDE = {
    name: 3 * np.random.default_rng(i).normal(size=(12, 200)) + np.arange(12)[:, None] % 3
    for i, name in enumerate(("one", "two"))
}


def rotations_of(resampling, clusterer):
    source = Source(resampling, 0)
    studies = tuple(cr.Studies(WIDE).values())
    return [path.rotation for path in Setting.prepare(source, studies, [Configuration("it", clusterer)]).paths]


@pytest.mark.parametrize(
    ("resampling", "rotates"),
    [
        (cr.Bootstrap(), True),
        (cr.Bootstrap(distinct=True), True),
        (cr.Rerun(), True),
        (cr.Subsample(0.8) + cr.Bootstrap(), True),
        (cr.Jitter(), False),
        (cr.Jitter(0.1, relative=False), False),
        (cr.Subsample(0.8) + cr.Jitter(), False),
        (cr.Jitter() + cr.Subsample(0.8), False),
        (cr.FeatureSubset(), False),
    ],
    ids=repr,
)
@pytest.mark.parametrize("clusterer", [KMeans(3, n_init=1), AgglomerativeClustering(3)], ids=["k-means", "ward"])
def test_noise_is_not_rotated(resampling, rotates, clusterer):
    assert [rotation is not None for rotation in rotations_of(resampling, clusterer)] == [rotates]


def test_what_is_not_known_to_keep_points_is_not_rotated():
    class Mine:
        def draw(self, study, rng):
            return whole(study)

    assert rotations_of(Mine(), AgglomerativeClustering(3)) == [None]


@pytest.mark.parametrize(
    "resampling", [cr.Jitter(0.5), cr.Subsample(0.8) + cr.Jitter(0.5), cr.Bootstrap(distinct=True)], ids=repr
)
@pytest.mark.parametrize("linkage", ["ward", "average"])
def test_scores_of_wide_studies_are_those_with_all_features(resampling, linkage):
    fast, plain = (
        configured(cr.replicability, accelerate=accelerate)(
            AgglomerativeClustering(3, linkage=linkage),
            WIDE,
            n_resamples=4,
            resampling=resampling,
            rng=5,
        )
        for accelerate in (True, False)
    )
    np.testing.assert_allclose(fast.distribution, plain.distribution, rtol=0, atol=1e-12)
    assert len(np.unique(fast.distribution)) > 3


# ---------------------------------------------------------------------------------------------------------------------
# fewer features and k-means


FEWER_FEATURES_IN_K_MEANS = (
    "KMeansPath.share tells KMeansSample the study's number of features, not that of the draw: "
    "sample.points.X.shape[1] is right"
)


def shared_by_k_means(perturbation, study):
    setting = Setting.prepare(Source(perturbation, 0), (study,), [Configuration("it", KMeans(2))])
    sample = setting.sample(0, 1)
    return sample.draw, setting.paths[0].share(sample)


@pytest.mark.parametrize(
    "perturbation",
    [
        cr.Subsample(0.8),
        cr.Bootstrap(),
        cr.Jitter(),
        cr.FeatureSubset(0.4),
    ],
    ids=repr,
)
def test_the_tolerance_of_k_means_is_relative_to_the_mean_variance_of_the_features_drawn(perturbation, study):
    draw, shared = shared_by_k_means(perturbation, study)
    assert shared.variance == pytest.approx(draw.sample.var(axis=0).mean(), rel=1e-12)


@pytest.mark.parametrize(
    "accelerate",
    [True, False],
)
def test_given_centres_do_not_fit_fewer_features(accelerate, rng):
    """Here the shortcut fails in words of its own; below 16 features or so, its kernel reads beyond the points."""
    X = rng.normal(size=(60, 40))
    clusterer = KMeans(2, init=X[:2], n_init=1)
    with pytest.raises(AllReplicatesFailed, match=r"init has 40 features|initial centers.*number of features"):
        configured(cr.stability, accelerate=accelerate)(
            clusterer,
            X,
            index="inclusion",
            perturbation=cr.FeatureSubset(0.5),
            n_resamples=2,
            rng=0,
        )
