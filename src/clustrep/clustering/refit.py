"""Clustering functions of a finished run, learned again from their seeds."""

from __future__ import annotations

from dataclasses import dataclass

from clustrep.clustering.function import ClusteringFunction
from clustrep.clustering.path import Setting
from clustrep.clustering.sample import Configuration, Source
from clustrep.engine.replicates import FULL_STUDY, Failed, attempt, one_thread
from clustrep.engine.run import EXACT
from clustrep.errors import ParameterError
from clustrep.studies.study import Study
from clustrep.tables.agreement import Agreement
from clustrep.tables.noise import Noise


@dataclass(frozen=True, eq=False)
class RunOrigin:
    """What a result was computed from, kept in memory only: data does not travel in result files."""

    source: Source
    studies: tuple[Study, ...]
    configuration: Configuration
    agreements: tuple[Agreement, ...]
    noise: Noise

    def refit(self, s: int, resample: int | None = None) -> ClusteringFunction:
        """Learn the clustering function of a study as it is, or of its draw in a resample, as the run did."""
        if self.source.neighbours != EXACT:
            raise ParameterError(
                f"Clustering functions are not learned again by neighbours={self.source.neighbours!r}, whose index is "
                "not kept: run with exact neighbours.",
                parameter="neighbours",
            )
        replicate = FULL_STUDY if resample is None else 1 + resample
        setting = Setting.prepare(self.source, self.studies, [self.configuration], for_run=False)
        with one_thread():  # as in the run
            function = attempt(setting.paths[0].learn([setting.sample(s, replicate)])[0].function, 0)
        study = self.studies[s]
        if isinstance(function, Failed):
            where = "as it is" if resample is None else f"in resample {resample}"
            raise ParameterError(
                f"Study {study.name!r} {where} has no clustering function: {function.cause}.", parameter=None
            )
        function.features = study.features if study.features_are_named else None
        return function
