"""Every study against all others together."""

from __future__ import annotations

from functools import partial

import numpy as np

from clustrep.across.replicability import Plan, check_configuration, check_several, score_replicate
from clustrep.checks import check_flag, check_integer, read_only
from clustrep.clustering.induced import Clusterer
from clustrep.clustering.path import Setting
from clustrep.clustering.recording import provenance_of_run
from clustrep.clustering.sample import Source
from clustrep.engine.replicates import FULL_STUDY, Rng, root_entropy
from clustrep.engine.workers import Execution, run_replicates
from clustrep.failures import Failures
from clustrep.resampling import Bootstrap, Resampling, check_resampling
from clustrep.results.left_out import LeaveOneStudyOut
from clustrep.studies.collection import StudiesLike, as_studies
from clustrep.tables.agreement import AgreementSpec, resolve_agreement
from clustrep.tables.scoring import Noise, check_noise

# ---------------------------------------------------------------------------------------------------------------------
# all but one


def leave_one_study_out(
    clusterer: Clusterer,
    studies: StudiesLike,
    *,
    agreement: AgreementSpec = "ari",
    n_resamples: int = 100,
    noise: Noise = "label",
    resampling: Resampling = Bootstrap(),
    rng: Rng = None,
    accelerate: bool = True,
    n_jobs: int | None = None,
    progress: bool | None = None,
    batch_size: int | None = None,
) -> LeaveOneStudyOut:
    """Train on all studies but one, pooled, and test on that one, for every study.

    Parameters
    ----------
    clusterer, studies, agreement, n_resamples, noise, resampling, rng, accelerate, n_jobs, progress, batch_size
        As in `replicability`; one agreement. The draws of a tested study are those of `replicability` with the same
        seed.

    Returns
    -------
    LeaveOneStudyOut

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from clustrep.datasets import simulate_cohorts
    >>> studies = simulate_cohorts(n_cohorts=3, missing={}, shifted={}, rng=1).scaled("zscore")
    >>> leave_one_study_out(KMeans(4, n_init=3), studies, n_resamples=3, rng=0).estimate.round(1)
    array([1., 1., 1.])
    """
    checked = check_several(as_studies(studies))
    configuration = check_configuration(clusterer, None, tuple(checked.values()), resampling)
    source = Source(check_resampling(resampling), root_entropy(rng), check_flag(accelerate, "accelerate"))
    execution = Execution(n_jobs, progress, batch_size)
    check_integer(n_resamples, "n_resamples")
    check_noise(noise)
    chosen = resolve_agreement(agreement)
    scores, causes = [], []
    for name, tested in checked.items():
        others = [checked[other] for other in sorted(checked) if other != name]  # in whatever order they came
        pooled = others[0].with_samples_of(others[1:], f"all but {name}")
        setting = Setting.prepare(source, (pooled, tested), [configuration])
        plan = Plan(n_resamples, (chosen,), False, noise, setting)
        replicates = run_replicates(
            partial(score_replicate, plan),
            range(FULL_STUDY, n_resamples + 1),
            execution,
            f"all but {name}",
            in_threads=setting.in_threads and chosen.of_counts is not None,
            first_here=plan.compiles,
        )
        scores.append([one.scores[0, 0, 0, 1] for one in replicates])
        causes.append([one.causes[0, 0, 0, 1] for one in replicates])
    table = np.array(scores, dtype=float).T  # (1 + n_resamples, S)
    failed, names = Failures.number(np.array(causes, dtype=object).T)
    Failures.count(failed, names).report("score", nothing_left=bool((failed[1:] > 0).all()))
    return LeaveOneStudyOut(
        clusterer=configuration.name,
        n_clusters=configuration.n_clusters,
        agreement=chosen.name,
        names=checked.names,
        estimate=read_only(table[0]),
        distribution=table[1:],
        failed=failed,
        causes=names,
        provenance=provenance_of_run(
            source,
            tuple(checked.values()),
            [configuration],
            n_resamples=n_resamples,
            noise=noise,
        ),
    )
