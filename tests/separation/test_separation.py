"""Groups whose density valleys are found again: the plain cases, and what must not change them."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import binomtest, multivariate_normal
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from tests.helpers import by_two

import clustrep as cr
from clustrep.errors import ParameterError
from clustrep.execution.seeds import Failed
from clustrep.separation.separation import choose, cut_of

KS = range(2, 7)
KMEANS = KMeans(n_init=3)
CORNERS = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])


def draw(rng, centres=CORNERS, n=80, weights=None):
    return centres[rng.choice(len(centres), n, p=weights)] + rng.normal(size=(n, centres.shape[1]))


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(3)
    return {name: draw(rng) for name in ("north", "south", "west")}


@pytest.fixture(scope="module")
def result(three):
    return cr.separation.density_valleys(KMEANS, three, n_clusters=KS, rng=0)


def test_three_groups_are_found(result):
    assert result.separated
    assert result.n_separated == 3
    assert result.overall_pvalue < 0.001
    assert "3 separated clusters" in str(result)


def test_the_groups_are_the_corners(three, result):
    X = np.concatenate(list(three.values()))
    nearest = ((X[:, None] - CORNERS) ** 2).sum(axis=-1).argmin(axis=1)
    assert cr.agreement.adjusted_rand_index(nearest, result.labels) > 0.95
    np.testing.assert_allclose(result.shares().sum(), 1)


def test_one_row_for_every_pair_with_its_counts(result):
    frame = result.to_frame()
    three_pieces = frame[frame["k"] == 3]
    assert len(three_pieces) in (2, 3)  # neighbours among three
    assert three_pieces["apart"].all()
    for row in three_pieces.itertuples():
        expected = binomtest(row.middle, row.middle + row.side, 0.5, alternative="less").pvalue
        assert row.pvalue == pytest.approx(expected)
        assert row.low <= row.depth <= row.high
        assert row.side <= max(row.left, row.right)
    np.testing.assert_allclose(result.adjusted, np.minimum(len(KS) * result.pvalue, 1))


def test_neither_workers_nor_the_order_of_studies_change_a_bit(three, result):
    with by_two():
        again = cr.separation.density_valleys(KMEANS, three, n_clusters=KS, rng=0)
    turned = cr.separation.density_valleys(KMEANS, dict(reversed(three.items())), n_clusters=KS, rng=0)
    for field in ("pvalue", "depth", "near_depth", "n_separated_by_k", "edge_pvalues", "edge_sides"):
        np.testing.assert_array_equal(getattr(again, field), getattr(result, field))
        np.testing.assert_array_equal(getattr(turned, field), getattr(result, field))
    np.testing.assert_array_equal(turned.edge_counts[:, ::-1], result.edge_counts)
    n = len(three["north"])
    np.testing.assert_array_equal(turned.labels[-n:], result.labels[:n])


def test_it_saves_and_loads(result, tmp_path):
    result.save(tmp_path / "density valleys.npz")
    loaded = cr.load(tmp_path / "density valleys.npz")
    assert repr(loaded) == repr(result)
    np.testing.assert_array_equal(loaded.positions, result.positions)


def test_it_is_drawn(result):
    axes = result.plot()
    assert sum(ax.axison for ax in axes.flat) == np.count_nonzero(result.edge_cut == result.chosen)
    with pytest.raises(ParameterError) as caught:
        result.plot(n_clusters=12)
    assert caught.value.parameter == "n_clusters"


def test_the_least_clear_valley_is_drawn_on_axes_that_are_given(result):
    ax = plt.figure().add_subplot()
    assert result.plot(ax) is ax
    frame = result.to_frame()
    k = result.n_clusters[result.chosen]
    assert f"p = {frame[frame['k'] == k]['pvalue'].max():.2g}" in ax.get_title()


@pytest.mark.parametrize("clusterer", [AgglomerativeClustering(), DBSCAN(eps=1.0)], ids=["ward", "dbscan"])
def test_any_clusterer(clusterer, three):
    found = cr.separation.density_valleys(clusterer, three, n_clusters=KS, rng=0)
    assert found.n_separated == 3
    assert len(found.n_clusters) == (1 if isinstance(clusterer, DBSCAN) else len(KS))


def test_a_clusterer_that_calls_everything_noise_finds_no_valley(three):
    result = cr.separation.density_valleys(DBSCAN(eps=1e-6), three, rng=0)
    assert not result.separated
    assert (result.n_separated, result.overall_pvalue) == (1, 1.0)


def test_a_study_may_lack_a_group():
    rng = np.random.default_rng(5)
    centres = np.array([[0.0] * 5, [6.0] + [0.0] * 4])
    shares = {"both": [0.5, 0.5], "first": [1, 0], "second": [0, 1]}
    studies = {name: draw(rng, centres, 120, weights) for name, weights in shares.items()}
    found = cr.separation.density_valleys(KMEANS, studies, n_clusters=KS, rng=0)
    assert found.n_separated == 2
    table = found.shares()
    assert (table["first"].max(), table["second"].max()) == (1, 1)
    assert table["both"].max() < 0.7


def test_a_shift_between_studies_is_no_valley():
    rng = np.random.default_rng(6)
    found = [
        cr.separation.density_valleys(
            KMEANS, [rng.normal(size=(60, 3)) + s * 3 for s in range(3)], n_clusters=KS, rng=i
        ).separated
        for i in range(5)
    ]
    assert not any(found)


KINDS = {
    "Gaussian": lambda rng, n: rng.normal(size=(n, 3)) * [4, 1, 1],
    "cube": lambda rng, n: rng.random((n, 3)),
    "exponential": lambda rng, n: rng.exponential(size=(n, 2)),
    "binary": lambda rng, n: (rng.random((n, 6)) < 0.4).astype(float),
    "t": lambda rng, n: rng.standard_t(3, size=(n, 3)),
    "counts": lambda rng, n: np.log1p(rng.poisson(3, size=(n, 5))),
    "half circle": lambda rng, n: (
        np.column_stack([f(np.pi * u) for u in [rng.random(n)] for f in (np.cos, np.sin)])
        + 0.08 * rng.normal(size=(n, 2))
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_data_in_one_piece_are_rarely_called_separated(kind):
    false = 0
    for i in range(12):
        rng = np.random.default_rng([11, i])
        studies = [KINDS[kind](rng, 60) for _ in range(3)]
        false += cr.separation.density_valleys(KMeans(n_init=2), studies, n_clusters=range(2, 6), rng=i).separated
    assert binomtest(false, 12, 0.05, alternative="greater").pvalue > 0.001


def test_two_groups_in_many_dimensions():
    rng = np.random.default_rng(8)
    centres = np.zeros((2, 100))
    centres[1, :25] = 1.0  # five standard deviations
    studies = [draw(rng, centres) for _ in range(3)]
    assert cr.separation.density_valleys(KMEANS, studies, n_clusters=range(2, 5), rng=0).n_separated == 2


def test_a_fit_that_fails_is_no_evidence():
    def fails_on_pools(X):
        if len(X) > 130:
            raise ValueError("too many")
        return np.arange(len(X)) % 2

    rng = np.random.default_rng(9)
    found = cr.separation.density_valleys(fails_on_pools, [draw(rng, n=60) for _ in range(3)], rng=0)
    assert found.n_separated == 1
    assert found.pvalue.tolist() == [1.0]


def test_strength_is_the_worst_share_of_pairs_that_other_studies_keep_together():
    rng = np.random.default_rng(3)
    centres = np.array([[0.0, 0.0], [7.0, 0.0], [0.0, 7.0]])
    tables = [rng.normal(size=(40, 2)) + centres[rng.integers(3, size=40)] for _ in range(3)]
    result = cr.separation.density_valleys(KMeans(n_init=5), tables, n_clusters=[3, 5], rng=0)
    pooled, study = np.concatenate(tables), np.repeat(np.arange(3), 40)
    for i, k in enumerate((3, 5)):
        pieces, kept, pairs = result.pieces[i], np.zeros(k), np.zeros(k)
        for h in range(3):
            fit = KMeans(k, n_init=50, random_state=0).fit(pooled[study != h])
            for piece in range(k):
                members = fit.predict(pooled[(study == h) & (pieces == piece)])
                same = members[:, None] == members
                pairs[piece] += len(members) * (len(members) - 1)
                kept[piece] += same.sum() - len(members)
        assert result.strength[i] == pytest.approx((kept / pairs).min())
    assert result.strength[0] > 0.95 > result.strength[1]


def test_the_cut_that_predicts_held_out_samples_best_is_chosen(result):
    assert result.chosen == np.argmax(result.evidence)
    assert (result.evidence[result.n_separated_by_k == 1] == -np.inf).all()


@pytest.mark.parametrize("p", [2, 20])
def test_evidence_is_the_mean_log_likelihood_of_held_out_samples(p):
    """With p over 15, features are independent within clusters."""
    rng = np.random.default_rng(5)
    centres = np.zeros((2, p))
    centres[1, 0] = 9.0
    label, study = rng.integers(2, size=120), np.repeat([0, 1], 60)
    X = (centres[label] + rng.normal(size=(120, p))) @ np.diag(np.linspace(1, 3, p))
    X[:, 1] += 0.8 * X[:, 0] - 0.8 * (centres[label])[:, 0]
    cut = cut_of(X, study, [label, label[study != 0], label[study != 1]], 1)
    total = 0.0
    for h in (0, 1):
        training, of_training = X[study != h], label[study != h]
        means = np.array([training[of_training == c].mean(axis=0) for c in (0, 1)])
        residuals = training - means[of_training]
        covariance = residuals.T @ residuals / (len(training) - 2)
        covariance += 1e-9 * np.diag(training.var(axis=0))
        off = covariance - np.diag(np.diag(covariance))
        covariance -= (0.1 if p <= 15 else 1.0) * off
        shares = np.bincount(of_training) / len(of_training)
        density = sum(
            share * multivariate_normal(mean, covariance).pdf(X[study == h])
            for share, mean in zip(shares, means, strict=True)
        )
        total += np.log(density).sum()
    assert cut.n_separated == 2
    assert cut.evidence == pytest.approx(total / 120 + p * np.log(2 * np.pi) / 2, rel=1e-6)


@pytest.mark.parametrize("varies_in", [(), ("west",)])
def test_features_that_do_not_vary_in_the_training_studies_decide_nothing(three, result, varies_in, rng):
    wide = {
        name: np.column_stack(
            [X, 0.1 + (0.1 * rng.normal(size=(len(X), 5)) if name in varies_in else np.zeros((len(X), 5)))]
        )
        for name, X in three.items()
    }
    with_constant = cr.separation.density_valleys(KMEANS, wide, n_clusters=KS, rng=0)
    assert with_constant.n_separated == result.n_separated


def test_a_clustering_that_failed_in_a_pool_is_the_last_choice_in_any_order(rng):
    """Its held-out samples have no likelihood; so they have where a pool is all noise."""
    label, study = np.tile(np.repeat([0, 1], 30), 3), np.repeat([0, 1, 2], 60)
    X = np.array([[0.0, 0], [8, 0]])[label] + rng.normal(size=(180, 2))
    pools = [label[study != h] for h in range(3)]
    whole, failed, noise = (
        cut_of(X, study, [label, first, *pools[1:]], 1) for first in (pools[0], Failed("no"), np.full(120, -1))
    )
    assert failed.n_separated == noise.n_separated == 2
    assert failed.evidence == noise.evidence == -np.inf
    assert choose([whole, failed, noise]) == 0
    assert choose([noise, failed, whole]) == 2
    assert choose([noise]) == choose([failed]) == 0


def test_pieces_are_joined_where_no_cut_into_fewer_was_tried():
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(80, 2)) + rng.integers(0, 2, 80)[:, None] * [9, 0] for _ in range(3)]
    assert cr.separation.density_valleys(KMeans(3, n_init=3), tables, rng=0).n_separated == 2
    assert cr.separation.density_valleys(KMeans(n_init=3), tables, n_clusters=[2, 3], rng=0).n_separated == 2


@pytest.mark.parametrize("seed", [2, 3, 5])
def test_a_poor_start_does_not_hide_the_valleys(seed):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(6, 60)) * 6 / np.sqrt(120)
    tables = [rng.normal(size=(60, 60)) + centres[rng.integers(6, size=60)] for _ in range(3)]
    assert cr.separation.density_valleys(KMeans(n_init=1), tables, n_clusters=range(2, 8), rng=0).n_separated == 6
