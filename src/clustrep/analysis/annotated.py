"""An analysis as annotations of the cells that it is about: columns of an AnnData's obs, and tables in its uns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clustrep.checks import check_flag, check_name
from clustrep.errors import DataError, ParameterError
from clustrep.findings.cluster_tree import EVERYTHING, ClusterTree
from clustrep.findings.result import STATUSES
from clustrep.text import listing, nearest
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from clustrep.analysis.result import Analysis


def annotate(adata: Any, analysis: Analysis, study_key: str | None, key: str, *, copy: bool = False) -> Any:
    """Write an analysis into an AnnData: see `Analysis.to_anndata`."""
    if not all(hasattr(adata, name) for name in ("obs", "obsm", "uns", "obs_names")):
        raise ParameterError(f"adata must be an AnnData, got {type(adata).__name__}.", parameter="adata")
    check_name(key, "key_added")
    check_flag(copy, "copy")
    study_key = study_key_of(adata, analysis) if study_key is None else study_key
    rows = rows_of_studies(adata, analysis, study_key)
    if copy:
        adata = adata.copy()
    n_cells = len(adata.obs_names)
    clusters, statuses = np.full((2, n_cells), None, dtype=object)
    scores = {name: np.full(n_cells, np.nan) for name in analysis.names}
    findings = analysis.findings
    for s, (name, of_study) in enumerate(rows.items()):
        letters = findings.labels[name]
        status = dict(zip(findings.letters, findings.status[:, s].tolist(), strict=True))
        clusters[of_study] = [letter if letter in status else None for letter in letters.tolist()]
        statuses[of_study] = [status.get(letter) for letter in letters.tolist()]
    for local in analysis.local:
        scores[local.test][rows[local.train]] = local.mean
    table = pd.DataFrame(scores, index=adata.obs_names)
    adata.obs[f"{key}_cluster"] = pd.Categorical(clusters, categories=list(findings.letters))
    adata.obs[f"{key}_status"] = pd.Categorical(statuses, categories=[s for s in STATUSES if s in set(statuses)])
    adata.obs[f"{key}_local"] = _mean(table.to_numpy())
    adata.obsm[f"{key}_local"] = table
    coloured = ["cluster"]
    if analysis.tree is not None:
        adata.obs[f"{key}_subcluster"] = _subclusters(analysis.tree, rows, n_cells)
        coloured.append("subcluster")
    for column in coloured:
        adata.uns[f"{key}_{column}_colors"] = colours(len(adata.obs[f"{key}_{column}"].cat.categories))
    adata.uns[key] = {
        "headline": " ".join(said.text for said in analysis.headline),
        "verdict": findings.verdict,
        "focus": "" if analysis.focus is None else analysis.focus.label,
        "seed": str(analysis.provenance.seed),
        "study_key": study_key,
        "findings": plain_table(findings.table()),
        "clusters": plain_table(findings.clusters()),
        "studies": plain_table(findings.studies()),
        "summary": plain_table(analysis.summary()),
        "scores": plain_table(analysis.scores()),
    }
    return adata


def study_key_of(adata: Any, analysis: Analysis) -> str:
    """Return the only column of obs that has every study as often as the analysis."""
    sizes = dict(zip(analysis.names, analysis.findings.sizes.tolist(), strict=True))
    fitting = [
        str(column)
        for column in adata.obs.columns
        if adata.obs[column].astype(str).value_counts().reindex(list(sizes), fill_value=0).to_dict() == sizes
    ]
    if len(fitting) != 1:
        which = f"{listing(fitting, 20)} all do" if fitting else "none does"
        raise ParameterError(
            f"study_key must be given where not exactly one column of obs names the studies of the analysis: {which}.",
            parameter="study_key",
        )
    return fitting[0]


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
        n_samples = int(analysis.findings.sizes[analysis.names.index(name)])
        if len(of_study) != n_samples:
            raise DataError(
                f"The AnnData has {len(of_study):,} cells of study {name!r} by {study_key!r}, the analysis "
                f"{n_samples:,}: pass the AnnData that was analysed."
            )
        start = int(analysis.findings.sizes[: analysis.names.index(name)].sum())
        samples = analysis.findings.samples[start : start + n_samples].tolist()
        if samples not in ([str(i + 1) for i in range(n_samples)], [str(adata.obs_names[i]) for i in of_study]):
            raise DataError(
                f"The AnnData has other cells of study {name!r}, or in another order, than the analysis: "
                "pass the AnnData that was analysed."
            )
    return rows


def _subclusters(tree: ClusterTree, rows: dict[str, IntArray], n_cells: int) -> pd.Categorical:
    """Return the smallest cluster that every cell is in; missing for a cell of a study that cannot be matched."""
    names = np.full(n_cells, None, dtype=object)
    for study in tree.names:
        names[rows[study]] = [None if name == EVERYTHING else name for name in tree.labels_of(study)]
    seen = set(names.tolist())
    return pd.Categorical(names, categories=[name for name in tree.clusters if name in seen])


def colours(n: int) -> list[str]:
    """Return one colour for every category, as scanpy expects them."""
    from clustrep.plots.canvas import COLOURS

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


def _mean(scores: FloatArray) -> FloatArray:
    """Return the mean over studies, NaN where a cell has no score at all."""
    n_known = np.isfinite(scores).sum(axis=1)
    return np.asarray(np.where(n_known > 0, np.nansum(scores, axis=1) / np.maximum(n_known, 1), np.nan))
