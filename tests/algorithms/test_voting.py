"""Neighbour voting: by hand on small cases, and against SciPy."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, spearmanr
from tests.sentences import refused

import clustrep as cr
from clustrep import metaneighbor
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


# ---------------------------------------------------------------------------------------------------------------------
# top hits, the matrix, variable genes


@pytest.fixture(scope="module")
def scores():
    return cr.cluster_auroc(STUDIES, TYPES)


def test_the_matrix_is_the_mean_of_both_directions(scores):
    matrix = metaneighbor.symmetric_auroc(scores)
    by_pair = scores.set_index(["train", "cluster", "test", "partner"])["one_against_rest"]
    for one in range(3):
        for other in range(3):
            expected = (by_pair["a", one, "b", other] + by_pair["b", other, "a", one]) / 2
            assert matrix.loc[("a", one), ("b", other)] == matrix.loc[("b", other), ("a", one)] == expected
    assert np.isnan(matrix.loc["a", "a"]).all(axis=None)


def test_top_hits_are_the_same_types(scores):
    hits = metaneighbor.top_hits(scores)
    assert hits["reciprocal"].all()
    assert sorted(zip(hits["cluster"], hits["other_cluster"], strict=True)) == [(0, 0), (1, 1), (2, 2)]
    assert (hits["study"] != hits["other_study"]).all()
    assert (np.diff(hits["auroc"]) <= 0).all()


def test_a_hit_that_is_not_returned_needs_the_threshold():
    """Two types of a study have the same partner in the other, which has the better one of them."""
    labels = {"a": TYPES["a"], "b": np.where(TYPES["b"] == 2, 0, TYPES["b"])}
    scores = cr.cluster_auroc(STUDIES, labels)
    one_sided = metaneighbor.top_hits(scores, 0.01)
    assert one_sided["reciprocal"].sum() == 2
    assert len(one_sided) == 3
    least = one_sided.loc[~one_sided["reciprocal"], "auroc"].item()
    assert len(metaneighbor.top_hits(scores, min(1.0, least + 0.001))) == 2


def test_the_heat_map_has_all_clusters(scores):
    ax = metaneighbor.plot_auroc(scores)
    names = {label.get_text() for label in ax.get_yticklabels()}
    assert names == {f"{study} | {cluster}" for study in "ab" for cluster in range(3)}


def test_variable_genes_vary_in_every_study():
    rng = np.random.default_rng(0)
    level, n = np.arange(100.0), 400
    spread = {"a": np.where(np.arange(100) % 5 == 0, 9.0, 1.0), "b": np.where(np.arange(100) % 10 == 0, 9.0, 1.0)}
    studies = {name: 200 + 50 * level + rng.normal(size=(n, 100)) * of for name, of in spread.items()}
    genes = metaneighbor.variable_genes(studies)
    assert {f"{j + 1}" for j in range(10, 90, 10)} <= set(genes)  # variable in both
    assert not {f"{j + 1}" for j in range(91, 100)} & set(genes)  # the highest tenth is left out


def hazen(values, q):
    """R's quantile of type 5, in whole tenths."""
    ordered, place = sorted(values), Fraction(q) * len(values) + Fraction(1, 2)
    j = int(place)
    return (
        min(
            max(
                ordered[0],
                ordered[min(j, len(values)) - 1]
                + float(place - j) * (ordered[min(j + 1, len(values)) - 1] - ordered[min(j, len(values)) - 1]),
            ),
            ordered[-1],
        )
        if j
        else ordered[0]
    )


@pytest.mark.parametrize("n_genes", [45, 60, 203])
def test_variable_genes_by_brute_force(n_genes):
    """The loop of MetaNeighbor's R code: bins by median, with ties; the top quarter by variance; not the last."""
    rng = np.random.default_rng(n_genes)
    rates = rng.gamma(0.7, 4.0, size=n_genes)
    studies = {name: rng.poisson(rates * rng.gamma(2.0, 0.5, size=(30, n_genes))).astype(float) for name in "abc"}
    chosen = []
    for X in studies.values():
        medians = [float(np.median(X[:, j])) for j in range(n_genes)]
        variances = [float(np.var(X[:, j], ddof=1)) for j in range(n_genes)]
        edges = sorted({hazen(medians, Fraction(i, 10)) for i in range(11)})
        high = set()
        for i in range(len(edges) - 1):
            inside = [j for j in range(n_genes) if medians[j] <= edges[i] and (i == 0 or medians[j] > edges[i - 1])]
            if inside:
                ordered = sorted(variances[j] for j in inside)
                place = 0.75 * (len(ordered) - 1)  # type 7
                below = int(place)
                limit = ordered[below] + (place - below) * (ordered[min(below + 1, len(ordered) - 1)] - ordered[below])
                high |= {j for j in inside if variances[j] > limit}
        chosen.append(high)
    expected = sorted(set.intersection(*chosen))
    assert expected
    assert metaneighbor.variable_genes(studies) == [str(j + 1) for j in expected]


def test_without_variable_genes_the_remedy_is_told():
    with pytest.raises(DataError):
        metaneighbor.variable_genes({name: np.ones((5, 4)) for name in "ab"})
