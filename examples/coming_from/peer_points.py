"""Write peer_points.csv, the data that other programs and clustrep are compared on: python peer_points.py.

Two collections of two studies: three groups, and unimodal data that are longer in one direction.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import clustrep as cr

N_FEATURES = 6


def main() -> None:
    groups = cr.datasets.simulate_cohorts(
        n_cohorts=2, n_samples=100, n_subtypes=3, n_features=N_FEATURES, separation=5, missing={}, shifted={}, rng=1
    )
    rng = np.random.default_rng(2)
    piece = {name: rng.normal(size=(100, N_FEATURES)) * [3, *[1] * (N_FEATURES - 1)] for name in groups.names}
    frames = []
    for collection, tables in (("three groups", groups), ("unimodal", cr.Studies(piece))):
        for name, study in tables.items():
            frame = pd.DataFrame(study.X.round(3), columns=[f"x{j + 1}" for j in range(N_FEATURES)])
            frame.insert(0, "group", "all" if study.labels is None else study.labels)
            frame.insert(0, "study", name)
            frame.insert(0, "collection", collection)
            frames.append(frame)
    pd.concat(frames).to_csv("peer_points.csv", index=False)


if __name__ == "__main__":
    main()
