"""Clusterers that scikit-learn does not have, with its interface."""

from clustrep.clustering.communities import Leiden, Louvain

__all__ = ["Leiden", "Louvain"]
