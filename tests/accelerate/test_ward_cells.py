"""Landmarks for Ward's linkage: where its own first merges end."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering

import clustrep as cr
from clustrep.accelerate import landmarks as module
from clustrep.accelerate.landmarks import WARD, choice_of, divide, ward_cells
from clustrep.accelerate.trees import build_tree
from clustrep.fitting.parameters import Configuration
from clustrep.fitting.resample import PointSet, Source
from clustrep.fitting.setting import Setting
from clustrep.resampling.strategies import whole


def table(n, p, seed=0, apart=3.0):
    rng = np.random.default_rng(seed)
    return apart * np.eye(5, p)[rng.integers(5, size=n)] + rng.normal(size=(n, p))


def same_partition(u, v):
    return len(set(zip(u.tolist(), v.tolist(), strict=True))) == len(set(u.tolist())) == len(set(v.tolist()))


def test_in_one_piece_the_tree_of_the_landmarks_is_the_end_of_the_tree():
    X = table(900, 6)
    landmarks = ward_cells(X, 200, np.random.default_rng(1))
    tree = build_tree(PointSet(X), np.ones(900, np.int64), "ward")
    assert same_partition(landmarks.cells, tree.cut(200))
    draw = landmarks.draw(whole(cr.Study(X, "a")))
    rest = build_tree(PointSet(landmarks.X), draw.weights, "ward")
    for k in (2, 5, 50):
        assert same_partition(rest.cut(k)[landmarks.cells], tree.cut(k))


@pytest.mark.parametrize("dtype", [float, np.float32])
def test_in_many_pieces_every_landmark_is_the_mean_of_its_samples(monkeypatch, dtype):
    monkeypatch.setattr(module, "PIECE", 100)
    X = table(2000, 12).astype(dtype)
    landmarks = ward_cells(X, 60, np.random.default_rng(1))
    assert landmarks.X.dtype == dtype
    assert landmarks.X.shape == (60, 12)
    for cell in range(60):
        np.testing.assert_allclose(landmarks.X[cell], X[landmarks.cells == cell].mean(axis=0), rtol=0, atol=1e-5)


def test_pieces_hold_every_point_once_and_are_of_about_equal_size(monkeypatch):
    monkeypatch.setattr(module, "PIECE", 50)
    pieces = divide(table(777, 3), np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(np.concatenate(pieces)), np.arange(777))
    assert {len(piece) for piece in pieces} <= {48, 49}


def test_equal_samples_and_numbers_too_large_for_distances():
    X = np.repeat(np.arange(3.0)[:, None], 40, axis=0)
    assert np.bincount(ward_cells(X, 20, np.random.default_rng(0)).cells).sum() == 120
    huge = table(60, 2) * 1e200
    assert len(ward_cells(huge, 20, np.random.default_rng(0)).X) == 20


def test_they_are_for_ward_s_linkage_alone():
    studies = [cr.Study(table(60, 3, seed), name) for seed, name in enumerate("ab")]
    choices = {}
    for linkage in ("ward", "average", "complete", "single"):
        clusterer = AgglomerativeClustering(3, linkage=linkage)
        (learner,) = Setting.prepare(
            Source.of(cr.resampling.Bootstrap(), 0), studies, [Configuration("tree", clusterer)]
        ).learners
        choices[linkage] = choice_of(learner)
    assert choices == {"ward": WARD, "average": "cell means", "complete": "cell means", "single": "cell means"}


def differences(studies, *choices, size, k=5):
    """Return the differences of scores by landmarks to the exact ones, by choice."""
    options = {"n_resamples": 1, "resampling": cr.resampling.Subsample(0.2), "rng": 0, "diagonal": False}
    ward = AgglomerativeClustering(k)
    exact = cr.replicability(ward, studies, **options).estimate
    scores = []
    for choice in choices:
        with pytest.MonkeyPatch.context() as patch:
            if choice is not None:
                patch.setattr(module, "choice_of", lambda learner, choice=choice: choice)
            scores.append(cr.replicability(ward, studies, n_landmarks=size, **options).estimate)
    return [np.abs(score - exact)[[0, 1], [1, 0]].max() for score in scores]


def test_where_clusters_overlap_scores_are_nearer_than_by_other_means():
    studies = {name: table(3000, 30, seed, apart=3.5) for seed, name in enumerate("ab")}
    by_default, by_cells = differences(studies, None, "cell means", size=600)
    assert by_default < by_cells / 2


def test_scores_of_clear_clusters_are_within_a_hundredth_of_the_exact_ones():
    studies = {name: table(6000, 5, seed, apart=6.0) for seed, name in enumerate("ab")}
    assert differences(studies, None, size=600)[0] < 0.01
