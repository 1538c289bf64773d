"""One table in every format, and what the tests of its readers share."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import clustrep as cr

FEATURES = ("ESR1", "ERBB2")
SAMPLES = ("m1", "m2", "m3")
VALUES = np.array([[8.5, -14.25], [13.0, 1e-3], [0.5, 2.0]])
FRAME = pd.DataFrame(VALUES, index=list(SAMPLES), columns=list(FEATURES))
CSV = "id,ERBB2,ESR1\nv1,1.5,2.5\nv2,3.5,4.5\n"


def write(folder, content, name):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def only(path, **options):
    (study,) = cr.Studies.read(path, **options).values()
    return study


def assert_is_the_frame(study):
    assert study.features == FEATURES
    assert study.samples == SAMPLES
    np.testing.assert_array_equal(study.X, VALUES)


def assert_stands_alone(caught):
    """No traceback of a library behind the sentence."""
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


CELLS = np.arange(24.0).reshape(6, 4) ** 1.25
GENES = ("CD3D", "MS4A1", "NKG7", "LYZ")
BARCODES = tuple("uvwxyz")
DONORS = ("d2", "d1", "d2", "d1", "d2", "d1")
TYPES = ("T", "B", "T", "B", "B", "T")
PCA = np.float32(CELLS[:, :2] - 3)


def make(matrix=CELLS, **changes):
    anndata = pytest.importorskip("anndata")
    obs = pd.DataFrame({"donor": DONORS, "type": TYPES, "depth": range(6)}, index=list(BARCODES))
    parts = {
        "obs": obs,
        "var": pd.DataFrame(index=list(GENES)),
        "obsm": {"X_pca": PCA},
        "layers": {"counts": np.rint(CELLS).astype(int)},
    }
    return anndata.AnnData(None if matrix is None else matrix.copy(), **{**parts, **changes})


SERIES = """!Series_title\t"Breast tumours, of one hospital"
!Series_geo_accession\t"GSE1"

!Sample_title\t"tumour 1"\t"tumour 2"\t"tumour 3"
!Sample_geo_accession\t"m1"\t"m2"\t"m3"
!Sample_characteristics_ch1\t"er status: positive"\t"er status: negative"\t"er status: positive"
!Sample_characteristics_ch1\t"grade: 2"\t"age: 40"\t"grade: 3"
!Sample_characteristics_ch1\t"age: 50"\t"grade: 1"\t""
!Sample_characteristics_ch1\t"drug: A"\t"drug: B"\t"drug: A"
!Sample_characteristics_ch1\t"drug: A"\t"drug: C"\t"drug: A"
!Sample_characteristics_ch1\t"no colon"\t"no colon"\t"no colon"
!series_matrix_table_begin
"ID_REF"\t"m1"\t"m2"\t"m3"
"ESR1"\t8.5\t13.0\t0.5
"ERBB2"\t-14.25\t1e-3\t2.0
!series_matrix_table_end
"""
