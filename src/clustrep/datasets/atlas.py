"""A simulated atlas of single cells: donors in laboratories on two platforms, whose cell types are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from clustrep.checks import check_integer, check_known
from clustrep.engine.replicates import Rng, make_generator
from clustrep.errors import ParameterError
from clustrep.studies.collection import Studies
from clustrep.studies.study import Study
from clustrep.types import FloatArray

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
