"""What distinguishes clusters: by brute force, by composition, and on clusters that are noise cut in two."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, ttest_ind
from sklearn.cluster import KMeans

import clustrep as cr
from clustrep.findings.features import differences, feature_sentences, joint_pvalues
from clustrep.findings.result import SEPARATED


def studies_of(seed, shares=((0.5, 0.5),) * 3, n=120, separation=5.0, n_features=8):
    """Studies whose clusters differ in the first two features alone: higher in the second cluster."""
    rng = np.random.default_rng(seed)
    tables, codes = [], []
    for share in shares:
        code = rng.choice(len(share), n, p=share)
        X = rng.normal(size=(n, n_features))
        X[:, :2] += separation / np.sqrt(2) * code[:, None]
        tables.append(X)
        codes.append(code)
    return tables, codes


def test_the_effect_is_the_difference_of_means_in_standard_deviations():
    tables, codes = studies_of(0)
    found = differences(tables, codes)
    X, code = tables[1], codes[1]
    residual = np.concatenate([X[code == c] - X[code == c].mean(axis=0) for c in (0, 1)])
    sd = np.sqrt((residual**2).sum(axis=0) / (len(X) - 2))
    expected = (X[code == 1].mean(axis=0) - X[code == 0].mean(axis=0)) / sd
    assert found.effect[1, 1] == pytest.approx(expected, rel=1e-5)
    assert found.effect[0, 1] == pytest.approx(-expected, rel=1e-5)


def test_a_feature_that_takes_no_part_is_tested_as_by_hand():
    """Labels do not depend on a feature of noise where clusters are far apart: then it is Welch's test."""
    tables, codes = studies_of(1, separation=12.0)
    found = differences(tables, codes)
    for feature in (3, 7):
        by_hand = ttest_ind(
            tables[2][codes[2] == 1, feature],
            tables[2][codes[2] == 0, feature],
            equal_var=False,
            alternative="greater",
        )
        assert found.higher[1, 2, feature] == pytest.approx(by_hand.pvalue, rel=1e-4)
        assert found.lower[1, 2, feature] == pytest.approx(1 - by_hand.pvalue, rel=1e-4)


def test_composition_is_no_effect():
    equal, codes_equal = studies_of(2, ((0.34, 0.33, 0.33),) * 2, n=3000)
    other, codes_other = studies_of(2, ((0.8, 0.1, 0.1),) * 2, n=3000)
    a, b = differences(equal, codes_equal), differences(other, codes_other)
    assert b.effect[:, 0, :2] == pytest.approx(a.effect[:, 0, :2], abs=0.25)


def test_labels_without_the_feature_are_those_of_brute_force():
    rng = np.random.default_rng(3)
    tables = [rng.normal(size=(30, 4)) for _ in range(2)]
    codes = [rng.integers(0, 3, 30) for _ in range(2)]
    found = differences(tables, codes, np.full((3, 2), 0.01))
    centres = np.array([tables[1][codes[1] == c].mean(axis=0) for c in range(3)])
    residual = tables[1] - centres[codes[1]]
    variance = (residual**2).sum(axis=0) / (30 - 3)
    for feature in range(4):
        rest = [j for j in range(4) if j != feature]
        squared = [(((tables[0] - centre) ** 2 / variance)[:, rest]).sum(axis=1) for centre in centres]
        labels = np.argmin(squared, axis=0)
        groups = [tables[0][labels == c, feature] for c in range(3)]
        means = np.array([group.mean() for group in groups])
        spread = np.array([group.var(ddof=1) / len(group) for group in groups])
        statistic = (means[0] - means[1:].mean()) / np.sqrt(spread[0] + spread[1:].sum() / 4)
        whole = np.argmin([((tables[0] - centre) ** 2 / variance).sum(axis=1) for centre in centres], axis=0)
        kept = [((labels == c) & (whole == c)).sum() / (whole == c).sum() for c in range(3)]
        if min(kept[0], (labels == whole).mean()) >= 0.9:
            assert np.sign(found.lower[0, 0, feature] - 0.5) == np.sign(statistic)
        else:
            assert {float(found.higher[0, 0, feature]), float(found.lower[0, 0, feature])} == {np.float32(0.01), 1.0}


def test_the_only_feature_that_separates_has_the_valleys_pvalue():
    tables, codes = studies_of(4, n_features=1, separation=9.0)
    found = differences(tables, codes, np.full((2, 3), 1e-4))
    assert found.higher[1, :, 0] == pytest.approx(1e-4)
    assert found.lower[0, :, 0] == pytest.approx(1e-4)
    assert found.lower[1, :, 0] == pytest.approx(1.0)


def test_a_cluster_of_one_study_alone_is_not_tested_elsewhere():
    tables, codes = studies_of(5, ((0.4, 0.3, 0.3), (0.5, 0.5, 0.0), (0.5, 0.5, 0.0)))
    found = differences(tables, codes)
    assert np.isnan(found.higher[2]).all()
    assert np.isfinite(found.effect[2, 0]).all()
    assert np.isnan(found.effect[2, 1:]).all()


def test_joint_pvalues_need_two_studies_in_the_same_direction():
    higher = np.array([[[0.001, 0.001]], [[0.002, 0.999]], [[0.6, 0.5]]]).transpose(1, 0, 2)  # (1, 3, 2)
    joint = joint_pvalues(higher, 1 - higher)
    assert joint[0, 0] == pytest.approx(2 * 2 * 0.002)
    assert joint[0, 1] == 1.0


def test_noise_that_is_cut_in_two_has_no_features():
    """Clusters are defined on the same noise: p-values are those of chance."""
    below, n = 0, 0
    for seed in range(25):
        rng = np.random.default_rng(100 + seed)
        tables = [rng.normal(size=(80, 6)) for _ in range(3)]
        model = KMeans(2, n_init=3, random_state=0).fit(np.concatenate(tables))
        found = differences(tables, [model.predict(X) for X in tables])
        joint = joint_pvalues(found.higher, found.lower)[0]
        below, n = below + int((joint <= 0.05).sum()), n + joint.size
    assert binomtest(below, n, 0.05, alternative="greater").pvalue > 0.001


# ---------------------------------------------------------------------------------------------------------------------
# the table, and sentences


@pytest.fixture(scope="module")
def findings():
    tables, _ = studies_of(7, separation=8.0)
    names = [f"gene {j}" for j in range(8)]
    studies = {f"s{i}": pd.DataFrame(X + i, columns=names) for i, X in enumerate(tables)}
    return cr.analyse(KMeans(n_init=3), studies, n_clusters=[2, 3], n_resamples=5, train=(), rng=0).findings


def test_the_features_that_differ_are_named(findings):
    table = findings.features()
    assert len(table) == 2 * 8
    clear = table[table["fdr"] <= 0.05]
    assert set(clear["feature"]) == {"gene 0", "gene 1"}
    assert (clear["same"] == 3).all()
    assert (clear["of"] == 3).all()
    higher = clear[clear["direction"] == "higher"]["cluster"].unique()
    assert len(higher) == 1
    assert ((clear["low"] < clear["effect"]) & (clear["effect"] < clear["high"])).all()


def test_one_study_has_its_own_differences(findings):
    alone = findings.features("s1")
    assert (alone["of"] == 1).all()
    expected = findings.effect[:, 1].astype(float)
    for row in alone.to_dict("records"):
        place = findings.letters.index(row["cluster"]), findings.feature_names.index(row["feature"])
        assert row["effect"] == pytest.approx(expected[place])


def test_sentences_name_features_and_directions(findings):
    sentences = feature_sentences(findings)
    assert len(sentences) == 2
    assert all("gene 0" in sentence and "gene 2" not in sentence for sentence in sentences)
    assert all(sentence.endswith("same direction in 3 of 3 studies.") for sentence in sentences)


def test_findings_without_clusters_have_no_features():
    rng = np.random.default_rng(0)
    studies = {name: rng.normal(size=(60, 3)) for name in "ab"}
    found = cr.analyse(KMeans(n_init=2), studies, n_clusters=[2], n_resamples=5, n_null=19, train=(), rng=0).findings
    assert found.verdict != SEPARATED
    assert found.features().empty == (found.n_clusters == 1)


def test_an_unknown_study_is_refused(findings):
    with pytest.raises(cr.errors.ParameterError) as error:
        findings.features("s9")
    assert error.value.parameter == "study"
