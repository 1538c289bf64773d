"""Runs whose agreement is prediction strength or matching: draws, fits and comparisons by hand."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.agreement.table_agreements.cases import BY_DEFINITION, NAMES, every_agreement
from tests.helpers import by_two, configured
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.errors import AllReplicatesFailed, ParameterError, ReplicateWarning
from clustrep.fitting.resample import Source

# ---------------------------------------------------------------------------------------------------------------------
# known labels: every score by hand


def line(*points):
    return np.array(points, dtype=float).reshape(-1, 1)


# The border of the first study lies at 3.5, that of the second at 4.5.
FIRST, SECOND = line(0, 1, 2, 3, 4, 5), line(0.1, 1.1, 2.1, 3.1, 4.1, 5.1)
BORDERS = {"first": list("aaaabb"), "second": list("xxxxxy")}


def test_scores_of_known_labels_by_hand():
    studies = {"first": FIRST, "second": SECOND}
    results = cr.replicability(None, studies, labels=BORDERS, agreement=NAMES, n_resamples=1, rng=0)
    assert list(results) == list(NAMES)
    # first → second: Ψ(X′; X) = aaaabb against own xxxxxy; y has one point. 6 of x's 10 pairs stay.
    # second → first: Ψ(X′; X) = xxxxxy against own aaaabb: a is whole, the one pair of b is split.
    np.testing.assert_allclose(results["prediction_strength"].estimate, [[1, 6 / 10], [0, 1]], rtol=1e-15)
    np.testing.assert_allclose(results["matching"].estimate, [[1, 5 / 6], [5 / 6, 1]], rtol=1e-15)


def test_local_scores_of_known_labels_by_hand():
    train, test = cr.Study(FIRST, "first"), cr.Study(SECOND, "second")
    options = {"train": train, "test": test, "labels": BORDERS, "n_resamples": 1, "rng": 0, "at": line(0, 4, 6)}
    strength, matching = (cr.local_replicability(None, agreement=name, **options) for name in NAMES)
    # At 0, (a, x): with it are the first four for the training side, five of the own side; the sixth is alone there.
    # At 4, (b, x): with it are the last two for the training side, the first five of the own side: shares 6/10.
    # At 6, (b, y): with it are the last two, and the last one: of the five others, 6 of 10 pairs stay.
    np.testing.assert_allclose(strength.estimate, [6 / 10, 6 / 10, 6 / 10], rtol=1e-15)
    np.testing.assert_allclose(matching.estimate, [5 / 6, 5 / 6, 5 / 6], rtol=1e-15)
    back = {**options, "train": test, "test": train}
    strength, matching = (cr.local_replicability(None, agreement=name, **back) for name in NAMES)
    # At 0, (x, a): five for the training side, four of the own side whole; the two others are split.
    # At 4, (x, b): four and one of the training side split the two of the own side.
    np.testing.assert_allclose(strength.estimate, [0, 0, 0], atol=1e-15)
    np.testing.assert_allclose(matching.estimate, [5 / 6, 5 / 6, 5 / 6], rtol=1e-15)


WITH_NOISE = {"first": [0, 0, 0, -1, 1, 1], "second": [0, 0, -1, 1, 1, 1]}


@pytest.mark.parametrize(
    ("noise", "strength", "matching"),
    [
        # first → second: 000-11 with −1 fourth against 00-111 with −1 third.
        # As labels: own 1 has points 4, 5, 6 with trained labels −1, 1, 1: 1 of 3 pairs; 2 + 2 + at most 0 points match
        ("label", 1 / 3, 4 / 6),
        # Without points 3 and 4: 00·11 against 00·11.
        ("drop", 1, 1),
        # Point 3 and point 4 are blocks of their own, each on one side: own 1 = {4, 5, 6} keeps 1 of 3 pairs.
        ("singletons", 1 / 3, 4 / 6),
    ],
)
def test_noise_by_hand(noise, strength, matching):
    results = cr.replicability(
        None,
        {"first": FIRST, "second": SECOND},
        labels=WITH_NOISE,
        agreement=NAMES,
        noise=noise,
        n_resamples=1,
        rng=2,
        resampling=cr.resampling.Rerun(),
    )
    assert results["prediction_strength"].estimate[0, 1] == pytest.approx(strength, abs=1e-15)
    assert results["matching"].estimate[0, 1] == pytest.approx(matching, abs=1e-15)


@every_agreement
def test_many_noise_points_are_one_block_or_a_block_each(name):
    trained, own = [-1, 1, 1, 0, 1, -1, 1, 0], [-1, 0, 1, -1, 0, 1, 1, 1]
    studies = {"first": line(*range(8)), "second": line(*range(8)) + 0.1}
    expected = {
        "label": BY_DEFINITION[name](trained, own),
        "drop": BY_DEFINITION[name]([1, 1, 1, 1, 0], [0, 1, 0, 1, 1]),
        "singletons": BY_DEFINITION[name]([-1, 1, 1, 0, 1, -2, 1, 0], [-3, 0, 1, -4, 0, 1, 1, 1]),
    }
    assert len(set(expected.values())) == 3
    for noise, score in expected.items():
        result = cr.replicability(
            None,
            studies,
            labels={"first": trained, "second": own},
            agreement=name,
            noise=noise,
            n_resamples=1,
            resampling=cr.resampling.Rerun(),
        )
        assert result.estimate[0, 1] == result.distribution[0, 0, 1] == pytest.approx(score, abs=1e-15)


@every_agreement
def test_nothing_but_noise_is_a_failed_replicate(name):
    labels = {"first": [-1] * 6, "second": [0, 0, 0, 1, 1, 1]}
    with refused(AllReplicatesFailed):
        cr.replicability(
            None,
            {"first": FIRST, "second": SECOND},
            labels=labels,
            agreement=name,
            noise="drop",
            n_resamples=2,
            diagonal=False,
        )


@every_agreement
def test_one_cluster_everywhere_scores_one_and_is_trivial(name):
    labels = {"first": ["a"] * 6, "second": ["x"] * 6}
    result = cr.replicability(
        None, {"first": FIRST, "second": SECOND}, labels=labels, agreement=name, n_resamples=3, rng=0
    )
    assert np.all(result.distribution == 1)
    assert result.trivial.all()


# ---------------------------------------------------------------------------------------------------------------------
# runs: draws, fits and comparisons done by hand


@pytest.fixture(scope="module")
def cloud():
    """Two overlapping studies, so that scores vary."""
    rng = np.random.default_rng(4)
    centres = np.array([[0, 0], [2.2, 0], [0, 2.2]])
    return {name: centres[np.arange(18) % 3] + 0.8 * rng.normal(size=(18, 2)) for name in ("one", "two")}


def nearest_labels(points, sample, labels):
    """The label of the nearest training point, the first of several."""
    return [labels[min(range(len(sample)), key=lambda i: math.dist(point, sample[i]))] for point in points]


def fitted(draw):
    sample = draw.sample
    labels = AgglomerativeClustering(3).fit_predict(sample).tolist()
    return lambda points: nearest_labels(points.tolist(), sample.tolist(), labels)


RESAMPLINGS = [
    cr.resampling.Bootstrap(),
    cr.resampling.Subsample(0.6),
    cr.resampling.Jitter(0.3),
    cr.resampling.Bootstrap(distinct=True) + cr.resampling.Jitter(0.2),
]


@pytest.mark.parametrize("resampling", RESAMPLINGS, ids=repr)
def test_every_score_of_a_run_is_that_of_its_draws(resampling, cloud):
    B = 3
    results = cr.replicability(
        AgglomerativeClustering(3), cloud, agreement=NAMES, n_resamples=B, resampling=resampling, rng=11
    )
    studies = [cr.Study(X, name) for name, X in cloud.items()]
    source = Source(resampling, 11)
    expected = {name: np.empty((B + 1, 2, 2)) for name in NAMES}
    for b in range(B + 1):
        draws = [source.draw(study, b) for study in studies]
        functions = [fitted(draw) for draw in draws]
        again = [fitted(source.draw(study, b, second=True)) for study in studies]
        for t, draw in enumerate(draws):
            own = functions[t](draw.points[draw.order])
            for s in range(2):
                trained = (again[t] if s == t else functions[s])(draw.points[draw.order])
                for name in NAMES:
                    expected[name][b, s, t] = BY_DEFINITION[name](trained, own)
    for name, result in results.items():
        np.testing.assert_allclose(result.estimate, expected[name][0], rtol=0, atol=1e-14)
        np.testing.assert_allclose(result.distribution, expected[name][1:], rtol=0, atol=1e-14)
    strengths = results["prediction_strength"].distribution
    assert not np.allclose(strengths[:, 0, 1], strengths[:, 1, 0])  # or the direction could not be seen


@every_agreement
@pytest.mark.parametrize("resampling", [cr.resampling.Bootstrap(), cr.resampling.Jitter(0.3)], ids=repr)
def test_every_local_score_is_that_of_two_binary_partitions(resampling, name, cloud):
    B = 2
    train, test = (cr.Study(X, name) for name, X in cloud.items())
    result = cr.local_replicability(
        AgglomerativeClustering(3), train=train, test=test, agreement=name, n_resamples=B, resampling=resampling, rng=11
    )
    source = Source(resampling, 11)
    for b in range(B + 1):
        drawn = source.draw(test, b)
        of_train, of_test = fitted(source.draw(train, b)), fitted(drawn)
        trained, own = of_train(drawn.sample), of_test(drawn.sample)
        expected = [
            BY_DEFINITION[name]([label == i for label in trained], [label == j for label in own])
            for i, j in zip(of_train(train.X), of_test(train.X), strict=True)
        ]
        found = result.estimate if b == 0 else result.distribution[b - 1]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    assert len(np.unique(result.distribution)) > 3


@every_agreement
def test_local_scores_of_noise(name):
    """A noise point shares its cluster with none, or has no score."""
    train, test = cr.Study(FIRST, "first"), cr.Study(SECOND, "second")
    options = {"train": train, "test": test, "labels": WITH_NOISE, "agreement": name, "n_resamples": 1, "rng": 0}
    alone = cr.local_replicability(None, noise="singletons", resampling=cr.resampling.Rerun(), **options)
    # Of the training points the third (0, −1) and the fourth (−1, 1) are noise on one side.
    whole = [True] * 6  # shares its cluster with none: all test points are apart from it
    expected = {
        2: BY_DEFINITION[name]([False, False, False, True, True, True], whole),
        3: BY_DEFINITION[name](whole, [False, False, False, True, True, True]),
        0: BY_DEFINITION[name]([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]),
        5: BY_DEFINITION[name]([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1]),
    }
    for point, score in expected.items():
        assert alone.estimate[point] == alone.distribution[0, point] == pytest.approx(score, abs=1e-15)
    dropped = cr.local_replicability(None, noise="drop", resampling=cr.resampling.Rerun(), **options)
    np.testing.assert_array_equal(dropped.estimate, [1, 1, np.nan, np.nan, 1, 1])


def test_a_local_run_takes_one_agreement(cloud):
    with pytest.raises(ParameterError) as caught:
        cr.local_replicability(KMeans(3), train=cloud["one"], test=cloud["two"], agreement=("matching", "ari"))
    assert caught.value.parameter == "agreement"


# ---------------------------------------------------------------------------------------------------------------------
# laws of runs


def assert_same(one, other):
    np.testing.assert_array_equal(one.estimate, other.estimate)
    np.testing.assert_array_equal(one.distribution, other.distribution)


@every_agreement
def test_other_agreements_change_nothing(name, cloud):
    options = {"n_resamples": 4, "rng": 3}
    alone = cr.replicability(KMeans(3, n_init=1), cloud, agreement=name, **options)
    among = cr.replicability(KMeans(3, n_init=1), cloud, agreement=("ari", *NAMES, "ami"), **options)
    assert_same(among[name], alone)
    choice = cr.compare(
        {"k": KMeans(n_init=1), "w": AgglomerativeClustering()}, cloud, n_clusters=[2, 3], agreement=NAMES, **options
    )
    assert_same(choice.replicability("k", 3, agreement=name), alone)


@pytest.mark.parametrize("noise", ["label", "drop", "singletons"])
def test_listed_cells_score_as_dense_tables_in_a_run(noise, cloud, monkeypatch):
    options = {"agreement": NAMES, "n_resamples": 3, "rng": 3, "noise": noise}
    dense = cr.replicability(some_noise, cloud, **options)
    monkeypatch.setattr("clustrep.agreement.batches.DENSE_CELLS", 1)
    listed = cr.replicability(some_noise, cloud, **options)
    for name in NAMES:
        assert_same(listed[name], dense[name])


def some_noise(X):
    labels = (X[:, 0] > np.median(X[:, 0])).astype(int)
    labels[X[:, 1] > np.quantile(X[:, 1], 0.8)] = -1
    return labels


def test_workers_and_batches_change_nothing(cloud):
    options = {"agreement": NAMES, "n_resamples": 6, "rng": 3, "noise": "singletons"}
    plain = cr.replicability(some_noise, cloud, n_jobs=1, **options)
    with by_two():
        other = cr.replicability(some_noise, cloud, **options)
    for name in NAMES:
        assert_same(other[name], plain[name])


@every_agreement
def test_a_longer_run_begins_with_the_shorter_and_a_shortcut_changes_nothing(name, cloud):
    short, long, plain = (
        configured(cr.replicability, accelerate=accelerate)(
            AgglomerativeClustering(3), cloud, agreement=name, n_resamples=n, rng=3
        )
        for n, accelerate in ((3, True), (6, True), (6, False))
    )
    np.testing.assert_array_equal(long.distribution[:3], short.distribution)
    assert_same(long, plain)


def test_prediction_strength_of_two_halves_is_that_of_a_split(cloud):
    """Equation (4) within one study is Algorithm 1 on its two halves."""
    X = np.concatenate(list(cloud.values()))
    split = np.repeat([True, False], 18)
    within = cr.stability.prediction_strength(AgglomerativeClustering(3), X, split=split, both_directions=False, rng=0)
    across = cr.replicability(
        AgglomerativeClustering(3), cloud, agreement="prediction_strength", n_resamples=1, rng=0, diagonal=False
    )
    assert within.strength.tolist() == [across.estimate[0, 1]]


def test_a_clusterer_that_sometimes_fails_leaves_the_other_scores(cloud):
    calls = []

    def moody(X):
        calls.append(len(X))
        if len(calls) == 5:
            raise ValueError("not today")
        return (X[:, 0] > 1).astype(int)

    with warned(ReplicateWarning):
        results = cr.replicability(moody, cloud, agreement=NAMES, n_resamples=3, rng=0, diagonal=False)
    for result in results.values():
        missing = np.isnan(result.distribution[:, [0, 1], [1, 0]])
        assert missing.any()
        assert not missing.all()
        assert result.failures == {"ValueError: not today": int(missing.sum())}


# ---------------------------------------------------------------------------------------------------------------------
# results


@pytest.fixture(scope="module")
def choice(cloud):
    return cr.compare(KMeans(n_init=1), cloud, n_clusters=[2, 3], agreement=NAMES, n_resamples=3, rng=3)


@pytest.fixture(scope="module")
def results(cloud):
    return cr.replicability(KMeans(3, n_init=1), cloud, agreement=NAMES, n_resamples=3, rng=3)


@every_agreement
def test_results_name_their_agreement(name, results):
    result = results[name]
    assert result.agreement == name
    assert set(result.to_frame()["agreement"]) == {name}
    assert f": {name.replace('_', ' ')}, mean and 95 % interval" in repr(result)
    with pytest.raises(ValueError, match="read-only"):
        result.distribution[0] = 1


@every_agreement
def test_results_survive_a_file(name, results, tmp_path):
    results[name].save(tmp_path / "result.clustrep")
    back = cr.load(tmp_path / "result.clustrep")
    assert_same(back, results[name])
    assert (back.agreement, repr(back)) == (name, repr(results[name]))


@every_agreement
def test_results_are_drawn(name, results, choice, cloud):
    local = cr.local_replicability(
        KMeans(3, n_init=1), train=cloud["one"], test=cloud["two"], agreement=name, n_resamples=2, rng=0
    )
    figure, axes = plt.subplots(1, 3)
    assert results[name].plot(axes[0]) is axes[0]
    assert choice.plot(axes[1], agreement=name) is axes[1]
    assert local.plot(ax=axes[2]) is axes[2]
    assert all(ax.has_data() for ax in axes)
    plt.close(figure)


def test_a_comparison_knows_both(choice):
    frame = choice.to_frame()
    assert set(frame["agreement"]) == set(NAMES)
    for name in NAMES:
        best = choice.best(agreement=name)
        means = {k: choice.replicability("KMeans", k, agreement=name).mean for k in (2, 3)}
        averages = {k: (mean[0, 1] + mean[1, 0]) / 2 for k, mean in means.items()}
        assert best.n_clusters == max(averages, key=averages.get)
