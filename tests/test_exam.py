"""The exam asks what it says it asks: designs, competitors and page, each against what is known."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from exam import designs
from exam.competitors import COMPETITORS, N_REFERENCES, first_within_one_error
from exam.designs import BY_NAME, CLUSTERS, CURVE, KINDS, MISSING, ONE_PIECE, ROUND
from exam.ours import judged_statuses
from exam.outcomes import Outcome, Task, outcome_of
from exam.page import FAILED, MET, NEAR, Answers, Rate, Size, page
from exam.run import FULL, QUICK, main, rounds, sit
from scipy.stats import binomtest
from sklearn.metrics import adjusted_rand_score

TINY = Size(dict.fromkeys((ONE_PIECE, CURVE, ROUND, CLUSTERS, MISSING), 2), slow=0, n_null=19)
SAMPLE = [
    "Gaussian, round, 4 features",
    "half circle, noise 0.08",
    "3 clusters at 4.75 sd, 2 features",
    "4 on a rectangle, 5 by 6 sd",
    "4 clusters at 6 sd, one study lacks one, 3 features",
]


def large(name, times=20):
    """Many collections of a kind as one."""
    drawn = [BY_NAME[name].draw(np.random.default_rng([7, i])) for i in range(times)]
    return (
        np.concatenate([np.concatenate(collection.tables) for collection in drawn]),
        np.concatenate([np.concatenate(collection.labels) for collection in drawn]),
    )


# designs


def test_there_are_as_many_kinds_as_promised():
    groups = [kind.group for kind in KINDS]
    assert groups.count(ONE_PIECE) >= 20
    assert groups.count(ROUND) + groups.count(CLUSTERS) >= 15
    assert groups.count(CURVE) >= 6
    assert groups.count(MISSING) >= 3
    assert len(BY_NAME) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_kind_draws_studies_with_its_number_of_clusters(kind):
    tables, labels = kind.draw(np.random.default_rng(5))
    again = kind.draw(np.random.default_rng(5))
    other = kind.draw(np.random.default_rng(6))
    assert len(tables) == len(labels) >= 2
    assert len({X.shape[1] for X in tables}) == 1
    assert all(np.isfinite(X).all() and len(X) == len(label) for X, label in zip(tables, labels, strict=True))
    assert len(np.unique(np.concatenate(labels))) == max(kind.right)
    assert all(np.array_equal(X, Y) for X, Y in zip(tables, again.tables, strict=True))
    assert not any(np.array_equal(X, Y) for X, Y in zip(tables, other.tables, strict=True))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.group == ROUND], ids=lambda kind: kind.name)
def test_round_clusters_are_as_far_apart_as_their_name_says(kind):
    tables, labels = kind.draw(np.random.default_rng(3))
    assert [len(X) for X in tables] == [80, 80, 80]
    X, label = np.concatenate(tables), np.concatenate(labels)
    k, p = kind.right[0], X.shape[1]
    members = [X[label == i] for i in range(k)]
    variance = np.mean(np.concatenate([part.var(axis=0, ddof=1) for part in members]))
    assert variance == pytest.approx(1, abs=0.2)
    # A squared distance of means is too large by their errors.
    squared = [
        ((a.mean(axis=0) - b.mean(axis=0)) ** 2).sum() - p * variance * (1 / len(a) + 1 / len(b))
        for i, a in enumerate(members)
        for b in members[:i]
    ]
    assert np.sqrt(min(squared)) == pytest.approx(4.75, abs=0.7)


@pytest.mark.parametrize("p", [2, 10, 100])
def test_the_closest_centres_have_exactly_the_distance(p):
    centres = designs.apart(np.random.default_rng(0), 5, p, 4.75)
    assert centres.shape == (5, p)
    assert designs.closest(centres) == pytest.approx(4.75)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("3 overlapping, Bayes ARI 0.6, 3 features", 0.6),
        ("3 overlapping, Bayes ARI 0.9, 3 features", 0.9),
        ("3 overlapping, Bayes ARI 0.9, 12 features", 0.9),
    ],
)
def test_overlapping_clusters_have_the_bayes_ari_of_their_name(name, expected):
    X, label = large(name, 200)
    means = np.array([X[label == i].mean(axis=0) for i in range(3)])
    nearest = np.argmin(((X[:, None] - means) ** 2).sum(axis=2), axis=1)
    assert adjusted_rand_score(label, nearest) == pytest.approx(expected, abs=0.02)
    assert designs.bayes_ari(means, np.random.default_rng(1)) == pytest.approx(expected, abs=0.02)


def test_other_clusters_are_what_their_names_say():
    X, label = large("2 clusters at 3.8 sd, 3 features")
    assert np.linalg.norm(X[label == 0].mean(axis=0) - X[label == 1].mean(axis=0)) == pytest.approx(3.8, abs=0.1)
    _, label = large("70/20/10 %, 5.3 sd, 5 features")
    np.testing.assert_allclose(np.bincount(label) / len(label), [0.7, 0.2, 0.1], atol=0.02)
    _, label = large("a cluster of 5 % at 7 sd, 3 features")
    assert np.mean(label == 1) == pytest.approx(0.05, abs=0.01)
    X, label = large("sd 1, 1.5, 2.2, at 4.8 mean sd, 4 features")
    sd = np.array([X[label == i].std(axis=0).mean() for i in range(3)])
    np.testing.assert_allclose(sd, [1, 1.5, 2.2], rtol=0.05)
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        distance = np.linalg.norm(X[label == i].mean(axis=0) - X[label == j].mean(axis=0))
        assert distance / ((sd[i] + sd[j]) / 2) == pytest.approx(4.8, rel=0.05)
    X, label = large("nested: 2 groups of 3, 5.5 and 17 sd, 5 features")
    means = np.array([X[label == i].mean(axis=0) for i in range(6)])
    assert designs.closest(means) == pytest.approx(5.5, abs=0.2)
    assert np.linalg.norm(means[:3].mean(axis=0) - means[3:].mean(axis=0)) == pytest.approx(17, abs=0.2)
    X, label = large("3 long parallel clusters 3.5:1, 5.5 sd")
    within = np.cov((X - np.array([X[label == i].mean(axis=0) for i in range(3)])[label]).T)
    np.testing.assert_allclose(np.sqrt(np.linalg.eigvalsh(within)), [1, 1, 3.5], rtol=0.06)


def test_latent_classes_differ_in_half_of_the_features():
    tables, labels = BY_NAME["3 latent classes in 20 binary features"].draw(np.random.default_rng(0))
    X, label = np.concatenate(tables), np.concatenate(labels)
    assert set(np.unique(X)) == {0.0, 1.0}
    often = np.array([X[label == i].mean(axis=0) > 0.5 for i in range(3)])
    assert [int((often[i] != often[j]).sum()) for i, j in [(0, 1), (0, 2), (1, 2)]] == [10, 10, 10]


def test_studies_lack_the_clusters_that_the_name_says():
    lacking = {
        "4 clusters at 6 sd in all 3 studies, 3 features": [4, 4, 4],
        "4 clusters at 6 sd, one study lacks one, 3 features": [4, 3, 4],
        "2 cell types at 7 sd: both, first, second; 15 features": [2, 1, 1],
        "3 clusters at 6.5 sd, two studies lack one each, 8 features": [3, 2, 2, 3],
        "3 clusters at 6 sd, one study is one cluster, 2 features": [3, 3, 1],
    }
    for name, expected in lacking.items():
        labels = BY_NAME[name].draw(np.random.default_rng(2)).labels
        assert [len(np.unique(label)) for label in labels] == expected


def test_data_of_one_piece_are_what_their_names_say():
    X, _ = large("two Gaussians at 1.5 sd, 3 features", 60)
    assert np.linalg.eigvalsh(np.cov(X.T))[-1] == pytest.approx(1 + (1.5 / 2) ** 2, rel=0.05)
    X, _ = large("Gaussian, elongated 6:2:1:1")
    np.testing.assert_allclose(X.std(axis=0), [6, 2, 1, 1], rtol=0.05)
    X, _ = large("Gaussian, autoregressive 0.75, 25 features")
    assert np.corrcoef(X.T)[0, 2] == pytest.approx(0.75**2, abs=0.05)
    X, _ = large("five-point answers, correlation 0.35, 7 features")
    assert sorted(np.unique(X)) == [0, 1, 2, 3, 4]
    X, _ = large("uniform triangle, equal sides")
    assert X[:, 1].max() <= np.sqrt(0.75)
    assert (X[:, 1] <= np.sqrt(3) * np.minimum(X[:, 0], 1 - X[:, 0]) + 1e-9).all()
    X, _ = large("Dirichlet(3) of 4 parts")
    np.testing.assert_allclose(X.sum(axis=1), 1)


# competitors


@pytest.mark.parametrize("competitor", COMPETITORS, ids=lambda competitor: competitor.name)
def test_a_competitor_counts_three_plain_clusters(competitor):
    if reason := competitor.missing():
        pytest.skip(reason)
    rng = np.random.default_rng(0)
    X = designs.mixture(rng, (150,), 12 * designs.SCALENE).tables[0]
    if competitor.name == "ERICA":  # its rule takes the last k at which its index does not fall
        assert competitor.number_for(X, 1) in range(3, 9)
    else:
        assert competitor.number_for(X, 1) == 3


@pytest.mark.parametrize("competitor", [c for c in COMPETITORS if c.says_one], ids=lambda competitor: competitor.name)
def test_a_competitor_that_can_say_one_says_so_of_a_gaussian(competitor):
    if reason := competitor.missing():
        pytest.skip(reason)
    X = np.random.default_rng(0).normal(size=(200, 3))
    assert competitor.number_for(X, 1) == 1


def test_the_gap_statistic_takes_the_first_number_within_one_error_of_the_next():
    error = np.sqrt(1 + 1 / N_REFERENCES)
    gaps, sd = np.array([0.1, 0.2, 0.9, 0.95, 0.97]), np.full(5, 0.06 / error)
    assert first_within_one_error(gaps, sd) == 3
    assert first_within_one_error(gaps, np.full(5, 0.04 / error)) == 4
    assert first_within_one_error(gaps, np.full(5, 0.01 / error)) == 5
    assert first_within_one_error(gaps, np.full(5, 0.1001 / error)) == 1


# statuses


def test_statuses_are_judged_by_most_samples_of_a_cluster():
    labels = [np.array([0, 0, 0, 1, 1]), np.array([0, 0, 0])]
    codes = np.array([0, 0, 0, 1, 0, 0, 0, 0])  # the second sample of true cluster 1 is in the wrong cluster
    findings = SimpleNamespace(
        n_clusters=2, codes=codes, status=np.array([["found", "merged"], ["found", "not found"]])
    )
    assert judged_statuses(findings, labels) == (
        ("found", "found"),
        ("found", "merged"),
        ("found", "found"),
        ("not found", "not found"),
    )


# rates


@pytest.mark.parametrize(("count", "total"), [(0, 30), (3, 40), (40, 40)])
def test_intervals_are_exact(count, total):
    expected = binomtest(count, total).proportion_ci(method="exact")
    np.testing.assert_allclose(Rate(count, total).interval(), (expected.low, expected.high), atol=1e-9)


def test_a_target_is_met_missed_or_within_error():
    assert Rate(5, 100).at_most(0.05) == MET
    assert Rate(8, 100).at_most(0.05) == NEAR
    assert Rate(15, 100).at_most(0.05) == FAILED
    assert Rate(95, 100).at_least(0.95) == MET
    assert Rate(92, 100).at_least(0.95) == NEAR
    assert Rate(80, 100).at_least(0.95) == FAILED
    assert str(Rate(3, 100)) == "3 (1–9)"
    assert str(Rate(0, 0)) == "–"


# the run and its page


def test_every_kind_has_its_number_of_collections():
    for size in (FULL, QUICK):
        tasks = [task for of_round in rounds(KINDS, size) for task in of_round]
        for kind in KINDS:
            numbers = [task.number for task in tasks if task.kind == kind.name]
            assert numbers == list(range(size.collections[kind.group]))
    assert QUICK.with_collections(1, 3).collections == {**dict.fromkeys(QUICK.collections, 1), MISSING: 3}


def test_an_outcome_depends_on_kind_and_number_alone():
    lacking = outcome_of(Task(SAMPLE[4], 0, False, 19))
    assert lacking.n_clusters == 4
    assert Counter(lacking.statuses) == {("found", "found"): 11, ("not found", "not found"): 1}
    task = Task(SAMPLE[2], 1, False, 19)
    first, again = outcome_of(task), outcome_of(task)
    assert first == again
    assert first.verdict == "separated"
    assert first.n_clusters == 3
    assert set(first.choices) == {c.name for c in COMPETITORS if not c.is_slow}


@pytest.mark.slow
def test_the_page_has_a_row_for_every_kind_and_the_same_bytes_twice(tmp_path, capsys):
    kinds = [BY_NAME[name] for name in SAMPLE]
    kept = tmp_path / "outcomes"
    outcomes = sit(kinds, TINY, jobs=1, shown=False, keep=kept)
    assert len(outcomes) == 2 * len(kinds)
    kept.write_text(kept.read_text().replace('"verdict": "', '"verdict": "kept '))
    assert all(outcome.verdict.startswith("kept") for outcome in sit(kinds, TINY, jobs=1, shown=False, keep=kept))
    once = TINY.with_collections(1, 1)
    few = kinds[:2]
    again = sit(few, once, jobs=1, shown=False)
    first = [outcome for outcome in outcomes if outcome.number == 0 and outcome.kind in SAMPLE[:2]]
    assert page(few, again, once) == page(few, first, once)
    text = page(kinds, outcomes, TINY)
    for name in SAMPLE:
        (row,) = [line for line in text.splitlines() if line.startswith(f"| {name} |") and "found" not in line][:1]
        assert "nan" not in row
    for competitor in COMPETITORS:
        (line,) = [line for line in text.splitlines() if line.startswith(f"- **{competitor.name}**")]
        assert line.endswith(f"**skipped: {competitor.missing()}**.") == bool(competitor.missing())
    assert "10 collections: 2 of each of 5 kinds" in text

    path = tmp_path / "part" / "exam.md"
    arguments = [str(path), "--quick", "--collections", "1", "--only", "3 clusters at 4.75 sd, 2", "--jobs", "1"]
    assert main(arguments) == 0
    assert capsys.readouterr().out == path.read_text(encoding="utf-8") + "\n"
    with pytest.raises(SystemExit):
        main([str(path), "--only", "nothing of this name"])
    assert "no kind of data" in capsys.readouterr().err


def test_right_numbers_are_counted_for_us_and_for_them():
    kind = BY_NAME["nested: 2 groups of 3, 5.5 and 17 sd, 5 features"]
    silhouette, *_ = COMPETITORS
    outcomes = [Outcome(kind.name, i, "separated", k, {"silhouette": 8 - k}, ()) for i, k in enumerate([2, 6, 3, 5])]
    answers = Answers(kind, outcomes)
    assert answers.ours() == (2, 4)
    assert answers.theirs(silhouette) == (2, 4)
    assert answers.verdict("separated") == (4, 4)
    assert answers.verdict("continuous structure", "no evidence of clusters") == (0, 4)
