from __future__ import annotations

import numpy as np
import pytest

from clustrep.execution.seeds import Stream, seed_of, seed_words, words_of
from clustrep.kernels import fit_batch, streams

ROOTS = (0, 1, 2**31, 2**32, 2**100 + 17, 2**128 - 1, 2**130 + 3)


def uniforms(words, shape):
    drawn = np.full(shape, np.nan)
    streams.fill_uniforms(np.array(words, np.uint32), drawn)
    return drawn


def integers(words, n):
    drawn = np.full(n, -1)
    streams.fill_integers(np.array(words, np.uint32), drawn)
    return drawn


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("key", [(), (0,), (7,), (1, 2, 3, 4, 5, 2**32 - 1, 0)])
def test_the_compiled_stream_is_numpys(root, key):
    seed = np.random.SeedSequence(root, spawn_key=key)
    expected = np.random.default_rng(seed).random((5, 201))
    np.testing.assert_array_equal(uniforms(words_of(seed), (5, 201)), expected)
    if not key:
        np.testing.assert_array_equal(uniforms(words_of(root), (5, 201)), expected)


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("n_clusters", [None, 3, 2**20])
def test_a_batch_is_seeded_as_single_fits_are(root, n_clusters):
    words = (*seed_words(root, Stream.SECOND_FIT, "study ü", 71), n_clusters or 0)
    seed = seed_of(root, Stream.SECOND_FIT, "study ü", 71, n_clusters)
    np.testing.assert_array_equal(uniforms(words, 100), np.random.default_rng(seed).random(100))
    assert words_of(seed) == words


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("n", [1, 2, 3, 64, 1_000, 60_000])
def test_compiled_draws_are_numpys(root, n):
    seeds = [seed_of(root, Stream.DRAW, "study", replicate) for replicate in range(1, 6)]
    expected = [np.random.default_rng(seed).integers(n, size=n) for seed in seeds]
    np.testing.assert_array_equal([integers(words_of(seed), n) for seed in seeds], expected)
    together, counts = np.full((2, 5, n), -1)
    fit_batch.draw_with_replacement(np.array([words_of(seed) for seed in seeds], np.uint32), together, counts)
    np.testing.assert_array_equal(together, expected)
    np.testing.assert_array_equal(counts, [np.bincount(order, minlength=n) for order in expected])


def test_entropy_of_several_numbers_is_refused():
    with pytest.raises(TypeError, match=r"one number here, got \[1, 2\]"):
        words_of(np.random.SeedSequence([1, 2]))


def test_the_stream_interpreted_is_numpys(monkeypatch):
    for name in [name for name, function in vars(streams).items() if hasattr(function, "py_func")]:
        monkeypatch.setattr(streams, name, getattr(streams, name).py_func)
    seed = np.random.SeedSequence(2**100, spawn_key=(5, 6))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(uniforms(words_of(seed), 20), np.random.default_rng(seed).random(20))
        np.testing.assert_array_equal(integers(words_of(seed), 20), np.random.default_rng(seed).integers(20, size=20))
