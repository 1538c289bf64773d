"""Which cluster of one study corresponds to which of another."""

from __future__ import annotations

import itertools
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from tests.across.by_hand import (
    SHARED,
    Fragile,
    first_drawn,
    line,
    mixture,
    nearest_labels,
    quantile_by_hand,
    ward,
)
from tests.helpers import configured

import clustrep as cr
from clustrep.clustering.sample import Source
from clustrep.errors import AllReplicatesFailed, DataError, ParameterError, ReplicateWarning


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


# ---------------------------------------------------------------------------------------------------------------------
# counterparts: by hand


def matched(u, v):
    """Which label of v each label of u is matched with, one to one, most points in common."""
    rows, columns = sorted(set(u)), sorted(set(v))
    table = [[sum(a == i and b == j for a, b in zip(u, v, strict=True)) for j in columns] for i in rows]
    return {
        rows[i]: columns[j] for i, j in zip(*linear_sum_assignment(table, maximize=True), strict=True) if table[i][j]
    }


def jaccard_of_sets(u, v):
    """None where a set is empty: tests of their own are about that."""
    return len(u & v) / len(u | v) if u and v else None


def found_again(new, old):
    """Which old label each new one is, where the two have more in common than not."""
    places = {
        side: {i: {p for p, own in enumerate(side_labels) if own == i} for i in set(side_labels)}
        for side, side_labels in (("new", new), ("old", old))
    }
    return {i: j for i, j in matched(new, old).items() if jaccard_of_sets(places["new"][i], places["old"][j]) > 0.5}


def counterparts_by_hand(fit, tables, n_resamples, seed, resampling):
    """Partners, overlaps and their resamples, as dicts by (train, test, cluster)."""
    studies = {name: cr.Study(X, name) for name, X in tables.items()}
    own = {name: fit(X) for name, X in tables.items()}
    full = {(s, t): nearest_labels(tables[s], own[s], tables[t]) for s in tables for t in tables}
    partner, overlap, resampled = {}, {}, {}
    for s, t in itertools.permutations(tables, 2):
        pairs = matched(full[s, t], full[t, t])
        for i in set(own[s]):
            partner[s, t, i] = pairs.get(i)
            mine = {p for p, label in enumerate(full[s, t]) if label == i}
            theirs = {p for p, label in enumerate(full[t, t]) if label == pairs.get(i)}
            overlap[s, t, i] = 0.0 if mine and i not in pairs else jaccard_of_sets(mine, theirs)
            resampled[s, t, i] = []
    for b in range(1, n_resamples + 1):
        order = {name: Source(resampling, seed).draw(studies[name], b).order for name in tables}
        label = {name: fit(tables[name][order[name]]) for name in tables}
        at = {(s, t): nearest_labels(tables[s][order[s]], label[s], tables[t]) for s in tables for t in tables}
        renamed = {name: found_again(at[name, name], full[name, name]) for name in tables}
        for (s, t, i), j in partner.items():
            if i not in renamed[s].values() or j not in renamed[t].values():
                resampled[s, t, i].append(np.nan)
                continue
            drawn = list(enumerate(order[t]))
            mine = {place for place, p in drawn if renamed[s].get(at[s, t][p], "new") == i}
            theirs = {place for place, p in drawn if renamed[t].get(at[t, t][p], "new") == j}
            resampled[s, t, i].append(jaccard_of_sets(mine, theirs))
    return partner, overlap, resampled


def assert_counterparts(found, by_hand):
    partner, overlap, resampled = by_hand
    names = found.names
    place = {(s, name): i for s, row in enumerate(found.clusters) for i, name in enumerate(row) if name}
    assert {(s, int(name)) for s, name in place} == {(names.index(s), i) for s, _, i in partner}
    for (train, test, cluster), j in partner.items():
        s, t = names.index(train), names.index(test)
        i = place[s, str(cluster)]
        assert found.partner[s, t, i] == (-1 if j is None else place[t, str(j)])
        if overlap[train, test, cluster] is not None:
            assert found.overlap[s, t, i] == pytest.approx(overlap[train, test, cluster], abs=1e-12)
        for value, expected in zip(found.distribution[:, s, t, i], resampled[train, test, cluster], strict=True):
            if expected is not None:
                assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)
    values = [value for one in resampled.values() for value in one]
    assert sum(value is None for value in values) < len(values) / 10


@pytest.mark.parametrize("resampling", [cr.Bootstrap(), cr.Subsample(0.7)], ids=["bootstrap", "subsample"])
def test_partners_and_overlaps_are_those_of_loops(overlapping, resampling):
    by_hand = counterparts_by_hand(ward, overlapping, 5, 3, resampling)
    found = configured(cr.counterparts, accelerate=False)(
        AgglomerativeClustering(3), overlapping, n_resamples=5, rng=3, resampling=resampling
    )
    assert_counterparts(found, by_hand)
    assert len(set(found.distribution[np.isfinite(found.distribution)].tolist())) > 15


def test_studies_may_have_different_numbers_of_clusters():
    """DBSCAN finds 3, 2 and 4 blocks, noise among them; bootstraps find others again."""
    rng = np.random.default_rng(8)
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0]])
    tables = {name: mixture(rng, centres[:k], n) for name, k, n in (("a", 3, 24), ("b", 2, 20), ("c", 4, 30))}

    def density(X):
        return DBSCAN(eps=1.6, min_samples=3).fit_predict(X).tolist()

    by_hand = counterparts_by_hand(density, tables, 6, 0, cr.Bootstrap())
    found = cr.counterparts(DBSCAN(eps=1.6, min_samples=3), tables, n_resamples=6, rng=0, resampling=cr.Bootstrap())
    own = [density(X) for X in tables.values()]
    numbers = [len(set(labels)) for labels in own]
    assert len(set(numbers)) > 1
    assert found.clusters.shape == found.sizes.shape == (3, max(numbers))
    for s, labels in enumerate(own):
        assert [name for name in found.clusters[s] if name] == [str(label) for label in sorted(set(labels))]
        assert found.sizes[s].tolist() == [labels.count(label) for label in sorted(set(labels))] + [0] * (
            max(numbers) - numbers[s]
        )
    assert any(j is None for j in by_hand[0].values())
    assert_counterparts(found, by_hand)
    for s, t in itertools.product(range(3), repeat=2):
        padding = found.clusters[s] == ""
        assert (found.partner[s, t][padding] == -1).all()
        assert np.isnan(found.overlap[s, t][padding]).all()
        assert np.isnan(found.distribution[:, s, t][:, padding]).all()
    frame = found.to_frame()
    assert len(frame) == 2 * sum(numbers)
    assert frame["found"].max() == 1


def test_nothing_is_said_of_a_study_and_itself(overlapping):
    found = cr.counterparts(AgglomerativeClustering(3), overlapping, n_resamples=2, rng=0)
    for s in range(3):
        assert (found.partner[s, s] == -1).all()
        assert np.isnan(found.overlap[s, s]).all()
        assert np.isnan(found.distribution[:, s, s]).all()


@pytest.mark.parametrize("clusterer", [AgglomerativeClustering(3), KMeans(3, n_init=5, random_state=0)])
def test_a_resample_of_everything_has_the_overlaps_of_the_studies_themselves(clusterer):
    rng = np.random.default_rng(2)
    tables = {name: mixture(rng, SHARED * 1.5, 25) for name in "ab"}
    found = cr.counterparts(clusterer, tables, n_resamples=3, resampling=cr.Subsample(1.0), rng=0)
    for one in found.distribution:
        np.testing.assert_allclose(one, found.overlap)


def thresholds(*cuts):
    """A clustering function of position alone: 0, 1, … from left to right."""

    def cut(X):
        return np.searchsorted(cuts, X[:, 0])

    return cut


def by_study(functions):
    """A clusterer that tells studies by their last column, and gives each its own partition by threshold."""

    def cluster(X):
        return functions[int(X[0, 1])](X)

    return cluster


def test_overlap_by_hand_on_ten_points():
    """a cuts at 4.5 and b at 2.5: on b's points 0 … 9 cluster 0 of a holds five, of b three; and so on."""
    tables = {
        "a": np.column_stack([np.arange(0, 10) + 0.0, np.zeros(10)]),
        "b": np.column_stack([np.arange(0, 10) + 0.0, np.ones(10)]),
    }
    clusterer = by_study([thresholds(4.5), thresholds(2.5)])
    found = cr.counterparts(clusterer, tables, n_resamples=2, rng=0)
    assert found.partner[0, 1].tolist() == found.partner[1, 0].tolist() == [0, 1]
    np.testing.assert_allclose(found.overlap[0, 1], [3 / 5, 5 / 7])
    np.testing.assert_allclose(found.overlap[1, 0], [3 / 5, 5 / 7])
    assert found.sizes.tolist() == [[5, 5], [3, 7]]


def test_overlap_counts_the_samples_of_the_tested_study():
    """b has no samples between the two cuts, so on b both agree; a has two."""
    tables = {
        "a": np.column_stack([np.arange(10) + 0.0, np.zeros(10)]),
        "b": np.column_stack([[0, 1, 2, 5, 6.0, 7, 8], np.ones(7)]),
    }
    clusterer = by_study([thresholds(4.5), thresholds(2.5)])
    found = cr.counterparts(clusterer, tables, n_resamples=1, rng=0)
    np.testing.assert_allclose(found.overlap[0, 1], [1, 1])
    # On a: b's function takes 3 (2 is nearer than 5) to its left cluster; 4 is nearer to 5.
    np.testing.assert_allclose(found.overlap[1, 0], [4 / 5, 5 / 6])


def test_clusters_are_matched_one_to_one():
    """Two clusters of a fall into one of b: the larger one gets it, the other has no counterpart and no overlap."""
    tables = {
        "a": np.column_stack([np.arange(12) + 0.0, np.zeros(12)]),
        "b": np.column_stack([np.arange(12) + 0.0, np.ones(12)]),
    }
    clusterer = by_study([thresholds(2.5, 7.5), thresholds(7.5)])
    found = cr.counterparts(clusterer, tables, n_resamples=3, rng=0)
    assert found.partner[0, 1].tolist() == [-1, 0, 1]
    np.testing.assert_allclose(found.overlap[0, 1], [0, 5 / 8, 1])
    assert found.partner[1, 0].tolist() == [1, 2, -1]
    np.testing.assert_allclose(found.overlap[1, 0, :2], [5 / 8, 1])
    assert found.of("a", "0") == {"b": None}
    assert found.of("a", "1") == {"b": "0"}
    assert found.of("b", "1") == {"a": "2"}
    frame = found.to_frame()
    row = frame[(frame["train"] == "a") & (frame["cluster"] == "0")].iloc[0]
    assert pd.isna(row["counterpart"])
    assert row[["low", "high", "found"]].isna().all()  # nothing to find
    assert frame["found"].isna().tolist() == frame["counterpart"].isna().tolist() == [True, False, False, False, False]


def flipped(X):
    return 2 - AgglomerativeClustering(3).fit_predict(X)


def test_numbers_of_clusters_are_only_names(overlapping):
    one = configured(cr.counterparts, accelerate=False)(AgglomerativeClustering(3), overlapping, n_resamples=3, rng=0)
    other = cr.counterparts(flipped, overlapping, n_resamples=3, rng=0)
    np.testing.assert_allclose(other.overlap, one.overlap[:, :, ::-1])
    np.testing.assert_allclose(other.distribution, one.distribution[..., ::-1])
    off = ~np.eye(3, dtype=bool)
    expected = one.partner[:, :, ::-1][off]
    np.testing.assert_array_equal(other.partner[off], np.where(expected >= 0, 2 - expected, -1))
    np.testing.assert_array_equal(other.sizes, one.sizes[:, ::-1])


def test_a_cluster_that_the_other_study_lacks_has_a_low_overlap():
    """b has no third cluster, k-means divides another one there: what is left of a's in b is no counterpart."""
    rng = np.random.default_rng(4)
    tables = {name: mixture(rng, SHARED[: 2 if name == "b" else 3], 60) for name in "abc"}
    found = cr.counterparts(KMeans(3, n_init=5), tables, n_resamples=20, rng=0)
    run = cr.replicability(KMeans(3, n_init=5), tables, n_resamples=1, rng=0)  # the same fits
    own = {name: run.clustering_function(name)(tables[name]) for name in "ac"}
    centres = [[tables[name][own[name] == i].mean(axis=0) for i in range(3)] for name in "ac"]
    third = [int(np.argmin([np.linalg.norm(centre - SHARED[2]) for centre in three])) for three in centres]
    frame = found.to_frame()
    for name, cluster in zip("ac", third, strict=True):
        one = frame[(frame["train"] == name) & (frame["cluster"] == str(cluster))].set_index("test")
        other = "c" if name == "a" else "a"
        assert one.loc[other, "overlap"] > 0.8
        assert not one.loc["b", "overlap"] > 0.4


# ---------------------------------------------------------------------------------------------------------------------
# counterparts: found again


def once_or_twice(X):
    """Two clusters where the study was drawn with its rightmost sample, otherwise one."""
    return (X[:, 0] > 50).astype(int)


def test_found_is_the_share_of_resamples_in_which_both_clusters_were_found_again():
    """The second cluster of each study is one sample; it is found in the draws that hold it."""
    tables = {name: line(*range(6), 100 + i) for i, name in enumerate("ab")}
    studies = {name: cr.Study(X, name) for name, X in tables.items()}
    found = cr.counterparts(once_or_twice, tables, n_resamples=30, rng=2, resampling=cr.Bootstrap())
    source = Source(cr.Bootstrap(), 2)
    drawn = {name: [6 in source.draw(study, b).order for b in range(1, 31)] for name, study in studies.items()}
    both = [a and b for a, b in zip(drawn["a"], drawn["b"], strict=True)]
    assert 0 < sum(both) < 30
    frame = found.to_frame().set_index(["train", "cluster"])["found"]
    assert frame["a", "1"] == frame["b", "1"] == pytest.approx(sum(both) / 30)
    assert frame["a", "0"] == frame["b", "0"] == 1
    np.testing.assert_array_equal(np.isfinite(found.distribution[:, 0, 1, 1]), both)
    # Where b's is lost, its sample is drawn by neither; where a's is lost, a's function takes it to cluster 0.
    for b, (of_a, of_b) in enumerate(zip(drawn["a"], drawn["b"], strict=True)):
        weights = source.draw(studies["b"], b + 1).weights
        expected = weights[:6].sum() / weights.sum() if of_b and not of_a else 1.0
        assert found.distribution[b, 0, 1, 0] == pytest.approx(expected)


def left_or_right(X):
    """Study a (last column 0) cuts at 8.5, study b at 4.5."""
    return (X[:, 0] > (8.5 if X[0, 1] == 0 else 4.5)).astype(int)


def test_a_cluster_without_drawn_samples_that_was_found_again_has_overlap_0():
    """Of b's samples one alone lies in a's right cluster; where it is not drawn, that cluster is still there."""
    right = np.repeat([9.0, 9.1, 9.2, 9.3, 9.4], 2)
    tables = {
        "a": np.column_stack([np.r_[np.arange(9.0), right], np.zeros(19)]),
        "b": np.column_stack([np.arange(10.0), np.ones(10)]),
    }
    found = cr.counterparts(left_or_right, tables, n_resamples=12, rng=0)
    assert found.partner[0, 1].tolist() == [0, 1]
    source, b = Source(cr.Bootstrap(), 0), cr.Study(tables["b"], "b")
    without = [9 not in source.draw(b, r).order for r in range(1, 13)]
    assert any(without)
    values = found.distribution[without, 0, 1, 1]
    assert not np.isnan(values).any()
    assert (values == 0).any()
    assert found.to_frame()["found"].min() == 1


def test_a_cluster_without_any_sample_in_the_other_study_has_overlap_0():
    tables = {"a": line(0, 1, 2, 100, 101), "b": line(0, 1, 2, 3)}
    found = cr.counterparts(once_or_twice, tables, n_resamples=2, rng=0)
    assert found.partner[0, 1, 1] == -1
    assert found.overlap[0, 1, 1] == 0


# ---------------------------------------------------------------------------------------------------------------------
# counterparts: names


def test_clusters_are_named_after_the_most_frequent_known_label(overlapping):
    cut = thresholds(2.5)
    studies = [
        cr.Study(line(0, 1, 2, 3, 4, 5), "a", labels=["x", "y", "x", "z", "z", "y"]),
        cr.Study(line(0, 1, 2, 3, 4, 5), "b"),
    ]
    found = cr.counterparts(cut, studies, n_resamples=1, rng=0)
    assert found.clusters.tolist() == [["0 (x)", "1 (z)"], ["0", "1"]]
    assert found.of("a", "1 (z)") == {"b": "1"}
    assert found.of("b", "0") == {"a": "0 (x)"}


def test_known_labels_name_counterparts_of_cohorts(cohorts):
    found = cr.counterparts(KMeans(3, n_init=3), cohorts, n_resamples=3, rng=0)
    for study in cohorts.names:
        for cluster in found.clusters[cohorts.names.index(study)]:
            subtype = cluster[cluster.index("(") :]
            others = found.of(study, cluster)
            assert list(others) == [name for name in cohorts.names if name != study]
            assert all(other.endswith(subtype) for other in others.values())
    assert found.overlap[0, 1].min() > 0.8


def test_text_labels_of_a_clusterer_are_names():
    def words(X):
        return np.where(X[:, 0] > 2.5, "right", "left")

    found = cr.counterparts(words, {"a": line(0, 1, 2, 3, 4), "b": line(1, 2, 3)}, n_resamples=1, rng=0)
    assert found.clusters.tolist() == [["left", "right"]] * 2
    assert found.of("a", "right") == {"b": "right"}


def test_an_unknown_study_or_cluster_is_named(overlapping):
    found = cr.counterparts(AgglomerativeClustering(3), overlapping, n_resamples=1, rng=0)
    with pytest.raises(ParameterError, match="There is no study 'd'; there are a, b, c"):
        found.of("d", "0")
    with pytest.raises(ParameterError, match="There is no cluster of study 'a' '7'; there are 0, 1, 2"):
        found.of("a", "7")
    with pytest.raises(ParameterError, match="There is no study 'd'; there are a, b, c"):
        found.plot(train="d")
    with pytest.raises(ParameterError, match="There is no cluster of study 'a' ''"):
        found.of("a", "")


# ---------------------------------------------------------------------------------------------------------------------
# counterparts: known labels instead of a clusterer


def test_known_labels_stand_in_for_a_clusterer(overlapping):
    labels = {name: [["p", "q", "r"][label] for label in ward(X)] for name, X in overlapping.items()}
    known = cr.counterparts(None, overlapping, labels=labels, n_resamples=4, rng=3)
    clustered = configured(cr.counterparts, accelerate=False)(
        AgglomerativeClustering(3), overlapping, n_resamples=4, rng=3
    )
    assert known.clusterer == "known labels"
    assert known.clusters.tolist() == [["p", "q", "r"]] * 3
    np.testing.assert_array_equal(known.partner, clustered.partner)  # both by the nearest sample
    np.testing.assert_allclose(known.overlap, clustered.overlap)


def test_resampled_known_labels_keep_their_names(overlapping):
    """A draw has the labels of its samples; others have that of the nearest drawn one."""
    labels = {name: ward(X) for name, X in overlapping.items()}
    found = cr.counterparts(None, overlapping, labels=labels, n_resamples=3, rng=3, resampling=cr.Bootstrap())
    source = Source(cr.Bootstrap(), 3)
    draws = {name: source.draw(cr.Study(X, name), 1) for name, X in overlapping.items()}
    at = {
        s: nearest_labels(overlapping[s][draws[s].order], [labels[s][i] for i in draws[s].order], overlapping["b"])
        for s in "ab"
    }
    for i, j in enumerate(found.partner[0, 1]):
        mine = {place for place, p in enumerate(draws["b"].order) if at["a"][p] == i}
        theirs = {place for place, p in enumerate(draws["b"].order) if at["b"][p] == j}
        assert found.distribution[0, 0, 1, i] == pytest.approx(jaccard_of_sets(mine, theirs))


def test_the_studies_own_labels(cohorts):
    found = cr.counterparts(None, cohorts, labels=True, n_resamples=2, rng=0)
    off = ~np.eye(3, dtype=bool)
    assert found.partner[off].tolist() == [[0, 1, 2]] * 6
    assert [name[0] for name in found.clusters[0]] == ["A", "B", "C"]


def test_known_labels_are_named_once(cohorts):
    found = cr.counterparts(None, cohorts, labels=True, n_resamples=1, rng=0)
    assert found.clusters[0].tolist() == ["A", "B", "C"]


# ---------------------------------------------------------------------------------------------------------------------
# counterparts: laws


def test_more_resamples_continue_fewer(overlapping):
    few, many = (cr.counterparts(KMeans(3, n_init=1), overlapping, n_resamples=n, rng=5) for n in (2, 5))
    np.testing.assert_array_equal(few.distribution, many.distribution[:2])
    np.testing.assert_array_equal(few.overlap, many.overlap)


def test_other_studies_and_their_order_do_not_matter(overlapping):
    three = cr.counterparts(KMeans(3, n_init=1), overlapping, n_resamples=3, rng=5)
    two = cr.counterparts(KMeans(3, n_init=1), {name: overlapping[name] for name in "cb"}, n_resamples=3, rng=5)
    np.testing.assert_array_equal(two.distribution, three.distribution[:, [2, 1]][:, :, [2, 1]])
    np.testing.assert_array_equal(two.partner, three.partner[[2, 1]][:, [2, 1]])
    np.testing.assert_array_equal(two.overlap, three.overlap[[2, 1]][:, [2, 1]])


def whatever_the_numbers(found):
    """All that is said of clusters, without their numbers: sizes, overlaps and resamples of every pair."""
    said = []
    for s, t, i in np.ndindex(found.partner.shape):
        j = found.partner[s, t, i]
        size = int(found.sizes[t, j]) if j >= 0 else None
        values = (found.overlap[s, t, i], *found.distribution[:, s, t, i])
        said.append((s, t, int(found.sizes[s, i]), size, tuple(f"{value:.9f}" for value in values)))
    return sorted(said, key=str)


def test_shortcuts_change_no_counterpart(overlapping):
    fast, plain = (
        configured(cr.counterparts, accelerate=accelerate)(
            AgglomerativeClustering(3), overlapping, n_resamples=4, rng=0
        )
        for accelerate in (True, False)
    )
    assert whatever_the_numbers(fast) == whatever_the_numbers(plain)


def test_every_sample_can_be_looked_up(overlapping):
    """The numbers of a tree's clusters are the shortcut's own."""
    found = cr.counterparts(AgglomerativeClustering(3), overlapping, n_resamples=1, rng=0)
    for s, (name, X) in enumerate(overlapping.items()):
        labels = found.labels(name)
        assert cr.adjusted_rand_index(labels, ward(X)) == 1
        assert [np.count_nonzero(labels == cluster) for cluster in found.clusters[s] if cluster] == [
            size for size in found.sizes[s] if size
        ]


def test_more_features_than_samples(overlapping):
    """Extra features without spread, so many that the run works in coordinates: nothing changes."""
    wide = {name: np.column_stack([X, np.zeros((len(X), 150))]) for name, X in overlapping.items()}
    one = cr.counterparts(AgglomerativeClustering(3), overlapping, n_resamples=3, rng=0, resampling=cr.Bootstrap())
    other = cr.counterparts(AgglomerativeClustering(3), wide, n_resamples=3, rng=0, resampling=cr.Bootstrap())
    assert whatever_the_numbers(other) == whatever_the_numbers(one)


def test_workers_change_no_counterpart(overlapping):
    one, two = (
        cr.counterparts(AgglomerativeClustering(3), overlapping, n_resamples=4, rng=0, **how)
        for how in ({"n_jobs": 1}, {"n_jobs": 2})
    )
    np.testing.assert_array_equal(one.distribution, two.distribution)
    np.testing.assert_array_equal(one.partner, two.partner)


def test_simulated_and_noisy_studies_have_counterparts(overlapping):
    simulate = cr.Simulate(lambda study, rng: study.X + 0.01 * rng.normal(size=study.X.shape))
    for resampling in (simulate, cr.Jitter(0.01), cr.Bootstrap() + cr.Jitter(0.01)):
        found = cr.counterparts(AgglomerativeClustering(3), overlapping, n_resamples=2, resampling=resampling, rng=0)
        assert found.distribution.shape == (2, 3, 3, 3)
        assert np.nanmin(found.distribution) >= 0


def test_simulated_studies_may_have_another_size(overlapping):
    simulate = cr.Simulate(
        lambda study, rng: np.repeat(study.X, 2, axis=0) + 0.01 * rng.normal(size=(2 * len(study), 3))
    )
    found = cr.counterparts(AgglomerativeClustering(3), overlapping, n_resamples=2, resampling=simulate, rng=0)
    assert found.distribution.shape == (2, 3, 3, 3)


# ---------------------------------------------------------------------------------------------------------------------
# counterparts: failures and errors


@pytest.mark.parametrize(("seed", "most_fail"), [(1, True), (11, False), (12, False)])
def test_resamples_in_which_any_study_fails_are_left_out(seed, most_fail):
    tables = {"a": line(0, 1, 2, 3, 4, 5), "b": line(0, 1, 2, 3, 4)}
    drawn = first_drawn(tables, 12, seed)
    both = [a and b for a, b in zip(drawn["a"], drawn["b"], strict=True)]
    n_failed = 12 - sum(both)
    assert 1 < n_failed < 12
    assert (n_failed > 6) == most_fail
    with pytest.warns(
        ReplicateWarning,
        match=rf"{n_failed} resamples of 12 failed and were omitted: RuntimeError: the first sample is missing",
    ):
        found = cr.counterparts(Fragile(), tables, n_resamples=12, rng=seed)
    assert np.isnan(found.distribution[~np.array(both)]).all()
    np.testing.assert_array_equal(np.isfinite(found.distribution[:, 0, 1, 0]), both)
    row = found.to_frame().iloc[0]
    values = found.distribution[both, 0, 1, 0]
    expected = [quantile_by_hand(values, q) for q in (0.025, 0.975)]
    assert [row["low"], row["high"]] == pytest.approx(expected)
    assert row["found"] == 1  # in every resample that ran


def test_a_clusterer_that_always_fails_says_why(overlapping):
    with pytest.raises(AllReplicatesFailed, match=r"failed on a study as it is: RuntimeError: the first sample"):
        cr.counterparts(Fragile(), overlapping, n_resamples=2, rng=0, resampling=cr.Bootstrap())

    def no_duplicates(X):
        if len(np.unique(X, axis=0)) < len(X):
            raise ValueError("duplicates")
        return AgglomerativeClustering(2).fit_predict(X)

    with pytest.raises(
        AllReplicatesFailed, match=r"Not one resample could be scored; 2 resamples failed: .*duplicates"
    ):
        cr.counterparts(no_duplicates, overlapping, n_resamples=2, rng=0, resampling=cr.Bootstrap())


@pytest.mark.parametrize("function", [cr.counterparts, cr.leave_one_study_out])
def test_what_both_functions_refuse(function, overlapping):
    ward = AgglomerativeClustering(2)
    with pytest.raises(ParameterError, match="studies must hold at least two studies, got 1"):
        function(ward, {"a": overlapping["a"]}, rng=0)
    with pytest.raises(ParameterError, match="n_resamples must be a positive integer, got 0"):
        function(ward, overlapping, n_resamples=0)
    with pytest.raises(ParameterError, match="clusterer is None: pass a clusterer"):
        function(None, overlapping)
    with pytest.raises(ParameterError, match="accelerate"):
        configured(function, accelerate="yes")(ward, overlapping)
    with pytest.raises(ParameterError, match="rng must be a non-negative integer"):
        function(ward, overlapping, rng=-1)
    with pytest.raises(ParameterError, match="resampling must keep the features"):
        function(ward, overlapping, resampling=cr.FeatureSubset(0.5))


def test_labels_of_counterparts_are_checked(overlapping):
    with pytest.raises(ParameterError, match="Pass either a clusterer or labels, not both"):
        cr.counterparts(KMeans(2), overlapping, labels={"a": [0] * 17})
    with pytest.raises(DataError, match="labels are missing for 'b', 'c'"):
        cr.counterparts(None, overlapping, labels={"a": [0, 1] * 8 + [0]})


# ---------------------------------------------------------------------------------------------------------------------
# counterparts: the result


@pytest.fixture(scope="module")
def matched_studies(overlapping):
    return cr.counterparts(AgglomerativeClustering(3), overlapping, n_resamples=6, rng=4, resampling=cr.Bootstrap())


def test_counterparts_are_saved_and_read(matched_studies, tmp_path):
    matched_studies.save(tmp_path / "counterparts.npz")
    again = cr.load(tmp_path / "counterparts.npz")
    assert type(again) is type(matched_studies)
    for name in ("clusters", "sizes", "partner", "overlap", "distribution"):
        np.testing.assert_array_equal(getattr(again, name), getattr(matched_studies, name))
        assert not getattr(again, name).flags.writeable
    assert again.names == matched_studies.names
    assert again.of("a", "1") == matched_studies.of("a", "1")
    assert repr(again) == repr(matched_studies)


def test_counterparts_can_not_be_written_to(matched_studies):
    for name in ("clusters", "sizes", "partner", "overlap", "distribution"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(matched_studies, name)[0] = 0


def test_a_cluster_that_falls_apart_is_not_found_again():
    """One clusterer that splits the data as they are in two, and resamples at random into four."""

    class Unsteady:
        def fit_predict(self, X):
            if len(np.unique(X, axis=0)) == len(X):
                return (X[:, 0] > 0).astype(int)
            return np.arange(len(X)) % 4

    tables = {name: np.random.default_rng(i).normal(size=(40, 2)) for i, name in enumerate("ab")}
    found = cr.counterparts(Unsteady(), tables, n_resamples=8, rng=0, resampling=cr.Bootstrap())
    assert (found.to_frame()["found"] == 0).all()
    assert np.isnan(found.distribution).all()


def test_the_frame_of_counterparts(matched_studies):
    frame = matched_studies.to_frame()
    assert frame.columns.tolist() == [
        "train", "cluster", "size", "test", "counterpart", "overlap", "low", "high", "found",
    ]  # fmt: skip
    assert len(frame) == 3 * 2 * 3
    wide, narrow = matched_studies.to_frame(0.9), matched_studies.to_frame(0.5)
    assert not (wide["low"] > narrow["low"]).any()
    assert (wide["low"] < narrow["low"]).any()
    assert not (wide["high"] < narrow["high"]).any()
    n_without_interval = 0
    for row in narrow.itertuples():
        s, t = matched_studies.names.index(row.train), matched_studies.names.index(row.test)
        i = matched_studies.clusters[s].tolist().index(row.cluster)
        assert row.size == matched_studies.sizes[s, i]
        np.testing.assert_equal(row.overlap, matched_studies.overlap[s, t, i])
        partner = matched_studies.of(row.train, row.cluster)[row.test]
        if partner is None:
            assert pd.isna(row.counterpart)
            assert np.isnan([row.low, row.high, row.found]).all()
            continue
        assert partner == row.counterpart
        values = matched_studies.distribution[:, s, t, i].tolist()
        n_found = sum(value == value for value in values)
        assert row.found == pytest.approx(n_found / 6)
        ends = [quantile_by_hand(values, q) if n_found >= 3 else np.nan for q in (0.25, 0.75)]
        assert [row.low, row.high] == pytest.approx(ends, nan_ok=True)
        n_without_interval += 0 < n_found < 3
    assert 0 < n_without_interval < len(frame)


@pytest.mark.parametrize("n_found", [0, 1, 2, 3, 4, 5, 6])
def test_an_interval_needs_both_clusters_in_half_of_the_resamples(matched_studies, n_found):
    s, t, i = next(
        place for place in np.ndindex(3, 3, 3) if place[0] != place[1] and matched_studies.partner[place] >= 0
    )
    distribution = np.array(matched_studies.distribution)
    values = np.linspace(0.3, 0.8, 6)
    distribution[:, s, t, i] = np.where(np.arange(6) < n_found, values, np.nan)
    frame = replace(matched_studies, distribution=distribution).to_frame(0.5)
    names, cluster = matched_studies.names, matched_studies.clusters[s, i]
    (row,) = frame[
        (frame["train"] == names[s]) & (frame["test"] == names[t]) & (frame["cluster"] == cluster)
    ].itertuples()
    assert row.found == pytest.approx(n_found / 6)
    ends = [quantile_by_hand(values[:n_found], q) if n_found >= 3 else np.nan for q in (0.25, 0.75)]
    assert [row.low, row.high] == pytest.approx(ends, nan_ok=True)


def test_counterparts_in_words(matched_studies):
    first, header, *rows = repr(matched_studies).splitlines()
    assert first == (
        "Counterparts of the clusters of AgglomerativeClustering in 3 studies: Jaccard overlap, 6 resamples, seed 4"
    )
    assert header.split()[:3] == ["train", "cluster", "size"]
    assert len(rows) == 18


def test_counterparts_are_drawn(matched_studies):
    _, ax = plt.subplots()
    assert matched_studies.plot(ax, train="b") is ax
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "c"]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0", "1", "2"]
    expected = [[matched_studies.overlap[1, t, i] for t in (0, 2)] for i in range(3)]
    np.testing.assert_array_equal(ax.images[0].get_array(), expected)
    texts = {text.get_position(): text.get_text() for text in ax.texts}
    for x, t in enumerate((0, 2)):
        for i in range(3):
            j = matched_studies.partner[1, t, i]
            assert texts[x, i] == (f"{j}\n{matched_studies.overlap[1, t, i]:.2f}" if j >= 0 else "none")
    assert matched_studies.plot().get_ylabel() == "cluster of a"


def test_a_cluster_without_counterpart_is_drawn():
    tables = {"a": line(0, 1, 2, 100, 101), "b": line(0, 1, 2, 3)}
    ax = cr.counterparts(once_or_twice, tables, n_resamples=2, rng=0).plot()
    assert [text.get_text() for text in ax.texts] == ["0\n1.00", "none"]
