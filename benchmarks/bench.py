"""How much faster than the loop that a careful user would write, and whether the answer is the same.

Run as `make bench`. Both sides run in this process, in turns, on one thread, and are measured by the processor's time
that they take, which other programs change little; ratios, not seconds, carry over to other machines. With a name or
two, such as `python -m benchmarks.bench ward complete`, only these jobs run. What several cores gain is another table:
`python -m benchmarks.cores`.
"""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from threadpoolctl import threadpool_limits

import clustrep as cr
from benchmarks.loops import Loop, agreement_loop, fpc, global_loop, local_loop, nearest_loop, test_loop
from clustrep.agreement.agreements import resolve_agreements
from clustrep.agreement.contingency import tables_of
from clustrep.fitting.neighbours import nearest_point
from clustrep.fitting.parameters import Configuration
from clustrep.fitting.resample import Source
from clustrep.fitting.setting import Setting

LONG = 5.0  # seconds from which on nothing is repeated


@dataclass(frozen=True)
class Job:
    """One row of the table."""

    name: str
    title: str
    wanted: float
    run: Callable[..., Any]  # of n_resamples and n_jobs
    means: Callable[[Any], np.ndarray]  # the mean score of every resample, from what `run` returns
    loop: Callable[[], Loop | None]  # None: what it compares with is not installed
    n_resamples: int
    inertia: Callable[[], np.ndarray] | None = None  # ours over scikit-learn's, draw by draw
    same_scores: bool = True  # whether both sides should score alike
    same_values: bool = False  # whether both sides compute the same values, without chance


def mixture(n: int, p: int, k: int, spread: float, n_studies: int = 2, seed: int = 0) -> list[np.ndarray]:
    """Draw studies from the same k round Gaussians."""
    rng = np.random.default_rng(seed)
    centres = spread * rng.normal(size=(k, p))
    return [centres[rng.integers(k, size=n)] + rng.normal(size=(n, p)) for _ in range(n_studies)]


def global_job(
    name: str, title: str, wanted: float, clusterer: Any, studies: Sequence[np.ndarray], ks: Sequence[int], n: int
) -> Job:
    """Algorithm 2 with n resamples, off-diagonal pairs."""

    def run(n_resamples: int, n_jobs: int = 1) -> cr.results.Comparison:
        options = {"agreement": "ari", "n_resamples": n_resamples, "diagonal": False, "rng": 0, "n_jobs": n_jobs}
        options["resampling"] = cr.resampling.Bootstrap()  # as the loops draw
        return cr.compare(clusterer, studies, n_clusters=ks, **options)

    def means(result: cr.results.Comparison) -> np.ndarray:
        return np.nanmean(result.distribution, axis=(0, 1, 3, 4))

    inertia = partial(inertia_ratios, clusterer, studies, ks) if isinstance(clusterer, KMeans) else None
    return Job(name, title, wanted, run, means, partial(global_loop, clusterer, studies, ks, n), n, inertia)


def inertia_ratios(clusterer: KMeans, studies: Sequence[np.ndarray], ks: Sequence[int]) -> np.ndarray:
    """Inertia of our k-means over scikit-learn's on the same draws, several numbers of clusters and all studies."""
    n_fits = 8 if len(studies[0]) > 10**4 else 40
    source = Source(cr.resampling.Bootstrap(), 1)
    named = tuple(cr.Studies(studies).values())
    configurations = [
        Configuration("k-means", clone(clusterer).set_params(n_clusters=int(ks[i * len(ks) // n_fits])))
        for i in range(n_fits)
    ]
    (learner,) = (setting := Setting.prepare(source, named, configurations)).learners
    ratios = []
    for b, configuration in enumerate(configurations):
        sample = setting.resample(b % len(named), 1 + b)
        ours = learner.psi(learner.share(sample), sample, configuration).solution.inertia
        theirs = clone(configuration.clusterer).set_params(random_state=b).fit(sample.draw.sample).inertia_
        ratios.append(ours / theirs)
    return np.array(ratios)


def local_job() -> Job:
    train, test = mixture(100, 2, 3, 2.0)
    pooled = np.concatenate([train, test])
    axes = [np.linspace(low, high, 250) for low, high in zip(pooled.min(axis=0), pooled.max(axis=0), strict=True)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    clusterer = KMeans(3, n_init=10)

    def run(n_resamples: int, n_jobs: int = 1) -> cr.results.LocalReplicability:
        options = {"n_resamples": n_resamples, "resampling": cr.resampling.Bootstrap(), "rng": 0, "n_jobs": n_jobs}
        local = cr.local_replicability(clusterer, train=train, test=test, at=grid, **options)
        assert local.mean.shape == (len(grid),)  # the map is part of the job
        return local

    def means(local: cr.results.LocalReplicability) -> np.ndarray:
        return local.distribution.mean(axis=1)

    title = "local map, k = 3, two studies of 100 × 2, 250 × 250 grid, B = 100"
    return Job("local", title, 20_000, run, means, partial(local_loop, clusterer, train, test, grid, 100), 100)


def agreement_job() -> Job:
    u, v = np.random.default_rng(0).integers(10, size=(2, 10_000, 500))
    agreements = resolve_agreements(("ari", "ami"))

    def run(n_resamples: int, n_jobs: int = 1) -> np.ndarray:
        tables = tables_of(u, v, None, (10, 10))
        return np.mean([agreement.of_tables(tables) for agreement in agreements], axis=0)

    title = "ARI and AMI of 10,000 pairs of partitions of 500 points, k = 10"
    return Job("agreement", title, 50, run, np.asarray, partial(agreement_loop, u, v), 1, same_values=True)


def nearest_job(n_features: int) -> Job:
    points, X = mixture(8_000, n_features, 20, 1.0)

    def run(n_resamples: int, n_jobs: int = 1) -> np.ndarray:
        return nearest_point(points, "euclidean")(X)

    title = f"the nearest of 8,000 points in {n_features} features, of 8,000 others; against cdist"
    loop = partial(nearest_loop, points, X)
    return Job(f"nearest-{n_features}", title, 3, run, np.asarray, loop, 1, same_values=True)


def fpc_jobs() -> list[Job]:
    """What R's fpc computes, with one start on either side: its starts are random points, ours are k-means++."""
    (X,) = mixture(3_100, 2, 31, 10.0, 1)

    def jaccard(n_resamples: int, n_jobs: int = 1) -> cr.results.Stability:
        return cr.stability.stability(KMeans(31, n_init=1), X, n_resamples=n_resamples, rng=0, n_jobs=n_jobs)

    def strength(n_resamples: int, n_jobs: int = 1) -> cr.results.PredictionStrength:
        clusterer = KMeans(n_init=1)
        return cr.stability.prediction_strength(
            clusterer, X, n_clusters=range(2, 11), n_splits=n_resamples, rng=0, n_jobs=n_jobs
        )

    def means(result: cr.results.Stability | cr.results.PredictionStrength) -> np.ndarray:
        return result.distribution.mean(axis=1)

    return [
        Job("fpc-jaccard", "Jaccard bootstrap, 3,100 × 2, k = 31, one start, B = 100; against R's fpc", 10,
            jaccard, means, partial(fpc, "jaccard", X), 100, same_scores=False),
        Job("fpc-strength", "prediction strength, 3,100 × 2, k = 2…10, one start, 20 splits; against R's fpc", 3,
            strength, means, partial(fpc, "strength", X), 20, same_scores=False),
    ]  # fmt: skip


def test_job() -> Job:
    X = np.random.default_rng(0).normal(size=(1_000, 2))

    def run(n_resamples: int, n_jobs: int = 1) -> cr.results.ClusterTest:
        return cr.stability.cluster_test(X, null="sample", n_resamples=n_resamples, rng=0, n_jobs=n_jobs)

    def means(result: cr.results.ClusterTest) -> np.ndarray:
        return result.null_distribution

    title = "test for clusters, 1,000 × 2, B = 200"
    return Job("test", title, 5, run, means, partial(test_loop, X, 200), 200)


def jobs() -> list[Job]:
    k2_40, k2_8 = range(2, 41), range(2, 9)
    wide = [X[:n] for X, n in zip(mixture(340, 20_000, 4, 0.1, 3), (200, 200, 340), strict=True)]
    flat = mixture(1_550, 2, 31, 10.0)
    return [
        global_job("small", "k-means, two studies of 300 × 2, k = 15, n_init = 10, B = 100", 40,
                   KMeans(n_init=10), mixture(300, 2, 15, 5.0), [15], 100),
        global_job("path", "k-means, two studies of 1,550 × 2, k = 2…40, n_init = 10, B = 20", 20,
                   KMeans(n_init=10), flat, k2_40, 20),
        global_job("pairs", "k-means, four studies of 256 × 64, k = 16, n_init = 10, all pairs, B = 50", 20,
                   KMeans(n_init=10), mixture(256, 64, 16, 1.0, 4), [16], 50),
        global_job("ward", "Ward, two studies of 1,550 × 2, k = 2…40, B = 10", 90,
                   AgglomerativeClustering(), flat, k2_40, 10),
        global_job("complete", "complete linkage, two studies of 1,550 × 2, k = 2…40, B = 10", 90,
                   AgglomerativeClustering(linkage="complete"), flat, k2_40, 10),
        local_job(),
        agreement_job(),
        global_job("wide", "k-means, three studies of 200, 200, 340 × 20,000, k = 2…8, n_init = 10, B = 20", 100,
                   KMeans(n_init=10), wide, k2_8, 20),
        global_job("large", "k-means, two studies of 100,000 × 50, k = 20, n_init = 1, B = 2", 1.5,
                   KMeans(n_init=1), mixture(100_000, 50, 20, 1.0), [20], 2),
        test_job(),
        nearest_job(16),
        nearest_job(50),
        *fpc_jobs(),
    ]  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------------
# measuring


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    value = function()
    return time.process_time() - begin, value


def best_of(function: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """The least time of a few, as long as they are short."""
    seconds, value = timed(function)
    while repeats > 1 and seconds < LONG:
        seconds = min(seconds, timed(function)[0])
        repeats -= 1
    return seconds, value


def peak_memory(function: Callable[[], Any]) -> str:
    """What a run takes on top of what was there before, where the system tells."""
    try:
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        before = _status("VmRSS")
        function()
        return f"{max(_status('VmHWM') - before, 0) / 1024:,.0f} MB"
    except OSError:
        return "?"


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    raise OSError(field)


@dataclass(frozen=True)
class Cell:
    """A measured value as it is printed, and whether it is as good as it should be."""

    text: str
    good: bool = True

    def __str__(self) -> str:
        return self.text if self.good else f"**{self.text}**"


def inertia(job: Job) -> Cell:
    """Mean inertia of ours over scikit-learn's: at most 0.1 % worse, plus two Monte Carlo errors."""
    if job.inertia is None:
        return Cell("–")
    ratios = job.inertia()
    error = ratios.std(ddof=1) / math.sqrt(len(ratios))
    return Cell(f"{ratios.mean():.4f} ± {error:.4f}", bool(ratios.mean() <= 1.001 + 2 * error))


def score_difference(job: Job, ours: np.ndarray, loop: Loop) -> Cell:
    """Difference of the mean scores within three Monte Carlo errors over resamples; of the same pairs to rounding."""
    theirs = np.array(loop.means)
    if job.same_values:
        largest = np.abs(ours[: len(theirs)] - theirs).max()
        return Cell(f"at most {largest:.0e}", bool(largest <= 1e-12))
    if len(theirs) < 2:
        return Cell("?")
    error = math.sqrt(ours.var(ddof=1) / len(ours) + theirs.var(ddof=1) / len(theirs))
    difference = ours.mean() - theirs.mean()
    # The error of two resamples is itself hardly known.
    alike = abs(difference) <= 3 * error or len(theirs) < 5 or not job.same_scores
    return Cell(f"{difference:+.3g} ± {error:.1g}", bool(alike))


def measure(job: Job) -> list[Cell]:
    job.run(min(job.n_resamples, 2))  # compiles, where that is still to be done
    seconds, result = best_of(lambda: job.run(job.n_resamples))
    loop = job.loop()
    if loop is None:
        return [Cell(job.title), Cell(f"{job.wanted:,g}"), Cell("R's fpc is not installed"), Cell(f"{seconds:.3g} s")]
    for _ in range(2 if loop.seconds < 2 * LONG else 0):  # in turns, so that a slow minute hits both
        seconds = min(seconds, best_of(lambda: job.run(job.n_resamples))[0])
        loop = min(loop, job.loop() or loop, key=lambda one: one.seconds)
    ratio = loop.seconds / seconds
    part = "" if loop.share >= 1 else f" ({100 * loop.share:.2g} % run)"
    return [
        Cell(job.title),
        Cell(f"{job.wanted:,g}"),
        Cell(f"{ratio:,.1f}" if ratio < 1000 else f"{ratio:,.0f}", ratio >= job.wanted),
        Cell(f"{seconds:.3g} s"),
        Cell(f"{loop.seconds:,.3g} s{part}"),
        inertia(job),
        score_difference(job, job.means(result), loop),
        Cell(peak_memory(lambda: job.run(job.n_resamples))),
    ]


# ---------------------------------------------------------------------------------------------------------------------
# data without clusters


def reference_costs() -> list[list[str]]:
    """What 199 collections without clusters cost, as a multiple of the plain run with 100 resamples."""
    wide = [X[:n] for X, n in zip(mixture(340, 20_000, 4, 0.1, 3), (200, 200, 340), strict=True)]
    settings = {
        "k-means, three studies of 300 × 5, k = 2…8": (KMeans(n_init=10), mixture(300, 5, 4, 2.0, 3)),
        "Ward, three studies of 300 × 5, k = 2…8": (AgglomerativeClustering(), mixture(300, 5, 4, 2.0, 3)),
        "k-means, three studies of 200, 200, 340 × 20,000, k = 2…8": (KMeans(n_init=10), wide),
    }
    rows = []
    for title, (clusterer, studies) in settings.items():
        run = partial(cr.compare, clusterer, studies, n_clusters=range(2, 9), rng=0)
        run(n_resamples=2)  # compiles, where that is still to be done
        plain, result = timed(lambda run=run: run(n_resamples=100))
        reference = timed(lambda result=result: cr.null_reference(result))[0]
        rows.append([title, f"{plain:.1f} s", f"{reference:.1f} s", f"{reference / plain:.1f}"])
    return rows


def verdict_costs() -> list[list[Cell]]:
    """What the whole analysis costs, as a multiple of the comparison of the same studies alone."""
    rng = np.random.default_rng(0)
    angles = [rng.uniform(0, 1.5 * np.pi, 400) for _ in range(3)]
    arc = [
        np.column_stack([5 * np.cos(t), 5 * np.sin(t), np.zeros((400, 8))]) + rng.normal(size=(400, 10)) for t in angles
    ]
    settings = {
        "3 × 400 × 10, five clusters": (2.0, mixture(400, 10, 5, 2.0, 3)),
        "3 × 250 × 50, four clusters": (2.0, mixture(250, 50, 4, 1.0, 3)),
        "3 × 400 × 10, no clusters": (2.0, [rng.normal(size=(400, 10)) * np.linspace(3, 1, 10) for _ in range(3)]),
        "3 × 400 × 10, overlapping clusters": (4.0, mixture(400, 10, 4, 0.8, 3)),
        "3 × 400 × 10, an arc": (4.0, arc),
        "4 × 2,000 × 30, eight clusters": (2.0, mixture(2000, 30, 8, 1.5, 4)),
    }
    rows, options = [], {"n_clusters": range(2, 9), "n_resamples": 100, "rng": 0}
    for title, (wanted, studies) in settings.items():
        small = [X[:60] for X in studies]
        cr.analyse(KMeans(n_init=2), small, n_clusters=[2, 3], n_resamples=2, n_null=19, rng=0)  # compiles
        plain = timed(lambda studies=studies: cr.compare(KMeans(n_init=10), studies, **options))[0]
        whole, analysis = timed(lambda studies=studies: cr.analyse(KMeans(n_init=10), studies, **options))
        drawn = 0 if analysis.reference is None else len(analysis.reference.distribution)
        ratio = Cell(f"{whole / plain:.1f}", whole <= wanted * plain)
        cells = [title, analysis.verdict, f"{plain:.1f} s", f"{whole:.1f} s", f"{wanted:g}"]
        rows.append([*map(Cell, cells), ratio, Cell(str(drawn))])
    return rows


# ---------------------------------------------------------------------------------------------------------------------
# growth


def growth() -> list[list[str]]:
    """Time against size: the exponent of a power law through four sizes."""
    base = {"n": 500, "p": 8, "k": 8, "B": 10, "S": 2}
    sizes = {
        "n": (500, 1000, 2000, 4000),
        "p": (2, 4, 8, 15),
        "p ": (16, 32, 64, 128),  # other ways to the nearest centre and the nearest point
        "k": (4, 8, 16, 32),
        "B": (10, 20, 40, 80),
        "S": (2, 4, 8, 16),
    }
    rows = []
    for name, clusterer in {"k-means": KMeans(n_init=10), "Ward": AgglomerativeClustering()}.items():
        for what, values in sizes.items():
            times = []
            for value in values:
                at = {**base, what.strip(): value}
                studies = mixture(at["n"], at["p"], at["k"], 2.0, at["S"])
                run = partial(
                    cr.replicability, clusterer.set_params(n_clusters=at["k"]), studies, n_resamples=at["B"],
                    diagonal=False, rng=0,
                )  # fmt: skip
                times.append(best_of(run, 2)[0])
            exponent = np.polyfit(np.log(values), np.log(times), 1)[0]
            rows.append(
                [name, what, " ".join(map(str, values)), " ".join(f"{t:.3f}" for t in times), f"{exponent:.2f}"]
            )
    return rows


def print_table(header: list[str], rows: list[list[str]]) -> None:
    print_row(header)
    print("|" + "---|" * len(header))
    for row in rows:
        print_row(row)


def print_row(cells: list[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def main(names: Sequence[str]) -> int:
    warnings.simplefilter("ignore")
    header = ["job", "wanted", "ratio", "ours", "loop", "inertia, ours / theirs", "score, ours − theirs"]
    header += ["peak memory"]
    all_met = True
    print_table(header, [])
    with threadpool_limits(1):
        for job in jobs():
            if not names or job.name in names:
                row = measure(job)
                all_met &= all(cell.good for cell in row)
                print_row([str(cell) for cell in row])
        if not names or "null" in names:
            print()
            print_table(["data without clusters", "100 resamples", "199 collections", "multiple"], reference_costs())
        if not names or "verdict" in names:
            print()
            header = ["studies", "verdict", "compare", "analyse", "wanted", "multiple", "null data sets of the model"]
            rows = verdict_costs()
            all_met &= all(cell.good for row in rows for cell in row)
            print_table(header, [[str(cell) for cell in row] for row in rows])
        if not names or "growth" in names:
            print()
            print_table(["clusterer", "size", "values", "seconds", "exponent"], growth())
    print(
        "\n± is one Monte Carlo standard error. "
        + ("All goals are met." if all_met else "Bold numbers miss their goals.")
    )
    return 0 if all_met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
