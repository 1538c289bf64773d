"""Attacks on authenticity, and on what stands at the site: keys, the log."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from tests.federated.sites import Hospitals, cohorts

from clustrep.errors import ClustrepError
from clustrep.federated import Session, combine
from clustrep.federated.files import SiteScores
from clustrep.federated.keys import Key

ACCEPTED, REFUSED = "accepted", "refused"


class Honest:
    """Two sites that have finished a session."""

    def __init__(self) -> None:
        self.sites = Hospitals(tempfile.mkdtemp(), cohorts(60, 2).values())
        self.session = self.sites.agree(KMeans(3, n_init=1), n_resamples=3)
        self.functions = [self.sites.learn(name, self.session, n_jobs=1) for name in self.sites.studies]
        self.scores = [self.sites.score(name, self.functions, self.session, n_jobs=1) for name in self.sites.studies]

    def accepts(self, functions: object = None, scores: object = None, session: object = None) -> str:
        """Say whether files are accepted in the place of honest ones."""
        try:
            combine([*(functions or self.functions), *(scores or self.scores)], session or self.session)  # type: ignore[misc]
        except ClustrepError:
            return REFUSED
        return ACCEPTED


def forged() -> dict[str, str]:
    """Send files that nobody should accept."""
    honest, outcomes = Honest(), {}
    alpha, beta = honest.scores
    key = Key(honest.sites.folder / "alpha.key")
    wrong = np.full_like(beta.scores, 50.0)
    outcomes["a file in another site's name, signed by a partner"] = honest.accepts(
        scores=[alpha, dataclasses.replace(beta, scores=np.full_like(beta.scores, 0.5)).signed(key)]
    )
    outcomes["ARI = 50, signed by its own site"] = honest.accepts(
        scores=[alpha, dataclasses.replace(beta, scores=wrong).signed(Key(honest.sites.folder / "beta.key"))]
    )
    outcomes["a file without a signature"] = honest.accepts(scores=[alpha, dataclasses.replace(beta, signature="")])
    outcomes["a file of another session"] = honest.accepts(scores=[alpha, Honest().scores[1]])
    again = honest.sites.agree(KMeans(3, n_init=1), n_resamples=3)
    outcomes["files of an earlier session with the same question"] = honest.accepts(session=again)
    fields = honest.session.to_fields()
    again = Session.from_fields({**fields, "seed": fields["seed"] + 1})
    outcomes["files of a session with the same nonce and another question"] = honest.accepts(session=again)
    outcomes["two files of one site"] = honest.accepts(scores=[alpha, beta, beta])
    other = honest.functions[1]
    swapped = dataclasses.replace(other, versions={"numpy": "0"}).signed(Key(honest.sites.folder / "beta.key"))
    shelf, mine = honest.functions[0].shelves[0], Key(honest.sites.folder / "beta.key")
    empty = {name: getattr(shelf, name)[:0] for name in ("centroids", "sizes", "spread")}
    none = dataclasses.replace(shelf, status=np.ones(1, dtype=int), **empty)
    withheld = dataclasses.replace(honest.functions[0], shelves=(none,), causes=("withheld",)).signed(key)
    outcomes["scores of functions that were withheld"] = honest.accepts(
        functions=[withheld, other],
        # The honest file tells no score where the secret half of the samples is too small, and is rightly accepted.
        scores=[
            alpha,
            dataclasses.replace(beta, train_digests=(withheld.digest,), scores=np.full_like(beta.scores, 0.5)).signed(
                mine
            ),
        ],
    )
    large = dataclasses.replace(other.shelves[0], sizes=other.shelves[0].sizes * 1000)
    grown = dataclasses.replace(other, shelves=(large,)).signed(mine)
    outcomes["clusters larger than their study"] = honest.accepts(
        functions=[honest.functions[0], grown],
        scores=[dataclasses.replace(alpha, train_digests=(grown.digest,)).signed(key), beta],
    )
    outcomes["other functions than were scored"] = honest.accepts(functions=[honest.functions[0], swapped])
    return outcomes


def changed(n_changes: int) -> int:
    """Change single bits of a file of scores; count the files that are accepted."""
    honest, accepted = Honest(), 0
    path = Path(tempfile.mkdtemp(), "beta.scores")
    honest.scores[1].save(path)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(n_changes):
        flipped = bytearray(content)
        flipped[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(flipped))
        try:
            same = _content(path) == _content_of(honest.scores[1])
        except ClustrepError:
            same = False
        accepted += honest.accepts(scores=[honest.scores[0], path]) == ACCEPTED and not same
    return accepted


def _content(path: Path) -> tuple[object, ...]:
    from clustrep.federated.reading import read_file

    return _content_of(read_file(path))


def _content_of(file: SiteScores) -> tuple[object, ...]:
    return (file.digest, file.signature, file.scores.tobytes())


def at_the_site() -> dict[str, str]:
    """Tamper with what is at the site, and go on releasing."""
    outcomes = {}
    for name, tamper in {
        "the log loses its last line": lambda log: log.write_text("".join(log.read_text().splitlines(True)[:-1])),
        "the log is emptied": lambda log: log.write_text(""),
        "the log is removed": lambda log: log.unlink(),
        "a line of the log is changed": lambda log: log.write_text(
            log.read_text().replace('"partitions": [[', '"partitions": [[9')
        ),
        "the log is a link to another file": lambda log: (log.rename(f"{log}.old"), log.symlink_to(f"{log}.old")),
        "the log can be written by others": lambda log: log.chmod(0o622),
    }.items():
        honest = Honest()
        tamper(honest.sites.policy("alpha").with_name("alpha.toml.log"))
        outcomes[name] = _goes_on(honest)
    for name, path, mode in (
        ("the key can be read by others", "alpha.key", 0o644),
        ("the policy can be changed by others", "alpha.toml", 0o622),
        ("the folder of policy and log can be changed by others", ".", 0o777),
    ):
        honest = Honest()
        os.chmod(honest.sites.folder / path, mode)
        outcomes[name] = _goes_on(honest)
    honest = Honest()
    weak = f"01{31 * '00'}"  # a point of small order, for which anybody's signature may verify
    policy = honest.sites.policy("alpha")
    policy.write_text(policy.read_text().replace(honest.sites.keys["beta"], weak))
    outcomes["a partner's key of small order"] = _goes_on(honest)
    return outcomes


def by_the_owner() -> dict[str, str]:
    """Do what whoever can write at the site can do: the page says that it is not prevented."""
    outcomes = {}
    honest = Honest()
    log = honest.sites.policy("alpha").with_name("alpha.toml.log")
    head = log.with_name("alpha.toml.log.head")
    before = log.read_bytes(), head.read_bytes()
    honest.sites.learn("alpha", honest.sites.agree(KMeans(2, n_init=1), n_resamples=3), n_jobs=1)
    log.write_bytes(before[0])
    head.write_bytes(before[1])
    outcomes["the log and its head are set back together"] = _goes_on(honest)
    honest = Honest()
    other = honest.sites.policy("alpha").with_name("other.toml")
    other.write_bytes(honest.sites.policy("alpha").read_bytes())
    other.chmod(0o600)
    honest.sites.policy = lambda _: other  # type: ignore[method-assign, assignment]
    outcomes["a copy of the policy, beside which there is no log"] = _goes_on(honest)
    return outcomes


def _goes_on(honest: Honest) -> str:
    try:
        honest.sites.learn("alpha", honest.session, n_jobs=1)
    except ClustrepError:
        return REFUSED
    return ACCEPTED
