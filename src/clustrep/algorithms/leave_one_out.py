"""Every study against all others together."""

from __future__ import annotations

import numpy as np

from clustrep.agreement.agreements import AgreementSpec, resolve_agreement
from clustrep.agreement.contingency import RULES, Noise
from clustrep.algorithms.pairwise import LeaveOneStudyOut
from clustrep.algorithms.replicability import ScorePlan, check_configuration, check_several
from clustrep.checks import check_choice, check_integer, read_only
from clustrep.data.studies import StudiesLike, as_studies
from clustrep.execution.failures import Failures
from clustrep.execution.run import run
from clustrep.execution.seeds import FULL_STUDY, Rng
from clustrep.fitting.parameters import Clusterer
from clustrep.fitting.resample import Source, provenance_of_run
from clustrep.fitting.setting import Setting
from clustrep.resampling.strategies import Resampling, resampling_for


def leave_one_study_out(
    clusterer: Clusterer,
    studies: StudiesLike,
    *,
    agreement: AgreementSpec = "ari",
    n_resamples: int = 100,
    noise: Noise = "label",
    resampling: Resampling | None = None,
    rng: Rng = None,
    n_jobs: int | None = None,
    n_landmarks: int | None = None,
) -> LeaveOneStudyOut:
    """Train on all studies but one, pooled, and test on that one, for every study.

    For study t the score is R̂ = r*( Ψ(X_t; X₋ₜ), Ψ(X_t; X_t) ), where X₋ₜ holds the samples of all other studies.

    Parameters
    ----------
    clusterer, studies, agreement, n_resamples, noise, resampling, rng, n_jobs, n_landmarks
        As in `replicability`; one agreement. The draws of a tested study are those of `replicability` with the same
        seed.

    Returns
    -------
    LeaveOneStudyOut

    See Also
    --------
    replicability : every study against every other.

    Notes
    -----
    Pooling assumes that the studies are on one scale: differences between studies that are larger than those between
    clusters become clusters of the pool. Scale the studies first (`Studies.scaled`).

    Meant for the question what a further study would be worth: a pool of several studies is the training set that one
    would use in practice. Large studies dominate the pool. The scores of different test studies share most of their
    training samples, so they are dependent.

    References
    ----------
    .. [1] Bernau, C. et al. (2014). Cross-study validation for the assessment of prediction algorithms. Bioinformatics
       30(12), i105-i112.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from clustrep.datasets import simulate_cohorts
    >>> studies = simulate_cohorts(n_cohorts=3, missing={}, shifted={}, rng=1).scaled("study")
    >>> leave_one_study_out(KMeans(4, n_init=3), studies, n_resamples=3, rng=0).estimate.round(1)
    array([1., 1., 1.])
    """
    checked = check_several(as_studies(studies))
    chosen_resampling = resampling_for(resampling, tuple(checked.values()))
    configuration = check_configuration(clusterer, None, tuple(checked.values()), chosen_resampling)
    source = Source.of(chosen_resampling, rng, n_landmarks)
    check_integer(n_resamples, "n_resamples")
    check_choice(noise, "noise", RULES)
    chosen = resolve_agreement(agreement)
    scores, causes = [], []
    for name, tested in checked.items():
        others = [checked[other] for other in sorted(checked) if other != name]  # whatever their order
        pooled = others[0].with_samples_of(others[1:], f"all but {name}")
        setting = Setting.prepare(source, (pooled, tested), [configuration])
        plan = ScorePlan(
            setting,
            n_resamples=n_resamples,
            agreements=(chosen,),
            diagonal=False,
            noise=noise,
            description=pooled.name,
        )
        replicates = run(plan, range(FULL_STUDY, n_resamples + 1), n_jobs)
        scores.append([replicate.scores[0, 0, 0, 1] for replicate in replicates])
        causes.append([replicate.causes[0, 0, 0, 1] for replicate in replicates])
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
