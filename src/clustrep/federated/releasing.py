"""From what was learned to what a file stores: small groups are withheld or merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from clustrep.execution.seeds import Failed
from clustrep.federated.disclosure import Disclosure, harmless, withheld
from clustrep.federated.extraction import form_of, sizes_of
from clustrep.federated.forms import Form
from clustrep.fitting.learners import FittedFunction
from clustrep.fitting.resample import Resample
from clustrep.fitting.setting import ClusteringPlan
from clustrep.types import IntArray


class LearnedFunction(NamedTuple):
    """A function that a file stores, and the samples behind its numbers; or why there is none."""

    form: Form | None
    sizes: IntArray | None
    cause: str
    merged: bool


@dataclass(frozen=True, eq=False)
class LearnPlan(ClusteringPlan[list[LearnedFunction]]):
    """Everything that the functions of a site follow from, except the replicate's number."""

    rules: Disclosure
    description: str = "clustering functions"

    def block(self, numbers: Sequence[int]) -> list[list[LearnedFunction]]:
        """Learn from all samples together."""
        samples = self.setting.resamples_of(0, numbers)
        functions: list[list[LearnedFunction]] = [[] for _ in numbers]
        for learner in self.setting.learners:
            learned = learner.learn(samples)
            for member in range(len(learner.members)):
                for b, sample in enumerate(samples):
                    applied = learned[b].applied(member, [])
                    functions[b].append(released(applied, sample, self.rules))
        return functions


def released(applied: tuple[FittedFunction, Any] | Failed, sample: Resample, rules: Disclosure) -> LearnedFunction:
    """Take the form of a function, and withhold or merge it where a group of its samples is small."""
    if isinstance(applied, Failed):
        return LearnedFunction(None, None, harmless(applied.cause), False)
    psi, _ = applied
    form = form_of(psi)
    sizes, merged = sizes_of(psi, form, sample), False
    least = form.fewest(rules.min_cluster_size)
    if sizes.min() < least and rules.small == "merge":
        larger = form.merged(sizes, least)
        if larger is not None:
            drawn = sample.draw.weights > 0
            form, merged = larger, True
            sizes = np.bincount(form.groups(sample.points)[drawn], minlength=form.n_groups)
    if sizes.min() < least:
        return LearnedFunction(None, None, withheld(form.of_group, least), False)
    return LearnedFunction(form, sizes, "", merged)
