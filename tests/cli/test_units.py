"""Units to which samples belong, such as donors, on the command line and in files."""

from __future__ import annotations

import anndata
import numpy as np
import pandas as pd
import pytest
from tests.cli.support import invoke

import clustrep as cr
from clustrep.errors import DataError

QUICK = ["--k", "2", "--clusterer", "kmeans", "--resamples", "3", "--null", "none", "--figures", "none"]
QUICK += ["--jobs", "1", "--quiet"]


def cells(rng, donors):
    return pd.DataFrame(
        {
            "donor": donors,
            "x": rng.normal(size=len(donors)) + 9 * (np.arange(len(donors)) % 2),
            "y": rng.normal(size=len(donors)),
        }
    )


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two tables whose first column is the donor; the fourth donor is in both."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    cells(rng, np.repeat(["d1", "d2", "d3", "d4"], 10)).to_csv("a.csv", index=False)
    cells(rng, np.repeat(["d4", "d5", "d6", "d7"], 10)).to_csv("b.csv", index=False)
    return tmp_path


def test_a_column_of_units_is_no_feature(files):
    studies = cr.Studies.read("a.csv", "b.csv", groups="donor")
    assert studies.features == ("x", "y")
    assert studies["a"].groups["donor"].tolist() == ["d1"] * 10 + ["d2"] * 10 + ["d3"] * 10 + ["d4"] * 10
    with pytest.raises(DataError):
        cr.Studies.read("a.csv", "b.csv", groups="z", label="donor")


def test_numbers_of_units_are_written_as_they_are(files):
    cells(np.random.default_rng(0), np.repeat([7, 8], 5)).to_csv("c.csv", index=False)
    assert cr.Studies.read("c.csv", groups="donor")["c"].groups["donor"].tolist() == ["7"] * 5 + ["8"] * 5


def test_parquet_and_h5ad_have_units_too(files):
    frame = pd.read_csv("a.csv")
    frame.to_parquet("p.parquet", index=False)
    adata = anndata.AnnData(frame[["x", "y"]].to_numpy())
    adata.obs["lab"], adata.obs["donor"] = ["s", "t"] * 20, frame["donor"].to_numpy()
    adata.write_h5ad("h.h5ad")
    whole = cr.Studies.read("a.csv", groups="donor")["a"]
    assert cr.Studies.read("p.parquet", groups="donor")["p"].groups["donor"].tolist() == whole.groups["donor"].tolist()
    by_lab = cr.Studies.read("h.h5ad", study_key="lab", groups="donor")
    assert by_lab["t"].groups["donor"].tolist() == whole.groups["donor"].tolist()[1::2]


def test_the_command_line_draws_units_and_names_those_in_common(files):
    outcome = invoke("run", "a.csv", "b.csv", "--groups", "donor", "--out", "there", *QUICK)
    assert "Studies 'a' and 'b' have 1 of the same units 'donor' (d4)" in outcome.stderr
    analysis = cr.load("there/result.npz")
    assert analysis.provenance.resampling == "Bootstrap(distinct=True, groups='donor')"
    studies = cr.Studies.read("a.csv", "b.csv", groups="donor")
    resampling = cr.resampling.Bootstrap(distinct=True, groups="donor")
    with pytest.warns(cr.errors.DataWarning):
        same = cr.compare(
            {"kmeans": analysis_clusterer(analysis)}, studies, n_clusters=2, n_resamples=3, rng=0, resampling=resampling
        )
    np.testing.assert_array_equal(same.distribution[:, 0], analysis.comparison.distribution[:, 0])


def analysis_clusterer(analysis):
    from sklearn.cluster import KMeans

    return KMeans(n_init=int(analysis.provenance.clusterers[0].parameters["n_init"]))
