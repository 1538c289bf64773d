"""Files that the tests of several readers write."""

from __future__ import annotations

import pytest


@pytest.fixture
def parquet(tmp_path):
    pytest.importorskip("pyarrow")

    def save(frame, name="mainz.parquet", **options):
        frame.to_parquet(tmp_path / name, **options)
        return tmp_path / name

    return save


@pytest.fixture
def h5ad(tmp_path):
    def save(adata, name="cells.h5ad"):
        adata.write_h5ad(tmp_path / name)
        return tmp_path / name

    return save
