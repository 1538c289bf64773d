"""Whether studies can be compared: what to look at in their values before anything is clustered."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from clustrep.text import argument, in_python, listing, plural, printable
from clustrep.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

    from clustrep.data.study import Study

ALL = "all studies"

# Fewer samples: a cluster of a tenth of them is one sample or two, and no score has a narrow interval.
SMALL = 20

# Studies of fewer samples are left out where locations and spreads are compared: theirs are unknown.
FEWEST = 8

# Differences that matter: those of location in sd within studies, those of spread as a factor. Composition alone moves
# a mean by 1 sd only where about half of the samples change their cluster. Both must also exceed sampling error, with
# a chance of ERROR_RATE that any feature of any study does without a reason.
SHIFT, FACTOR, ERROR_RATE = 1.0, 2.0, 0.01

# Values beyond this many robust sd are left out of means and sd, up to the bound.
BOUND = 5.0

# A cell is extreme beyond EXTREME robust sd if it is 3 times as far away as the next, or, where that is beyond BOUND
# itself, NEXT times: a slipped decimal point is. At most PART of the values, and at most MOST_CELLS, since more are a
# tail or a cluster.
EXTREME, NEXT, MOST_CELLS, PART = 10.0, 10.0, 3, 0.01

# The standard error of the logarithm of a robust sd is this, divided by the root of the number of samples (Gaussian).
ERROR_OF_SPREAD = 1.17

# More features than this part of them, and than MOST_CELLS + 2, with extreme cells in different samples: long tails.
LONG_TAILED = 0.05

SENTINELS = (-99999.0, -9999.0, -999.0, -99.0, -9.0, 99.0, 999.0, 9999.0, 99999.0)

# Counts have at least this many features, values up to at least this one, and totals of samples that differ by TOTALS.
COUNTED_FEATURES, LARGE_COUNT, TOTALS = 20, 20, 2.0

# A feature with at most CODES values, all of them whole numbers, is probably a code where another feature is measured,
# that is, has more than MEASURED values.
CODES, MEASURED = 6, 20

# Different whole numbers under such a name are identifiers, of patients for example.
ID_NAME = re.compile(r"(^|[\W_])(id|no|nr|number|index|row)$", re.IGNORECASE)

# A study is a duplicate if at least this part of its samples, and at least this number, are in another.
MOST_OF_STUDY, FEWEST_OF_STUDY = 0.5, 10

# Differences of this part of a feature's largest value are rounding.
SAME = 1e-9

# More samples are not searched for near-duplicates, which takes time and memory in proportion to the square.
MOST_SAMPLES = 12_000

# Two samples are near-duplicates if the next sample is at least this many times farther away, and ...
FARTHER = 4.0

# ... by chance fewer than this number of samples would have a neighbour at that distance.
BY_CHANCE = 1e-4

# Distances in this many random combinations of features are right to 9 % (Johnson and Lindenstrauss, 1984).
N_COMBINATIONS = 64

# Equal values in more features than this are not taken as further independent evidence.
MOST_INDEPENDENT = 10

TIED_FEATURES = 200  # whose ties are counted

SHOWN = 3  # notes of each kind, and examples in each

VALUES = 4_000_000  # that are sorted at a time

IQR_OF_SD = 2 * NormalDist().inv_cdf(0.75)


KINDS = (
    "one study",
    "small study",
    "raw counts",
    "sentinel values",
    "extreme values",
    "long tails",
    "constant features",
    "identifiers",
    "codes",
    "location",
    "spread",
    "not checked",
    "duplicated study",
    "duplicated samples",
    "near-duplicated samples",
)


@dataclass(frozen=True)
class Note:
    """Something to look at before studies are compared.

    Attributes
    ----------
    study : str
        The study, several with commas between them, or "all studies".
    kind : str
        One of `KINDS`: "one study", "small study", "raw counts", "sentinel values", "extreme values", "long
        tails", "constant features", "identifiers", "codes", "location", "spread", "not checked", "duplicated study",
        "duplicated samples" or "near-duplicated samples".
    sentence : str
        What there is, with numbers.
    remedy : str
        What to do.
    """

    study: str
    kind: str
    sentence: str
    advice: str = field(repr=False)  # the remedy, in which arguments are marked

    @property
    def remedy(self) -> str:
        """What to do, in Python's terms."""
        return in_python(self.advice)


@dataclass(frozen=True)
class Comparability:
    """What to look at before studies are compared.

    Attributes
    ----------
    notes : tuple of Note
        Grouped by kind; empty where there is nothing to look at.

    See Also
    --------
    Studies.comparability : The checks.
    """

    notes: tuple[Note, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Every note with its remedy."""
        return tuple(f"{note.sentence} {note.remedy}" for note in self.notes)

    def without(self, *kinds: str) -> Comparability:
        """Leave out notes of these kinds."""
        return Comparability(tuple(note for note in self.notes if note.kind not in kinds))

    def to_frame(self) -> pd.DataFrame:
        """Return a row for every note: study, kind, sentence, remedy."""
        import pandas as pd

        columns = ["study", "kind", "sentence", "remedy"]
        rows = [[getattr(note, column) for column in columns] for note in self.notes]
        return pd.DataFrame(rows, columns=columns, dtype=object)

    def __str__(self) -> str:
        return "\n".join(self.sentences) or "Nothing to look at."


def comparability(studies: Mapping[str, Study]) -> Comparability:
    """Look for what makes studies hard to compare, in their values.

    Parameters
    ----------
    studies : Studies, or mapping of name to Study
        With the same features; values may be missing.

    Returns
    -------
    Comparability

    Notes
    -----
    Means and standard deviations are those of values within 5 robust sd (interquartile range / 1.35) of the median,
    farther ones moved to that bound. Location and spread are compared with the median of the studies; of two studies,
    with each other.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> from clustrep import Studies
    >>> studies = Studies({"a": rng.normal(size=(50, 3)), "b": 10 + rng.normal(size=(50, 3))})
    >>> comparability(studies).to_frame()[["study", "kind"]]
      study      kind
    0  a, b  location
    """
    views = [_View.of(study) for study in studies.values()]
    weighted = [
        *_undivided(views),
        *_small(views),
        *_counts(views),
        *_sentinels(views),
        *_extremes(views),
        *_constants(views),
        *_identifiers(views),
    ]
    if not any(note.kind == "raw counts" for _, note in weighted):
        weighted += _codes(views)
    weighted += [*_differences(views), *_duplicates(views)]
    notes: list[Note] = []
    for kind in KINDS:  # of each the largest
        of_kind = sorted((entry for entry in weighted if entry[1].kind == kind), key=lambda entry: -entry[0])
        notes += [note for _, note in of_kind[:SHOWN]]
        if n_more := len(of_kind[SHOWN:]):
            sentence = f"Not shown: {plural(n_more, 'further note')} of this kind ({kind})."
            notes.append(Note(ALL, kind, sentence, "See to the largest first."))
    return Comparability(tuple(notes))


# ---------------------------------------------------------------------------------------------------------------------
# what all checks look at


class _Profile(NamedTuple):
    """The distribution of every feature in a study: arrays of shape (n_features,)."""

    n_known: FloatArray
    low: FloatArray
    high: FloatArray
    n_values: FloatArray
    middle: FloatArray  # the median
    spread: FloatArray  # the robust sd; 0 where half of the values are equal
    mean: FloatArray  # with values beyond BOUND moved to it
    sd: FloatArray
    ends: FloatArray  # (n_features, 2 · (MOST_CELLS + 1)): the lowest and highest values

    @classmethod
    def of(cls, X: FloatArray) -> _Profile:
        """Sort the features, some at a time."""
        step = max(1, VALUES // len(X))
        parts = [cls._of_few(np.sort(X[:, j : j + step].T, axis=1)) for j in range(0, X.shape[1], step)]
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    @classmethod
    def _of_few(cls, ordered: FloatArray) -> _Profile:
        """Take values in their order, missing ones last: (n_features, n_samples)."""
        missing = np.isnan(ordered)
        n_known = len(ordered[0]) - missing.sum(axis=1)
        last = np.maximum(n_known - 1, 0)

        def at(places: FloatArray) -> FloatArray:
            return np.asarray(np.take_along_axis(ordered, places.astype(np.int64)[:, None], axis=1)[:, 0], dtype=float)

        middle = (at(np.floor(last / 2)) + at(np.ceil(last / 2))) / 2
        spread = (at(np.ceil(0.75 * last)) - at(np.floor(0.25 * last))) / IQR_OF_SD
        bound = np.where(spread > 0, BOUND * spread, np.inf)[:, None]
        near = np.clip(np.asarray(ordered, dtype=float), middle[:, None] - bound, middle[:, None] + bound)
        near = np.where(missing, 0.0, near) if missing.any() else near
        count = np.maximum(n_known, 1)
        mean = near.sum(axis=1) / count
        near -= mean[:, None]
        squares = np.einsum("ij,ij->i", near, near) - missing.sum(axis=1) * mean**2
        n_values = 1 + ((ordered[:, 1:] != ordered[:, :-1]) & ~missing[:, 1:]).sum(axis=1)
        ends = [at(np.minimum(k, last)) for k in range(MOST_CELLS + 1)]
        ends += [at(np.maximum(last - k, 0)) for k in range(MOST_CELLS + 1)]
        low, high = ends[0], ends[MOST_CELLS + 1]
        sd = np.where(low == high, 0.0, np.sqrt(np.maximum(squares, 0) / count))
        return cls(n_known, low, high, n_values, middle, spread, mean, sd, np.stack(ends, axis=1))


class _View(NamedTuple):
    """A study, its values without sentinels, and their distribution."""

    study: Study
    X: FloatArray
    profile: _Profile
    masked: tuple[tuple[float, BoolArray], ...]  # sentinels, and the cells that hold them

    @classmethod
    def of(cls, study: Study) -> _View:
        profile, masked = _Profile.of(study.X), []
        X = study.X
        for value in SENTINELS:
            candidates = np.flatnonzero((profile.low == value) | (profile.high == value))
            columns = [j for j in candidates.tolist() if _is_far(value, study.X[:, j])]
            cells = np.zeros(study.X.shape, dtype=bool)
            if columns:
                cells[:, columns] = study.X[:, columns] == value
            if cells.sum() > 1:
                masked.append((value, cells))
                X = np.where(cells, np.nan, X)
        return cls(study, X, _Profile.of(X) if masked else profile, tuple(masked))

    @property
    def name(self) -> str:
        return printable(self.study.name)


def _is_far(value: float, column: FloatArray) -> bool:
    """Whether a sentinel is farther from all other values than these are from each other."""
    others = column[~np.isnan(column) & ~np.isin(column, SENTINELS)]
    if len(others) < 2 or others.max() == others.min():
        return False
    gap = others.min() - value if value < others.min() else value - others.max()
    return bool(gap > others.max() - others.min())


Weighted: TypeAlias = tuple[float, Note]  # the notes of a kind with the largest weights are shown


# ---------------------------------------------------------------------------------------------------------------------
# each study by itself


def _undivided(views: Sequence[_View]) -> Iterator[Weighted]:
    if len(views) == 1 and (advice := views[0].study._undivided):
        yield 0, Note(views[0].name, "one study", f"All of an AnnData is taken as one study, {views[0].name}.", advice)


def _small(views: Sequence[_View]) -> Iterator[Weighted]:
    small = [view for view in views if len(view.X) < SMALL]
    if small:
        sizes = listing([f"{view.name} {len(view.X)}" for view in small])
        who = ", ".join(view.name for view in small) if len(small) <= SHOWN else ALL
        sentence = f"Fewer than {SMALL} samples ({sizes}) are too few to find clusters there or to exclude them."
        yield 0, Note(who, "small study", sentence, "Add samples, or leave the study out.")


def _counts(views: Sequence[_View]) -> Iterator[Weighted]:
    for view in views:
        X = view.study.X
        if X.shape[1] < COUNTED_FEATURES or view.study.scaling != "none" or not _are_counts(X):
            continue
        totals = X.sum(axis=1, dtype=float)
        low, high = np.quantile(totals, [0.05, 0.95])
        if high >= TOTALS * low and high > 0:
            sentence = (
                f"Study {view.name} holds whole numbers from 0 to {X.max():,.0f}, and the totals of its samples range "
                f"from {low:,.0f} to {high:,.0f} (5 % and 95 % quantiles): probably raw counts, whose distances are "
                "differences of totals."
            )
            advice = f"Normalise counts with {argument('normalise', 'log1p')}."
            yield high / max(low, 1.0), Note(view.name, "raw counts", sentence, advice)


def _are_counts(X: FloatArray) -> bool:
    """Whether all values are whole numbers from 0, some of them large; most tables that are not show it at once."""
    for rows in (X[:10], X):
        if not ((rows >= 0) & (rows == np.rint(rows))).all():  # nor missing
            return False
    return bool(X.max() >= LARGE_COUNT)


def _sentinels(views: Sequence[_View]) -> Iterator[Weighted]:
    for view in views:
        for value, cells in view.masked:
            columns = np.flatnonzero(cells.any(axis=0))
            names = listing([repr(view.study.features[j]) for j in columns], SHOWN)
            sentence = (
                f"Study {view.name} holds {value:g} in {plural(int(cells.sum()), 'cell')} of "
                f"{plural(len(columns), 'feature')} ({names}), far from all other values there: probably a code for "
                "missing values."
            )
            advice = (
                "Make these cells empty, and fill them in by an imputer as the first step of the clusterer (on the "
                "command line --impute median), or leave out the samples or features."
            )
            yield float(cells.sum()), Note(view.name, "sentinel values", sentence, advice)


def _extremes(views: Sequence[_View]) -> Iterator[Weighted]:
    for view in views:
        profile, n = view.profile, len(view.X)
        if n < SMALL:
            continue
        scaled = profile.spread > 0
        quantile = NormalDist().inv_cdf(1 - ERROR_RATE / (2 * len(views) * len(scaled)))
        least = max(EXTREME, quantile * math.exp(quantile * ERROR_OF_SPREAD / math.sqrt(n)))
        unit = np.where(scaled, profile.spread, 1.0)[:, None]
        farthest = -np.sort(-np.abs(profile.ends - profile.middle[:, None]) / unit, axis=1)[:, : MOST_CELLS + 1]
        n_cells = np.zeros(len(unit), dtype=int)
        for count in range(1, max(1, min(MOST_CELLS, int(PART * n))) + 1):
            last, following = farthest[:, count - 1], farthest[:, count]
            alone = last >= np.where(following <= BOUND, 3.0, NEXT) * following
            n_cells[scaled & (last > least) & alone] = count
        columns = np.flatnonzero(n_cells)
        if not len(columns):
            continue
        distances = np.abs(view.X[:, columns] - profile.middle[columns]) / unit[columns, 0]
        cells = distances >= farthest[columns, n_cells[columns] - 1]
        samples = np.flatnonzero(cells.any(axis=1))
        if len(samples) > MOST_CELLS and len(columns) > max(MOST_CELLS + 2, LONG_TAILED * len(unit)):
            sentence = (
                f"In study {view.name}, {plural(len(columns), 'feature')} of {len(unit):,} have values beyond "
                f"{EXTREME:g} robust sd in different samples: long tails, which decide distances."
            )
            yield len(columns), Note(view.name, "long tails", sentence, "Transform the features (logarithm).")
            continue
        i, k = np.unravel_index(np.argmax(np.where(cells, distances, -1.0)), cells.shape)
        where = f"sample {view.study.samples[i]!r}, feature {view.study.features[columns[k]]!r}"
        more = plural(int(cells.sum()), "value")
        sentence = (
            f"Study {view.name} has {more} beyond {EXTREME:g} robust sd in {plural(len(samples), 'sample')} and "
            f"{plural(len(columns), 'feature')}; the farthest: {printable(where)}, {view.X[i, columns[k]]:g} "
            f"({distances[i, k]:,.0f} robust sd from the median {profile.middle[columns[k]]:.4g})."
        )
        advice = "Check for typing errors and units; correct these cells, or leave the samples out."
        yield float(distances[i, k]), Note(view.name, "extreme values", sentence, advice)


# ---------------------------------------------------------------------------------------------------------------------
# features of all studies


def _constants(views: Sequence[_View]) -> Iterator[Weighted]:
    features = views[0].study.features
    constant = np.array([view.profile.low == view.profile.high for view in views])  # (S, n_features)
    low, high = (np.array([getattr(view.profile, end) for view in views]) for end in ("low", "high"))
    everywhere = low.min(axis=0) == high.max(axis=0)
    if everywhere.any():
        names = listing([repr(features[j]) for j in np.flatnonzero(everywhere)], SHOWN)
        sentence = f"All studies together have {plural(int(everywhere.sum()), 'constant feature')} ({names})."
        yield math.inf, Note(ALL, "constant features", sentence, "Leave out what does not vary.")
    for view, column in zip(views, constant & ~everywhere, strict=True):
        if column.any():
            names = listing([repr(features[j]) for j in np.flatnonzero(column)], SHOWN)
            n_constant = plural(int(column.sum()), "feature")
            sentence = f"Study {view.name} has {n_constant} of {len(features):,} without any variation ({names})."
            advice = "Check whether they were measured there; if not, leave them out."
            yield float(column.sum()), Note(view.name, "constant features", sentence, advice)


def _identifiers(views: Sequence[_View]) -> Iterator[Weighted]:
    """Find features that number the samples: whole numbers in a row, or different ones under such a name."""
    if sum(len(view.X) for view in views) < SMALL:
        return
    low, high, n_values, n_known = (
        np.array([getattr(view.profile, name) for view in views]) for name in ("low", "high", "n_values", "n_known")
    )  # (S, n_features)
    found = []
    for j in np.flatnonzero((n_values == n_known).all(axis=0)):
        name, are_in_a_row = views[0].study.features[j], (high[:, j] - low[:, j] == n_known[:, j] - 1).all()
        are_whole = all((view.X[:, j] == np.rint(view.X[:, j])).all() for view in views)
        if are_whole and (are_in_a_row or ID_NAME.search(name)):
            found.append(f"{name!r} ({low[:, j].min():.0f} to {high[:, j].max():.0f})")
    if found:
        n_found = plural(len(found), "feature")
        sentence = f"{n_found} with a different whole number in every sample: {listing(found, SHOWN)}."
        advice = "Leave out what is an identifier: it would be compared like a measurement."
        yield 0, Note(ALL, "identifiers", sentence, advice)


def _codes(views: Sequence[_View]) -> Iterator[Weighted]:
    n_values = np.array([view.profile.n_values for view in views])  # (S, n_features)
    if not (n_values > MEASURED).any() or sum(len(view.X) for view in views) < SMALL:
        return
    codes = {}
    for j in np.flatnonzero((n_values <= CODES).all(axis=0)):
        feature = views[0].study.features[j]
        values = np.unique(np.concatenate([view.X[:, j] for view in views]))
        values = values[~np.isnan(values)]
        if 2 <= len(values) <= CODES and _are_evenly_spaced(values) and "=" not in feature:
            codes[feature] = f"{feature!r} ({', '.join(f'{value:.3g}' for value in values)})"
    if codes:
        sentence = (
            f"{plural(len(codes), 'feature')} with at most {CODES} values, evenly spaced, among measured ones: "
            f"{listing(codes.values())}. Codes of categories have no distances."
        )
        advice = (
            f"Use {argument('categorical', list(codes))} for Gower's distance, where these are categories, or leave "
            "these features out."
        )
        yield 0, Note(ALL, "codes", sentence, advice)


def _are_evenly_spaced(values: FloatArray) -> bool:
    """Whether values are whole numbers, or were before they were divided by their range."""
    if (values == np.rint(values)).all():
        return True
    steps = np.outer(np.arange(2, 2 * CODES), values)
    return values.min() == 0 and values.max() == 1 and bool(np.isclose(steps, np.rint(steps)).all(axis=1).any())


# ---------------------------------------------------------------------------------------------------------------------
# differences between studies


def _differences(views: Sequence[_View]) -> Iterator[Weighted]:
    views = [view for view in views if len(view.X) >= FEWEST]
    if len(views) < 2:
        return
    mean, sd, spread, n_known = (
        np.array([getattr(view.profile, name) for view in views]) for name in ("mean", "sd", "spread", "n_known")
    )  # (S, n_features)
    typical = np.median(sd, axis=0)
    error = NormalDist().inv_cdf(1 - ERROR_RATE / (2 * mean.size)) / np.sqrt(np.maximum(n_known, 1))
    error = error + np.median(error, axis=0)  # of the study, and of what it is compared with
    if len(views) == 2:
        centre, centre_sd = mean[::-1], sd[::-1]
    else:
        centre, centre_sd = np.median(mean, axis=0)[None], typical[None]
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.where(typical > 0, (mean - centre) / typical, 0.0)
        factor = np.where((sd > 0) & (centre_sd > 0) & (spread > 0).all(axis=0), sd / centre_sd, 1.0)
    is_shifted = np.abs(shift) > np.maximum(SHIFT, error)
    is_spread = np.abs(np.log(factor)) > np.maximum(math.log(FACTOR), error)
    pairs = [views[0]] if len(views) == 2 else views  # of two studies, both differ alike
    for s, view in enumerate(pairs):
        features, n_features = view.study.features, mean.shape[1]
        who = ", ".join(view.name for view in views) if len(views) == 2 else view.name
        others = views[1].name if len(views) == 2 else "the other studies"
        if n_shifted := int(is_shifted[s].sum()):
            j = int(np.argmax(np.where(is_shifted[s], np.abs(shift[s]), 0)))
            sentence = (
                f"Study {view.name} differs from {others} by more than {SHIFT:g} sd within studies in the location of "
                f"{n_shifted:,} of {plural(n_features, 'feature')}, most in {features[j]!r}: mean {mean[s, j]:.4g} "
                f"against {np.broadcast_to(centre, mean.shape)[s, j]:.4g}, {shift[s, j]:+.1f} sd. Where there are "
                "clusters, this is a batch effect or another composition."
            )
            advice = (
                f"For a batch effect use {argument('scale', 'study')}, if all studies have the same clusters in "
                f"similar shares. For another composition keep the differences ({argument('scale', 'pooled')})."
            )
            yield n_shifted + abs(shift[s, j]), Note(who, "location", printable(sentence), advice)
        if n_spread := int(is_spread[s].sum()):
            j = int(np.argmax(np.where(is_spread[s], np.abs(np.log(factor[s])), 0)))
            sentence = (
                f"Study {view.name} differs from {others} by a factor of more than {FACTOR:g} in the spread of "
                f"{n_spread:,} of {plural(n_features, 'feature')}, most in {features[j]!r}: sd {sd[s, j]:.4g} against "
                f"{np.broadcast_to(centre_sd, sd.shape)[s, j]:.4g}. Units differ or, with clusters, composition."
            )
            advice = (
                f"Check the units. If these differ, convert them or use {argument('scale', 'study')}; for another "
                f"composition keep the differences ({argument('scale', 'pooled')})."
            )
            yield n_spread + abs(math.log(factor[s, j])), Note(who, "spread", printable(sentence), advice)


# ---------------------------------------------------------------------------------------------------------------------
# samples that occur twice


def _duplicates(views: Sequence[_View]) -> Iterator[Weighted]:
    tables = [view.study.X for view in views]
    sizes = [len(X) for X in tables]
    study_of = np.repeat(np.arange(len(views)), sizes)
    groups = equal_rows(tables)
    first = np.ones(len(study_of), dtype=bool)  # of equal rows
    for group in groups:
        first[group[1:]] = False
    step = -(-len(first) // MOST_SAMPLES)
    kept = np.split(first & (np.arange(len(first)) % step == 0), np.cumsum(sizes)[:-1])
    short = shortened(_scaled(views, kept, by_itself=False))
    dimension = dimension_of(short)
    pairs = _equal_pairs(tables, groups, study_of, dimension)
    if step > 1:
        sentence = (
            f"Near-duplicated samples were not searched for: {len(study_of):,} samples are more than "
            f"{MOST_SAMPLES:,}. Equal samples were."
        )
        yield 0, Note(ALL, "not checked", sentence, "Search in parts of the studies.")
    elif first.sum() >= max(SMALL, len(first) / 3):  # not where most rows are equal to others
        near = near_rows(short, dimension)
        if len(views) > 1:  # a study that was processed otherwise lies elsewhere as a whole
            again = shortened(_scaled(views, kept, by_itself=True))
            near += near_rows(again, dimension)
        places = np.flatnonzero(first).tolist()
        pairs += sorted({(i, j): Pair(places[i], places[j], ratio) for i, j, ratio in near}.values())
    yield from _of_pairs(views, pairs, study_of)


def _equal_pairs(
    tables: Sequence[FloatArray], groups: Sequence[IntArray], study_of: IntArray, dimension: float
) -> list[Pair]:
    """Return pairs of equal samples; where values are few, so that chance explains these, of equal studies only."""
    if not groups:
        return []
    pairs: dict[tuple[int, int], list[Pair]] = defaultdict(list)
    for group in groups:
        members = {s: group[study_of[group] == s].tolist() for s in np.unique(study_of[group]).tolist()}
        for s, of_s in members.items():
            pairs[s, s] += [Pair(of_s[0], other, 0.0) for other in of_s[1:]]
            for t in members:
                if s < t:
                    pairs[s, t] += [Pair(i, j, 0.0) for i, j in zip(of_s, members[t], strict=False)]
    probability = equal_by_chance(tables, groups, dimension)
    n_rows = len(study_of)
    if probability * n_rows * (n_rows - 1) / 2 > BY_CHANCE:
        sizes = [len(X) for X in tables]
        for s, t in list(pairs):
            smaller, larger = sorted((sizes[s], sizes[t]))
            all_by_chance = -math.expm1(-probability * larger)  # that a sample of the smaller is in the larger
            is_chance = smaller < larger and all_by_chance**smaller > BY_CHANCE
            if s == t or is_chance or not smaller == len(pairs[s, t]) >= FEWEST_OF_STUDY:
                del pairs[s, t]
    return [pair for among in pairs.values() for pair in among]


def _scaled(views: Sequence[_View], kept: Sequence[BoolArray], *, by_itself: bool) -> Iterator[FloatArray]:
    """Standardise features by mean and sd, of the study or of all; missing values become 0, extreme ones bounded.

    Without features of which half of the values are equal in a study: samples are not near because most is zero.
    """
    varies = np.all([view.profile.spread > 0 for view in views], axis=0)
    sds, means = ([getattr(view.profile, name)[varies] for view in views] for name in ("sd", "mean"))
    sd, mean = np.sqrt(np.mean(np.square(sds), axis=0)), np.mean(means, axis=0)
    for s, (view, rows) in enumerate(zip(views, kept, strict=True)):
        Z = (view.X[np.ix_(rows, varies)] - (means[s] if by_itself else mean)) / (sds[s] if by_itself else sd)
        Z = np.clip(Z, -2 * EXTREME, 2 * EXTREME, out=Z)
        yield np.where(np.isnan(Z), 0.0, Z)


def _of_pairs(views: Sequence[_View], pairs: Sequence[Pair], study_of: IntArray) -> Iterator[Weighted]:
    """Report pairs by the studies that they are in: as duplicated studies, or as samples."""
    begins = np.cumsum([0, *(len(view.X) for view in views)])

    names_of = [str(name) for view in views for name in view.study.samples]

    def is_constant(place: int) -> bool:  # an empty sample, or a person who always gave the same answer
        s = int(study_of[place])
        row = views[s].study.X[place - begins[s]]
        return len(row) > 1 and bool((row == row[0]).all())

    by_studies: dict[tuple[int, int], list[Pair]] = defaultdict(list)
    for pair in pairs:
        by_studies[int(study_of[pair.first]), int(study_of[pair.second])].append(pair)
    for (s, t), among in by_studies.items():
        who = views[s].name if s == t else f"{views[s].name}, {views[t].name}"
        smaller = min(len(views[s].X), len(views[t].X))
        matched = len(among)
        if s != t and matched >= max(MOST_OF_STUDY * smaller, FEWEST_OF_STUDY):
            sentence = (
                f"{matched:,} of {smaller:,} samples of the smaller of the studies {views[s].name} and {views[t].name} "
                "are in the other as well: scores between the two are not evidence."
            )
            advice = "Leave out one of the two studies, or the samples that both have."
            yield matched, Note(who, "duplicated study", sentence, advice)
            continue
        for are_equal, kind, words in (
            (True, "duplicated samples", "with the same values"),
            (False, "near-duplicated samples", "much closer to each other than to any third sample"),
        ):
            chosen = [pair for pair in among if (pair.ratio == 0) == are_equal and not is_constant(pair.first)]
            named = s != t and views[s].study.samples_are_named and views[t].study.samples_are_named
            chosen = [pair for pair in chosen if not named or names_of[pair.first] != names_of[pair.second]]
            if chosen:
                names = [f"{names_of[pair.first]} and {names_of[pair.second]}" for pair in chosen]
                where = f"in study {views[s].name}" if s == t else f"in studies {views[s].name} and {views[t].name}"
                sentence = f"{plural(len(chosen), 'pair')} of samples {where} {words}: {listing(names, SHOWN)}."
                advice = "Keep one of each, unless they are different individuals."
                yield len(chosen), Note(who, kind, sentence, advice)


class Pair(NamedTuple):
    """Two samples, by their places in all tables together.

    ratio : their distance divided by that to the next sample; 0 for equal ones
    """

    first: int
    second: int
    ratio: float


def equal_rows(tables: Sequence[FloatArray]) -> list[IntArray]:
    """Return the places of equal rows in all tables together, for every row that occurs at least twice.

    Values are equal that differ by rounding, as those of a file that another program has written again.

    Examples
    --------
    >>> import numpy as np
    >>> [places.tolist() for places in equal_rows([np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[3.0, 4.0]])])]
    [[1, 2]]
    """
    places: dict[int, list[int]] = defaultdict(list)
    begin = 0
    step = SAME * np.max([np.nanmax(np.abs(X), axis=0, initial=0.0) for X in tables], axis=0)
    for X in tables:
        for i, row in enumerate(np.rint(X / np.where(step > 0, step, 1.0)) + 0.0, begin):  # -0.0 becomes 0.0
            places[hash(row.tobytes())].append(i)
        begin += len(X)
    return [np.array(group) for group in places.values() if len(group) > 1]


def equal_by_chance(tables: Sequence[FloatArray], groups: Sequence[IntArray], dimension: float) -> float:
    """Return the probability that two samples are equal by chance, which rounded values and codes make large.

    The probability that two samples have the same value is estimated in each feature; as many features as the data have
    dimensions, those with the fewest ties, are taken to be independent.
    """
    n_rows, n_features = sum(map(len, tables)), tables[0].shape[1]
    first = np.ones(n_rows, dtype=bool)
    for group in groups:
        first[group[1:]] = False
    columns = np.unique(np.linspace(0, n_features - 1, min(n_features, TIED_FEATURES)).astype(int))
    X = np.sort(np.concatenate([X[:, columns] for X in tables])[first], axis=0)
    n = max(len(X), 2)
    ties = []
    for column in X.T:
        counts = np.diff(np.flatnonzero(np.r_[True, column[1:] != column[:-1], True]))
        ties.append((float(counts @ (counts - 1)) + 1) / (n * (n - 1)))
    n_independent = max(1, min(round(dimension), MOST_INDEPENDENT, len(ties)))
    return float(np.prod(np.sort(ties)[:n_independent]))


def combinations(n_features: int) -> FloatArray:
    """Return weights of random combinations of features, always the same: (n_features, N_COMBINATIONS)."""
    # The finaliser of splitmix64 (Steele, Lea and Flood, 2014) of the places: its highest bit is the sign.
    places = np.arange(1, n_features * N_COMBINATIONS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    places = (places ^ (places >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    places = (places ^ (places >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    signs = np.where(places >> np.uint64(63), 1.0, -1.0)
    return np.asarray(signs.reshape(n_features, N_COMBINATIONS) / math.sqrt(N_COMBINATIONS))


def shortened(tables: Iterable[FloatArray]) -> list[FloatArray]:
    """Return tables of fewer columns with nearly the same distances between rows; narrow tables unchanged."""
    return [np.asarray(Z @ combinations(Z.shape[1])) if Z.shape[1] > N_COMBINATIONS else Z for Z in tables]


def nearest_two(Z: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the nearest other row of every row, the distance to it, and the distance to the second nearest."""
    from sklearn.neighbors import NearestNeighbors

    if Z.shape[1] == 0:
        return np.zeros(len(Z), dtype=np.int64), np.zeros(len(Z)), np.zeros(len(Z))
    nearest, second = NearestNeighbors(n_neighbors=2).fit(Z).kneighbors(return_distance=False).T
    distances = [np.linalg.norm(Z - Z[places], axis=1) for places in (nearest, second)]  # exact also where tiny
    return nearest, np.minimum(*distances), np.maximum(*distances)


def dimension_of(tables: Sequence[FloatArray]) -> float:
    """Estimate the dimension of samples from the distances to the two nearest within each table.

    Their ratio exceeds r with probability r^-dimension wherever density hardly changes between neighbours; the median
    is not moved by duplicates. From at most 2,000 rows of each table; 1.5 standard errors below the estimate, since a
    number that is too large takes chance for duplicates.

    References
    ----------
    .. [1] Facco, E., d'Errico, M., Rodriguez, A. & Laio, A. (2017). Estimating the intrinsic dimension of datasets by a
       minimal neighborhood information. Scientific Reports 7, 12140.
    """
    logs = []
    for Z in tables:
        if len(Z) >= 3:
            _, first, second = nearest_two(Z[:: -(-len(Z) // 2000)])
            known = first > 0
            logs.append(np.log(second[known] / first[known]))
    ratios = np.concatenate([*logs, np.empty(0)])
    median = float(np.median(ratios)) if len(ratios) else 0.0
    return max(1 - 1.5 / math.sqrt(max(len(ratios), 1)), 0.1) * math.log(2) / max(median, 1e-3)


def near_rows(tables: Sequence[FloatArray], dimension: float) -> list[Pair]:
    """Return pairs of rows that are each other's nearest, and closer than chance explains; not equal ones.

    tables : of `shortened`
    """
    Z = np.concatenate(tables)
    nearest, first, second = nearest_two(Z)
    pairs = []
    for i in np.flatnonzero((nearest[nearest] == np.arange(len(Z))) & (np.arange(len(Z)) < nearest) & (first > 0)):
        j = int(nearest[i])
        farther = min(second[i], second[j]) / first[i]
        if farther >= FARTHER and math.log(len(Z)) - dimension * math.log(farther) < math.log(BY_CHANCE):
            pairs.append(Pair(int(i), j, 1 / farther))
    return pairs
