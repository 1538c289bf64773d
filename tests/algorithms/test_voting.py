"""Neighbour voting: by hand on small cases, and against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, spearmanr
from tests.sentences import refused

import clustrep as cr
from clustrep.algorithms.voting import against_best, aurocs, profiles_of, votes_for
from clustrep.errors import DataError

PROFILES = np.array([[9.0, 7, 5, 3, 1, 0], [0.0, 1, 3, 5, 7, 9], [5.0, 9, 0, 9, 0, 5]])


def cells(seed, types):
    return PROFILES[types] + 2 * np.random.default_rng(seed).normal(size=(len(types), 6))


TYPES = {"a": np.array([0] * 6 + [1] * 5 + [2] * 4), "b": np.array([0] * 4 + [1] * 7 + [2] * 3)}
STUDIES = {name: cells(i, types) for i, (name, types) in enumerate(TYPES.items())}


def test_votes_are_shares_of_correlations():
    train, test = STUDIES["a"], STUDIES["b"]
    belongs = (TYPES["a"][:, None] == np.arange(3)).astype(float)
    votes = votes_for(profiles_of(test), profiles_of(train), belongs)
    for i in range(len(test)):
        r = np.array([spearmanr(test[i], cell).statistic for cell in train])
        for c in range(3):
            inside = TYPES["a"] == c
            expected = (inside.sum() + r[inside].sum()) / (len(train) + r.sum())
            assert votes[i, c] == pytest.approx(expected)


def test_auroc_is_the_chance_to_rank_higher():
    votes, codes = np.array([5.0, 3, 4, 3, 1, 0]), np.array([0, 0, 1, 1, 2, 2])
    # Of 2 × 4 pairs, the cells of cluster 0 win 4 + 2 and share one, as 3 = 3.
    assert aurocs(votes, codes, 3)[0] == (4 + 2 + 0.5) / 8
    for c in range(3):
        u = mannwhitneyu(votes[codes == c], votes[codes != c]).statistic
        assert aurocs(votes, codes, 3)[c] == pytest.approx(u / (2 * 4))


def test_the_best_meets_the_second_best():
    votes, codes = np.array([9.0, 8, 7, 7.5, 1, 2]), np.array([0, 0, 1, 1, 2, 2])
    np.testing.assert_array_equal(against_best(votes, codes, aurocs(votes, codes, 3)), [1.0, 0.0, np.nan])


def test_the_best_need_not_have_the_highest_score_against_the_rest():
    """Cluster 0 beats all of a large cluster 2, cluster 1 most of cluster 0."""
    votes = np.array([6.0, 6.1, 6.2, 9, 9.1, 5.15, 5.1, 5.2, 5.3, 5.4, 5.5, 5.6])
    codes = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
    rest = aurocs(votes, codes, 3)
    assert rest[0] == pytest.approx((3 + 18) / 27)  # wins 3 of 9 pairs with cluster 1, and all 18 with cluster 2
    assert rest[0] > rest[1] > rest[2]
    np.testing.assert_allclose(against_best(votes, codes, rest), [3 / 9, 6 / 9, np.nan])


def test_ties_are_halves():
    votes, codes = np.ones(4), np.array([0, 0, 1, 1])
    np.testing.assert_array_equal(against_best(votes, codes, aurocs(votes, codes, 2)), [0.5, 0.5])


def test_a_single_cluster_has_no_rest():
    assert np.isnan(aurocs(np.arange(3.0), np.zeros(3, dtype=int), 1)).all()
    assert np.isnan(against_best(np.arange(3.0), np.zeros(3, dtype=int), np.array([np.nan]))).all()


def test_every_type_finds_itself():
    names = {name: np.array(["T", "B", "NK"])[types] for name, types in TYPES.items()}
    frame = cr.cluster_auroc(STUDIES, names)
    assert len(frame) == 2 * 3 * 3
    best = frame.loc[frame.groupby(["train", "cluster"])["one_against_best"].idxmax()]
    assert (best["cluster"] == best["partner"]).all()
    assert (best["one_against_best"] >= 0.75).all()
    assert frame["one_against_best"].notna().sum() == 2 * 3 * 2
    sums = frame.groupby(["train", "cluster"])["one_against_best"].sum()
    np.testing.assert_allclose(sums, 1.0)


def test_labels_of_the_studies_and_what_is_refused():
    studies = cr.Studies([cr.Study(X, name, labels=TYPES[name]) for name, X in STUDIES.items()])
    assert cr.cluster_auroc(studies).equals(cr.cluster_auroc(STUDIES, TYPES))
    with refused(DataError):
        cr.cluster_auroc(STUDIES)
    with refused(DataError):
        cr.cluster_auroc({name: X[:, :2] for name, X in STUDIES.items()}, TYPES)


def test_ranks_alone_matter():
    same = {name: np.exp(X / 3) for name, X in STUDIES.items()}
    assert cr.cluster_auroc(same, TYPES).equals(cr.cluster_auroc(STUDIES, TYPES))
