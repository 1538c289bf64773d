"""How much memory a run needs beside its data: measured in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RESET = Path("/proc/self/clear_refs")  # where Linux forgets the largest memory so far

# Pieces are of constant sizes; small ones, so that a small case needs as many times its data as a large one does.
PROGRAM = """
import sys
import numpy as np
from sklearn.cluster import KMeans
import clustrep as cr
from clustrep.fitting import resample
from clustrep.accelerate import kmeans

kmeans.MOST_CACHED, kmeans.LABELLED_AT_ONCE, kmeans.BUDGET = 2**18, 2**12, 2_000_000
kmeans.SUMMED_AT_ONCE = resample.TURNED_AT_ONCE = 2**12
n_landmarks, dtype = int(sys.argv[1]) or None, sys.argv[2]

def memory(name):
    (line,) = [line for line in open("/proc/self/status") if line.startswith(name)]
    return 1024 * int(line.split()[1])

def table(seed, n):
    X = np.random.default_rng(seed).standard_normal((n, 50), dtype=dtype)
    X[: n // 2] += 3
    return X

def run(n):
    studies = cr.Studies({name: table(seed, n) for seed, name in enumerate("ab")})  # copies, while the tables are there
    result = cr.replicability(KMeans(2, max_iter=5), studies, n_resamples=1, rng=0, n_landmarks=n_landmarks)
    assert result.estimate[0, 1] > 0.9
    return sum(study.X.nbytes for study in studies.values())

run(3000)  # compiles the kernels
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = memory("VmRSS")
n_bytes = run(100_000)
print((memory("VmHWM") - before) / n_bytes)
"""


@pytest.mark.skipif(not RESET.exists(), reason="The system does not say how much memory a process has had.")
@pytest.mark.slow
@pytest.mark.parametrize(("n_landmarks", "dtype"), [(0, "float64"), (200, "float64"), (0, "float32")])
def test_k_means_needs_less_than_two_and_a_half_times_its_data(n_landmarks, dtype):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(n_landmarks), dtype],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert 1 < float(done.stdout) < 2.5
