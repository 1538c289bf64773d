"""Tables, clusterers and double loops that several tests of table agreements share."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest

NAMES = ("prediction_strength", "matching")
every_agreement = pytest.mark.parametrize("name", NAMES)


def strength_by_pairs(trained, own):
    """Equation (4), one ordered pair of points after the other; clusters of one point are left out."""
    trained, own = list(trained), list(own)
    shares = []
    for cluster in set(own):
        members = [i for i, label in enumerate(own) if label == cluster]
        pairs = [(i, j) for i in members for j in members if i != j]
        if pairs:
            shares.append(Fraction(sum(trained[i] == trained[j] for i, j in pairs), len(pairs)))
    if shares:
        return float(min(shares))
    return float(len(set(trained)) == len(own))  # all alone on the one side: the same only if so on the other


def matching_by_all_maps(one, other):
    """1 less the share of points outside the best one-to-one map of labels, equation (3)."""
    fine, coarse = sorted((list(one), list(other)), key=lambda labels: -len(set(labels)))
    names = sorted(set(coarse))
    most = max(
        sum(dict(zip(names, partners, strict=True))[b] == a for a, b in zip(fine, coarse, strict=True))
        for partners in permutations(sorted(set(fine)), len(names))
    )
    return most / len(fine)


BY_DEFINITION = {"prediction_strength": strength_by_pairs, "matching": matching_by_all_maps}
