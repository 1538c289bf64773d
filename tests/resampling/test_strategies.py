"""Where replicates come from, and that their random streams belong to (study name, replicate) alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chisquare
from sklearn.cluster import DBSCAN, AgglomerativeClustering, Birch, KMeans
from tests.helpers import by_two

import clustrep as cr
from clustrep.errors import DataError
from clustrep.execution.seeds import FULL_STUDY, Stream, make_generator, seed_of
from clustrep.fitting.resample import Source
from clustrep.resampling.strategies import Draw, whole


def normal_like(study, rng):
    return rng.normal(size=study.X.shape)


@pytest.fixture
def study(rng):
    return cr.Study(rng.normal(size=(25, 3)), "mainz")


NAMES = ["bootstrap", "subsample", "permutation", "simulate"]
EVERY = [
    cr.resampling.Bootstrap(),
    cr.resampling.Subsample(0.4),
    cr.resampling.Subsample(1.0),
    cr.resampling.Simulate(normal_like),
]


# ---------------------------------------------------------------------------------------------------------------------
# a draw


@given(st.lists(st.tuples(st.sampled_from([0.0, -0.0, 1.0]), st.integers(-1, 1)), min_size=1, max_size=8), st.data())
def test_equal_points_are_counted_once(rows, data):
    points = np.array(rows, dtype=float)
    order = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1)))
    draw = Draw(points, order)
    assert draw.n_distinct() == len({rows[i] for i in order})
    assert draw.weights.sum() == len(order)


def test_the_whole_study_is_drawn_once_in_order(study):
    draw = whole(study)
    np.testing.assert_array_equal(draw.sample, study.X)
    assert draw.weights.tolist() == [1] * 25


def test_bootstrap_draws_as_many_samples_with_replacement(study):
    draw = cr.resampling.Bootstrap().draw(study, np.random.default_rng(0))
    assert draw.points is study.X
    assert draw.weights.sum() == 25
    assert draw.weights.max() > 1
    assert (draw.weights == 0).any()


@pytest.mark.parametrize(
    ("n", "fraction", "size"),
    [(25, 0.8, 20), (25, 0.81, 20), (10, 1.0, 10), (10, 1, 10), (10, 0.01, 2), (2, 0.5, 2), (10, 0.7, 7)],
)
def test_subsample_draws_a_fraction_without_replacement(n, fraction, size, rng):
    draw = cr.resampling.Subsample(fraction).draw(cr.Study(rng.normal(size=(n, 2)), "a"), rng)
    assert len(draw.order) == size
    assert draw.weights.max() == 1


@pytest.mark.parametrize("n", [10, 50, 100, 200, 1000])
def test_a_fraction_that_is_a_whole_number_of_samples_is_that_number(n, rng):
    """In floating point, 0.29 × 100 is a little less than 29."""
    study = cr.Study(rng.normal(size=(n, 1)), "a")
    sizes = {percent: len(cr.resampling.Subsample(percent / 100).draw(study, rng).order) for percent in range(20, 101)}
    whole_numbers = {percent: percent * n // 100 for percent in range(20, 101) if percent * n % 100 == 0}
    assert {percent: sizes[percent] for percent in whole_numbers} == whole_numbers


def test_a_subsample_comes_in_random_order(study):
    """The order of rows can matter to a clusterer; it must not tell which were drawn."""
    orders = [cr.resampling.Subsample(1.0).draw(study, np.random.default_rng(seed)).order for seed in range(5)]
    assert all(not np.array_equal(order, np.arange(25)) for order in orders)


def test_simulated_samples_are_fresh_points_each_with_weight_one(study):
    draw = cr.resampling.Simulate(normal_like).draw(study, np.random.default_rng(0))
    np.testing.assert_array_equal(draw.points, np.random.default_rng(0).normal(size=(25, 3)))
    assert draw.weights.tolist() == [1] * 25


def test_a_simulated_study_may_have_another_size(study):
    simulate = cr.resampling.Simulate(lambda study, rng: rng.normal(size=(2 * len(study), 3)))
    assert len(simulate.draw(study, np.random.default_rng(0)).points) == 50


def test_the_sampler_knows_which_study_it_samples():
    seen = []

    def sampler(study, rng):
        seen.append(study.name)
        return rng.normal(size=study.X.shape)

    studies = {name: np.arange(12.0).reshape(6, 2) ** 1.5 for name in ("a", "b")}
    cr.replicability(KMeans(2, n_init=1), studies, n_resamples=1, resampling=cr.resampling.Simulate(sampler), rng=0)
    assert sorted(set(seen)) == ["a", "b"]


# ---------------------------------------------------------------------------------------------------------------------
# what can not be drawn


@pytest.mark.parametrize(
    "sampler",
    [
        lambda study, rng: rng.normal(size=(5, 2)),
        lambda study, rng: rng.normal(size=5),
        lambda study, rng: np.full((5, 3), np.nan),
        lambda study, rng: rng.normal(size=(1, 3)),
    ],
    ids=["features", "one dimension", "missing", "one sample"],
)
def test_what_a_sampler_returns_is_checked(sampler, study):
    with pytest.raises(DataError):
        cr.resampling.Simulate(sampler).draw(study, np.random.default_rng(0))


# ---------------------------------------------------------------------------------------------------------------------
# streams


def test_streams_never_change():
    """Every result ever saved was drawn from these: a change here makes all of them irreproducible."""
    study = cr.Study(np.arange(10.0).reshape(10, 1) ** 1.5, "mainz")
    source = Source(cr.resampling.Bootstrap(), 0)
    assert source.draw(study, 1).order.tolist() == [4, 5, 2, 2, 4, 6, 4, 4, 5, 0]
    assert source.draw(study, 1, second=True).order.tolist() == [9, 2, 0, 0, 7, 7, 1, 4, 3, 9]
    assert Source(cr.resampling.Subsample(0.5), 2023).draw(study, 7).order.tolist() == [9, 3, 2, 7, 8]
    assert seed_of(0, Stream.FIT, "mainz", 1, 4).generate_state(2).tolist() == [4012804612, 3878417500]


def test_streams_keep_their_numbers():
    names = ["DRAW", "SECOND_DRAW", "FIT", "SECOND_FIT", "SPLIT", "NULL", "PAIRS", "TIES", "LANDMARKS", "TRANSFORM"]
    names += ["SUBCLUSTERS", "NEIGHBOURS"]
    assert {stream.name: stream.value for stream in Stream} == {name: i for i, name in enumerate(names)}
    assert FULL_STUDY == 0


def test_no_two_seeds_of_a_run_are_the_same():
    keys = itertools.product([0, 1], Stream, ["a", "b", "ab", "A", "ä"], [0, 1, 2, 100], [None, 1, 2, 3])
    seeds = [tuple(seed_of(*key).generate_state(4)) for key in keys]
    assert len(set(seeds)) == len(seeds)


def drawn(studies, replicate, *, clusterer=None, **options):
    """What the clusterer is given in a replicate of a run, by study: the orders of drawing."""
    result = cr.replicability(clusterer or KMeans(2, n_init=1), studies, rng=5, **options)
    origin = result._origin
    return {study.name: origin.source.draw(study, replicate).order.tolist() for study in origin.studies}


def recorded_samples(run):
    """All samples that a run fits a clusterer to, as bytes."""
    seen = set()

    def halves(X, n_clusters=2):
        seen.add(X.tobytes())
        return np.arange(len(X)) % n_clusters

    run(halves)
    return seen


@pytest.fixture
def tables(rng):
    return {name: rng.normal(size=(12, 2)) for name in ("a", "b", "c")}


def test_a_draw_depends_on_no_other_study(tables):
    a, b, c = tables.values()
    expected = drawn({"a": a, "b": b}, 3, n_resamples=4)
    for studies in ({"b": b, "a": a}, {"a": a, "b": b, "c": c}, {"a": a, "renamed": b}, {"a": a, "b": c}):
        found = drawn(studies, 3, n_resamples=4)
        assert found["a"] == expected["a"]
        assert found.get("b", expected["b"]) == expected["b"]


def test_a_draw_depends_on_the_studys_own_name(tables):
    a, b, _ = tables.values()
    assert drawn({"a": a, "b": b}, 1, n_resamples=1)["a"] != drawn({"x": a, "b": b}, 1, n_resamples=1)["x"]


def test_studies_of_the_same_size_are_drawn_independently(tables):
    draws = drawn(tables, 1, n_resamples=1)
    assert len({tuple(order) for order in draws.values()}) == 3


def test_every_run_fits_to_the_same_samples(tables):
    """Global, compared and local runs, with any k, agreement, workers and companions, share their draws."""
    a, b, c = (cr.Study(X, name) for name, X in tables.items())

    def plain(clusterer):
        cr.replicability(clusterer, [a, b], n_resamples=4, rng=5, diagonal=False)

    expected = recorded_samples(plain)
    assert len(expected) == 2 * 5

    def with_others(clusterer):
        cr.compare(
            {"other": AgglomerativeClustering(), "this": clusterer},
            [c, b, a],
            n_clusters=[2, 3, 4],
            agreement=("ami", "ri"),
            n_resamples=4,
            rng=5,
            diagonal=False,
        )

    def locally(clusterer):
        cr.local_replicability(clusterer, train=a, test=b, n_resamples=4, rng=5)

    def with_diagonal(clusterer):
        cr.replicability(clusterer, [a, b], n_resamples=4, rng=5)

    assert recorded_samples(with_others) > expected
    assert recorded_samples(locally) == expected
    assert recorded_samples(with_diagonal) > expected
    assert len(recorded_samples(with_diagonal)) == 2 * (1 + 2 * 4)  # full studies once, two draws of each resample


@pytest.mark.parametrize("resampling", EVERY, ids=NAMES)
def test_a_longer_run_begins_with_the_shorter_one(resampling, tables):
    short, long = (
        cr.replicability(KMeans(3, n_init=1), tables, n_resamples=n, resampling=resampling, rng=5) for n in (5, 10)
    )
    np.testing.assert_array_equal(long.distribution[:5], short.distribution)
    np.testing.assert_array_equal(long.estimate, short.estimate)
    assert not np.array_equal(long.distribution[5:], short.distribution)


def test_a_longer_local_run_begins_with_the_shorter_one(tables):
    short, long = (
        cr.local_replicability(KMeans(3, n_init=1), train=tables["a"], test=tables["b"], n_resamples=n, rng=5)
        for n in (5, 10)
    )
    np.testing.assert_array_equal(long.distribution[:5], short.distribution)


def test_a_run_on_two_studies_is_a_block_of_the_run_on_three(tables):
    three = cr.replicability(KMeans(3, n_init=1), tables, n_resamples=4, rng=5)
    two = cr.replicability(KMeans(3, n_init=1), {name: tables[name] for name in ("c", "a")}, n_resamples=4, rng=5)
    np.testing.assert_array_equal(two.distribution, three.distribution[:, [[2], [0]], [2, 0]])


def test_first_and_second_draw_are_independent(study):
    source = Source(cr.resampling.Bootstrap(), 0)
    pairs = [(source.draw(study, b), source.draw(study, b, second=True)) for b in range(1, 401)]
    counts = np.array([[one.weights[0], other.weights[0]] for one, other in pairs])
    correlation = np.corrcoef(counts.T)[0, 1]
    assert abs(correlation) < 4 / np.sqrt(400)


def test_the_full_study_is_not_drawn_at_all(study):
    source = Source(cr.resampling.Subsample(0.3), 0)
    for second in (False, True):
        np.testing.assert_array_equal(source.draw(study, FULL_STUDY, second=second).order, np.arange(25))


# ---------------------------------------------------------------------------------------------------------------------
# statistics


def test_bootstrap_counts_are_multinomial():
    n, B = 50, 2000
    study = cr.Study(np.arange(n, dtype=float).reshape(n, 1) ** 1.5, "mainz")
    source = Source(cr.resampling.Bootstrap(), 11)
    weights = np.array([source.draw(study, b).weights for b in range(1, B + 1)])  # (B, n)
    assert np.all(weights.sum(axis=1) == n)
    # Every sample is drawn as often as every other.
    assert chisquare(weights.sum(axis=0)).pvalue > 1e-4
    # A sample is left out of a draw with probability (1 − 1/n)ⁿ, so about 63 % are distinct.
    left_out = (1 - 1 / n) ** n
    assert binomtest(int((weights[:, 0] == 0).sum()), B, left_out).pvalue > 1e-4
    assert (weights > 0).mean() == pytest.approx(1 - left_out, abs=0.005)
    # A count's variance is 1 − 1/n, and two counts of a draw have covariance −1/n.
    assert weights.var(axis=0).mean() == pytest.approx(1 - 1 / n, abs=0.02)
    assert np.cov(weights[:, ::2].sum(axis=1), weights[:, 1::2].sum(axis=1))[0, 1] == pytest.approx(-n / 4, rel=0.15)


def test_every_sample_is_as_likely_in_a_subsample():
    n, B = 20, 1000
    study = cr.Study(np.arange(n, dtype=float).reshape(n, 1) ** 1.5, "mainz")
    source = Source(cr.resampling.Subsample(0.25), 11)
    orders = np.array([source.draw(study, b).order for b in range(1, B + 1)])  # (B, 5)
    assert chisquare(np.bincount(orders.ravel(), minlength=n)).pvalue > 1e-4
    assert chisquare(np.bincount(orders[:, 0], minlength=n)).pvalue > 1e-4


def test_make_generator_gives_the_users_own_generator_back(rng):
    assert make_generator(rng) is rng


# ---------------------------------------------------------------------------------------------------------------------
# the default

TALL = {name: np.random.default_rng(i).normal(size=(24, 3)) for i, name in enumerate("abc")}


def with_30_features(sizes):
    return {name: np.random.default_rng(i).normal(size=(n, 30)) for i, (name, n) in enumerate(sizes.items())}


BOTH = [
    (TALL, cr.resampling.Bootstrap(distinct=True)),
    (
        with_30_features({"a": 40, "b": 40, "c": 30}),
        cr.resampling.Bootstrap(distinct=True),
    ),  # as many features as samples
    (with_30_features({"a": 40, "b": 40, "c": 29}), cr.resampling.Subsample(0.8)),
]


@pytest.mark.parametrize(("tables", "expected"), BOTH, ids=["tall", "square", "one is wide"])
def test_by_default_the_resampling_suits_the_studies(tables, expected):
    ward, options = AgglomerativeClustering(2), {"n_resamples": 3, "rng": 1}
    calls = [
        lambda **how: cr.replicability(ward, tables, **options, **how),
        lambda **how: cr.compare(ward, tables, n_clusters=[2, 3], **options, **how).replicability(
            "AgglomerativeClustering", 2
        ),
        lambda **how: cr.local_replicability(ward, train=tables["a"], test=tables["c"], **options, **how),
        lambda **how: cr.leave_one_study_out(ward, tables, **options, **how),
        lambda **how: (
            cr.analyse(ward, tables, n_clusters=[2], n_null=0, options=cr.RunOptions(**how), **options).comparison
        ),
    ]
    for call in calls:
        default, same = call(), call(resampling=expected)
        assert default.provenance["resampling"] == repr(expected)
        np.testing.assert_array_equal(default.distribution, same.distribution)


EXACT = {
    "k-means, given centres": KMeans(3, init=np.eye(3), n_init=1),
    "ward": AgglomerativeClustering(3),
    "average, cosine": AgglomerativeClustering(3, linkage="average", metric="cosine"),
    "single": AgglomerativeClustering(3, linkage="single"),
    "dbscan": DBSCAN(eps=0.9, min_samples=2),
    "birch": Birch(n_clusters=3),
}


@pytest.mark.parametrize("name", EXACT)
def test_shortcuts_are_exact_where_each_sample_counts_once(name):
    options = {"resampling": cr.resampling.Bootstrap(distinct=True), "n_resamples": 4, "rng": 2}
    with cr.config_context(accelerate=False):
        plain = cr.replicability(EXACT[name], TALL, **options)
    fast = cr.replicability(EXACT[name], TALL, **options)
    np.testing.assert_allclose(fast.distribution, plain.distribution, rtol=0, atol=1e-12)
    assert len(np.unique(fast.distribution)) > 2
    with by_two():
        in_workers = cr.replicability(EXACT[name], TALL, **options)
    np.testing.assert_array_equal(in_workers.distribution, fast.distribution)


def test_known_labels_count_each_drawn_sample_once():
    """By hand: labels of the nearest drawn sample, compared on the distinct samples of the test study."""
    labels = {name: np.random.default_rng(3).integers(3, size=24) for name in TALL}
    result = cr.replicability(None, TALL, labels=labels, n_resamples=4, rng=2, diagonal=False)
    source, studies = Source(cr.resampling.Bootstrap(distinct=True), 2), cr.Studies(TALL)
    for b, (s, t) in itertools.product(range(4), itertools.permutations(range(3), 2)):
        train, test = (source.draw(studies["abc"[i]], b + 1) for i in (s, t))
        assert len(set(test.order.tolist())) == len(test.order) < 24
        nearest = [int(np.argmin(((train.sample - x) ** 2).sum(axis=1))) for x in test.sample]
        predicted = labels["abc"[s]][train.order][nearest]
        expected = cr.agreement.adjusted_rand_index(predicted, labels["abc"[t]][test.order])
        assert result.distribution[b, s, t] == pytest.approx(expected, abs=1e-12)
