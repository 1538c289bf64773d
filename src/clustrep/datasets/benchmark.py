"""The paper's benchmark sets, downloaded once and cached, or taken from a folder.

A file whose sha256 is not that of the published file is never used.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import os
from os import PathLike
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from clustrep.checks import check_choice
from clustrep.data.studies import Studies
from clustrep.data.study import Study
from clustrep.errors import DataError, invalid

# The repository of Masoero et al. (2023), at one commit, whose files do not change.
ADDRESS = (
    "https://raw.githubusercontent.com/lorenzomasoero/clustering_replicability/9d9b51ab299114a95725b754e7c45e41d0f3691d"
)
SHAPES = ("aggregation", "compound", "d31", "r15", "spiral")
DIMENSIONS = (32, 64)
COHORTS = {"mainz": "MAINZ", "transbig": "TRANS", "vdx": "VDX"}
GENES = {"205225_at": "ESR1", "216836_s_at": "ERBB2", "208079_s_at": "AURKA"}
SUBTYPES = ("PAM50", "HK_3GENE")
FOLDERS = {
    "shapes": "synthetic_data/Data/Shapes",
    "gaussians": "synthetic_data/Data/Gaussians",
    "breast": "real_data/Data",
}
# The published files: name and SHA-256, as pooch reads them, too.
SHA256 = dict(line.split() for line in (Path(__file__).parent / "registry.txt").read_text().splitlines())
INSTEAD = "pass folder= or set CLUSTREP_DATA to a folder that holds the file"


def load_shape(name: str, folder: str | PathLike[str] | None = None) -> Study:
    """Load one of the two-dimensional benchmark sets of the paper's section 4.1.

    The file is downloaded once, which needs pooch, and cached.

    Parameters
    ----------
    name : {"aggregation", "compound", "d31", "r15", "spiral"}
        Which set: 788, 399, 3,100, 600 or 312 samples in 7, 6, 31, 15 or 3 classes.
    folder : path, default=None
        A folder that holds the file as shapes/<name>.txt, instead of a download. By default the folder that the
        environment variable CLUSTREP_DATA names, if it is set.

    Returns
    -------
    Study
        With the features x and y, and the true classes as known labels.

    Raises
    ------
    DataError
        If the file can't be downloaded or read, or is not the published one.

    See Also
    --------
    load_dim : Benchmark sets in 32 and 64 dimensions.

    Notes
    -----
    "aggregation", "compound" and "spiral" have classes that are not convex, or of very different sizes and densities:
    k-means can't find them, while single linkage finds those of "spiral".

    References
    ----------
    .. [1] Masoero, L., Thomas, E., Parmigiani, G., Tyekucheva, S. and Trippa, L. (2023). Cross-study replicability in
       cluster analysis. Statistical Science 38(2), 303-316, section 4.1.
    .. [2] Fränti, P. and Sieranoja, S. (2018). K-means properties on six clustering benchmark datasets. Applied
       Intelligence 48, 4743-4759.

    Examples
    --------
    >>> load_shape("spiral")  # doctest: +SKIP
    Study 'spiral': 312 samples, 2 features, known labels 1, 2, 3
    """
    check_choice(name, "name", SHAPES)
    values = np.loadtxt(_text(f"shapes/{name}.txt", folder))  # (n_samples, 3): x, y, class
    return Study(values[:, :2], name, features=["x", "y"], labels=values[:, 2].astype(np.int64))


def load_dim(dimensions: int = 64, folder: str | PathLike[str] | None = None) -> Study:
    """Load one of the DIM sets of the paper's section 4.2: 16 separated Gaussian clusters of 64 samples each.

    The file is downloaded once, which needs pooch, and cached.

    Parameters
    ----------
    dimensions : {32, 64}, default=64
        The number of features.
    folder : path, default=None
        A folder that holds the file as gaussians/dim032.txt or gaussians/dim064.txt, instead of a download. By default
        the folder that the environment variable CLUSTREP_DATA names, if it is set.

    Returns
    -------
    Study
        Named dim032 or dim064; 1,024 samples, without labels. The samples are in the order of their clusters.

    Raises
    ------
    DataError
        If the file can't be downloaded or read, or is not the published one.

    See Also
    --------
    load_shape : Benchmark sets in the plane.
    sklearn.datasets.make_blobs : Simulates sets like these.

    Notes
    -----
    The clusters are so far apart that an algorithm that does not find them, with 16 given as their number, is at
    fault: most often k-means with a single random start.

    References
    ----------
    .. [1] Masoero, L., Thomas, E., Parmigiani, G., Tyekucheva, S. and Trippa, L. (2023). Cross-study replicability in
       cluster analysis. Statistical Science 38(2), 303-316, section 4.2.
    .. [2] Fränti, P., Virmajoki, O. and Hautamäki, V. (2006). Fast agglomerative clustering using a k-nearest neighbor
       graph. IEEE Transactions on Pattern Analysis and Machine Intelligence 28(11), 1875-1881.

    Examples
    --------
    >>> load_dim(32)  # doctest: +SKIP
    Study 'dim032': 1,024 samples, 32 features
    """
    if isinstance(dimensions, bool) or dimensions not in DIMENSIONS:
        raise invalid("dimensions", "32 or 64", dimensions)
    name = f"dim{dimensions:03d}"
    values = np.loadtxt(_text(f"gaussians/{name}.txt", folder))
    return Study(values, name, features=[f"x{j}" for j in range(1, dimensions + 1)], label=False)


def load_breast(
    subtypes: Literal["PAM50", "HK_3GENE"] | None = None, folder: str | PathLike[str] | None = None
) -> Studies:
    """Load the expression of ESR1, ERBB2 and AURKA in three breast cancer cohorts, of the paper's section 5.

    The files are downloaded once, which needs pooch, and cached.

    Parameters
    ----------
    subtypes : {"PAM50", "HK_3GENE"}, default=None
        Which classification of the patients becomes the known labels: that by fifty genes, or that by the three genes.
        By default there are no labels.
    folder : path, default=None
        A folder that holds the files as breast/VDX_3_SV.csv and so on, instead of a download. By default the folder
        that the environment variable CLUSTREP_DATA names, if it is set.

    Returns
    -------
    Studies
        mainz, transbig and vdx: 200, 198 and 344 patients.

    Raises
    ------
    DataError
        If a file can't be downloaded or read, or is not the published one.

    Notes
    -----
    The labels "HK_3GENE" are computed from the same three genes that are the features, those of "PAM50" are not.

    References
    ----------
    .. [1] Masoero, L., Thomas, E., Parmigiani, G., Tyekucheva, S. and Trippa, L. (2023). Cross-study replicability in
       cluster analysis. Statistical Science 38(2), 303-316, section 5.
    .. [2] Haibe-Kains, B. et al. (2012). A three-gene model to robustly identify breast cancer molecular subtypes.
       Journal of the National Cancer Institute 104(4), 311-325.

    Examples
    --------
    >>> load_breast("PAM50")  # doctest: +SKIP
    Studies: 3 studies, 3 shared features
      mainz     200 samples, known labels Basal, Her2, LumA, LumB, Normal
      transbig  198 samples, known labels Basal, Her2, LumA, LumB, Normal
      vdx       344 samples, known labels Basal, Her2, LumA, LumB, Normal
    """
    if subtypes is not None:
        check_choice(subtypes, "subtypes", SUBTYPES, or_else="None")
    studies = []
    for name, file in COHORTS.items():
        frame = _table(f"breast/{file}_3_SV.csv", folder).rename(columns=GENES)
        labels = None if subtypes is None else _table(f"breast/{name}_subtypes.csv", folder)[subtypes]
        studies.append(Study(frame, name, labels=labels))  # labels are put in the order of the patients' names
    return Studies(studies)


def _table(file: str, folder: str | PathLike[str] | None) -> pd.DataFrame:
    return pd.read_csv(_text(file, folder), index_col=0, float_precision="round_trip")


# ---------------------------------------------------------------------------------------------------------------------
# files from a folder, the cache or the network


def _text(file: str, folder: str | PathLike[str] | None) -> io.StringIO:
    """Return the content of a published file, from a folder if one is named, else from the cache or the network."""
    if not isinstance(folder, str | PathLike | None):
        raise invalid("folder", "the path of a folder", folder)
    source = folder if folder is not None else os.environ.get("CLUSTREP_DATA")
    if not source:
        return io.StringIO(_downloaded(file).decode("ascii"))
    path = Path(source) / file
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"{path} can't be read ({error.strerror}): {INSTEAD}, or leave both out to download it."
        ) from None
    if hashlib.sha256(content).hexdigest() != SHA256[file]:
        raise DataError(f"{path} is not the published file (its sha256 differs): replace it by {_address(file)}.")
    return io.StringIO(content.decode("ascii"))


def _downloaded(file: str) -> bytes:
    """Take a file from the cache, or download it; only a complete and unchanged download is cached."""
    try:
        pooch = importlib.import_module("pooch")
    except ImportError:
        raise DataError(
            f'To download {file}, install pooch with pip install "clustrep[datasets]"; or {INSTEAD}.'
        ) from None
    address, cache = _address(file), Path(pooch.os_cache("clustrep"))
    try:
        path = pooch.retrieve(address, known_hash=f"sha256:{SHA256[file]}", fname=file, path=cache)
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:  # no connection, no file, no room in the cache; another sha256
        reason = str(error)
    # Not inside the handler: the error would keep the connection open.
    raise DataError(f"{address} can't be downloaded into {cache}: {reason}. Try again, or {INSTEAD}.")


def _address(file: str) -> str:
    kind, _, name = file.partition("/")
    return f"{ADDRESS}/{FOLDERS[kind]}/{name}"
