"""The program: a group of commands, each imported when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping

import click

from clustrep import __version__
from clustrep.cli.console import Commands, heed_one_interrupt

# Where each command is defined.
MODULES = {
    "run": "clustrep.cli.analysis_commands",
    "merge": "clustrep.cli.analysis_commands",
    "demo": "clustrep.cli.analysis_commands",
    "local": "clustrep.cli.analysis_commands",
    "valleys": "clustrep.cli.analysis_commands",
    "stability": "clustrep.cli.one_study_commands",
    "test": "clustrep.cli.one_study_commands",
    "report": "clustrep.cli.file_commands",
    "inspect": "clustrep.cli.file_commands",
    "assign": "clustrep.cli.assign_commands",
    "key": "clustrep.federated.commands",
    "agree": "clustrep.federated.commands",
    "learn": "clustrep.federated.commands",
    "score": "clustrep.federated.commands",
    "combine": "clustrep.federated.commands",
    "show": "clustrep.federated.commands",
}


class Imported(Mapping[str, click.Command]):
    """Commands by name; importing all of them takes longer than `clustrep --version` should."""

    def __getitem__(self, name: str) -> click.Command:
        command: click.Command = getattr(importlib.import_module(MODULES[name]), name)
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)


@click.group(
    cls=Commands,
    commands=Imported(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110, "show_default": True},
    epilog="Try it: clustrep demo",
)
@click.version_option(__version__, prog_name="clustrep", message="%(prog)s %(version)s")
def clustrep() -> None:
    """Find which clusters hold up when someone else repeats the study."""


def main() -> None:
    """Run the command line; the exit code tells how it ended."""
    heed_one_interrupt()
    clustrep(prog_name="clustrep")
