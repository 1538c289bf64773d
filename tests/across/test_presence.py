"""Each cluster of each study in every other study: present, absent, split, merged, new."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.cluster import DBSCAN, KMeans

import clustrep as cr
from clustrep.across.likeness import (
    BORROWED,
    LIKE,
    SMALL_SHARE,
    Clusters,
    Shift,
    count_strays,
    distances,
    find_shift,
    is_rare,
    links,
    mutual_pairs,
    same_in_cut,
    with_groups,
    word_of,
)
from clustrep.across.own_groups import (
    TYPICAL_GAP,
    cross_fitted_positions,
    cut_with_gaps,
    log_odds_of_filled,
    many_outside,
    windows_of,
)
from clustrep.across.presence import is_repeated, presence
from clustrep.errors import ParameterError
from clustrep.results.presence_words import share_interval

CORNERS = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
KMEANS = KMeans(n_init=3)


def drawn(rng, centres, labels, p=2):
    """Round clusters at the first features' centres."""
    return rng.normal(size=(len(labels), p)) + np.pad(np.asarray(centres)[labels], ((0, 0), (0, p - 2)))


def words(studies, k=3, rng=0, **options):
    """The words of all clusters, and the pairs of studies with new samples."""
    groups = cr.separation(KMEANS, studies, n_clusters=range(2, 6), rng=rng)
    result = presence(KMEANS, studies, groups, n_clusters=k, rng=rng, **options)
    frame = result.to_frame()
    new = {(row.train, row.test): row.n_like for row in frame[frame["word"] == "new"].itertuples()}
    return result, frame[frame["word"] != "new"], new


@pytest.fixture(scope="module")
def lacking():
    """Three studies; the third lacks the last of three clusters."""
    rng = np.random.default_rng(1)
    return {
        "a": drawn(rng, CORNERS, np.repeat([0, 1, 2], [30, 25, 25])),
        "b": drawn(rng, CORNERS, np.repeat([0, 1, 2], [25, 30, 25])),
        "c": drawn(rng, CORNERS, np.repeat([0, 1], [40, 40])),
    }


@pytest.fixture(scope="module")
def of_lacking(lacking):
    return words(lacking)


# ---------------------------------------------------------------------------------------------------------------------
# plain cases


def test_a_missing_cluster_is_absent_and_the_others_are_present(of_lacking):
    result, frame, new = of_lacking
    assert result.n_clusters.tolist() == [3, 3, 2]
    in_c = frame[frame["test"] == "c"]
    for _, rows in in_c.groupby("train"):
        assert sorted(rows["word"]) == ["absent", "present", "present"]
        assert rows.loc[rows["word"] == "absent", ["n_like", "partner"]].to_numpy().tolist() == [[0, ""]]
    assert set(frame.loc[frame["test"] != "c", "word"]) == {"present"}
    assert new == {("c", "a"): 25, ("c", "b"): 25}


def test_the_absent_cluster_is_the_one_that_is_missing(of_lacking):
    result, frame, _ = of_lacking
    (absent,) = frame.loc[(frame["word"] == "absent") & (frame["train"] == "a"), "cluster"]
    assert np.flatnonzero(result.labels_of("a") == int(absent)).tolist() == list(range(55, 80))


def test_counterparts_have_the_same_number(of_lacking):
    _, frame, _ = of_lacking
    present = frame[frame["word"] == "present"]
    assert (present["cluster"] == present["partner"]).all()


def test_one_study_with_two_types_and_two_with_one_each():
    rng = np.random.default_rng(2)
    both = drawn(rng, CORNERS, np.repeat([0, 1], 40))
    studies = {
        "a": both,
        "b": drawn(rng, CORNERS, np.zeros(80, dtype=int)),
        "c": drawn(rng, CORNERS, np.ones(80, dtype=int)),
    }
    result, frame, new = words(studies, k=2)
    assert result.n_clusters.tolist() == [2, 1, 1]
    table = frame.set_index(["train", "test"])["word"]
    assert sorted(table["a", "b"]) == sorted(table["a", "c"]) == ["absent", "present"]
    assert table["b", "a"].tolist() == table["c", "a"].tolist() == ["present"]
    assert table["b", "c"].tolist() == table["c", "b"].tolist() == ["absent"]
    assert new == {("b", "a"): 40, ("c", "a"): 40, ("b", "c"): 80, ("c", "b"): 80}


def test_a_cluster_that_only_one_study_has_is_new_in_it():
    rng = np.random.default_rng(3)
    studies = {name: drawn(rng, CORNERS, np.repeat([0, 1], 40)) for name in "ab"}
    studies["c"] = drawn(rng, CORNERS, np.repeat([0, 1, 2], [30, 25, 25]))
    result, frame, new = words(studies)
    assert result.n_clusters.tolist() == [2, 2, 3]
    assert new == {("a", "c"): 25, ("b", "c"): 25}
    assert sorted(frame.loc[frame["train"] == "c", "word"]) == ["absent"] * 2 + ["present"] * 4
    assert set(frame.loc[frame["train"] != "c", "word"]) == {"present"}


def split_in_c(rng):
    """The first cluster is long; in c it has a gap."""
    studies = {}
    for name in "abc":
        labels = np.repeat([0, 1], 60)
        X = drawn(rng, [[0, 0], [9, 0]], labels)
        X[:60, 1] += rng.choice([-3.0, 3.0], 60) if name == "c" else rng.uniform(-3, 3, 60)
        studies[name] = X
    return studies


def test_a_cluster_with_a_gap_in_one_study_is_split_there_and_its_parts_are_merged_elsewhere():
    result, frame, new = words(split_in_c(np.random.default_rng(4)), k=2)
    assert result.n_clusters.tolist() == [2, 2, 3]
    assert sorted(frame.loc[frame["test"] == "c", "word"]) == ["present"] * 2 + ["split"] * 2
    assert sorted(frame.loc[frame["train"] == "c", "word"]) == ["merged"] * 4 + ["present"] * 2
    assert new == {}
    assert (frame.loc[frame["word"] == "split", "gap_pvalue"] < 0.005).all()


def test_two_clusters_without_a_gap_in_one_study_are_merged_there():
    rng = np.random.default_rng(15)
    studies = {name: drawn(rng, CORNERS, np.repeat([0, 1, 2], 27)) for name in "ab"}
    bridge = rng.normal(size=(54, 2)) + rng.uniform(0, 1, (54, 1)) * CORNERS[1]
    studies["c"] = np.concatenate([bridge, drawn(rng, CORNERS, np.repeat([2], 27))])
    result, frame, new = words(studies)
    assert result.n_clusters.tolist() == [3, 3, 2]
    assert sorted(frame.loc[frame["test"] == "c", "word"]) == ["merged"] * 4 + ["present"] * 2
    assert sorted(frame.loc[frame["train"] == "c", "word"]) == ["present"] * 2 + ["split"] * 2
    assert new == {}


def test_a_common_shift_makes_nothing_absent():
    rng = np.random.default_rng(6)
    studies = {
        name: drawn(rng, CORNERS, np.repeat([0, 1, 2], 27)) + shift
        for name, shift in zip("abc", (0, 0.7, -0.7), strict=False)
    }
    _, frame, new = words(studies)
    assert set(frame["word"]) == {"present"}
    assert new == {}


def test_many_features():
    rng = np.random.default_rng(7)
    labels = {"a": np.repeat([0, 1, 2], 27), "b": np.repeat([0, 1, 2], 27), "c": np.repeat([0, 1], 40)}
    studies = {name: drawn(rng, CORNERS, own, p=100) for name, own in labels.items()}
    _, frame, new = words(studies)
    assert set(frame.loc[frame["test"] != "c", "word"]) == {"present"}
    assert sorted(frame.loc[frame["test"] == "c", "word"]) == ["absent"] * 2 + ["present"] * 4
    assert set(new) == {("c", "a"), ("c", "b")}


def test_a_cut_of_one_piece_is_present_or_unknown_and_never_absent():
    rng = np.random.default_rng(8)
    studies = {name: rng.normal(size=(80, 2)) * [3, 1] for name in "abc"}
    result, frame, new = words(studies, k=2)
    assert not result.by_gaps
    assert new == {}
    assert set(frame["word"]) == {"present"}
    round_ones = {name: rng.normal(size=(40, 10)) for name in "abc"}
    result, frame, new = words(round_ones, k=4)
    assert not result.by_gaps
    assert new == {}
    assert set(frame["word"]) <= {"present", "can't tell"}
    assert "can't tell" in set(frame["word"])


def test_a_number_instead_of_groups():
    rng = np.random.default_rng(9)
    studies = {name: rng.normal(size=(60, 2)) * [3, 1] for name in "ab"}
    frame = presence(KMEANS, studies, 2, rng=0).to_frame()
    assert frame["word"].tolist() == ["present"] * 4
    assert presence(KMEANS, studies, 1, rng=0).to_frame()["word"].tolist() == ["present"] * 2


def test_a_clusterer_that_finds_its_own_number(lacking):
    clusterer = DBSCAN(eps=1.0, min_samples=4)
    groups = cr.separation(KMEANS, lacking, n_clusters=3, rng=0)
    frame = presence(clusterer, lacking, groups, rng=0).to_frame()
    assert sorted(frame.loc[frame["test"] == "c", "word"]) == ["absent"] * 2 + ["present"] * 4


# ---------------------------------------------------------------------------------------------------------------------
# the same bits, and the result


def test_the_order_of_studies_and_workers_change_nothing(lacking, of_lacking):
    turned = {name: lacking[name] for name in "cab"}
    _, frame, _ = words(turned, n_jobs=2)
    columns = ["train", "cluster", "test"]
    ordered = [one.sort_values(columns).reset_index(drop=True) for one in (frame, of_lacking[1])]
    pd.testing.assert_frame_equal(*ordered, check_exact=True)


def test_columns_and_shares(lacking, of_lacking):
    frame = of_lacking[0].to_frame()
    assert frame.columns.tolist()[:4] == ["train", "cluster", "test", "word"]
    row = frame[(frame["train"] == "a") & (frame["word"] == "absent")].iloc[0]
    assert row["expected"] == pytest.approx(80 * 25 / 80)
    assert (row["low"], row["high"]) == (0.0, pytest.approx(1 - 0.025 ** (1 / 80)))
    assert (frame["share"] == frame["n_like"] / frame["test"].map(lambda name: len(lacking[name]))).all()
    assert frame.loc[frame["cluster"] == "new", "word"].unique().tolist() == ["new"]


def test_table_and_text(of_lacking):
    result = of_lacking[0]
    table = result.table()
    assert table.columns.tolist() == ["a", "b", "c"]
    assert len(table) == 8
    assert (table.loc["a", "a"] == "").all()
    assert sorted(table.loc["a", "c"]) == ["absent", "present", "present"]
    text = repr(result)
    assert "✗ absent" in text
    assert "25 samples of a like no cluster of c" in text


def test_it_is_saved_whole(of_lacking, tmp_path):
    result = of_lacking[0]
    result.save(tmp_path / "presence.npz")
    loaded = cr.load(tmp_path / "presence.npz")
    pd.testing.assert_frame_equal(loaded.to_frame(), result.to_frame(), check_exact=True)
    assert repr(loaded) == repr(result)
    assert loaded.provenance == result.provenance
    with pytest.raises(ValueError, match="read-only"):
        loaded.labels[0] = 5


@pytest.mark.parametrize(
    ("groups", "options", "message"),
    [
        (0, {}, "groups must be a positive integer, got 0"),
        ("three", {}, "groups must be a positive integer, got 'three'"),
        (2, {"rng": -1}, "rng must be a non-negative integer"),
    ],
)
def test_bad_parameters(lacking, groups, options, message):
    with pytest.raises(ParameterError, match=message):
        presence(KMEANS, lacking, groups, **options)


def test_groups_of_other_studies_are_refused(lacking):
    groups = cr.separation(KMEANS, {name: lacking[name] for name in "ab"}, n_clusters=3, rng=0)
    with pytest.raises(ParameterError, match="groups must be the separation of the same studies"):
        presence(KMEANS, lacking, groups)
    with pytest.raises(ParameterError, match="There is no study 'z'"):
        presence(KMEANS, lacking, 2, rng=0).labels_of("z")
    with pytest.raises(ParameterError, match="at least two studies"):
        presence(KMEANS, {"a": lacking["a"]}, 2)


# ---------------------------------------------------------------------------------------------------------------------
# the pieces, by hand


@pytest.fixture
def pair():
    rng = np.random.default_rng(10)
    train, test = np.repeat([0, 1, 2], [9, 7, 5]), np.repeat([0, 1], [8, 6])
    return Clusters.of(drawn(rng, CORNERS, train, 4), train), Clusters.of(drawn(rng, CORNERS + 0.5, test, 4), test)


def errors_by_hand(clusters):
    """Expected squared errors of the centres."""
    groups = [clusters.X[clusters.labels == i] for i in range(len(clusters.sizes))]
    squares = [sum(((x - group.mean(axis=0)) ** 2).sum() for x in group) for group in groups]
    pooled = sum(squares) / (len(clusters.X) - len(groups))
    return [
        (square + BORROWED * pooled) / (len(group) - 1 + BORROWED) / len(group)
        for square, group in zip(squares, groups, strict=True)
    ]


def variance_by_hand(clusters, i, direction):
    groups = [clusters.X[clusters.labels == g] for g in range(len(clusters.sizes))]
    squares = [sum(((x - group.mean(axis=0)) @ direction) ** 2 for x in group) for group in groups]
    pooled = sum(squares) / (len(clusters.X) - len(groups))
    return (squares[i] + BORROWED * pooled) / (len(groups[i]) - 1 + BORROWED)


def test_distances_are_their_formula(pair):
    train, test = pair
    found = distances(train, test)
    errors = errors_by_hand(train), errors_by_hand(test)
    for i, j in np.ndindex(3, 2):
        difference = test.X[test.labels == j].mean(axis=0) - train.X[train.labels == i].mean(axis=0)
        squared = difference @ difference
        variance = variance_by_hand(train, i, difference / np.sqrt(squared))
        assert found[i, j] == pytest.approx(np.sqrt(max(squared - errors[0][i] - errors[1][j], 0) / variance))


def test_distances_after_a_shift_subtract_every_centres_own_error(pair):
    train, test = pair
    shift = Shift.of(train, test, np.array([[0, 0], [1, 1]]))
    assert shift.vector == pytest.approx((test.centres[:2] - train.centres[:2]).mean(axis=0))
    difference = test.centres[1] - shift.vector - train.centres[0]
    # = t1 − (t0 − s0 + t1 − s1) / 2 − s0 = t1 / 2 − t0 / 2 − s0 / 2 + s1 / 2
    error = (train.error[0] + train.error[1] + test.error[0] + test.error[1]) / 4
    squared = difference @ difference
    variance = variance_by_hand(train, 0, difference / np.sqrt(squared))
    assert distances(train, test, shift)[0, 1] == pytest.approx(np.sqrt(max(squared - error, 0) / variance))


def test_the_shift_is_that_of_the_clusters_that_both_have(pair):
    train, test = pair
    shift = find_shift(train, test)
    assert shift.of_train.tolist() == [0.5, 0.5, 0.0]
    assert shift.of_test.tolist() == [0.5, 0.5]
    single = Clusters.of(test.X, np.zeros(len(test.X), dtype=int))
    assert not find_shift(train, single).vector.any()  # one pair says nothing


def test_distances_are_unbiased_with_many_features():
    rng = np.random.default_rng(11)
    squares = []
    for _ in range(100):
        both = [Clusters.of(rng.normal(size=(20, 100)) + shift, np.zeros(20, dtype=int)) for shift in (0, 0.4)]
        difference = both[1].centres[0] - both[0].centres[0]
        squares.append(difference @ difference - both[0].error[0] - both[1].error[0])
    assert np.mean(squares) == pytest.approx(16, abs=1)  # 100 × 0.4²; with the errors it would be 26


def test_links_are_the_same_from_either_side(pair):
    assert (links(*pair) == links(*pair[::-1]).T).all()
    assert links(*pair).tolist() == [[True, False], [False, True], [False, False]]


@pytest.mark.parametrize("seed", [206, 426, 765])
def test_studies_of_different_spread_have_the_same_shift_and_links_from_either_side(seed):
    """The spread of one study or the other decides whether two pairs of clusters agree about a shift."""
    rng = np.random.default_rng(seed)
    p = rng.integers(2, 6)
    counts, centres = rng.integers(1, 5, 2), rng.normal(size=(4, p)) * 4
    both = []
    for s, k in enumerate(counts):
        labels = np.sort(np.r_[np.arange(k), rng.integers(0, k, rng.integers(30, 120))])
        X = rng.normal(size=(len(labels), p)) * rng.uniform(0.6, 1.6) + centres[labels] + s * rng.normal(size=p) * 1.2
        both.append(Clusters.of(X, labels))
    assert find_shift(*both).vector == pytest.approx(-find_shift(*both[::-1]).vector)
    assert (links(*both) == links(*both[::-1]).T).all()


def test_a_cluster_is_not_absent_where_it_is_present_the_other_way_round():
    """Study c has one group, wider than elsewhere and beside its place; a shift needs two groups to be known."""
    rng = np.random.default_rng(0)
    studies = {name: drawn(rng, CORNERS * 4, np.repeat([0, 1, 2], 50)) for name in "ab"}
    studies["c"] = 1.5 * rng.normal(size=(60, 2)) - 4.6 / np.sqrt(2)
    groups = cr.separation(KMEANS, studies, n_clusters=range(2, 4), rng=0)
    frame = presence(KMEANS, studies, groups, n_clusters=3, rng=0).to_frame()
    frame = frame[frame["word"] == "present"]
    pairs = {(row.train, str(row.cluster), row.test, row.partner) for row in frame.itertuples()}
    assert {(train, test) for train, _, test, _ in pairs} >= {("c", "a"), ("a", "c")}
    assert pairs == {(test, partner, train, cluster) for train, cluster, test, partner in pairs}


def test_words_follow_from_links():
    linked = np.array([[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]], dtype=bool)
    assert [word_of(linked, i, True) for i in range(5)] == ["present", "split", "merged", "merged", "absent"]
    assert word_of(linked, 4, False) == "can't tell"


def test_groups_link_only_clusters_without_links():
    linked, apart = np.array([[True, False], [False, False]]), np.array([[1.0, 3.0], [3.0, 3.5]])
    assert with_groups(linked, apart, np.ones((2, 2), dtype=bool)).tolist() == [[True, False], [False, True]]
    assert with_groups(linked, apart + 1, np.ones((2, 2), dtype=bool)).tolist() == linked.tolist()
    assert with_groups(linked, apart, np.eye(2, dtype=bool)[::-1]).tolist() == linked.tolist()


def test_pairs_are_mutual_and_close():
    apart = np.array([[1.0, 5.0], [0.5, 6.0], [9.0, LIKE + 0.1]])
    assert mutual_pairs(apart).tolist() == [[1, 0]]


@pytest.mark.parametrize(("count", "n", "share"), [(0, 80, 0.2), (1, 80, 0.1), (4, 80, 0.25), (80, 80, 0.9)])
def test_rare_is_the_binomial_test(count, n, share):
    assert is_rare(count, n, share) == (binom.cdf(count, n, SMALL_SHARE * share) <= 0.05)


def test_a_small_study_cannot_say_that_a_small_cluster_is_absent():
    assert is_rare(0, 80, 0.1)
    assert not is_rare(0, 20, 0.1)


@pytest.mark.parametrize(("shared", "either"), [(0, 10), (8, 10), (9, 10), (40, 60)])
def test_repeated_is_the_binomial_test(shared, either):
    assert is_repeated(shared, either) == (binom.sf(shared - 1, either, 0.5) <= 0.05)


def test_overlap_in_a_cut():
    by_train, by_test = np.array([0, 0, 0, 1, 1, 1]), np.array([1, 1, 0, 0, 0, 2])
    assert same_in_cut(by_train, by_test, 0) == (1, 2, 3)
    assert same_in_cut(by_train, by_test, 1) == (0, 2, 4)
    assert same_in_cut(by_train, by_test, 2) == (-1, 0, 0)


def test_strays_lie_beyond_the_middle():
    train = Clusters.of(np.array([[0.0], [0.2], [6.0], [6.2]]), np.array([0, 0, 1, 1]))
    test = Clusters.of(np.array([[0.0], [0.1], [0.3], [3.2], [5.0]]), np.zeros(5, dtype=int))
    centre = test.centres[0, 0]
    border = (centre + 6.1) / 2 + (6.1 - centre) / 6
    assert 3.2 < border < 5.0
    assert count_strays(train, 1, test, Shift.none(train, test)) == 1


def test_share_interval_is_clopper_and_pearson():
    low, high = share_interval(7, 40, 0.9)
    assert binom.sf(6, 40, low) == pytest.approx(0.05)
    assert binom.cdf(7, 40, high) == pytest.approx(0.05)
    assert share_interval(0, 40)[0] == 0.0
    assert share_interval(40, 40)[1] == 1.0


# ---------------------------------------------------------------------------------------------------------------------
# gaps of a single study


def test_log_odds_are_a_likelihood_ratio():
    for middle, side in ((0, 5), (3, 4), (9, 2)):
        gap = TYPICAL_GAP / (1 + TYPICAL_GAP)
        ratio = binom.pmf(middle, middle + side, 0.5) / binom.pmf(middle, middle + side, gap)
        assert log_odds_of_filled(middle, side) == pytest.approx(np.log(ratio))


def test_windows():
    left, middle, right = windows_of(np.array([-2.1, -2, -1.5, -1, -0.5, 0, 0.4, 1, 1.1, 2, np.nan]))
    assert np.flatnonzero(left).tolist() == [1, 2]
    assert np.flatnonzero(middle).tolist() == [5, 6]
    assert np.flatnonzero(right).tolist() == [8, 9]


def cut(rows, k, call):
    return KMeans(k, n_init=3, random_state=call).fit(rows).labels_


def test_positions_have_the_clusters_means_at_their_places():
    rng = np.random.default_rng(12)
    X = drawn(rng, CORNERS, np.repeat([0, 1], 20))
    labels = np.repeat([0, 1], 20)
    placed = cross_fitted_positions(X, labels, np.array([[0, 1]]), 2, cut, rng.permutation(40))
    assert placed[:20, 0].mean() == pytest.approx(-1.5)
    assert placed[20:, 0].mean() == pytest.approx(1.5)


def test_a_cut_needs_gaps_between_all_its_clusters():
    rng = np.random.default_rng(13)
    X, order = drawn(rng, CORNERS, np.repeat([0, 1, 2], 30)), rng.permutation(90)
    nothing_known = np.zeros(90, dtype=int)
    found = cut_with_gaps(X, nothing_known, 3, cut, order)
    assert found is not None
    assert sorted(np.bincount(found.labels)) == [30, 30, 30]
    assert found.pvalue < 0.005
    assert cut_with_gaps(X, found.labels, 4, cut, order) is None
    assert cut_with_gaps(rng.normal(size=(90, 2)), nothing_known, 2, cut, order) is None
    assert cut_with_gaps(X, nothing_known, 3, lambda rows, k, call: None, order) is None  # the clusterer failed


def test_samples_outside_all_groups():
    rng = np.random.default_rng(14)
    labels = np.repeat([0, 1], 80)
    others = drawn(rng, CORNERS, labels)
    assert not many_outside(drawn(rng, CORNERS, labels[40:120]), others, labels)
    assert many_outside(drawn(rng, CORNERS, np.repeat([0, 1, 2], [30, 35, 15])), others, labels)
    assert not many_outside(others[:5] + 50, others, np.full(160, -1))  # without groups there is no outside


def test_a_study_on_which_the_clusterer_fails_has_no_clusters(lacking):
    class Fussy(KMeans):
        def fit(self, X, y=None, sample_weight=None):
            if len(X) == 30:
                raise ValueError("too few")
            return super().fit(X)

    rng = np.random.default_rng(15)
    studies = {"a": rng.normal(size=(60, 2)) * [3, 1], "b": rng.normal(size=(30, 2)) * [3, 1]}
    result = presence(Fussy(n_init=2), studies, 2, rng=0)
    assert result.n_clusters.tolist() == [2, 0]
    assert result.to_frame()["word"].tolist() == ["can't tell"] * 2


def test_results_can_be_changed_only_by_replacing(of_lacking):
    assert replace(of_lacking[0], clusterer="other").clusterer == "other"
