"""Fig. 2: affinity propagation beside the other algorithms, and what its damping and repeated points do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import clustrep as cr
from paper.common import Claim, clearly_positive, error_of, number, plain, verdict_of
from paper.fig2_dim_mixtures.runs import AFFINITY, KS, TRUE_K, Runs, Sizes, affinity, clusterers, converged, scores

PRINTED = (0.778, 0.443)  # within, across


@dataclass(frozen=True)
class Setting:
    """What affinity propagation does with a damping, each drawn point once or as often as drawn; halves swapped."""

    damping: float
    distinct: bool
    within: np.ndarray
    across: np.ndarray
    n_clusters: float
    converged: list[bool]

    @classmethod
    def of(cls, result: cr.results.Comparison, damping: float, distinct: bool, n_fits: int) -> Setting:
        """Gather it from a run."""
        within, across = (scores(result, AFFINITY, None, group) for group in ("within", "across"))
        n_clusters = float(np.nanmean(result.clusters_found))
        return cls(damping, distinct, within, across, n_clusters, converged(result, n_fits))

    def __str__(self) -> str:
        return f"{self.damping:g}: {number(self.within)} / {number(self.across)}, {self.fits}"

    @property
    def fits(self) -> str:
        """Write what the fits were like."""
        return f"{self.n_clusters:.0f} clusters, {sum(self.converged)} of {len(self.converged)} converged"

    def is_as_printed(self) -> bool:
        """Whether both scores are within two standard errors of the printed ones."""
        pairs = zip((self.within, self.across), PRINTED, strict=True)
        return all(abs(x.mean() - value) <= 2 * error_of(x) for x, value in pairs)


def affinity_claim(runs: Runs, default_swapped: cr.results.Comparison, swapped: cr.Studies, sizes: Sizes) -> Claim:
    """Affinity propagation does worse than the others, which depends on k, and on how it is run."""
    of_affinity = scores(runs.affinity, AFFINITY, None, "within")
    others = {
        (name, k): scores(runs.written, name, k, "within")[: len(of_affinity)] for name in clusterers(10) for k in KS
    }
    worse = {which: clearly_positive(values - of_affinity) for which, values in others.items()}
    by_k = {k: sum(worse[name, k] for name in clusterers(10)) for k in KS}
    n_fits = min(sizes.n_table, 10)
    default = Setting.of(runs.affinity, 0.5, False, n_fits)
    table = []
    for distinct in (False, True):
        for damping in sizes.dampings:
            is_default = damping == 0.5 and not distinct
            run = default_swapped if is_default else affinity(swapped, sizes.n_table, sizes.n_jobs, damping, distinct)
            table.append(Setting.of(run, damping, distinct, n_fits))
    drawn, once = (
        "; ".join(str(setting) for setting in table if setting.distinct is distinct) for distinct in (False, True)
    )
    as_printed = sum(setting.is_as_printed() for setting in table)
    means = [setting.within.mean() for setting in table]
    best = table[int(np.argmax(means))]
    worse_at = ", ".join(str(k) for k, n in by_k.items() if n == len(clusterers(10)))
    plainly = f"Worse than all others at k = {worse_at}" if worse_at else "At no k worse than all others"
    if not any(default.converged):
        plainly += f"; at scikit-learn's defaults it does not converge, and finds {default.n_clusters:.0f} clusters"
    return Claim(
        f"{runs.where}, Section 4.2",
        "Affinity propagation performs overall worse than the other algorithms.",
        f"Within mixtures {number(of_affinity)}, at scikit-learn's defaults: {default.fits}. Clearly below "
        + ", ".join(f"{n} of {len(clusterers(10))} others at k = {k}" for k, n in by_k.items())
        + ".",
        f"Printed .778 / .443 within / across. Halves swapped, {sizes.n_table} resamples, by damping: {drawn}. Each "
        f"drawn point clustered once: {once}. {as_printed} of {len(table)} are within two errors of the printed "
        f"pair; within ranges from {plain(min(means))} to {plain(max(means))}.",
        verdict_of(worse.values()),
        "score within mixtures below the other's by more than two standard errors, each other algorithm and k",
        f"{plainly}. At its best, on swapped halves with damping {best.damping:g}"
        f"{', each drawn point once' if best.distinct else ''}, it has "
        f"{number(best.within)} within ({best.fits}); the others at k = 16 have at least "
        f"{plain(min(others[name, TRUE_K].mean() for name in clusterers(10)), 3)}.",
        values={"worse": worse, "within": of_affinity, "others": others, "converged": default.converged}
        | {
            "table": {
                (setting.damping, setting.distinct): (float(setting.within.mean()), setting.n_clusters)
                for setting in table
            }
        },
    )
