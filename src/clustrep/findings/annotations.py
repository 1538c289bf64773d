"""What clusters have to do with all else that is known of the samples: known classes, annotations, outcomes.

Annotations took no part in finding the clusters, so that each study tests them by itself. Whether a difference holds
elsewhere is tested in the direction that the *other* studies show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import chi2, chi2_contingency, false_discovery_control, norm, rankdata

from clustrep.agreement.agreements import adjusted_rand_index
from clustrep.checks import UNKNOWN, check_known
from clustrep.errors import DataError, DataWarning, ParameterError, warn
from clustrep.files.saved import Saved
from clustrep.findings.features import _contrast, _moments
from clustrep.findings.plot import percent_of
from clustrep.findings.result import Findings, partial_conjunction
from clustrep.summaries import FALSE_FINDING, quiet
from clustrep.text import from_spreadsheet, listing, nearest, notebook_html, plural
from clustrep.types import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CATEGORY, NUMBER, SURVIVAL = "category", "number", "survival"
MEASURES = {CATEGORY: "Cramér's V", NUMBER: "η²", SURVIVAL: "η² of residuals"}
SAMPLE, STUDY = "sample", "study"
KNOWN_LABEL = "known label"
# Text with more different values names samples, dates or remarks rather than categories.
MOST_VALUES = 30
# What an adjusted Rand index is called that is at least so high: Steinley (2004), Psychological Methods 9(3), 386-396.
WORDS = ((0.9, "excellent"), (0.8, "good"), (0.65, "moderate"), (-1.0, "poor"))
MOST_NAMES = 5
# Classes with this share of a cluster are named, and this many of them.
SHOWN_FROM, MOST_CLASSES = 0.2, 3
# Of the table of annotations × studies, and the fields that hold them.
COLUMNS = {"n": "known", "effect": "effect", "pvalue": "pvalue", "toward": "toward"}
# The same of annotations × clusters × studies.
BY_CLUSTER = {"n": "counts", "level": "level", "difference": "difference"}


@dataclass(frozen=True, eq=False, repr=False)
class Annotations(Saved):
    """Annotations × clusters × studies: how strongly they go together, and whether they do so in every study alike.

    Attributes
    ----------
    names, letters : tuple of str
        The studies, and the clusters.
    columns : tuple of str
        The annotations.
    kinds : tuple of {"category", "number", "survival"}
    known : ndarray of int, (n_columns, n_studies)
        Samples that have a cluster and are annotated.
    effect, pvalue : ndarray, (n_columns, n_studies)
        Cramér's V of a category; η² of a number, and of the martingale residuals of survival; and the p-value of the
        study by itself.
    toward : ndarray, (n_columns, n_studies)
        One-sided p-value of a difference between clusters like that of the other studies; NaN without others.
    ari : ndarray, (n_columns, 1 + n_studies)
        Adjusted Rand index of clusters and categories: of all samples, and of every study; NaN of other kinds.
    place : ndarray of int, (n_rows,)
        The annotation of every row of what follows: a category has a row for each value.
    categories : tuple of str
        The category of every row; "" for other kinds.
    counts : ndarray of int, (n_rows, n_clusters, n_studies)
        Annotated samples of the cluster, of a category those with this value.
    level : ndarray, (n_rows, n_clusters, n_studies)
        Share of the category, mean of the number, or events as a multiple of those expected without any difference.
    difference : ndarray, (n_rows, n_clusters, n_studies)
        How much higher that is than in the mean of the other clusters, in standard deviations of the study.
    notes : tuple of str
        Which annotations were left out, and why.

    See Also
    --------
    Findings.annotations : Where they come from.
    """

    names: tuple[str, ...]
    letters: tuple[str, ...]
    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    known: IntArray
    effect: FloatArray
    pvalue: FloatArray
    toward: FloatArray
    ari: FloatArray
    place: IntArray
    categories: tuple[str, ...]
    counts: IntArray
    level: FloatArray
    difference: FloatArray
    notes: tuple[str, ...] = ()

    def summary(self) -> pd.DataFrame:
        """One row for every annotation.

        Columns: annotation, kind, measure, n (annotated samples), effect (mean over studies), ari, same (studies that
        differ in the direction of the others), of (studies that can be compared with others), pvalue (of a difference
        in that direction in two studies at least: partial conjunction; of one study, its own), fdr
        (Benjamini–Hochberg).
        """
        rows = []
        for i, (column, kind) in enumerate(zip(self.columns, self.kinds, strict=True)):
            toward, alone = (each[i][np.isfinite(each[i])] for each in (self.toward, self.pvalue))
            tested = toward if len(toward) else alone
            pvalue, same = partial_conjunction(tested, min(2, len(tested))), int((toward < 0.5).sum())
            with quiet():
                effect = float(np.nanmean(self.effect[i]))
            numbers = {"n": int(self.known[i].sum()), "effect": effect, "ari": float(self.ari[i, 0])}
            tests = {"same": same, "of": len(toward), "pvalue": pvalue, "fdr": np.nan}
            rows.append({"annotation": column, "kind": kind, "measure": MEASURES[kind], **numbers, **tests})
        table = pd.DataFrame(rows)
        is_tested = table["pvalue"].notna()
        if is_tested.any():
            table.loc[is_tested, "fdr"] = false_discovery_control(table.loc[is_tested, "pvalue"])
        return table

    def to_frame(self) -> pd.DataFrame:
        """One row for every annotation and study: annotation, study, measure, n, effect, pvalue, toward, ari."""
        i, s = (axis.ravel() for axis in np.indices(self.known.shape))
        named = {"annotation": _picked(self.columns, i), "study": _picked(self.names, s)}
        named["measure"] = _picked([MEASURES[kind] for kind in self.kinds], i)
        numbers = {name: getattr(self, field)[i, s] for name, field in COLUMNS.items()}
        return pd.DataFrame({**named, **numbers, "ari": self.ari[i, 1 + s]})

    def clusters(self) -> pd.DataFrame:
        """One row for every annotation, value, cluster and study.

        Columns: annotation, value, cluster, study, n, level, difference.
        """
        r, c, s = (axis.ravel() for axis in np.indices(self.counts.shape))
        named = {"annotation": _picked(self.columns, self.place[r]), "value": _picked(self.categories, r)}
        named |= {"cluster": _picked(self.letters, c), "study": _picked(self.names, s)}
        return pd.DataFrame({**named, **{name: getattr(self, field).ravel() for name, field in BY_CLUSTER.items()}})

    def table_of(self, column: str) -> pd.DataFrame:
        """Return the samples of every category of one annotation, rows, in every cluster, columns; all studies."""
        check_known(column, "annotation", self.columns, parameter="column")
        rows = np.flatnonzero(self.place == self.columns.index(column))
        values = pd.Index([self.categories[r] for r in rows], name=column)
        return pd.DataFrame(self.counts[rows].sum(axis=2), index=values, columns=list(self.letters))

    @property
    def sentences(self) -> tuple[str, ...]:
        """How well clusters agree with known classes, and which annotations differ between clusters."""
        if len(self.letters) < 2 or not len(self.columns):
            return ()
        summary = self.summary()
        classes = [i for i in np.flatnonzero(np.isfinite(self.ari[:, 0])).tolist() if self._is_class(i)]
        said = [self._agreement(i) for i in classes]
        rest = summary[[i not in classes for i in range(len(summary))]]
        is_clear = rest["fdr"] <= FALSE_FINDING
        for several, where in ((True, "in the same direction in two studies at least"), (False, "in one study")):
            if clear := rest[is_clear & ((rest["of"] > 1) == several)]["annotation"].tolist():
                said.append(f"Clusters differ {where} in {listing(clear, MOST_NAMES)} (false discovery rate 5 %).")
        if unclear := rest[rest["fdr"] > FALSE_FINDING]["annotation"].tolist():
            said.append(f"No such difference is shown in {listing(unclear, MOST_NAMES)}.")
        return tuple(said)

    def _is_class(self, i: int) -> bool:
        """Whether an annotation is what the samples are known to be; or the only category, as in a file of classes."""
        return self.columns[i] == KNOWN_LABEL or (KNOWN_LABEL not in self.columns and self.kinds.count(CATEGORY) == 1)

    def _agreement(self, i: int) -> str:
        """Answer "are these the groups that are known?": the agreement, and what each cluster mostly is."""
        overall, by_study = self.ari[i, 0], self.ari[i, 1:][np.isfinite(self.ari[i, 1:])]
        word = next((word for least, word in WORDS if overall >= least), WORDS[-1][1])
        low, high = (f"{of(by_study, initial=overall):z.2f}" for of in (np.min, np.max))
        spread = f"; {low} to {high} by study" if low != high else ""
        table, parts = self.table_of(self.columns[i]), []
        for letter in self.letters[:MOST_NAMES]:
            shares = (table[letter] / max(table[letter].sum(), 1)).nlargest(MOST_CLASSES)
            classes = [(repr(name) if name in self.letters else name, share) for name, share in shares.items()]
            shown = [f"{percent_of(share)} {name}" for name, share in classes if share >= SHOWN_FROM]
            if shown:
                parts.append(f"{letter} is {' and '.join(shown)}")
        more = f" and {len(self.letters) - MOST_NAMES} more" if len(self.letters) > MOST_NAMES else ""
        named = "known labels" if self.columns[i] == KNOWN_LABEL else self.columns[i]
        k, n_classes = (int(table.any(axis=axis).sum()) for axis in (0, 1))
        numbers = "" if k == n_classes else f"{plural(k, 'cluster')}, {n_classes} classes; "
        said = f"Agreement of clusters with {named}: {word} ({numbers}ARI {overall:z.2f}{spread})"
        return f"{said}. {'; '.join(parts)}{more}."

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw annotations × clusters × studies: how much higher or lower each cluster is than the others."""
        from clustrep.findings.plot import draw_annotations

        return draw_annotations(self, ax)

    def __repr__(self) -> str:
        return "\n".join([*self.sentences, self.summary().round(3).to_string(index=False), *self.notes])

    def _repr_html_(self) -> str:
        return notebook_html(self.sentences, self.summary())


def _picked(names: Sequence[str], places: IntArray) -> NDArray[np.object_]:
    return np.array(names, dtype=object)[places]


# ---------------------------------------------------------------------------------------------------------------------
# what users pass


def annotations_of(
    findings: Findings, table: Any, survival: tuple[str, str] | None = None, known: Sequence[str] | None = None
) -> Annotations:
    """Compare annotations with the clusters: see `Findings.annotations`.

    known : known labels of all samples, "" where there are none, as one more annotation
    """
    columns = pd.DataFrame(index=range(len(findings.samples)))
    if table is not None:
        columns = in_order(table, findings.names, findings.sizes.tolist(), findings.samples.tolist())
    if known is not None:
        columns.insert(0, KNOWN_LABEL, list(known), allow_duplicates=False)
    variables, notes = variables_of(columns, survival)
    return _compared(findings, variables, tuple(notes))


def in_order(table: Any, names: Sequence[str], sizes: Sequence[int], samples: Sequence[str]) -> pd.DataFrame:
    """Return annotations of all samples in their order, missing where a sample is not annotated."""
    if isinstance(table, Mapping):
        for name in table:
            check_known(name, "study", names, parameter="table")
        table = pd.concat([pd.DataFrame(frame).assign(study=name) for name, frame in table.items()] or [pd.DataFrame()])
    if not isinstance(table, pd.DataFrame):
        raise ParameterError(
            f"table must be a DataFrame whose index names samples, got {type(table).__name__}.",
            parameter="table",
        )
    table = table.rename(columns=str)
    if SAMPLE in table:
        table = table.set_index(SAMPLE)
    if table.empty or set(table.columns) <= {STUDY}:
        raise DataError("The annotations are empty: give a row for each sample, and a column for each annotation.")
    given, own = pd.Index([from_spreadsheet(str(name)) for name in table.index]), pd.Index(list(samples))
    if STUDY in table:
        given = pd.MultiIndex.from_arrays([table[STUDY].astype(str), given])
        own = pd.MultiIndex.from_arrays([np.repeat(names, sizes), own])
    table = table.drop(columns=STUDY, errors="ignore").set_axis(given)
    there = own.isin(given)
    if not there.any():
        raise DataError(
            f"No sample of the studies is annotated: the annotations name {_shown(given)}, the studies have "
            f"{_shown(own)}. Name samples in the first column as in the studies."
        )
    is_known = given.isin(own)
    for keys, where in ((own[there], "in the studies"), (given[is_known], "in the annotations")):
        if keys.has_duplicates:
            raise DataError(
                f"Some samples occur twice {where}: {_shown(keys[keys.duplicated()])}. Add a column 'study' that "
                "names the study of each sample, and give each sample one row."
            )
    if not is_known.all():
        n_others = plural(int((~is_known).sum()), "annotated sample")
        warn(f"{n_others} in none of the studies: {_shown(given[~is_known])}.", DataWarning)
    return pd.DataFrame(table[is_known].reindex(own).reset_index(drop=True))


def _shown(names: pd.Index) -> str:
    return listing([" ".join(name) if isinstance(name, tuple) else name for name in names], 3)


class _Variable(NamedTuple):
    name: str
    kind: str
    of_samples: FloatArray  # (n_samples,): the number, the place of the category, or the time; NaN where unknown
    categories: tuple[str, ...] = ()
    event: FloatArray | None = None


def variables_of(columns: pd.DataFrame, survival: tuple[str, str] | None) -> tuple[list[_Variable], list[str]]:
    """Make out categories and numbers; text with too many values, and what does not vary, is left out and noted."""
    variables, notes = [], []
    if survival is not None:
        _needed_for_survival()
        for wanted in survival:
            check_known(wanted, "annotation", list(columns), parameter="survival")
        time, event = (pd.to_numeric(columns[wanted], errors="coerce").to_numpy(float) for wanted in survival)
        known = np.isfinite(time) & np.isfinite(event)
        if not known.any() or (time[known] < 0).any() or not np.isin(event[known], (0, 1)).all():
            raise DataError(
                f"survival must name a column of times from 0, and one of events, 1 or 0: {survival[0]!r} and "
                f"{survival[1]!r} are no such columns{nearest(survival[0], columns)}."
            )
        variables.append(_Variable(survival[1], SURVIVAL, np.where(known, time, np.nan), event=event))
        columns = columns.drop(columns=list(survival))
    for name, column in columns.items():
        values = column.astype(object).where(column.notna(), None)
        values = values.map(lambda value: None if value in ("", UNKNOWN) else value)
        n_values = values.nunique()
        if n_values < 2:
            notes.append(f"{name} has only {plural(n_values, 'value')}.")
        elif n_values > 2 and pd.api.types.is_numeric_dtype(column):
            numbers = column.to_numpy(float, na_value=np.nan)
            variables.append(_Variable(str(name), NUMBER, np.where(np.isfinite(numbers), numbers, np.nan)))
        elif n_values > MOST_VALUES:
            notes.append(f"{name} has {n_values} values, more than the {MOST_VALUES} that a category may have.")
        else:
            code, categories = pd.factorize(values.map(_category, na_action="ignore"), sort=True)
            named = tuple(map(str, categories))
            variables.append(_Variable(str(name), CATEGORY, np.where(code < 0, np.nan, code), named))
    if not variables:
        raise DataError(f"None of the annotations can be compared with clusters: {' '.join(notes)}")
    return variables, notes


def _category(value: object) -> str:
    """Write a category: 1 for 1.0, which is what a column with missing values makes of it."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


# ---------------------------------------------------------------------------------------------------------------------
# the comparison


def _compared(findings: Findings, variables: Sequence[_Variable], notes: tuple[str, ...]) -> Annotations:
    k, n_studies, n = findings.n_clusters, len(findings.names), len(variables)
    ends = np.cumsum(findings.sizes)
    studies = [slice(end - size, end) for end, size in zip(ends, findings.sizes, strict=True)]
    known, (effect, pvalue, toward) = np.zeros((n, n_studies), dtype=np.int64), np.full((3, n, n_studies), np.nan)
    ari, rows = np.full((n, 1 + n_studies), np.nan), []
    for i, variable in enumerate(variables):
        parts = [_of_study(variable, rows_of, findings.codes, k) for rows_of in studies]
        differences = np.array([part.difference for part in parts])  # (n_studies, n_values, k)
        for s, part in enumerate(parts):
            known[i, s], effect[i, s], pvalue[i, s] = len(part.codes), part.effect, part.pvalue
            others = np.delete(differences, s, axis=0)
            if n_studies > 1 and np.isfinite(part.pvalue):
                toward[i, s] = _toward(part, np.nan_to_num(others).sum(axis=0))
        if variable.kind == CATEGORY and k > 1:
            for among, rows_of in enumerate([slice(None), *studies]):
                code, value = findings.codes[rows_of], variable.of_samples[rows_of]
                both = (code >= 0) & np.isfinite(value)
                if len(np.unique(code[both])) > 1 or len(np.unique(value[both])) > 1:
                    ari[i, among] = adjusted_rand_index(code[both], value[both].astype(int))
        for v, name in enumerate(variable.categories or [""]):
            rows.append((i, name, *(np.array([getattr(part, f)[v] for part in parts]).T for f in BY_CLUSTER.values())))
    place, values, counts, level, difference = zip(*rows, strict=True)
    return Annotations(
        findings.names,
        findings.letters,
        tuple(variable.name for variable in variables),
        tuple(variable.kind for variable in variables),
        *(known, effect, pvalue, toward, ari, np.array(place), values),
        *(np.array(counts), np.array(level), np.array(difference), notes),
    )


class _Part(NamedTuple):
    """One annotation in one study."""

    codes: IntArray  # (n_known,): clusters
    Y: FloatArray  # (n_known, n_values): what is compared: indicators of categories, ranks, martingale residuals
    effect: float
    pvalue: float
    counts: IntArray  # (n_values, n_clusters)
    level: FloatArray
    difference: FloatArray


def _of_study(variable: _Variable, rows: slice, codes: IntArray, k: int) -> _Part:
    keep = (codes[rows] >= 0) & np.isfinite(variable.of_samples[rows])
    code, values = codes[rows][keep], variable.of_samples[rows][keep]
    member = (code[:, None] == np.arange(k)).astype(float)
    n, log_rank = member.sum(axis=0), np.nan  # (n_clusters,)
    with quiet():
        if variable.kind == CATEGORY:
            X = Y = (values[:, None] == np.arange(len(variable.categories))).astype(float)
            level = X.T @ member / n
        elif variable.kind == NUMBER:
            X, Y = values[:, None], rankdata(values)[:, None]
            level = X.T @ member / n
        else:
            assert variable.event is not None
            event = variable.event[rows][keep]
            expected = _expected(values, event)
            X = Y = (event - expected)[:, None]
            level, log_rank = (event @ member / (expected @ member))[None], _log_rank(values, code, event)
        spread = X.std(axis=0) if len(X) else np.ones(X.shape[1])
        difference, _, _ = _contrast(_moments(X, code, k))  # (n_clusters, n_values)
        difference = difference / np.where(spread > 0, spread, 1.0)
    counts = np.rint(X.T @ member).astype(np.int64) if variable.kind == CATEGORY else n.astype(np.int64)[None]
    effect, pvalue = _strength(variable, X, Y, code, n)
    pvalue = log_rank if np.isfinite(pvalue) and variable.kind == SURVIVAL else pvalue
    return _Part(code, Y, effect, pvalue, counts, level, difference.T)


def _strength(variable: _Variable, X: FloatArray, Y: FloatArray, code: IntArray, n: FloatArray) -> tuple[float, float]:
    """Return Cramér's V or η², and the p-value of χ² or of Kruskal and Wallis; NaN where nothing is compared."""
    several = int((n > 0).sum())
    if several < 2 or not (Y.std(axis=0) > 0).any():
        return np.nan, np.nan
    member = (code[:, None] == np.flatnonzero(n)).astype(float)
    if variable.kind == CATEGORY:
        table = (member.T @ X)[:, X.any(axis=0)]
        statistic, pvalue, _, _ = chi2_contingency(table, correction=False)
        return float(np.sqrt(statistic / len(code) / (min(table.shape) - 1))), float(pvalue)
    of_values, of_ranks = (((member.T @ Z) ** 2).T @ (1 / n[n > 0]) for Z in (X - X.mean(), Y - Y.mean()))
    eta2, of_ranks = (float(part[0] / Z.var() / len(Z)) for part, Z in ((of_values, X), (of_ranks, Y)))
    return eta2, float(chi2.sf((len(code) - 1) * of_ranks, several - 1))


def _toward(part: _Part, weights: FloatArray) -> float:
    """Return the p-value of a difference like that of other studies, over permutations of the samples.

    The statistic is a sum over samples of the weight of the sample's cluster and value; its mean and variance over all
    permutations are known (Hoeffding 1951, A combinatorial central limit theorem).

    weights : (n_values, n_clusters)
    """
    A, Y = weights.T[part.codes], part.Y
    A, Y = A - A.mean(axis=0), Y - Y.mean(axis=0)
    variance = float(((A.T @ A) * (Y.T @ Y)).sum()) / (len(A) - 1)
    return float(norm.sf((A * Y).sum() / np.sqrt(variance))) if variance > 0 else np.nan


def _expected(time: FloatArray, event: FloatArray) -> FloatArray:
    """Return the events that are expected of every sample until its time, without differences (Nelson and Aalen)."""
    order, at_risk = np.unique(time, return_inverse=True)
    events = np.bincount(at_risk, event, minlength=len(order))
    left = np.bincount(at_risk, minlength=len(order))[::-1].cumsum()[::-1]
    return np.asarray(np.cumsum(events / left)[at_risk])


def _log_rank(time: FloatArray, code: IntArray, event: FloatArray) -> float:
    if len(np.unique(code)) < 2 or not event.any():
        return np.nan
    return float(_needed_for_survival()(time, code, event).p_value)


def _needed_for_survival() -> Any:
    try:
        from lifelines.statistics import multivariate_logrank_test
    except ImportError:
        raise ParameterError(
            'survival needs lifelines: install it with pip install "clustrep[survival]".', parameter="survival"
        ) from None
    return multivariate_logrank_test
