"""Studies, read by the options about files."""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from clustrep.checks import check_known
from clustrep.data.values import AUTO
from clustrep.errors import DataError, DataWarning, warn
from clustrep.files.folders import nearest_entries
from clustrep.text import argument, listing, plural, said_by

if TYPE_CHECKING:
    from clustrep import Studies
    from clustrep.data.comparability import Comparability

# So few of the features, and not more than this part of them, should not have more than this share of the variance.
FEWEST_FEATURES, MOST_NAMED, SMALL_PART, MOST_OF_VARIANCE = 3, 3, 0.1, 0.9


def read_studies(settings: dict[str, Any]) -> Studies:
    """Read files as studies, select features and scale them."""
    return scaled_by(settings["scale"], read_unscaled(settings))


def scaled_by(scale: str, studies: Studies) -> Studies:
    """Scale studies, unless the analysis decides how."""
    return studies if scale == AUTO else studies.scaled(scale)


def notes_on(unscaled: Studies, scale: str) -> Comparability:
    """Return problems in studies; differences between them unless scaling or alignment removes them."""
    notes = unscaled.comparability()
    return notes.without("location", "spread") if scale in ("study", AUTO) else notes


def warn_of_notes(unscaled: Studies, scale: str) -> None:
    """Warn of problems in studies before they are compared."""
    for note in notes_on(unscaled, scale).notes:
        warn(f"{note.sentence} {note.advice}", DataWarning)


def read_unscaled(settings: dict[str, Any]) -> Studies:
    """Read files as studies and select features."""
    from clustrep import Studies
    from clustrep.data.from_files import check_unscaled

    if is_gower(settings):
        check_unscaled("none" if settings["scale"] == AUTO else settings["scale"], settings["normalise"])
    if settings["normalise"] == "none" and settings["target_sum"] is not None:
        raise click.UsageError("--target-sum is for --normalise log1p.")
    read = partial(
        Studies.read,
        *settings["studies"],
        label=label_of(settings),
        transpose=settings["transpose_only"] or settings["transpose"],
        header=settings["header"],
        study_key=settings["study_key"],
        rep=settings["rep"],
        genes=settings["genes"],
        probe_map=settings["probe_map"],
        probes=settings["probes"],
        groups=settings.get("groups"),
        allow_missing=settings.get("impute") is not None,
        gower=is_gower(settings),
        categorical=settings.get("categorical", ()),
        duplicates=settings["duplicates"],
    )
    counts = {"normalise": settings["normalise"], "target_sum": settings["target_sum"]}
    may_be_coordinates = settings["rep"] not in (None, "X")  # which are no counts
    studies = read() if may_be_coordinates else read(**counts)
    if may_be_coordinates and not any(study.embedding for study in studies.values()):
        # Totals are over all features of a study: those that alignment dropped are read again.
        studies = read(**counts) if any(studies.dropped.values()) else studies.normalised(**counts)
    if settings["features"] is not None:
        studies = select_features(studies, settings["features"])
    return studies


def read_annotations(settings: dict[str, Any], studies: Studies) -> Any:
    """Read a table of annotations, or columns of obs; and compare the names of samples before anything is computed."""
    if (named := settings.get("annotations")) is None:
        if settings.get("survival") is not None:
            raise click.UsageError("--survival names columns of --annotations: name that file, too.")
        return None
    import pandas as pd

    from clustrep.data.readers import reader_of
    from clustrep.data.readers.delimited import find_delimiter
    from clustrep.data.readers.h5ad import H5AD
    from clustrep.data.readers.source import read_text
    from clustrep.findings.annotations import in_order, variables_of

    path, source = Path(named), settings["studies"][0]
    if not path.exists() and len(settings["studies"]) == 1 and reader_of(source) is H5AD:
        import anndata

        obs, columns = anndata.read_h5ad(source, backed="r").obs, [name.strip() for name in named.split(",")]
        for name in columns:
            check_known(name, "column of obs", list(obs.columns), parameter="annotations")
        table = obs[columns].rename(columns={"sample": "sample (obs)", "study": "study (obs)"})
    else:
        if not path.exists():
            raise DataError(f"There is no file {path}: name a table of annotations.{nearest_entries(path)}")
        text = read_text(path)
        try:
            delimiter = find_delimiter(text) or r"\s+"
            table = pd.read_csv(text.lines(), sep=delimiter, engine="python", converters={0: str})
        except (ValueError, pd.errors.ParserError, csv.Error) as error:  # no columns, no text, ragged lines
            raise DataError(
                f"The annotations {path} can't be read ({said_by(error)}): write a CSV table in UTF-8, whose first "
                "column names the samples."
            ) from None
        if len(table.columns) and "sample" not in table:
            table = table.rename(columns={table.columns[0]: "sample"})
    samples = [sample for study in studies.values() for sample in study.samples]
    variables_of(
        in_order(table, studies.names, [len(each) for each in studies.values()], samples), settings["survival"]
    )
    return table


def is_gower(settings: dict[str, Any]) -> bool:
    """Whether columns are numbers and categories."""
    return bool(settings.get("gower") or settings.get("categorical"))


def label_of(settings: dict[str, Any]) -> Any:
    """Return the label column, False for none, None if neither is given; the command line wins over a configuration."""
    if settings["label"] is None or not settings["no_label"]:
        return False if settings["no_label"] else settings["label"]
    ctx = click.get_current_context()
    typed = [name for name in ("label", "no_label") if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if len(typed) == 2:
        raise click.UsageError("--label and --no-label exclude each other.")
    return False if typed == ["no_label"] else settings["label"]


def select_features(studies: Studies, path: Path) -> Studies:
    """Keep the features that a file lists and all studies have."""
    wanted = listed_features(path)
    shared = set(studies.features)
    selected = [name for name in wanted if name in shared]
    if not selected:
        raise DataError(
            f"None of the {plural(len(wanted), 'feature')} that {path} lists ({listing(wanted, 3)}) is shared by the "
            f"studies, which have {listing(studies.features, 3)}: write one name on each line."
        )
    if len(selected) < len(wanted):
        lacking = [name for name in wanted if name not in shared]
        warn(f"Not in all studies: {plural(len(lacking), 'feature')} of {path} ({listing(lacking)}).", DataWarning)
    return studies.select(selected)


def listed_features(path: Path) -> list[str]:
    """Read the names in a list of features: one per line, each once, no comments."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        hint = nearest_entries(path) if isinstance(error, FileNotFoundError) else ""
        raise DataError.unreadable(f"The list of features {path}", error, hint) from None
    except UnicodeDecodeError:
        raise DataError(
            f"The list of features {path} is not text in UTF-8: save it again with that encoding."
        ) from None
    names = list(dict.fromkeys(line.strip() for line in lines if line.strip() and not line.startswith("#")))
    if not names:
        raise DataError(f"The list of features {path} is empty: write one name on each line.")
    return names


def warn_of_embedding(studies: Studies) -> None:
    """Say that an embedding of all studies together has aligned them."""
    from clustrep.fitting.resample import shared_embedding

    if name := shared_embedding(tuple(studies.values())):
        warn(
            f"The features are coordinates of one embedding of all studies together, {name}, which has aligned them "
            f"before they are compared: scores measure how well clusters repeat after that alignment. With "
            f"{argument('rep', 'X')} and {argument('embed', 'train')} an embedding is learned on each training study "
            "alone.",
            DataWarning,
        )


def warn_of_scales(studies: Studies) -> None:
    """Say that a few features alone decide which samples are near each other, where they have nearly all variance."""
    import numpy as np

    n_features = len(studies.features)
    if n_features < FEWEST_FEATURES:
        return
    variances = np.array([np.nanvar(study.X, axis=0, dtype=float) for study in studies.values()])  # (S, n_features)
    totals = variances.sum(axis=1, keepdims=True)
    shares = variances / np.where(totals > 0, totals, 1.0)
    largest = np.argsort(-shares.min(axis=0), kind="stable")
    together = shares[:, largest].cumsum(axis=1).min(axis=0)  # of the first feature, the first two, …
    n_deciding = int(np.argmax(together > MOST_OF_VARIANCE)) + 1
    if together[n_deciding - 1] <= MOST_OF_VARIANCE or n_deciding > max(1, min(MOST_NAMED, SMALL_PART * n_features)):
        return
    names = " and ".join(repr(studies.features[place]) for place in largest[:n_deciding])
    warn(
        f"At least {min(int(100 * together[n_deciding - 1]), 99)} % of the variance in every study is that of "
        f"{plural(n_deciding, 'feature')} of {n_features} ({names}), and so are distances between samples. Bring the "
        f"features to one scale with {argument('scale', 'pooled')}.",
        DataWarning,
    )
