"""Section 5: three breast cancer cohorts. Figures 5 and 6, the gold-standard figure, and Table 1."""

from __future__ import annotations

from pathlib import Path

from clustrep import datasets
from clustrep.errors import DataError
from paper.common import ABSENT, Claim, not_run
from paper.fig5_fig6_breast import changes, figures, global_scores, gold_standard, local, pam50, scores, subtypes


def main(out: Path, quick: bool = False) -> list[Claim]:
    """Score the three genes, as written and as published; the fifty genes where their files are."""
    n, n_published, n_draws, n_runs, n_jobs = (40, 10, 20, 4, 1) if quick else (100, 50, 50, 20, -1)
    fifty = pam50.claims(out, n, n_draws, n_jobs)
    try:
        studies, with_pam50 = (datasets.load_breast(scheme) for scheme in ("HK_3GENE", "PAM50"))
    except DataError:
        return [*_none(), *fifty]
    written, published = (
        scores.written(studies, n, n_jobs),
        scores.published(studies, n_published, n_jobs),
    )
    like = gold_standard.likeness(written, studies, n_draws)
    like_published = gold_standard.likeness(published, studies, n_draws, merged=True)
    runs = local.run_all(studies, n, n_jobs)
    fig5 = figures.scores({"as written": written, "as published": published}, "three genes", out, "fig5")
    rows = {
        "as written": ("AMI to the subtypes", like),
        "as published": ("ARI to the subtypes,\nLumA and LumB merged", like_published),
    }
    gold = figures.likeness(rows, written.pairs, "three genes", out, "gold_standard")
    fig6 = figures.local(studies["transbig"], runs, out, "fig6")
    return [
        *global_scores.claims(written, published, fig5),
        *changes.claims(written),
        *gold_standard.claims(like, like_published, gold),
        *local.claims(studies, runs, n_published, n_jobs, fig6),
        *subtypes.claims(subtypes.tables_of(studies, n_runs)),
        subtypes.table_1(studies, with_pam50),
        *fifty,
    ]


def _none() -> list[Claim]:
    parts = {
        "Fig. 5": (*global_scores.CLAIMS, *changes.CLAIMS),
        gold_standard.WHERE: (gold_standard.LIKE,),
        "Section 5.1": (gold_standard.BIOLOGY,),
        "Fig. 6": local.CLAIMS,
        "Section 5.2": (subtypes.EASIEST, subtypes.CONFUSED),
        "Fig. 6 (a)": (subtypes.RESEMBLE, subtypes.ONE_TO_ONE),
        "Table 1": (subtypes.TABLE,),
    }
    return [line for where, claims in parts.items() for line in not_run(where, claims, ABSENT)]
