"""Annotations of clusters: by hand, against peers, over permutations, and what users pass in by mistake."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kruskal
from scipy.stats.contingency import association
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import clustrep as cr
from clustrep.errors import DataError, DataWarning, ParameterError
from clustrep.findings.annotations import KNOWN_LABEL, _Part, _toward

N = 40


@pytest.fixture(scope="module")
def analysis():
    """Three studies with three clusters; known labels are the clusters, apart from samples that are not known."""
    rng = np.random.default_rng(0)
    tables = []
    for name in ("x", "y", "z"):
        label = rng.choice(3, N, p=(0.5, 0.3, 0.2))
        X = np.array([[0.0, 0], [9, 0], [0, 9]])[label] + rng.normal(size=(N, 2))
        known = np.where(rng.random(N) < 0.2, "unknown", np.array(["er+", "er-", "her2"])[label])
        tables.append(cr.Study(X, name, samples=[f"{name}{i}" for i in range(N)], labels=known))
    return cr.analyse(KMeans(n_init=2), tables, n_clusters=[2, 3], n_resamples=4, train=(), rng=2)


@pytest.fixture(scope="module")
def findings(analysis):
    return analysis.findings


def table_of(findings, seed=1):
    rng, code = np.random.default_rng(seed), findings.codes
    frame = pd.DataFrame(index=findings.samples)
    frame["size"] = code + rng.normal(size=len(code))
    frame["noise"] = rng.normal(size=len(code))
    frame["sex"] = rng.choice(["f", "m"], len(code))
    frame["months"] = rng.exponential(np.where(code == 0, 40, 5))
    frame["died"] = rng.integers(0, 2, len(code))
    return frame


def test_known_labels_are_compared_without_being_asked_for(analysis):
    found = analysis.annotations
    assert found.columns == (KNOWN_LABEL,)
    known = analysis.known_labels != ""
    assert found.known.sum() == known.sum() < 3 * N
    assert found.summary()["ari"].item() == pytest.approx(
        adjusted_rand_score(analysis.known_labels[known], analysis.findings.codes[known])
    )
    said = next(said.text for said in analysis.headline if said.kind == "clusters")
    assert all(name in said for name in ("er+", "er-", "her2", "ARI"))


def test_effects_are_those_of_peers_in_every_study(findings):
    frame = table_of(findings)
    by_study = findings.annotations(frame).to_frame().set_index(["annotation", "study"])
    for s, study in enumerate(findings.names):
        rows = slice(s * N, (s + 1) * N)
        code, part = findings.codes[rows], frame[rows]
        groups = [part["size"][code == c] for c in range(3)]
        size, sex = by_study.loc[("size", study)], by_study.loc[("sex", study)]
        between = sum(len(group) * (group.mean() - part["size"].mean()) ** 2 for group in groups)
        assert size["effect"] == pytest.approx(between / ((part["size"] - part["size"].mean()) ** 2).sum())
        assert size["pvalue"] == pytest.approx(kruskal(*groups).pvalue)
        table = pd.crosstab(part["sex"], code).to_numpy()
        assert sex["effect"] == pytest.approx(association(table, method="cramer"))
        assert sex["ari"] == pytest.approx(adjusted_rand_score(part["sex"], code))


def test_survival_is_that_of_lifelines(findings):
    lifelines = pytest.importorskip("lifelines")
    frame = table_of(findings)
    found = findings.annotations(frame, survival=("months", "died"))
    assert found.columns == ("died", "size", "noise", "sex")
    rows = slice(0, N)
    test = lifelines.statistics.multivariate_logrank_test(
        frame["months"][rows], findings.codes[rows], frame["died"][rows]
    )
    assert found.pvalue[0, 0] == pytest.approx(test.p_value)
    expected = lifelines.NelsonAalenFitter().fit(frame["months"][rows], frame["died"][rows])
    expected = expected.cumulative_hazard_at_times(frame["months"][rows]).to_numpy()
    first = findings.codes[rows] == 0
    assert found.level[0, 0, 0] == pytest.approx(frame["died"][rows][first].sum() / expected[first].sum(), rel=0.02)


def test_the_direction_of_other_studies_is_that_of_permutations():
    rng = np.random.default_rng(3)
    codes, Y, weights = rng.integers(0, 3, 30), rng.normal(size=(30, 2)), rng.normal(size=(2, 3))
    blank = np.zeros((2, 3))
    got = _toward(_Part(codes, Y, 0.0, 0.0, blank.astype(int), blank, blank), weights)
    of = weights.T[codes]
    permuted = np.array([(of * Y[rng.permutation(30)]).sum() for _ in range(4000)])
    assert got == pytest.approx((permuted >= (of * Y).sum()).mean(), abs=0.03)


def test_a_difference_in_the_same_direction_is_found_and_another_is_not(findings):
    rng, study = np.random.default_rng(5), np.repeat(np.arange(3), N)
    alike, turned = findings.codes, (findings.codes + study) % 3
    frame = pd.DataFrame({"alike": alike + rng.normal(size=3 * N), "turned": turned + rng.normal(size=3 * N)})
    frame.index = findings.samples
    summary = findings.annotations(frame).summary().set_index("annotation")
    assert summary.loc["alike", "fdr"] < 0.001
    assert (summary.loc["alike", "same"], summary.loc["alike", "of"]) == (3, 3)
    assert summary.loc["turned", "pvalue"] > 0.2
    assert (findings.annotations(frame).pvalue < 0.01).all()  # each study by itself differs in both


def test_a_study_that_cannot_be_compared_with_others_has_no_direction(findings):
    """Of one study alone that is annotated, there is a p-value, but no study with the same direction."""
    found = findings.annotations(table_of(findings)[["size"]][:N]).summary().iloc[0]
    assert found["pvalue"] < 0.05
    assert (found["same"], found["of"]) == (0, 0)


def test_order_and_lacking_samples_change_nothing_but_what_is_known(findings):
    frame = table_of(findings).drop(columns=["months", "died"])
    found = findings.annotations(frame)
    again = findings.annotations(frame.sample(frac=1.0, random_state=0))
    pd.testing.assert_frame_equal(found.summary(), again.summary())
    fewer = findings.annotations(frame.iloc[10:])
    assert fewer.known[:, 0].tolist() == [N - 10] * 3
    assert fewer.effect[:, 1:] == pytest.approx(found.effect[:, 1:])


def test_the_study_tells_samples_of_one_name_apart(findings):
    same = dataclasses.replace(findings, samples=np.tile(np.arange(N).astype(str), 3))
    frame = table_of(findings)[["size"]]
    by_study = {name: frame[s * N : (s + 1) * N].set_index(np.arange(N).astype(str)) for s, name in enumerate("xyz")}
    pd.testing.assert_frame_equal(same.annotations(by_study).summary(), findings.annotations(frame).summary())
    with pytest.raises(DataError):
        same.annotations(by_study["x"])


def test_counts_and_shares_are_those_of_a_table(findings):
    frame = table_of(findings)[["sex"]]
    found = findings.annotations(frame)
    expected = pd.crosstab(frame["sex"], np.array(findings.letters)[findings.codes])
    assert found.table_of("sex").to_numpy().tolist() == expected.to_numpy().tolist()
    rows = found.clusters().set_index(["value", "cluster", "study"])
    first = (findings.codes == 0)[:N]
    assert rows.loc[("m", "A", "x"), "level"] == pytest.approx((frame["sex"][:N][first] == "m").mean())


def test_what_cannot_be_compared_is_noted(findings):
    frame = table_of(findings)[["size"]].assign(one="same", name=findings.samples, grade=[1.0, 2.0, np.nan] * N)
    found = findings.annotations(frame)
    assert found.columns == ("size", "grade")
    assert found.categories == ("", "1", "2")
    assert len(found.notes) == 2


def test_a_result_is_saved_and_drawn(findings, tmp_path):
    found = findings.annotations(table_of(findings))
    found.save(tmp_path / "annotations.npz")
    again = cr.load(tmp_path / "annotations.npz")
    pd.testing.assert_frame_equal(again.summary(), found.summary())
    assert repr(again) == repr(found)
    rows = [label.get_text() for label in found.plot().get_yticklabels()]
    assert rows[0] in ("size", "months")
    assert "sex: f" in rows


def test_single_clusters_have_nothing_to_compare(analysis):
    one = dataclasses.replace(analysis.findings, letters=("A",), codes=np.zeros(3 * N, dtype=int))
    found = one.annotations(table_of(analysis.findings))
    assert found.sentences == ()
    assert found.summary()["pvalue"].isna().all()
    with pytest.raises(ParameterError):
        found.plot()


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"size": [1.0, 2.0]}, index=["p1", "p2"]),  # other names
        pd.DataFrame(index=["x0", "x1"]),  # no column
        pd.DataFrame({"size": []}),
        pd.DataFrame({"sample": ["x0", "x0"], "size": [1.0, 2.0]}),  # twice
        pd.DataFrame({"sample": ["x0", "x1"], "size": [1.0, 1.0]}),  # does not vary
    ],
)
def test_tables_that_do_not_fit_are_data_errors(findings, table):
    with pytest.raises(DataError):
        findings.annotations(table)


def test_parameters_are_named(findings):
    with pytest.raises(ParameterError) as error:
        findings.annotations([1, 2])
    assert error.value.parameter == "table"
    with pytest.raises(ParameterError) as error:
        findings.annotations({"w": pd.DataFrame({"size": [1.0]})})
    assert error.value.parameter == "table"
    with pytest.raises(ParameterError) as error:
        findings.annotations(table_of(findings), survival=("month", "died"))
    assert error.value.parameter == "survival"
    with pytest.raises(DataError):
        findings.annotations(table_of(findings), survival=("noise", "died"))


def test_samples_of_no_study_are_a_warning(findings):
    frame = table_of(findings)[["size"]]
    more = pd.concat([frame, frame.iloc[:2].set_axis(["p1", "p2"])])
    with pytest.warns(DataWarning):
        found = findings.annotations(more)
    pd.testing.assert_frame_equal(found.summary(), findings.annotations(frame).summary())
