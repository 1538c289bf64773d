"""Agreements by name and labelings that several tests share."""

from __future__ import annotations

import math
from collections import Counter
from functools import partial

import pytest
from sklearn import metrics

from clustrep.agreement.agreements import (
    adjusted_mutual_information,
    adjusted_rand_index,
    mutual_information,
    rand_index,
)

INDICES = {
    "ari": adjusted_rand_index,
    "ami": adjusted_mutual_information,
    "ami_max": partial(adjusted_mutual_information, average="max"),
    "ri": rand_index,
    "mi": mutual_information,
}
ADJUSTED = ("ari", "ami", "ami_max")
every_index = pytest.mark.parametrize("name", INDICES)


def entropy_by_definition(u):
    return -sum(c / len(u) * math.log(c / len(u)) for c in Counter(u).values())


PEERS = {
    "ri": metrics.rand_score,
    "ari": metrics.adjusted_rand_score,
    "mi": metrics.mutual_info_score,
    "ami": metrics.adjusted_mutual_info_score,
    "ami_max": partial(metrics.adjusted_mutual_info_score, average_method="max"),
}
