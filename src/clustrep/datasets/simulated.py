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
from clustrep.text import plural
from clustrep.types import FloatArray

COHORTS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")
SUBTYPES = ("A", "B", "C", "D", "E", "F", "G", "H")

# As measured in the DIM sets: centres have coordinates from 32 to 222; clusters have standard deviations about 1.8 (64
# dimensions) and 2.6 (32), and the nearest centres are 35 and 21 of them times √d apart.
LOWEST, HIGHEST = 32.0, 222.0
DEVIATION = 2.0
APART = 10.0
TRIES = 1000


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
    n_cohorts, n_samples, n_subtypes, n_features : int
        Numbers of cohorts (at most 10, named by Greek letters), samples in each, subtypes (at most 8, named A, B, …)
        and features (at least as many as subtypes).
    separation : float
        Distance between any two means, in standard deviations.
    missing : mapping of cohort to subtype, optional
        Which subtype a cohort lacks; by default "gamma" lacks the last one.
    shifted : mapping of cohort to float, optional
        Which cohort is measured on another scale: its values are doubled, and this number is added to each; by default
        10 to those of "delta".
    rng : int, Generator, SeedSequence or None
        The seed.

    Returns
    -------
    Studies
        alpha, beta, gamma, …

    See Also
    --------
    simulate_dim : One study with many well separated clusters.

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
    _check_mappings(missing, shifted, cohorts, list(subtypes))
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


def simulate_dim(dimensions: int = 64, n_clusters: int = 16, n_samples: int = 1024, rng: Rng = None) -> Study:
    """Simulate well separated Gaussian clusters like those of the DIM sets; the true clusters are the known labels.

    A sample of cluster k is x = c_k + 2 e with e ~ N(0, I). The centres c_k are uniform between 32 and 222 in every
    coordinate, under the condition that |c_j - c_k| ≥ 20 √dimensions for all j ≠ k.

    Parameters
    ----------
    dimensions, n_clusters, n_samples : int
        Numbers of features (named x1, x2, …), of clusters (numbered from 1) and of samples.
    rng : int, Generator, SeedSequence or None
        The seed.

    Returns
    -------
    Study
        Named by its dimensions, such as dim064. The samples are in the order of their clusters, as in the DIM sets;
        the sizes of the clusters differ by at most one.

    Raises
    ------
    ParameterError
        If there is no room for so many clusters that far apart.

    See Also
    --------
    load_dim : The DIM sets themselves.
    simulate_cohorts : Several studies that share clusters.

    Notes
    -----
    The nearest centres are at least 10 √dimensions standard deviations apart, two samples of the same cluster about
    √(2 dimensions): with the right number of clusters, every sound algorithm finds them.

    Examples
    --------
    >>> simulate_dim(dimensions=32, n_clusters=3, n_samples=100, rng=0)
    Study 'dim032': 100 samples, 32 features, known labels 1, 2, 3
    """
    check_integer(dimensions, "dimensions")
    check_integer(n_clusters, "n_clusters", at_least=2)
    check_integer(n_samples, "n_samples", at_least=n_clusters)
    generator = make_generator(rng)
    centres = _separate_centres(n_clusters, dimensions, generator)
    truth = np.sort(np.arange(n_samples) % n_clusters)
    X = centres[truth] + DEVIATION * generator.normal(size=(n_samples, dimensions))
    features = [f"x{j}" for j in range(1, dimensions + 1)]
    return Study(X, f"dim{dimensions:03d}", features=features, labels=truth + 1)


def _separate_centres(n_clusters: int, dimensions: int, generator: np.random.Generator) -> FloatArray:
    """Draw centres one by one, each again until it is far enough from those before it."""
    distance = APART * DEVIATION * np.sqrt(dimensions)
    centres = np.empty((0, dimensions))
    for _ in range(n_clusters):
        for _ in range(TRIES):
            centre = generator.uniform(LOWEST, HIGHEST, size=dimensions)
            if np.all(np.linalg.norm(centres - centre, axis=1) >= distance):
                break
        else:
            raise ParameterError(
                f"There is no room for {n_clusters} clusters that far apart in {plural(dimensions, 'dimension')}: "
                "take fewer clusters, or more dimensions.",
                parameter="n_clusters",
            )
        centres = np.vstack([centres, centre])
    return centres


def _check_mappings(
    missing: Mapping[str, str], shifted: Mapping[str, float], cohorts: Sequence[str], subtypes: Sequence[str]
) -> None:
    for name, mapping in (("missing", missing), ("shifted", shifted)):
        if not isinstance(mapping, Mapping):
            raise ParameterError(f"{name} must map cohorts, such as {{'alpha': ...}}; got {mapping!r}.", parameter=name)
    for shift in shifted.values():
        if isinstance(shift, bool) or not isinstance(shift, Real) or not np.isfinite(float(shift)):
            raise ParameterError(f"shifted must map cohorts to numbers, got {shift!r}.", parameter="shifted")
    for cohort in (*missing, *shifted):
        check_known(cohort, "cohort", cohorts, parameter="missing" if cohort in missing else "shifted")
    for subtype in missing.values():
        check_known(subtype, "subtype", subtypes, parameter="missing")


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
    n_labs, n_donors, n_cells, n_genes : int
        Numbers of laboratories (at most 10), donors of each, cells of each, and genes (at least 40). Every second
        laboratory is on the other platform.
    missing : mapping of laboratory to type or types, optional
        Which of "T cell", "B cell", "monocyte" and "NK cell" a laboratory lacks; by default "lab 2" lacks NK cells and
        "lab 3" B cells.
    rng : int, Generator, SeedSequence or None
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
    check_integer(n_labs, "n_labs", at_least=1)
    if n_labs > MOST_LABS:
        raise ParameterError(f"n_labs must be at most {MOST_LABS}, got {n_labs}.", parameter="n_labs")
    check_integer(n_donors, "n_donors", at_least=1)
    check_integer(n_cells, "n_cells", at_least=2 * n_donors)
    check_integer(n_genes, "n_genes", at_least=40)
    labs = [f"lab {i}" for i in range(1, n_labs + 1)]
    lacking = _lacking({"lab 2": "NK cell", "lab 3": "B cell"} if missing is None else missing, labs, missing is None)
    generator = make_generator(rng)
    profiles = _profiles(n_genes, generator)
    on_platform = {name: np.exp(PLATFORM * generator.normal(size=n_genes)) for name in PLATFORMS}
    return Studies(
        [
            _lab(lab, i, n_donors, n_cells, lacking.get(lab, ()), profiles, on_platform, generator)
            for i, lab in enumerate(labs)
        ]
    )


def _profiles(n_genes: int, generator: np.random.Generator) -> dict[str, FloatArray]:
    """Draw the expected share of every gene, by type; those of the ends of the continuum are its ends."""
    levels = np.exp(LEVEL * generator.normal(size=n_genes))
    markers = generator.permutation(n_genes)
    profiles = {}
    for i, name in enumerate([*TYPES, *ENDS]):
        raised = levels.copy()
        raised[markers[i * MARKERS : (i + 1) * MARKERS]] *= FOLD
        profiles[name] = raised / raised.sum()
    return profiles


def _lab(
    lab: str,
    number: int,
    n_donors: int,
    n_cells: int,
    lacking: Sequence[str],
    profiles: Mapping[str, FloatArray],
    on_platform: Mapping[str, FloatArray],
    generator: np.random.Generator,
) -> Study:
    """Draw the cells of one laboratory."""
    platform = PLATFORMS[number % len(PLATFORMS)]
    shares = {**TYPES, "continuum": 1 - sum(TYPES.values())}
    kept = {name: share for name, share in shares.items() if name not in lacking}
    drawn = generator.choice(list(kept), size=n_cells, p=np.array(list(kept.values())) / sum(kept.values()))
    way = generator.uniform(size=n_cells)  # of the cells on the continuum
    start, end = (profiles[name] for name in ENDS)
    between = np.exp((1 - way)[:, None] * np.log(start) + way[:, None] * np.log(end))
    separate = np.array([profiles.get(name, start) for name in drawn])
    expected = np.where((drawn == "continuum")[:, None], between, separate)
    donor = np.sort(generator.integers(n_donors, size=n_cells))
    of_donor = np.exp(DONOR * generator.normal(size=(n_donors, expected.shape[1])))
    expected = expected * on_platform[platform] * of_donor[donor]
    totals = DEPTHS[platform] * np.exp(TOTAL * generator.normal(size=n_cells))
    counts = generator.poisson(expected / expected.sum(axis=1, keepdims=True) * totals[:, None])
    labels = np.where(drawn == "continuum", np.where(way < 0.5, *ENDS), drawn)
    return Study(
        counts.astype(float),
        lab,
        features=[f"gene {j}" for j in range(1, counts.shape[1] + 1)],
        samples=[f"{lab}/cell {i}" for i in range(1, n_cells + 1)],
        labels=labels,
        groups={"donor": [f"{lab}/donor {d + 1}" for d in donor], "platform": [platform] * n_cells},
    )


def _lacking(
    missing: Mapping[str, str | Sequence[str]], labs: Sequence[str], by_default: bool
) -> dict[str, tuple[str, ...]]:
    """Check which types laboratories lack; those of the default only in laboratories that there are."""
    lacking = {}
    for lab, types in missing.items():
        if by_default and lab not in labs:
            continue
        check_known(lab, "laboratory", labs, parameter="missing")
        lacking[lab] = (types,) if isinstance(types, str) else tuple(types)
        for name in lacking[lab]:
            check_known(name, "type that a laboratory can lack", TYPES, parameter="missing")
    return lacking
