"""What a policy lets leave, and what the log remembers."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.federated.sites import Hospitals, cohorts
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import ClustrepError, DataError, ParameterError
from clustrep.federated import Policy
from clustrep.federated.audit import atoms, objection
from clustrep.federated.learning import WITHHELD
from clustrep.federated.site import RISK

FEW = {"n_resamples": 3}


@pytest.fixture
def sites(tmp_path):
    return Hospitals(tmp_path, cohorts(120, 2).values())


def test_atoms_are_the_cells_of_the_common_refinement():
    rng = np.random.default_rng(0)
    partitions = [rng.integers(3, size=40) for _ in range(3)]
    cells = atoms(partitions)
    for i in range(40):
        for j in range(40):
            assert (cells[i] == cells[j]) == all(labels[i] == labels[j] for labels in partitions)


def test_no_combination_of_what_passes_is_about_few_samples():
    """Any vector in the row space of indicators of released clusters is constant on atoms of at least ten."""
    rng = np.random.default_rng(1)
    X, released = rng.normal(size=(200, 2)), []
    for _ in range(200):
        proposed = (X @ rng.normal(size=2) > rng.normal()).astype(int)
        if not objection(X, released, proposed, 10, 10):
            released.append(proposed)
    assert len(released) > 1
    rows = np.concatenate([np.array([labels == 0, labels == 1]) for labels in released]).astype(float)
    for _ in range(100):
        combination = rng.integers(-3, 4, size=len(rows)) @ rows
        values, counts = np.unique(combination, return_counts=True)
        assert counts.min() >= 10, values


@pytest.mark.parametrize(
    ("change", "passes"),
    [
        (lambda X: X, True),
        (lambda X: np.column_stack([X, np.arange(60) % 2]), True),  # 15 of 30 in every cluster
        (lambda X: np.column_stack([X, np.arange(60) < 3]), False),  # a mean would be a count of three
        (lambda X: np.column_stack([X, np.arange(60) < 30]), False),  # all of a cluster have one value
        (lambda X: np.column_stack([X, np.where(np.arange(60) == 0, 500.0, X[:, 0])]), False),  # one value dominates
    ],
)
def test_a_mean_must_be_of_values_that_differ(change, passes):
    X = np.random.default_rng(0).normal(size=(60, 2))
    assert (objection(change(X), [], (np.arange(60) < 30).astype(int), 10, 10) == "") == passes


def test_a_partition_that_differs_by_one_sample_is_withheld():
    X, labels = np.random.default_rng(0).normal(size=(60, 2)), (np.arange(60) < 30).astype(int)
    other = labels.copy()
    other[0] = 0
    assert objection(X, [labels], other, 10, 10)
    assert not objection(X, [labels], labels, 10, 10)


# ---------------------------------------------------------------------------------------------------------------------
# releases


def test_what_leaves_is_rounded_and_logged(sites):
    sites.write_policy("alpha", features={name: [-20, 20] for name in sites.studies["alpha"].features})
    session = sites.agree({"ward": AgglomerativeClustering()}, n_clusters=(2, 3), **FEW)
    shown = []
    file = sites.learn("alpha", session, approve=lambda summary: not shown.append(summary))
    assert [text.splitlines()[:-1] for text in shown] == [repr(file).splitlines()]
    for shelf in file.shelves:
        assert not (shelf.sizes % 5).any()
        np.testing.assert_allclose(shelf.centroids, np.round(shelf.centroids / 0.2) * 0.2, atol=1e-9)
    (line,) = [json.loads(text) for text in sites.policy("alpha").with_name("alpha.toml.log").read_text().splitlines()]
    assert line["file"] == file.digest
    assert [len(labels) for labels in line["partitions"]] == [120, 120]


def test_what_is_not_approved_leaves_no_trace(sites):
    session = sites.agree(KMeans(3, n_init=2), **FEW)
    with pytest.raises(DataError):
        sites.learn("alpha", session, approve=lambda _: False)
    assert not sites.policy("alpha").with_name("alpha.toml.log").exists()


def test_why_a_function_is_withheld_stays_at_the_site(tmp_path):
    """Five samples far from two groups: that a third cluster is small would tell of them."""
    X = np.random.default_rng(0).normal(size=(120, 3)).clip(-3, 3) + 30 * (np.arange(120) < 60)[:, None] * [1, 0, 0]
    X[:5, 1] += 15
    sites = Hospitals(tmp_path, [cr.Study(X, name, label=False) for name in ("alpha", "beta")])
    file = sites.learn("alpha", sites.agree(AgglomerativeClustering(), n_clusters=(2, 3), **FEW))
    line = json.loads(sites.policy("alpha").with_name("alpha.toml.log").read_text())
    assert [len(shelf.centroids) for shelf in file.shelves] == [1, 0]
    assert file.causes == (WITHHELD,)
    assert line["withheld"]
    assert WITHHELD not in line["withheld"]


def test_a_later_session_is_audited_with_the_earlier_ones(tmp_path):
    """Groups that overlap: k = 2 leaves first, and another partition would differ in few samples."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3)).clip(-3, 3) + 2.5 * (np.arange(100) < 50)[:, None] * [1, 0, 0]
    study, partner = (cr.Study(X, name, label=False) for name in ("alpha", "beta"))
    sites = Hospitals(tmp_path, [study, partner])
    sites.write_policy("alpha", features={name: [-6, 6] for name in study.features})
    sites.learn("alpha", sites.agree(KMeans(2, n_init=3), **FEW))
    with pytest.raises(DataError):
        sites.learn("alpha", sites.agree(AgglomerativeClustering(2), **FEW))
    again = sites.learn("alpha", sites.agree(KMeans(2, n_init=3), **FEW))  # the same partition tells nothing new
    assert len(again.shelves[0].centroids) == 1


def test_another_table_is_refused(sites):
    session = sites.agree(KMeans(3, n_init=2), **FEW)
    sites.learn("alpha", session)
    study = sites.studies["alpha"]
    X = np.array(study.X)
    X[0, 0] += 0.001
    sites.studies["alpha"] = cr.Study(X, "alpha", features=study.features, label=False)
    with pytest.raises(DataError):
        sites.learn("alpha", session)


def test_a_score_of_a_small_cluster_is_not_told(sites):
    """Where the partner's third cluster has no samples here."""
    session = sites.agree(KMeans(3, n_init=3), **FEW)
    functions = [sites.learn(name, session) for name in sites.studies]
    study = sites.studies["beta"]
    lacking = np.asarray(functions[0].shelves[0].centroids[0])
    nearest = ((study.X[:, None] - lacking) ** 2).sum(axis=2).argmin(axis=1)
    sites.studies["beta"] = cr.Study(study.X[nearest > 0], "beta", features=study.features, label=False)
    sites.policy("beta").with_name("beta.toml.log").unlink()
    sites.policy("beta").with_name("beta.toml.log.head").unlink()
    scores = sites.score("beta", [functions[0]], session)
    assert np.isnan(scores.scores).all()


def test_the_same_function_gets_the_same_answer_from_its_own_draws(sites):
    first = sites.agree(KMeans(3, n_init=3), n_resamples=20)
    functions = [sites.learn(name, first) for name in sites.studies]
    told = sites.score("beta", functions, first).scores
    np.testing.assert_array_equal(sites.score("beta", functions, first).scores, told)
    np.testing.assert_allclose(told * 20, np.round(told * 20), atol=1e-9)


def test_functions_are_counted_over_sessions(sites):
    sites.write_policy("beta", functions_per_partner=1)
    first, second = (sites.agree(AgglomerativeClustering(k), **FEW) for k in (2, 3))
    file = sites.learn("alpha", first)
    sites.score("beta", [file], first)
    sites.score("beta", [file], first)  # again: no further function
    file = sites.learn("alpha", second)
    with pytest.raises(DataError):
        sites.score("beta", [file], second)


# ---------------------------------------------------------------------------------------------------------------------
# policies


@pytest.mark.parametrize(
    "text",
    [
        "no toml",
        'study = "alpha"',
        'study = 1\n[features]\nx = [0, 1]\n[partners]\nb = "x"',
        'study = "alpha"\nmin_cluster = 3\n[features]\nx = [0, 1]\n[partners]\n',
        'study = "alpha"\n[features]\nx = [1, 0]\n[partners]\n',
        'study = "alpha"\nmin_cluster_size = 2\n[features]\nx = [0, 1]\n[partners]\n',
        'study = "alpha"\nresults = ["tables"]\n[features]\nx = [0, 1]\n[partners]\n',
        'study = "alpha"\nclusterers = ["k-means"]\n[features]\nx = [0, 1]\n[partners]\n',
        'study = "alpha"\npatient = 1\n[features]\nx = [0, 1]\n[partners]\n',
        'study = "alpha"\nresults = [["scores"]]\n[features]\nx = [0, 1]\n[partners]\n',
        'study = "alpha"\n[features]\nx = [-1e308, 1e308]\n[partners]\n',
        'study = "alpha"\nexact_numbers = 1\n[features]\nx = [0, 1]\n[partners]\n',
        'study = "alpha"\n[features]\nx = [0, 1]\n[partners]\nbeta = "key"',
    ],
)
def test_a_policy_that_cannot_be_read_is_refused(text, tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(text)
    with refused(DataError):
        Policy.read(path)


def test_a_missing_policy_is_named(tmp_path):
    with refused(DataError):
        Policy.read(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "rules",
    [
        {"features": {"gene1": [-50, 50]}},  # the session asks for four
        {"partners": {}},
        {"partners": {"beta": "1" * 64}},
        {"results": ("scores",)},
        {"max_clusters": 2},
        {"max_resamples": 2},
        {"features": {f"gene{i}": [0, 1] for i in (1, 2, 3, 4)}},  # values lie outside
        {"features": {**{f"gene{i}": [-50, 50] for i in (1, 2, 3, 4)}, "age": [0, 110]}},  # the table has none
        {"min_cluster_size": 80},
        {"clusterers": ("ward",)},
        {"patient": "patient"},  # the table has none
    ],
)
def test_what_a_policy_does_not_allow_is_refused(sites, rules):
    session = sites.agree(KMeans(3, n_init=1), **FEW)
    sites.learn("alpha", session)  # the policy as it was allows it
    sites.write_policy("alpha", **rules)
    sites.policy("alpha").with_name("alpha.toml.log").unlink()
    sites.policy("alpha").with_name("alpha.toml.log.head").unlink()
    with refused(ClustrepError):
        sites.learn("alpha", session)


@pytest.mark.parametrize("linkage", ["single", "average", "complete"])
def test_clusterers_that_put_a_patient_apart_need_the_policy(sites, linkage):
    session = sites.agree(AgglomerativeClustering(3, linkage=linkage), **FEW)
    with refused(DataError):
        sites.learn("alpha", session)
    sites.write_policy("alpha", clusterers=("ward", linkage))
    assert sites.learn("alpha", session).shelves


def test_rules_count_patients(tmp_path):
    """A cluster of twelve rows of one patient: nothing tells of it where the policy names the column of patients."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(132, 3)).clip(-3, 3) + 20 * (np.arange(132) < 60)[:, None] * [1, 0, 0]
    X[120:] = [0, 30, 0] + 2 * rng.normal(size=(12, 3))
    patients = np.where(np.arange(132) < 120, np.arange(132), 120)
    study = cr.Study(X, "alpha", label=False).with_groups({"patient": patients})
    sites = Hospitals(tmp_path, [study, study.renamed("beta")])
    ranges = {"features": {name: [-10, 50] for name in study.features}}
    sites.write_policy("alpha", **ranges)
    session = sites.agree(KMeans(3, n_init=5), **FEW)
    assert len(sites.learn("alpha", session).shelves[0].centroids) == 1  # one row, one patient: this leaves
    sites.write_policy("beta", patient="patient", **ranges)
    with refused(DataError):
        sites.learn("beta", session)
    file = sites.learn("beta", sites.agree(KMeans(2, n_init=5), **FEW))
    assert file.n_samples == 120
    assert np.abs(file.shelves[0].centroids[0, :, 1]).max() < 2  # one row of the patient is in no mean of few


def test_values_within_a_step_are_alike(sites):
    """Three positives among 120, told apart from a count by noise far below the rounding alone."""
    study = sites.studies["alpha"]
    noise = 1e-6 * np.random.default_rng(0).normal(size=len(study))
    X = np.column_stack([study.X, (np.arange(len(study)) % 40 == 0) + noise])
    sites.studies["alpha"] = cr.Study(X, "alpha", features=[*study.features, "hiv"], label=False)
    sites.write_policy("alpha", features={**{name: [-100, 100] for name in study.features}, "hiv": [-1, 2]})
    with pytest.raises(DataError):
        sites.learn("alpha", sites.agree(KMeans(3, n_init=2), features=(*study.features, "hiv"), **FEW))


@pytest.mark.parametrize("function", ["learn", "score"])
def test_what_leaves_needs_consent(sites, function):
    session = sites.agree(KMeans(3, n_init=1), **FEW)
    file = sites.learn("beta", session)
    with refused(ParameterError, "trust_partners") as caught:
        if function == "learn":
            sites.learn("alpha", session, trust_partners=False)
        else:
            sites.score("alpha", [file], session, trust_partners=False)
    assert RISK in str(caught.value)


@pytest.mark.parametrize("page", ["README.md", "SECURITY.md", "docs/federated.md"])
def test_the_risk_stands_on_every_page_in_the_same_words(page):
    text = " ".join((Path(__file__).parents[2] / page).read_text(encoding="utf-8").replace("**", "").split())
    assert RISK in text


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
@pytest.mark.parametrize(("at", "mode"), [("file", 0o622), ("file", 0o660), ("folder", 0o777)])
def test_a_policy_that_others_can_change_is_refused(sites, at, mode):
    session = sites.agree(KMeans(3, n_init=1), **FEW)
    (sites.policy("alpha") if at == "file" else sites.folder).chmod(mode)
    with refused(DataError):
        sites.learn("alpha", session)
