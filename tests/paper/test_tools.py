"""What the experiments measure with, on small cases."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from paper.a3.runs import COMPONENTS, component_chances
from paper.common import make_rng
from paper.fig1.runs import gaps, tree_scores
from paper.fig3.runs import PUBLISHED, WRITTEN
from paper.fig5.runs import pam50_cohorts, read_cohorts
from paper.fig6.runs import named
from paper.spurious import share_of_pairs


def test_gaps_within_and_between_classes():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [0.0, 5.0], [0.5, 5.0]])
    assert gaps(X, np.array([0, 0, 0, 1, 1])) == pytest.approx((2.0, 5.0))


def test_trees_of_the_test_half_always_have_two_clusters():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 20])
    ari = tree_scores(X, X, (2, 3), 3, 0)[0]  # (k, resample)
    assert (ari[0] == 1).all()
    assert (ari[1] < 1).all()


def test_fig3_as_published_is_scored_at_the_test_means():
    assert PUBLISHED.points.to_numpy().tolist() == [[-2.0, -2.0], [0.0, 2.0], [-1.25, 0.75]]
    assert PUBLISHED.mean("B", "train") == (1.0, 2.0)
    assert WRITTEN.points.to_numpy().tolist() == [[-2.0, -2.0], [0.0, 2.0], [2.0, -2.0]]


def test_chances_of_components_are_those_of_draws():
    n, rng = 20000, np.random.default_rng(1)
    train, test = (
        np.array([np.bincount(row, minlength=COMPONENTS) > 0 for row in rng.integers(COMPONENTS, size=(n, 50))])
        for _ in range(2)
    )
    chance = component_chances(50).more
    drawn = (train & ~test).any(axis=1).mean()
    assert drawn == pytest.approx(chance, abs=4 * np.sqrt(chance * (1 - chance) / n))
    assert component_chances(2).more == pytest.approx(1 - 1 / 25 * 49 / 625 - 24 / 25 * 2 / 625)


def test_share_of_pairs_by_hand():
    """Two spurious and two real clusters of one k: three of four pairs; then one pair of another k, tied."""
    first, second = np.array([1.0, 3.0, 0.0, 2.0]), np.array([5.0, 5.0])
    flags = [np.array([True, True, False, False]), np.array([True, False])]
    assert share_of_pairs([first], flags[:1]) == pytest.approx(0.75)
    assert share_of_pairs([first, second], flags) == pytest.approx((3 + 0.5) / 5)


def test_any_cohorts_by_genes_tables_are_read(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    for name in ("one_x", "two_x", "three_x", "four_x"):
        frame = pd.DataFrame(
            rng.normal(5, 2, size=(8, 3)), columns=["A", "B", "C"], index=[f"{name}{i}" for i in range(8)]
        )
        frame.assign(subtype=["Basal", "LumA"] * 4).to_csv(tmp_path / f"{name}.csv", index_label="patient")
    studies = read_cohorts(sorted(tmp_path.glob("*.csv")))
    assert sorted(studies.names) == ["four", "one", "three", "two"]
    assert studies["one"].X.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert studies["one"].X.std(axis=0) == pytest.approx(1)
    assert studies["one"].labels[:2].tolist() == ["Basal", "LumA"]
    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))
    assert pam50_cohorts() == {}


def test_clusters_are_named_after_the_four_subtypes_alone():
    known = np.array(["Basal"] * 4 + ["Normal"] * 6 + ["LumA"] * 3)
    clusters = np.array([0] * 4 + [1] * 6 + [2] * 3)
    assert named(known, clusters).tolist() == ["Basal"] * 4 + ["cluster 1"] * 6 + ["LumA"] * 3


def test_streams_are_apart():
    assert make_rng(2, 500).random() != make_rng(5, 200).random()
    assert make_rng(2, 500).random() == make_rng(2, 500).random()
