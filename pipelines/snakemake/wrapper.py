"""Snakemake wrapper: `clustrep run` on the studies of a rule, into the folder that the rule promises."""

__license__ = "BSD-3-Clause"

from snakemake.shell import shell

studies = snakemake.input.get("studies", snakemake.input)  # noqa: F821 - Snakemake sets the name
numbers = snakemake.params.get("k", "")  # noqa: F821
k = f"--k {numbers}" if numbers else ""
extra = snakemake.params.get("extra", "")  # noqa: F821
log = snakemake.log_fmt_shell(stdout=True, stderr=True)  # noqa: F821

shell(
    "clustrep run {studies:q} {k} --jobs {snakemake.threads} --out {snakemake.output[0]:q} --force --quiet {extra}"
    " {log}"
)
