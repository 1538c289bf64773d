"""The three treatments of noise, operation by operation."""

import numpy as np
import pytest

from clustrep.agreement.agreements import resolve_agreement
from clustrep.agreement.batches import binary_scores
from clustrep.agreement.contingency import RULES, encode, separate

U_NOISE = np.array([True, False, False, True])
V_NOISE = np.array([False, False, True, True])


def test_only_drop_omits_points_that_either_side_calls_noise():
    assert RULES["drop"].counted(U_NOISE, V_NOISE).tolist() == [False, True, False, False]
    for name in ("label", "singletons"):
        assert RULES[name].counted(U_NOISE, V_NOISE).tolist() == [True] * 4
    assert {name: rule.omits for name, rule in RULES.items()} == {"label": False, "drop": True, "singletons": False}


def test_only_singletons_change_codes():
    codes = np.array([0, 1, 1, 0])
    for name in ("label", "drop"):
        assert RULES[name].codes(codes, U_NOISE) is codes
    assert RULES["singletons"].codes(codes, U_NOISE).tolist() == [2, 1, 1, 3]
    assert separate(codes, U_NOISE).tolist() == [2, 1, 1, 3]
    assert codes.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("noise", RULES)
def test_a_noise_sample_shares_its_cluster_with_nobody_or_has_no_score(noise):
    """The pair of labels (i, j) is scored by the table of two clusters: is a sample in row i, in column j?"""
    partitions = [encode([np.array(labels)])[0] for labels in ([-1, -1, 0, 0, 0, 1], [0, -1, 0, -1, -1, 0])]
    agreement = resolve_agreement("ri")
    (scores,) = binary_scores(agreement, [(*partitions, np.ones(6, dtype=np.int64))], noise)
    table = np.array([[1.0, 1.0], [2.0, 1.0], [0.0, 1.0]])  # rows −1, 0, 1 and columns −1, 0
    for (i, j), cell in np.ndenumerate(table):
        is_noise = i == 0, j == 0
        row, column = table[i].sum(), table[:, j].sum()
        if noise == "singletons":
            row, column, cell = row * (i > 0), column * (j > 0), cell * (not any(is_noise))
        expected = agreement.of_tables(np.array([[cell, row - cell], [column - cell, 6 - row - column + cell]]))
        assert np.array_equal(scores[i, j], np.nan if noise == "drop" and any(is_noise) else expected, equal_nan=True)
