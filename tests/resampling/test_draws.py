"""What perturbations draw, one by one and in sums."""

from __future__ import annotations

import itertools
import pickle
import statistics

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare, kstest
from tests.resampling.cases import SIMULATED, SINGLE, SUMS

import clustrep as cr
from clustrep.errors import ParameterError
from clustrep.fitting.resample import Source
from clustrep.resampling.strategies import Combination, Draw, Perturbation, check_perturbation, check_resampling, whole


def drawn(perturbation, study, seed=0):
    return perturbation.draw(study, np.random.default_rng(seed))


every = pytest.mark.parametrize("perturbation", [*SINGLE, *SUMS], ids=repr)
and_simulated = pytest.mark.parametrize("perturbation", [*SINGLE, *SUMS, SIMULATED], ids=lambda each: repr(each)[:40])


# ---------------------------------------------------------------------------------------------------------------------
# every one of them


@and_simulated
def test_sample_weights_and_order_are_three_views_of_one_draw(perturbation, study):
    draw = drawn(perturbation, study)
    assert draw.sample.tolist() == [draw.points[i].tolist() for i in draw.order]
    assert draw.weights.tolist() == [draw.order.tolist().count(i) for i in range(30)]
    assert len(draw.points) == len(draw.originals) == 30
    assert draw.points.shape == draw.originals.shape
    assert draw.n_distinct() == len({tuple(row) for row in draw.sample.tolist()})


@and_simulated
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
    assert np.array_equal(one.sample, other.sample) == (perturbation == cr.resampling.Rerun())


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
    names = {
        name: getattr(cr.resampling, name) for name in ("Bootstrap", "Subsample", "FeatureSubset", "Jitter", "Rerun")
    }
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


# ---------------------------------------------------------------------------------------------------------------------
# what is refused

BELOW_ONE = [0, -0.5, 1.01, np.nan, np.inf, True, "half", None]
NO_FLAGS = [0.8, 1, "yes", None]
WRONG = [
    *[
        (kind, {"fraction": value})
        for kind in (cr.resampling.Subsample, cr.resampling.FeatureSubset)
        for value in BELOW_ONE
    ],
    *[(cr.resampling.Bootstrap, {"distinct": value}) for value in NO_FLAGS],
    *[(cr.resampling.Jitter, {"relative": value}) for value in NO_FLAGS],
    *[(cr.resampling.Jitter, {"scale": value}) for value in (0, -1, np.nan, np.inf, True, "large", None)],
    *[(cr.resampling.Thin, {"eps": value}) for value in (0, 1, -0.5, "half")],
    *[(cr.resampling.Thin, {"overdispersion": value}) for value in (-1, "guess", np.nan, [[1.0]], None)],
    (cr.resampling.Simulate, {"sampler": np.zeros((3, 2))}),
    *[(check_perturbation, {"perturbation": value}) for value in (cr.resampling.Bootstrap, "jitter", None, SIMULATED)],
    *[(check_resampling, {"resampling": value}) for value in (cr.resampling.Bootstrap, "bootstrap", None, 0.8)],
]


@pytest.mark.parametrize(("kind", "given"), WRONG)
def test_what_is_wrong_is_refused_by_its_name(kind, given):
    with pytest.raises(ParameterError) as caught:
        kind(**given)
    assert caught.value.parameter in given


# ---------------------------------------------------------------------------------------------------------------------
# distinct samples


def test_a_distinct_bootstrap_is_the_bootstrap_with_every_sample_once(study):
    for seed in range(5):
        every_time, once = (
            drawn(cr.resampling.Bootstrap(), study, seed),
            drawn(cr.resampling.Bootstrap(distinct=True), study, seed),
        )
        assert once.order.tolist() == sorted(set(every_time.order.tolist()))
        assert once.weights.tolist() == [min(1, weight) for weight in every_time.weights]
        assert once.points is study.X


def test_about_63_percent_of_the_samples_are_distinct():
    n, B = 50, 2000
    study = cr.Study(np.arange(n, dtype=float).reshape(n, 1) ** 1.5, "mainz")
    source = Source(cr.resampling.Bootstrap(distinct=True), 1)
    weights = np.array([source.draw(study, b).weights for b in range(1, B + 1)])
    assert weights.max() == 1
    assert weights.mean() == pytest.approx(1 - (1 - 1 / n) ** n, abs=0.005)
    assert chisquare(weights.sum(axis=0)).pvalue > 1e-4


def test_equal_samples_are_told_apart():
    """Two patients with the same values are two patients."""
    study = cr.Study(np.full((8, 1), 0.5), "mainz")
    draw = drawn(cr.resampling.Bootstrap(distinct=True), study)
    assert len(draw.order) == len(set(drawn(cr.resampling.Bootstrap(), study).order.tolist())) > 1
    assert draw.n_distinct() == 1


# ---------------------------------------------------------------------------------------------------------------------
# fewer features


@pytest.mark.parametrize(
    ("p", "fraction", "kept"),
    [(5, 0.6, 3), (5, 0.79, 3), (5, 0.8, 4), (5, 1.0, 5), (5, 1, 5), (5, 0.01, 1), (1, 0.5, 1), (100, 0.29, 29)],
)
def test_a_fraction_of_the_features_is_kept_in_their_order(p, fraction, kept, rng):
    study = cr.Study(rng.normal(size=(6, p)), "mainz")
    draw = drawn(cr.resampling.FeatureSubset(fraction), study)
    assert draw.points.shape == (6, kept)
    places = [np.flatnonzero((column[:, None] == study.X).all(axis=0)).item() for column in draw.points.T]
    assert places == sorted(set(places))
    assert draw.order.tolist() == list(range(6))  # all samples, as they are
    assert draw.points.flags.c_contiguous


def test_features_are_those_of_the_permutation(study):
    expected = sorted(np.random.default_rng(0).permutation(5)[:3])
    np.testing.assert_array_equal(drawn(cr.resampling.FeatureSubset(0.6), study).points, study.X[:, expected])


def test_every_feature_is_as_likely():
    p, B = 10, 1000
    study = cr.Study(np.arange(2 * p, dtype=float).reshape(2, p) ** 1.5, "mainz")
    source = Source(cr.resampling.FeatureSubset(0.3), 5)
    firsts = np.concatenate([source.draw(study, b).points[0] for b in range(1, B + 1)])
    values, counts = np.unique(firsts, return_counts=True)
    assert len(firsts) == 3 * B
    assert values.tolist() == sorted(study.X[0])
    assert chisquare(counts).pvalue > 1e-4


# ---------------------------------------------------------------------------------------------------------------------
# noise


def test_noise_is_gaussian_in_units_of_the_features_deviation(study):
    """Number by number: scale × sample standard deviation, n − 1 in its denominator, × a standard normal number."""
    for scale in (0.1, 2, None):
        jitter = cr.resampling.Jitter() if scale is None else cr.resampling.Jitter(scale)
        draw = drawn(jitter, study)
        normal = np.random.default_rng(0).standard_normal((30, 5))
        for j in range(5):
            deviation = statistics.stdev(study.X[:, j].tolist())
            expected = study.X[:, j] + (scale or 0.5**0.5) * deviation * normal[:, j]
            np.testing.assert_allclose(draw.points[:, j], expected, rtol=1e-12)


def test_noise_in_the_datas_own_units(study):
    draw = drawn(cr.resampling.Jitter(0.25, relative=False), study)
    expected = study.X + 0.25 * np.random.default_rng(0).standard_normal((30, 5))
    np.testing.assert_allclose(draw.points, expected, rtol=1e-14)


def test_by_default_the_noise_has_half_the_variance_of_the_feature():
    """Section C.1: Ŝ²/2."""
    X = np.random.default_rng(2).normal(size=(20_000, 2)) * [1, 50]
    noise = drawn(cr.resampling.Jitter(), cr.Study(X, "mainz")).points - X
    np.testing.assert_allclose(noise.var(axis=0) / X.var(axis=0), 0.5, rtol=0.04)
    assert cr.resampling.Jitter().scale ** 2 == pytest.approx(0.5)
    for j, deviation in enumerate(X.std(axis=0, ddof=1)):
        assert kstest(noise[:, j] / (deviation * 0.5**0.5), "norm").pvalue > 1e-3
    correlations = [np.corrcoef(noise.T)[0, 1], np.corrcoef(noise[:-1, 0], noise[1:, 0])[0, 1]]
    assert np.abs(correlations).max() < 4 / np.sqrt(20_000)  # independent for every feature and every sample
    assert abs(np.corrcoef(noise[:, 0], X[:, 0])[0, 1]) < 4 / np.sqrt(20_000)


def test_all_samples_are_moved_and_all_are_drawn_once(study):
    draw = drawn(cr.resampling.Jitter(0.1), study)
    assert draw.order.tolist() == list(range(30))
    assert np.all(draw.points[:, :4] != study.X[:, :4])
    assert draw.originals is study.X


def test_a_constant_feature_stays_constant_unless_the_noise_is_absolute(study):
    assert np.all(drawn(cr.resampling.Jitter(), study).points[:, 4] == 7)
    assert len(np.unique(drawn(cr.resampling.Jitter(0.1, relative=False), study).points[:, 4])) == 30


def test_relative_noise_follows_a_change_of_units():
    X = np.random.default_rng(6).normal(size=(12, 2))
    units, shift = np.array([8.0, 0.125]), np.array([0.0, 4.0])
    moved = drawn(cr.resampling.Jitter(0.3), cr.Study(X, "mainz")).points
    rescaled = drawn(cr.resampling.Jitter(0.3), cr.Study(X * units + shift, "mainz")).points
    np.testing.assert_allclose(rescaled, moved * units + shift, rtol=1e-12)


def test_equal_samples_are_moved_apart():
    study = cr.Study([[1.0], [1.0], [2.0], [2.0]], "mainz")
    assert drawn(cr.resampling.Jitter(), study).n_distinct() == 4


def test_the_deviation_of_single_precision_is_computed_in_double(rng):
    """In single precision, the sum of so many large numbers loses more than they differ by."""
    X = (3000 + rng.normal(size=(100_000, 2))).astype(np.float32)
    noise = drawn(cr.resampling.Jitter(1.0), cr.Study(X, "mainz")).points.astype(float) - X
    normal = np.random.default_rng(0).standard_normal(X.shape)
    deviation = (noise * normal).sum(axis=0) / (normal**2).sum(axis=0)  # by least squares
    np.testing.assert_allclose(deviation, X.astype(float).std(axis=0, ddof=1), rtol=1e-4)
    assert not np.allclose(X.std(axis=0, ddof=1), X.astype(float).std(axis=0, ddof=1), rtol=1e-3)


# ---------------------------------------------------------------------------------------------------------------------
# nothing


def test_a_rerun_draws_the_study_as_it_is(study):
    rng = np.random.default_rng(0)
    draw = cr.resampling.Rerun().draw(study, rng)
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
    draw = drawn(cr.resampling.Subsample(0.8) + cr.resampling.Jitter(0.1), study)
    assert draw.order.tolist() == rows.tolist()
    np.testing.assert_allclose(draw.points, study.X + noise, rtol=1e-12)
    assert draw.originals is study.X


def test_the_order_of_a_sum_is_the_order_of_the_changes(study):
    rng = np.random.default_rng(0)
    noise = 0.1 * study.X.std(axis=0, ddof=1) * rng.standard_normal((30, 5))
    rows = rng.permutation(30)[:24]
    draw = drawn(cr.resampling.Jitter(0.1) + cr.resampling.Subsample(0.8), study)
    assert draw.order.tolist() == rows.tolist()
    np.testing.assert_allclose(draw.points, study.X + noise, rtol=1e-12)


@pytest.mark.parametrize("first", SINGLE, ids=repr)
def test_a_sum_begins_with_the_draw_of_its_first_part(first, study):
    alone, combined = drawn(first, study), drawn(first + cr.resampling.Jitter(0.1, relative=False), study)
    np.testing.assert_array_equal(combined.order, alone.order)
    np.testing.assert_array_equal(combined.originals, alone.originals)
    assert not np.array_equal(combined.points, alone.points)


@every
def test_doing_nothing_adds_nothing(perturbation, study):
    alone = drawn(perturbation, study)
    for combined in (cr.resampling.Rerun() + perturbation, perturbation + cr.resampling.Rerun()):
        draw = drawn(combined, study)
        for name in ("points", "order", "originals"):
            np.testing.assert_array_equal(getattr(draw, name), getattr(alone, name))
        assert (combined.keeps_points, combined.keeps_features) == (
            perturbation.keeps_points,
            perturbation.keeps_features,
        )


def test_sums_are_associative(study):
    a, b, c, d = (
        cr.resampling.Bootstrap(),
        cr.resampling.FeatureSubset(0.5),
        cr.resampling.Jitter(0.1),
        cr.resampling.Subsample(0.5),
    )
    sums = [((a + b) + c) + d, a + (b + (c + d)), (a + b) + (c + d), (a + (b + c)) + d]
    assert all(one == Combination((a, b, c, d)) for one in sums)
    assert len(set(sums)) == 1
    draws = [drawn(one, study) for one in sums]
    for draw in draws[1:]:
        np.testing.assert_array_equal(draw.sample, draws[0].sample)


def test_sums_read_as_they_are_written():
    both = cr.resampling.Subsample(0.8) + cr.resampling.Jitter(0.1)
    assert repr(both) == "Subsample(fraction=0.8) + Jitter(scale=0.1, relative=True)"
    assert repr(cr.resampling.Rerun() + both) == "Rerun() + Subsample(fraction=0.8) + Jitter(scale=0.1, relative=True)"
    assert both != cr.resampling.Jitter(0.1) + cr.resampling.Subsample(0.8)
    assert both != cr.resampling.Subsample(0.8) + cr.resampling.Jitter(0.2)


def test_a_sum_keeps_what_all_of_its_parts_keep():
    parts = [
        cr.resampling.Bootstrap(),
        cr.resampling.Subsample(0.5),
        cr.resampling.FeatureSubset(),
        cr.resampling.Jitter(),
        cr.resampling.Rerun(),
    ]
    keeps_points, keeps_features = {0, 1, 4}, {0, 1, 3, 4}
    assert {i for i, part in enumerate(parts) if part.keeps_points} == keeps_points
    assert {i for i, part in enumerate(parts) if part.keeps_features} == keeps_features
    for (i, one), (j, other) in itertools.product(enumerate(parts), repeat=2):
        assert (one + other).keeps_points == ({i, j} <= keeps_points)
        assert (one + other).keeps_features == ({i, j} <= keeps_features)
    assert not (parts[0] + parts[2] + parts[1]).keeps_features


def test_samples_drawn_twice_have_the_same_noise_twice(study):
    draw = drawn(cr.resampling.Bootstrap() + cr.resampling.Jitter(), study)
    assert draw.weights.max() > 1
    assert draw.order.tolist() == drawn(cr.resampling.Bootstrap(), study).order.tolist()
    twice = np.flatnonzero(draw.weights > 1)[0]
    copies = draw.sample[draw.order == twice]
    assert len(np.unique(copies, axis=0)) == 1
    assert draw.n_distinct() == np.count_nonzero(draw.weights)


def test_samples_are_drawn_from_those_drawn_before(study):
    rng = np.random.default_rng(0)
    first = rng.permutation(30)[:15]
    again = first[rng.integers(15, size=15)]
    assert drawn(cr.resampling.Subsample(0.5) + cr.resampling.Bootstrap(), study).order.tolist() == again.tolist()
    rng = np.random.default_rng(0)
    first = rng.integers(30, size=30)
    again = first[rng.permutation(30)[:15]]
    assert drawn(cr.resampling.Bootstrap() + cr.resampling.Subsample(0.5), study).order.tolist() == again.tolist()


def test_the_features_of_a_noisy_study(study):
    """Noise first: the features kept have it, and what they were without it is kept, too."""
    draw = drawn(cr.resampling.Jitter(0.1) + cr.resampling.FeatureSubset(0.6), study)
    rng = np.random.default_rng(0)
    noisy = study.X + 0.1 * study.X.std(axis=0, ddof=1) * rng.standard_normal((30, 5))
    kept = sorted(rng.permutation(5)[:3])
    np.testing.assert_allclose(draw.points, noisy[:, kept], rtol=1e-12)
    np.testing.assert_array_equal(draw.originals, study.X[:, kept])


def test_the_noise_of_some_features(study):
    """Features first: the noise has the scale of the features that are kept."""
    draw = drawn(cr.resampling.FeatureSubset(0.6) + cr.resampling.Jitter(0.1), study)
    rng = np.random.default_rng(0)
    kept = sorted(rng.permutation(5)[:3])
    noise = 0.1 * study.X[:, kept].std(axis=0, ddof=1) * rng.standard_normal((30, 3))
    np.testing.assert_allclose(draw.points, study.X[:, kept] + noise, rtol=1e-12)
    np.testing.assert_array_equal(draw.originals, study.X[:, kept])


def test_noise_twice_adds_variances_of_the_study_without_noise():
    X = np.random.default_rng(2).normal(size=(20_000, 1)) * 5
    noise = drawn(cr.resampling.Jitter(2.0) + cr.resampling.Jitter(3.0), cr.Study(X, "mainz")).points - X
    assert noise.var() / X.var() == pytest.approx(4 + 9, rel=0.05)  # with noise in the unit: 4 + 9 · 5


@pytest.mark.parametrize(
    "other", [cr.resampling.Simulate(lambda study, rng: study.X), 0.1, "jitter", cr.resampling.Bootstrap, None]
)
def test_only_perturbations_can_be_added(other):
    with pytest.raises(TypeError):
        cr.resampling.Bootstrap() + other
    with pytest.raises(TypeError):
        other + cr.resampling.Bootstrap()


def test_a_perturbation_of_the_users_own_can_be_added(study):
    class Shift(Perturbation):
        def change(self, draw, rng):
            return Draw(draw.points + 1, draw.order, draw.originals)

    draw = drawn(cr.resampling.Subsample(0.5) + Shift(), study)
    np.testing.assert_array_equal(draw.points, study.X + 1)
    assert len(draw.order) == 15
    assert not (cr.resampling.Subsample(0.5) + Shift()).keeps_points  # nothing is presumed of it
    assert (cr.resampling.Subsample(0.5) + Shift()).keeps_features


def test_originals_of_other_draws_are_their_points(study):
    simulated = cr.resampling.Simulate(lambda study, rng: study.X + 1).draw(study, np.random.default_rng(0))
    for draw in (whole(study), simulated, drawn(cr.resampling.Subsample(0.5), study)):
        assert draw.originals is draw.points
