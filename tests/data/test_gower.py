"""Gower's distance: exactly the Manhattan distance of coded tables, through clusterers, files and the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import AgglomerativeClustering
from tests.cli.support import invoke
from tests.sentences import refused

import clustrep as cr
from clustrep.data.gower import gower_coded
from clustrep.errors import DataError, ParameterError


def patients(seed, n=50):
    """Two groups that differ in numbers and in categories."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 2
    return pd.DataFrame(
        {
            "age": rng.normal(40 + 25 * kind, 4).round(1),
            "sex": np.where(rng.random(n) < 0.5, "f", "m"),
            "stage": np.where(rng.random(n) < 0.9, np.where(kind == 1, "III", "I"), "II"),
            "smoker": kind == 1,
            "marker": rng.normal(3 * kind, 0.5),
        }
    )


FRAMES = {"a": patients(1), "b": patients(2), "c": patients(3)}
AVERAGE = {"linkage": "average", "metric": "manhattan"}


def gower(one, other, everything):
    """Gower's distance of two samples, by its definition."""
    parts = []
    for column in one.index:
        if isinstance(one[column], float):
            parts.append(abs(one[column] - other[column]) / np.ptp(everything[column]))
        else:
            parts.append(float(one[column] != other[column]))
    return np.mean(parts)


def test_manhattan_distances_of_coded_tables_are_gowers():
    everything = pd.concat(FRAMES.values())
    coded = gower_coded(FRAMES)
    assert list(coded["a"].columns) == [
        *("age", "sex=f", "sex=m", "stage=I", "stage=II", "stage=III", "smoker=False", "smoker=True", "marker")
    ]
    rows, columns = FRAMES["a"].iloc[:12], FRAMES["b"].iloc[:9]
    expected = [[gower(x, y, everything) for _, y in columns.iterrows()] for _, x in rows.iterrows()]
    distances = cdist(coded["a"].iloc[:12], coded["b"].iloc[:9], "cityblock") / FRAMES["a"].shape[1]
    np.testing.assert_allclose(distances, expected, atol=1e-12)


def test_categories_are_those_of_all_studies():
    tables = {"a": pd.DataFrame({"x": ["u", "v"]}), "b": pd.DataFrame({"x": ["v", "w"]})}
    studies = cr.Studies(tables, gower=True)
    assert studies.features == ("x=u", "x=v", "x=w")
    assert studies["b"].X.tolist() == [[0, 0.5, 0], [0, 0, 0.5]]


def test_a_missing_category_is_half_different_and_a_missing_number_stays_missing():
    frame = pd.DataFrame({"sex": ["f", None, "m", None], "age": [1.0, 2.0, np.nan, 3.0]})
    coded = gower_coded({"a": frame})["a"]
    by_sex = cdist(coded[["sex=f", "sex=m"]], coded[["sex=f", "sex=m"]], "cityblock")
    assert by_sex[0].tolist() == [0, 0.5, 1, 0.5]
    assert by_sex[1, 3] == 0
    assert coded["age"].isna().tolist() == [False, False, True, False]
    with refused(DataError):
        cr.Studies({"a": frame}, gower=True)
    assert cr.Studies({"a": frame}, gower=True, allow_missing=True)["a"].has_missing


def test_agglomeration_is_that_of_gowers_distances():
    studies = cr.Studies(FRAMES, gower=True)
    clusterer = AgglomerativeClustering(3, **AVERAGE)
    result = cr.replicability(clusterer, studies, n_resamples=2, rng=0)
    everything = pd.concat(FRAMES.values())
    frame = FRAMES["a"]
    distances = np.array([[gower(x, y, everything) for _, y in frame.iterrows()] for _, x in frame.iterrows()])
    by_hand = AgglomerativeClustering(3, linkage="average", metric="precomputed").fit_predict(distances)
    learned = result.clustering_function("a").labels(studies["a"].X)
    assert cr.agreement.adjusted_rand_index(by_hand, learned) == 1.0
    two = cr.replicability(AgglomerativeClustering(2, **AVERAGE), studies, n_resamples=3, rng=0)
    assert two.distribution.min() == 1.0


def test_medoids_find_the_groups_by_gowers_distance():
    kmedoids = pytest.importorskip("kmedoids")
    studies = cr.Studies(FRAMES, gower=True)
    result = cr.replicability(kmedoids.KMedoids(2, metric="manhattan"), studies, n_resamples=3, rng=0)
    assert result.distribution.min() == 1.0


def test_labels_stay_aside_and_what_makes_no_sense_is_refused():
    labelled = {name: frame.assign(kind=np.arange(len(frame)) % 2) for name, frame in FRAMES.items()}
    studies = cr.Studies(labelled, label="kind", gower=True)
    assert studies["a"].labels.tolist() == [0, 1] * 25
    assert not any(feature.startswith("kind") for feature in studies.features)
    with refused(ParameterError, "scale"):
        cr.Studies(FRAMES, gower=True, scale="study")
    with refused(ParameterError, "gower"):
        cr.Studies([cr.Study(np.eye(3), "x")], gower=True)
    with refused(DataError):
        cr.Studies(FRAMES)


def test_files_with_categories_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, frame in FRAMES.items():
        frame.assign(marker=frame["marker"].where(frame.index % 7 > 0)).to_csv(f"{name}.csv", index=False)
    quick = ["--k", "2", "--resamples", "3", "--null", "none", "--figures", "none", "--jobs", "1", "--quiet"]
    refused = " ".join(invoke("run", "a.csv", "b.csv", *quick, "--no-label", code=3).stderr.split())
    assert "--gower" in refused
    invoke("run", "a.csv", "b.csv", "--no-label", "--gower", "--impute", "median", *quick, "--out", "there")
    analysis = cr.load("there/result.npz")
    assert analysis.comparison.clusterers == ("average:metric=manhattan", "complete:metric=manhattan")
    assert analysis.comparison.estimate.min() == 1.0


def test_codes_of_categories_are_named_and_taken_as_categories(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        codes = {"sex": rng.integers(0, 2, 40), "pain": rng.integers(1, 5, 40), "age": rng.normal(60, 9, 40)}
        pd.DataFrame(codes).to_csv(f"{seed}.csv", index=False)
    options = "--categorical sex --categorical pain"
    assert options in invoke("inspect", "1.csv", "2.csv").stdout
    assert options in invoke("inspect", "1.csv", "2.csv", "--gower").stdout
    taken = invoke("inspect", "1.csv", "2.csv", *options.split()).stdout
    assert "7 shared features" in taken
    assert "look at this" not in taken
    studies = cr.Studies.read("1.csv", "2.csv", categorical=["sex", "pain"])
    assert {"sex=0", "sex=1", "pain=4", "age"} <= set(studies.features)
    with pytest.raises(ParameterError) as caught:
        cr.Studies.read("1.csv", "2.csv", categorical=["sx"])
    assert caught.value.parameter == "categorical"


def test_studies_that_share_no_column_are_refused():
    with refused(DataError):
        gower_coded({"a": pd.DataFrame({"x": [1.0]}), "b": pd.DataFrame({"y": [1.0]})})


def test_codes_are_neither_scaled_nor_normalised(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, frame in FRAMES.items():
        frame.to_csv(f"{name}.csv", index=False)
    with refused(ParameterError, "normalise"):
        cr.Studies(FRAMES, gower=True, normalise="log1p")
    with refused(ParameterError, "normalise"):
        cr.Studies.read("a.csv", "b.csv", label=False, gower=True, normalise="log1p")
    for option in (["--scale", "study"], ["--normalise", "log1p"]):
        command = ["run", "a.csv", "b.csv", "--no-label", "--gower", *option, "--k", "2", "--resamples", "2", "--null"]
        outcome = invoke(*command, "none", "--figures", "none", "--jobs", "1", "--quiet", code=2)
        assert f"--gower can't be combined with {option[0]} '{option[1]}'" in " ".join(outcome.stderr.split())


def test_infinite_numbers_and_codes_of_one_name_are_refused():
    frame = pd.DataFrame({"age": [1.0, np.inf, np.nan], "sex": ["f", "m", "f"]})
    with refused(DataError):
        cr.Studies({"a": frame}, gower=True, allow_missing=True)
    with refused(DataError):
        gower_coded({"a": pd.DataFrame({"sex": ["f", "m"], "sex=f": [1.0, 2.0]})})
