"""Counts divided into independent halves, against theory; and what replicability makes of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import betabinom, binom, chisquare
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

import clustrep as cr
from clustrep.errors import DataError, ParameterError
from clustrep.fitting.resample import Source

N = 40_000


def poisson(mean, seed=0, shape=(N, 1)):
    return np.random.default_rng(seed).poisson(mean, size=shape).astype(float)


def negative_binomial(mean, alpha, seed=0, shape=(N, 1)):
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(1 / alpha, alpha * mean, size=shape)).astype(float)


def correlation_of(halves):
    return np.corrcoef(halves[0].ravel(), halves[1].ravel())[0, 1]


# Five standard errors of a correlation of 0.
BOUND = 5 / np.sqrt(N)


@pytest.mark.parametrize(
    "thin",
    [cr.resampling.Thin(), cr.resampling.Thin(0.3), cr.resampling.Thin(0.5, 0.7), cr.resampling.Thin(0.5, "estimate")],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_halves_are_counts_that_add_up(thin, dtype):
    X = negative_binomial(3, 0.5, shape=(50, 7)).astype(dtype)
    train, test = thin.halves_of(X, np.random.default_rng(0))
    np.testing.assert_array_equal(train + test, X)
    for half in (train, test):
        assert half.dtype == dtype
        assert half.min() >= 0
        np.testing.assert_array_equal(half, np.rint(half))


@pytest.mark.parametrize("eps", [0.5, 0.2])
def test_halves_of_poisson_counts_are_poisson_and_uncorrelated(eps):
    train, test = cr.resampling.Thin(eps).halves_of(poisson(5.0), np.random.default_rng(1))
    assert abs(correlation_of((train, test))) < BOUND
    for half, share in ((train, eps), (test, 1 - eps)):
        mean = 5 * share
        assert half.mean() == pytest.approx(mean, abs=5 * np.sqrt(mean / N))
        # The variance of the sample variance of Poisson counts is about (2μ² + μ) / n.
        assert half.var() == pytest.approx(mean, abs=5 * np.sqrt((2 * mean**2 + mean) / N))


def test_the_training_half_of_a_count_is_binomial():
    train, _ = cr.resampling.Thin(0.3).halves_of(np.full((N, 1), 6.0), np.random.default_rng(2))
    observed = np.bincount(train.ravel().astype(int), minlength=7)
    assert chisquare(observed, N * binom.pmf(np.arange(7), 6, 0.3)).pvalue > 1e-4


def test_the_training_half_of_an_overdispersed_count_is_beta_binomial():
    train, _ = cr.resampling.Thin(0.3, overdispersion=0.5).halves_of(np.full((N, 1), 6.0), np.random.default_rng(3))
    observed = np.bincount(train.ravel().astype(int), minlength=7)
    assert chisquare(observed, N * betabinom.pmf(np.arange(7), 6, 0.3 / 0.5, 0.7 / 0.5)).pvalue > 1e-4


@pytest.mark.parametrize("overdispersion", [0.5, (0.5,)])
def test_halves_of_negative_binomial_counts_are_uncorrelated_with_the_right_variance(overdispersion):
    X = negative_binomial(4.0, 0.5)
    train, test = cr.resampling.Thin(0.5, overdispersion).halves_of(X, np.random.default_rng(4))
    assert abs(correlation_of((train, test))) < BOUND
    # A half has size eps / α, so its variance is m + (α / eps) m² with mean m = eps μ = 2.
    for half in (train, test):
        assert half.mean() == pytest.approx(2.0, abs=5 * np.sqrt(6 / N))
        assert half.var() == pytest.approx(2 + 1.0 * 4, rel=0.06)


def test_poisson_thinning_of_overdispersed_counts_leaves_the_correlation_of_theory():
    """Cov = eps (1 − eps) (variance − mean): positive where counts vary more than Poisson ones."""
    X = negative_binomial(4.0, 0.5)
    train, test = cr.resampling.Thin(0.5).halves_of(X, np.random.default_rng(5))
    expected = 0.25 * (4 + 0.5 * 16 - 4)
    assert np.cov(train.ravel(), test.ravel())[0, 1] == pytest.approx(expected, rel=0.15)


def test_an_estimated_overdispersion_is_near_the_true_one():
    X = negative_binomial(4.0, 0.5)
    assert abs(correlation_of(cr.resampling.Thin(0.5, "estimate").halves_of(X, np.random.default_rng(6)))) < 2 * BOUND
    by_hand = (X.var(ddof=1) - X.mean()) / X.mean() ** 2
    np.testing.assert_allclose(cr.resampling.Thin(0.5, "estimate")._overdispersion_of(X, "X"), [by_hand])


def test_features_have_their_own_overdispersion():
    X = np.full((N, 2), 6.0)
    train, _ = cr.resampling.Thin(0.5, (0.0, 1.0)).halves_of(X, np.random.default_rng(7))
    binomial, beta_binomial = train.var(axis=0)
    assert binomial == pytest.approx(1.5, rel=0.05)
    assert beta_binomial == pytest.approx(betabinom.var(6, 0.5, 0.5), rel=0.05)


def test_both_draws_of_a_replicate_are_the_halves_of_one_division():
    study = cr.Study(poisson(5, shape=(30, 4)), "lab")
    source = Source.of(cr.resampling.Thin(0.4), 0)
    first, second = source.draw(study, 1), source.draw(study, 1, second=True)
    np.testing.assert_array_equal(first.points + second.points, study.X)
    assert second.points.sum() / study.X.sum() == pytest.approx(0.4, abs=0.1)
    assert not np.array_equal(first.points, source.draw(study, 2).points)


def test_halves_of_a_bootstrap_draw_have_the_same_samples():
    study = cr.Study(poisson(5, shape=(30, 4)), "lab")
    source = Source.of(cr.resampling.Bootstrap() + cr.resampling.Thin(), 0)
    first, second = source.draw(study, 1), source.draw(study, 1, second=True)
    np.testing.assert_array_equal(first.order, second.order)
    np.testing.assert_array_equal(first.points + second.points, study.X)


def test_noise_that_is_added_to_halves_is_independent():
    study = cr.Study(np.zeros((400, 5)), "lab")
    source = Source.of(cr.resampling.Thin() + cr.resampling.Jitter(1.0, relative=False) + cr.resampling.Bootstrap(), 0)
    first, second = source.draw(study, 1), source.draw(study, 1, second=True)
    assert abs(correlation_of((first.points, second.points))) < 5 / np.sqrt(first.points.size)
    np.testing.assert_array_equal(first.order, second.order)


def test_without_thinning_second_draws_stay_independent_draws():
    study = cr.Study(poisson(5, shape=(30, 4)), "lab")
    source = Source.of(cr.resampling.Bootstrap(), 0)
    assert not np.array_equal(source.draw(study, 1).order, source.draw(study, 1, second=True).order)


def test_the_diagonal_compares_the_halves():
    """On data without clusters, clusters of resamples of the same cells agree, those of independent halves do not."""
    X = poisson(3, shape=(300, 5))
    embed = cr.TrainEmbedding(n_components=2, normalise="log1p")
    clusterer, options = make_pipeline(embed, KMeans(3, n_init=3)), {"n_resamples": 8, "rng": 0}
    studies = {"a": X, "b": poisson(3, seed=1, shape=(300, 5))}
    naive = cr.replicability(clusterer, studies, resampling=cr.resampling.Subsample(0.9), **options)
    thinned = cr.replicability(clusterer, studies, resampling=cr.resampling.Thin(), **options)
    assert np.diag(naive.mean).mean() > 0.25
    assert abs(np.diag(thinned.mean)).mean() < 0.02


def test_the_diagonal_by_hand():
    """The same samples, clustered by either half."""
    centres = np.random.default_rng(3).gamma(2.0, 5.0, size=(3, 6))
    rng = np.random.default_rng(4)
    studies = cr.Studies({name: rng.poisson(centres[rng.integers(3, size=60)]).astype(float) for name in "ab"})
    result = cr.replicability(
        AgglomerativeClustering(3), studies, n_resamples=2, rng=0, resampling=cr.resampling.Thin(0.4)
    )
    source = Source.of(cr.resampling.Thin(0.4), 0)
    for b in (0, 1):
        halves = [source.draw(studies["b"], b + 1, second=second).points for second in (False, True)]
        labels = [AgglomerativeClustering(3).fit_predict(half) for half in halves]
        assert result.distribution[b, 1, 1] == pytest.approx(adjusted_rand_score(*labels), abs=1e-12)


def test_local_scores_of_a_study_on_itself_are_refused():
    study = cr.Study(poisson(5, shape=(30, 4)), "lab")
    with pytest.raises(ParameterError) as caught:
        cr.local_replicability(
            KMeans(2, n_init=1), train=study, test=study, n_resamples=2, resampling=cr.resampling.Thin(0.9)
        )
    assert caught.value.parameter == "resampling"


def test_one_study_becomes_two():
    frame = cr.Study(poisson(5, shape=(20, 3)), "lab", samples=[f"c{i}" for i in range(20)], labels=["x", "y"] * 10)
    halves = cr.resampling.Thin(0.5).split(frame, rng=0)
    assert halves.names == ("train", "test")
    np.testing.assert_array_equal(halves["train"].X + halves["test"].X, frame.X)
    assert halves["test"].labels.tolist() == frame.labels.tolist()
    again = cr.resampling.Thin(0.5).split(frame, rng=0)
    np.testing.assert_array_equal(halves["test"].X, again["test"].X)


def test_it_is_a_perturbation_of_one_study():
    X = np.concatenate([poisson(5, shape=(40, 3)), poisson(40, shape=(40, 3))])
    result = cr.stability.stability(KMeans(2, n_init=2), X, perturbation=cr.resampling.Thin(0.5), n_resamples=5, rng=0)
    assert result.overall > 0.5


def test_written_as_it_was_asked_for():
    assert repr(cr.resampling.Thin(0.3)) == "Thin(eps=0.3)"
    assert repr(cr.resampling.Thin(0.5, [1, 2])) == "Thin(eps=0.5, overdispersion=(1.0, 2.0))"
    assert cr.resampling.Thin(0.5, np.array([1.0, 2.0])) == cr.resampling.Thin(0.5, (1.0, 2.0))


@pytest.mark.parametrize("value", [0.5, -1.0])
def test_other_numbers_are_refused_with_a_remedy(value):
    X = poisson(5, shape=(10, 3))
    X[2, 1] = value
    with pytest.raises(DataError):
        cr.resampling.Thin().draw(cr.Study(X, "lab"), np.random.default_rng(0))


def test_a_wrong_number_of_overdispersions_is_refused():
    with pytest.raises(DataError):
        cr.resampling.Thin(0.5, (1.0, 2.0)).halves_of(poisson(5, shape=(4, 3)), np.random.default_rng(0))
