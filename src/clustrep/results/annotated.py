"""An analysis as annotations of the cells that it is about: columns of an AnnData's obs, and tables in its uns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.checks import check_name
from clustrep.errors import DataError, ParameterError
from clustrep.results.cluster_tree import EVERYTHING, ClusterTree
from clustrep.text import listing, nearest
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from clustrep.results.analysis import Analysis

HOLDS = "holds"


def annotate(adata: Any, analysis: Analysis, study_key: str, key: str) -> Any:
    """Write an analysis into an AnnData: see `Analysis.to_anndata`."""
    if not all(hasattr(adata, name) for name in ("obs", "obsm", "uns", "obs_names")):
        raise ParameterError(f"adata must be an AnnData, got {type(adata).__name__}.", parameter="adata")
    check_name(key, "key")
    rows = rows_of_studies(adata, analysis, study_key)
    n_cells = len(adata.obs_names)
    clusters, words = np.full((2, n_cells), None, dtype=object)
    scores = {name: np.full(n_cells, np.nan) for name in analysis.names}
    verdicts = verdict_of_clusters(analysis)
    for name, of_study in rows.items():
        names = analysis.clusters_of(name)
        if names is None:  # its clusters were not followed
            continue
        clusters[of_study] = names
        words[of_study] = [verdicts.get((name, cluster)) for cluster in names]
    for local in analysis.local:
        scores[local.test][rows[local.train]] = local.mean
    table = pd.DataFrame(scores, index=adata.obs_names)
    adata.obs[f"{key}_cluster"] = _categories(clusters)
    adata.obs[f"{key}_local"] = _mean(table.to_numpy())
    adata.obs[f"{key}_verdict"] = _categories(words)
    adata.obs[f"{key}_separation"] = _categories(groups_of_cells(analysis, rows, n_cells))
    if analysis.tree is not None:
        adata.obs[f"{key}_subcluster"] = _categories(subclusters_of_cells(analysis.tree, rows, n_cells))
    adata.obsm[f"{key}_local"] = table
    for column in ("cluster", "separation", *(["subcluster"] if analysis.tree is not None else [])):
        n_colours = len(adata.obs[f"{key}_{column}"].cat.categories)
        adata.uns[f"{key}_{column}_colors"] = colours(n_colours)
    adata.uns[key] = {
        "headline": " ".join(said.text for said in analysis.headline),
        "degree": analysis.degree or "",
        "focus": "" if analysis.focus is None else analysis.focus.label,
        "seed": str(analysis.provenance.seed),
        "study_key": study_key,
        **{name: plain_table(getattr(analysis, name)()) for name in ("summary", "scores", "clusters", "presence")},
    }
    return adata


def rows_of_studies(adata: Any, analysis: Analysis, study_key: str) -> dict[str, IntArray]:
    """Return which cells belong to every study, in their order, after they were compared with the analysis."""
    columns = [str(column) for column in adata.obs.columns]
    if study_key not in columns:
        raise ParameterError(
            f"study_key must be a column of obs, got {study_key!r}; there are {listing(columns, 20)}."
            f"{nearest(study_key, columns)}",
            parameter="study_key",
        )
    values = adata.obs[study_key].astype(str).to_numpy()
    rows: dict[str, IntArray] = {name: np.flatnonzero(values == name) for name in analysis.names}
    for name, of_study in rows.items():
        n_samples = analysis.provenance.studies[name].samples
        if len(of_study) != n_samples:
            raise DataError(
                f"The AnnData has {len(of_study):,} cells of study {name!r} by {study_key!r}, the analysis "
                f"{n_samples:,}: pass the AnnData that was analysed."
            )
    for local in analysis.local:
        numbered = tuple(str(i + 1) for i in range(len(local.samples)))
        names = tuple(str(adata.obs_names[i]) for i in rows[local.train])
        if local.samples not in (numbered, names):
            raise DataError(
                f"The AnnData has other cells of study {local.train!r}, or in another order, than the analysis: "
                "pass the AnnData that was analysed."
            )
    return rows


def verdict_of_clusters(analysis: Analysis) -> dict[tuple[str, str], str]:
    """Say of every cluster, by study and name, in how many of the other studies it holds; or why that is not known."""
    table = analysis.clusters()
    result = {}
    for (train, cluster), rows in table.groupby(["train", "cluster"], sort=False):
        verdicts = rows["verdict"].tolist()
        n_holding = sum(verdict == HOLDS for verdict in verdicts)
        same = len(set(verdicts)) == 1 and not n_holding
        result[str(train), str(cluster)] = verdicts[0] if same else f"{HOLDS} in {n_holding} of {len(verdicts)}"
    return result


def groups_of_cells(analysis: Analysis, rows: dict[str, IntArray], n_cells: int) -> NDArray[np.object_]:
    """Return the separated group of every cell, as text; None where there are no separated groups, or for noise."""
    groups = np.full(n_cells, None, dtype=object)
    separation = analysis.verdict.separation
    if separation is None:
        return groups
    in_order = np.concatenate([rows[name] for name in separation.names])
    groups[in_order] = [str(group) if group >= 0 else None for group in separation.labels.tolist()]
    return groups


def subclusters_of_cells(tree: ClusterTree, rows: dict[str, IntArray], n_cells: int) -> NDArray[np.object_]:
    """Return the smallest cluster that every cell is in; None for a cell that no split has placed."""
    names = np.full(n_cells, None, dtype=object)
    for study in tree.names:
        names[rows[study]] = [None if name == EVERYTHING else name for name in tree.labels_of(study)]
    return names


def colours(n: int) -> list[str]:
    """Return one colour for every category, as scanpy expects them."""
    from clustrep.figures.style import COLOURS

    return [COLOURS[i % len(COLOURS)] for i in range(n)]


def plain_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table in types that an h5ad file keeps: numbers, nullable numbers and flags, and text."""
    plain = frame.copy()
    plain.index = plain.index.astype(str)
    for column in plain.select_dtypes(object).columns:
        values = plain[column]
        if values.dropna().map(lambda value: isinstance(value, bool | np.bool_)).all() and values.notna().any():
            plain[column] = values.astype("boolean")
        else:
            plain[column] = values.where(values.notna(), "").astype(str)
    return plain


def _categories(values: Any) -> pd.Categorical:
    known = list(dict.fromkeys(value for value in values.tolist() if value is not None))
    return pd.Categorical(values, categories=sorted(known, key=_by_number))


def _by_number(name: str) -> tuple[float, str]:
    """Order names that begin with a number by it."""
    first = name.split(" ")[0]
    return (float(first) if first.isdigit() else np.inf), name


def _mean(scores: FloatArray) -> FloatArray:
    """Return the mean over studies, NaN where a cell has no score at all."""
    n_known = np.isfinite(scores).sum(axis=1)
    return np.asarray(np.where(n_known > 0, np.nansum(scores, axis=1) / np.maximum(n_known, 1), np.nan))
