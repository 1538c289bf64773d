"""From probes to genes: which probe stands for a gene, what is dropped, and what is said about it."""

from __future__ import annotations

import gzip
import warnings

import numpy as np
import pandas as pd
import pytest
from tests.sentences import refused, warned

import clustrep as cr
from clustrep.data.probes import genes_in, read_probe_map
from clustrep.errors import DataError, DataWarning, ParameterError

PROBES = ["p1", "p2", "p3", "p4", "p5"]
MAP = "probe,gene\np1,ESR1\np2,ESR1\np3,ERBB2\np4,\np5,PGR///FOXA1\n"


def table(seed, *, spread=(1.0, 3.0, 1.0, 1.0, 1.0), columns=PROBES, n=8):
    values = np.random.default_rng(seed).normal(size=(n, len(columns))) * np.asarray(spread)
    return pd.DataFrame(values, columns=list(columns), index=[f"{seed}-{i}" for i in range(n)])


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Write tables under their names, and the map."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "map.csv").write_text(MAP)

    def write(**frames):
        for name, frame in frames.items():
            frame.to_csv(f"{name}.csv", index_label="sample")
        return [f"{name}.csv" for name in frames]

    return write


def read(paths, **options):
    with warned(DataWarning):
        return cr.Studies.read(*paths, **{"probe_map": "map.csv", **options})


# ---------------------------------------------------------------------------------------------------------------------
# which probe


def test_the_most_variable_probe_stands_for_its_gene(files):
    a, b = table(1), table(2)
    studies = read(files(a=a, b=b))
    assert studies.features == ("ESR1", "ERBB2")
    np.testing.assert_array_equal(studies["a"].X, a[["p2", "p3"]])
    np.testing.assert_array_equal(studies["b"].X, b[["p2", "p3"]])


def test_all_studies_take_the_same_probe_by_the_pooled_variance(files):
    a, b = table(1, spread=[2, 1, 1, 1, 1]), table(2, spread=[1, 30, 1, 1, 1])
    studies = read(files(a=a, b=b))
    np.testing.assert_array_equal(studies["a"].X[:, 0], a["p2"])
    np.testing.assert_array_equal(studies["b"].X[:, 0], b["p2"])


def test_the_pooled_variance_does_not_see_differences_between_studies(files):
    a, b = table(1, spread=[1, 2, 1, 1, 1]), table(2, spread=[1, 2, 1, 1, 1])
    b["p1"] += 100
    np.testing.assert_array_equal(read(files(a=a, b=b))["a"].X[:, 0], a["p2"])


def test_a_probe_that_more_studies_have_comes_before_one_that_varies_more(files):
    a, b, c = table(1), table(2), table(3).drop(columns="p2")
    studies = read(files(a=a, b=b, c=c))
    assert [study.X[0, 0] for study in studies.values()] == [frame["p1"].iloc[0] for frame in (a, b, c)]


def test_of_probes_that_vary_alike_the_first_stands_for_the_gene(files):
    a = table(1)
    a["p2"] = -a["p1"]
    b = table(2)
    b["p2"] = -b["p1"]
    for columns, first in ((PROBES, "p1"), (["p2", "p1", "p3", "p4", "p5"], "p2")):
        studies = read(files(a=a[columns], b=b[columns]))
        np.testing.assert_array_equal(studies["a"].X[:, studies.features.index("ESR1")], a[first])


def test_studies_of_different_platforms_take_the_probes_that_they_have(files, tmp_path):
    (tmp_path / "map.csv").write_text("ID,Gene Symbol\np1,ESR1\np3,ERBB2\nq1,ESR1\nq3,ERBB2\n")
    a, b = table(1, columns=["p1", "p3"], spread=1), table(2, columns=["q3", "q1"], spread=1)
    studies = read(files(a=a, b=b))
    np.testing.assert_array_equal(studies["b"].X, b[["q1", "q3"]])


def test_the_mean_of_all_probes(files):
    a, b = table(1), table(2)
    studies = read(files(a=a, b=b), probes="mean")
    np.testing.assert_allclose(studies["b"].X[:, 0], b[["p1", "p2"]].mean(axis=1), rtol=1e-15)


def test_missing_values_are_refused_only_in_probes_that_are_kept(files):
    a, b = table(1), table(2)
    a.loc["1-0", "p1"] = np.nan
    b.loc["2-1", ["p4", "p5"]] = np.nan
    assert np.isfinite(read(files(a=a, b=b))["a"].X).all()
    with pytest.warns(DataWarning), refused(DataError):
        cr.Studies.read("a.csv", "b.csv", probe_map="map.csv", probes="mean")
    a.loc["1-1", "p3"] = np.nan
    with pytest.warns(DataWarning), refused(DataError):
        cr.Studies.read(*files(a=a, b=b), probe_map="map.csv")
    studies = read(files(a=a, b=b), allow_missing=True)
    np.testing.assert_array_equal(np.argwhere(np.isnan(studies["a"].X)), [[1, 1]])


def test_single_genes_without_loss_need_no_note(files, tmp_path):
    (tmp_path / "map.csv").write_text("p1,ESR1\np2,PGR\np3,ERBB2\np4,AURKA\np5,KRT5\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        studies = cr.Studies.read(*files(a=table(1), b=table(2)), probe_map="map.csv")
    assert studies.features == ("ESR1", "PGR", "ERBB2", "AURKA", "KRT5")


def test_genes_can_be_chosen_and_labels_taken_as_without_probes(files):
    a, b = (table(seed).assign(subtype=["x", "y"] * 4) for seed in (1, 2))
    studies = read(files(a=a, b=b), features=["ERBB2"], label="subtype")
    assert studies.features == ("ERBB2",)
    assert studies["a"].labels.tolist() == ["x", "y"] * 4


def test_probes_in_rows_of_a_file(files, tmp_path):
    a, b = table(1), table(2)
    for name, frame in {"a": a, "b": b}.items():
        frame.T.to_csv(tmp_path / f"{name}.csv", index_label="probe")
    np.testing.assert_array_equal(read(["a.csv", "b.csv"], transpose=True)["a"].X, a[["p2", "p3"]])


# ---------------------------------------------------------------------------------------------------------------------
# what is said


def test_what_was_dropped_is_counted(files, tmp_path):
    (tmp_path / "map.csv").write_text(MAP + "p3,ERBB2\np3,ERBB2\n")
    read(files(a=table(1), b=table(2).drop(columns="p5")))


def test_a_study_of_genes_stays_as_it_is_and_is_named(files):
    b = table(2, columns=["ESR1", "ERBB2"], spread=1)
    studies = read(files(a=table(1), b=b))
    np.testing.assert_array_equal(studies["b"].X, b)


def test_a_map_of_another_platform_is_refused(files):
    paths = files(a=table(1, columns=["q1", "q2"], spread=1), b=table(2))
    with refused(DataError):
        cr.Studies.read(*paths, probe_map="map.csv")


def test_studies_without_names_are_refused(files, tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n3,4\n5,6\n")
    with refused(DataError):
        cr.Studies.read("a.csv", probe_map="map.csv")


@pytest.mark.parametrize(
    "options",
    [
        {"probes": "median"},
        {"probes": "mean"},
        {"genes": ""},
        {"genes": "symbol"},
        {"probe_map": 3},
        {"probe_map": "map.csv", "genes": "gen"},
    ],
)
def test_parameters_that_can_not_be(files, options):
    with refused(ParameterError, [*options][-1]):
        cr.Studies.read(*files(a=table(1), b=table(2)), **options)


# ---------------------------------------------------------------------------------------------------------------------
# the map


@pytest.mark.parametrize(
    ("text", "genes"),
    [
        ("p1,ESR1\np2,PGR\n", None),  # no header: the first two columns
        ("p1\tESR1\textra\np2\tPGR\textra\n", None),
        ("gene,probe\nESR1,p1\nPGR,p2\n", None),
        ("ID;Gene title;Gene symbol\np1;estrogen receptor 1;ESR1\np2;other;PGR\n", None),
        ("ID,Gene ID,Gene Symbol\np1,2099,ESR1\np2,5241,PGR\n", None),
        ("ID,Symbol,HUGO\np1,x,ESR1\np2,y,PGR\n", "HUGO"),
        ("a,b\np1,ESR1\np2,PGR\n", None),  # a header that is taken for a probe does no harm
        (
            "^Annotation\n!Annotation_date = 2016\n#ID = from the array\nID\tGene symbol\np1\tESR1\np2\tPGR\n!end\n",
            None,
        ),
        ('probe,gene\n"p1","ESR1"\np2, PGR\n', None),
        ("p1 ESR1\np2 PGR\n", None),
    ],
)
def test_tables_in_many_dresses(tmp_path, text, genes):
    (tmp_path / "map.txt").write_text(text)
    (tmp_path / "map.txt.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("map.txt", "map.txt.gz"):
        genes_of, n_repeated = read_probe_map(tmp_path / name, genes)
        assert (genes_of["p1"], genes_of["p2"], n_repeated) == (("ESR1",), ("PGR",), 0)


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("ESR1", ("ESR1",)),
        (" DDR1 /// MIR4640 ", ("DDR1", "MIR4640")),
        ("CCL3;CCL3L1", ("CCL3", "CCL3L1")),
        ("ESR1|ESR1", ("ESR1",)),
        ("---", ()),
        ("", ()),
        ("NA", ()),
        (None, ()),
        (float("nan"), ()),
        (2099.0, ("2099",)),
        (np.int64(2099), ("2099",)),
        ("'-MAR1", ("-MAR1",)),  # as clustrep writes what a spreadsheet would take for a formula
    ],
)
def test_genes_of_a_cell(cell, names):
    assert genes_in(cell) == names


def test_two_rows_of_a_probe_with_different_genes_are_several_genes(tmp_path):
    (tmp_path / "map.csv").write_text("probe,gene\np1,ESR1\np1,PGR\np1,ESR1\n")
    assert read_probe_map(tmp_path / "map.csv", None) == ({"p1": ("ESR1", "PGR")}, 2)


@pytest.mark.parametrize("text", ["p1\np2\n", "# only a comment\n"])
def test_tables_that_are_none_are_refused(tmp_path, text):
    (tmp_path / "map.csv").write_text(text)
    with refused(DataError):
        read_probe_map(tmp_path / "map.csv", None)


def test_units_are_no_probes(files):
    paths = files(a=table(1).assign(donor=["d1", "d2"] * 4), b=table(2).assign(donor=["d3", "d4"] * 4))
    studies = read(paths, groups="donor")
    assert studies.features == ("ESR1", "ERBB2")
    assert studies["a"].groups["donor"].tolist() == ["d1", "d2"] * 4
