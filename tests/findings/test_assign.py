"""New samples: their clusters, or none of these."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.data.studies import Studies
from clustrep.errors import DataError, DataWarning, ParameterError
from clustrep.findings.alignment import aligned
from clustrep.findings.assign import NONE, with_reference
from clustrep.findings.find import find_clusters
from clustrep.fitting.parameters import configurations_of
from clustrep.fitting.resample import Source
from clustrep.resampling.strategies import Rerun

FEATURES = ["a", "b", "c"]
CENTRES = np.array([[0.0, 0, 0], [7.0, 0, 0], [0, 7.0, 0]])


def draw(n, rng, shift=0.0, scale=1.0, name="s"):
    labels = rng.choice(3, n, p=(0.5, 0.3, 0.2))
    X = scale * (CENTRES[labels] + rng.normal(size=(n, 3))) + shift
    return pd.DataFrame(X, columns=FEATURES, index=[f"{name}{i}" for i in range(n)]), labels


def findings_of(tables, scale="auto"):
    from sklearn.cluster import KMeans

    read = Studies(tables, label=False)
    given = read if scale == "auto" else read.scaled(scale)
    configurations = configurations_of("k-means", KMeans(n_init=3), range(2, 5))
    compared, found = aligned(given, find_clusters(given, configurations, Source.of(Rerun(), 0), scale=scale), scale)
    return with_reference(found, read, compared)


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(3)
    return {name: draw(120, rng, shift, name=name) for name, shift in (("x", 0.0), ("y", 0.0), ("z", 9.0))}


@pytest.fixture(scope="module")
def found(drawn):
    return findings_of({name: frame for name, (frame, _) in drawn.items()})


def letters_of(found, drawn):
    """The letter of every true cluster."""
    labels = found.labels["x"]
    return [pd.Series(labels[drawn["x"][1] == c]).mode()[0] for c in range(3)]


@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1.0), (9.0, 1.0), (-20.0, 1.0), (5.0, 2.0)])
def test_a_new_study_is_assigned_wherever_it_lies(found, drawn, shift, scale):
    frame, labels = draw(90, np.random.default_rng(7), shift, scale)
    assigned = found.assign(frame)
    right = np.array(letters_of(found, drawn))[labels]
    is_none = assigned["cluster"] == NONE
    assert (assigned["cluster"] == right)[~is_none].mean() > 0.99
    assert is_none.mean() < 0.15
    assert list(assigned.index) == list(frame.index)
    assert (assigned["set"] == "").equals(is_none)
    assert assigned["probability"].between(0, 1).all()


def test_the_samples_of_the_studies_keep_their_clusters(found, drawn):
    for name, (frame, _) in drawn.items():
        assigned = found.assign(frame, like=name)
        agrees = assigned["cluster"] == found.labels[name]
        assert agrees[assigned["cluster"] != NONE].mean() > 0.99


def test_a_single_sample_is_measured_like_a_study(found, drawn):
    frame, labels = drawn["z"]
    alone = found.assign(frame.iloc[[5]], like="z")
    assert alone["cluster"].iloc[0] == letters_of(found, drawn)[labels[5]]
    pd.testing.assert_frame_equal(alone, found.assign(frame, like="z").iloc[[5]])
    pd.testing.assert_frame_equal(
        alone.reset_index(drop=True), found.assign(frame.to_numpy()[5], like="z").reset_index(drop=True)
    )


def test_samples_far_from_all_clusters_belong_to_none(found):
    far = pd.DataFrame([[40.0, 40, 40], [3.5, 3.5, 30]], columns=FEATURES)
    assigned = found.assign(far, like="x")
    assert (assigned["cluster"] == NONE).all()
    assert (assigned["probability"] == 0).all()
    assert (assigned["pvalue"] < 0.01).all()


def test_a_higher_confidence_level_makes_sets_larger(found, drawn):
    frame, _ = drawn["y"]
    sizes = [found.assign(frame, confidence_level=level)["set"].str.split().str.len().sum() for level in (0.8, 0.95)]
    assert sizes[0] < sizes[1]


def test_by_brute_force(found, drawn):
    """The set holds a cluster where fewer than 5 % of the calibration samples are farther from theirs."""
    reference, (frame, _) = found.reference, drawn["x"]
    s = reference.names.index("x")
    Z = ((frame.to_numpy() - reference.location[s]) / reference.spread[s]) @ reference.axes.T @ reference.metric
    assigned = found.assign(frame, like="x")
    for i in range(0, len(frame), 17):
        names = []
        for c, letter in enumerate(reference.letters):
            distance = np.sqrt(((Z[i] - reference.centres[c]) ** 2).sum()) / reference.radius[c]
            farther = sum(other >= distance for other in reference.calibration)
            if (1 + farther) / (1 + len(reference.calibration)) > 0.05:
                names.append(letter)
        assert assigned["set"].iloc[i].split() == names


def test_the_reference_is_saved_without_samples(found, drawn, tmp_path):
    found.reference.save(tmp_path / "clusters.npz")
    again = cr.load(tmp_path / "clusters.npz")
    frame, _ = drawn["y"]
    pd.testing.assert_frame_equal(again.assign(frame), found.assign(frame))
    assert len(again.calibration) == sum(len(each) for each, _ in drawn.values())
    assert b"x17" not in (tmp_path / "clusters.npz").read_bytes()


@pytest.mark.parametrize("scale", ["none", "pooled", "study", "reference=x"])
def test_scaled_studies_take_unscaled_samples(drawn, scale):
    tables = {name: frame if name != "z" else frame - 9.0 for name, (frame, _) in drawn.items()}
    found = findings_of(tables, scale)
    frame, labels = draw(90, np.random.default_rng(8))
    assigned = found.assign(frame)
    right = np.array(letters_of(found, drawn))[labels]
    assert (assigned["cluster"] == right)[assigned["cluster"] != NONE].mean() > 0.98


def test_further_columns_and_another_order_change_nothing(found, drawn):
    frame, _ = drawn["y"]
    other = frame[["c", "a", "b"]].assign(sex="f", age=3)
    pd.testing.assert_frame_equal(found.assign(other), found.assign(frame))


@pytest.fixture(scope="module")
def wide():
    """Three clusters that differ in 2 of 40 features, a sample that is as usual, and one that lies beside them."""
    rng = np.random.default_rng(5)

    def study(shift):
        labels = rng.choice(3, 90)
        X = rng.normal(size=(90, 40)) + shift * (np.arange(40) == 7)
        X[:, :2] += 7 * CENTRES[labels][:, :2] / 7
        return pd.DataFrame(X, columns=[f"f{j}" for j in range(40)])

    return findings_of({"x": study(0.0), "y": study(0.0), "z": study(3.0)}), study


@pytest.mark.parametrize("shift", [0.0, 3.0, 30.0])
def test_another_cluster_beside_the_axes_belongs_to_none(wide, shift):
    found, study = wide
    assert len(found.reference.axes) == 2
    new = study(shift)
    new.iloc[:20, 20:24] += 4.0  # 8 sd farther, in features in which no clusters differ
    assigned = found.assign(new)
    is_none = (assigned["cluster"] == NONE).to_numpy()
    assert is_none[:20].mean() > 0.8
    assert is_none[20:].mean() < 0.2


def test_what_is_usual_beside_the_axes_by_brute_force(wide):
    found, study = wide
    reference, X = found.reference, study(0.0).to_numpy()
    s, p = reference.names.index("z"), X.shape[1]
    aligned = (X - reference.location[s]) / reference.spread[s]
    beside = aligned @ (np.eye(p) - reference.axes.T @ reference.axes)
    assigned = found.assign(X, like="z")
    for i in range(0, len(X), 11):
        longer = max(np.sqrt(((beside[i] / reference.noise) ** 2).sum()) - reference.length[s], 0) / reference.length_sd
        names = []
        for c, letter in enumerate(reference.letters):
            along = ((reference.metric.T @ reference.axes @ aligned[i] - reference.centres[c]) ** 2).sum()
            farther = (reference.calibration >= np.sqrt(along + longer**2) / reference.radius[c]).sum()
            if (1 + farther) / (1 + len(reference.calibration)) > 0.05:
                names.append(letter)
        assert assigned["set"].iloc[i].split() == names
    few = [
        found.reference.assign(X[:3])["set"].tolist(),
        found.reference.assign(X, estimate_shift=False)["set"][:3].tolist(),
    ]
    assert few[0] == few[1]  # too few to say what is usual, and told not to ask: beside the axes nothing is compared


def test_missing_features_are_named(found, drawn):
    with refused(DataError):
        found.assign(drawn["x"][0][["a"]])
    with pytest.raises(DataError):
        found.assign(np.zeros((4, 2)))


def test_another_unit_is_noticed(found, drawn):
    with warned(DataWarning):
        found.assign(1000 * drawn["x"][0])


def test_an_unknown_study_is_refused(found, drawn):
    with pytest.raises(ParameterError) as error:
        found.assign(drawn["x"][0], like="w")
    assert error.value.parameter == "like"


def test_without_clusters_nothing_is_assigned(rng):
    found = findings_of({name: pd.DataFrame(rng.normal(size=(40, 3)), columns=FEATURES) for name in "xy"})
    with pytest.raises(ParameterError):
        found.assign(np.zeros((4, 3)))


def test_samples_of_one_study_may_alternate_between_clusters(rng):
    """The halves of a study, which one study alone is compared with, must have all clusters."""
    X = rng.normal(size=(200, 3))
    X[::2] += 8
    found = findings_of({"one": pd.DataFrame(X, columns=FEATURES)})
    assert np.isfinite(found.reference.radius).all()
    assert len(found.reference.calibration) == 200


@pytest.mark.parametrize("like", [None, "x"])
def test_where_the_axes_leave_nothing_rounding_errors_are_no_distance(like):
    """Twelve features that are sums of two."""
    rng = np.random.default_rng(8)
    sums, places = rng.normal(size=(2, 12)), np.array([[0, 0], [9, 0], [0, 9]])

    def study(n):
        return (places[np.repeat(range(3), n)] + rng.normal(size=(3 * n, 2))) @ sums + 100

    found = findings_of({name: study(30) for name in "xyz"})
    assert not found.reference.noise.any()
    assert (found.assign(study(20), like=like)["cluster"] == NONE).mean() < 0.15
