"""What sites compute together is what the pooled run computes, bit for bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestCentroid
from tests.cli.support import invoke, process
from tests.federated.sites import CLUSTERERS, SMALL, assert_same, cohorts, exchanged
from tests.helpers import by_two
from tests.sentences import warned

import clustrep as cr

RUN = {"n_clusters": (2, 3), "n_resamples": 4, "rng": 7}


@pytest.mark.parametrize("name", CLUSTERERS)
def test_every_form_gives_the_scores_of_the_pooled_run(name):
    studies = cohorts()
    combined = exchanged({name: CLUSTERERS[name]}, studies, disclosure=SMALL, **RUN)
    assert_same(combined.comparison, cr.compare({name: CLUSTERERS[name]}, studies, **RUN))
    assert combined.withheld == ()


@pytest.mark.parametrize(
    "resampling",
    [
        cr.resampling.Bootstrap(),
        cr.resampling.Subsample(0.7),
        cr.resampling.Subsample(0.8) + cr.resampling.Jitter(0.1),
        cr.resampling.Rerun(),
    ],
)
def test_whatever_the_resampling(resampling):
    studies = cohorts()
    combined = exchanged(KMeans(n_init=2), studies, disclosure=SMALL, resampling=resampling, **RUN)
    assert_same(combined.comparison, cr.compare(KMeans(n_init=2), studies, resampling=resampling, **RUN))


@pytest.mark.parametrize("clusterer", [KMeans(n_init=2), CLUSTERERS["birch"]])
def test_without_shortcuts(clusterer):
    studies = cohorts()
    with cr.config_context(accelerate=False):
        combined = exchanged(clusterer, studies, disclosure=SMALL, **RUN)
        pooled = cr.compare(clusterer, studies, **RUN)
    assert_same(combined.comparison, pooled)


def test_scaled_studies_in_single_precision():
    tables = {name: study.X.astype(np.float32) for name, study in cohorts().items()}
    studies = cr.Studies(tables, scale="study")
    for clusterer in (KMeans(n_init=2), CLUSTERERS["mini-batch"], CLUSTERERS["ward by centroid"]):
        assert studies["alpha"].X.dtype == np.float32
        assert_same(
            exchanged(clusterer, studies, disclosure=SMALL, **RUN).comparison, cr.compare(clusterer, studies, **RUN)
        )


def test_a_site_with_more_features_than_samples_rotates_nothing(rng):
    """The pooled run rotates only where features outnumber the samples of all sites by far."""
    tables = {name: rng.normal(size=(25, 60)) + 3 * rng.integers(0, 2, 25)[:, None] for name in ("a", "b", "c")}
    studies = cr.Studies(tables)
    combined = exchanged(KMeans(2, n_init=2), studies, disclosure=SMALL, n_resamples=4, rng=7)
    assert_same(combined.comparison, cr.compare(KMeans(2, n_init=2), studies, n_resamples=4, rng=7))


def test_without_the_diagonal_and_with_other_agreements():
    studies = cohorts()
    options = {"agreement": ("ri", "matching"), "diagonal": False}
    combined = exchanged(KMeans(n_init=2), studies, disclosure=SMALL, **options, **RUN)
    assert_same(combined.comparison, cr.compare(KMeans(n_init=2), studies, **options, **RUN))


def test_failures_are_those_of_the_pooled_run():
    """Two distinct rows can't make three clusters in any resample that drew one of them alone."""
    studies = cr.Studies(
        {**{name: study.X for name, study in cohorts(40, 2).items()}, "few": [[0.0] * 4, [9.0] * 4] * 5}
    )
    with pytest.warns(cr.errors.ReplicateWarning):
        pooled = cr.compare(KMeans(n_init=2), studies, **RUN)
    with pytest.warns(cr.errors.ReplicateWarning):
        combined = exchanged(KMeans(n_init=2), studies, disclosure=cr.federated.Disclosure(min_cluster_size=1), **RUN)
    assert pooled.failures
    assert_same(combined.comparison, pooled)


def test_scores_of_clusters_are_those_at_the_test_samples():
    studies = cohorts()
    combined = exchanged({"k-means": KMeans(n_init=3)}, studies, disclosure=SMALL, **RUN)
    frame = combined.clusters.to_frame()
    for train in studies:
        for test in [name for name in studies if name != train]:
            pooled = cr.local_replicability(
                KMeans(3, n_init=3), train=studies[train], test=studies[test], at=studies[test], n_resamples=4, rng=7
            )
            rows = (frame["train"] == train) & (frame["test"] == test) & (frame["k"] == 3)
            assert frame[rows]["size"].tolist() == pooled.by_cluster()["size"].tolist()
            np.testing.assert_array_equal(combined.clusters.distribution[rows].T, pooled.cluster_distribution)
            for column in ("estimate", "mean", "sd", "low", "high"):
                np.testing.assert_array_equal(frame[rows][column], pooled.by_cluster()[column])


def test_withheld_functions_leave_all_other_scores_as_they_are():
    studies = cohorts(30)
    with warned(cr.errors.ReplicateWarning):
        combined = exchanged(KMeans(n_init=3), studies, **RUN).comparison
    pooled = cr.compare(KMeans(n_init=3), studies, **RUN)
    withheld = np.isnan(combined.distribution)
    assert 0 < withheld.mean() < 1
    np.testing.assert_array_equal(combined.distribution[~withheld], pooled.distribution[~withheld])
    assert (combined.failed[:, :, 1:] > 0).sum() == withheld.sum()


def test_workers_change_nothing():
    study, other = cohorts(n_cohorts=2).values()
    functions = cr.federated.learn(KMeans(n_init=2), study, **RUN)
    scores = cr.federated.score(other, [functions])
    with by_two():
        assert cr.federated.learn(KMeans(n_init=2), study, **RUN).digest == functions.digest
        assert cr.federated.score(other, [functions]).digest == scores.digest


# ---------------------------------------------------------------------------------------------------------------------
# three sites, three folders, three processes


def test_three_sites_in_three_folders_with_three_processes(tmp_path, monkeypatch):
    """One site learns, and another scores, in a process of its own; everything else is done in this one."""
    monkeypatch.delenv("CLUSTREP_DATA", raising=False)
    studies = cohorts(90)
    alpha, beta, _ = studies

    def command(folder, *arguments, alone=False):
        monkeypatch.chdir(folder)
        (process if alone else invoke)(*arguments)

    options = ["--k", "2:3", "--resamples", "6", "--seed", "7", "--jobs", "1", "--induced", "centroid"]
    clusterers = ["--clusterer", "kmeans", "--clusterer", "gmm", "--clusterer", "ward"]
    for name, study in studies.items():
        (tmp_path / name).mkdir()
        study.to_frame().to_csv(tmp_path / name / "patients.csv", index_label="patient")
        arguments = ["--name", name, *options, *clusterers, "--out", "out.functions"]
        command(tmp_path / name, "learn", "patients.csv", *arguments, alone=name == alpha)
    for name in studies:
        others = [tmp_path / other / "out.functions" for other in studies if other != name]
        arguments = ["--name", name, "--functions", *others, "--out", "out.scores", "--jobs", "1"]
        command(tmp_path / name, "score", "patients.csv", *arguments, alone=name == beta)
    (tmp_path / "together").mkdir()
    files = [tmp_path / name / "out.scores" for name in studies]
    command(tmp_path / "together", "combine", *files, "--out", "results", "--figures", "none")
    combined = cr.load(tmp_path / "together" / "results" / "result.npz")
    ward = cr.Induced(AgglomerativeClustering(), classifier=NearestCentroid())
    pooled = cr.compare(
        {"kmeans": KMeans(n_init=10), "gmm": GaussianMixture(), "ward": ward},
        cr.Studies({name: pd.read_csv(tmp_path / name / "patients.csv", index_col=0) for name in studies}),
        n_clusters=(2, 3),
        n_resamples=6,
        rng=7,
    )
    assert_same(combined.comparison, pooled)
    written = pd.read_csv(tmp_path / "together" / "results" / "scores.csv")
    pd.testing.assert_frame_equal(written, pooled.to_frame(), check_dtype=False, rtol=1e-12)
