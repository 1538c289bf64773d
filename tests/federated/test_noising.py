"""Gaussian noise on means: how much of it, on what, and that nobody can draw it again."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

import clustrep as cr
from clustrep.federated.noising import bounded, most_functions, noisy_means


def test_rho_gives_back_epsilon():
    for epsilon, delta in ((0.5, 1e-6), (1.0, 1e-5), (10.0, 1e-3)):
        rho = cr.federated.GaussianNoise(epsilon, delta).rho
        assert rho + 2 * np.sqrt(rho * np.log(1 / delta)) == pytest.approx(epsilon)


def test_the_deviation_is_that_of_the_gaussian_mechanism():
    """ρ of one mean is Δ² / (2σ²); of all F together it is the ρ that (ε, δ) allow."""
    noise = cr.federated.GaussianNoise(epsilon=1.0, delta=1e-5, bound=3.0)
    sigma, sensitivity = float(noise.sd(25, 40.0)), 2 * 3.0 / 25
    assert 40 * sensitivity**2 / (2 * sigma**2) == pytest.approx(noise.rho)


def test_one_changed_sample_moves_a_mean_by_no_more_than_the_sensitivity(rng):
    """The bound holds for means of bounded samples, given the groups and the centre of all."""
    X = rng.normal(size=(50, 4)) * 10
    inside = bounded(X, 2.0)
    assert np.linalg.norm(inside - X.mean(axis=0), axis=1).max() <= 2.0 + 1e-12
    groups, weights, still = np.arange(50) % 5, np.ones(50, dtype=int), np.zeros(5)
    before = noisy_means(inside, groups, weights, 5, still, rng)
    changed = inside.copy()
    changed[0] = X.mean(axis=0) - (inside[0] - X.mean(axis=0)) / np.linalg.norm(inside[0] - X.mean(axis=0)) * 2.0
    after = noisy_means(changed, groups, weights, 5, still, rng)
    assert np.linalg.norm(after - before, axis=1).max() <= 2 * 2.0 / 10 + 1e-12
    np.testing.assert_allclose(before[0], inside[groups == 0].mean(axis=0))


def test_functions_are_counted_by_the_sample_that_takes_part_most():
    weights = [np.array([1, 1, 1]), np.array([2, 0, 1]), np.array([0, 1, 1])]
    assert most_functions(weights, 5) == 5 * (1 + 4 + 0)


def noisy_functions(rng, **options):
    X = rng.normal(size=(200, 2)) + 4 * rng.integers(0, 2, 200)[:, None]
    return cr.federated.learn(KMeans(2, n_init=3), cr.Study(X, "mainz"), n_resamples=3, rng=0, **options)


def test_noise_is_on_every_mean_and_is_new_every_time():
    plain = noisy_functions(np.random.default_rng(0))
    rule = cr.federated.Disclosure(noise=cr.federated.GaussianNoise(epsilon=5.0, bound=6.0))
    noisy, again = (noisy_functions(np.random.default_rng(0), disclosure=rule) for _ in range(2))
    centres = [file.shelves[0].arrays[0].stacked for file in (plain, noisy, again)]
    assert (centres[0] != centres[1]).all()
    assert (centres[1] != centres[2]).all()
    sd = float(cr.federated.GaussianNoise(epsilon=5.0, bound=6.0).sd(100, 4))
    assert 0.2 * sd < np.std(centres[1] - centres[0]) < 5 * sd
    assert "ε = 5, δ = 1e-05, samples bounded at 6" in repr(noisy)


def test_noise_is_for_means_alone(rng):
    rule = cr.federated.Disclosure(noise=cr.federated.GaussianNoise(epsilon=1.0))
    with pytest.raises(
        cr.errors.ParameterError, match="must be None for functions that are the most probable"
    ) as caught:
        cr.federated.learn(
            GaussianMixture(2), cr.Study(rng.normal(size=(60, 2)), "a"), n_resamples=2, rng=0, disclosure=rule
        )
    assert caught.value.parameter == "noise"


def test_exact_moments_do_not_leave_beside_noise(rng):
    rule, study = (
        cr.federated.Disclosure(noise=cr.federated.GaussianNoise(epsilon=1.0)),
        cr.Study(rng.normal(size=(60, 2)), "a"),
    )
    with pytest.raises(cr.errors.ParameterError, match="null must be None beside noise, got 'gaussian'") as caught:
        cr.federated.learn(KMeans(2), study, n_resamples=2, rng=0, disclosure=rule, null="gaussian", n_null=3)
    assert caught.value.parameter == "null"


@pytest.mark.parametrize(("options", "parameter"), [((0, 0.1), "epsilon"), ((1, 1), "delta"), ((1, 0.1, 0), "bound")])
def test_parameters_are_checked(options, parameter):
    with pytest.raises(cr.errors.ParameterError) as caught:
        cr.federated.GaussianNoise(*options)
    assert caught.value.parameter == parameter
