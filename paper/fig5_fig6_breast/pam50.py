"""The PAM50 rows of figures 5, 6 and the gold-standard figure: run where the series from GEO are."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

import clustrep as cr
from clustrep import datasets
from clustrep.errors import DataError, DataWarning
from paper.common import Claim, not_run
from paper.fig5_fig6_breast import figures, global_scores, gold_standard, local, scores

BEST = "With the PAM50 genes, k = 4 has the highest replicability scores."
BASAL = "With the PAM50 genes too, the cluster of the Basal subtype has the highest local replicability."
LIKE = "Clustering functions with high replicability scores give partitions similar to the PAM50 subtypes."
WHERE = {BEST: "Fig. 5, PAM50", BASAL: "Section 5.2, PAM50", LIKE: f"{gold_standard.WHERE}, PAM50"}
ABSENT = (
    "The PAM50 expression matrices are not in the authors' repository; the series GSE11121, GSE7390, GSE2034 and "
    "GSE5327 were not there: paper/README.md says where the files belong."
)
SUBTYPES_ABSENT = (
    "The subtypes of the patients, in the authors' repository, were not there: paper/README.md says where the files "
    "belong."
)
MATCHED_AT_LEAST = 0.9


def claims(out: Path, n: int, n_draws: int, n_jobs: int) -> list[Claim]:
    """Ask for the three claims about the PAM50 genes, on the series in the folder geo of CLUSTREP_DATA."""
    folder = os.environ.get("CLUSTREP_DATA")
    geo = Path(folder) / "geo" if folder else None
    if geo is None or not geo.is_dir():
        return _none(ABSENT)
    try:
        patients = datasets.load_breast("PAM50")
    except DataError:
        return _none(SUBTYPES_ABSENT)
    try:
        with warnings.catch_warnings():  # what they warn of stands in the lines: genes, and samples without a label
            warnings.simplefilter("ignore", DataWarning)
            studies = datasets.load_pam50_cohorts(geo, patients=patients)
    except DataError as error:
        return _none(f"The series could not be used: {str(error).replace(str(geo), 'geo')}")
    matched = {name: np.asarray(study.labels) != "" for name, study in studies.items()}
    listed = ", ".join(f"{flags.sum()} of {len(flags)} ({name})" for name, flags in matched.items())
    if min(flags.mean() for flags in matched.values()) < MATCHED_AT_LEAST:
        return _none(f"Too few samples could be matched to patients with a known subtype: {listed}.")
    return _run(
        studies, f"{len(studies.features)} genes; samples matched to patients: {listed}.", out, n, n_draws, n_jobs
    )


def _run(studies: cr.Studies, known: str, out: Path, n: int, n_draws: int, n_jobs: int) -> list[Claim]:
    written = scores.written(studies, n, n_jobs, key=6)
    like = gold_standard.likeness(written, studies, n_draws)
    runs = local.run_all(studies, n, n_jobs, key=7)
    fig5 = figures.scores({"as written": written}, "PAM50 genes", out, "fig5_pam50")
    gold = figures.likeness(
        {"as written": ("AMI to the subtypes", like)}, written.pairs, "PAM50 genes", out, "gold_standard_pam50"
    )
    claims_without_counts = [
        global_scores.best_k(written, 4, BEST, WHERE[BEST], figure=fig5),
        local.basal_first(runs, BASAL, WHERE[BASAL]),
        gold_standard.correlated(like, LIKE, WHERE[LIKE], figure=gold),
    ]
    return [replace(claim, why=f"{claim.why} {known}") for claim in claims_without_counts]


def _none(why: str) -> list[Claim]:
    return [line for claim, where in WHERE.items() for line in not_run(where, [claim], why)]
