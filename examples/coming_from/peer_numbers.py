"""Write peer_numbers_python.csv, what reval and ERICA say of peer_points.csv: python peer_numbers.py, in this folder.

Needs ``pip install reval erica pandas`` in another environment; clustrep need not be there.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from erica import ERICA
from reval.best_nclust_cv import FindBestClustCV
from reval.relative_validation import RelativeValidation
from sklearn.cluster import AgglomerativeClustering
from sklearn.neighbors import KNeighborsClassifier

KS = range(2, 6)
N_SPLITS = 100
N_SUBSAMPLES = 200


def reval_rows(X: np.ndarray, collection: str) -> list[dict[str, object]]:
    """Return the misclassification over random halves, by both directions, and the k that cross-validation chooses."""
    rows = []
    rng = np.random.default_rng(0)
    splits = [np.array_split(rng.permutation(len(X)), 2) for _ in range(N_SPLITS)]
    for k in KS:
        losses = []
        for split in splits:
            for train, test in (split, split[::-1]):
                validation = RelativeValidation(KNeighborsClassifier(1), AgglomerativeClustering(k))
                _, fitted, _ = validation.train(X[train])
                losses.append(validation.test(X[test], fitted)[0])
        means = np.reshape(losses, (N_SPLITS, 2)).mean(axis=1)
        rows.append(
            {
                "program": "reval",
                "quantity": "misclassification",
                "collection": collection,
                "k": k,
                "value": means.mean(),
                "error": means.std(ddof=1) / np.sqrt(N_SPLITS),
            }
        )
    search = FindBestClustCV(KNeighborsClassifier(1), AgglomerativeClustering(), nrand=10, nclust_range=list(KS))
    _, best = search.best_nclust(X, iter_cv=20)
    rows.append({"program": "reval", "quantity": "k chosen", "collection": collection, "value": best})
    return rows


def erica_rows(X: np.ndarray, collection: str) -> list[dict[str, object]]:
    """Return TWCRI for every k, and K*."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        analysis = ERICA(
            data=X,
            k_range=list(KS),
            n_iterations=N_SUBSAMPLES,
            method="kmeans",
            random_seed=1,
            output_dir=folder,
            transpose=False,
            verbose=False,
            kmeans_n_init=10,
        )
        analysis.run()
        metrics = analysis.get_metrics()
        best = analysis.get_k_star("TWCRI")["kmeans"]
    rows: list[dict[str, object]] = [
        {
            "program": "ERICA",
            "quantity": "TWCRI",
            "collection": collection,
            "k": k,
            "value": metrics[k]["kmeans"]["TWCRI"],
        }
        for k in KS
    ]
    return [*rows, {"program": "ERICA", "quantity": "k chosen", "collection": collection, "value": best}]


def main() -> None:
    points = pd.read_csv("peer_points.csv")
    rows = []
    for collection, part in points[points["study"] == "alpha"].groupby("collection", sort=False):
        X = part.filter(regex="^x").to_numpy()
        rows += [*reval_rows(X, str(collection)), *erica_rows(X, str(collection))]
    versions = ", ".join(f"{name} {version(name)}" for name in ("reval", "erica", "scikit-learn"))
    table = pd.DataFrame(rows).to_csv(index=False, float_format="%.10g")
    Path("peer_numbers_python.csv").write_text(f"# {versions}\n{table}")


if __name__ == "__main__":
    main()
