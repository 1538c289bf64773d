"""All studies but one, pooled, against that one."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from tests.algorithms.by_hand import (
    OTHER,
    SHARED,
    Fragile,
    first_drawn,
    line,
    mixture,
    nearest_labels,
    quantile_by_hand,
    ward,
)
from tests.helpers import by_two, configured
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, ParameterError, ReplicateWarning
from clustrep.fitting.resample import Source

# ---------------------------------------------------------------------------------------------------------------------
# all but one


def pooled_with(tables, tested):
    return {
        f"all but {tested}": np.concatenate([X for name, X in tables.items() if name != tested]),
        tested: tables[tested],
    }


@pytest.mark.parametrize(
    "clusterer",
    [
        AgglomerativeClustering(3),
        KMeans(3, n_init=2, random_state=0),
        KMeans(3, n_init=1),
        DBSCAN(eps=1.0, min_samples=3),
    ],
    ids=["ward", "kmeans", "unseeded kmeans", "dbscan"],
)
def test_all_but_one_is_replicability_of_the_pooled_others_and_that_one(overlapping, clusterer):
    found = cr.leave_one_study_out(clusterer, overlapping, n_resamples=4, rng=6, resampling=cr.resampling.Bootstrap())
    for s, name in enumerate("abc"):
        by_hand = cr.replicability(
            clusterer,
            pooled_with(overlapping, name),
            n_resamples=4,
            rng=6,
            diagonal=False,
            resampling=cr.resampling.Bootstrap(),
        )
        assert found.estimate[s] == by_hand.estimate[0, 1]
        np.testing.assert_array_equal(found.distribution[:, s], by_hand.distribution[:, 0, 1])
    assert found.names == ("a", "b", "c")
    assert len(set(found.distribution.ravel().tolist())) > 6


def test_the_estimate_is_the_agreement_of_two_labelings_of_the_tested_study(overlapping):
    found = cr.leave_one_study_out(
        AgglomerativeClustering(3), overlapping, n_resamples=3, rng=1, resampling=cr.resampling.Bootstrap()
    )
    ami = cr.leave_one_study_out(
        AgglomerativeClustering(3),
        overlapping,
        n_resamples=3,
        rng=1,
        agreement="ami",
        resampling=cr.resampling.Bootstrap(),
    )
    assert (found.agreement, ami.agreement) == ("ari", "ami")
    source = Source(cr.resampling.Bootstrap(), 1)
    for s, name in enumerate("abc"):
        (others_name, others), (_, tested) = pooled_with(overlapping, name).items()
        trained = nearest_labels(others, ward(others), tested)
        assert found.estimate[s] == pytest.approx(adjusted_rand_score(trained, ward(tested)))
        assert ami.estimate[s] == pytest.approx(adjusted_mutual_info_score(trained, ward(tested)))
        train, test = (source.draw(cr.Study(X, n), 2).sample for X, n in ((others, others_name), (tested, name)))
        trained = nearest_labels(train, ward(train), test)
        assert found.distribution[1, s] == pytest.approx(adjusted_rand_score(trained, ward(test)))


def test_the_tested_study_is_drawn_as_in_replicability(overlapping):
    seen = []

    def watch(X):
        seen.append(X.tobytes())
        return AgglomerativeClustering(2).fit_predict(X)

    cr.replicability(watch, overlapping, n_resamples=4, rng=9, diagonal=False)
    whole_run = set(seen)
    seen.clear()
    cr.leave_one_study_out(watch, overlapping, n_resamples=4, rng=9)
    assert len(whole_run) == 3 * 5
    assert whole_run <= set(seen)
    assert len(set(seen)) == 2 * 3 * 5
    assert len(seen) == 2 * 3 * 5  # each is fitted once


def test_an_agreement_may_be_a_function_and_noise_be_dropped(overlapping):
    def same(u, v):
        return float(len(u))

    dbscan = DBSCAN(eps=1.9, min_samples=3)
    found = cr.leave_one_study_out(dbscan, overlapping, n_resamples=2, rng=0, agreement=same, noise="drop")
    assert found.agreement == "same"
    for s, name in enumerate("abc"):
        others, tested = pooled_with(overlapping, name).values()
        trained = nearest_labels(others, dbscan.fit_predict(others), tested)
        kept = [u != -1 and v != -1 for u, v in zip(trained, dbscan.fit_predict(tested), strict=True)]
        assert found.estimate[s] == sum(kept) < len(tested)


def test_with_two_studies_each_is_trained_on_the_other(overlapping):
    two = {name: overlapping[name] for name in "ab"}
    found = cr.leave_one_study_out(AgglomerativeClustering(3), two, n_resamples=1, rng=0)
    pairs = cr.replicability(AgglomerativeClustering(3), two, n_resamples=1, rng=0)
    np.testing.assert_allclose(found.estimate, [pairs.estimate[1, 0], pairs.estimate[0, 1]])


def test_a_study_with_other_clusters_is_not_predicted():
    rng = np.random.default_rng(1)
    tables = {name: mixture(rng, OTHER * 2 if name == "c" else SHARED * 2, 40) for name in "abcd"}
    found = cr.leave_one_study_out(KMeans(3, n_init=3), tables, n_resamples=10, rng=0)
    assert found.mean.argmin() == 2
    assert found.estimate[2] < 0.5


def test_all_but_one_laws(overlapping):
    ward3 = AgglomerativeClustering(3)
    found = cr.leave_one_study_out(ward3, overlapping, n_resamples=4, rng=6)
    longer = cr.leave_one_study_out(ward3, overlapping, n_resamples=6, rng=6)
    np.testing.assert_array_equal(longer.distribution[:4], found.distribution)
    plain = configured(cr.leave_one_study_out, accelerate=False)(ward3, overlapping, n_resamples=4, rng=6)
    np.testing.assert_allclose(plain.distribution, found.distribution)
    np.testing.assert_allclose(plain.estimate, found.estimate)
    turned = cr.leave_one_study_out(ward3, {name: overlapping[name] for name in "cab"}, n_resamples=1, rng=6)
    np.testing.assert_allclose(turned.estimate, found.estimate[[2, 0, 1]])


def test_workers_change_nothing_of_all_but_one(overlapping):
    one = cr.leave_one_study_out(AgglomerativeClustering(3), overlapping, n_resamples=4, rng=6)
    with by_two():
        two = cr.leave_one_study_out(AgglomerativeClustering(3), overlapping, n_resamples=4, rng=6)
    np.testing.assert_array_equal(one.distribution, two.distribution)
    np.testing.assert_array_equal(one.estimate, two.estimate)


@pytest.mark.parametrize(
    "options",
    [
        {"noise": "keep"},
        {"agreement": "arri"},
        {"agreement": ("ari", "ami")},
    ],
)
def test_what_all_but_one_refuses(overlapping, options):
    with refused(ParameterError, *options):
        cr.leave_one_study_out(AgglomerativeClustering(2), overlapping, **options)


# ---------------------------------------------------------------------------------------------------------------------
# all but one: failures


def test_scores_of_failed_draws_are_left_out():
    tables = {name: line(*range(n)) for name, n in (("a", 6), ("b", 5), ("c", 4))}
    drawn = first_drawn(tables, 10, 3)
    expected = np.zeros((11, 3), dtype=bool)
    for s, name in enumerate("abc"):
        source, ((pool, X), _) = Source(cr.resampling.Bootstrap(), 3), pooled_with(tables, name).items()
        for b in range(1, 11):
            trains = 0 in X[source.draw(cr.Study(X, pool), b).order]
            expected[b, s] = not (trains and drawn[name][b - 1])
    assert 0 < expected.sum() < 30
    with warned(ReplicateWarning):
        found = cr.leave_one_study_out(Fragile(), tables, n_resamples=10, rng=3)
    np.testing.assert_array_equal(found.failed > 0, expected)
    np.testing.assert_array_equal(np.isnan(found.distribution), expected[1:])
    assert found.failures == {"RuntimeError: the first sample is missing": expected.sum()}
    assert f"Failed: {expected.sum()} scores: RuntimeError: the first sample is missing" in repr(found)
    for s in range(3):
        values = [value for value in found.distribution[:, s] if value == value]
        assert found.mean[s] == pytest.approx(sum(values) / len(values))


def test_scores_on_the_pooled_studies_are_not_asked_for(overlapping):
    """An agreement that fails on more samples than any study has: none is missing."""

    def of_few(u, v):
        return 0.5 if len(u) <= 22 else np.nan

    found = cr.leave_one_study_out(AgglomerativeClustering(2), overlapping, n_resamples=2, rng=0, agreement=of_few)
    assert (found.distribution == 0.5).all()
    assert found.failures == {}


def test_a_study_that_fails_as_it_is_has_no_estimate():
    tables = {"a": line(0, 1, 2, 3, 4, 5), "b": line(0, 1, 2, 3, 4, 6), "c": line(1, 2, 3, 4, 5)}
    with warned(ReplicateWarning):
        found = cr.leave_one_study_out(Fragile(), tables, n_resamples=8, rng=3)
    assert np.isnan(found.estimate).tolist() == [False, False, True]
    assert np.isnan(found.distribution[:, 2]).all()
    assert found.plot() is not None
    assert "NaN" in repr(found)


def test_all_but_one_that_always_fails_says_why(overlapping):
    with refused(AllReplicatesFailed):
        cr.leave_one_study_out(Fragile(), overlapping, n_resamples=2, rng=0)
    with refused(AllReplicatesFailed):
        cr.leave_one_study_out(KMeans(40, n_init=1), overlapping, n_resamples=2, rng=0)


def test_all_resamples_failing_raises_as_in_replicability(overlapping):
    def no_duplicates(X):
        if len(np.unique(X, axis=0)) < len(X):
            raise ValueError("duplicates")
        return AgglomerativeClustering(2).fit_predict(X)

    with refused(AllReplicatesFailed):
        cr.replicability(no_duplicates, overlapping, n_resamples=2, rng=0, resampling=cr.resampling.Bootstrap())
    with refused(AllReplicatesFailed):
        cr.leave_one_study_out(no_duplicates, overlapping, n_resamples=2, rng=0, resampling=cr.resampling.Bootstrap())


# ---------------------------------------------------------------------------------------------------------------------
# all but one: the result


@pytest.fixture(scope="module")
def left_out(overlapping):
    return cr.leave_one_study_out(AgglomerativeClustering(3), overlapping, n_resamples=8, rng=4)


def test_all_but_one_is_saved_and_read(left_out, tmp_path):
    left_out.save(tmp_path / "left_out.npz")
    again = cr.load(tmp_path / "left_out.npz")
    assert type(again) is type(left_out)
    for name in ("estimate", "distribution", "failed"):
        np.testing.assert_array_equal(getattr(again, name), getattr(left_out, name))
        assert not getattr(again, name).flags.writeable
    assert (again.names, again.agreement, again.n_clusters, again.causes) == (("a", "b", "c"), "ari", 3, ())
    assert again.provenance == left_out.provenance
    assert repr(again) == repr(left_out)


def test_all_but_one_can_not_be_written_to(left_out):
    for name in ("estimate", "distribution", "failed"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(left_out, name)[0] = 0


def test_the_frame_of_all_but_one(left_out):
    frame = left_out.to_frame(0.5)
    assert frame.columns.tolist() == ["test", "agreement", "score", "mean", "sd", "low", "high"]
    assert frame["test"].tolist() == ["a", "b", "c"]
    assert (frame["agreement"] == "ari").all()
    for s, row in enumerate(frame.itertuples()):
        values = left_out.distribution[:, s].tolist()
        mean = sum(values) / 8
        assert row.score == left_out.estimate[s]
        assert row.mean == pytest.approx(mean)
        assert row.sd == pytest.approx((sum((value - mean) ** 2 for value in values) / 7) ** 0.5)
        assert row.low == pytest.approx(quantile_by_hand(values, 0.25), nan_ok=True)
        assert row.high == pytest.approx(quantile_by_hand(values, 0.75), nan_ok=True)


def test_all_but_one_in_words(left_out):
    first, header, *rows = repr(left_out).splitlines()
    assert first == "Trained on all other studies: AgglomerativeClustering, k = 3, ARI, 8 resamples, seed 4"
    assert header.split() == ["test", "score", "mean", "sd", "low", "high"]
    assert [row.split()[0] for row in rows] == ["a", "b", "c"]


def test_all_but_one_is_drawn(left_out):
    _, ax = plt.subplots()
    assert left_out.plot(ax) is ax
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b", "c"]
    means, estimates = (drawn.get_ydata() for drawn in ax.lines[:2])
    np.testing.assert_array_equal(means, left_out.mean)
    np.testing.assert_array_equal(estimates, left_out.estimate)
    low, high = left_out.confidence_interval()
    drawn = [[segment[0, 1], segment[1, 1]] for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(drawn, np.column_stack([low, high]))
    assert left_out.plot() is not ax


def test_single_precision_is_kept_when_studies_are_pooled(rng):
    tables = {name: rng.normal(size=(12, 2)).astype(np.float32) for name in "abc"}
    studies = [cr.Study(X, name) for name, X in tables.items()]
    assert studies[0].with_samples_of(studies[1:], "all").X.dtype == studies[0].X.dtype
    found = cr.leave_one_study_out(AgglomerativeClustering(2), tables, n_resamples=1, rng=0)
    double = {name: X.astype(float) for name, X in tables.items()}
    np.testing.assert_allclose(
        found.estimate, cr.leave_one_study_out(AgglomerativeClustering(2), double, n_resamples=1, rng=0).estimate
    )


def test_the_order_of_studies_does_not_matter_to_those_left_out(overlapping):
    clusterer = KMeans(3, n_init=1)
    one = cr.leave_one_study_out(clusterer, overlapping, n_resamples=3, rng=0)
    other = cr.leave_one_study_out(clusterer, dict(reversed(overlapping.items())), n_resamples=3, rng=0)
    np.testing.assert_array_equal(one.estimate, other.estimate[::-1])
    np.testing.assert_array_equal(one.distribution, other.distribution[:, ::-1])
