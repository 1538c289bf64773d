"""`clustrep …`: the command line. Importing it is quick: what is heavy is imported by the command that needs it."""

from __future__ import annotations

from clustrep.cli.commands import clustrep


def main() -> None:
    """Run the command line; the exit code says how it went."""
    clustrep(prog_name="clustrep")


__all__ = ["clustrep", "main"]
