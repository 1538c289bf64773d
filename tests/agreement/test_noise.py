"""The three treatments of noise, operation by operation."""

import numpy as np
import pytest

from clustrep.agreement.contingency import NOISE, RULES, Margins, check_noise_within, separate
from clustrep.errors import ParameterError

U_NOISE = np.array([True, False, False, True])
V_NOISE = np.array([False, False, True, True])


def test_only_drop_omits_points_that_either_side_calls_noise():
    assert RULES["drop"].counted(U_NOISE, V_NOISE).tolist() == [False, True, False, False]
    for name in ("label", "singletons"):
        assert RULES[name].counted(U_NOISE, V_NOISE).tolist() == [True] * 4
    assert {name: rule.omits for name, rule in RULES.items()} == {"label": False, "drop": True, "singletons": False}


def test_noise_is_a_cluster_as_a_label_alone():
    labels = np.array([NOISE, 0, 1])
    assert {name: rule.clusters(labels).tolist() for name, rule in RULES.items()} == {
        "label": [True, True, True],
        "drop": [False, True, True],
        "singletons": [False, True, True],
    }
    assert RULES["drop"].clusters(np.array(["-1", "a"])).tolist() == [True, True]  # text is no noise


def test_only_singletons_change_codes():
    codes = np.array([0, 1, 1, 0])
    for name in ("label", "drop"):
        assert RULES[name].codes(codes, U_NOISE) is codes
    assert RULES["singletons"].codes(codes, U_NOISE).tolist() == [2, 1, 1, 3]
    assert separate(codes, U_NOISE).tolist() == [2, 1, 1, 3]
    assert codes.tolist() == [0, 1, 1, 0]


NOISE_CODES = np.array([[0, -1], [-1, 1], [-1, -1]])  # on both sides of three tables


def three_times(table):
    return np.array([table] * 3, dtype=float)


def test_a_single_noise_point_shares_its_cluster_with_nobody():
    margins = Margins(three_times([[1, 2], [3, 4]]), three_times([[3, 3], [7, 7]]), three_times([[4, 6], [4, 6]]))
    for name in ("label", "drop"):
        assert RULES[name].margins(margins, NOISE_CODES) is margins
    changed = RULES["singletons"].margins(margins, NOISE_CODES)
    assert changed.cells.tolist() == [[[0, 0], [3, 4]], [[1, 0], [3, 0]], [[1, 2], [3, 4]]]
    assert changed.rows.tolist() == [[[0, 0], [7, 7]], [[3, 3], [7, 7]], [[3, 3], [7, 7]]]
    assert changed.columns.tolist() == [[[4, 6], [4, 6]], [[4, 0], [4, 0]], [[4, 6], [4, 6]]]


def test_a_dropped_point_has_no_score():
    scores = three_times([[1, 2], [3, 4]])
    for name in ("label", "singletons"):
        assert RULES[name].point_scores(scores, NOISE_CODES) is scores
    np.testing.assert_array_equal(
        RULES["drop"].point_scores(scores, NOISE_CODES),
        [[[np.nan, np.nan], [3, 4]], [[1, np.nan], [3, np.nan]], [[1, 2], [3, 4]]],
    )


def test_a_treatment_within_one_study_is_checked():
    assert [check_noise_within(name) for name in ("label", "drop")] == ["label", "drop"]
    with pytest.raises(ParameterError, match="noise must be one of 'label', 'drop'; got 'singletons'"):
        check_noise_within("singletons")
