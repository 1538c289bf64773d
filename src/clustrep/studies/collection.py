"""Several studies, aligned by the names of their features."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from clustrep.checks import check_choice, check_flag, check_integer, check_known, check_label, check_name, check_squares
from clustrep.engine.replicates import Rng, make_generator
from clustrep.errors import DataError, DataWarning, ParameterError, warn
from clustrep.sentences import argument
from clustrep.studies.alignment import Reading, check_orientation, check_same_features
from clustrep.studies.readers.delimited import study_names
from clustrep.studies.readers.formats import read_tables, tables_of_anndata
from clustrep.studies.study import SCALES, Label, LabelNotFound, Scale, Study
from clustrep.text import listing, nearest, plural

StudiesLike: TypeAlias = "Studies | Mapping[str, Any] | Sequence[Any]"


class Studies(Mapping[str, Study]):
    """Several studies, aligned on the features that all of them have.

    Parameters
    ----------
    studies : mapping of name to array, frame or Study, or a sequence of these
        Arrays and frames in a sequence are named "1", "2", …
    label : str or False, optional
        As in `Study`, for all of them.
    scale : {"none", "zscore", "robust"}
        Scale each study by itself.

    Examples
    --------
    >>> import pandas as pd
    >>> mainz = pd.DataFrame({"ESR1": [8.5, 14.0], "ERBB2": [14.2, 10.8]}, index=["m1", "m2"])
    >>> vdx = pd.DataFrame({"ERBB2": [10.8, 10.0], "ESR1": [10.2, 12.7]}, index=["v1", "v2"])
    >>> studies = Studies({"mainz": mainz, "vdx": vdx})
    >>> studies
    Studies: 2 studies, 2 shared features
      mainz  2 samples
      vdx    2 samples
    >>> studies["vdx"].features
    ('ESR1', 'ERBB2')
    """

    _studies: Mapping[str, Study]
    _features: tuple[str, ...]
    _dropped: Mapping[str, tuple[str, ...]]

    def __init__(self, studies: StudiesLike, *, label: Label = None, scale: Scale = "none"):
        check_label(label)
        collected = [
            _renamed(values, name, label) if isinstance(values, Study) else _made(values, name, label)
            for name, values in _entries(studies)
        ]
        _check_label_was_found(collected, label, set().union(*(study.features for study in collected)))
        self._align(collected, scale)

    @classmethod
    def read(
        cls,
        *paths: str | PathLike[str],
        label: Label = None,
        scale: Scale = "none",
        transpose: bool | str | Sequence[str] = False,
        header: bool | None = None,
        study_key: str | None = None,
        rep: str | None = None,
    ) -> Studies:
        """Read one study from each file, or several from an h5ad file; the content tells the format.

        CSV, TSV or other delimited text and GEO series matrices, also gzipped; Parquet (needs pyarrow); h5ad (needs
        anndata).

        Parameters
        ----------
        *paths
            Rows are samples, columns features; a GEO series matrix is turned that way by itself. The studies are
            named after their files.
        label : str or False, optional
            The column that holds the samples' known class: of h5ad a column of obs, of GEO a characteristic such as
            "er status". False: no column is one. A file with a column that looks like one is refused otherwise.
        scale : {"none", "zscore", "robust"}
            Scale each study by itself.
        transpose : bool, str or sequence of str
            Turn all tables, or those of the studies named, the other way round.
        header : bool, optional
            Whether the first line of delimited text holds the features' names; by default it does unless it looks
            like data.
        study_key : str, optional
            The column of obs that says which study a cell belongs to: an h5ad file then holds the studies named there.
        rep : str, optional
            What to take from an h5ad file: "X" (the default), or the name of an entry of obsm or of a layer.
        """
        if not paths:
            raise ParameterError("Studies.read needs at least one path.", parameter="paths")
        for path in paths:
            if not isinstance(path, str | PathLike):
                raise ParameterError(
                    f"Studies.read takes paths, got {type(path).__name__}: pass a list as Studies.read(*paths), and "
                    "tables to Studies({name: table, ...}).",
                    parameter="paths",
                )
        check_label(label)
        if header is not None:
            check_flag(header, "header")
        names = study_names(paths)
        reading = Reading(_names_to_turn(transpose, names), header)
        collected = []
        known: set[str] = set()
        for table in read_tables(paths, names, label=label, reading=reading, study_key=study_key, rep=rep):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)  # of a file, a probable label is refused, below
                study = Study(table.frame, table.name, labels=table.labels)
            check_squares(study.X, study.samples, study.features, f"Study {study.name!r}")
            collected.append(study)
            known.update(collected[-1].features if table.annotations is None else table.annotations)
        _check_label_was_found(collected, label, known)
        for study in collected:
            if (suspicion := study._suspicion(label)) is not None:
                raise DataError(suspicion)
        studies = cls.__new__(cls)
        studies._align(collected, scale, reading)
        return studies

    @classmethod
    def from_frames(cls, frames: Mapping[str, pd.DataFrame], **options: Any) -> Studies:
        """Take one study from each frame; the options are those of `Studies`."""
        if not isinstance(frames, Mapping):
            raise DataError(f"frames must map each study's name to its frame, got {type(frames).__name__}.")
        for name, frame in frames.items():
            if not isinstance(frame, pd.DataFrame):
                raise DataError(f"Study {name!r} must be a pandas DataFrame, got {type(frame).__name__}.")
        return cls(frames, **options)

    @classmethod
    def from_anndata(
        cls,
        adata: Any,
        study_key: str,
        rep: str | None = None,
        *,
        label: Label = None,
        scale: Scale = "none",
    ) -> Studies:
        """Take the studies of an AnnData, such as donors, batches or laboratories.

        Parameters
        ----------
        adata : AnnData
            Cells by features; also a view, or backed by its file.
        study_key : str
            The column of obs that says which study a cell belongs to; the studies are named by its values.
        rep : str, optional
            What to take: "X" (the default), or the name of an entry of obsm, such as "X_pca", or of a layer.
        label : str or False, optional
            The column of obs that holds the cells' known class. False: no feature is one.
        scale : {"none", "zscore", "robust"}
            Scale each study by itself.

        Examples
        --------
        >>> import anndata
        >>> import numpy as np
        >>> adata = anndata.AnnData(np.array([[0.5, 1.5], [2.5, 3.5], [4.5, 5.5], [6.5, 7.5]]))
        >>> adata.obs["batch"] = ["lab 1", "lab 2", "lab 1", "lab 2"]
        >>> Studies.from_anndata(adata, study_key="batch")
        Studies: 2 studies, 2 shared features
          lab 1  2 samples
          lab 2  2 samples
        """
        check_label(label)
        collected = []
        known: set[str] = set()
        for table in tables_of_anndata(adata, study_key=study_key, rep=rep, label=label):
            collected.append(Study(table.frame, table.name, labels=table.labels, label=None if label else label))
            known.update(table.annotations or ())
        _check_label_was_found(collected, label, known)
        studies = cls.__new__(cls)
        studies._align(collected, scale)
        return studies

    @classmethod
    def split(
        cls,
        X: ArrayLike | pd.DataFrame | Study,
        n: int = 2,
        *,
        rng: Rng = None,
        label: Label = None,
        scale: Scale = "none",
    ) -> Studies:
        """Split one table at random into `n` studies of equal size (to one sample), numbered from 1.

        Each is scaled by itself.

        Examples
        --------
        >>> halves = Studies.split([[0.0, 1.5], [1.0, 0.5], [5.0, 2.5], [6.0, 3.5], [7.0, 4.5]], rng=0)
        >>> [len(study) for study in halves.values()]
        [3, 2]
        """
        check_integer(n, "n", at_least=2)
        if isinstance(X, Studies):
            raise ParameterError("split takes one study or table, got Studies.", parameter="X")
        whole = next(iter(cls({"whole": X}, label=label).values()))
        if len(whole) < 2 * n:
            raise DataError(f"n must leave at least 2 samples in each part: got n={n} for {len(whole)} samples.")
        parts = np.array_split(make_generator(rng).permutation(len(whole)), n)
        return cls([whole._part(np.sort(rows), str(i)) for i, rows in enumerate(parts, 1)], scale=scale)

    def _align(self, studies: Sequence[Study], scale: Scale, reading: Reading | None = None) -> None:
        """Keep the features that all studies have, in the order of the first."""
        check_choice(scale, "scale", SCALES)
        features = {study.name: study.features for study in studies}
        if len(studies) > 1:
            named_samples = {study.name: study.samples if study.samples_are_named else () for study in studies}
            _check_all_or_none_named(studies, reading)
            check_orientation(features, named_samples, reading)
            check_same_features(features, named_samples, reading)
        _warn_of_common_samples(studies)
        if len({study.scale for study in studies}) > 1:
            scales = ", ".join(f"{study.name} {study.scale}" for study in studies)
            warn(f"The studies are not on one scale ({scales}): scale all of them or none.", DataWarning)
        shared = set.intersection(*(set(names) for names in features.values()))
        self._features = tuple(name for name in studies[0].features if name in shared)
        self._dropped = MappingProxyType(
            {study.name: tuple(name for name in study.features if name not in shared) for study in studies}
        )
        precision = np.result_type(*(study.X for study in studies))
        aligned = [study.select(self._features)._with_precision(precision).scaled(scale) for study in studies]
        self._studies = {study.name: study for study in aligned}
        if any(self._dropped.values()):
            dropped = [f"{name} {len(lost):,} ({listing(lost, 3)})" for name, lost in self._dropped.items() if lost]
            warn(
                f"The studies share {plural(len(self._features), 'feature')}; dropped: {'; '.join(dropped)}.",
                DataWarning,
            )

    @property
    def features(self) -> tuple[str, ...]:
        """The features that all studies have."""
        return self._features

    @property
    def dropped(self) -> Mapping[str, tuple[str, ...]]:
        """Which features of each study the others lack."""
        return self._dropped

    def __getitem__(self, name: str) -> Study:
        check_known(name, "study", self._studies, parameter="name")
        return self._studies[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._studies)

    def __len__(self) -> int:
        return len(self._studies)

    def __contains__(self, name: object) -> bool:
        return name in self._studies

    def get(self, name: str, default: Any = None) -> Any:
        """Return a study, or something else where there is none of that name."""
        return self._studies.get(name, default)

    @property
    def names(self) -> tuple[str, ...]:
        """The studies' names."""
        return tuple(self._studies)

    def select(self, features: Sequence[str]) -> Studies:
        """Keep these features, in this order."""
        return self._changed([study.select(features) for study in self.values()])

    def scaled(self, scale: Scale) -> Studies:
        """Scale each study by itself; see `Study.scaled`."""
        return self._changed([study.scaled(scale) for study in self.values()])

    def _changed(self, studies: Sequence[Study]) -> Studies:
        """Return these studies, which are aligned already, with what is known of where they came from."""
        changed = Studies.__new__(Studies)
        changed._studies = {study.name: study for study in studies}
        changed._features = studies[0].features
        changed._dropped = self._dropped
        return changed

    def __repr__(self) -> str:
        head = f"Studies: {plural(len(self), 'study')}, {plural(len(self.features), 'shared feature')}"
        width = max(map(len, self.names))
        lines = []
        for name, study in self.items():
            line = f"  {name:<{width}}  {plural(len(study), 'sample')}"
            if study.scale != "none":
                line += f", scaled by {study.scale}"
            if study.labels is not None:
                line += f", known labels {listing(np.unique(study.labels))}"
            if self.dropped[name]:
                line += f", dropped {plural(len(self.dropped[name]), 'feature')}: {listing(self.dropped[name], 3)}"
            lines.append(line)
        return "\n".join([head, *lines])


def as_studies(studies: StudiesLike) -> Studies:
    """Take `Studies` as they are, anything else that `Studies` accepts through it."""
    return studies if isinstance(studies, Studies) else Studies(studies)


def _entries(studies: StudiesLike) -> list[tuple[str, Any]]:
    """Name every study: by its key, by its own name, or by its place."""
    if isinstance(studies, Mapping):
        entries = [(check_name(name, "The name of a study"), values) for name, values in studies.items()]
    elif isinstance(studies, list | tuple):
        entries = [
            (values.name if isinstance(values, Study) else str(i), values) for i, values in enumerate(studies, 1)
        ]
    else:
        raise DataError(
            f"studies must be a Studies, a mapping of name to table, or a sequence of tables; "
            f"got {type(studies).__name__}."
        )
    if not entries:
        raise DataError("studies is empty: there must be at least one study.")
    names = [name for name, _ in entries]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"Every study needs a name of its own, but {twice!r} came twice.")
    return entries


def _made(values: Any, name: str, label: Label) -> Study:
    try:
        return Study(values, name, label=label)
    except LabelNotFound:
        return Study(values, name)


def _renamed(study: Study, name: str, label: Label) -> Study:
    if label and study.labels is None:
        raise DataError(f"Study {study.name!r} is made already: pass label={label!r} to Study, not to Studies.")
    return study if study.name == name else study._with(name=name)


def _names_to_turn(transpose: object, names: Sequence[str]) -> bool | Sequence[str]:
    if isinstance(transpose, bool):
        return transpose
    turned = [transpose] if isinstance(transpose, str) else transpose
    if not isinstance(turned, Iterable):
        raise ParameterError(
            f"transpose must be True, False or the names of studies, got {transpose!r}.", parameter="transpose"
        )
    turned = list(turned)
    for name in turned:
        check_known(name, "study to transpose", names, parameter="transpose")
    return turned


def _check_label_was_found(studies: Sequence[Study], label: Label, known: Iterable[str]) -> None:
    if label and all(study.labels is None for study in studies):
        known = sorted(known)
        there = f"; there are {listing(known, 10)}" if known else ""
        raise DataError(f"No study has a column {label!r} to take labels from{there}.{nearest(label, known)}")


def _check_all_or_none_named(studies: Sequence[Study], reading: Reading | None) -> None:
    """Features without names can only be aligned by place: among themselves, and only if there are as many."""
    unnamed = [study.name for study in studies if not study.features_are_named]
    if not unnamed:
        return
    if len(unnamed) < len(studies):
        named = next(study.name for study in studies if study.features_are_named)
        remedy = "pass frames whose columns have the same names, or all studies as arrays"
        if reading is not None:
            remedy = f"write their names into its first line, or use {argument('header', True)} if they are there"
        raise DataError(f"Study {unnamed[0]!r} does not name its features, study {named!r} does: {remedy}.")
    numbers = {study.name: len(study.features) for study in studies}
    if len(set(numbers.values())) > 1:
        listed = ", ".join(f"{name} {number}" for name, number in numbers.items())
        remedy = "pass frames, whose columns have names"
        if reading is not None:
            remedy = "write the names into the first line of every file"
        raise DataError(
            f"The studies have different numbers of features ({listed}), and no names to align them by: {remedy}."
        )


def _warn_of_common_samples(studies: Sequence[Study]) -> None:
    named = sorted((study for study in studies if study.samples_are_named), key=lambda study: study.name)
    for i, one in enumerate(named):
        for other in named[i + 1 :]:
            theirs = set(other.samples)
            common = [sample for sample in one.samples if sample in theirs]
            if common:
                warn(
                    f"Studies {one.name!r} and {other.name!r} have {plural(len(common), 'sample name')} in common "
                    f"({listing(common, 3)}): if these are the same samples, the studies are not independent.",
                    DataWarning,
                )
