"""One site: its study, what was agreed, what its owner allows, its key and its log, checked against each other."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from clustrep.data.study import Study
from clustrep.errors import DataError, ParameterError
from clustrep.federated.files import SIZE_STEP, SiteFile
from clustrep.federated.keys import Key
from clustrep.federated.policy import Policy
from clustrep.federated.record import Record
from clustrep.federated.session import VERSION, Session, read_session
from clustrep.provenance import installed_versions
from clustrep.resampling.strategies import Bootstrap
from clustrep.text import argument, listing, plural
from clustrep.types import FloatArray

T = TypeVar("T", bound=SiteFile)

Approve: TypeAlias = Callable[[str], bool]
# How a site resamples, whatever partners ask for.
RESAMPLING = Bootstrap(distinct=True)
NOT_APPROVED = "Nothing has left: the release was not approved."
MIXED = "Exact numbers leave all sites or none: change the policies, and learn again."
# The same words stand in the help of the commands, in README.md, SECURITY.md and docs/federated.md.
RISK = (
    "The files of learn and score are for partners who trust each other: a partner who tries can tell, more often "
    "than by chance, that a person whose record is known takes part or that a patient is far from all others, and "
    "computes roughly the last patient of a cluster whose others are known."
)


@dataclass(frozen=True, eq=False)
class Site:
    """One site in one session.

    Attributes
    ----------
    study : Study
        With the features of the session, scaled as agreed.
    raw : ndarray, (n_samples, n_features)
        The same in original units.
    """

    study: Study
    raw: FloatArray
    session: Session
    policy: Policy
    key: Key
    record: Record
    table: str
    approve: Approve | None

    @property
    def exact(self) -> bool:
        """Whether exact numbers leave."""
        return self.policy.exact_numbers

    def rounded_size(self, size: int) -> int:
        """Round a number of samples."""
        return int(size) if self.exact else SIZE_STEP * round(int(size) / SIZE_STEP)

    def release(self, kind: Callable[..., T], what: str, logged: Mapping[str, object], **fields: Any) -> T:
        """Sign what is to leave, show it to whoever approves it, and write it into the log."""
        file = kind(
            version=VERSION,
            session=self.session.fingerprint,
            study=self.study.name,
            n_samples=self.rounded_size(len(self.study)),
            exact_numbers=self.exact,
            versions=installed_versions(),
            **fields,
        ).signed(self.key)
        column = self.policy.patient
        rows = f"the first row of each {column!r}" if column else "every row, as another patient: none shares rows"
        summary = f"{file!r}\nCounted here: {rows} ({plural(len(self.study), 'row')})."
        if self.approve is not None and not self.approve(summary):
            raise DataError(NOT_APPROVED)
        about = {"table": self.table, "session": self.session.fingerprint, "summary": summary, "file": file.digest}
        self.record.append(what=what, **about, **logged)
        return file


@contextlib.contextmanager
def opened_site(
    study: object,
    session: Session | str | PathLike[str],
    policy: str | PathLike[str],
    key: str | PathLike[str],
    result: str,
    *,
    trust_partners: bool,
    approve: Approve | None,
) -> Iterator[Site]:
    """Check everything that a site brings, and hold its log."""
    if not trust_partners:
        raise ParameterError(f"{RISK} Confirm it with {argument('trust_partners', True)}.", parameter="trust_partners")
    if not isinstance(study, Study):
        raise DataError(f"study must be a Study, got {type(study).__name__}: Study(table, name) makes one.")
    rules, agreed = Policy.read(policy), read_session(session)
    if study.name != rules.study:
        raise DataError(f"The policy {policy} is of study {rules.study!r}, got {study.name!r}: name its own policy.")
    rules.check(agreed, result)
    secret = Key(key)
    if agreed.sites[study.name] != secret.public:
        raise DataError(f"{key} is not the key that the session has for {study.name!r}: name the site's own key.")
    lacking = [name for name in rules.features if name not in set(study.features)]
    if lacking:
        raise DataError(f"Study {study.name!r} lacks features of its policy: {listing(map(repr, lacking))}.")
    if study.scale != "none":
        raise DataError(f"Study {study.name!r} is scaled by {study.scale!r}: pass it in original units.")
    if rules.patient and rules.patient not in study.groups:
        raise DataError(f"Study {study.name!r} lacks the column {rules.patient!r} of patients: add it to the table.")
    if rules.patient:
        first = np.unique(study.groups[rules.patient], return_index=True)[1]
        study = study._part(np.sort(first), study.name)
    whole = study.select(sorted(rules.features))._with_precision(np.dtype(float))
    rules.check_table(whole)
    digest = hashlib.sha256("\n".join(whole.features).encode() + np.ascontiguousarray(whole.X).tobytes()).hexdigest()
    here = whole.select(agreed.features)
    with Record.opened(_checked_owner(Path(policy).resolve()), digest) as record:
        scaled = here.scaled(agreed.scale)
        yield Site(scaled, here.X, agreed, rules, secret, record, digest, approve)


def _checked_owner(policy: Path) -> Path:
    """Refuse a policy that others can change: whoever can decides what leaves."""
    for path in (policy, policy.parent):
        status = os.stat(path)
        theirs = status.st_mode & 0o022 and not (path != policy and status.st_mode & stat.S_ISVTX)
        if os.name == "posix" and (status.st_uid not in (0, os.geteuid()) or theirs):
            raise DataError(f"{path} can be changed by others, who could let more leave: chmod go-w {path}.")
    return policy
