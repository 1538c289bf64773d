"""What a GPU gains, beside one core, all cores and scikit-learn: `python -m benchmarks.accelerator`.

With `--write docs/scale.md` the rows replace those of the last table there, which loses its other rows if they were
measured on another machine. Where the variable OUT names a folder, the table is written there, too, as rows are done.
Work that would take hours without a GPU is measured in a part of it, and written with ≈. Without a GPU, the columns
of the processor alone are printed.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

import clustrep as cr
from benchmarks.bench import mixture
from clustrep.execution.devices import device_name, resolve_device
from clustrep.fitting.neighbours import nearest_point
from clustrep.fitting.parameters import Configuration
from clustrep.fitting.resample import Source
from clustrep.fitting.setting import Setting

# Samples of a study up to which a job is repeated as a whole.
SHORT = 10_000
BEGIN, END = "<!-- benchmarks.accelerator: begin -->", "<!-- benchmarks.accelerator: end -->"


@dataclass(frozen=True)
class Part:
    """So much of a job is computed, to say how long all of it takes."""

    n_studies: int
    ks: tuple[int, ...]
    n_resamples: int


@dataclass(frozen=True)
class Job:
    """A comparison of k-means with several numbers of clusters, on all ordered pairs of studies."""

    title: str
    shape: tuple[int, int, int, float]  # samples, features, true clusters and their spread
    n_studies: int
    ks: tuple[int, ...]
    n_init: int
    n_resamples: int
    wanted: str
    part: Part  # computed on one core, and by scikit-learn
    part_of_cores: Part  # computed on all cores

    def studies(self) -> list[np.ndarray]:
        """Draw the studies."""
        return mixture(*self.shape, n_studies=self.n_studies)

    @property
    def whole(self) -> Part:
        """All of it."""
        return Part(self.n_studies, self.ks, self.n_resamples)

    def times(self, part: Part) -> float:
        """Say how often a part goes into the whole, counted in centres that are fitted."""
        fits, some = (p.n_studies * (p.n_resamples + 1) * sum(p.ks) for p in (self.whole, part))
        return fits / some


JOBS = {
    "d31": Job(
        "31 clusters in two halves of 1,550 × 2, k = 2…40, n_init = 10, B = 100",
        (1_550, 2, 31, 10.0),
        2,
        tuple(range(2, 41)),
        10,
        100,
        "0.5 s",
        Part(2, (2, 21, 40), 3),
        Part(2, tuple(range(2, 41)), 100),
    ),
    "ten": Job(
        "ten studies of 100,000 × 50, k = 2…20, n_init = 3, B = 100",
        (100_000, 50, 12, 0.5),
        10,
        tuple(range(2, 21)),
        3,
        100,
        "60 s",
        Part(2, (11,), 1),
        Part(2, (11,), 15),  # as many replicates as cores
    ),
}


def compare(job: Job, part: Part, studies: Sequence[np.ndarray], device: str, n_jobs: int) -> float:
    """Return the seconds that a comparison takes."""
    options: dict[str, Any] = {"n_resamples": part.n_resamples, "diagonal": False, "rng": 0, "n_jobs": n_jobs}
    with cr.config_context(device=device, progress=False):
        begun = time.perf_counter()
        cr.compare(KMeans(n_init=job.n_init), studies[: part.n_studies], n_clusters=part.ks, agreement="ari", **options)
        return time.perf_counter() - begun


def by_scikit_learn(job: Job, part: Part, studies: Sequence[np.ndarray]) -> float:
    """Do the same in a loop over scikit-learn's k-means, on all cores."""
    rng = np.random.default_rng(0)
    begun = time.perf_counter()
    for _ in range(part.n_resamples + 1):
        draws = [np.unique(rng.integers(len(X), size=len(X))) for X in studies[: part.n_studies]]
        for k in part.ks:
            fits = [KMeans(k, n_init=job.n_init).fit(X[d]) for X, d in zip(studies, draws, strict=False)]
            for t, draw in enumerate(draws):
                for s, fit in enumerate(fits):
                    if s != t:
                        adjusted_rand_score(fits[t].labels_, fit.predict(studies[t][draw]))
    return time.perf_counter() - begun


def fits_of_a_million(device: str, n_fits: int, n: int = 10**6) -> tuple[float, float]:
    """Return the seconds of one fit of n × 50, k = 20, one start, and its iterations: means of several replicates."""
    (X,) = mixture(n, 50, 20, 0.3, 1)
    setting = Setting.prepare(
        Source(cr.resampling.Bootstrap(), 0, device=resolve_device(device)),
        [cr.Study(X, "a")],
        [Configuration("k-means", KMeans(20, n_init=1))],
    )
    (learner,) = setting.learners
    samples = [setting.resample(0, b) for b in range(1, n_fits + 1)]
    for sample in samples:
        sample.draw.weights  # noqa: B018 - drawn before the clock starts
    if device == "cpu":
        begun = time.perf_counter()
        fitted = [learner.psi(learner.share(sample), sample, learner.members[0]).solution for sample in samples]
        return (time.perf_counter() - begun) / n_fits, float(np.mean([solution.n_iter for solution in fitted]))
    from clustrep.gpu.kmeans import DeviceBatch

    for _ in range(2):  # kernels are compiled in the first
        begun = time.perf_counter()
        n_iter = DeviceBatch(learner, samples, [[] for _ in samples])._all_fits[3]  # type: ignore[arg-type]
        seconds = (time.perf_counter() - begun) / n_fits
    return seconds, float(n_iter.mean())


def one_by_scikit_learn(n: int = 10**6) -> tuple[float, float]:
    """Return the seconds and iterations of one fit by scikit-learn, on all cores."""
    (X,) = mixture(n, 50, 20, 0.3, 1)
    weights = np.bincount(np.random.default_rng(0).integers(n, size=n), minlength=n)
    clusterer = KMeans(20, n_init=1, random_state=0)
    begun = time.perf_counter()
    clusterer.fit(X, sample_weight=weights)
    return time.perf_counter() - begun, float(clusterer.n_iter_)


def nearest_of(n: int, n_asked: int, device: str) -> float:
    """Return the seconds in which the nearest of n points × 50 are found for `n_rows` others, on a GPU or one core."""
    points, X = mixture(n, 50, 20, 0.3, 2)
    nearest_point(points[:1000], "euclidean", device=device)(X[:1000])  # kernels are compiled
    with threadpool_limits(1):
        begun = time.perf_counter()
        nearest_point(points, "euclidean", device=device)(X[:n_asked])
        return time.perf_counter() - begun


def nearest_by_scikit_learn(n: int, n_asked: int) -> float:
    """Do the same by scikit-learn, on all cores."""
    points, X = mixture(n, 50, 20, 0.3, 2)
    search = NearestNeighbors(n_neighbors=1, algorithm="brute", n_jobs=-1).fit(points)
    begun = time.perf_counter()
    search.kneighbors(X[:n_asked], return_distance=False)
    return time.perf_counter() - begun


def null_of_d31(device: str, n_jobs: int, n: int = 39) -> float:
    """Return the seconds in which simulated data sets are scored, like those of the first job."""
    job = JOBS["d31"]
    with cr.config_context(device=device, progress=False):
        result = cr.compare(
            KMeans(n_init=job.n_init), job.studies(), n_clusters=job.ks, agreement="ari", n_resamples=1, rng=0
        )
        begun = time.perf_counter()
        cr.null_reference(result, n, null="margins", n_jobs=n_jobs)
        return time.perf_counter() - begun


# ---------------------------------------------------------------------------------------------------------------------
# the table


def peak_memory(action: Callable[[], float]) -> tuple[float, str]:
    """Return what an action returns, and how much of the GPU's memory it took."""
    import torch

    torch.cuda.reset_peak_memory_stats()
    seconds = action()
    return seconds, f"{torch.cuda.max_memory_allocated() / 2**30:.1f} GB"


def shown(seconds: float, *, is_part: bool = False) -> str:
    """Write a time in three digits."""
    limits = [(1.0, 1e-3, "ms"), (600.0, 1.0, "s"), (5400.0, 60.0, "min"), (float("inf"), 3600.0, "h")]
    _, length, unit = next(limit for limit in limits if seconds < limit[0])
    return f"{'≈ ' if is_part else ''}{seconds / length:.3g} {unit}"


def row_of(job: Job, has_gpu: bool) -> list[str]:
    """Measure one job."""
    studies = job.studies()
    on_gpu, memory = "", ""
    if has_gpu:
        is_long = len(studies[0]) > SHORT
        compare(job, Part(2, job.ks, 1) if is_long else job.whole, studies, "cuda", 1)  # kernels are compiled
        seconds, memory = peak_memory(lambda: compare(job, job.whole, studies, "cuda", 1))
        on_gpu = shown(seconds)
    compare(job, Part(2, job.ks[:1], 1), [X[:3000] for X in studies], "cpu", 1)  # kernels are compiled
    others = []
    for part, action in (
        (job.part, lambda part: compare(job, part, studies, "cpu", 1)),
        (job.part_of_cores, lambda part: compare(job, part, studies, "cpu", -1)),
        (job.part, lambda part: by_scikit_learn(job, part, studies)),
    ):
        others.append(shown(action(part) * job.times(part), is_part=part != job.whole))
    return [job.title, on_gpu, memory, *others, job.wanted]


def row_of_a_million(has_gpu: bool) -> list[str]:
    """Measure single fits."""
    on_gpu, memory, iterations = "", "", ""
    if has_gpu:
        results: list[tuple[float, float]] = []

        def run() -> float:
            results.append(fits_of_a_million("cuda", 10))
            return results[0][0]

        seconds, memory = peak_memory(run)
        on_gpu, iterations = shown(seconds), f", {results[0][1]:.0f} iterations"
    one_core, n_iter = fits_of_a_million("cpu", 1)
    theirs, n_theirs = one_by_scikit_learn()
    title = f"one fit to 10⁶ × 50, k = 20, of ten replicates at once{iterations}"
    return [
        title,
        on_gpu,
        memory,
        f"{shown(one_core)}, {n_iter:.0f} iterations",
        "",
        f"{shown(theirs)}, {n_theirs:.0f} iterations",
        "10 ms",
    ]


def row_of_nearest(has_gpu: bool, n: int = 10**6, n_asked: int = 2000) -> list[str]:
    """Measure the search of nearest points, which clusterers without `predict` need."""
    on_gpu, memory = "", ""
    if has_gpu:
        seconds, memory = peak_memory(lambda: nearest_of(n, n, "cuda"))
        on_gpu = shown(seconds)
    others = (nearest_of(n, n_asked, "cpu"), nearest_by_scikit_learn(n, n_asked))
    one_core, theirs = (shown(seconds * n / n_asked, is_part=True) for seconds in others)
    return ["the nearest of 10⁶ × 50 points for each of 10⁶ others, exact", on_gpu, memory, one_core, "", theirs, ""]


def row_of_null(has_gpu: bool, n: int = 39) -> list[str]:
    """Measure simulated data sets, which are many small tables."""
    on_gpu, memory = "", ""
    if has_gpu:
        null_of_d31("cuda", 1)  # kernels are compiled
        seconds, memory = peak_memory(lambda: null_of_d31("cuda", 1))
        on_gpu = shown(seconds)
    null_of_d31("cpu", 1, 1)
    one_core, cores = null_of_d31("cpu", 1, 3) * n / 3, null_of_d31("cpu", -1)
    title = f"null reference: {n} collections of two studies of 1,550 × 2, k = 2…40, n_init = 10"
    return [title, on_gpu, memory, shown(one_core, is_part=True), shown(cores), "", ""]


def line_of(cells: Sequence[str]) -> str:
    """Write a row in Markdown."""
    return f"| {' | '.join(cells)} |"


def table(rows: Mapping[str, str], GPU: str | None) -> str:
    """Write the table in Markdown, from its rows by the names of the jobs."""
    header = ["job", "GPU", "its memory", "one core", f"{os.cpu_count()} cores", "scikit-learn, all cores", "wanted"]
    where = f"GPU: {GPU or 'no GPU'}. Processor: {os.cpu_count()} cores, {platform.machine()}."
    lines = [line_of(header), line_of(["---"] * len(header)), *(rows[name] for name in ROWS if name in rows)]
    return "\n".join([*lines, "", where])


ROWS: dict[str, Callable[[bool], list[str]]] = {
    "d31": partial(row_of, JOBS["d31"]),
    "million": row_of_a_million,
    "ten": partial(row_of, JOBS["ten"]),
    "nearest": row_of_nearest,
    "null": row_of_null,
}


# How the titles of jobs begin.
TITLES = {"d31": "31 clusters", "million": "one fit", "ten": "ten studies", "nearest": "the nearest", "null": "null"}


def rows_before(page: str, GPU: str | None) -> dict[str, str]:
    """Return the rows of the last table, by the names of their jobs, if they were measured on the same GPU."""
    _, _, rest = page.partition(BEGIN)
    lines = rest.partition(END)[0].splitlines()
    if not any(line.startswith(f"GPU: {GPU or 'no GPU'}. Processor: {os.cpu_count()} cores") for line in lines):
        return {}
    return {name: line for name, title in TITLES.items() for line in lines if line.startswith(f"| {title}")}


def replaced(page: str, text: str) -> str:
    """Put the table where the last one was."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"


def main() -> None:
    """Measure, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = list(ROWS)
    parser.add_argument("jobs", nargs="*", choices=[*names, []], default=[])
    parser.add_argument("--write", type=Path, help="The Markdown file in whose table these rows are replaced.")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    GPU = device_name("cuda") if resolve_device("auto") == "cuda" else None
    page = arguments.write.read_text(encoding="utf-8") if arguments.write else ""
    rows, folder = rows_before(page, GPU), os.environ.get("OUT")  # a folder for files of a run elsewhere
    for name in arguments.jobs or names:
        rows[name] = line_of(ROWS[name](GPU is not None))
        print(rows[name], flush=True)
        if arguments.write:
            arguments.write.write_text(replaced(page, table(rows, GPU)), encoding="utf-8")
        if folder:
            Path(folder, "accelerator.md").write_text(f"{table(rows, GPU)}\n", encoding="utf-8")
    print(table(rows, GPU))


if __name__ == "__main__":
    main()
