"""Any parameter is a path: comparisons over a resolution or an eps instead of a number of clusters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.sentences import refused

import clustrep as cr
from clustrep.algorithms.compare import configurations_to_compare
from clustrep.algorithms.score_plots import curve_places
from clustrep.errors import ParameterError
from clustrep.fitting.communities import Leiden
from clustrep.fitting.resample import Source
from clustrep.fitting.setting import Setting
from clustrep.report.words import methods_of

STUDIES = cr.datasets.simulate_cohorts(n_cohorts=2, n_samples=60, missing={}, shifted={}, rng=1)
CLUSTERERS = {"leiden": Leiden(n_neighbors=8), "dbscan": DBSCAN(), "k-means": KMeans(n_init=2)}
PARAM_GRID = {"leiden": {"resolution": [1.0, 0.2]}, "dbscan": {"eps": [1.0, 1.5]}}
RESOLUTIONS = {"resolution": [0.2, 1.0, 3.0]}


@pytest.fixture(scope="module")
def mixed():
    return cr.compare(CLUSTERERS, STUDIES, n_clusters=[3, 4], param_grid=PARAM_GRID, n_resamples=6, rng=0)


@pytest.fixture(scope="module")
def leiden():
    return cr.compare({"leiden": Leiden(n_neighbors=8)}, STUDIES, param_grid=RESOLUTIONS, n_resamples=6, rng=0)


# ---------------------------------------------------------------------------------------------------------------------
# scores


def test_every_value_is_a_configuration(mixed):
    assert mixed.clusterers == (
        "leiden, resolution = 1",
        "leiden, resolution = 0.2",
        "dbscan, eps = 1",
        "dbscan, eps = 1.5",
        "k-means",
        "k-means",
    )
    assert mixed.n_clusters == (None, None, None, None, 3, 4)


@pytest.mark.parametrize(
    ("name", "value", "clusterer"),
    [("leiden", 0.2, Leiden(0.2, n_neighbors=8)), ("dbscan", 1.5, DBSCAN(eps=1.5))],
)
def test_it_is_the_clusterer_with_that_value(mixed, name, value, clusterer):
    alone = cr.replicability(clusterer, STUDIES, n_resamples=6, rng=0)
    of_series = mixed.replicability(name, value=value)
    np.testing.assert_array_equal(of_series.distribution, alone.distribution)
    np.testing.assert_array_equal(of_series.estimate, alone.estimate)
    assert of_series.clusterer == mixed.replicability(of_series.clusterer).clusterer


def test_numbers_of_clusters_are_as_without(mixed):
    alone = cr.compare(CLUSTERERS["k-means"], STUDIES, n_clusters=[3, 4], n_resamples=6, rng=0)
    np.testing.assert_array_equal(mixed.distribution[4:], alone.distribution)
    assert "parameter" not in alone.summary()
    assert "clusters_found" not in alone.summary()
    assert "series" not in alone.provenance.to_fields()["clusterers"][0]


def test_param_grid_of_numbers_of_clusters_is_n_clusters():
    grid, plain = (
        cr.compare({"ward": AgglomerativeClustering()}, STUDIES, n_resamples=2, rng=0, **asked)
        for asked in ({"param_grid": {"n_clusters": [2, 3]}}, {"n_clusters": [2, 3]})
    )
    np.testing.assert_array_equal(grid.distribution, plain.distribution)
    assert grid.n_clusters == (2, 3)


@pytest.mark.parametrize("numbers", [[1, 2], [2.5, 3]])
def test_param_grid_numbers_of_clusters_that_n_clusters_refuses(numbers):
    with refused(ParameterError, "n_clusters"):
        cr.compare({"ward": AgglomerativeClustering()}, STUDIES, param_grid={"n_clusters": numbers}, n_resamples=2)


def test_tables_show_the_clusters_found_beside_the_parameter(mixed):
    summary = mixed.summary()
    summary = summary[summary["agreement"] == "ari"].reset_index(drop=True)
    assert summary["parameter"].tolist()[:4] == ["resolution", "resolution", "eps", "eps"]
    np.testing.assert_array_equal(summary["value"].to_numpy(), [1.0, 0.2, 1.0, 1.5, np.nan, np.nan])
    np.testing.assert_allclose(summary["clusters_found"], mixed.clusters_found.mean(axis=(1, 2)))
    assert {"parameter", "value", "clusters_found"} <= set(mixed.to_frame())


def test_the_choice_counts_clusters_found(leiden):
    choice = leiden.choice()
    frame = choice.to_frame()
    np.testing.assert_allclose(frame["clusters_found"], leiden.mean_clusters_found)
    assert choice.simplest is not None
    enough = choice.best.score - np.std(leiden._averages[choice.place(choice.best), 0], ddof=1)
    near = [candidate for candidate in choice.candidates if candidate.score >= enough]
    assert choice.simplest.clusters_found == min(candidate.clusters_found for candidate in near)
    assert f"({choice.best.clusters_found:.2g} clusters)" in choice.best.label


def test_a_value_or_series_that_there_is_not(mixed):
    with refused(ParameterError, "value"):
        mixed.replicability("leiden", value=0.3)
    with refused(ParameterError, "clusterer"):
        mixed.replicability("k-means", value=3)


def test_saved_and_read(leiden, tmp_path):
    leiden.save(tmp_path / "c.npz")
    again = cr.load(tmp_path / "c.npz")
    pd.testing.assert_frame_equal(again.summary(), leiden.summary())
    assert again.curves == leiden.curves == {"leiden": [0, 1, 2]}


def test_one_path_for_all_resolutions_but_not_for_parameters_that_a_path_fixes():
    def paths(clusterers, param_grid):
        configurations = configurations_to_compare(clusterers, None, param_grid)
        return Setting.prepare(Source(cr.resampling.Bootstrap(), 0), tuple(STUDIES.values()), configurations).learners

    assert len(paths({"leiden": Leiden()}, RESOLUTIONS)) == 1
    assert len(paths({"k-means": KMeans(3)}, {"tol": [1e-4, 0.5]})) == 2


def test_a_parameter_that_changes_k_means():
    grid = cr.compare(
        {"k-means": KMeans(3, n_init=1)}, STUDIES, param_grid={"max_iter": [1, 300]}, n_resamples=4, rng=0
    )
    alone = cr.replicability(KMeans(3, n_init=1, max_iter=1), STUDIES, n_resamples=4, rng=0)
    np.testing.assert_array_equal(grid.replicability("k-means", value=1).distribution, alone.distribution)
    assert curve_places(grid)[:2] == ("max_iter", [1, 300])  # not three clusters, twice


def test_the_last_step_of_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), DBSCAN())
    result = cr.compare({"scaled": pipeline}, STUDIES, param_grid={"eps": [0.5, 0.8]}, n_resamples=2, rng=0)
    assert result.clusterers == ("scaled, eps = 0.5", "scaled, eps = 0.8")


@pytest.mark.parametrize(
    "param_grid",
    [
        {"eps": []},
        {"eps": [1, 1.0]},
        {"eps": ["wide"]},
        {"eps": "wide"},
        {"epsilon": [1]},
        {"dbscam": {"eps": [1]}},
        {"dbscan": {"eps": [1], "min_samples": [2]}},
        {"dbscan": {"epsilon": [1]}},
        {"eps": [1], "min_samples": [2]},
        {"dbscan": {"eps": [1]}, "min_samples": [2]},
        {"min_samples": [2], "dbscan": {"eps": [1]}},
        {1: [2]},
        [1, 2],
        {},
    ],
)
def test_param_grid_that_is_refused(param_grid):
    with refused(ParameterError, "param_grid"):
        cr.compare({"dbscan": DBSCAN()}, STUDIES, param_grid=param_grid, n_resamples=2)


# ---------------------------------------------------------------------------------------------------------------------
# figures and page


def test_curves_over_the_parameter(leiden):
    assert curve_places(leiden) == ("resolution", [0.2, 1.0, 3.0], {"leiden": [0, 1, 2]})


def test_different_parameters_meet_at_the_number_of_clusters(mixed):
    title, places, groups = curve_places(mixed)
    assert title == "mean clusters found"
    assert [*groups] == ["leiden", "dbscan", "k-means"]
    assert [places[c] for c in groups["k-means"]] == [3, 4]


def test_drawings(leiden, mixed):
    assert leiden.plot().get_xlabel() == "resolution"
    assert mixed.plot().get_xlabel() == "mean clusters found"
    reference = cr.null_reference(leiden, n=19, null="gaussian")
    assert leiden.plot(reference=reference).get_xlabel() == "resolution"


def test_the_paragraph_for_a_paper_names_the_values(mixed):
    text = " ".join(methods_of(mixed, None))
    assert "leiden (resolution from 0.2 to 1, 2 values), dbscan (eps from 1 to 1.5, 2 values) and k-means" in text
    assert text.count("leiden:") == 1
    assert "resolution=…" in text


def test_a_whole_analysis_over_resolutions():
    analysis = cr.analyse(
        {"leiden": Leiden(n_neighbors=8)},
        STUDIES,
        param_grid=RESOLUTIONS,
        n_resamples=4,
        n_null=19,
        rng=0,
        train=["alpha"],
    )
    assert analysis.verdict == "separated"
    assert analysis.n_clusters == 4
    assert analysis.focus.clusterer.startswith("leiden, resolution = ")
    assert set(analysis.findings.table()["status"]) == {"found"}
    page = cr.Report(analysis).to_markdown()
    assert "clusters found" in page
    assert "leiden, resolution = " in page
