"""Fig. 3 and 4 of the paper at quick size: local scores at three points and over the plane; and the plain loops."""

from __future__ import annotations

import pytest
from paper.common import DEPENDS, HOLDS

from paper import fig3_fig4_local, plain_loops

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("local")


@pytest.fixture(scope="module")
def claims(folder):
    return fig3_fig4_local.main(folder, quick=True)


def figures_of(claims):
    return [name for claim in claims for name in claim.figures]


def test_scores_at_three_points(claims, find_claim):
    claim = find_claim(claims, "relatively high at A")
    assert claim.verdict == HOLDS
    a, b, c = claim.values["written"]
    assert a > 0.95
    assert 0.05 < b < 0.2
    assert abs(c) < 1e-3
    assert claim.values["published"] == pytest.approx([0.475, 0.415, 0.0], abs=0.05)


def test_the_printed_scores_are_those_of_another_setting(claims, find_claim):
    claim = find_claim(claims, ".52, .29, .00")
    assert claim.verdict == DEPENDS
    assert claim.values["off"][0] > 5
    assert claim.values["off_published"].max() < 2.5
    assert claim.values["sds"][:2] == pytest.approx([0.12, 0.11], abs=0.03)


def test_a_and_b_are_far_apart_as_written_alone(claims, find_claim):
    claim = find_claim(claims, "substantially different scores")
    written, published = claim.values["written"], claim.values["published"]
    assert claim.verdict == DEPENDS
    assert written["A and B"].all()
    assert written["A and C"].all()
    assert published["A and B"].mean() < 0.9
    assert published["B and C"].mean() > 0.9


def test_the_training_function_joins_what_the_test_function_separates(claims, find_claim):
    claim = find_claim(claims, "puts points of B and D into one cluster")
    assert claim.verdict == HOLDS
    assert claim.values["written"][:, 0].min() > 0.8
    assert claim.values["written"][:, 1].max() < 0.05
    joined, own = claim.values["published"].mean(axis=0)
    assert 0.35 < joined < 0.75
    assert own < 0.15


def test_scores_over_the_plane(claims, find_claim, folder):
    claim = find_claim(claims, "Over the plane")
    assert claim.verdict == HOLDS
    a, b, c = claim.values["written"]
    assert a > b + 0.5
    assert b > c + 0.04
    assert abs(claim.values["published"][0] - claim.values["published"][1]) < 0.15
    assert claim.values["change"] < 0.03
    assert len(figures_of(claims)) == 8
    assert all((folder / name).stat().st_size > 10_000 for name in figures_of(claims))


def test_the_global_score_lies_between_the_local_ones(claims, find_claim):
    claim = find_claim(claims, "A global score can hide")
    assert claim.verdict == HOLDS
    whole, a, _, c = claim.values["written"]
    assert c + 0.4 < whole < a - 0.3


def test_the_same_bytes_twice(claims, folder, tmp_path):
    assert fig3_fig4_local.main(tmp_path, quick=True) == claims
    for name in figures_of(claims):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_plain_loops_are_timed_on_a_part(tmp_path, monkeypatch):
    monkeypatch.setenv("CLUSTREP_DATA", str(tmp_path))
    sizes = plain_loops.Sizes(range(2, 5), 3, 20, range(2, 5), 60, 3, range(2, 5), 3, longest=0.05)
    _, line, *rows = plain_loops.ratios(sizes)
    assert len(rows) == 5
    assert {row.count("|") for row in rows} == {line.count("|")}
    assert not any("r15" in row for row in rows)
    for row in rows:
        *_, ratio, part, _ = row.split("|")
        assert float(ratio.replace(",", "")) >= 0
        assert 0 < float(part.strip().rstrip("%")) <= 100
