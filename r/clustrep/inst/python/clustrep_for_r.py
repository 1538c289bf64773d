"""What the R package calls: tables travel as bytes of doubles and lists of text, so that no digit changes."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import clustrep
from clustrep.cli.clusterer_names import in_pipelines, ranged_clusterers_of
from clustrep.errors import ClustrepError, ClustrepWarning, ParameterError
from clustrep.fitting.parameters import n_clusters_parameter, with_n_clusters
from clustrep.resampling import Bootstrap, Subsample

RESAMPLING = {"default": None, "bootstrap": Bootstrap(), "subsample": Subsample(0.8)}
RESULT = "result.npz"


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call a function of this module; errors and warnings of clustrep come back as text, to be those of R."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ClustrepWarning)
        try:
            value, error = globals()[name](**arguments), None
        except ClustrepError as raised:
            value, error = None, [str(raised), getattr(raised, "parameter", None) or ""]
    said = [str(each.message) for each in caught if issubclass(each.category, ClustrepWarning)]
    return {"value": value, "error": error, "warnings": said}


def version() -> str:
    """Return the version of the Python package."""
    return clustrep.__version__


def analyse(
    studies: dict[str, Any],
    clusterers: Sequence[str],
    n_clusters: Sequence[int],
    options: dict[str, Any],
    **arguments: Any,
) -> dict[str, Any]:
    """Run the whole analysis, and return it in tables."""
    made, param_grid = ranged_clusterers_of(tuple(clusterers), {})
    numbers = n_clusters if n_clusters and any(n_clusters_parameter(clusterer) for clusterer in made.values()) else None
    analysis = clustrep.analyse(
        in_pipelines(made, options["impute"], None),
        studies_of(**studies),
        n_clusters=numbers,
        param_grid=param_grid or None,
        options=clustrep.RunOptions(resampling=RESAMPLING[options["resampling"]], recursive=options["recursive"]),
        **arguments,
    )
    findings = analysis.findings
    tables = {
        "findings": findings.table(),
        "clusters": findings.clusters(),
        "studies": findings.studies(),
        "features": findings.features(),
        "labels": analysis.labels(),
        "summary": analysis.summary(),
        "scores": analysis.scores(),
        "samples": analysis.samples(),
        "coordinates": analysis.labels().assign(x=analysis.coordinates[:, 0], y=analysis.coordinates[:, 1]),
    }
    return {
        "verdict": analysis.verdict,
        "n_clusters": analysis.n_clusters,
        "headline": [said.text for said in analysis.headline],
        "seed": str(analysis.provenance.seed),
        "tables": {name: to_columns(table) for name, table in tables.items()},
        "saved": saved(analysis),
    }


def replicability(
    studies: dict[str, Any],
    clusterer: str,
    n_clusters: int | None,
    resampling: str,
    impute: str | None,
    known: bool,
    **arguments: Any,
) -> dict[str, Any]:
    """Score all pairs of studies, and return the scores of all resamples."""
    made, grid = (None, {}) if known else ranged_clusterers_of((clusterer,), {})
    learner = None if made is None else next(iter(made.values()))
    if grid:
        raise ParameterError(f"clusterer must not have a range here, got {clusterer!r}.", parameter="clusterer")
    if n_clusters is not None and learner is not None and n_clusters_parameter(learner):
        learner = with_n_clusters(learner, n_clusters)
    if learner is not None:
        (learner,) = in_pipelines({clusterer: learner}, impute, None).values()
    result = clustrep.replicability(
        learner, studies_of(**studies), labels=True if known else None, resampling=RESAMPLING[resampling], **arguments
    )
    names, (n_resamples, n_studies, _) = list(result.names), result.distribution.shape
    distribution = pd.DataFrame(
        {
            "resample": np.repeat(np.arange(1, n_resamples + 1), n_studies**2),
            "train": np.tile(np.repeat(np.array(names, dtype=object), n_studies), n_resamples),
            "test": np.tile(np.array(names, dtype=object), n_resamples * n_studies),
            "score": result.distribution.ravel(),
        }
    )
    return {
        "title": str(result).partition("\n")[0],
        "seed": str(result.provenance.seed),
        "tables": {"scores": to_columns(result.to_frame()), "distribution": to_columns(distribution)},
        "saved": saved(result),
    }


def assign(saved: bytes, studies: dict[str, Any], confidence_level: float, like: str | None) -> dict[str, Any]:
    """Say to which clusters new samples belong."""
    findings = loaded(saved).findings
    frames = []
    for name, table in tables_of(studies["tables"]).items():
        frame = findings.assign(table, confidence_level=confidence_level, like=like)
        samples = (
            table.index.astype(str) if isinstance(table, pd.DataFrame) else np.arange(1, len(table) + 1).astype(str)
        )
        frame = frame.assign(set=[" ".join(each) if not isinstance(each, str) else each for each in frame["set"]])
        frames.append(pd.DataFrame({"study": name, "sample": samples}).join(frame.reset_index(drop=True)))
    return to_columns(pd.concat(frames, ignore_index=True))


def write_report(results: Sequence[bytes], file: str) -> None:
    """Write the page about results."""
    clustrep.Report(*[loaded(result) for result in results]).write_html(file)


def studies_of(tables: Sequence[dict[str, Any]], label: str | None, scale: str | None = None) -> clustrep.Studies:
    """Make studies of tables."""
    studies = clustrep.Studies(tables_of(tables), label=label, allow_missing=True)
    return studies if scale is None else studies.scaled(scale)


def tables_of(tables: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Make a frame of every table, or an array where its columns have no names."""
    made: dict[str, Any] = {}
    for table in tables:
        numbers = np.concatenate(
            [np.frombuffer(bytes(block), dtype=float).reshape(table["n"], -1, order="F") for block in table["blocks"]],
            axis=1,
        )
        numbers[np.isnan(numbers)] = np.nan  # NA of R is a signalling NaN, at which NumPy warns
        if table["features"] is None:
            made[table["name"]] = numbers
            continue
        frame = pd.DataFrame(numbers, index=table["samples"], columns=table["features"])
        for name, values in dict(table["text"]).items():
            frame[name] = pd.Series(values, index=frame.index, dtype=object)
        made[table["name"]] = frame
    return made


def to_columns(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the columns of a table: doubles and integers as bytes, flags and text as lists."""
    columns: dict[str, Any] = {}
    for name in frame.columns:
        values = frame[name]
        known = values.notna()
        if values.map(lambda value: isinstance(value, bool | np.bool_))[known].all() and known.any():
            columns[str(name)] = ["logical", [None if pd.isna(value) else bool(value) for value in values]]
        elif pd.api.types.is_integer_dtype(values) or pd.api.types.is_float_dtype(values):
            whole = pd.api.types.is_integer_dtype(values)
            as_double = values.astype("Float64" if known.sum() < len(known) else float).to_numpy(
                dtype=float, na_value=np.nan
            )
            columns[str(name)] = ["integer" if whole else "double", bytearray(as_double.tobytes())]
        else:
            columns[str(name)] = ["character", [None if pd.isna(value) else str(value) for value in values]]
    return {"n": len(frame), "columns": columns}


def saved(result: Any) -> bytearray:
    """Return the file of a result."""
    with tempfile.TemporaryDirectory() as folder:
        result.save(Path(folder, RESULT))
        return bytearray(Path(folder, RESULT).read_bytes())


def loaded(content: bytes) -> Any:
    """Read a result from the content of its file."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, RESULT).write_bytes(bytes(content))
        return clustrep.load(Path(folder, RESULT))


def simulate_cohorts(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return simulated cohorts as tables, with their true subtypes."""
    cohorts = clustrep.datasets.simulate_cohorts(**arguments)
    return {
        name: {
            **to_columns(study.to_frame().assign(subtype=study.labels)),
            "samples": [str(sample) for sample in study.to_frame().index],
        }
        for name, study in cohorts.items()
    }
