"""What is to be looked at before studies are compared: every kind where it is, and none where it is not."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import clustrep as cr
from clustrep.data import comparability as checks
from clustrep.errors import DataWarning

NAMES = ["alpha", "beta", "gamma"]


def gaussians(rng, n=60, p=5, names=NAMES):
    return {name: rng.normal(size=(n, p)) for name in names}


def two_clusters(rng, n=60, p=5):
    return {name: X + 5 * (rng.random((n, 1)) < 0.5) for name, X in gaussians(rng, n, p).items()}


def lines(rng, n=60, p=5):
    return {name: rng.normal(size=(n, 1)) @ np.ones((1, p)) + 0.1 * X for name, X in gaussians(rng, n, p).items()}


def answers(rng, n=60, p=5):
    """Few values, so that samples are equal by chance."""
    return {name: np.clip(np.rint(3 + X), 1, 5) for name, X in gaussians(rng, n, p).items()}


def notes(tables, **options):
    return cr.Studies(tables, label=False, **options).comparability().notes


def kinds(tables, **options):
    return {(note.kind, note.study) for note in notes(tables, **options)}


# ---------------------------------------------------------------------------------------------------------------------
# no false alarms


@pytest.mark.parametrize(("n", "p"), [(20, 5), (60, 2), (200, 10), (40, 300)])
@pytest.mark.parametrize("draw", [gaussians, two_clusters, lines, answers])
def test_clean_studies_have_no_notes(draw, n, p):
    rng = np.random.default_rng(n + p)
    for _ in range(5):
        assert kinds(draw(rng, n, p)) == set()


def test_what_there_is_to_say_of_nothing(rng):
    nothing = cr.Studies(gaussians(rng)).comparability()
    assert nothing.sentences == nothing.notes == ()
    assert nothing.to_frame().columns.tolist() == ["study", "kind", "sentence", "remedy"]
    assert len(nothing.to_frame()) == 0


EXPECTED = {
    "biopsy_wisconsin": ("class", set()),
    "geyser": ("truth", {"duplicated study"}),  # one file is a part of another
    "heart_four_sites": ("disease", {"codes"}),
    "holzinger_swineford": (False, set()),
    "penguins": ("species", {"location"}),  # one island has a species alone
    "penguins_by_year": ("species", set()),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_real_studies(name):
    folder = Path(os.environ.get("CLUSTREP_DATA") or "no folder", "real", name)
    if not folder.is_dir():
        pytest.skip("CLUSTREP_DATA is not set, or has no real studies")
    label, expected = EXPECTED[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        studies = cr.Studies.read(*sorted(folder.glob("*.csv")), label=label, allow_missing=True)
    assert {note.kind for note in studies.comparability().notes} == expected


# ---------------------------------------------------------------------------------------------------------------------
# every kind


def test_a_shifted_study(rng):
    tables = gaussians(rng)
    tables["beta"] += 3.0
    assert kinds(tables) == {("location", "beta")}
    assert kinds({name: tables[name] for name in ("alpha", "beta")}) == {("location", "alpha, beta")}
    assert kinds(tables, scale="study") == set()
    assert kinds(tables, scale="pooled") == {("location", "beta")}


def test_a_study_in_other_units(rng):
    tables = {name: X + 100 for name, X in gaussians(rng).items()}
    tables["gamma"][:, 2] *= 10
    assert kinds(tables) == {("location", "gamma"), ("spread", "gamma")}
    (spread,) = [note for note in notes(tables) if note.kind == "spread"]
    assert "1 of 5 features" in spread.sentence
    assert "'3'" in spread.sentence


def test_outliers_are_no_difference_between_studies(rng):
    tables = gaussians(rng)
    tables["beta"][0, 0] = 1e6
    assert kinds(tables) == {("extreme values", "beta")}


@pytest.mark.parametrize(("value", "is_extreme"), [(1138.0, True), (12.5, False)])
def test_a_slipped_decimal_point(rng, value, is_extreme):
    frames = {
        name: pd.DataFrame(11 + X, columns=list("abcde"), index=[f"{name}{i}" for i in range(60)])
        for name, X in gaussians(rng).items()
    }
    frames["beta"].loc["beta7", "c"] = value
    assert kinds(frames) == ({("extreme values", "beta")} if is_extreme else set())
    if is_extreme:
        (note,) = notes(frames)
        assert all(part in note.sentence for part in ("'beta7'", "'c'", "1138"))


def test_a_small_cluster_is_not_extreme(rng):
    tables = gaussians(rng, n=400)
    tables["alpha"][:8, 0] += 30
    assert kinds(tables) == set()


def test_many_extreme_cells_are_long_tails(rng):
    tables = {name: np.exp(3 * X) for name, X in gaussians(rng, n=20, p=300).items()}
    assert {kind for kind, _ in kinds(tables)} >= {"long tails"}


def test_constant_features(rng):
    tables = gaussians(rng)
    for X in tables.values():
        X[:, 1] = 7.0
    tables["gamma"][:, 3] = 0.1
    assert kinds(tables) == {("constant features", "all studies"), ("constant features", "gamma")}


@pytest.mark.parametrize("value", [-999.0, -9.0, 9999.0])
def test_sentinels(rng, value):
    tables = gaussians(rng)
    tables["alpha"][[3, 8, 20], [1, 1, 4]] = value
    assert kinds(tables) == {("sentinel values", "alpha")}  # neither extreme nor another location
    tables["alpha"] = np.round(40 * rng.normal(size=(60, 5)))
    tables["alpha"][:3] = value / 100
    assert ("sentinel values", "alpha") not in kinds(tables)


def test_raw_counts(rng):
    depths = {name: rng.lognormal(0, 0.8, size=(60, 1)) for name in NAMES}
    genes = rng.gamma(0.5, 10, size=40)
    tables = {name: rng.poisson(genes * depth).astype(float) for name, depth in depths.items()}
    assert {("raw counts", name) for name in NAMES} <= kinds(tables)
    assert not any(kind == "codes" for kind, _ in kinds(tables))
    assert not any(kind == "raw counts" for kind, _ in kinds(tables, normalise="log1p"))


def test_small_studies(rng):
    tables = gaussians(rng)
    tables["beta"] = tables["beta"][:8]
    assert kinds(tables) == {("small study", "beta")}


@pytest.mark.parametrize(
    ("step", "name", "is_told"), [(1, "3", True), (7, "3", False), (7, "Patient_ID", True), (7, "valid", False)]
)
def test_identifiers(rng, step, name, is_told):
    tables = gaussians(rng)
    for i, (study, X) in enumerate(tables.items()):
        X[:, 2] = 1000 * i + step * rng.permutation(len(X))
        tables[study] = pd.DataFrame(X, columns=["1", "2", name, "4", "5"])
    noted = [note for note in notes(tables) if note.kind == "identifiers"]
    assert len(noted) == is_told
    assert all(name in note.sentence for note in noted)


def test_codes(rng):
    tables = gaussians(rng)
    for X in tables.values():
        X[:, 1] = rng.integers(0, 2, size=60)
        X[:, 3] = rng.integers(1, 5, size=60)
    (note,) = notes(tables)
    assert (note.study, note.kind) == ("all studies", "codes")
    assert "'2' (0, 1)" in note.sentence
    assert "'4' (1, 2, 3, 4)" in note.sentence
    assert "categorical=['2', '4']" in note.remedy
    (note,) = notes(tables, gower=True)  # where they are divided by their range
    assert "categorical=['2', '4']" in note.remedy
    assert notes(tables, categorical=["2", "4"]) == ()


# ---------------------------------------------------------------------------------------------------------------------
# duplicates


def named(X, prefix):
    return pd.DataFrame(X, index=[f"{prefix}_{i}" for i in range(len(X))], columns=[f"g{j}" for j in range(X.shape[1])])


@pytest.mark.parametrize("p", [2, 7, 200])
def test_the_same_samples_under_other_names(rng, p):
    tables = gaussians(rng, p=p)
    tables["beta"][[5, 9]] = tables["alpha"][[30, 2]]
    tables["gamma"][11] = tables["gamma"][40]
    frames = {name: named(X, name) for name, X in tables.items()}
    assert kinds(frames) == {("duplicated samples", "alpha, beta"), ("duplicated samples", "gamma")}
    text = " ".join(note.sentence for note in notes(frames))
    assert all(pair in text for pair in ("alpha_30 and beta_5", "alpha_2 and beta_9", "gamma_11 and gamma_40"))


@pytest.mark.parametrize("p", [7, 200])
@pytest.mark.parametrize(
    "change", [lambda X: np.round(X, 3), lambda X: X + 1e-3, lambda X: 2 * X + 5, lambda X: X * (1 + 2**-52)]
)
def test_a_study_again_in_another_order(rng, p, change):
    """Also after it was rounded, or processed otherwise."""
    tables = gaussians(rng, p=p)
    tables["gamma"] = change(tables["alpha"][::-1])
    assert ("duplicated study", "alpha, gamma") in kinds(tables)
    assert {kind for kind, _ in kinds(tables)} <= {"duplicated study", "location", "spread"}


def test_a_study_of_few_values_again(rng):
    tables = {name: (X > 0).astype(float) for name, X in gaussians(rng, p=3).items()}
    assert kinds(tables) == set()
    tables["gamma"] = tables["alpha"][::-1]
    assert kinds(tables) == {("duplicated study", "alpha, gamma")}


@pytest.mark.parametrize("p", [3, 10, 500])
def test_near_duplicates_are_those_of_brute_force(rng, p):
    tables = gaussians(rng, p=p)
    for i, j in ((0, 7), (1, 50), (2, 33)):
        tables["beta"][j] = tables["alpha"][i] + 1e-4 * rng.normal(size=p)
    Z = np.concatenate(list(tables.values()))
    distances = np.linalg.norm(Z[:, None] - Z[None], axis=2) + np.where(np.eye(len(Z)), np.inf, 0)
    nearest, ordered = distances.argmin(axis=1), np.sort(distances, axis=1)
    expected = {(i, int(nearest[i])) for i in range(len(Z)) if i < nearest[i] and ordered[i, 0] * 100 < ordered[i, 1]}
    short = checks.shortened(tables.values())
    pairs = checks.near_rows(short, checks.dimension_of(short))
    assert {(pair.first, pair.second) for pair in pairs} == expected == {(0, 67), (1, 110), (2, 93)}
    assert kinds(tables) == {("near-duplicated samples", "alpha, beta")}


@pytest.mark.parametrize("p", [2, 20])
def test_two_nearest_rows_are_those_of_brute_force(rng, p):
    Z = rng.normal(size=(1203, p))
    distances = np.sqrt(((Z[:, None] - Z[None]) ** 2).sum(axis=2)) + np.where(np.eye(len(Z)), np.inf, 0)
    nearest, first, second = checks.nearest_two(Z)
    np.testing.assert_array_equal(nearest, distances.argmin(axis=1))
    np.testing.assert_allclose(np.stack([first, second], axis=1), np.sort(distances, axis=1)[:, :2])


@pytest.mark.parametrize("d", [2, 5])
def test_dimension(rng, d):
    Z = rng.random((2000, d)) @ rng.normal(size=(d, 30))
    assert checks.dimension_of([Z]) == pytest.approx(d, rel=0.2)


def test_a_search_that_is_skipped_is_told(rng, monkeypatch):
    monkeypatch.setattr(checks, "MOST_SAMPLES", 100)
    assert kinds(gaussians(rng)) == {("not checked", "all studies")}


# ---------------------------------------------------------------------------------------------------------------------
# any table


def test_missing_values_and_zeros(rng):
    tables = gaussians(rng, p=80)
    for X in tables.values():
        X[rng.random(X.shape) < 0.1] = np.nan
    assert kinds(tables, allow_missing=True) == set()
    tables["beta"] += 3.0
    assert kinds(tables, allow_missing=True) == {("location", "beta")}
    sparse = {name: np.where(rng.random(X.shape) < 0.95, 0.0, np.abs(X)) for name, X in gaussians(rng, p=80).items()}
    assert not {kind for kind, _ in kinds(sparse)} - {"constant features"}


@pytest.mark.parametrize("shape", [(2, 1), (3, 1), (2, 4), (9, 1), (25, 1)])
def test_tiny_studies(rng, shape):
    assert {kind for kind, _ in kinds({name: rng.normal(size=shape) for name in NAMES})} <= {"small study"}


def test_order_does_not_matter(rng):
    tables = gaussians(rng)
    tables["beta"] += 3.0
    tables["gamma"][4] = tables["alpha"][9]
    turned = {name: tables[name][::-1, ::-1] for name in reversed(NAMES)}
    assert (
        {kind for kind, _ in kinds(tables)}
        == {kind for kind, _ in kinds(turned)}
        == {
            "location",
            "duplicated samples",
        }
    )


def test_many_studies_have_few_notes(rng):
    tables = {f"s{i}": rng.normal(size=(10, 4)) + 40 * i for i in range(30)}
    made = notes(tables)
    assert len([note for note in made if note.kind == "location"]) == 4
    assert len([note for note in made if note.kind == "small study"]) == 1


def test_a_frame_has_every_note_in_words_of_python(rng):
    tables = gaussians(rng)
    tables["beta"] += 3.0
    result = cr.Studies(tables).comparability()
    (row,) = result.to_frame().to_dict("records")
    assert (row["study"], row["kind"]) == ("beta", "location")
    assert "scale='study'" in row["remedy"]
    assert result.sentences == (f"{row['sentence']} {row['remedy']}",)
    assert result.without("location").notes == ()
