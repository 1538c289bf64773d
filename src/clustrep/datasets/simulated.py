"""Simulated studies, whose true clusters are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real

import numpy as np

from clustrep.checks import check_integer, check_known, check_positive
from clustrep.data.studies import Studies
from clustrep.data.study import Study
from clustrep.errors import ParameterError
from clustrep.execution.seeds import Rng, make_generator

COHORTS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")
SUBTYPES = ("A", "B", "C", "D", "E", "F", "G", "H")


def simulate_cohorts(
    *,
    n_cohorts: int = 4,
    n_samples: int = 120,
    n_subtypes: int = 4,
    n_features: int = 10,
    separation: float = 7.0,
    missing: Mapping[str, str] | None = None,
    shifted: Mapping[str, float] | None = None,
    rng: Rng = None,
) -> Studies:
    """Simulate cohorts that share subtypes; the true subtypes are the studies' known labels.

    A sample of subtype k is drawn from a Gaussian distribution with mean c_k and unit variance in every feature,
    x = c_k + e with e ~ N(0, I). The means c_1, c_2, … are the corners of a regular simplex with edges of length
    `separation`, |c_j - c_k| = separation for all j ≠ k, in a random direction. Subtypes are equally frequent.

    Parameters
    ----------
    n_cohorts, n_samples, n_subtypes, n_features : int, default=4, 120, 4, 10
        Numbers of cohorts (at most 10, named by Greek letters), samples in each, subtypes (at most 8, named A, B, …)
        and features (at least as many as subtypes).
    separation : float, default=7.0
        Distance between any two means, in standard deviations.
    missing : mapping of cohort to subtype, default=None
        Which subtype a cohort lacks; by default "gamma" lacks the last one.
    shifted : mapping of cohort to float, default=None
        Which cohort is measured on another scale: its values are doubled, and this number is added to each; by default
        10 to those of "delta".
    rng : int, Generator, SeedSequence or None, default=None
        The seed.

    Returns
    -------
    Studies
        alpha, beta, gamma, …, each with a table of shape (n_samples, n_features) and its subtypes as known labels.

    See Also
    --------
    simulate_atlas : Counts of cells from several laboratories.

    Notes
    -----
    The defaults make one cohort in which a subtype does not exist, so that it can't replicate there, and one on another
    scale, which has to be scaled before its subtypes replicate (see `Studies.scaled`). Real cohorts are harder: their
    subtypes differ in size, shape and spread, and features are correlated within subtypes.

    Examples
    --------
    >>> simulate_cohorts(rng=0)
    Studies: 4 studies, 10 shared features
      alpha  120 samples, known labels A, B, C, D
      beta   120 samples, known labels A, B, C, D
      gamma  120 samples, known labels A, B, C
      delta  120 samples, known labels A, B, C, D
    """
    _check_number(n_cohorts, "n_cohorts", 1, len(COHORTS))
    _check_number(n_subtypes, "n_subtypes", 2, len(SUBTYPES))
    check_integer(n_samples, "n_samples", at_least=2)
    check_integer(n_features, "n_features", at_least=n_subtypes)
    cohorts, subtypes = COHORTS[:n_cohorts], np.array(SUBTYPES[:n_subtypes])
    if missing is None:
        missing = {"gamma": subtypes[-1]} if "gamma" in cohorts else {}
    if shifted is None:
        shifted = {"delta": 10.0} if "delta" in cohorts else {}
    check_positive(separation, "separation")
    for name, mapping in (("missing", missing), ("shifted", shifted)):
        if not isinstance(mapping, Mapping):
            raise ParameterError(f"{name} must map cohorts, such as {{'alpha': ...}}; got {mapping!r}.", parameter=name)
        for cohort in mapping:
            check_known(cohort, "cohort", cohorts, parameter=name)
    for subtype in missing.values():
        check_known(subtype, "subtype", list(subtypes), parameter="missing")
    for shift in shifted.values():
        if isinstance(shift, bool) or not isinstance(shift, Real) or not np.isfinite(float(shift)):
            raise ParameterError(f"shifted must map cohorts to numbers, got {shift!r}.", parameter="shifted")
    generator = make_generator(rng)
    directions, _ = np.linalg.qr(generator.normal(size=(n_features, n_subtypes)))
    centres = directions.T * separation / np.sqrt(2)  # (n_subtypes, n_features): orthogonal, so equally far apart
    studies = []
    for cohort in cohorts:
        present = np.flatnonzero(subtypes != missing.get(cohort))
        truth = np.sort(generator.choice(present, size=n_samples))
        X = centres[truth] + generator.normal(size=(n_samples, n_features))
        if cohort in shifted:
            X = 2 * X + shifted[cohort]
        studies.append(
            Study(
                X,
                cohort,
                features=[f"gene{j}" for j in range(1, n_features + 1)],
                samples=[f"{cohort}{i}" for i in range(1, n_samples + 1)],
                labels=subtypes[truth],
            )
        )
    return Studies(studies)


def _check_number(value: int, name: str, low: int, high: int) -> None:
    check_integer(value, name, at_least=low)
    if value > high:
        raise ParameterError(f"{name} must be at most {high}, got {value}.", parameter=name)


# ---------------------------------------------------------------------------------------------------------------------
# A simulated atlas of single cells: donors in laboratories on two platforms, whose cell types are known


# Separated types with their shares, and the two ends of a continuum, which has the remaining share.
TYPES = {"T cell": 0.25, "B cell": 0.2, "monocyte": 0.2, "NK cell": 0.1}
ENDS = ("progenitor", "mature")
PLATFORMS = ("droplet", "plate")
# Counts of a cell on either platform, on average.
DEPTHS = {"droplet": 300.0, "plate": 600.0}
# How many genes mark each type, and how many times more of them it has; the ends of the continuum differ by as many.
MARKERS, FOLD = 6, 8.0
# Standard deviations of log factors: of a gene's level, of a gene on a platform and in a donor, and of a cell's total.
LEVEL, PLATFORM, DONOR, TOTAL = 0.6, 0.1, 0.05, 0.25
MOST_LABS = 10


def simulate_atlas(
    *,
    n_labs: int = 4,
    n_donors: int = 3,
    n_cells: int = 300,
    n_genes: int = 50,
    missing: Mapping[str, str | Sequence[str]] | None = None,
    rng: Rng = None,
) -> Studies:
    """Simulate an atlas: counts of cells from several donors in each of several laboratories, on two platforms.

    A count is Poisson with mean N_c · p_g, where N_c is the total of the cell and p_g the share of the gene: its level,
    times 8 if it marks the type of the cell, times factors of the platform and of the donor. There are four separated
    types, and a continuum: the cells between "progenitor" and "mature" lie anywhere on the way from one to the other,
    uniformly, and are labelled by the nearer end. These two are no separate clusters.

    Parameters
    ----------
    n_labs, n_donors, n_cells, n_genes : int, default=4, 3, 300, 50
        Numbers of laboratories (at most 10), donors of each, cells of each, and genes (at least 40). Every second
        laboratory is on the other platform.
    missing : mapping of laboratory to type or types, default=None
        Which of "T cell", "B cell", "monocyte" and "NK cell" a laboratory lacks; by default "lab 2" lacks NK cells and
        "lab 3" B cells.
    rng : int, Generator, SeedSequence or None, default=None
        The seed.

    Returns
    -------
    Studies
        "lab 1", "lab 2", …, with the types as known labels, and "donor" and "platform" as groups.

    See Also
    --------
    simulate_cohorts : Gaussian subtypes in cohorts.
    Studies.normalised : What to do with counts first.

    Notes
    -----
    A simulated atlas is easier than a real one: there are few types, all with markers of the same strength, counts are
    Poisson, and platforms and donors change genes by little (standard deviations of 10 % and 5 %), the same for all
    types.

    Examples
    --------
    >>> simulate_atlas(rng=0)
    Studies: 4 studies, 50 shared features
      lab 1  300 samples, known labels B cell, NK cell, T cell, mature, monocyte and 1 more
      lab 2  300 samples, known labels B cell, T cell, mature, monocyte, progenitor
      lab 3  300 samples, known labels NK cell, T cell, mature, monocyte, progenitor
      lab 4  300 samples, known labels B cell, NK cell, T cell, mature, monocyte and 1 more
    """
    _check_number(n_labs, "n_labs", 1, MOST_LABS)
    check_integer(n_donors, "n_donors")
    check_integer(n_cells, "n_cells", at_least=2 * n_donors)
    check_integer(n_genes, "n_genes", at_least=40)
    labs = [f"lab {i}" for i in range(1, n_labs + 1)]
    if missing is None:
        missing = {lab: name for lab, name in {"lab 2": "NK cell", "lab 3": "B cell"}.items() if lab in labs}
    lacking = {}
    for lab, types in missing.items():
        check_known(lab, "laboratory", labs, parameter="missing")
        lacking[lab] = (types,) if isinstance(types, str) else tuple(types)
        for name in lacking[lab]:
            check_known(name, "type that a laboratory can lack", TYPES, parameter="missing")
    generator = make_generator(rng)
    # The expected share of every gene, by type; those of the ends of the continuum are its ends.
    levels, markers = np.exp(LEVEL * generator.normal(size=n_genes)), generator.permutation(n_genes)
    profiles = {}
    for i, name in enumerate([*TYPES, *ENDS]):
        raised = levels.copy()
        raised[markers[i * MARKERS : (i + 1) * MARKERS]] *= FOLD
        profiles[name] = raised / raised.sum()
    start, end = (profiles[name] for name in ENDS)
    on_platform = {name: np.exp(PLATFORM * generator.normal(size=n_genes)) for name in PLATFORMS}
    shares, studies = {**TYPES, "continuum": 1 - sum(TYPES.values())}, []
    for number, lab in enumerate(labs):
        platform = PLATFORMS[number % len(PLATFORMS)]
        kept = {name: share for name, share in shares.items() if name not in lacking.get(lab, ())}
        drawn = generator.choice(list(kept), size=n_cells, p=np.array(list(kept.values())) / sum(kept.values()))
        way = generator.uniform(size=n_cells)  # of the cells on the continuum
        between = np.exp((1 - way)[:, None] * np.log(start) + way[:, None] * np.log(end))
        separate = np.array([profiles.get(name, start) for name in drawn])
        expected = np.where((drawn == "continuum")[:, None], between, separate)
        donor = np.sort(generator.integers(n_donors, size=n_cells))
        of_donor = np.exp(DONOR * generator.normal(size=(n_donors, n_genes)))
        expected = expected * on_platform[platform] * of_donor[donor]
        totals = DEPTHS[platform] * np.exp(TOTAL * generator.normal(size=n_cells))
        counts = generator.poisson(expected / expected.sum(axis=1, keepdims=True) * totals[:, None])
        study = Study(
            counts.astype(float),
            lab,
            features=[f"gene {j}" for j in range(1, n_genes + 1)],
            samples=[f"{lab}/cell {i}" for i in range(1, n_cells + 1)],
            labels=np.where(drawn == "continuum", np.where(way < 0.5, *ENDS), drawn),
            groups={"donor": [f"{lab}/donor {d + 1}" for d in donor], "platform": [platform] * n_cells},
        )
        studies.append(study)
    return Studies(studies)
