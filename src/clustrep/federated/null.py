"""Data without clusters at one site: simulated from the moments of one study alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clustrep.checks import read_only
from clustrep.data.study import Study
from clustrep.execution.run import Plan
from clustrep.execution.seeds import FULL_STUDY, Stream, derived_root, make_generator, one_thread, seed_of
from clustrep.federated.disclosure import Disclosure
from clustrep.federated.inquiry import Inquiry
from clustrep.federated.releasing import LearnedFunction, LearnPlan
from clustrep.fitting.resample import Source
from clustrep.fitting.setting import Setting
from clustrep.null.gaussian import Learned, NullModel
from clustrep.null.models import NULLS


@dataclass(frozen=True, eq=False)
class Simulator:
    """Studies like one study, but without clusters: a pure function of their number."""

    study: Study
    model: int  # its place among the models of the question
    simulated: NullModel
    source: Source
    inquiry: Inquiry

    @classmethod
    def of(cls, study: Study, model: str, source: Source, inquiry: Inquiry) -> Simulator:
        """Learn a model from the study."""
        with one_thread():
            simulated = NULLS[model](Learned((study.X.astype(float),), study.X.shape[1]))
        return cls(study, inquiry.null.index(model), simulated, source, inquiry)

    def setting(self, number: int) -> Setting:
        """Simulate one study, and prepare to learn from it."""
        seed = seed_of(self.source.root, Stream.NULL, self.study.name, number, 1 + self.model)
        (table,) = self.simulated(make_generator(seed))
        X = read_only(np.ascontiguousarray(table, dtype=self.study.X.dtype))
        root = derived_root(self.source.root, Stream.NULL, number)
        source = Source(self.source.resampling, root, self.source.accelerate)
        study = self.study.with_table(X).scaled_again()
        return Setting.prepare(source, [study], self.inquiry.configurations, rotate=False)


@dataclass(frozen=True, eq=False)
class SimulatedSite(Plan[list[LearnedFunction]]):
    """Learn the functions of simulated studies."""

    simulator: Simulator
    rules: Disclosure
    description: str = "data without clusters"

    def replicate(self, number: int) -> list[LearnedFunction]:
        """Learn the functions of one simulated study."""
        return LearnPlan(self.simulator.setting(number), self.rules).replicate(FULL_STUDY)
