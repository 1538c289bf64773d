"""Seconds and memory from a thousand to a million samples a study, exact and by landmarks: `make scale`.

Every cell is one process: `replicability` of two studies with 50 features in single precision, 20 clusters,
the studies without resampling and one resample of them, on one core. Seconds are the processor's, after the kernels are
compiled; memory is the largest that the process had beyond what it had before there were data. With
`--write docs/scale.md` the table replaces the last one there; `--sizes 1000,10000` and `--clusterers Ward` compute a
part of it, and the other rows stay as they were.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans

BEGIN, END = "<!-- benchmarks.scale: begin -->", "<!-- benchmarks.scale: end -->"
SIZES = (10**3, 10**4, 10**5, 10**6)
FEATURES, CLUSTERS, SPREAD, LANDMARKS = 50, 20, 1.0, 2000
CLUSTERERS = {
    "k-means": KMeans(CLUSTERS),
    "Ward": AgglomerativeClustering(CLUSTERS),
    "HDBSCAN": HDBSCAN(min_cluster_size=15, copy=True),
}
# The largest studies for which all samples are clustered in minutes.
LARGEST_EXACT = {"k-means": 10**6, "Ward": 10**4, "HDBSCAN": 10**4}


def studies(n: int) -> dict[str, np.ndarray]:
    """Draw two studies from the same round Gaussians, in single precision."""
    rng = np.random.default_rng(0)
    centres = SPREAD * rng.standard_normal((CLUSTERS, FEATURES), dtype=np.float32)
    tables = {}
    for name in "ab":
        tables[name] = rng.standard_normal((n, FEATURES), dtype=np.float32)
        tables[name] += centres[rng.integers(CLUSTERS, size=n)]
    return tables


def memory(entry: str) -> int:
    """Return an entry of what Linux says of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(entry))


def measure(title: str, n: int, n_landmarks: int | None) -> dict[str, float]:
    """Measure one cell, in this process."""
    import clustrep as cr

    warnings.simplefilter("ignore")

    def run(size: int) -> float:
        collection = cr.Studies(studies(size))
        begun = time.process_time()
        result = cr.replicability(
            CLUSTERERS[title], collection, n_resamples=1, diagonal=False, rng=0, n_jobs=1, n_landmarks=n_landmarks
        )
        measured["seconds"] = time.process_time() - begun
        measured["score"] = float(result.estimate[0, 1])
        measured["error"] = float(result.provenance.get("landmark_error", {"ari": [0.0]})["ari"][0])
        return float(2 * size * FEATURES * 4)

    measured: dict[str, float] = {}
    run(min(n, 5000))  # compiles the kernels
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    measured["data"] = run(n)
    measured["memory"] = memory("VmHWM") - before
    return measured


def cell(title: str, n: int, n_landmarks: int | None) -> str:
    """Measure one cell in another process, and write it."""
    arguments = [sys.executable, "-m", "benchmarks.scale", "--cell", title, str(n), str(n_landmarks or 0)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, env={**os.environ, **threads})
    if done.returncode:
        return "failed: " + done.stderr.strip().splitlines()[-1]
    measured = json.loads(done.stdout)
    score = f"{measured['score']:.3f}" + (f" ± {measured['error']:.3f}" if n_landmarks else "")
    return f"{measured['seconds']:.1f} s, {measured['memory'] / 1e9:.2f} GB, {score}"


def table(sizes: tuple[int, ...], titles: list[str], before: str = "") -> str:
    """Measure everything, and write the table; other rows are those of the table before."""
    head = [
        f"Two studies of n samples, {FEATURES} features in single precision, {CLUSTERS} clusters; the observed score "
        "and one resample.",
        f"One core of {processor()}; processor's seconds, largest memory beyond the imports, the observed score "
        "(ARI); by landmarks, ± its standard deviation over choices of landmarks.",
        "",
        f"| clusterer | n | exact | `n_landmarks={LANDMARKS}` |",
        "|---|---|---|---|",
    ]
    rows = {row_name(line): line for line in before.splitlines() if row_name(line)}
    for title in titles:
        for n in sizes:
            exact = cell(title, n, None) if n <= LARGEST_EXACT[title] else "not computed"
            by_landmarks = cell(title, n, LANDMARKS) if n > LANDMARKS else "exact"
            rows[title, n] = f"| {title} | {n:,} | {exact} | {by_landmarks} |"
            print(rows[title, n], file=sys.stderr, flush=True)
    in_order = [rows[title, n] for title in CLUSTERERS for n in SIZES if (title, n) in rows]
    return "\n".join([*head, *in_order])


def row_name(line: str) -> tuple[str, int] | None:
    """Read the clusterer and the number of samples of a row; None where a line is none."""
    parts = [part.strip() for part in line.split("|")]
    is_row = len(parts) > 3 and parts[1] in CLUSTERERS and parts[2].replace(",", "").isdigit()
    return (parts[1], int(parts[2].replace(",", ""))) if is_row else None


def processor() -> str:
    """Name the processor, as Linux does."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor()


def replaced(page: str, text: str) -> str:
    """Put the table between its marks; at the end of a page without them."""
    if BEGIN not in page:
        return f"{page.rstrip()}\n\n{BEGIN}\n{text}\n{END}\n"
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}"


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--clusterers", default=",".join(CLUSTERERS))
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    if arguments.cell:
        title, n, n_landmarks = arguments.cell
        print(json.dumps(measure(title, int(n), int(n_landmarks) or None)))
        return
    page = arguments.write.read_text() if arguments.write and arguments.write.exists() else ""
    before = page.partition(BEGIN)[2].partition(END)[0]
    text = table(tuple(map(int, arguments.sizes.split(","))), arguments.clusterers.split(","), before)
    if arguments.write is None:
        print(text)
        return
    # Read again: it may have been edited while this ran.
    page = arguments.write.read_text() if arguments.write.exists() else ""
    arguments.write.write_text(replaced(page, text))


if __name__ == "__main__":
    main()
