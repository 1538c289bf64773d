"""What sites compute together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestCentroid
from tests.federated.sites import Hospitals, cohorts
from tests.helpers import by_two

import clustrep as cr
from clustrep.errors import ParameterError
from clustrep.federated import Session
from clustrep.federated.combined import FederatedClusters, FederatedScores
from clustrep.provenance import Provenance
from clustrep.resampling import Bootstrap

RUN = {"n_clusters": (2, 3), "n_resamples": 4}
CLUSTERERS = {
    "k-means": KMeans(n_init=3),
    "random starts": KMeans(init="random", n_init=2),
    "ward": AgglomerativeClustering(),
    "mixture": GaussianMixture(),
}


CLUSTERER_NAMES = ("kmeans", "ward", "gmm")


def pooled(clusterers, studies, **options):
    """The run that sites can't make."""
    means = {
        name: each if type(each) is KMeans else cr.Induced(each, classifier=NearestCentroid())
        for name, each in clusterers.items()
    }
    return cr.compare(means, studies, rng=7, resampling=Bootstrap(distinct=True), **RUN, **options)


@pytest.mark.parametrize("scale", ["none", "study"])
@pytest.mark.parametrize("accelerate", [True, False])
def test_exact_numbers_give_the_pooled_run_bit_for_bit(tmp_path, scale, accelerate):
    studies = cohorts(50)
    sites = Hospitals(tmp_path, studies.values(), exact_numbers=True, clusterers=CLUSTERER_NAMES)
    with cr.config_context(accelerate=accelerate):
        session = sites.agree(CLUSTERERS, scale=scale, agreement=("ari", "ami"), **RUN)
        combined = sites.together(session)
        expected = pooled(CLUSTERERS, cr.Studies(dict(studies), scale=scale), agreement=("ari", "ami"))
    for name in ("names", "agreements", "clusterers", "n_clusters", "causes"):
        assert getattr(combined.comparison, name) == getattr(expected, name), name
    for name in ("estimate", "distribution", "trivial", "clusters_found", "failed"):
        np.testing.assert_array_equal(getattr(combined.comparison, name), getattr(expected, name), err_msg=name)
    assert combined.comparison.provenance == expected.provenance


def test_scores_are_those_of_the_pooled_run_up_to_rounding(tmp_path):
    """Clusters are far apart: rounded means give the same labels, and the observed scores differ by rounding alone."""
    studies = cohorts(120)
    sites = Hospitals(tmp_path, studies.values())
    combined = sites.together(sites.agree({"k-means": KMeans(n_init=3)}, **RUN))
    expected = pooled({"k-means": KMeans(n_init=3)}, studies, agreement="ari")
    told = combined.scores.scores[1, 0, 0]
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(told[off], expected.distribution[1, 0].mean(axis=0)[off], atol=0.026)
    assert combined.scores.best == 1
    assert combined.comparison is None
    assert (combined.scores.summary()["of"] == 6).all()


def test_clusters_are_matched_with_the_letters_and_counts_of_the_truth(tmp_path):
    studies = cohorts(150, shifted={})
    sites = Hospitals(tmp_path, studies.values())
    clusters = sites.together(sites.agree(KMeans(3, n_init=5), n_resamples=5)).clusters
    frame = clusters.to_frame()
    assert clusters.letters == ("A", "B", "C")
    assert (frame["status"] == "found").all()
    assert frame["n"].sum() == pytest.approx(450, abs=15)
    assert (frame["shift"] < 1).all()


@pytest.mark.parametrize("exact_numbers", [False, True])
def test_findings_are_those_of_the_pooled_run(tmp_path, exact_numbers):
    """Penguins in three studies that have all species: letters and statuses are those of three clusters."""
    penguins = pd.concat([study.to_frame() for study in cr.datasets.load_penguins().values()])
    part = np.random.default_rng(0).integers(3, size=len(penguins))
    studies = {name: cr.Study(penguins[part == i], name, label=False) for i, name in enumerate("xyz")}
    sites = Hospitals(tmp_path, studies.values())
    for name in studies:
        ranges = {"bill_length_mm": (25, 65), "bill_depth_mm": (10, 25), "flipper_length_mm": (150, 250)}
        sites.write_policy(name, {**ranges, "body_mass_g": (2000, 7000)}, exact_numbers=exact_numbers)
    run = {"n_clusters": (3,), "scale": "study", "n_resamples": 20}
    told = sites.together(sites.agree({"kmeans": KMeans(n_init=5)}, **run)).clusters.to_frame()
    findings = cr.analyse({"kmeans": KMeans(n_init=5)}, studies, rng=7, n_null=19, **run).findings
    status = told.pivot(index="cluster", columns="study", values="status")
    assert tuple(status.index) == findings.letters
    np.testing.assert_array_equal(status, findings.status)
    counts = told.pivot(index="cluster", columns="study", values="n").to_numpy(dtype=float)
    np.testing.assert_allclose(counts, findings.counts, atol=15)  # rounded, and k-means in each study by itself


def test_what_no_other_study_reproduces_is_no_finding(tmp_path):
    """Studies without clusters: k-means cuts each of them elsewhere."""
    rng = np.random.default_rng(0)
    studies = [cr.Study(rng.normal(size=(100, 3)).clip(-3, 3), name, label=False) for name in "xyz"]
    sites = Hospitals(tmp_path, studies)
    for name in "xyz":
        sites.write_policy(name, dict.fromkeys(studies[0].features, (-4, 4)))
    combined = sites.together(sites.agree(KMeans(2, n_init=5), n_resamples=10))
    assert np.isfinite(combined.scores.scores[:, :, 0]).any()
    assert combined.clusters.letters == ()
    assert combined.clusters.to_frame().empty
    assert cr.Report(combined).to_html()
    assert repr(combined)


@pytest.mark.parametrize(("agreement", "letters"), [("ri", ()), ("mi", ()), (("ri", "ari"), ("A", "B"))])
def test_a_score_that_is_not_adjusted_for_chance_finds_no_cluster(tmp_path, agreement, letters):
    """The Rand index of noise is above 0.8, mutual information of two equal partitions below."""
    rng = np.random.default_rng(0)
    apart, k = (np.array([[0, 0], [12, 0]]), 2) if letters else (np.zeros((2, 2)), 5)
    studies = [
        cr.Study(2 * rng.normal(size=(300, 2)).clip(-4, 4) + apart[np.arange(300) % 2], name, label=False)
        for name in ("alpha", "beta")
    ]
    features = dict.fromkeys(studies[0].features, (-9.0, 21.0))
    sites = Hospitals(tmp_path, studies, features=features)
    session = sites.agree(KMeans(k, n_init=3), n_resamples=4, agreement=agreement)
    combined = sites.together(session)
    assert combined.scores.scores[0, 0, 0, 0, 1] >= 0.8  # as it is told: rounded
    assert combined.clusters.letters == letters


@pytest.mark.parametrize(("n_told", "best"), [((6, 6), 1), ((6, 3), 1), ((6, 2), 0), ((2, 1), 0)])
def test_the_best_configuration_is_one_that_half_of_the_pairs_tell(n_told, best):
    scores = np.full((2, 1, 3, 3, 3), np.nan)
    for c, (n, score) in enumerate(zip(n_told, (0.4, 0.9), strict=True)):
        train, test = np.nonzero(~np.eye(3, dtype=bool))
        scores[c, 0, :, train[:n], test[:n]] = score
    names, k = ("a", "b", "c"), (2, 3)
    assert FederatedScores(names, ("ari",), ("ward", "ward"), k, scores, Provenance(seed=0)).best == best


def test_a_cluster_that_a_study_lacks_is_undetermined_there():
    centres = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 14.0]])
    shift = np.array([8.0, 8.0])
    clusters = FederatedClusters.of(
        ("a", "b", "c"),
        [centres, centres[:2] + shift, None],
        [np.array([40, 30, 20]), np.array([25, 25]), np.array([], dtype=int)],
        [np.ones(2), np.ones(2), np.empty(0)],
        Provenance(seed=0),
    )
    frame = clusters.to_frame()
    assert frame["status"].tolist() == ["found", "found", "undetermined"] * 2 + [
        "found",
        "undetermined",
        "undetermined",
    ]
    np.testing.assert_allclose(clusters.shift[:2], [0, np.sqrt(128)], atol=1e-9)
    assert np.isnan(clusters.shift[2])


def test_a_combined_result_is_saved_read_and_reported(tmp_path):
    sites = Hospitals(tmp_path, cohorts(80, 2).values())
    combined = sites.together(sites.agree(KMeans(n_init=2), **RUN))
    combined.save(tmp_path / "together.npz")
    again = cr.load(tmp_path / "together.npz")
    pd.testing.assert_frame_equal(again.scores.to_frame(), combined.scores.to_frame())
    pd.testing.assert_frame_equal(again.clusters.to_frame(), combined.clusters.to_frame())
    assert repr(again) == repr(combined)
    report = cr.Report(combined)
    titles = [section["title"] for section in report.facts["sections"]]
    assert "Clusters matched across sites" in titles
    assert cr.Report(again).to_html() == report.to_html()


def test_workers_change_nothing(tmp_path):
    sites = Hospitals(tmp_path, cohorts(80, 2).values())
    session = sites.agree(KMeans(n_init=2), **RUN)
    functions = [sites.learn(name, session) for name in sites.studies]
    scores = sites.score("alpha", functions, session)
    with by_two():
        assert sites.learn("alpha", session).digest == functions[0].digest
        assert sites.score("alpha", functions, session).digest == scores.digest


def test_units_that_differ_are_warned_of(tmp_path):
    alpha, beta = cohorts(80, 2).values()
    sites = Hospitals(tmp_path, [alpha, cr.Study(beta.X + 90, "beta", features=beta.features, label=False)])
    sites.write_policy("beta", features={name: [-50, 150] for name in beta.features})
    session = sites.agree(KMeans(2, n_init=2), n_resamples=3)
    file = sites.learn("alpha", session)
    with pytest.warns(cr.errors.DataWarning):
        sites.score("beta", [file], session)


# ---------------------------------------------------------------------------------------------------------------------
# sessions


@pytest.mark.parametrize(
    ("question", "parameter"),
    [
        ({"clusterers": KMeans(3, init=np.zeros((3, 4)))}, "clusterers"),
        ({"clusterers": AgglomerativeClustering(3, memory="/tmp")}, "clusterers"),
        ({"clusterers": lambda X: X[:, 0] > 0}, "clusterers"),
        ({"clusterers": cr.Induced(KMeans(3))}, None),
        ({"clusterers": cr.Induced(KMeans(3), classifier=NearestCentroid(metric="manhattan"))}, "clusterers"),
        ({"sites": {"alpha": "a" * 64}}, "sites"),
        ({"sites": {"alpha": "a" * 64, "beta": "key"}}, "sites"),
        ({"sites": {"alpha": "a" * 64, "beta": "a" * 64}}, "sites"),
        ({"units": {"age": "years"}}, "units"),
        ({"scale": "pooled"}, "scale"),
        ({"n_resamples": 0}, "n_resamples"),
        ({"clusterers": KMeans(1)}, "n_clusters"),
        ({"clusterers": SpectralClustering(2)}, None),
    ],
)
def test_what_can_be_agreed_on(question, parameter):
    usual = {"clusterers": KMeans(3), "features": ["x", "y"], "sites": {"alpha": "a" * 64, "beta": "b" * 64}}
    values = {**usual, **question}
    clusterers = values.pop("clusterers")
    if parameter is None:
        assert Session.agree(clusterers, **values).configurations
        return
    with pytest.raises(ParameterError) as caught:
        Session.agree(clusterers, **values)
    assert caught.value.parameter == parameter


def test_a_session_is_read_as_it_was_written(tmp_path):
    sites = Hospitals(tmp_path, cohorts(30, 2).values())
    session = sites.agree(CLUSTERERS, units={"gene1": "log2"}, **RUN)
    session.save(tmp_path / "study.session")
    again = Session.read(tmp_path / "study.session")
    assert again.fingerprint == session.fingerprint
    assert repr(again) == repr(session)
    assert sites.agree(CLUSTERERS, units={"gene1": "log2"}, **RUN).fingerprint != session.fingerprint
