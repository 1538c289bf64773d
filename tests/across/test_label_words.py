"""Published labels in every other study: each word on data for which it is the right one."""

from __future__ import annotations

import numpy as np
import pytest

import clustrep as cr
from clustrep.errors import DataError

PLACES = {"t": [0.0, 0.0], "b": [12.0, 0.0], "nk": [0.0, 12.0], "mono": [12.0, 12.0]}


def study(rng, kinds, n=40):
    return np.concatenate([rng.normal(size=(n, 2)) + PLACES[kind] for kind in kinds])


def named(*names, n=40):
    return np.repeat(names, n)


@pytest.fixture(scope="module")
def table():
    """Study b calls the cells of t "T cells", divides b in two, and has no nk."""
    rng = np.random.default_rng(0)
    near = rng.normal(np.repeat([[9.8, 0.0], [14.2, 0.0]], 20, axis=0))
    studies = {"a": study(rng, ["t", "b", "nk"]), "b": np.concatenate([study(rng, ["t"]), near])}
    labels = {"a": named("t", "b", "nk"), "b": np.concatenate([named("T cell"), named("b1", "b2", n=20)])}
    return cr.label_presence(studies, labels).set_index(["train", "label", "test"])


def test_the_same_another_name_a_split_and_an_absence(table):
    word = table["word"]
    assert word["a", "t", "b"] == "present"
    assert table["partner"]["a", "t", "b"] == "T cell"
    assert not table["same_name"]["a", "t", "b"]
    assert word["a", "b", "b"] == "split"
    assert table["partner"]["a", "b", "b"] == "b1, b2"
    assert word["a", "nk", "b"] == "absent"


def test_the_other_way_round_a_merge_and_what_is_new(table):
    word = table["word"]
    assert word["b", "T cell", "a"] == "present"
    assert word["b", "b1", "a"] == word["b", "b2", "a"] == "merged"
    assert word["b", "", "a"] == "new"
    assert table["partner"]["b", "", "a"] == "nk"
    assert table["n_like"]["b", "", "a"] == 40


def test_equal_names_at_different_places_are_not_the_same():
    rng = np.random.default_rng(1)
    studies = {"a": study(rng, ["t", "b"]), "b": study(rng, ["t", "mono"])}
    table = cr.label_presence(studies, {"a": named("t", "b"), "b": named("t", "b")}).set_index(["train", "label"])
    assert table["word"]["a", "t"] == "present"
    assert table["same_name"]["a", "t"]
    assert table["word"]["a", "b"] == "absent"


def test_labels_of_the_studies_themselves():
    rng = np.random.default_rng(2)
    studies = [cr.Study(study(rng, ["t", "b"]), name, labels=named("t", "b")) for name in "ab"]
    assert set(cr.label_presence(studies)["word"]) == {"present"}
    with pytest.raises(DataError, match="labels are missing for"):
        cr.label_presence({"a": study(rng, ["t"]), "b": study(rng, ["t"])})


def test_noise_is_no_label():
    rng = np.random.default_rng(3)
    studies = {"a": study(rng, ["t", "b"]), "b": study(rng, ["t", "b"])}
    labels = {"a": np.repeat([0, 1], 40), "b": np.repeat([0, 1], 40)}
    labels["a"][:5] = -1
    table = cr.label_presence(studies, labels)
    assert set(table["label"]) == {"0", "1"}
    assert set(table["word"]) == {"present"}
    without = cr.label_presence({"a": studies["a"][5:], "b": studies["b"]}, {"a": labels["a"][5:], "b": labels["b"]})
    assert table.equals(without)
    as_text = cr.label_presence(studies, {name: each.astype(str) for name, each in labels.items()})
    assert "-1" in set(as_text["label"])
    with pytest.raises(DataError, match="labels of study 'b' are all -1, noise: label some"):
        cr.label_presence(studies, {"a": labels["a"], "b": np.full(80, -1)})
