"""`clustrep assign`: new samples and the clusters of a run."""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from tests.cli.support import NO_NULL, READING, SMALL, invoke

import clustrep as cr

RUN = ["run", "alpha.csv", "beta.csv", "--k", "2:3", *READING, *SMALL, *NO_NULL, "--quiet"]


@pytest.fixture(scope="module")
def results(frames, tmp_path_factory):
    """The folder of a run."""
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, frame in frames.items():
            frame.to_csv(f"{name}.csv")
        invoke(*RUN, "--out", "out")
    return folder / "out"


def table_of(text):
    return pd.read_csv(io.StringIO(text), index_col="sample", keep_default_na=False)


@pytest.mark.parametrize("like", [None, "alpha"])
def test_the_table_is_that_of_python(results, folder, frames, like):
    asked = [] if like is None else ["--like", like]
    done = invoke("assign", "gamma.csv", "--to", results, *READING, "--confidence", "0.9", *asked)
    findings = cr.load(results / "result.npz").findings
    expected = findings.assign(frames["gamma"].drop(columns="subtype"), confidence_level=0.9, like=like)
    pd.testing.assert_frame_equal(table_of(done.stdout), expected, check_dtype=False)
    counts = "; ".join(f"{name}: {n}" for name, n in expected["cluster"].value_counts().sort_index().items())
    assert done.stderr.startswith(f"30 samples: {counts}. ")
    assert (f"measured like {like}" if like else "No shift is corrected") in done.stderr


def test_the_shift_of_a_new_study_is_told(results, folder, frames):
    frame = frames["gamma"].drop(columns="subtype")
    many = pd.concat([frame + 4 + 0.01 * i for i in range(5)])
    many.index = [f"n{i}" for i in range(len(many))]
    many.to_csv("many.csv", index_label="sample")
    done = invoke("assign", "many.csv", "--to", results, "--no-label")
    expected = cr.load(results / "clusters.npz").assign(many)
    pd.testing.assert_frame_equal(table_of(done.stdout), expected, check_dtype=False)
    assert expected.attrs["shift"] > 1
    assert f"shifted by {expected.attrs['shift']:.1f} sd within clusters" in done.stderr


def test_samples_of_another_unit_are_doubted(results, folder, frames):
    features = frames["alpha"].drop(columns="subtype")
    for factor, is_doubted in ((1.0, False), (7.0, True)):
        (factor * features).to_csv("unit.csv", index_label="patient")
        done = invoke("assign", "unit.csv", "--to", results, "--like", "alpha")
        assert ("units of the run" in done.stderr) == is_doubted


def test_a_file_and_json_hold_the_same(results, folder):
    plain = invoke("assign", "gamma.csv", "--to", results, *READING).stdout
    done = invoke("assign", "gamma.csv", "--to", results / "clusters.npz", *READING, "--out", "new.csv")
    assert done.stdout == ""
    assert done.stderr.endswith("Wrote new.csv.\n")
    assert Path("new.csv").read_text() == plain
    said = json.loads(invoke("assign", "gamma.csv", "--to", results, *READING, "--json").stdout)
    assert [row["cluster"] for row in said["samples"]] == table_of(plain)["cluster"].tolist()
    assert (said["shift"], said["scale"]) == (0.0, 1.0)


def test_features_as_rows_give_the_same_table(results, folder, frames):
    frames["gamma"].drop(columns="subtype").T.to_csv("turned.csv")
    turned = invoke("assign", "turned.csv", "--to", results, "--no-label", "--transpose").stdout
    assert turned == invoke("assign", "gamma.csv", "--to", results, *READING).stdout


def test_the_clusters_belong_to_the_run_and_name_no_samples(results, frames):
    assert "clusters.npz" in (results / "SHA256SUMS").read_text()
    assert isinstance(cr.load(results / "clusters.npz"), cr.results.Reference)
    held = (results / "clusters.npz").read_bytes()
    assert not any(str(sample).encode() in held for sample in frames["alpha"].index)


def test_the_report_does_not_need_the_clusters(results, tmp_path):
    again = Path(shutil.copytree(results, tmp_path / "again"))
    (again / "clusters.npz").unlink()
    invoke("report", again)


def test_what_cannot_be_assigned_is_said_in_one_sentence(results, folder, frames):
    def said(*arguments, code=3):
        done = invoke("assign", *arguments, "--no-label", code=code)
        assert done.stdout == ""
        return done.stderr

    frame = frames["gamma"].drop(columns="subtype")
    frame.to_csv("new.csv")
    frame.iloc[:, 1:].to_csv("fewer.csv")
    frame.iloc[:1].to_csv("single.csv")
    Path("empty.csv").write_text("")
    Path("nothing").mkdir()
    without = Path(shutil.copytree(results, folder / "without"))
    (without / "clusters.npz").unlink()
    assert "nothing holds no clusters.npz: name the folder that `clustrep run` wrote." in said(
        "new.csv", "--to", "nothing"
    )
    assert "without holds no clusters.npz any more, or never did" in said("new.csv", "--to", "without")
    analysis = cr.load(results / "result.npz")
    findings = replace(analysis.findings, verdict="inconclusive", reference=None)
    replace(analysis, findings=findings).save(without / "result.npz")
    assert "because the verdict 'inconclusive' has no clusters" in said("new.csv", "--to", "without")
    assert "result.npz holds no clusters: name the folder" in said("new.csv", "--to", results / "result.npz")
    assert "There is no file nowhere: check the path." in said("new.csv", "--to", "nowhere")
    assert "1 of the 3 features of the clusters are missing" in said("fewer.csv", "--to", results)
    assert "empty.csv is empty" in said("empty.csv", "--to", results)
    assert "has 1 sample: at least 2 are needed." in said("single.csv", "--to", results)
    error = said("new.csv", "--to", results, "--like", "delta", code=2)
    assert "delta" in error
    assert "alpha" in error
