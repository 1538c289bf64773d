"""Figures 5 and 6, the gold-standard figure and Table 1, at quick size: what holds, and what does not."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from paper.fig5_fig6_breast import changes, local, scores, subtypes
from paper.fig5_fig6_breast import claims as breast_claims
from paper.fig5_fig6_breast.global_scores import STORED
from paper.fig5_fig6_breast.local import SUBTYPES
from paper.fig5_fig6_breast.subtypes import MODERATE

from clustrep import datasets

pytestmark = pytest.mark.filterwarnings("ignore")
STORED_RESAMPLES = 50


@pytest.fixture(scope="module")
def run(data_folder, quick_run):
    return quick_run("fig5_fig6_breast")


@pytest.fixture(scope="module")
def breast(run):
    return run.claims


# ---------------------------------------------------------------------------------------------------------------------
# Figure 5


def test_k_means_replicates_best_with_two_clusters_others_with_three(breast, find_claim, errors):
    claim = find_claim(breast, "k = 3 has the highest")
    assert claim.verdict == "depends"
    assert claim.values["first"]["k-means"] == 0
    assert claim.values["first"]["Birch"] > 0
    assert claim.values["first"]["agglomerative"] > 0
    assert claim.values["rival"]["k-means"] == 2
    assert claim.values["best"] == ("k-means", 2)
    k_means, birch, ward = claim.values["scores"]  # (n_ks, n_resamples) each, k = 2, 3, …
    assert errors.above(k_means[0] - k_means[1]) > 4
    assert errors.above(birch[1] - birch[0]) > 4
    assert errors.above(ward[1] - ward[0]) > 4


def test_stored_numbers_come_from_permutations(breast, find_claim, errors):
    claim = find_claim(breast, "stored in the authors' files")
    assert claim.ours
    assert claim.verdict != "holds"
    for ours, stored in zip(claim.values["published"], STORED, strict=True):
        error = ours.std(ddof=1) * np.sqrt(1 / len(ours) + 1 / STORED_RESAMPLES)
        assert ours.mean() == pytest.approx(stored, abs=4 * error + 0.0005)  # stored with three digits
    assert min(errors.above(ours, stored) for ours, stored in zip(claim.values["written"], STORED, strict=True)) < -4


def test_two_measures_do_not_contradict_each_other_about_clusterers(breast, find_claim, errors):
    claim = find_claim(breast, "the same with ARI and with AMI")
    assert claim.verdict == "holds"
    ari, ami = claim.values["falls"]
    assert errors.above(ari - ami) > 4


def test_pairs_matter_less_than_the_number_of_clusters_alone(breast, find_claim, errors):
    claim = find_claim(breast, "comparable across most pairs")
    assert claim.verdict == "depends"
    assert claim.values["k"].sum() > claim.values["clusterer"].sum()
    change = claim.values["changes"]
    assert errors.estimate_above((change.k - change.pair).mean(axis=1)) > 4


def test_mainz_finds_its_clusters_in_vdx_more_than_vdx_in_mainz(breast, find_claim, errors):
    claim = find_claim(breast, "change roles")
    assert claim.verdict == "depends"
    from_mainz = claim.values["differences"][0, 2:, 1]  # k-means, k = 4, …, 8; (5, n_resamples)
    assert (from_mainz.mean(axis=1) > 0).all()
    assert errors.above(from_mainz.mean(axis=0)) > 4


def test_the_number_of_clusters_is_crucial_the_clusterer_is_not(breast, find_claim, errors):
    claim = find_claim(breast, "is crucial")
    assert claim.verdict == "depends"
    assert claim.values["k"].any()
    assert not claim.values["clusterer"].any()
    change = claim.values["changes"]
    assert errors.estimate_above((change.k - change.clusterer).mean(axis=1)) > 4


# ---------------------------------------------------------------------------------------------------------------------
# the gold-standard figure


def test_high_scores_mean_likeness_on_some_pairs(breast, find_claim, errors):
    claim = find_claim(breast, "partitions similar to the three-gene subtypes")
    assert claim.verdict == "depends"
    assert claim.values["ks"][0] == 2
    like = claim.values["like"]  # (1 + n_draws, n_ks)
    assert errors.estimate_above(like[:, 1] - like[:, 0]) > 4
    assert errors.estimate_above(claim.values["rho"]).max() > 4
    assert errors.estimate_above(claim.values["pooled"]) > 2


def test_the_best_k_of_k_means_is_less_like_the_subtypes_than_the_median_one(breast, find_claim, errors):
    claim = find_claim(breast, "accepted biology")
    assert claim.verdict == "depends"
    k_means, birch, _ = errors.estimate_above(claim.values["gains"])
    assert k_means < -2
    assert birch > 2
    assert claim.values["yes"][0].sum() < claim.values["yes"][1].sum()


# ---------------------------------------------------------------------------------------------------------------------
# Figure 6


def test_basal_replicates_best_luminal_worst(breast, find_claim, errors):
    basal, luminal = (
        find_claim(breast, words) for words in ("The cluster of the Basal subtype has", "have the lowest local")
    )
    assert basal.verdict == "holds"
    for by_subtype in basal.values["scores"].values():
        for name in ("Her2", "LumA", "LumB"):
            assert errors.above(by_subtype["Basal"] - by_subtype[name]) > 4
    assert luminal.verdict in ("holds", "depends")
    over_pairs = {name: np.mean([by[name] for by in luminal.values["scores"].values()], axis=0) for name in SUBTYPES}
    for low in ("LumA", "LumB"):
        for high in ("Basal", "Her2"):
            assert errors.above(over_pairs[high] - over_pairs[low]) > 4
    for by_subtype in luminal.values["scores"].values():
        means = {name: values.mean() for name, values in by_subtype.items()}
        assert max(means["LumA"], means["LumB"]) < min(means["Basal"], means["Her2"])


def test_basal_is_easiest_to_identify(breast, find_claim, errors):
    claim = find_claim(breast, "easiest to identify")
    assert claim.verdict == "holds"
    for overlaps in claim.values["overlaps"].values():  # (n_runs, n_subtypes)
        assert (errors.above((overlaps[:, [0]] - overlaps[:, 1:]).T) > 4).all()


def test_luminal_subtypes_are_confused_most(breast, find_claim, errors):
    claim = find_claim(breast, "harder to distinguish")
    assert claim.verdict == "holds"
    couples = list(combinations(SUBTYPES, 2))
    rates = claim.values["rates"]["mainz", "transbig"]  # (n_runs, n_couples)
    luminal = couples.index(("LumA", "LumB"))
    assert (errors.above((rates[:, [luminal]] - np.delete(rates, luminal, axis=1)).T) > 4).all()


def test_clusters_are_not_always_like_the_subtypes(breast, find_claim, errors):
    claim = find_claim(breast, "closely resemble")
    assert claim.verdict == "does not hold"
    assert errors.above(claim.values["ari"]["mainz", "transbig"], MODERATE) < -4
    assert errors.above(claim.values["ari"]["mainz", "vdx"], MODERATE) > 4


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
    assert claim.values["ari"] == pytest.approx([0.333, 0.341, 0.538], abs=0.0005)  # exact


def test_figures(run):
    assert run.figures == ["fig5.png", "gold_standard.png", "fig6.png"]
    assert all((run.folder / name).stat().st_size > 10_000 for name in run.figures)


def test_the_same_claims_twice(data_folder):
    studies = datasets.load_breast("HK_3GENE")
    first, again = (
        [
            *changes.claims(scores.written(studies, 4, 1)),
            *subtypes.claims(subtypes.tables_of(studies, 1)),
            local.basal_first(local.run_all(studies, 3, 1), "", ""),
        ]
        for _ in range(2)
    )
    assert first == again


# ---------------------------------------------------------------------------------------------------------------------
# without data


@pytest.fixture
def absent(monkeypatch, tmp_path):
    """The claims of a run without data."""
    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))
    claims = breast_claims.main(tmp_path, quick=True)
    assert all(str(tmp_path) not in claim.why for claim in claims)
    return claims


def test_without_files_one_line_for_every_claim(absent):
    assert {claim.verdict for claim in absent} == {"not run"}
    assert len({claim.claim for claim in absent}) == len(absent) == 17
    assert all("paper/README.md says where" in claim.why for claim in absent)


def test_lines_are_the_same_claims_with_and_without_files(breast, absent):
    theirs = [(claim.where, claim.claim) for claim in breast if not claim.ours]
    assert [(claim.where, claim.claim) for claim in absent] == theirs
