"""What all matplotlib figures share: literal names, the axes given, journal widths, the same files every time."""

from __future__ import annotations

import io

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from tests.plots.samples import NAMES, inches, over_k, reference_of, rendered, replicability, scores, texts_of

import clustrep as cr
from clustrep.plots.canvas import DOUBLE, SINGLE, literal


def test_names_are_literal():
    assert literal("a$b$") == r"a\$b\$"
    assert literal("two\nlines") == "two lines"
    assert literal("0123456789", 7) == "012…789"
    assert len(literal(NAMES[3])) == 32


def test_dollar_signs_are_shown_as_they_are():
    """As drawn: text that matplotlib takes for mathematics would lose its dollar signs, or fail."""
    ax = rendered(replicability(scores((3, 4, 4)), names=NAMES, clusterer="$k$-means").plot())
    for text in (ax.title, *ax.get_xticklabels(), *ax.get_yticklabels()):
        shown, is_mathematics = text._preprocess_math(text.get_text())
        assert not is_mathematics
        assert "\\$" not in shown
    assert ax.title._preprocess_math(ax.get_title())[0] == "$k$-means, k = 4"
    assert ax.get_xticklabels()[0]._preprocess_math(ax.get_xticklabels()[0].get_text())[0] == "a$b$"


def test_odd_names_everywhere():
    result = replicability(scores((25, 4, 4)), names=NAMES, clusterer="$")
    rendered(result.plot(kind="forest"))
    many = over_k(NAMES, [2, 3], S=4, names=NAMES)
    ax = rendered(many.plot())
    assert texts_of(ax.get_legend().get_texts())[2] == " _under"  # a legend leaves out what begins with _
    rendered(reference_of(many).plot())
    rendered(many.plot(reference=reference_of(many)))


def test_odd_names_in_figures_from_data(cohorts):
    X = cohorts["alpha"].X
    studies = cr.Studies({name: X + 0.1 * i for i, name in enumerate(NAMES[:3])})
    run = {"n_resamples": 2, "rng": 0}
    analysis = cr.analyse(AgglomerativeClustering(), studies, n_clusters=[2, 3], n_null=0, **run)
    ax = rendered(analysis.findings.plot())
    assert texts_of(ax.get_xticklabels())[0] == r"a\$b\$"
    rendered(cr.leave_one_study_out(AgglomerativeClustering(3), studies, **run).plot())
    result = cr.replicability(AgglomerativeClustering(3), studies, **run)
    ax = rendered(cr.null_reference(result, 3).plot())
    assert texts_of(ax.get_xticklabels())[1] == r"a\$b\$ → _under"
    named = np.array(["$u$", "_v", "w<"])[np.arange(len(X)) % 3]
    rendered(cr.stability.in_group_proportion(X, named, n_neighbors=[1, 2]).plot())
    rendered(cr.stability.stability(KMeans(3, n_init=1), X, labels=named, **run).plot())


def test_own_figures_have_journal_widths_and_small_letters(local):
    result, compared = replicability(scores((4, 3, 3))), over_k(["ward"], [2, 3])
    own = [result.plot(), result.plot(kind="forest"), compared.plot()]
    own += [local.plot(), local.plot(kind="clusters")]
    for drawn in map(rendered, own):
        width = inches(drawn)[0]
        assert min(abs(width - SINGLE), abs(width - DOUBLE)) < 1e-9
        figure = np.ravel(drawn)[0].figure
        for ax in figure.axes:
            letters = [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
            letters += ax.get_legend().get_texts() if ax.get_legend() else []
            assert all(7 <= text.get_fontsize() <= 9 for text in letters)


@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_files_are_the_same_every_time(suffix, local):
    result = over_k(["ward", "k-means"], [2, 3])
    made = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}[suffix]

    def written(draw):
        file = io.BytesIO()
        with mpl.rc_context({"svg.hashsalt": "clustrep"}):
            np.ravel(draw())[0].figure.savefig(file, format=suffix, metadata=made)
        return file.getvalue()

    for draw in (lambda: result.plot(reference=reference_of(result)), lambda: local.plot(points="tsne")):
        assert written(draw) == written(draw)
