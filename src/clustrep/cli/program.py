"""The program: a group of commands."""

from __future__ import annotations

import click

from clustrep import __version__
from clustrep.cli.analysis_commands import demo, local, merge, run
from clustrep.cli.console import Commands
from clustrep.cli.file_commands import inspect, report
from clustrep.cli.gap_commands import gaps
from clustrep.cli.joint_commands import combine, show
from clustrep.cli.one_study_commands import stability, test
from clustrep.cli.site_commands import learn, score


@click.group(
    cls=Commands,
    commands=[run, merge, demo, local, gaps, stability, test, report, inspect, learn, score, combine, show],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Try it: clustrep demo",
)
@click.version_option(__version__, prog_name="clustrep", message="%(prog)s %(version)s")
def clustrep() -> None:
    """Tell which clusters hold up when someone else repeats the study."""
