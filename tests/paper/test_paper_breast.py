"""Figures 5 and 6, the gold-standard figure and Table 1, at quick size: what holds, and what does not."""

# ruff: noqa: PD011 - the values of a claim, not of a frame

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from clustrep import Studies, Study, datasets
from clustrep.datasets import benchmark, cohorts

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("breast")


@pytest.fixture(scope="module")
def breast(data_folder, folder):
    from paper import fig5_fig6_breast

    return fig5_fig6_breast.main(folder, quick=True)


# ---------------------------------------------------------------------------------------------------------------------
# Figure 5


def test_k_means_replicates_best_with_two_clusters_others_with_three(breast, find_claim):
    claim = find_claim(breast, "k = 3 has the highest")
    assert claim.verdict == "depends"
    assert claim.values["first"]["k-means"] == 0
    assert claim.values["first"]["Birch"] >= 3
    assert claim.values["first"]["agglomerative"] >= 1
    assert claim.values["rival"]["k-means"] == 2
    assert claim.values["best"] == ("k-means", 2)
    k_means, birch, ward = claim.values["means"]
    assert k_means[0] > k_means[1] + 0.04
    assert birch[1] > birch[0] + 0.06
    assert ward[1] > ward[0] + 0.02


def test_stored_numbers_come_from_permutations(breast, find_claim):
    claim = find_claim(breast, "stored in the authors' files")
    assert claim.ours
    assert claim.verdict != "holds"
    assert (claim.values["off"] < 0.01).all()
    assert claim.values["written"][2] < 0.645 - 0.08


def test_two_measures_do_not_contradict_each_other_about_clusterers(breast, find_claim):
    claim = find_claim(breast, "the same with ARI and with AMI")
    assert claim.verdict == "holds"
    ari, ami = claim.values["falls"]
    assert ari > ami + 0.15


def test_pairs_matter_less_than_the_number_of_clusters_alone(breast, find_claim):
    claim = find_claim(breast, "comparable across most pairs")
    assert claim.verdict == "depends"
    assert claim.values["k"].sum() >= 4
    assert claim.values["clusterer"].sum() <= 4
    changes = claim.values["changes"]
    assert changes.k[0].mean() > changes.pair[0].mean() + 0.04


def test_mainz_finds_its_clusters_in_vdx_more_than_vdx_in_mainz(breast, find_claim):
    claim = find_claim(breast, "change roles")
    assert claim.verdict == "depends"
    from_mainz = claim.values["differences"][0, 2:, 1]  # k-means, k = 4, …, 8
    assert (from_mainz > 0.02).all()
    assert from_mainz.mean() > 0.08


def test_the_number_of_clusters_is_crucial_the_clusterer_is_not(breast, find_claim):
    claim = find_claim(breast, "is crucial")
    assert claim.verdict == "depends"
    assert claim.values["k"].sum() >= 3
    assert claim.values["clusterer"].sum() == 0


# ---------------------------------------------------------------------------------------------------------------------
# the gold-standard figure


def test_high_scores_mean_likeness_on_some_pairs(breast, find_claim):
    claim = find_claim(breast, "partitions similar to the three-gene subtypes")
    assert claim.verdict == "depends"
    assert claim.values["ks"][0] == 2
    like = claim.values["like"]
    assert like[1] > like[0] + 0.05
    assert claim.values["rho"].max() > 0.3
    assert claim.values["pooled"] > 0


def test_the_best_k_of_k_means_is_less_like_the_subtypes_than_the_median_one(breast, find_claim):
    claim = find_claim(breast, "accepted biology")
    assert claim.verdict == "depends"
    k_means, birch, _ = claim.values["gains"]
    assert k_means < 0 < birch
    assert claim.values["yes"][0].sum() <= 2


# ---------------------------------------------------------------------------------------------------------------------
# Figure 6


def test_basal_replicates_best_luminal_worst(breast, find_claim):
    basal, luminal = (
        find_claim(breast, words) for words in ("The cluster of the Basal subtype has", "have the lowest local")
    )
    assert basal.verdict == "holds"
    for means in basal.values["means"].values():
        assert means["Basal"] > max(means[name] for name in ("Her2", "LumA", "LumB")) + 0.05
    assert luminal.verdict.yes >= 10  # of twelve
    for means in luminal.values["means"].values():
        assert max(means["LumA"], means["LumB"]) < min(means["Basal"], means["Her2"])


def test_basal_is_easiest_to_identify(breast, find_claim):
    claim = find_claim(breast, "easiest to identify")
    assert claim.verdict == "holds"
    for overlaps in claim.values["overlaps"].values():
        assert overlaps[0] > overlaps[1:].max() + 0.05


def test_luminal_subtypes_are_confused_most(breast, find_claim):
    claim = find_claim(breast, "harder to distinguish")
    assert claim.verdict == "holds"
    assert claim.values["rates"]["mainz", "transbig"][-1] > 0.35


def test_clusters_are_not_always_like_the_subtypes(breast, find_claim):
    claim = find_claim(breast, "closely resemble")
    assert claim.verdict == "does not hold"
    assert 0.3 < claim.values["ari"]["mainz", "transbig"] < 0.5
    assert claim.values["ari"]["mainz", "vdx"] > 0.75


def test_one_cluster_holds_more_of_another_subtype(breast, find_claim):
    claim = find_claim(breast, "corresponds to one subtype")
    assert claim.verdict == "depends"
    assert claim.values["yes"].tolist() == [True, True, False, True]


def test_table_1(breast, find_claim):
    claim = find_claim(breast, "ARI and AMI of PAM50")
    assert claim.verdict == "depends"
    assert claim.values["right"] == [True, True, False, False, False, False]
    assert claim.values["right_max"] == [True, True, False, True, True, True]
    assert claim.values["cut"][2]
    assert claim.values["ari"] == pytest.approx([0.333, 0.341, 0.538], abs=0.001)


def test_figures(breast, folder):
    names = [name for claim in breast for name in claim.figures]
    assert names == ["fig5.png", "gold_standard.png", "fig6.png"]
    assert all((folder / name).stat().st_size > 10_000 for name in names)


def test_the_same_claims_twice(data_folder, tmp_path, monkeypatch):
    from paper import breast_changes, breast_local, breast_scores, breast_subtypes

    studies = datasets.load_breast("HK_3GENE")
    first, again = (
        [
            *breast_changes.claims(breast_scores.written(studies, 6, 1)),
            *breast_subtypes.claims(breast_subtypes.tables_of(studies, 2)),
            breast_local.basal_first(breast_local.run_all(studies, 4, 1), "", ""),
        ]
        for _ in range(2)
    )
    assert first == again


# ---------------------------------------------------------------------------------------------------------------------
# without data


def test_without_files_one_line_for_every_claim(monkeypatch, tmp_path):
    from paper import fig5_fig6_breast

    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))
    claims = fig5_fig6_breast.main(tmp_path, quick=True)
    assert {claim.verdict for claim in claims} == {"not run"}
    assert len({claim.claim for claim in claims}) == len(claims) == 17
    assert all(str(tmp_path) not in claim.why and "paper/README.md says where" in claim.why for claim in claims)


def test_lines_are_the_same_claims_with_and_without_files(breast, monkeypatch, tmp_path):
    from paper import fig5_fig6_breast

    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))
    without = fig5_fig6_breast.main(tmp_path, quick=True)
    theirs = [claim for claim in breast if not claim.ours]
    assert [(one.where, one.claim) for one in without] == [(one.where, one.claim) for one in theirs]


# ---------------------------------------------------------------------------------------------------------------------
# PAM50, on made-up cohorts in GEO's format

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
def made_up(tmp_path, monkeypatch):
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


def test_pam50_is_run_where_its_files_are(made_up, find_claim):
    from paper import breast_pam50

    claims = breast_pam50.claims(made_up / "out", 12, 6, 1)
    best, basal, like = (find_claim(claims, words) for words in ("k = 4 has", "Basal subtype", "PAM50 subtypes"))
    assert set(best.values["rival"].values()) <= {3, 5}
    assert best.values["best"][1] == 4
    assert best.verdict == "holds"
    assert basal.verdict != "holds"  # all four are found
    assert all(min(means.values()) > 0.9 for means in basal.values["means"].values())
    assert all(set(means) == {"Basal", "Her2", "LumA", "LumB"} for means in basal.values["means"].values())
    assert like.verdict == "holds"
    assert (like.values["rho"] > 0.5).all()
    for claim in claims:
        assert claim.why.endswith(
            "12 genes; samples matched to patients: 45 of 45 (mainz), 45 of 45 (transbig), 48 of 48 (vdx)."
        )
    assert all((made_up / "out" / name).is_file() for claim in claims for name in claim.figures)


def test_pam50_with_few_samples_left_out(made_up):
    from paper import breast_pam50

    _change(made_up, "GSE2034", n=4)
    claims = breast_pam50.claims(made_up / "out", 4, 3, 1)
    assert "not run" not in {claim.verdict for claim in claims}
    assert all("44 of 48 (vdx)" in claim.why for claim in claims)


def test_pam50_is_not_run_where_samples_can_not_be_matched(made_up):
    from paper import breast_pam50

    _change(made_up, "GSE7390", n=5)
    claims = breast_pam50.claims(made_up / "out", 4, 3, 1)
    assert [claim.verdict for claim in claims] == ["not run"] * 3
    assert claims[0].why.startswith("Too few samples could be matched to patients with a known subtype: 45 of 45")
    assert "40 of 45 (transbig)" in claims[0].why


def test_pam50_is_not_run_with_files_that_can_not_be_used(made_up):
    from paper import breast_pam50

    (made_up / "geo" / "GPL96.annot").unlink()
    claims = breast_pam50.claims(made_up / "out", 4, 3, 1)
    assert [claim.verdict for claim in claims] == ["not run"] * 3
    assert claims[0].why.startswith("The series could not be used: geo holds no file of GPL96")


def test_pam50_is_not_looked_for_in_the_working_directory(made_up, monkeypatch):
    from paper import breast_pam50

    monkeypatch.delenv("CLUSTREP_DATA")
    monkeypatch.chdir(made_up)
    claims = breast_pam50.claims(made_up / "out", 4, 3, 1)
    assert [claim.why for claim in claims] == [breast_pam50.ABSENT] * 3


def _change(folder, accession, n):
    """Give some samples of a series values that no patient has."""
    path = folder / "geo" / f"{accession}_series_matrix.txt"
    lines = path.read_text().split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith('"205225_at"'))
    cells = lines[at].split("\t")
    lines[at] = "\t".join([cells[0], *("30000.5" for _ in range(n)), *cells[n + 1 :]])
    path.write_text("\n".join(lines))
