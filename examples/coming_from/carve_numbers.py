"""Write carve_numbers.csv, what CARVE says of peer_points.csv: python carve_numbers.py, in this folder.

Needs ``pip install carve-validate`` in an environment of its own (it asks for Python 3.12).
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from carve import CARVE
from sklearn.cluster import AgglomerativeClustering
from sklearn.neighbors import KNeighborsClassifier

N_RESAMPLES = 200
COLUMNS = ["collection", "n_clusters", "ari_generalizability", "ari_generalizability_se", "k_chosen"]


def main() -> None:
    points = pd.read_csv("peer_points.csv")
    tables = []
    for collection, part in points[points["study"] == "alpha"].groupby("collection", sort=False):
        carve = CARVE(
            n_clusters=5,
            n_resamples=N_RESAMPLES,
            subsample_ratio=0.5,
            estimator_param_grids=[(AgglomerativeClustering, {"n_clusters": [2, 3, 4, 5], "linkage": ["ward"]})],
            classifier=KNeighborsClassifier(1),
            random_state=1,
        )
        carve.fit(part.filter(regex="^x").to_numpy())
        chosen = carve.get_k(measure="generalizability", rule="max")
        tables.append(carve.estimator_results_.assign(collection=collection, k_chosen=chosen)[COLUMNS])
    installed = f"carve-validate {version('carve-validate')}, scikit-learn {version('scikit-learn')}"
    table = pd.concat(tables).to_csv(index=False, float_format="%.10g")
    Path("carve_numbers.csv").write_text(f"# {installed}, Python {sys.version.split()[0]}\n{table}")


if __name__ == "__main__":
    main()
