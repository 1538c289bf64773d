"""Laws of the findings: what holds for every analysis, whatever the data."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from tests.findings.random_studies import KINDS, drawn, findings_of, found

from clustrep.findings.result import (
    FOUND,
    INCONCLUSIVE,
    MERGED,
    NOT_FOUND,
    SEPARATED,
    SPLIT,
    STATUSES,
    UNDETERMINED,
    UNMATCHED,
)
from clustrep.separation.valleys import FEWEST
from clustrep.summaries import FALSE_FINDING

THERE = (FOUND, MERGED, SPLIT)
# Every kind again with this many further seeds: CLUSTREP_LAWS=12 for an hour of them.
SLOW_SEEDS = range(1, 1 + int(os.environ.get("CLUSTREP_LAWS", "0")))
# Ties are spread by ranks over all studies, which a shift of one study changes: p-values may, too, but no answer.
DISCRETE = ("whole numbers", "binary", "limit of detection")
THIRDS = 3


def every_analysis(third):
    """Return a mark for a law: a third of the kinds in each run of the tests, all of them in the slow ones."""
    quick = [kind for number, kind in enumerate(KINDS) if number % THIRDS == third]
    return pytest.mark.parametrize(
        ("kind", "seed"),
        [
            pytest.param(
                kind, seed, marks=[] if seed == 0 and kind in quick else [pytest.mark.slow], id=f"{kind}-{seed}"
            )
            for seed in (0, *SLOW_SEEDS)
            for kind in KINDS
        ],
    )


def assert_same_answer(first, second):
    """Assert that two findings of the same studies and samples, in the same order, have the same clusters."""
    assert first.verdict == second.verdict
    assert first.letters == second.letters
    assert first.names == second.names
    np.testing.assert_array_equal(first.status, second.status)
    for name in first.names:
        np.testing.assert_array_equal(first.labels[name], second.labels[name])
    np.testing.assert_array_equal(first.own_clusters, second.own_clusters)


def assert_same(first, second, *, moved=False):
    """Assert that two findings of the same studies and samples, in the same order, are the same in all numbers.

    moved : whether a study was moved: then shifts differ
    """
    assert_same_answer(first, second)
    np.testing.assert_allclose(first.pvalue, second.pvalue, rtol=1e-6)
    np.testing.assert_allclose(first.own_pvalue, second.own_pvalue, rtol=1e-6)
    np.testing.assert_allclose(first.valley_depth, second.valley_depth, atol=1e-9)
    np.testing.assert_allclose(first.valley_p, second.valley_p, rtol=1e-6)
    np.testing.assert_allclose(first.scale, second.scale, rtol=1e-6)
    np.testing.assert_allclose(first.divisor, second.divisor, rtol=1e-6)
    np.testing.assert_allclose(first.mixing, second.mixing, atol=1e-6)
    if not moved:
        np.testing.assert_allclose(first.shift, second.shift, atol=1e-6)
        np.testing.assert_allclose(first.offset, second.offset, atol=1e-6 * np.abs(first.offset).max(initial=1))


def put_back(findings, names, orders):
    """Return the findings with studies in the order of these names, and samples where they were before the orders."""
    places = [findings.names.index(name) for name in names]
    by_study = dict(zip(findings.names, np.split(findings.codes, np.cumsum(findings.sizes)[:-1]), strict=True))
    codes = []
    for name in names:
        back = np.empty_like(by_study[name])
        back[orders[name]] = by_study[name]
        codes.append(back)
    by_cluster = ("status", "valley_depth", "valley_p", "replicability", "low", "high")
    by_place = ("sizes", "shift", "scale", "offset", "own_clusters", "own_pvalue", "mixing")
    return replace(
        findings,
        names=tuple(names),
        codes=np.concatenate(codes),
        **{field: getattr(findings, field)[:, places] for field in by_cluster},
        **{field: getattr(findings, field)[places] for field in by_place},
    )


# ---------------------------------------------------------------------------------------------------------------------
# no contradiction


@every_analysis(0)
def test_no_two_views_of_the_findings_disagree(kind, seed):
    findings, studies = found(kind, seed), drawn(kind, seed).studies
    table, clusters, by_study = findings.table(), findings.clusters(), findings.studies()
    assert findings.names == tuple(studies)
    assert findings.sizes.tolist() == [len(frame) for frame in studies.values()]
    assert len(table) == findings.n_clusters * len(studies)
    assert set(table["status"]) <= set(STATUSES)
    counts = findings.counts
    for c, letter in enumerate(findings.letters):
        row = clusters[clusters["cluster"] == letter].iloc[0]
        statuses = []
        for s, (name, labels) in enumerate(findings.labels.items()):
            entry = table[(table["cluster"] == letter) & (table["study"] == name)].iloc[0]
            n = int((labels == letter).sum())
            assert entry["n"] == n == counts[c, s]
            assert entry["share"] == pytest.approx(n / len(studies[name]))
            assert entry["shift"] == findings.shift[s] or np.isnan(entry["shift"])
            status = entry["status"]
            statuses.append(status)
            if status in (FOUND, SPLIT):
                assert n > 0
            if status == NOT_FOUND:
                assert n < FEWEST
            if n >= FEWEST:
                assert status in THERE
            if status == UNDETERMINED:
                assert n == 0
        assert row["n"] == counts[c].sum()
        assert row["found"] == sum(status in THERE for status in statuses)
        if findings.verdict == SEPARATED:
            assert row["n"] > 0
            assert row["found"] > 0
        else:  # nothing was compared with a null model: no cluster is established
            assert findings.verdict == INCONCLUSIVE
            assert statuses == [UNDETERMINED] * len(studies)
        assert row["of"] == len(studies) - statuses.count(UNDETERMINED) >= row["found"]
    for s, (name, labels) in enumerate(findings.labels.items()):
        assert len(labels) == len(studies[name])
        row = by_study[by_study["study"] == name].iloc[0]
        assert row["clusters"] == sum(status in THERE for status in table[table["study"] == name]["status"])
        is_unmatched = (labels == UNMATCHED).all()
        assert is_unmatched or not (labels == UNMATCHED).any()
        assert is_unmatched == (row["clusters"] == 0)
        assert row["own_clusters"] >= 1
        assert (findings.own_pvalue[s] > FALSE_FINDING) <= (row["own_clusters"] == 1)
    sizes = clusters["n"].tolist()
    assert sizes == sorted(sizes, reverse=True)
    assert (findings.verdict == SEPARATED) == (findings.n_clusters > 1 and findings.pvalue <= FALSE_FINDING)
    known = findings.valley_p[np.isfinite(findings.valley_p)]
    assert ((known >= 0) & (known <= 1)).all()
    assert np.isnan(findings.valley_p[counts == 0]).all()
    assert repr(findings)


# ---------------------------------------------------------------------------------------------------------------------
# what makes no difference


@every_analysis(1)
def test_the_order_of_studies_samples_and_features_makes_no_difference(kind, seed):
    studies = drawn(kind, seed).studies
    rng = np.random.default_rng(seed)
    names = [list(studies)[i] for i in rng.permutation(len(studies))]
    orders = {name: rng.permutation(len(studies[name])) for name in studies}
    n_features = next(iter(studies.values())).shape[1]
    columns = rng.permutation(n_features)
    permuted = findings_of({name: studies[name].iloc[orders[name], columns] for name in names})
    first = found(kind, seed)
    second = put_back(permuted, list(studies), orders)
    back = np.argsort(columns)
    assert_same(first, replace(second, divisor=second.divisor[back], offset=second.offset[:, back]))


@every_analysis(2)
def test_the_names_of_features_make_no_difference(kind, seed):
    studies = drawn(kind, seed).studies
    rng = np.random.default_rng(seed)
    (n_features,) = {frame.shape[1] for frame in studies.values()}
    names = [f"gene {i}" for i in rng.permutation(n_features)]
    assert_same(
        found(kind, seed), findings_of({name: frame.set_axis(names, axis=1) for name, frame in studies.items()})
    )


@every_analysis(0)
def test_the_names_of_known_labels_make_no_difference(kind, seed):
    studies, truth, _ = *drawn(kind, seed), None
    labels = {name: [f"type {label}" for label in of_study] for name, of_study in truth.items()}
    others = {name: [f"{'zyxwvu'[label]} cells" for label in of_study] for name, of_study in truth.items()}
    assert_same(findings_of(studies, labels=labels), findings_of(studies, labels=others))


@every_analysis(1)
def test_a_constant_added_to_a_study_changes_shifts_alone(kind, seed):
    studies, first = drawn(kind, seed).studies, found(kind, seed)
    name = study_to_move(first)
    if name is None:
        return
    sd = np.sqrt(np.mean([frame.var().mean() for frame in studies.values()]))
    constant = sd * np.random.default_rng(seed).uniform(2, 20)
    moved = {other: frame + constant * (other == name) for other, frame in studies.items()}
    second = findings_of(moved)
    assert_same_answer(first, second)
    if kind not in DISCRETE:
        assert_same(first, second, moved=True)


@every_analysis(2)
def test_a_constant_added_to_all_studies_changes_nothing(kind, seed):
    studies, first = drawn(kind, seed).studies, found(kind, seed)
    constant = 50 * np.sqrt(np.mean([frame.var().mean() for frame in studies.values()]))
    second = findings_of({name: frame + constant for name, frame in studies.items()})
    assert_same_answer(first, second)
    if kind not in DISCRETE:
        np.testing.assert_allclose(first.shift, second.shift, atol=1e-6)
        np.testing.assert_allclose(first.scale, second.scale, rtol=1e-6)
        np.testing.assert_allclose(first.valley_depth, second.valley_depth, atol=1e-9)


@every_analysis(2)
def test_a_constant_feature_changes_nothing(kind, seed):
    studies, first = drawn(kind, seed).studies, found(kind, seed)
    second = findings_of({name: frame.assign(constant=3.0) for name, frame in studies.items()})
    assert_same(first, replace(second, divisor=second.divisor[:-1], offset=second.offset[:, :-1]))


def study_to_move(findings):
    """Return a study that shares two clusters at least with another one."""
    if findings.verdict != SEPARATED:
        return None
    there = np.isin(findings.status, THERE) & (findings.counts >= FEWEST)
    shared = there.T.astype(int) @ there.astype(int)
    np.fill_diagonal(shared, 0)
    able = np.flatnonzero(shared.max(axis=1) >= 2)
    return findings.names[able[-1]] if len(able) else None


# ---------------------------------------------------------------------------------------------------------------------
# twins


@every_analysis(2)
def test_a_study_and_its_duplicate_have_the_same_statuses_and_labels(kind, seed):
    studies = dict(drawn(kind, seed).studies)
    name = list(studies)[seed % len(studies)]
    twin = studies[name].set_axis([f"twin of {sample}" for sample in studies[name].index])
    findings = findings_of({**studies, "twin": twin})
    one, other = findings.names.index(name), findings.names.index("twin")
    np.testing.assert_array_equal(findings.status[:, one], findings.status[:, other])
    np.testing.assert_array_equal(findings.labels[name], findings.labels["twin"])


@every_analysis(0)
def test_studies_that_predict_each_other_lack_no_cluster_of_each_other(kind, seed):
    data, findings = drawn(kind, seed), found(kind, seed)
    if findings.verdict != SEPARATED:
        return
    ari = agreement_of_studies(data.studies, data.n_clusters)
    there = np.isin(findings.status, THERE)
    for s, t in zip(*np.nonzero(np.minimum(ari, ari.T) >= 0.9), strict=True):
        if findings.own_clusters[s] == findings.own_clusters[t]:
            assert not (there[:, s] & (findings.status[:, t] == NOT_FOUND)).any()


def agreement_of_studies(studies, k):
    """Return the ARI of k-means learned from one study, tested in another; 0 on the diagonal."""
    tables = [frame.to_numpy() for frame in studies.values()]
    fitted = [KMeans(k, n_init=5, random_state=0).fit(X) for X in tables]
    ari = [
        [adjusted_rand_score(test.labels_, train.predict(X)) for X, test in zip(tables, fitted, strict=True)]
        for train in fitted
    ]
    return np.array(ari) * (1 - np.eye(len(tables)))


# ---------------------------------------------------------------------------------------------------------------------
# more samples


@every_analysis(1)
def test_more_samples_do_not_turn_found_into_not_found(kind, seed):
    """Clusters of the smaller and the larger studies are matched by the samples that both have."""
    few, many = found(kind, seed), found(kind, seed, 2)
    if (few.verdict, many.verdict) != (SEPARATED, SEPARATED):
        return
    for c, letter in enumerate(few.letters):
        for name in few.names:
            s = few.names.index(name)
            if few.status[c, s] not in THERE or few.counts[c, s] < FEWEST:
                continue
            now = many.labels[name][: few.sizes[s]][few.labels[name] == letter]
            kept = pd.Series(now).mode()[0]
            if kept != UNMATCHED:  # of most of its samples
                assert many.status[many.letters.index(kept), s] in THERE
            everywhere = np.concatenate(
                [many.labels[other][: len(few.labels[other])][few.labels[other] == letter] for other in few.names]
            )
            most = pd.Series(everywhere).mode()[0]
            if most != UNMATCHED:
                assert many.status[many.letters.index(most), s] != NOT_FOUND
