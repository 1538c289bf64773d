"""How often the bootstrap interval covers what it should: appendix A.1 of the paper, setting 1, k = 4.

Writes docs/calibration.md; `make calibration` runs it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.stats import binomtest
from sklearn.cluster import KMeans

import clustrep as cr

CENTRES = {
    "train": np.array([[0, -7], [3.5, 3], [-2, 2], [2, -2]]),
    "test": np.array([[-1, -7], [4.2, 3.3], [-2.5, 1.8], [2.2, -3]]),
}
N, K, N_INIT = 500, 4, 10
DATA_SETS, RESAMPLES, MONTE_CARLO = 100, 100, 1000
LEVELS = (0.8, 0.9, 0.95)
AGREEMENTS = ("ari", "ami")
OUT = Path(__file__).parents[1] / "docs" / "calibration.md"

PAGE = """# Do the bootstrap intervals cover?

Appendix A.1 of the paper, setting 1: two mixtures of four Gaussians in the plane, all components shifted between them,
n = m = {n}, k-means with k = {k} and {n_init} starts. The truth is the mean score over {monte_carlo} fresh pairs of
data sets; the intervals are percentile intervals from {resamples} bootstrap replicates, for each of {data_sets} pairs.
`make calibration` prints and writes this page.

| agreement | Monte Carlo mean | mean of the bootstrap means | level | covered | 95 % interval of the coverage |
|---|---|---|---|---|---|
{rows}
"""


def sampler(study: cr.Study, rng: np.random.Generator) -> np.ndarray:
    """Draw N points of the training or the test mixture, as `Simulate` asks for it."""
    return CENTRES[study.name][rng.integers(4, size=N)] + rng.normal(size=(N, 2))


def draw(rng: np.random.Generator) -> cr.Studies:
    """Draw a pair of studies."""
    blank = {name: rng.normal(size=(N, 2)) for name in CENTRES}
    return cr.Studies({name: sampler(study, rng) for name, study in cr.Studies(blank).items()})


def main() -> None:
    """Simulate, print the page and write it."""
    cr.set_config(progress=False)
    clusterer = KMeans(K, n_init=N_INIT)
    rng = np.random.default_rng(2023)
    options = {"agreement": AGREEMENTS, "diagonal": False, "n_jobs": -1}
    truth = cr.replicability(
        clusterer, draw(rng), resampling=cr.Simulate(sampler), n_resamples=MONTE_CARLO, rng=0, **options
    )
    runs = [cr.replicability(clusterer, draw(rng), n_resamples=RESAMPLES, rng=i, **options) for i in range(DATA_SETS)]
    rows = []
    for agreement in AGREEMENTS:
        target = truth[agreement].mean[0, 1]
        mean = np.mean([run[agreement].mean[0, 1] for run in runs])
        for level in LEVELS:
            low, high = np.transpose([np.array(run[agreement].confidence_interval(level))[:, 0, 1] for run in runs])
            covered = int(np.sum((low <= target) & (target <= high)))
            interval = binomtest(covered, DATA_SETS).proportion_ci()
            rows.append(
                f"| {agreement.upper()} | {target:.3f} | {mean:.3f} | {level:.0%} | {covered / DATA_SETS:.0%} "
                f"| {interval.low:.0%} to {interval.high:.0%} |"
            )
    page = PAGE.format(
        n=N,
        k=K,
        n_init=N_INIT,
        monte_carlo=f"{MONTE_CARLO:,}",
        resamples=RESAMPLES,
        data_sets=DATA_SETS,
        rows="\n".join(rows),
    )
    print(page)
    OUT.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
