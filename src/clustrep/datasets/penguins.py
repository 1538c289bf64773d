"""Penguins of three islands, which come with the package."""

from __future__ import annotations

from pathlib import Path

from clustrep.data.studies import Studies

ISLANDS = Path(__file__).with_name("islands")


def load_penguins() -> Studies:
    """Load 342 penguins of the Palmer Archipelago, a study for each island.

    Adélie penguins live on all three islands, Gentoo penguins on Biscoe alone, Chinstrap penguins on Dream alone: real
    clusters that some studies lack. The data are in the public domain (CC0) [1]_ [2]_; two penguins without
    measurements are left out.

    Returns
    -------
    Studies
        "biscoe" (167 samples), "dream" (124) and "torgersen" (51); four features in mm and g; species as known labels.

    References
    ----------
    .. [1] Gorman, K. B., Williams, T. D. and Fraser, W. R. (2014). Ecological sexual dimorphism and environmental
       variability within a community of Antarctic penguins (genus Pygoscelis). PLOS ONE 9(3), e90081.
    .. [2] Horst, A. M., Hill, A. P. and Gorman, K. B. (2020). palmerpenguins: Palmer Archipelago (Antarctica) penguin
       data. R package version 0.1.0.

    Examples
    --------
    >>> load_penguins()
    Studies: 3 studies, 4 shared features
      biscoe     167 samples, known labels Adelie, Gentoo
      dream      124 samples, known labels Adelie, Chinstrap
      torgersen  51 samples, known labels Adelie
    """
    return Studies.read(*sorted(ISLANDS.glob("*.csv")), label="species")
