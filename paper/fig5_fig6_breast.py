"""Section 5: three breast cancer cohorts. Figures 5 and 6, the gold-standard figure, and Table 1."""

from __future__ import annotations

from pathlib import Path

from clustrep import datasets
from clustrep.errors import DataError
from paper import (
    breast_changes,
    breast_figures,
    breast_global,
    breast_gold,
    breast_local,
    breast_pam50,
    breast_scores,
    breast_subtypes,
)
from paper.common import ABSENT, Claim, not_run


def main(out: Path, quick: bool = False) -> list[Claim]:
    """Score the three genes, as written and as published; the fifty genes where their files are."""
    n, n_published, n_draws, n_runs, n_jobs = (40, 10, 20, 4, 1) if quick else (100, 50, 50, 20, -1)
    fifty = breast_pam50.claims(out, n, n_draws, n_jobs)
    try:
        studies, pam50 = (datasets.load_breast(subtypes) for subtypes in ("HK_3GENE", "PAM50"))
    except DataError:
        return [*_none(), *fifty]
    written, published = (
        breast_scores.written(studies, n, n_jobs),
        breast_scores.published(studies, n_published, n_jobs),
    )
    like = breast_gold.likeness(written, studies, n_draws)
    like_published = breast_gold.likeness(published, studies, n_draws, merged=True)
    runs = breast_local.run_all(studies, n, n_jobs)
    fig5 = breast_figures.scores({"as written": written, "as published": published}, "three genes", out, "fig5")
    rows = {
        "as written": ("AMI to the subtypes", like),
        "as published": ("ARI to the subtypes,\nLumA and LumB merged", like_published),
    }
    gold = breast_figures.likeness(rows, written.pairs, "three genes", out, "gold_standard")
    fig6 = breast_figures.local(studies["transbig"], runs, out, "fig6")
    return [
        *breast_global.claims(written, published, fig5),
        *breast_changes.claims(written),
        *breast_gold.claims(like, like_published, gold),
        *breast_local.claims(studies, runs, n_published, n_jobs, fig6),
        *breast_subtypes.claims(breast_subtypes.tables_of(studies, n_runs)),
        breast_subtypes.table_1(studies, pam50),
        *fifty,
    ]


def _none() -> list[Claim]:
    parts = {
        "Fig. 5": (*breast_global.CLAIMS, *breast_changes.CLAIMS),
        breast_gold.WHERE: (breast_gold.LIKE,),
        "Section 5.1": (breast_gold.BIOLOGY,),
        "Fig. 6": breast_local.CLAIMS,
        "Section 5.2": (breast_subtypes.EASIEST, breast_subtypes.CONFUSED),
        "Fig. 6 (a)": (breast_subtypes.RESEMBLE, breast_subtypes.ONE_TO_ONE),
        "Table 1": (breast_subtypes.TABLE,),
    }
    return [line for where, claims in parts.items() for line in not_run(where, claims, ABSENT)]
