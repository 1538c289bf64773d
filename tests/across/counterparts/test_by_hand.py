"""Counterparts of clusters in other studies, against loops."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from tests.across.by_hand import (
    SHARED,
    line,
    mixture,
    nearest_labels,
    ward,
)
from tests.across.counterparts.cases import jaccard_of_sets, once_or_twice, thresholds
from tests.helpers import configured

import clustrep as cr
from clustrep.clustering.sample import Source

# ---------------------------------------------------------------------------------------------------------------------
# counterparts: by hand


def matched(u, v):
    """Which label of v each label of u is matched with, one to one, most points in common."""
    rows, columns = sorted(set(u)), sorted(set(v))
    table = [[sum(a == i and b == j for a, b in zip(u, v, strict=True)) for j in columns] for i in rows]
    return {
        rows[i]: columns[j] for i, j in zip(*linear_sum_assignment(table, maximize=True), strict=True) if table[i][j]
    }


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
