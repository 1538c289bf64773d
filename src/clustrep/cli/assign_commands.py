"""`clustrep assign`: to which clusters of an earlier run new samples belong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clustrep.cli import options
from clustrep.cli.console import BAD_DATA, Failure, write_data, write_message
from clustrep.cli.input_files import read_unscaled
from clustrep.cli.output import CLUSTERS, RESULT
from clustrep.text import plural

if TYPE_CHECKING:
    import pandas as pd

    from clustrep.results import Reference

# Where more than half of the samples are of no cluster, a wrong unit is more likely than other clusters.
MOST = 0.5


@click.command(short_help="To which clusters of an earlier run new samples belong.")
@click.argument("study", metavar="NEW", type=options.FILE)
@click.option("--to", type=options.FILE, metavar="DIR", required=True, help="What a run wrote, or its clusters.npz.")
@click.option("--like", metavar="STUDY", help="The study of the run as which the new samples were measured.")
@click.option(
    "--confidence",
    "confidence_level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="P",
    default=0.95,
    help="The share of samples whose set is to hold their cluster.",
)
@options.reading_new
@click.option("--out", type=options.FILE, metavar="FILE", help="The file to write; stdout without it, or with -.")
@click.option("--json", is_flag=True, help="Write the shift and the samples as JSON instead of CSV.")
@options.configuration
def assign(**settings: Any) -> None:
    """Say to which clusters of an earlier run new samples belong, or that they belong to none of these.

    NEW has the features of the run, in the same units, and two samples at least. The table goes to stdout or to --out,
    the number of samples in each cluster to stderr.

    \b
    Example:
      clustrep assign new.csv --to breast --out assigned.csv
    """
    reference = read_reference(settings["to"])
    studies = read_unscaled({**settings, "studies": (settings["study"],), "features": None})
    if len(studies) > 1:
        raise click.UsageError(
            f"{settings['study']} holds {plural(len(studies), 'study')}: name the file of one study."
        )
    (new,) = studies.values()
    frame = reference.assign(new, confidence_level=settings["confidence_level"], like=settings["like"])
    write_message(summary_of(frame, settings["like"]))
    write_table(frame, settings["out"], as_json=settings["json"])


def read_reference(path: Path) -> Reference:
    """Load the clusters of a run from its folder, or from a file."""
    from clustrep import load
    from clustrep.results import Analysis, Reference

    file = path / CLUSTERS if path.is_dir() else path
    if path.is_dir() and not file.exists():
        if not (path / RESULT).exists():
            raise Failure(f"{path} holds no {CLUSTERS}: name the folder that `clustrep run` wrote.", BAD_DATA)
        result = load(path / RESULT)
        if not isinstance(result, Analysis) or result.findings.reference is not None:
            raise Failure(f"{path} holds no {CLUSTERS} any more, or never did: run `clustrep run` again.", BAD_DATA)
        raise Failure(
            f"{path} holds no {CLUSTERS}, because the verdict {result.findings.verdict!r} has no clusters to assign "
            "samples to: name the folder of another run.",
            BAD_DATA,
        )
    reference = load(file)
    if not isinstance(reference, Reference):
        raise Failure(f"{file} holds no clusters: name the folder that `clustrep run` wrote.", BAD_DATA)
    return reference


def summary_of(frame: pd.DataFrame, like: str | None) -> str:
    """Say how many samples each cluster has, and how the new study lies."""
    from clustrep.findings.assign import NONE

    counts = frame["cluster"].value_counts().sort_index()
    sizes = "; ".join(f"{name}: {count:,}" for name, count in counts.items())
    if like is not None:
        shift = f"They are taken as measured like {like}."
    elif frame.attrs["shift"] == 0 and frame.attrs["scale"] == 1:
        shift = "No shift is corrected: there is none, or too few samples or clusters show one."
    else:
        shift = (
            f"As a whole they are shifted by {frame.attrs['shift']:.1f} sd within clusters, with scale "
            f"{frame.attrs['scale']:.2f}; both are corrected."
        )
    is_doubtful = frame["cluster"].eq(NONE).mean() > MOST
    doubt = " Check that they are measured in the units of the run, and normalised as there." if is_doubtful else ""
    return f"{plural(len(frame), 'sample')}: {sizes}. {shift}{doubt}"


def write_table(frame: pd.DataFrame, target: Path | None, *, as_json: bool) -> None:
    """Write the samples to a file, or to stdout."""
    import json

    from clustrep.files.saved import csv_text, written_whole

    text = csv_text(frame)
    if as_json:
        rows = frame.reset_index().to_dict("records")
        text = json.dumps({**frame.attrs, "samples": rows}, ensure_ascii=False, indent=2) + "\n"
    if target is None or str(target) == "-":
        write_data(text.removesuffix("\n"))
        return
    with written_whole(target) as stream:
        stream.write(text.encode())
    write_message(f"Wrote {target}.")
