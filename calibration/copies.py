"""What copies of a cell in a bootstrap draw do to Leiden, and what prevents it.

A draw with replacement has about 37 % copies. Three ways to make the graph of such a draw are compared with fresh
studies: copies as points of their own, each different cell once, and each different cell once with edges that count as
often as both cells were drawn. Prints the table of docs/single-cells.md: `python -m calibration.copies`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import clustrep as cr
from clustrep.fitting.communities import Leiden, NeighbourGraph, distinct_rows, neighbour_graph
from clustrep.fitting.neighbours import neighbours

N_CELLS, N_FEATURES, N_TYPES, N_STUDIES, N_NEIGHBOURS = 600, 10, 6, 10, 15
RESOLUTIONS = (0.1, 0.5, 1.0, 2.0)
WAYS = ("fresh study", "fresh study of 63 %", "copies are cells", "each cell once", "once, edges weighted")


def study(rng: np.random.Generator, n: int = N_CELLS) -> tuple[np.ndarray, np.ndarray]:
    """Draw cells of six types, of which the rarest has 4 %."""
    centres = 4.5 * np.random.default_rng(0).normal(size=(N_TYPES, N_FEATURES)) / N_FEATURES**0.5
    shares = np.array([0.3, 0.24, 0.2, 0.14, 0.08, 0.04])
    types = rng.choice(N_TYPES, size=n, p=shares)
    return centres[types] + 0.6 * rng.normal(size=(n, N_FEATURES)), types


def graph_of(X: np.ndarray, way: str) -> tuple[NeighbourGraph, np.ndarray]:
    """Return the graph of the rows, and which of its points each row is."""
    if way == "copies are cells":
        return NeighbourGraph.of(neighbours(X, N_NEIGHBOURS)), np.arange(len(X))
    points, inverse = distinct_rows(X)
    graph = neighbour_graph(points, N_NEIGHBOURS, "euclidean")
    if way == "once, edges weighted":
        weights = np.bincount(inverse)[graph.edges].prod(axis=1)
        graph = replace(graph, weights=graph.weights * weights)
    return graph, inverse


def outcomes(way: str, number: int) -> list[tuple[int, float]]:
    """Return the number of clusters and the agreement with the types at every resolution."""
    rng = np.random.default_rng([1, number])
    X, types = study(rng, round(0.632 * N_CELLS) if way.endswith("63 %") else N_CELLS)
    if not way.startswith("fresh"):
        drawn = rng.integers(N_CELLS, size=N_CELLS)
        X, types = X[drawn], types[drawn]
    graph, place = graph_of(X, way)
    found = []
    for resolution in RESOLUTIONS:
        codes = Leiden(resolution, random_state=number).communities(graph)[place]
        found.append((int(codes.max()) + 1, cr.agreement.adjusted_rand_index(codes, types)))
    return found


def main() -> None:
    print("| | " + " | ".join(f"resolution {resolution}" for resolution in RESOLUTIONS) + " |")
    print("|---" * (1 + len(RESOLUTIONS)) + "|")
    for way in WAYS:
        means = np.mean([outcomes(way, number) for number in range(N_STUDIES)], axis=0)
        print(f"| {way} | " + " | ".join(f"{count:.1f} clusters, ARI {ari:.2f}" for count, ari in means) + " |")


if __name__ == "__main__":
    main()
