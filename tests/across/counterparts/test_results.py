"""Results, failures and refusals of counterparts."""

from __future__ import annotations

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.across.by_hand import (
    Fragile,
    first_drawn,
    line,
    quantile_by_hand,
)
from tests.across.counterparts.cases import once_or_twice
from tests.helpers import configured

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, DataError, ParameterError, ReplicateWarning

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
