"""Findings and their views, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from clustrep.findings.result import Findings, letters, partial_conjunction


def findings_by_hand(**changes):
    """Three clusters in three studies; the last study lacks C, and its B is merged."""
    status = np.array([["found", "found", "found"], ["found", "found", "merged"], ["found", "found", "not found"]])
    nothing = np.full((3, 3), np.nan)
    values = {
        "names": ("one", "two", "three"),
        "samples": np.array([f"s{i}" for i in range(18)]),
        "sizes": np.array([7, 6, 5]),
        "verdict": "separated",
        "reason": "",
        "pvalue": 0.001,
        "letters": ("A", "B", "C"),
        "codes": np.array([0, 0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2, 0, 0, 0, 0, 0]),
        "status": status,
        "valley_depth": nothing,
        "valley_p": np.array([[0.01, 0.02, np.nan], [0.001, 0.4, np.nan], [0.03, 0.2, np.nan]]),
        "replicability": nothing,
        "low": nothing,
        "high": nothing,
        "shift": np.array([0.0, 1.5, np.nan]),
        "scale": np.ones(3),
        "divisor": np.ones(2),
        "offset": np.zeros((3, 2)),
        "own_clusters": np.array([3, 3, 1]),
        "own_pvalue": np.array([0.001, 0.002, 1.0]),
        "mixing": np.ones(3),
        "alignment": "",
        "detectable": np.nan,
    }
    return Findings(**{**values, **changes})


@pytest.mark.parametrize(
    ("pvalues", "u", "expected"),
    [
        ([0.01, 0.02, 0.4], 1, 3 * 0.01),  # any of three: Bonferroni
        ([0.01, 0.02, 0.4], 2, 2 * 0.02),
        ([0.01, 0.02, 0.4], 3, 0.4),  # all: the largest
        ([0.4, 0.01, np.nan], 2, 0.4),  # what was not tested does not count
        ([0.5, 0.6], 1, 1.0),
        ([0.5], 2, np.nan),
        ([], 1, np.nan),
        ([0.5], 0, np.nan),
    ],
)
def test_partial_conjunction_by_hand(pvalues, u, expected):
    assert partial_conjunction(np.array(pvalues, dtype=float), u) == pytest.approx(expected, nan_ok=True)


def test_partial_conjunction_grows_with_the_number_of_studies(rng):
    for _ in range(20):
        pvalues = rng.random(5)
        values = [partial_conjunction(pvalues, u) for u in range(1, 6)]
        ordered = np.sort(pvalues)
        assert values == [min(1.0, (5 - u + 1) * ordered[u - 1]) for u in range(1, 6)]


def test_letters_go_on_after_z():
    names = letters(54)
    assert names[:2] == ["A", "B"]
    assert names[25:28] == ["Z", "AA", "AB"]
    assert names[52:] == ["BA", "BB"]
    assert len(set(letters(700))) == 700


def test_counts_labels_and_tables():
    findings = findings_by_hand()
    np.testing.assert_array_equal(findings.counts, [[3, 2, 5], [2, 2, 0], [2, 2, 0]])
    assert findings.labels["two"].tolist() == ["A", "A", "B", "B", "C", "C"]
    assert findings.labels_of("three").tolist() == ["A"] * 5
    table = findings.table()
    assert table[["cluster", "study"]].to_numpy().tolist()[:4] == [
        ["A", "one"],
        ["A", "two"],
        ["A", "three"],
        ["B", "one"],
    ]
    assert table["share"].tolist()[:3] == [3 / 7, 2 / 6, 1.0]
    clusters = findings.clusters()
    assert clusters["found"].tolist() == [3, 3, 2]
    assert clusters["of"].tolist() == [3, 3, 3]
    np.testing.assert_allclose(clusters["pvalue"], [0.02, 0.4, 0.2])
    studies = findings.studies()
    assert studies["clusters"].tolist() == [3, 3, 2]
    assert not studies["outlier"].any()


def test_unmatched_samples_have_no_cluster():
    codes = np.array([0] * 7 + [1] * 6 + [-1] * 5)
    status = np.array([["found", "not found", "undetermined"]] * 3)
    findings = findings_by_hand(codes=codes, status=status)
    assert findings.labels["three"].tolist() == ["?"] * 5
    assert findings.counts.sum() == 13
    assert findings.clusters()["of"].tolist() == [2, 2, 2]


def test_a_study_that_lacks_most_shared_clusters_is_an_outlier():
    status = np.array([["found", "found", "found"], ["found", "found", "not found"], ["found", "found", "not found"]])
    studies = findings_by_hand(status=status).studies()
    assert studies["outlier"].tolist() == [False, False, True]
    assert studies["why"].iloc[2].startswith("lacks 2 of 3 clusters")


def test_a_study_that_has_most_clusters_of_the_others_is_none():
    """Two of five plates hold three of five cell lines each: only two lines are on all the other plates."""
    lacking = np.array([[0, 0, 0, 1, 1], [0] * 5, [0] * 5, [0] * 5, [1, 1, 0, 0, 0]], dtype=bool).T
    status = np.where(lacking, "not found", "found")
    findings = findings_by_hand(names=tuple("abcde"), letters=tuple("ABCDE"), status=status)
    assert not any(findings._why_outlier(s) for s in range(5))


def test_findings_cannot_be_changed():
    findings = findings_by_hand()
    with pytest.raises(ValueError, match="read-only"):
        findings.codes[0] = 1
