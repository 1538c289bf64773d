"""Exact shortcuts: clusterers for which a path does better than fitting every sample by itself."""

from __future__ import annotations

from clustrep.clustering.path import Path
from clustrep.clustering.shortcuts.birch import BirchPath
from clustrep.clustering.shortcuts.dbscan import DensityPath
from clustrep.clustering.shortcuts.graphs import CommunityPath
from clustrep.clustering.shortcuts.kmeans import KMeansPath
from clustrep.clustering.shortcuts.trees import TreePath

# The first that applies to a clusterer is taken.
SHORTCUTS: tuple[type[Path], ...] = (KMeansPath, TreePath, BirchPath, DensityPath, CommunityPath)
