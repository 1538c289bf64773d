"""Tables as text and their readers that several tests of delimited files share."""

from __future__ import annotations

import clustrep as cr
from clustrep.errors import DataError, ParameterError

FEATURES = ("ESR1", "ERBB2")
SAMPLES = ("m1", "m2", "m3")
VALUES = [[8.5, -14.25], [13.0, 1e-3], [0.5, 2.0]]
PLAIN = "id,ESR1,ERBB2\nm1,8.5,-14.25\nm2,13.0,1e-3\nm3,0.5,2.0\n"
OTHER = "id,ERBB2,ESR1\nv1,1.5,2.5\nv2,3.5,4.5\n"


def write(folder, content, name="mainz.csv"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(folder, content, name="mainz.csv", **options):
    (study,) = cr.Studies.read(write(folder, content, name), **options).values()
    return study


def read_or_refusal(*paths, **options):
    """Return what was read, or the sentence of the refusal: both are right where nothing is misread in silence."""
    try:
        return cr.Studies.read(*paths, **options)
    except (DataError, ParameterError) as refusal:
        return str(refusal)
