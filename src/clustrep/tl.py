"""Tools in scanpy's manner: what an AnnData is about is computed, and written into it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clustrep.analysis.analyse import analyse
from clustrep.clusterers import Leiden
from clustrep.data.studies import Studies
from clustrep.errors import ParameterError

RESOLUTIONS = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0)


def replicable_clusters(
    adata: Any,
    batch_key: str,
    clusterers: Any = None,
    *,
    resolution: float | Sequence[float] = RESOLUTIONS,
    use_rep: str | None = None,
    layer: str | None = None,
    key_added: str = "clustrep",
    copy: bool = False,
    random_state: int = 0,
    **options: Any,
) -> Any:
    """Find the clusters of cells that hold up across donors, laboratories or other batches.

    Parameters
    ----------
    adata : AnnData of shape (n_obs, n_vars)
        Cells by features.
    batch_key : str
        The column of obs that names the study of a cell.
    clusterers : clusterer or mapping of these, default=None
        As in `analyse`; by default `Leiden()` with every `resolution`.
    resolution : float or sequence of float, default=(0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
        Resolutions of Leiden, where `clusterers` is None.
    use_rep : str, default=None
        An entry of obsm, computed from all batches together; "X" for X. By default "X_pca" if it is there, else X.
    layer : str, default=None
        A layer instead.
    key_added : str, default="clustrep"
        What the names of all that is written begin with.
    copy : bool, default=False
        Whether to write into a copy, and return it.
    random_state : int, default=0
        The seed.
    **options
        Further arguments of `analyse`, such as `n_clusters`, `n_resamples` and `n_jobs`.

    Returns
    -------
    AnnData or None
        The copy if `copy`, else None: `adata` is changed. What is written is that of `Analysis.to_anndata`; scanpy's
        plots take it, as in ``sc.pl.umap(adata, color="clustrep_cluster")``.

    See Also
    --------
    analyse : The same for any studies; it returns the scores as well.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.random.default_rng(0).normal(size=(120, 2)) + 9 * (np.arange(120) % 2)[:, None]
    >>> adata = anndata.AnnData(X)
    >>> adata.obs["lab"] = ["first"] * 60 + ["second"] * 60
    >>> replicable_clusters(adata, "lab", KMeans(n_init=2), n_clusters=2, n_resamples=3, n_null=0)
    >>> adata.obs["clustrep_cluster"].value_counts().tolist()
    [60, 60]
    """
    if use_rep is not None and layer is not None:
        raise ParameterError("layer and use_rep exclude each other: pass one of them.", parameter="layer")
    rep = layer or use_rep or ("X_pca" if "X_pca" in getattr(adata, "obsm", ()) else None)
    studies = Studies.from_anndata(adata, batch_key, rep)
    if clusterers is None:
        clusterers, options = Leiden(), {"param_grid": {"resolution": np.atleast_1d(resolution).tolist()}, **options}
    analysis = analyse(clusterers, studies, rng=random_state, **options)
    written = analysis.to_anndata(adata, batch_key, key_added=key_added, copy=copy)
    return written if copy else None
