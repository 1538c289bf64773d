"""Appendix C.3: the first data set of each mixture above its test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from paper.appendix_c_tests.runs import Tested
from paper.common import save


def draw(shown: Mapping[str, Tested], out: Path, name: str, title: str) -> str:
    """Draw the first data set of each mixture above its test."""
    figure, axes = plt.subplots(2, len(shown), figsize=(min(11, 2.6 * len(shown)), 5.6), layout="constrained")
    figure.suptitle(f"{title}, as written:\nthe first data set of each kind, and its test")
    for (data, scores), (words, tested) in zip(axes.T, shown.items(), strict=True):
        test, first = tested.tests[0], not data.get_subplotspec().colspan.start
        data.scatter(*tested.first.T, s=2, c="0.3")
        data.set(title=words, xticks=[], yticks=[], xlabel="first coordinate", aspect="equal", adjustable="datalim")
        null, ours = (values / test.null_distribution.mean() for values in (test.null_distribution, test.statistic))
        bins = np.geomspace(null.min(), null.max(), 13)
        scores.hist(null, bins=bins, color="0.75", label="data sets simulated without clusters")
        scores.axvline(ours, color="tab:red", lw=2, label="the data set above")
        scores.set(title=f"p = {test.pvalue:.3f}", xscale="log", xlabel="statistic / mean\nof simulated ones")
        scores.set(
            xlim=(min(0.1, ours / 2, null.min()), max(200, 2 * ours)),
            xticks=(0.1, 1, 10, 100),
            xticklabels=("0.1", "1", "10", "100"),
        )
        scores.minorticks_off()
        data.set_ylabel("second coordinate" if first else "")
        scores.set_ylabel("simulated data sets" if first else "")
    lines, labels = axes[1, 0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    return save(figure, out, name)
