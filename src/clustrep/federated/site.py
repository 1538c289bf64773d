"""One site: its study, what was agreed, what its owner allows, its key and its log, checked against each other."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import numpy as np

from clustrep.data.study import Study
from clustrep.errors import DataError, ParameterError
from clustrep.federated.keys import Key
from clustrep.federated.policy import Policy
from clustrep.federated.record import Record
from clustrep.federated.session import Session, read_session
from clustrep.resampling.strategies import Bootstrap
from clustrep.text import argument, listing
from clustrep.types import FloatArray

Approve: TypeAlias = Callable[[str], bool]
# How a site resamples, whatever partners ask for.
RESAMPLING = Bootstrap(distinct=True)
NOT_APPROVED = "Nothing has left: the release was not approved."


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
    def trusts(self) -> bool:
        """Whether partners may see values of single samples."""
        return self.policy.trust_partners

    def leaves(self, summary: str, **entries: object) -> None:
        """Show what is to leave to whoever approves it, and write it into the log."""
        if self.approve is not None and not self.approve(summary):
            raise DataError(NOT_APPROVED)
        self.record.append(table=self.table, session=self.session.fingerprint, summary=summary, **entries)


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
    if not isinstance(study, Study):
        raise DataError(f"study must be a Study, got {type(study).__name__}: Study(table, name) makes one.")
    rules, agreed = Policy.read(policy), read_session(session)
    if study.name != rules.study:
        raise DataError(f"The policy {policy} is of study {rules.study!r}, got {study.name!r}: name its own policy.")
    rules.check(agreed, result)
    if rules.trust_partners != trust_partners:
        raise ParameterError(
            f"{policy} says that partners {'may' if rules.trust_partners else 'must not'} see single samples: "
            f"{'confirm it with' if rules.trust_partners else 'change it, or leave out'} "
            f"{argument('trust_partners', True)}.",
            parameter="trust_partners",
        )
    secret = Key(key)
    if agreed.sites[study.name] != secret.public:
        raise DataError(f"{key} is not the key that the session has for {study.name!r}: name the site's own key.")
    lacking = [name for name in rules.features if name not in set(study.features)]
    if lacking:
        raise DataError(f"Study {study.name!r} lacks features of its policy: {listing(map(repr, lacking))}.")
    if study.scale != "none":
        raise DataError(f"Study {study.name!r} is scaled by {study.scale!r}: pass it in original units.")
    whole = study.select(sorted(rules.features))._with_precision(np.dtype(float))
    rules.check_table(whole)
    digest = hashlib.sha256("\n".join(whole.features).encode() + np.ascontiguousarray(whole.X).tobytes()).hexdigest()
    here = whole.select(agreed.features)
    with Record.opened(Path(policy).resolve(), digest) as record:
        scaled = here.scaled(agreed.scale)
        yield Site(scaled, here.X, agreed, rules, secret, record, digest, approve)
