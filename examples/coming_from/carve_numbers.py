"""Write carve_numbers.csv, what CARVE says of peer_points.csv: python carve_numbers.py, in this folder.

Needs ``pip install carve-validate`` in an environment of its own (it asks for Python 3.12).
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pandas as pd
from carve import CARVE
from sklearn.cluster import AgglomerativeClustering
from sklearn.neighbors import KNeighborsClassifier

N_RESAMPLES = 200


def main() -> None:
    points = pd.read_csv("peer_points.csv")
    rows = []
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
        table = carve.estimator_results_.assign(collection=collection)
        rows.append(
            table.drop(columns=[name for name in table if table[name].dtype == object and name != "collection"])
        )
        for measure in ("stability", "generalizability"):
            chosen = carve.get_k(measure=measure, rule="max")
            rows.append(pd.DataFrame({"collection": [collection], "measure": [measure], "k_chosen": [chosen]}))
    try:
        installed = version("carve-validate")
    except PackageNotFoundError:
        installed = "from its wheel"
    header = f"# carve-validate {installed}, scikit-learn {version('scikit-learn')}, Python {sys.version.split()[0]}"
    Path("carve_numbers.csv").write_text(header + "\n" + pd.concat(rows).to_csv(index=False, float_format="%.10g"))


if __name__ == "__main__":
    main()
