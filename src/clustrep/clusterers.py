"""Clusterers that scikit-learn does not have, with its interface."""

from clustrep.fitting.communities import Leiden, Louvain

__all__ = ["Leiden", "Louvain"]
