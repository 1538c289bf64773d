"""What is asked of one study: which clusterer, how many clusters, which existing labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clustrep.checks import check_n_clusters
from clustrep.clustering.parameters import Clusterer, KnownLabels, check_clusterer, name_of
from clustrep.clustering.path import Setting
from clustrep.clustering.sample import Configuration, Source, configurations_of, provenance_of_run
from clustrep.engine.replicates import Rng, root_entropy
from clustrep.engine.run import check_n_jobs, config
from clustrep.errors import ParameterError
from clustrep.label_checks import check_labels_of
from clustrep.provenance import Provenance
from clustrep.resampling import Perturbation
from clustrep.studies.collection import Studies
from clustrep.studies.study import Study
from clustrep.tables.contingency import Partition, encode
from clustrep.types import Labels


@dataclass(frozen=True, eq=False)
class Question:
    """One study, a clusterer with its numbers of clusters, and existing clusters where there are any."""

    study: Study
    configurations: tuple[Configuration, ...]
    labels: Labels | None
    root: int
    accelerate: bool
    n_jobs: int | None

    @classmethod
    def of(
        cls,
        clusterer: Clusterer,
        X: Any,
        n_clusters: Any,
        labels: Any,
        rng: Rng,
        n_jobs: int | None,
        *,
        labels_suffice: bool = False,
    ) -> Question:
        """Check what the user passed. `labels_suffice`: existing labels may be used instead of a clusterer."""
        study = one_study(X)
        known = None if labels is None else labels_of(labels, study)
        if clusterer is None:
            if not labels_suffice:
                raise ParameterError(
                    "clusterer is None: a clusterer must find the clusters again, also those in labels.",
                    parameter="clusterer",
                )
            if known is None:
                raise ParameterError(
                    "clusterer is None: pass a clusterer, or existing labels with labels=.", parameter="clusterer"
                )
            if n_clusters is not None:
                raise ParameterError(
                    "n_clusters needs a clusterer: labels have the clusters that they have.", parameter="n_clusters"
                )
            configurations = [Configuration("known labels", KnownLabels({study.name: known}))]
        else:
            if labels_suffice and known is not None:
                raise ParameterError(
                    "Pass either a clusterer or labels, not both: labels are used instead of a clusterer.",
                    parameter="labels",
                )
            numbers = None if n_clusters is None else check_n_clusters(n_clusters)
            configurations = configurations_of(name_of(clusterer), check_clusterer(clusterer), numbers)
        return cls(study, tuple(configurations), known, root_entropy(rng), config().accelerate, check_n_jobs(n_jobs))

    def setting(self, perturbation: Perturbation) -> Setting:
        """Prepare for draws of one kind."""
        source = Source(perturbation, self.root, self.accelerate)
        return Setting.prepare(source, (self.study,), self.configurations)

    @property
    def reference(self) -> Partition | None:
        """The existing partition."""
        return None if self.labels is None else encode([self.labels])[0]

    def provenance(self, perturbation: Perturbation, **parameters: Any) -> Provenance:
        """Record how a result was computed."""
        return provenance_of_run(
            Source(perturbation, self.root, self.accelerate),
            [self.study],
            self.configurations,
            labels="the clusterer's" if self.labels is None else "known",
            **parameters,
        )


def one_study(X: Any, name: str = "X") -> Study:
    """Take a study, or a table as one of this name."""
    if isinstance(X, Studies | Mapping):
        raise ParameterError(
            f"{name} must be one study or table, got {type(X).__name__}: pick one, studies[name], or measure across "
            "all of them with replicability.",
            parameter=name,
        )
    if hasattr(X, "fit_predict"):
        raise ParameterError(
            f"{name} must be a table of samples by features, got {type(X).__name__}: are the arguments the wrong way "
            "round?",
            parameter=name,
        )
    return X if isinstance(X, Study) else Study(X, name)


def labels_of(labels: Any, study: Study) -> Labels:
    """Check existing labels of a study's samples; True takes its own."""
    if labels is True:
        if study.labels is None:
            raise ParameterError(
                f"labels is True, but study {study.name!r} has no known labels: pass them, or give the study its "
                "own, Study(X, name, labels=...).",
                parameter="labels",
            )
        return study.labels
    return check_labels_of(labels, study.name, len(study), study.samples if study.samples_are_named else None)
