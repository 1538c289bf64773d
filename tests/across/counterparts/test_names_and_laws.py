"""Names of counterparts, known labels in place of a clusterer, and laws."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.across.by_hand import (
    line,
    nearest_labels,
    ward,
)
from tests.across.counterparts.cases import jaccard_of_sets, thresholds
from tests.helpers import configured

import clustrep as cr
from clustrep.clustering.sample import Source
from clustrep.errors import ParameterError

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
