"""What users of MetaNeighbor look for: AUROC between clusters, top hits, their matrix, and variable genes."""

from clustrep.algorithms.voting import cluster_auroc as cluster_auroc
from clustrep.algorithms.voting import plot_auroc as plot_auroc
from clustrep.algorithms.voting import symmetric_auroc as symmetric_auroc
from clustrep.algorithms.voting import top_hits as top_hits
from clustrep.algorithms.voting import variable_genes as variable_genes

__all__ = ["cluster_auroc", "plot_auroc", "symmetric_auroc", "top_hits", "variable_genes"]
