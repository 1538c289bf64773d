"""Several studies, aligned by the names of their features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from pandas.api.types import is_numeric_dtype

from clustrep.checks import (
    as_frame,
    check_choice,
    check_features,
    check_flag,
    check_integer,
    check_known,
    check_label,
    check_name,
    check_names_differ,
)
from clustrep.data.alignment import check_alignment
from clustrep.data.comparability import Comparability, comparability
from clustrep.data.from_files import check_divided, check_unscaled, studies_from_anndata, studies_from_files
from clustrep.data.gower import gower_coded
from clustrep.data.probes import GeneRequest, Probes
from clustrep.data.readers.table import Request, Table, by_study
from clustrep.data.study import Label, LabelNotFound, Normalise, Study, advice_on_studies, check_label_exists
from clustrep.data.values import REFERENCE, SCALES, SCALES_OF_ONE, Scale
from clustrep.errors import DataError, DataWarning, ParameterError, warn
from clustrep.execution.seeds import Rng, make_generator
from clustrep.text import listing, notebook_html, plural, printable

StudiesLike: TypeAlias = "Studies | Mapping[str, Any] | Sequence[Any]"


class Studies(Mapping[str, Study]):
    """Several studies, aligned on the features that all of them have: a read-only mapping of name to `Study`.

    Parameters
    ----------
    studies : mapping of name to table or Study, or a sequence of these
        Arrays or frames of shape (n_samples, n_features), as `Study` takes them. Those in a sequence are named "1",
        "2", …
    label : str or False, default=None
        The column that holds the samples' known class, in the studies that have it: it is removed from the features
        and kept as `Study.labels`. False: no column is one. By default, a column that looks like a class gives a
        warning.
    scale : str, default="none"
        Scale the features: "none", "pooled", "study" or "reference=NAME", see `Studies.scaled`.
    allow_missing : bool, default=False
        Whether values may be missing, see `Study`.
    gower : bool, default=False
        Whether columns are numbers and categories, to be clustered by Gower's distance: see Notes.
    categorical : sequence of str, default=()
        Columns of numbers that are codes of categories, such as 0 and 1 for the sexes; then `gower` is true.
    normalise : {"none", "log1p"}, default="none"
        Normalise the counts of each study by itself, before features are aligned and scaled, see `Study.normalised`.

    Raises
    ------
    DataError
        If a table can't be used (see `Study`), or the studies have no feature in common; the message then shows the
        features of each. Also if a table is probably the wrong way round: its rows are named like the other studies'
        features.

    Warns
    -----
    DataWarning
        If features are dropped, because some study lacks them; if two studies have samples of the same name; if the
        studies are not on the same scale; if a feature is probably a class label.

    See Also
    --------
    Study : One table with its names.
    Studies.read : Studies from files.
    Studies.from_anndata : Studies from an AnnData.
    Studies.split : Studies from one table, at random.

    Notes
    -----
    Features are aligned by their names and put in the order of the first study. Tables without names, such as arrays,
    are aligned by the place of their columns, so all must have the same number of them; they can't be mixed with
    tables that have names. All studies are in double precision unless all are in single precision.

    With ``gower=True``, text, flags and categorical columns are kept: numbers are divided by their range over all
    studies, and every category becomes a column of 0 and ½. Manhattan distances are then exactly Gower's [1]_, times
    the number of columns: cluster with ``metric="manhattan"``, as in ``AgglomerativeClustering(4, linkage="average",
    metric="manhattan")``. A missing category is half different from all others; missing numbers need `allow_missing`.

    References
    ----------
    .. [1] Gower, J. C. (1971). A general coefficient of similarity and some of its properties. Biometrics 27(4),
       857-871.

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

    def __init__(
        self,
        studies: StudiesLike,
        *,
        label: Label = None,
        scale: Scale = "none",
        normalise: Normalise = "none",
        allow_missing: bool = False,
        gower: bool = False,
        categorical: Sequence[str] = (),
    ):
        check_label(label)
        entries = _entries(studies)
        codes = check_features(categorical, "categorical") if len(categorical) else ()
        if check_flag(gower, "gower") or codes:
            gower = True
            entries = _coded(entries, label, scale, normalise, codes, allow_missing=allow_missing)
        frames = [values for _, values in entries if isinstance(values, pd.DataFrame)]
        is_named = len(frames) == len(entries) and not any(is_numeric_dtype(frame.columns) for frame in frames)
        if is_named and not any(label in frame for frame in frames):
            check_label_exists((), label, {str(column) for frame in frames for column in frame})
        collected = []
        for name, values in entries:
            if isinstance(values, Study):
                if label and values.labels is None and not gower:
                    raise DataError(f"{values!r} is a Study already: pass label={label!r} to Study.")
                collected.append(values if values.name == name else values.renamed(name))
                continue
            try:
                collected.append(Study(values, name, label=label, allow_missing=allow_missing))
            except LabelNotFound:  # an error only if no other study has the column
                collected.append(Study(values, name, allow_missing=allow_missing))
        check_label_exists(collected, label, set().union(*(study.features for study in collected)))
        self._align(collected, scale, normalise=normalise)

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
        features: Sequence[str] | None = None,
        genes: str | None = None,
        probe_map: str | PathLike[str] | None = None,
        probes: Probes = "variance",
        groups: str | None = None,
        allow_missing: bool = False,
        gower: bool = False,
        categorical: Sequence[str] = (),
        duplicates: str | None = None,
        normalise: Normalise = "none",
        target_sum: float | None = None,
    ) -> Studies:
        r"""Read one study from each file, or several from one of AnnData or R; formats are recognised by content.

        The formats are CSV, TSV and other delimited text, and GEO series matrices, all of them also packed by gzip,
        bzip2, xz or zip; Excel and OpenOffice (need python-calamine); Parquet (needs pyarrow); h5ad and Zarr stores of
        AnnData (need anndata); R's .rda and .rds (needs rdata).

        Parameters
        ----------
        *paths : str or path
            Files whose rows are samples and whose columns are features; a GEO series matrix, where it is the other way
            round, is transposed. The studies are named after their files, without the ending. A sheet is named behind
            its file, "cohorts.xlsx:Mainz", where several hold something.
        label : str or False, default=None
            The column that holds the samples' known class: in h5ad a column of obs, in GEO a characteristic such as
            "er status". False: no column is one. By default, a file with a column that looks like a class is refused.
        scale : str, default="none"
            Scale the features: "none", "pooled", "study" or "reference=NAME", see `Studies.scaled`.
        transpose : bool, str or sequence of str, default=False
            Transpose all tables, or those of the studies named.
        header : bool, default=None
            Whether the first line of delimited text holds the features' names; by default it does unless it looks
            like data.
        study_key : str, default=None
            The column that names the study of a sample, in a file that holds several: a column of its table,
            of obs in an h5ad file or a store, of the phenotypes in a file of R. What has no value in a whole study is
            no feature of it.
        rep : str, default=None
            What to take from an h5ad file or a store: "X" (the default), or the name of an entry of obsm or of a layer.
        features : sequence of str, default=None
            The features to keep, in this order, which every study must have; by default those that all studies have.
        genes : str, default=None
            The column that names the gene of each feature: features that are probes become genes. It is a column of
            the file's columns about features (of an ExpressionSet featureData, of a SummarizedExperiment rowData), or
            of `probe_map`.
        probe_map : str or path, default=None
            A table of probes and genes, for files of any format: delimited text, or a platform's annotation from GEO
            such as GPL96.annot.gz. The columns are those named like probes and genes ("ID", "Gene Symbol", …), else
            the first two.
        probes : {"variance", "mean"}, default="variance"
            What to do with several probes of a gene: take the one with the highest variance, or the mean of all.
        groups : str, default=None
            The column that names the unit of a sample, such as "donor"; in h5ad a column of obs. It is no
            feature, and `Bootstrap(groups="donor")` draws its units.
        allow_missing : bool, default=False
            Whether values may be missing, see `Study`.
        gower : bool, default=False
            Whether columns are numbers and categories, to be clustered by Gower's distance: see `Studies`.
        categorical : sequence of str, default=()
            Columns of numbers that are codes of categories, see `Studies`.
        duplicates : {"mean", "first", "variance"}, default=None
            What to make of several features of one name in a study: their mean, the first, or the one with the highest
            variance there. By default they are refused.
        normalise : {"none", "log1p"}, default="none"
            Normalise the counts of each study by itself, before features are aligned and scaled, see
            `Study.normalised`.
        target_sum : float, default=None
            The total for `normalise`, see `Study.normalised`.

        Returns
        -------
        Studies
            In the order of the files.

        Raises
        ------
        DataError
            If a file can't be read, or could be read in two ways: the message names the line, or the parameter that
            decides. Also as in `Studies`.
        ParameterError
            If a parameter does not apply to any of the files, or can't apply to one of them.

        Warns
        -----
        DataWarning
            As in `Studies`; and, with `genes` or `probe_map`, how many probes were dropped, and for how many genes one
            was chosen.

        See Also
        --------
        Studies.from_anndata : The same for an AnnData that is in memory.

        Notes
        -----
        Delimited text may use tabs, semicolons, commas or white space. Commas that do not separate cells are decimal
        marks if any number shows it; where all of them may separate thousands, as in 1,698, they are refused. The first
        column names the samples if it holds text, or if it is called "sample", "patient_id" or the like. Empty cells,
        NA, NaN, null and the like are missing values, which are refused without `allow_missing`. Names and labels lose
        the apostrophe that clustrep writes before a text that a spreadsheet would take for a formula, as in ``'=1+1``.
        A column of text, or with missing values, is left out with a warning where some study does not have it.

        With `genes` or `probe_map`, probes without a gene and probes of several genes (``"DDR1 /// MIR4640"``, or two
        rows of a map) are dropped. With ``probes="variance"`` all studies take the same probe of a gene if they can:
        the one that most studies have; of these the one with the highest variance around the mean of each study, pooled
        over the studies, as the files hold them, before `scale`; of these the first. Missing values are left out of the
        variance; they are refused, without `allow_missing`, only in the probes that are kept. The mean of probes is
        missing where one of them is. A study whose features are genes of the map already stays unchanged.

        Files are not trusted. An h5ad file is read in a copy of this process (except on Windows), which ends after 60
        seconds and one more for each megabyte; shapes and sparse indices are checked before they are used. It is read
        block by block, and nothing else of it than obs, var and the table that `rep` names: what must fit into memory
        is the dense table of `features`. Tables in single precision stay so.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     mainz, vdx = Path(folder, "mainz.csv"), Path(folder, "vdx.csv")
        ...     _ = mainz.write_text("patient,ESR1,ERBB2,subtype\nm1,8.5,14.2,A\nm2,14.0,10.8,B\n")
        ...     _ = vdx.write_text("patient,ERBB2,ESR1,subtype\nv1,10.8,10.2,B\nv2,10.0,12.7,B\n")
        ...     Studies.read(mainz, vdx, label="subtype")
        Studies: 2 studies, 2 shared features
          mainz  2 samples, known labels A, B
          vdx    2 samples, known labels B
        """
        _check_all_features(features, normalise)
        collected, request = studies_from_files(
            paths,
            Request(
                *(label, transpose, header, study_key, rep, features, groups, allow_missing, gower, duplicates),
                categorical=categorical,
            ),
            GeneRequest(genes, probe_map, probes),
        )
        if gower or categorical:
            check_unscaled(scale, normalise)
        studies = cls.__new__(cls)
        studies._align(collected, scale, request, normalise, target_sum)
        return studies

    @classmethod
    def from_frames(cls, frames: Mapping[str, pd.DataFrame], **options: Any) -> Studies:
        """Take one study from each frame.

        The same as `Studies(frames, ...)`, but anything that is not a frame is an error.

        Parameters
        ----------
        frames : mapping of name to DataFrame
            Samples (index) by features (columns).
        **options
            `label`, `scale` and `normalise`, as in `Studies`.

        Returns
        -------
        Studies
            In the order of the mapping.

        Examples
        --------
        >>> import pandas as pd
        >>> mainz = pd.DataFrame({"ESR1": [8.5, 14.0], "subtype": ["A", "B"]}, index=["m1", "m2"])
        >>> vdx = pd.DataFrame({"ESR1": [10.2, 12.7], "subtype": ["B", "A"]}, index=["v1", "v2"])
        >>> Studies.from_frames({"mainz": mainz, "vdx": vdx}, label="subtype")
        Studies: 2 studies, 1 shared feature
          mainz  2 samples, known labels A, B
          vdx    2 samples, known labels A, B
        """
        if not isinstance(frames, Mapping):
            raise DataError(f"frames must map each study's name to its frame, got {type(frames).__name__}.")
        for name, frame in frames.items():
            if not isinstance(frame, pd.DataFrame):
                raise DataError(f"Study {name!r} must be a pandas DataFrame, got {type(frame).__name__}.")
        return cls(frames, **options)

    @classmethod
    def from_frame(cls, frame: Any, study_key: str, **options: Any) -> Studies:
        """Take the studies of one long table, in which a column says to which study a sample belongs.

        Parameters
        ----------
        frame : DataFrame of shape (n_samples, n_columns)
            Of pandas, polars or pyarrow.
        study_key : str
            The column that names the study, such as "site".
        **options
            As in `Studies`.

        Returns
        -------
        Studies
            In the order in which the studies' first samples come. A column that has no value in a whole study is no
            feature of it.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"site": ["Oslo", "Oslo", "Bergen", "Bergen"], "age": [61, 58, 70, 44]})
        >>> Studies.from_frame(frame, "site")
        Studies: 2 studies, 1 shared feature
          Oslo    2 samples
          Bergen  2 samples
        """
        whole = as_frame(frame)
        if not isinstance(whole, pd.DataFrame):
            raise DataError(f"frame must be a table of pandas, polars or pyarrow, got {type(frame).__name__}.")
        check_name(study_key, "study_key")
        parts = by_study(Table("frame", whole, None), Request(study_key=study_key), "The frame")
        check_divided(list(parts), study_key)
        return cls({part.name: part.frame for part in parts}, **options)

    @classmethod
    def from_anndata(
        cls,
        adata: Any,
        study_key: str | None = None,
        rep: str | None = None,
        *,
        batch_key: str | None = None,
        layer: str | None = None,
        use_rep: str | None = None,
        label: Label = None,
        scale: Scale = "none",
        features: Sequence[str] | None = None,
        groups: str | Sequence[str] = (),
        normalise: Normalise = "none",
    ) -> Studies:
        """Take the studies of an AnnData, such as donors, batches or laboratories.

        Parameters
        ----------
        adata : AnnData
            Cells by features; also a view, or backed by its file.
        study_key : str
            The column of obs that names the study of a cell; the studies are named by its values.
        rep : str, default=None
            What to take: "X" (the default), or the name of an entry of obsm, such as "X_pca", or of a layer.
        batch_key, layer, use_rep : str, default=None
            As scanpy calls them: `study_key`, and `rep` where it is a layer or an entry of obsm.
        label : str or False, default=None
            The column of obs that holds the cells' known class. False: no feature is one. By default, a feature that
            looks like a class gives a warning.
        scale : str, default="none"
            Scale the features: "none", "pooled", "study" or "reference=NAME", see `Studies.scaled`.
        features : sequence of str, default=None
            The features to keep, in this order; by default all.
        groups : str or sequence of str, default=()
            Columns of obs with units to which cells belong within a study, such as "donor": `Bootstrap(groups="donor")`
            draws these.
        normalise : {"none", "log1p"}, default="none"
            Normalise the counts of each study by itself, before features are aligned and scaled, see
            `Study.normalised`.

        Returns
        -------
        Studies
            In the order in which the studies' first cells come.

        See Also
        --------
        Studies.read : The same for h5ad files.

        Notes
        -----
        Sparse matrices are made dense, study by study; a table that would take more memory than is free is refused
        before. An AnnData that is backed by its file is read block by block. Single precision is kept.
        An embedding such as "X_pca" must have been computed from all studies together: coordinates that were computed
        study by study are not comparable.

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
        _check_all_features(features, normalise)
        study_key = _only_one(study_key=study_key, batch_key=batch_key)
        for parameter, name, places in (("layer", layer, "layers"), ("use_rep", use_rep, "obsm")):
            if isinstance(name, str) and hasattr(adata, places) and name != "X":
                check_known(name, f"entry of {places}", list(getattr(adata, places)), parameter=parameter)
        rep = _only_one(rep=rep, layer=layer, use_rep=use_rep)
        studies = cls.__new__(cls)
        collected = studies_from_anndata(adata, study_key=study_key, rep=rep, label=label, features=features)
        studies._align(collected, scale, normalise=normalise)
        columns = [groups] if isinstance(groups, str) else list(groups)
        for column in columns:
            check_known(column, "column of obs", list(adata.obs.columns), parameter="groups")
        of_cell = adata.obs[study_key].astype(str).to_numpy()
        return studies.with_groups(
            {name: {key: adata.obs[key].to_numpy()[of_cell == name] for key in columns} for name in studies}
        )

    def with_groups(self, groups: Mapping[str, Mapping[str, ArrayLike]]) -> Studies:
        """Return the same studies with units to which samples belong, such as donors.

        Parameters
        ----------
        groups : mapping of study name to mapping
            ``{"lab 1": {"donor": [...]}, ...}``: one value for every sample.

        Returns
        -------
        Studies

        Examples
        --------
        >>> studies = Studies({"a": [[1.0], [2.0], [4.0]], "b": [[1.0], [3.0]]})
        >>> studies.with_groups({"a": {"donor": [1, 1, 2]}, "b": {"donor": [3, 4]}})["a"].groups["donor"].tolist()
        ['1', '1', '2']
        """
        for name in groups:
            check_known(name, "study", self, parameter="groups")
        if not any(groups.values()):
            return self
        return self._changed([study.with_groups(groups.get(name, {})) for name, study in self.items()])

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
        """Split one table at random into several studies of equal size.

        Parameters
        ----------
        X : array-like, DataFrame of shape (n_samples, n_features), or Study
            Samples by features; at least 2 `n` samples.
        n : int, default=2
            The number of studies; their sizes differ by at most one sample.
        rng : int, Generator, SeedSequence or None, default=None
            The seed.
        label : str or False, default=None
            The column that holds the samples' known class, as in `Study`.
        scale : str, default="none"
            Scale the features after the split: "none", "pooled", "study" or "reference=NAME", see `Studies.scaled`.

        Returns
        -------
        Studies
            Named "1", "2", …; samples keep their order within each.

        Notes
        -----
        The parts are samples of the same population, so this measures the stability of clusters under sampling; it
        does not measure differences between laboratories, platforms or populations, for which separate studies are
        needed.

        Examples
        --------
        >>> halves = Studies.split([[0.0, 1.5], [1.0, 0.5], [5.0, 2.5], [6.0, 3.5], [7.0, 4.5]], rng=0)
        >>> [len(study) for study in halves.values()]
        [3, 2]
        """
        check_integer(n, "n", at_least=2)
        if isinstance(X, Studies):
            raise ParameterError("split takes one study or table, got Studies: pick one, studies[name].", parameter="X")
        whole = next(iter(cls({"whole": X}, label=label).values()))
        if len(whole) < 2 * n:
            raise DataError(f"n must leave at least 2 samples in each part: got n={n} for {len(whole)} samples.")
        parts = np.array_split(make_generator(rng).permutation(len(whole)), n)
        return cls([whole._part(np.sort(rows), str(i)) for i, rows in enumerate(parts, 1)], scale=scale)

    def _align(
        self,
        studies: Sequence[Study],
        scale: Scale,
        request: Request | None = None,
        normalise: Normalise = "none",
        target_sum: float | None = None,
    ) -> None:
        """Keep the features that all studies have, in the order of the first; totals of counts are over all."""
        _check_scale(scale, [study.name for study in studies])
        studies = [study.normalised(normalise, target_sum=target_sum) for study in studies]
        shared = set.intersection(*(set(study.features) for study in studies))
        self._features = tuple(name for name in studies[0].features if name in shared)
        self._dropped = {study.name: tuple(name for name in study.features if name not in shared) for study in studies}
        check_alignment(studies, len(shared), request)
        if len({study.scaling for study in studies}) > 1:
            scales = ", ".join(f"{study.name} {study.scaling}" for study in studies)
            warn(f"The studies are not on one scale ({scales}): scale all of them or none.", DataWarning)
        precision = np.result_type(*(study.X for study in studies))
        aligned = _scaled([study.select(self._features)._with_precision(precision) for study in studies], scale)
        self._studies = {study.name: study for study in aligned}
        if any(self._dropped.values()):
            dropped = [f"{name} {len(lost):,} ({listing(lost, 3)})" for name, lost in self._dropped.items() if lost]
            warn(
                f"The studies share {plural(len(self._features), 'feature')}; dropped: {'; '.join(dropped)}.",
                DataWarning,
            )

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features that all studies have, in the order of the first study."""
        return self._features

    @property
    def dropped(self) -> Mapping[str, tuple[str, ...]]:
        """The features that were dropped from each study, because another lacks them."""
        return MappingProxyType(self._dropped)

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
        """Return the study of this name, or `default` if there is none.

        Parameters
        ----------
        name : str
            The name of a study.
        default : object, default=None
            What to return for a name that no study has.

        Returns
        -------
        Study or object
        """
        return self._studies.get(name, default)

    @property
    def names(self) -> tuple[str, ...]:
        """The studies' names."""
        return tuple(self._studies)

    def select(self, features: Sequence[str]) -> Studies:
        """Keep some of the shared features in all studies.

        Parameters
        ----------
        features : sequence of str
            Names of shared features, each once.

        Returns
        -------
        Studies
            With these features, in this order.

        Examples
        --------
        >>> studies = Studies([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])
        >>> studies.select(["2"])["1"].X.tolist()
        [[2.0], [4.0]]
        """
        return self._changed([study.select(features) for study in self.values()])

    def scaled(self, scale: Scale) -> Studies:
        """Shift and scale the features of all studies.

        - "pooled": z = (x - m) / s, with m the mean of all samples of all studies, and s the standard deviation within
          studies, s² = Σ (x - mean of the sample's study)² / number of samples;
        - "study": z = (x - mean of the study) / standard deviation of the study;
        - "reference=NAME": z = (x - mean of study NAME) / standard deviation of study NAME.

        Parameters
        ----------
        scale : {"none", "pooled", "study", "reference=NAME"}
            Which of these; "none" returns the studies unchanged.

        Returns
        -------
        Studies
            The same studies, scaled, with `scale` noted in each. Studies are scaled only once.

        Raises
        ------
        ParameterError
            If `scale` names no scaling or no study, or if a study is scaled already.

        Notes
        -----
        "pooled" and "reference=NAME" shift and scale all studies alike: features get comparable weight, and
        differences between studies stay, whether they are batch effects or come from different shares of the same
        clusters. "study" removes every difference of location and spread. It is right for batch effects where all
        studies have the same clusters in similar shares, and harmful where they do not: the same sample then gets
        different values in two studies.

        Standard deviations have divisor n. A feature that is constant where its standard deviation is taken from is
        shifted but not scaled. Missing values are left out.

        Examples
        --------
        >>> studies = Studies({"a": [[1.0], [3.0]], "b": [[10.0], [12.0]]})
        >>> [study.X.ravel().tolist() for study in studies.scaled("study").values()]
        [[-1.0, 1.0], [-1.0, 1.0]]
        >>> [study.X.ravel().tolist() for study in studies.scaled("pooled").values()]
        [[-5.5, -3.5], [3.5, 5.5]]
        >>> [study.X.ravel().tolist() for study in studies.scaled("reference=a").values()]
        [[-1.0, 1.0], [8.0, 10.0]]
        """
        return self._changed(_scaled(tuple(self.values()), scale))

    def comparability(self) -> Comparability:
        """Look for what makes the studies hard to compare, before anything is clustered.

        Locations and spreads that differ between studies, duplicated and near-duplicated samples and studies, extreme
        cells, constant features, codes for missing values such as -999, raw counts, studies of few samples, and
        features that are codes of categories.

        Returns
        -------
        Comparability
            `.notes`, `.sentences` and `.to_frame()`, with a sentence and a remedy for everything to look at.

        Notes
        -----
        Call it on unscaled studies: scaling each study by itself hides differences, and counts, codes and sentinels are
        no longer recognised.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> ages = 50 + 10 * rng.normal(size=(80, 1))
        >>> ages[7] = 512
        >>> for note in Studies({"a": ages[:40], "b": ages[40:]}).comparability().notes:
        ...     print(note.study, note.kind, sep=": ")
        a: extreme values
        """
        return comparability(self)

    def subset(self, rows: Mapping[str, ArrayLike]) -> Studies:
        """Keep some of the samples.

        Parameters
        ----------
        rows : mapping of name to array-like of int
            The places of the samples to keep, by study; studies that are not named are left out.

        Returns
        -------
        Studies
            The studies named, in the order that they have here, with these samples in the order given.

        Examples
        --------
        >>> studies = Studies([[[1.0], [3.0], [5.0]], [[10.0], [30.0]], [[2.0], [4.0]]])
        >>> [(name, study.X.ravel().tolist()) for name, study in studies.subset({"1": [0, 2], "3": [1]}).items()]
        [('1', [1.0, 5.0]), ('3', [4.0])]
        """
        if not isinstance(rows, Mapping) or not rows:
            raise ParameterError(
                f"rows must map names of studies to places of samples, got {rows!r}.", parameter="rows"
            )
        for name in rows:
            check_known(name, "study", self._studies, parameter="rows")
        kept = {name: np.asarray(places, dtype=np.int64) for name, places in rows.items()}
        return self._changed([study._part(kept[name], name) for name, study in self.items() if name in kept])

    def normalised(self, normalise: Normalise = "log1p", *, target_sum: float | None = None) -> Studies:
        """Normalise the counts of each study by itself.

        Parameters
        ----------
        normalise : {"log1p", "none"}, default="log1p"
            How, see `Study.normalised`.
        target_sum : float, default=None
            The total of all samples, such as 1e4; by default the median of each study.

        Returns
        -------
        Studies
            The same studies, normalised. Totals are over the features that all studies have: to take all features of
            each study, pass `normalise` where the studies are read.

        See Also
        --------
        Study.normalised : The formula.

        Examples
        --------
        >>> studies = Studies([[[1, 3], [2, 6]], [[1, 0], [0, 4]]])
        >>> studies.normalised(target_sum=4)["2"].X.round(3).tolist()
        [[1.609, 0.0], [0.0, 1.609]]
        """
        return self._changed([study.normalised(normalise, target_sum=target_sum) for study in self.values()])

    def _changed(self, studies: Sequence[Study]) -> Studies:
        """Return these studies, which are aligned already, with the record of what was dropped from them."""
        changed = Studies.__new__(Studies)
        changed._studies = {study.name: study for study in studies}
        changed._features = studies[0].features
        changed._dropped = self._dropped
        return changed

    def __repr__(self) -> str:
        head = f"Studies: {plural(len(self), 'study')}, {plural(len(self.features), 'shared feature')}"
        width = max(len(printable(name)) for name in self.names)
        lines = []
        for name, study in self.items():
            line = f"  {printable(name):<{width}}  {plural(len(study), 'sample')}"
            if study.scaling != "none":
                line += f", scaled by {study.scaling}"
            if study.labels is not None:
                line += f", known labels {listing(np.unique(study.labels))}"
            if self.dropped[name]:
                line += f", dropped {plural(len(self.dropped[name]), 'feature')}: {listing(self.dropped[name], 3)}"
            lines.append(line)
        return "\n".join([head, *lines])

    def _repr_html_(self) -> str:
        head, *_ = repr(self).splitlines()
        rows = [
            {
                "study": name,
                "samples": len(study),
                "scaling": study.scaling,
                "known labels": "" if study.labels is None else listing(np.unique(study.labels)),
                "dropped features": len(self.dropped[name]),
            }
            for name, study in self.items()
        ]
        return notebook_html([head], pd.DataFrame(rows))


def _check_scale(scale: Scale, names: Sequence[str]) -> None:
    """Check that a scaling exists, and the study that it names."""
    if isinstance(scale, str) and scale.startswith(REFERENCE):
        check_known(scale.removeprefix(REFERENCE), "study", names, parameter="scale")
    else:
        check_choice(scale, "scale", (*SCALES, f"{REFERENCE}NAME"))


def _scaled(studies: Sequence[Study], scale: Scale) -> list[Study]:
    """Scale aligned studies."""
    _check_scale(scale, [study.name for study in studies])
    if scale in SCALES_OF_ONE:
        return [study.scaled(scale) for study in studies]
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    if scale == "pooled":
        means = [np.nanmean(study.X, axis=0, dtype=float) for study in studies]
        known = [np.count_nonzero(~np.isnan(study.X), axis=0) for study in studies]
        mean = np.average(means, axis=0, weights=known)
        for study, study_mean in zip(studies, means, strict=True):
            scaler.partial_fit(study.X - study_mean + mean)  # of magnitude `mean`, by which constants are recognised
    else:
        name = scale.removeprefix(REFERENCE)
        scaler.fit(next(study.X for study in studies if study.name == name))
    return [study._standardised(scaler, scale) for study in studies]


def _check_all_features(features: object, normalise: Normalise) -> None:
    """Refuse to normalise some of the features by their own totals."""
    if features is not None and normalise != "none":
        raise ParameterError(
            f"normalise={normalise!r} can't be combined with features: totals are over all features. Read all of them, "
            "then use studies.select(features).",
            parameter="normalise",
        )


def _only_one(**names: str | None) -> str | None:
    """Return the argument that was given, of several names for one thing."""
    given = {name: value for name, value in names.items() if value is not None}
    if len(given) > 1:
        raise ParameterError(f"{' and '.join(given)} exclude each other: pass one.", parameter=list(given)[-1])
    return next(iter(given.values()), None)


def as_studies(studies: StudiesLike, *, allow_missing: bool = False) -> Studies:
    """Return `Studies` unchanged, and anything else that `Studies` accepts as `Studies`."""
    return studies if isinstance(studies, Studies) else Studies(studies, allow_missing=allow_missing)


def _entries(studies: StudiesLike) -> list[tuple[str, Any]]:
    """Name every study: by its key, by the name that a `Study` has, or by its place."""
    if isinstance(studies, Mapping):
        entries = [(check_name(name, "The name of a study"), values) for name, values in studies.items()]
    elif isinstance(studies, list | tuple):
        entries = [
            (values.name if isinstance(values, Study) else str(i), values) for i, values in enumerate(studies, 1)
        ]
    else:
        raise DataError(
            f"studies must be a Studies, a mapping of name to table, or a sequence of tables; "
            f"got {type(studies).__name__}.{_advice_on(studies)}"
        )
    if not entries:
        raise DataError("studies is empty: there must be at least one study.")
    check_names_differ([name for name, _ in entries], "study", parameter="studies")
    return entries


def _advice_on(table: Any) -> str:
    """Say how one table of all studies is divided."""
    obs = getattr(table, "obs", None)
    call = "Studies.from_anndata(adata, batch_key={!r})" if obs is not None else "Studies.from_frame(frame, {!r})"
    if not isinstance(of_samples := as_frame(table) if obs is None else obs, pd.DataFrame):
        return ""
    return f" {advice_on_studies(of_samples, call.format) or 'One table is one study: pass [table].'}"


def _coded(
    entries: Sequence[tuple[str, Any]],
    label: Label,
    scale: Scale,
    normalise: Normalise,
    categorical: Sequence[str],
    *,
    allow_missing: bool,
) -> list[tuple[str, Any]]:
    """Code tables for Gower's distance, as studies with their known labels."""
    check_unscaled(scale, normalise)
    entries = [(name, as_frame(values)) for name, values in entries]
    for name, values in entries:
        if isinstance(values, Study):
            raise ParameterError(f"gower=True needs tables, and {name!r} is a Study already.", parameter="gower")
    known = {name: values[label] for name, values in entries if label and label in getattr(values, "columns", ())}
    tables = {name: values.drop(columns=label) if name in known else values for name, values in entries}
    studies = []
    for name, frame in gower_coded(tables, categorical).items():
        labels = known[name].to_numpy() if name in known else None
        study = Study(frame, name, labels=labels, label=None if label else label, allow_missing=allow_missing)
        studies.append((name, study))
    return studies
