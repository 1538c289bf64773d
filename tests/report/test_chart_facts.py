"""The charts of a report have the numbers of its results."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import DBSCAN
from tests.report.samples import THREE, WARD, chart

import clustrep as cr
from clustrep.plots.charts import numbers


def test_curves_have_the_means_of_the_summary(unimodal):
    analysis = unimodal
    drawn = chart(cr.Report(analysis), "curves")
    assert [view["name"] for view in drawn["views"]] == ["ARI", "AMI"]
    summary = analysis.comparison.summary()
    off = ~np.eye(3, dtype=bool)
    for a, (view, agreement) in enumerate(zip(drawn["views"], ("ari", "ami"), strict=True)):
        band, line, crosses, null = view["data"]
        own = summary[summary["agreement"] == agreement]
        assert line["name"] == "ward"
        assert line["x"] == [2, 3]
        assert line["y"] == numbers(own["score"].to_numpy())
        assert band["y"] == numbers([*own["low"], *own["high"][::-1]])
        assert crosses["y"] == numbers([float(analysis.comparison.estimate[c, a][off].mean()) for c in range(2)])
        upper = np.quantile(analysis.reference.overall_distribution[:, :, a], 0.95, axis=0)
        assert null["y"] == numbers(upper)


def test_a_clusterer_without_k_is_a_line_across(studies):
    comparison = cr.compare(
        {"ward": WARD, "three": THREE.fit_predict}, studies, n_clusters=[2, 4], n_resamples=2, rng=0
    )
    lines = [item for item in chart(cr.Report(comparison), "curves")["views"][0]["data"] if item.get("name")]
    assert {item["name"]: item["x"] for item in lines} == {"ward": [2, 4], "three": [2, 4]}
    assert len(set(lines[1]["y"])) == 1


def test_heat_maps_have_the_means_of_pairs(report, analysis):
    views = chart(report, "matrices")["views"]
    assert [view["name"] for view in views] == ["ward, k = 3", "ward, k = 2"]
    for view, k in zip(views, (3, 2), strict=True):
        (trace,) = view["data"]
        mean = analysis.comparison.replicability("ward", k).mean
        assert trace["z"] == numbers(mean)
        assert trace["text"] == [[f"{value:.2f}" for value in row] for row in mean]
        assert trace["x"] == trace["y"] == ["alpha", "beta", "gamma"]


def test_strips_have_every_resample(report, analysis):
    every, mean, estimate = chart(report, "strips")["views"][0]["data"]
    result = analysis.replicability
    assert len(every["x"]) == 6 * 20
    assert every["x"][:20] == numbers(result.distribution[:, 0, 1])
    assert every["y"][20] == "alpha → gamma"
    assert mean["x"] == numbers([float(result.mean[s, t]) for s in range(3) for t in range(3) if s != t])
    assert estimate["x"] == numbers([float(result.estimate[s, t]) for s in range(3) for t in range(3) if s != t])


def test_bars_have_the_clusters_means_and_intervals(parts):
    for view in chart(cr.Report(parts["local"]), "clusters")["views"]:
        for trace in view["data"]:
            own = parts["local"][trace["name"].removeprefix("in ")].by_cluster()
            assert trace["x"] == own["cluster"].astype(str).tolist()
            assert trace["y"] == numbers(own["mean"].to_numpy())
            assert trace["error_y"]["array"] == numbers((own["high"] - own["mean"]).to_numpy())
            assert trace["error_y"]["arrayminus"] == numbers((own["mean"] - own["low"]).to_numpy())


def test_maps_have_the_samples_places_and_scores(report, analysis):
    samples = analysis.samples()
    drawn = chart(report, "map")
    assert len(drawn["views"]) == 6
    for view in drawn["views"]:
        train, test = view["name"].split(" → ")
        own = samples[(samples["train"] == train) & (samples["test"] == test)]
        assert sum(len(trace["x"]) for trace in view["data"]) == 30
        for trace in view["data"]:
            of_cluster = own[own["cluster"] == trace["name"]]
            assert trace["x"] == numbers(of_cluster["x"].to_numpy())
            assert trace["y"] == numbers(of_cluster["y"].to_numpy())
            assert trace["marker"]["color"] == numbers(of_cluster["mean"].round(3).to_numpy())
            assert [text.split("<br>")[0] for text in trace["text"]] == of_cluster["sample"].tolist()
        assert view["layout"]["xaxis"]["title"]["text"] == analysis.coordinate_names[0]


def test_large_maps_are_thinned(analysis, monkeypatch):
    monkeypatch.setattr("clustrep.algorithms.local_plot.MOST_POINTS", 6 * 21)
    drawn = chart(cr.Report(analysis), "map")
    assert "At most 21 samples of each study are drawn" in drawn["description"]
    assert sum(len(trace["x"]) for trace in drawn["views"][0]["data"]) == 15


def test_the_histogram_has_the_tests_numbers(parts):
    bars, line = chart(cr.Report(parts["test"]), "null-1")["views"][0]["data"]
    assert sum(bars["y"]) == 19
    assert line["x"] == numbers([parts["test"].statistic] * 2)


def test_indices_have_the_validations_numbers(parts):
    result = parts["validation"]
    views = chart(cr.Report(result), "indices-1")["views"]
    assert [view["name"] for view in views] == ["Jaccard coefficient", "R index"]
    for view, index in zip(views, ("jaccard", "r"), strict=True):
        clusters, whole = view["data"]
        assert whole["y"] == numbers(result.overall()[index].to_numpy(float))
        frame = result.to_frame()
        assert clusters["y"] == numbers(frame["value"][(frame["index"] == index) & ~result.whole].to_numpy())


def test_a_clusterer_without_k_is_not_said_to_have_one(studies):
    made = cr.compare({"density": DBSCAN(eps=3.0)}, studies, agreement="ari", n_resamples=2, rng=0)
    (view,) = chart(cr.Report(made), "curves")["views"]
    texts = [text for trace in view["data"] for text in trace.get("text", [])]
    assert texts
    assert not any("k =" in text for text in texts)
    assert view["layout"]["xaxis"]["title"]["text"] == "(no number of clusters to set)"
