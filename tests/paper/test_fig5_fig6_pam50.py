"""The PAM50 rows of figures 5, 6 and the gold-standard figure, on simulated cohorts in GEO's format."""

# ruff: noqa: PD011 - the values of a claim, not of a frame

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from paper.fig5_fig6_breast import pam50

from clustrep import Studies, Study, datasets
from clustrep.datasets import benchmark, cohorts

pytestmark = pytest.mark.filterwarnings("ignore")
SERIES = {"GSE11121": 45, "GSE7390": 45, "GSE2034": 30, "GSE5327": 18}
GENES = cohorts.PAM50[:12]


def series_matrix(frame):
    """As GEO writes a table of samples by probes."""
    names = "\t".join(f'"{name}"' for name in frame.index)
    rows = ["\t".join([f'"{probe}"', *map(repr, map(float, frame[probe]))]) for probe in frame]
    head = (
        f'!Series_title\t"Breast cancer"\n!Sample_geo_accession\t{names}\n!series_matrix_table_begin\n"ID_REF"\t{names}'
    )
    return "\n".join([head, *rows, "!series_matrix_table_end", ""])


@pytest.fixture
def simulated_cohorts(tmp_path, monkeypatch):
    """Four subtypes, well separated and equally far apart; load_breast gives the patients."""
    rng = np.random.default_rng(5)
    centres = np.full((4, len(GENES)), 8.0)
    for subtype in range(4):
        centres[subtype, 3 * subtype : 3 * subtype + 3] += 2
    geo = tmp_path / "geo"
    geo.mkdir()
    patients = []
    for study, accessions in cohorts.SERIES.items():
        n = sum(SERIES[accession] for accession in accessions)
        subtypes = np.arange(n) % 4
        names = [f"{study}_{i}" for i in range(n)]
        three = pd.DataFrame(rng.normal(10, 2, (n, 3)), index=names, columns=list(benchmark.GENES.values()))
        patients.append(Study(three, study, labels=np.array(["Basal", "Her2", "LumA", "LumB"])[subtypes]))
        values = centres[subtypes] + rng.normal(size=(n, len(GENES))) * 0.6
        frame = pd.DataFrame(values, index=names, columns=[f"{gene}_at" for gene in GENES])
        frame = pd.concat([frame, three.set_axis(list(benchmark.GENES), axis=1)], axis=1)
        frame.index = [f"GSM{study}{i}" for i in range(n)]
        for accession in accessions:
            part, frame = frame.iloc[: SERIES[accession]], frame.iloc[SERIES[accession] :]
            (geo / f"{accession}_series_matrix.txt").write_text(series_matrix(2**part))
    (geo / "GPL96.annot").write_text("\n".join(["ID\tGene symbol", *(f"{gene}_at\t{gene}" for gene in GENES)]))
    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))
    monkeypatch.setattr(datasets, "load_breast", lambda subtypes: Studies(patients))
    return tmp_path


def test_pam50_is_run_where_its_files_are(simulated_cohorts, find_claim, errors):
    """Four samples of a cohort match no patient: they have no subtype, and are omitted where subtypes are needed."""
    _change(simulated_cohorts, "GSE2034", n=4)
    claims = pam50.claims(simulated_cohorts / "out", 12, 4, 1)
    best, basal, like = (find_claim(claims, words) for words in ("k = 4 has", "Basal subtype", "PAM50 subtypes"))
    assert set(best.values["rival"].values()) <= {3, 5}
    assert best.values["best"][1] == 4
    assert best.verdict == "holds"
    assert basal.verdict != "holds"  # all four are found
    for by_subtype in basal.values["scores"].values():
        assert set(by_subtype) == {"Basal", "Her2", "LumA", "LumB"}
        assert all(errors.above(scores, 0.5) > 4 for scores in by_subtype.values())
    assert like.verdict == "holds"
    assert (errors.estimate_above(like.values["rho"]) > 4).all()
    for claim in claims:
        assert claim.why.endswith(
            "12 genes; samples matched to patients: 45 of 45 (mainz), 45 of 45 (transbig), 44 of 48 (vdx)."
        )
    assert all((simulated_cohorts / "out" / name).is_file() for claim in claims for name in claim.figures)


def test_pam50_is_not_run_where_samples_can_not_be_matched(simulated_cohorts):
    _change(simulated_cohorts, "GSE7390", n=5)
    claims = pam50.claims(simulated_cohorts / "out", 4, 3, 1)
    assert [claim.verdict for claim in claims] == ["not run"] * 3
    assert claims[0].why.startswith("Too few samples could be matched to patients with a known subtype: 45 of 45")
    assert "40 of 45 (transbig)" in claims[0].why


def test_pam50_is_not_run_with_files_that_can_not_be_used(simulated_cohorts):
    (simulated_cohorts / "geo" / "GPL96.annot").unlink()
    claims = pam50.claims(simulated_cohorts / "out", 4, 3, 1)
    assert [claim.verdict for claim in claims] == ["not run"] * 3
    assert claims[0].why.startswith("The series could not be used: geo holds no file of GPL96")


def test_pam50_is_not_looked_for_in_the_working_directory(simulated_cohorts, monkeypatch):
    monkeypatch.delenv("CLUSTREP_DATA")
    monkeypatch.chdir(simulated_cohorts)
    claims = pam50.claims(simulated_cohorts / "out", 4, 3, 1)
    assert [claim.why for claim in claims] == [pam50.ABSENT] * 3


def _change(folder, accession, n):
    """Give some samples of a series values that no patient has."""
    path = folder / "geo" / f"{accession}_series_matrix.txt"
    lines = path.read_text().split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith('"205225_at"'))
    cells = lines[at].split("\t")
    lines[at] = "\t".join([cells[0], *("30000.5" for _ in range(n)), *cells[n + 1 :]])
    path.write_text("\n".join(lines))
