"""How much memory runs need, measured in programs of their own: less than the obvious way would."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from tests.sentences import refused

import clustrep as cr
from clustrep.errors import DataError

MB = 2**20
# Python's and the libraries' own fluctuations: joblib and progress bars are imported with the first run.
CONSTANT = 20 * MB

PROGRAM = """
import contextlib
import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
import clustrep as cr


def memory(what):
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith(what + ":"))


def points(n, p):
    return np.random.default_rng(n).normal(size=(n, p))


def run(scale):
{run}

run(0.01)  # what is imported and compiled counts no more
with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")  # forget the highest so far; where that is not allowed, the measure errs on the high side
before = memory("VmRSS")
kept = run(1)
print(memory("VmHWM") - before)
"""


def skip_where_no_peak_is_told():
    status = Path("/proc/self/status")
    if not (status.exists() and "VmHWM:" in status.read_text()):
        pytest.skip("this platform does not tell a program how much memory it took at most")


def extra_memory(run):
    """The highest that a program's memory rose above where it stood before it did the real work, in bytes."""
    skip_where_no_peak_is_told()
    code = PROGRAM.format(run=textwrap.indent(textwrap.dedent(run).strip(), "    "))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_the_measure_sees_what_was_taken_and_given_back():
    taken = extra_memory(
        """
        np.ones(int(scale * 50 * 2**17)).sum()
        """
    )
    assert 49 * MB < taken < 50 * MB + CONSTANT


def test_a_fine_grid_costs_its_labels():
    n_points, n_resamples = 300 * 300, 60
    extra = extra_memory(
        """
        side = np.linspace(-3, 3, int(300 * scale**0.5))
        grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
        cluster = KMeans(3, n_init=1)
        options = {"n_resamples": 60, "rng": 0, "n_jobs": 1}
        result = cr.local_replicability(cluster, train=points(100, 2), test=points(90, 2), at=grid, **options)
        result.mean, result.sd
        return result
        """
    )
    assert extra < n_resamples * n_points * 8  # the distribution written out


def test_many_numbers_of_clusters_cost_little_more_than_the_data():
    n_points, n_resamples, numbers = 2 * 20_000, 3, range(2, 21)
    extra = extra_memory(
        """
        studies = [points(int(20_000 * scale), 4), points(int(20_100 * scale), 4)]
        cluster = KMeans(n_init=1, max_iter=3)
        return cr.compare(cluster, studies, n_clusters=range(2, 21), n_resamples=3, rng=0, n_jobs=1)
        """
    )
    data = n_points * 4 * 8
    distances_to_centres = n_resamples * n_points * sum(numbers) * 8
    assert extra < 50 * data + CONSTANT < distances_to_centres


def test_a_tree_costs_a_few_matrices():
    n = 1500
    extra = extra_memory(
        """
        studies = [points(int(1500 * scale), 5), points(int(1490 * scale), 5)]
        return cr.compare(AgglomerativeClustering(), studies, n_clusters=range(2, 9), n_resamples=3, rng=0, n_jobs=1)
        """
    )
    assert extra < 2 * 2 * n * n * 8 + CONSTANT  # two for each study


@pytest.mark.slow
def test_null_collections_by_the_command_line_are_freed_one_after_another(tmp_path):
    for i, name in enumerate("ab"):
        columns = ",".join(f"feature {j}" for j in range(40))
        table = np.random.default_rng(i).normal(size=(250, 40))
        np.savetxt(tmp_path / f"{name}.csv", table, delimiter=",", header=columns, comments="")
    few, many = (peak_of_a_run_of_ward(tmp_path, n_collections) for n_collections in (19, 199))
    assert many < few + 150 * MB  # two trees of two studies would take 360 MB more


def peak_of_a_run_of_ward(folder, n_collections):
    """The highest that the memory of a `clustrep run` of Ward's method rose, in bytes."""
    skip_where_no_peak_is_told()
    options = ["--clusterer", "ward", "--k", "2", "--resamples", "2", "--null-collections", str(n_collections)]
    options += ["--figures", "none", "--jobs", "1", "--quiet", "--force", "--out", "results"]
    program = f"""
        import gc
        from clustrep.cli.program import clustrep
        gc.disable()  # it would free cycles sooner or later, and with large tables later
        clustrep(["run", "a.csv", "b.csv", *{options!r}], standalone_mode=False)
        with open("/proc/self/status") as status:
            print(*[1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM:")])
        """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.splitlines()[-1])


def test_ward_needs_no_matrix_where_others_say_how_large_theirs_would_be(monkeypatch):
    studies = {name: np.random.default_rng(i).normal(size=(60, 3)) for i, name in enumerate("ab")}
    run = {"n_resamples": 3, "rng": 0}
    expected = cr.compare(AgglomerativeClustering(), studies, n_clusters=(2, 5), **run)
    monkeypatch.setattr("clustrep.accelerate.trees.LARGEST_MATRIX", 8 * 25**2)  # smaller than any draw's
    result = cr.compare(AgglomerativeClustering(), studies, n_clusters=(2, 5), **run)
    np.testing.assert_allclose(result.distribution, expected.distribution, rtol=0, atol=1e-12)
    assert len(np.unique(result.distribution)) > 2


@pytest.mark.parametrize("linkage", ["complete", "average", "single"])
def test_a_matrix_that_is_too_large_is_refused_with_its_size(linkage):
    studies = {name: np.random.default_rng(i).normal(size=(23_000, 2)) for i, name in enumerate("ab")}
    with refused(DataError):
        cr.replicability(AgglomerativeClustering(3, linkage=linkage), studies, n_resamples=2, rng=0)
