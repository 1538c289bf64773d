"""Four simulated cohorts whose truth is known: who predicts whom, which clusters hold, and whether that is the truth.

Run as `python examples/demo.py FOLDER`; the results are left in the folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from sklearn.cluster import AgglomerativeClustering, KMeans

import clustrep as cr

mpl.use("Agg")

SEED = 1
CLUSTERERS = {"k-means": KMeans(n_init=5), "ward": AgglomerativeClustering()}
TRUE_SUBTYPES = 4
LACKING = ("gamma", "D")  # a cohort, and the subtype that it lacks
SHIFTED = "delta"  # the cohort that is measured on another scale


def main(folder: Path, n_resamples: int = 40) -> bool:
    folder.mkdir(parents=True, exist_ok=True)
    options = {"n_resamples": n_resamples, "rng": SEED, "n_jobs": -1}
    measured = cr.datasets.simulate_cohorts(rng=SEED)
    print(measured, end="\n\n")

    print("As measured")
    raw = cr.replicability(KMeans(TRUE_SUBTYPES, n_init=5), measured, **options)
    print(raw, end="\n\n")

    print("Each cohort scaled by itself (study)")
    scaled = measured.scaled("study")
    choice = cr.compare(CLUSTERERS, scaled, n_clusters=range(2, 7), **options)
    best = choice.best()
    print(best, end="\n\n")
    result = choice.replicability(best.clusterer, best.n_clusters)
    print(result, end="\n\n")

    print(f"Which of alpha's clusters hold elsewhere: local ARI of {best.clusterer}, k = {best.n_clusters}")
    clusterer = CLUSTERERS[best.clusterer].set_params(n_clusters=best.n_clusters)
    local = cr.local_replicability(clusterer, train=scaled["alpha"], test=scaled, **options)
    clusters = pd.concat([table(one, scaled["alpha"].labels) for one in local.values()], ignore_index=True)
    cells = clusters.apply(lambda row: f"{row['mean']:.2f} [{row['low']:.2f}, {row['high']:.2f}]", axis=1)
    print(pd.crosstab(clusters["subtype"], clusters["test"], cells, aggfunc="first").to_string(), end="\n\n")

    choice.to_frame().to_csv(folder / "scores.csv", index=False)
    clusters.to_csv(folder / "clusters.csv", index=False)
    choice.save(folder / "comparison.npz")
    raw.save(folder / "as_measured.npz")
    for name, one in {"as_measured": raw, "scaled": result, "choice": choice, "local": local["gamma"]}.items():
        one.plot().figure.savefig(folder / f"{name}.png", dpi=150)

    found = {
        f"there are {TRUE_SUBTYPES} subtypes": best.n_clusters == TRUE_SUBTYPES,
        f"{SHIFTED} is on another scale": shifted_is_apart(raw) and not shifted_is_apart(result),
        f"{LACKING[0]} lacks subtype {LACKING[1]}": weakest(clusters) == LACKING,
    }
    for truth, was_found in found.items():
        print(f"{'found' if was_found else 'MISSED':<7} {truth}")
    print(f"\nResults are in {folder}: " + ", ".join(sorted(path.name for path in folder.iterdir())))
    return all(found.values())


def table(local: cr.results.LocalReplicability, truth: object) -> pd.DataFrame:
    """The clusters of one training study on one test study, each named after the subtype that most of it is."""
    frame = local.by_cluster()
    names = pd.crosstab(local.labels, truth).idxmax(axis=1)
    frame.insert(0, "subtype", frame["cluster"].map(names))
    frame.insert(0, "test", local.test)
    return frame


def shifted_is_apart(result: cr.results.Replicability) -> bool:
    """Whether the shifted cohort predicts the others worst, and hardly at all."""
    averages = {name: float(result.for_training_on(name).mean) for name in result.names}
    return min(averages, key=averages.__getitem__) == SHIFTED and averages[SHIFTED] < 0.1


def weakest(clusters: pd.DataFrame) -> tuple[str, str]:
    """The test cohort and the subtype with the lowest score."""
    row = clusters.loc[clusters["mean"].idxmin()]
    return row["test"], row["subtype"]


if __name__ == "__main__":
    sys.exit(0 if main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-results")) else 1)
