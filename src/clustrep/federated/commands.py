"""Commands for studies that may not leave their site: `key`, `agree`, `learn`, `score`, `combine` and `show`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clustrep.cli import options
from clustrep.cli.clusterer_names import DEFAULT_CLUSTERERS, clusterers_of, needing_k
from clustrep.cli.console import BAD_DATA, USAGE, Failure, write_data, write_message
from clustrep.cli.input_files import read_studies
from clustrep.cli.options import FilesOption
from clustrep.cli.output import RESULT, Output, claim_folder, write_output
from clustrep.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd

    from clustrep import Study
    from clustrep.federated.files import SiteFile

# ---------------------------------------------------------------------------------------------------------------------
# before anything leaves


@click.command(short_help="Make the key with which a site signs its files.")
@click.argument("file", type=options.FILE, metavar="FILE")
def key(file: Path) -> None:
    """Make the key with which a site signs its files, and print the public key for the other sites.

    The file stays at the site, and only its owner can read it.

    \b
    Example:
      clustrep key mainz.key
    """
    from clustrep.federated import make_key

    write_data(make_key(file))


@click.command(short_help="Write down what federated sites agree on.")
@click.option(
    "--site", "sites", multiple=True, metavar="NAME=KEY", help="A study and its site's public key. Repeat it."
)
@click.option("--feature", "features", multiple=True, metavar="NAME", help="A column. Repeat it, in their order.")
@options.numbers_of_clusters("3")
@options.clusterer
@options.resamples()
@options.agreement
@options.choice("--scale", ["none", "study"], "How each site scales its own samples.")
@click.option("--unit", "units", multiple=True, metavar="FEATURE=UNIT", help="Declare a unit. Repeat it.")
@click.option("--out", type=options.FILE, metavar="FILE", default="study.session", help="The file to write.")
@click.option("--force", is_flag=True, help="Replace that file.")
@options.seed
@options.configuration
@options.quiet
def agree(**settings: Any) -> None:
    """Write down what federated sites agree on: the question, their public keys, and a nonce.

    Send the file to all sites. Files of another session are refused.

    \b
    Example:
      clustrep agree --site mainz=KEY --site vdx=KEY --feature age --feature er --k 3 --out study.session
    """
    settings["clusterer"] = settings["clusterer"] or DEFAULT_CLUSTERERS[:1]
    clusterers = clusterers_of(settings["clusterer"])
    needing_k(clusterers)
    if settings["out"].exists() and not settings["force"]:
        raise Failure(f"{settings['out']} exists already: name another file, or replace it with --force.", USAGE)
    from clustrep.federated import Session

    session = Session.agree(
        clusterers,
        features=settings["features"],
        sites=pairs_of(settings["sites"], "site", "NAME=KEY, such as mainz=0f3a…"),
        agreement=settings["agreement"],
        scale=settings["scale"],
        units=pairs_of(settings["units"], "unit", "FEATURE=UNIT, such as creatinine=mg/dl"),
        **{name: settings[name] for name in ("n_clusters", "n_resamples", "rng")},
    )
    session.save(settings["out"])
    if not settings["quiet"]:
        write_data(repr(session))


def pairs_of(texts: tuple[str, ...], name: str, example: str) -> dict[str, str]:
    """Read options such as FEATURE=UNIT."""
    pairs = {}
    for text in texts:
        first, equals, second = text.rpartition("=")
        if not equals or not first or not second:
            raise ParameterError(f"--{name} {text}: write {example}.", parameter=f"{name}s")
        pairs[first] = second
    return pairs


# ---------------------------------------------------------------------------------------------------------------------
# at one site

_site = options.several(
    click.argument("study", metavar="STUDY", type=options.FILE),
    click.option("--name", metavar="NAME", help="The study's name; by default that of the file."),
    click.option("--session", type=options.FILE, metavar="FILE", required=True, help="What all sites agreed on."),
    click.option("--policy", type=options.FILE, metavar="FILE", required=True, help="What may leave this site."),
    click.option("--key", type=options.FILE, metavar="FILE", required=True, help="The key of this site."),
    click.option(
        "--trust-partners",
        is_flag=True,
        help="Confirm that partners trust each other: a partner who tries can learn about patients. Required.",
    ),
    click.option("--yes", is_flag=True, help="Release without being asked."),
    click.option("--out", type=options.FILE, metavar="FILE", help="The file to write."),
    click.option("--force", is_flag=True, help="Replace that file."),
)


@click.command(short_help="At one site: clustering functions for other sites to score.")
@_site
@options.reading
@options.jobs
@options.engine
@options.configuration
@options.quiet
def learn(**settings: Any) -> None:
    """Learn clustering functions at one site, and release what its policy allows.

    The files of learn and score are for partners who trust each other: a partner who tries can tell, more often
    than by chance, that a person whose record is known takes part or that a patient is far from all others, and
    computes roughly the last patient of a cluster whose others are known.

    Rounded means and sizes of clusters are released, if all that was ever released about the study tells of groups of
    at least 10 patients.
    docs/federated.md has the rules, the attacks that were tried, and what is not prevented.

    \b
    Example:
      clustrep learn mainz.csv --session study.session --policy mainz.toml --key mainz.key --trust-partners
    """
    from clustrep.federated import learn as learn_functions

    _release(settings, ".functions", lambda here, **site: learn_functions(here, **site))


@click.command(short_help="At one site: score the functions of other sites.")
@_site
@click.option("--functions", cls=FilesOption, metavar="FILE…", type=options.FILE, help="Functions of other sites.")
@options.reading
@options.jobs
@options.engine
@options.configuration
@options.quiet
def score(**settings: Any) -> None:
    """Score the clustering functions of other sites on this site's study, and release what its policy allows.

    The files of learn and score are for partners who trust each other: a partner who tries can tell, more often
    than by chance, that a person whose record is known takes part or that a patient is far from all others, and
    computes roughly the last patient of a cluster whose others are known.

    Per function three numbers in steps of 0.05 are released, or none where a cluster has few patients here. The policy
    limits how many functions are ever scored.
    docs/federated.md has the rules, the attacks that were tried, and what is not prevented.

    Name the study before --functions.

    \b
    Example:
      clustrep score vdx.csv --session a.session --policy vdx.toml --key v.key --functions b.functions --trust-partners
    """
    if not settings["functions"]:
        raise click.UsageError("name the functions of other sites with --functions.")
    from clustrep.federated import score as score_functions

    _release(settings, ".scores", lambda here, **site: score_functions(here, settings["functions"], **site))


def _release(settings: dict[str, Any], ending: str, compute: Callable[..., SiteFile]) -> None:
    """Compute a file, ask whether it may leave, and write it."""
    here = read_study(settings)
    target = checked_target(settings, here, ending)
    with options.configured(settings):
        file = compute(
            here,
            approve=None if settings["yes"] else _asked,
            **{name: settings[name] for name in ("session", "policy", "key", "trust_partners", "n_jobs")},
        )
    file.save(target)
    if not settings["quiet"]:
        if settings["yes"]:
            write_data(repr(file))
        write_message(f"Wrote {target}.")


def _asked(summary: str) -> bool:
    """Show what is to leave, and ask."""
    click.echo(summary, err=True)
    return click.confirm("Release it?", err=True)


def read_study(settings: dict[str, Any]) -> Study:
    """Read the one study of a site, under the name that it has in the session."""
    from clustrep.federated import Policy

    patient = Policy.read(settings["policy"]).patient or None
    studies = read_studies({**settings, "studies": (settings["study"],), "groups": patient})
    if len(studies) > 1:
        raise click.UsageError(
            f"{settings['study']} holds {len(studies)} studies, and a site has one: name the file of one study, or "
            "leave --study-key out."
        )
    (here,) = studies.values()
    return here if settings["name"] is None else here.renamed(settings["name"])


def checked_target(settings: dict[str, Any], here: Study, ending: str) -> Path:
    """Return the file to write, checked before the work begins."""
    from clustrep.cli.output import file_name

    target = settings["out"] or Path(file_name(here.name) + ending)
    if target.is_dir():
        raise Failure(f"{target} is a folder: name a file with --out.", USAGE)
    if target.exists() and not settings["force"]:
        raise Failure(f"{target} exists already: name another file with --out, or replace it with --force.", USAGE)
    if not target.absolute().parent.is_dir():
        raise Failure(
            f"There is no folder {target.absolute().parent} to write {target.name} into: make it first.", BAD_DATA
        )
    return Path(target)


# ---------------------------------------------------------------------------------------------------------------------
# without tables


@click.command(short_help="Put functions and scores of all sites together.")
@click.argument("files", nargs=-1, metavar="FILE…", type=options.FILE)
@click.option("--session", type=options.FILE, metavar="FILE", required=True, help="What all sites agreed on.")
@options.results_in("clustrep-combined")
@options.configuration
@options.json_option
@options.quiet
@click.pass_context
def combine(ctx: click.Context, /, **settings: Any) -> None:
    """Put functions and scores of all sites together: tables and the page, which name no samples.

    Signatures of all files are verified; files of another session are refused.

    \b
    Example:
      clustrep combine mainz.functions vdx.functions mainz.scores vdx.scores --session study.session --out together
    """
    if not settings["files"]:
        raise click.UsageError("name the files of functions and of scores, one of each of every site.")
    claim_folder(ctx, settings)
    from clustrep import Report
    from clustrep.federated import combine as combine_files

    combined = combine_files(settings["files"], settings["session"])
    tables: dict[str, Callable[[], pd.DataFrame]] = {
        "choice.csv": combined.scores.summary,
        "scores.csv": combined.scores.to_frame,
        "findings.csv": combined.clusters.to_frame,
    }
    drawings: dict[str, Any] = {}
    if (comparison := combined.comparison) is not None:
        tables["scores.csv"] = comparison.to_frame
        for agreement in comparison.agreements:
            drawings[f"curves-{agreement}"] = partial(comparison.plot, agreement=agreement)
    withheld = "".join(f"{line}\n" for line in combined.withheld)
    output = Output(
        Report(combined, warnings=ctx.obj),
        {RESULT: combined},
        tables,
        drawings,
        studies={},
        others={"withheld.txt": lambda path: path.write_bytes(withheld.encode())},
    )
    write_output(ctx, settings, output)


@click.command(short_help="What a file of functions or scores holds.")
@click.argument("file", type=options.FILE, metavar="FILE")
@options.configuration
def show(file: Path, **_: Any) -> None:
    """Say what a file holds, for the person who must approve it. The signature is verified by score and combine.

    \b
    Example:
      clustrep show mainz.functions
    """
    from clustrep.federated.reading import read_file

    write_data(repr(read_file(file)))
