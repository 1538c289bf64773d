"""The command that runs the paper's experiments: what it stores, writes, and writes again."""

from __future__ import annotations

import numpy as np
import pytest
from paper.claims import judged
from paper.common import number, with_bootstrap_error
from paper.store import load_facts, save_facts

from paper import run


def test_facts_come_back_from_their_file_which_has_the_same_bytes_twice(tmp_path):
    facts = {"a/b": np.arange(6.0).reshape(2, 3), "names": ["x", "y"], "flag": True, "large": np.linspace(0, 1, 99)}
    for name in ("first", "again"):
        save_facts(tmp_path / f"{name}.npz", facts)
    assert (tmp_path / "first.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()
    back = load_facts(tmp_path / "first.npz")
    assert back["a/b"].tolist() == facts["a/b"].tolist()
    assert back["names"].tolist() == ["x", "y"]
    np.testing.assert_allclose(back["large"], facts["large"], atol=1e-7)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.npz", "first.npz"]


def test_facts_are_plain_arrays(tmp_path):
    with pytest.raises(TypeError, match="arrays of numbers or of strings"):
        save_facts(tmp_path / "facts.npz", {"a": {"not": "an array"}})


def test_nothing_that_could_run_is_a_failure_and_the_folder_is_named_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path / "nothing here"))
    assert run.main([str(tmp_path), "--quick", "--jobs", "1", "--only", "fig1", "c1"]) == 1
    err = capsys.readouterr().err
    assert err.count(str(tmp_path / "nothing here") + " (CLUSTREP_DATA)") == 1
    assert "Nothing could be run." in err
    assert "∅" in (tmp_path / "RESULTS.md").read_text(encoding="utf-8")


def test_a_failing_experiment_is_a_failure(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "run", lambda name, runs, quick: (name, 0.0, "Traceback\nValueError: no"))
    monkeypatch.setattr(run, "written", lambda out, n_jobs: {"fig3": []})
    assert run.main([str(tmp_path), "--quick", "--jobs", "1", "--only", "fig3"]) == 1
    assert "fig3: ValueError: no" in capsys.readouterr().err


def test_a_name_that_is_no_experiment_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        run.main([str(tmp_path), "--only", "fig99"])
    assert "fig99" in capsys.readouterr().err


def test_the_error_of_a_mean_by_drawing_again():
    values = np.random.default_rng(0).normal(size=100)
    mean, error = with_bootstrap_error(np.mean, values)
    assert mean == pytest.approx(values.mean())
    assert error == pytest.approx(values.std() / 10, rel=4 / np.sqrt(400))  # of 200 draws


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([0.5, 0.7], "0.60 ± 0.10"),
        ([0.500, 0.504], "0.502 ± 0.002"),
        ([0.5, 0.50001], "0.500 ± <0.001"),
        ([1.0, 1.0], "1.00"),
        ([-0.001, -0.001], "0.00"),
        ([0.25, float("nan")], "0.25"),
        ([float("nan")], "no value"),
    ],
)
def test_numbers_have_as_many_digits_as_their_error_needs(values, text):
    assert number(values) == text


@pytest.mark.slow
def test_the_page_is_written_again_from_stored_runs_alone(tmp_path, monkeypatch):
    assert run.main([str(tmp_path), "--quick", "--jobs", "1", "--only", "s3"]) == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for path in before:
        if path.parent.name != "runs":
            path.unlink()
    monkeypatch.setattr(run, "compute", None)
    assert run.main([str(tmp_path), "--quick", "--page", "--jobs", "1"]) == 0
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert judged("s3", load_facts(tmp_path / "runs" / "s3.npz"), quick=True)
