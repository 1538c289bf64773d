"""`clustrep …`: the command line. Importing it is quick: each command imports what it needs when it runs.

program               the group of commands
analysis_commands     run, demo, local: several studies
gap_commands          gaps: density valleys between clusters, across studies
one_study_commands    stability, test: within each study
file_commands         report, inspect
site_commands         learn, score: at one site; joint_commands: combine, show
options               options that commands share; option_types: the values that they take
input_files           options → Studies; inspection: what can be said of files before anything is computed
config_file           options from a TOML file, and back
output                the folder of results; drawing: its figures
console               the terminal and exit codes; option_wording: the library's sentences in terms of options
standard_output       what clusterers print goes to stderr
"""

from __future__ import annotations

from clustrep.cli.program import clustrep


def main() -> None:
    """Run the command line; the exit code says how it ended."""
    clustrep(prog_name="clustrep")


__all__ = ["clustrep", "main"]
