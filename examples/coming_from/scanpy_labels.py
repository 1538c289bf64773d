"""Write scanpy_labels.csv, scanpy's communities in peer_points.csv: python scanpy_labels.py, in this folder.

Needs ``pip install scanpy igraph`` in an environment of its own.
"""

from __future__ import annotations

import warnings
from importlib.metadata import version
from pathlib import Path

import anndata
import pandas as pd
import scanpy as sc

RESOLUTIONS = (0.25, 0.5, 1.0)


def main() -> None:
    warnings.filterwarnings("ignore")
    points = pd.read_csv("peer_points.csv")
    columns = {}
    for collection, part in points[points["study"] == "alpha"].groupby("collection", sort=False):
        adata = anndata.AnnData(part.filter(regex="^x").to_numpy())
        sc.pp.neighbors(adata, n_neighbors=15, use_rep="X", random_state=0)
        for resolution in RESOLUTIONS:
            sc.tl.leiden(adata, resolution=resolution, flavor="igraph", n_iterations=-1, random_state=0)
            columns[f"{collection}, {resolution}"] = adata.obs["leiden"].to_numpy()
    header = f"# scanpy {version('scanpy')}, igraph {version('igraph')}"
    Path("scanpy_labels.csv").write_text(f"{header}\n{pd.DataFrame(columns).to_csv(index=False)}")


if __name__ == "__main__":
    main()
