"""Bootstrap instability, against loops over all ordered pairs of points."""

from __future__ import annotations

import dataclasses

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from tests.helpers import configured
from tests.stability.consensus.cases import (
    ROOT,
    WARD,
    assert_draws_on,
    assert_saves_and_loads,
    draws,
    far_is_noise,
    induced,
    relabelled,
    scripted,
    slices,
    two_or_three,
    ward,
)

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, ParameterError, ReplicateWarning


def instability_by_pairs(first, second, *, one_sided=False, counted=None):
    """Fang and Wang (2012): the share of ordered pairs that one function puts together and the other apart."""
    rows = range(len(first)) if counted is None else counted
    disagreements = 0
    for i in rows:
        for j in rows:
            together, also = first[i] == first[j], second[i] == second[j]
            disagreements += (together and not also) if one_sided else together != also
    return disagreements / len(rows) ** 2


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize(
    "perturbation", [cr.resampling.Bootstrap(), cr.resampling.Subsample(0.6), cr.resampling.Jitter(0.5)], ids=repr
)
def test_instability_is_the_share_of_ordered_pairs_that_two_functions_disagree_on(X, perturbation, one_sided):
    result = cr.stability.bootstrap_instability(
        slices, X, n_clusters=[2, 4], n_resamples=5, one_sided=one_sided, perturbation=perturbation, rng=ROOT
    )
    expected = np.empty((5, 2))
    both = zip(draws(X, perturbation, 5), draws(X, perturbation, 5, second=True), strict=True)
    for b, (one, other) in enumerate(both):
        for i, k in enumerate([2, 4]):
            first, second = (relabelled(slices, draw, n_clusters=k)[0] for draw in (one, other))
            expected[b, i] = instability_by_pairs(first, second, one_sided=one_sided)
    assert len(np.unique(expected)) > 4
    np.testing.assert_allclose(result.distribution, expected, rtol=0, atol=1e-15)
    np.testing.assert_allclose(result.instability, expected.mean(axis=0), rtol=1e-14)
    assert result.one_sided is one_sided
    assert result.n_clusters == (2, 4)


@pytest.mark.parametrize("accelerate", [True, False])
def test_instability_of_a_tree_is_that_of_the_pairs(X, accelerate):
    result = configured(cr.stability.bootstrap_instability, accelerate=accelerate)(
        WARD, X, n_clusters=3, n_resamples=6, rng=ROOT
    )
    both = zip(draws(X, cr.resampling.Bootstrap(), 6), draws(X, cr.resampling.Bootstrap(), 6, second=True), strict=True)
    expected = [instability_by_pairs(relabelled(ward, one)[0], relabelled(ward, other)[0]) for one, other in both]
    np.testing.assert_allclose(result.distribution[:, 0], expected, rtol=0, atol=1e-15)


def test_one_sided_counts_pairs_together_under_the_first_function_alone():
    """As R's fpc::nselectboot: Σ row² − Σ C² over n². Here C = (3 1; 0 0 | 2), rows (4, 2), columns (3, 3)."""
    points = np.arange(6.0)[:, None]
    first, second = [0, 0, 0, 0, 1, 1], ["a", "a", "a", "b", "b", "b"]
    options = {"perturbation": cr.resampling.Rerun(), "n_resamples": 1, "rng": 0}
    result = cr.stability.bootstrap_instability(scripted(first, second), points, one_sided=True, **options)
    assert result.distribution.item() == (16 + 4 - 9 - 1 - 4) / 36
    result = cr.stability.bootstrap_instability(scripted(second, first), points, one_sided=True, **options)
    assert result.distribution.item() == (9 + 9 - 9 - 1 - 4) / 36
    result = cr.stability.bootstrap_instability(scripted(first, second), points, **options)
    assert result.distribution.item() == (20 + 18 - 28) / 36


def test_instability_knows_labels_by_no_name(X):
    def renamed(X, n_clusters):
        return np.array(["zebra", "ant", "mouse"])[slices(X, n_clusters)]

    one, other = (
        cr.stability.bootstrap_instability(function, X, n_clusters=3, n_resamples=4, rng=ROOT)
        for function in (slices, renamed)
    )
    np.testing.assert_array_equal(one.distribution, other.distribution)


def test_instability_of_random_labels_is_what_chance_gives():
    """Two independent labelings with k equal parts disagree on a pair with probability 2 (1/k) (1 − 1/k)."""
    points = np.random.default_rng(0).normal(size=(200, 1))

    def thrown(X, n_clusters, random_state=None):
        return np.random.default_rng(random_state).integers(n_clusters, size=len(X))

    result = cr.stability.bootstrap_instability(thrown, points, n_clusters=[2, 5], n_resamples=20, rng=0)
    np.testing.assert_allclose(result.instability, [2 * 0.5 * 0.5, 2 * 0.2 * 0.8], atol=0.02)


@pytest.mark.parametrize("noise", ["label", "drop"])
def test_noise_is_a_cluster_or_is_left_out_where_either_function_says_so(X, noise):
    result = cr.stability.bootstrap_instability(far_is_noise, X, n_resamples=5, noise=noise, rng=ROOT)
    expected = []
    for one, other in zip(
        draws(X, cr.resampling.Bootstrap(), 5), draws(X, cr.resampling.Bootstrap(), 5, second=True), strict=True
    ):
        first, second = (relabelled(far_is_noise, draw)[0] for draw in (one, other))
        kept = [i for i in range(12) if noise == "label" or (first[i] != -1 and second[i] != -1)]
        expected.append(instability_by_pairs(first, second, counted=kept))
        assert (noise == "label") == (len(kept) == 12)
    np.testing.assert_allclose(result.distribution[:, 0], expected, rtol=0, atol=1e-15)
    assert result.provenance["noise"] == noise


def test_known_labels_travel_with_the_draw(X):
    labels = np.array(list("aabbccaabbcc"))
    result = cr.stability.bootstrap_instability(None, X, labels=labels, n_resamples=5, rng=ROOT)
    expected = []
    for one, other in zip(
        draws(X, cr.resampling.Bootstrap(), 5), draws(X, cr.resampling.Bootstrap(), 5, second=True), strict=True
    ):
        first, second = (induced(draw.sample, labels[draw.order], X) for draw in (one, other))
        expected.append(instability_by_pairs(first, second))
    np.testing.assert_allclose(result.distribution[:, 0], expected, rtol=0, atol=1e-15)
    assert result.clusterer == "known labels"
    assert result.n_clusters == (None,)
    study = cr.Study(X, "X", labels=labels)
    np.testing.assert_array_equal(
        cr.stability.bootstrap_instability(None, study, labels=True, n_resamples=5, rng=ROOT).distribution,
        result.distribution,
    )


def test_the_lowest_instability_chooses_k():
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [3.0, 5.0]])
    points = np.random.default_rng(1).normal(size=(60, 2)) * 0.4 + np.repeat(centres, 20, axis=0)
    result = cr.stability.bootstrap_instability(WARD, points, n_clusters=[5, 4, 3, 2], n_resamples=10, rng=0)
    assert result.best_n_clusters == 3
    assert "Lowest at k = 3" in repr(result)
    tied = dataclasses.replace(result, distribution=np.zeros((10, 4)))
    assert tied.best_n_clusters == 2
    alone = cr.stability.bootstrap_instability(AgglomerativeClustering(3), points, n_resamples=2, rng=0)
    assert alone.best_n_clusters == 3
    assert "Lowest" not in repr(alone)
    assert cr.stability.bootstrap_instability(ward, points, n_resamples=2, rng=0).best_n_clusters == 3
    assert cr.stability.bootstrap_instability(two_or_three, points, n_resamples=2, rng=0).best_n_clusters is None


def test_instability_tabulates_prints_saves_and_draws(X, tmp_path):
    result = cr.stability.bootstrap_instability(slices, X, n_clusters=[4, 2], n_resamples=5, rng=ROOT)
    frame = result.to_frame(0.5)
    assert list(frame.columns) == ["k", "mean", "sd", "low", "high"]
    assert frame["k"].tolist() == [4, 2]
    np.testing.assert_allclose(frame["sd"], result.distribution.std(axis=0, ddof=1))
    np.testing.assert_allclose(frame[["low", "high"]].T, np.quantile(result.distribution, [0.25, 0.75], axis=0))
    assert repr(result).startswith(f"Bootstrap instability of slices: 5 resamples, seed {ROOT}\n")
    assert_saves_and_loads(result, tmp_path / "one.npz")
    _, ax = plt.subplots()
    assert_draws_on(ax, result)
    line = ax.lines[0]
    assert line.get_xdata().tolist() == [2, 4]
    np.testing.assert_array_equal(line.get_ydata(), result.mean[::-1])
    assert ax.get_ylim()[0] == 0
    assert ax.get_ylabel() == "bootstrap instability"
    assert ax.get_title() == "slices"
    assert ax.get_xticks().tolist() == [2, 4]
    without = cr.stability.bootstrap_instability(two_or_three, X, n_resamples=2, rng=0)
    with pytest.raises(ParameterError, match="There is no number of clusters to draw against: pass n_clusters"):
        without.plot()


def test_instability_leaves_failed_pairs_out():
    points = np.arange(4.0)[:, None]
    halves, odd = [0, 0, 1, 1], [0, 1, 0, 1]
    fits = [halves, halves, halves, ValueError("no luck."), halves, odd]
    with pytest.warns(ReplicateWarning, match=r"^1 fit of 3 failed and was omitted: ValueError: no luck \(1\)\.$"):
        result = cr.stability.bootstrap_instability(
            scripted(*fits), points, perturbation=cr.resampling.Rerun(), n_resamples=3, rng=0, n_jobs=1
        )
    np.testing.assert_array_equal(result.distribution[:, 0], [0, np.nan, 8 / 16])
    assert result.failed[:, 0].tolist() == [0, 1, 0]
    assert result.failures == {"ValueError: no luck": 1}
    assert result.instability.item() == 0.25
    assert "Failed: 1 value: ValueError: no luck" in repr(result)


def test_instability_says_that_every_pair_failed(X):
    def never(X):
        raise ValueError("no luck")

    with pytest.raises(AllReplicatesFailed, match=r"Not one resample could be scored; 3 fits failed: ValueError: no"):
        cr.stability.bootstrap_instability(never, X, n_resamples=3, rng=0)


def test_instability_has_no_value_for_a_k_that_always_fails(X):
    with pytest.warns(ReplicateWarning, match="more clusters asked for than there are distinct points"):
        result = cr.stability.bootstrap_instability(WARD, X, n_clusters=[2, 12], n_resamples=4, rng=ROOT)
    assert np.isnan(result.instability).tolist() == [False, True]
    assert result.best_n_clusters == 2


def test_a_pair_of_functions_that_call_everything_noise_has_no_instability():
    points = np.arange(4.0)[:, None]
    fits = scripted([-1] * 4, [0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1])
    with pytest.warns(ReplicateWarning):
        result = cr.stability.bootstrap_instability(
            fits, points, noise="drop", perturbation=cr.resampling.Rerun(), n_resamples=2, rng=0
        )
    assert np.isnan(result.distribution[0, 0])
