"""The command that runs the paper's experiments: what it writes, when, and that it writes it again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from paper.common import DEPENDS, FAILS, HOLDS, Claim, number, share, verdict_of

from paper import run

ROOT = Path(__file__).parents[2]


def test_another_process_writes_the_same_bytes(quick_run, tmp_path):
    """An experiment of this session, again with another seed of string hashes; and one without its data."""
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = os.environ | {"PYTHONHASHSEED": seed, "CLUSTREP_DATA": str(tmp_path)}  # no data there
    names = ["fig3_fig4_local", "fig1_benchmark_sets"]
    command = [sys.executable, "-m", "paper.run", str(tmp_path / "out"), "--quick", "--only", *names]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    text = written.pop("RESULTS-part.md").decode()
    ours = quick_run("fig3_fig4_local")
    assert written == {name: (ours.folder / name).read_bytes() for name in ours.figures}
    section = run.section("fig3_fig4_local", ours.claims)
    assert section.startswith("## Fig. 3 and 4")
    assert section in text
    assert "**not run**" in text  # benchmark sets, without their files
    assert str(tmp_path) not in text
    assert all(f"figures/{name}" in text for name in written)


@pytest.mark.parametrize("failing", [True, False])
def test_a_part_or_a_failure_leaves_the_results_alone(failing, tmp_path, monkeypatch, capsys):
    (tmp_path / "RESULTS.md").write_text("whole", encoding="utf-8")
    (tmp_path / "TIMES.md").write_text("whole", encoding="utf-8")
    monkeypatch.setattr(run, "EXPERIMENTS", run.EXPERIMENTS | {"absent": "No such experiment"})
    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))  # no data there: an experiment that takes no time
    names = ["absent", "fig1_benchmark_sets"] if failing else ["fig1_benchmark_sets"]
    assert run.main([str(tmp_path), "--quick", "--only", *names]) == failing
    assert {(tmp_path / name).read_text(encoding="utf-8") for name in ("RESULTS.md", "TIMES.md")} == {"whole"}
    assert "## Fig. 1" in (tmp_path / "RESULTS-part.md").read_text(encoding="utf-8")
    assert ("No module named 'paper.absent'" in capsys.readouterr().err) == failing


def test_a_name_that_is_no_experiment_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        run.main([str(tmp_path), "--only", "fig99"])
    assert "fig99" in capsys.readouterr().err


def test_results_count_the_papers_claims_and_show_our_remarks_apart():
    theirs = Claim("Fig. 1", "a | b", "1.0", "", verdict_of([True] * 3), "more", "because", ("fig5.png",))
    ours = Claim("Fig. 1", "c", "2.0", "", verdict_of([False]), "less", "because", ("fig5.png",), ours=True)
    text = run.results({"fig1_benchmark_sets": [theirs, ours]}, quick=False)
    assert "Of 1 claims: 1 hold, 0 do not hold, 0 depend, 0 not run." in text
    assert "| Fig. 1 | a \\| b | 1.0 |  | **holds**, 3 of 3 (asked: more) | because |" in text
    assert text.index("a \\| b") < text.index("Remarks of our own") < text.index("| Fig. 1 | c |")
    assert text.count("(figures/fig5.png)") == 1


def test_an_interrupted_run_keeps_what_is_done(tmp_path, monkeypatch, capsys):
    def stopped(names, figures, *, quick):
        yield "fig5_fig6_breast", [Claim("Fig. 5", "a", "1.0", "", verdict_of([1]), "", "")], 1.0
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "run_all", stopped)
    assert run.main([str(tmp_path)]) == 130
    assert "1 of 10 experiments" in capsys.readouterr().err
    assert "| Fig. 5 | a | holds |" in (tmp_path / "RESULTS-part.md").read_text(encoding="utf-8")
    assert not (tmp_path / "RESULTS.md").exists()


@pytest.mark.parametrize(("parts", "verdict"), [([1, 1], HOLDS), ([1, 0], DEPENDS), ([0, 0], FAILS)])
def test_a_claim_is_judged_by_its_parts(parts, verdict):
    assert verdict_of(parts) == verdict


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


def test_a_share_comes_with_an_exact_interval():
    assert share([True] * 18) == "18 of 18 (95 % interval 0.81 to 1.00)"  # .025 ** (1 / 18) = .815
