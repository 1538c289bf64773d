"""One collection: what clustrep and the competitors find, as a pure function of kind and number."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from exam.competitors import COMPETITORS
from exam.designs import BY_NAME, MISSING
from exam.ours import answer

SEED = 20_261_116


@dataclass(frozen=True)
class Task:
    """Which collection, and whether the slow competitors see it too."""

    kind: str
    number: int
    with_slow: bool
    n_null: int


@dataclass(frozen=True)
class Outcome:
    """What was found in a collection."""

    kind: str
    number: int
    verdict: str
    n_clusters: int
    choices: dict[str, int]  # by competitor
    statuses: tuple[tuple[str, str], ...]  # (true status, status) of every cluster in every study


def outcome_of(task: Task) -> Outcome:
    """Draw the collection and ask everybody."""
    kind = BY_NAME[task.kind]
    entropy = [SEED, zlib.crc32(kind.name.encode()), task.number]
    collection = kind.draw(np.random.default_rng(entropy))
    seed = int(np.random.SeedSequence([*entropy, 1]).generate_state(1)[0] % 2**31)
    ours = answer(collection, seed, n_null=task.n_null, with_statuses=kind.group == MISSING)
    pooled = np.concatenate(collection.tables)
    choices = {
        competitor.name: competitor.number_for(pooled, seed)
        for competitor in COMPETITORS
        if not competitor.missing() and (not competitor.is_slow or (task.with_slow and kind.right != (1,)))
    }
    return Outcome(kind.name, task.number, ours.verdict, ours.n_clusters, choices, ours.statuses)
