"""Published labels in every other study: present, absent, split, merged; and what is new there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clustrep.across.likeness import Clusters
from clustrep.across.presence import Shown, rows_of_groups
from clustrep.across.replicability import KnownLabelsLike, check_configuration, check_several
from clustrep.errors import DataError
from clustrep.resampling import Rerun
from clustrep.results.presence_words import NEW
from clustrep.studies.collection import StudiesLike, as_studies
from clustrep.studies.missing_values import completed
from clustrep.tables.noise import NOISE, numbered
from clustrep.types import FloatArray, Labels


def label_presence(studies: StudiesLike, labels: KnownLabelsLike | None = None) -> pd.DataFrame:
    """Say of every known label, such as a published cell type, whether it is in every other study.

    As `Analysis.presence` says it of clusters, by places and not by names.

    Parameters
    ----------
    studies : Studies, mapping of name to table, or sequence of tables
        At least two, on one scale.
    labels : mapping of study name to labels, True or None
        One label for every sample; True or None: the studies' own. Samples with the number -1, noise, are left out; the
        text "-1" is a label like others.

    Returns
    -------
    DataFrame
        A row for every label and other study: train, label, test, word, partner (the labels of the test study that are
        like it), same_name (whether its name is among them), n_like, expected (samples that its share in the training
        study predicts). Rows of "new" labels have no label; their partner names them.

    See Also
    --------
    replicability : With ``labels=``, how well the labels of one study predict those of another.
    cluster_auroc : How well single labels are told apart.
    counterparts : With ``labels=``, which label overlaps most with which.

    Notes
    -----
    Two labels of different studies are compared by the distance of their centres in standard deviations, after the
    shift between the studies. The words are

    - present: one label of the test study is like it, and like no other
    - absent: none is, and few samples are near it: less than half of its share, by an exact binomial
      test [1]_
    - split: two or more labels of the test study are like it, or lie on both sides of it
    - merged: it shares a label of the test study with another
    - can't tell: none is like it, but the test study is too small to say that it is absent
    - new: a label of the test study that is like none of the training study

    References
    ----------
    .. [1] Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in the case of
       the binomial. Biometrika 26(4), 404-413.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> centres = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    >>> studies = {name: rng.normal(size=(60, 2)) + centres[np.arange(60) % k] for name, k in (("a", 3), ("b", 2))}
    >>> labels = {name: np.array(["t", "b", "nk"])[np.arange(60) % k] for name, k in (("a", 3), ("b", 2))}
    >>> table = label_presence(studies, labels)
    >>> table.loc[table["train"] == "a", ["label", "word"]].to_numpy().tolist()
    [['b', 'present'], ['nk', 'absent'], ['t', 'present']]
    """
    checked = check_several(as_studies(studies))
    given = True if labels is None else labels
    known = check_configuration(None, given, tuple(checked.values()), Rerun()).clusterer.labels
    for name in checked:
        if (numbered(known[name]) == NOISE).all():
            raise DataError(f"labels of study {name!r} are all -1, noise: label some of its samples, or leave it out.")
    labelled = {name: _Labelled.of(completed(study.X), known[name]) for name, study in checked.items()}
    rows = []
    for s, (train, of_train) in enumerate(labelled.items()):
        for t, (test, of_test) in enumerate(labelled.items()):
            if s == t:
                continue
            for row in rows_of_groups(s, t, of_train.shown, of_test.shown):
                label = "" if row.word == NEW else str(of_train.names[row.cluster])
                partners = [str(of_test.names[int(code)]) for code in row.partner.split(", ") if code]
                rows.append(
                    {
                        "train": train,
                        "label": label,
                        "test": test,
                        "word": row.word,
                        "partner": ", ".join(partners),
                        "same_name": label in partners,
                        "n_like": row.n_like,
                        "expected": row.expected,
                    }
                )
    return pd.DataFrame(rows)


@dataclass(frozen=True, eq=False)
class _Labelled:
    """The labels of one study, as clusters."""

    names: NDArray[np.str_]
    shown: Shown

    @classmethod
    def of(cls, X: FloatArray, labels: Labels) -> _Labelled:
        named = numbered(labels) != NOISE
        names, codes = np.unique(labels[named].astype(str), return_inverse=True)
        numbers = np.arange(len(names))
        # No groups of all studies together: equal names say nothing.
        return cls(names, Shown(Clusters.of(X[named].astype(float), codes), numbers, numbers, 0, np.nan, {}))
