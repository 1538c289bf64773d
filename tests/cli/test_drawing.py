"""Figures, the same each time."""

from __future__ import annotations

import matplotlib.pyplot as plt
from tests.cli.support import NO_NULL, PAIR, READING, SMALL, contents, invoke, listed


def test_figures_are_drawn_in_every_format_the_same_each_time(folder):
    for out in ("one", "two"):
        invoke("test", *PAIR, *READING, "--simulations", "19", "--jobs", "1", "--figures", "png,svg,pdf", "--out", out)
        arguments = ["--k", "2:3", "--index", "jaccard", *READING, *SMALL, "--figures", "svg,pdf"]
        invoke("stability", "alpha.csv", *arguments, "--out", f"stability-{out}")
    assert contents(folder / "one") == contents(folder / "two")
    assert contents(folder / "stability-one") == contents(folder / "stability-two")
    drawn = {name: data[:4] for name, data in contents(folder / "one").items() if name.startswith("figures/")}
    begins = {"png": b"\x89PNG", "svg": b"<?xm", "pdf": b"%PDF"}
    assert drawn == {
        f"figures/test-{study}.{kind}": begin for study in ("alpha", "beta") for kind, begin in begins.items()
    }
    assert not plt.get_fignums()
    # Letters stay letters, which can be edited and searched, and the same in every journal.
    vector = contents(folder / "one")
    assert b"null distribution</text>" in vector["figures/test-alpha.svg"]
    assert b"/Type3" not in vector["figures/test-alpha.pdf"]
    assert b"/CIDFontType2" in vector["figures/test-alpha.pdf"]


def test_figures_of_an_analysis_are_the_same_each_time(folder):
    arguments = ["local", *PAIR, "--k", "3", *READING, *SMALL, *NO_NULL, "--train", "alpha", "--agreement", "ari"]
    for out in ("one", "two"):
        invoke(*arguments, "--figures", "svg", "--out", out)
    assert contents(folder / "one") == contents(folder / "two")
    assert [name for name in listed(folder / "one") if name.startswith("figures")] == [
        f"figures/{name}.svg"
        for name in (
            "annotations",
            "curves",
            "features",
            "findings",
            "local-alpha",
            "map",
            "matrix",
            "pairs",
            "studies",
            "valleys",
        )
    ]
    assert not plt.get_fignums()
