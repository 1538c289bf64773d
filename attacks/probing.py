"""Attacks of a malicious partner: functions that nobody learned, sent to be scored."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence

import numpy as np
from sklearn.cluster import KMeans
from tests.federated.sites import Hospitals

import clustrep as cr
from clustrep.errors import ClustrepError
from clustrep.federated.files import Shelf, SiteFunctions, SiteScores
from clustrep.federated.keys import Key
from clustrep.federated.session import VERSION, Session

REFUSED, ACCEPTED = "refused", "accepted"


class Victim:
    """A site that scores whatever its policy allows, and partners who ask it."""

    def __init__(
        self, study: cr.Study, ranges: Sequence[float], partners: Sequence[str] = ("mallory",), **rules: object
    ):
        others = [
            cr.Study(np.zeros((2, study.X.shape[1])), name, features=study.features, label=False) for name in partners
        ]
        self.study, self.site = study, Hospitals(tempfile.mkdtemp(), [study, *others])
        self.site.write_policy(study.name, features={name: list(ranges) for name in study.features}, **rules)

    def file(
        self, session: Session, functions: Sequence[np.ndarray], partner: str = "mallory", size: int | None = None
    ) -> SiteFunctions:
        """Write and sign a file of any centres, one function for every configuration."""
        shelves = []
        for centres in functions:
            k, p = np.shape(centres)
            sizes, spread = np.full(k, 100 // k), np.ones(p)
            shelves.append(
                Shelf("centroid", np.zeros(1, dtype=int), np.array(centres, dtype=float)[None], sizes, spread)
            )
        file = SiteFunctions(VERSION, session.fingerprint, partner, 100, False, tuple(shelves), (), (), {})
        return file.signed(Key(self.site.folder / f"{partner}.key"))

    def ask(
        self,
        functions: Sequence[np.ndarray],
        partner: str = "mallory",
        k: int | None = None,
        clusterer: object = None,
        **question: object,
    ) -> SiteScores | None:
        """Ask for the scores of functions in a new session; None where the site refuses."""
        options = {"features": self.study.features, "n_resamples": 20, **question}
        asked = {str(i): clusterer or KMeans(k or len(centres), n_init=1) for i, centres in enumerate(functions)}
        session = self.site.agree(
            asked, **{**options, "sites": {n: self.site.keys[n] for n in (self.study.name, partner)}}
        )
        try:
            return self.site.score(self.study.name, [self.file(session, functions, partner)], session, n_jobs=1)
        except ClustrepError:
            return None


def values(n: int, p: int, seed: int, *, mean: float = 50.0, sd: float = 5.0) -> cr.Study:
    """Return a study of one round group."""
    X = mean + sd * np.random.default_rng([seed, n, p, 1]).normal(size=(n, p)).clip(-4, 4)
    return cr.Study(X, "victim", features=[f"x{j}" for j in range(p)], label=False)


def halves(p: int, at: float, middle: float = 50.0) -> np.ndarray:
    """Return two centres whose border is a plane across the first feature."""
    centres = np.full((2, p), middle)
    centres[:, 0] = at - 10.0, at + 10.0
    return centres


def thousands(study: cr.Study) -> str:
    """Send thousands of centres where the question has k = 2, and as many clusters as the policy allows to be asked."""
    victim = Victim(study, (20, 80))
    rng = np.random.default_rng(0)
    answers = [
        victim.ask([rng.uniform(20, 80, (m, study.X.shape[1]))], k=k) for m, k in ((4000, 2), (150, 150), (11, 11))
    ]
    return REFUSED if not any(answers) else ACCEPTED


def bisected(study: cr.Study, n_asked: int) -> tuple[float, float]:
    """Look for the largest value of a feature by planes; return how far it is, in sd, and without any answer.

    Without answers the attacker takes the expected largest of as many Gaussian values. With them, the last plane that
    is answered is that of the 15th patient; the largest is expected as far beyond as in a Gaussian sample.
    """
    truth, sd, n = study.X[:, 0].max(), study.X[:, 0].std(), len(study)
    expected = np.sort(np.random.default_rng(0).normal(size=(2000, n)), axis=1).mean(axis=0)
    mean = study.X[:, 0].mean()
    victim = Victim(study, (20, 80))
    low, high = mean, mean + 3 * sd
    for _ in range(n_asked):
        middle = (low + high) / 2
        answer = victim.ask([halves(study.X.shape[1], middle)])
        if answer is None:
            break
        low, high = (middle, high) if np.isfinite(answer.scores[0, 0, 0, 0]) else (low, middle)
    with_answers = (low + high) / 2 + sd * (expected[-1] - expected[-15])
    return abs(with_answers - truth) / sd, abs(mean + sd * expected[-1] - truth) / sd


def recognised(n: int, p: int, n_games: int, n_asked: int = 10) -> float:
    """Ask whether a person whose record is known takes part, by planes on both sides of the record.

    Half of the victims have the person. Returns the share that is recognised where 5 % of others are.
    """
    members, others = [], []
    for game in range(n_games):
        for scores, there in ((members, True), (others, False)):
            study = values(n, p, 1000 + game)
            X = np.array(study.X)
            person = X[:, 0].mean() + X[:, 0].std() * 0.5
            X[:, 0] = np.where(np.abs(X[:, 0] - person) < 0.2, X[:, 0] + 0.5, X[:, 0])
            X[0, 0] = person if there else X[0, 0]
            victim = Victim(cr.Study(X, "victim", features=study.features, label=False), (20, 80))
            told = []
            for i in range(n_asked // 2):
                for side in (-0.1, 0.1):
                    answer = victim.ask([halves(p, person + side * (1 + i / 50))])
                    told.append(np.nan if answer is None else answer.scores[0, 0, 0, 0] * np.sign(side))
            scores.append(np.nansum(told))
    cut = np.quantile(others, [0.025, 0.975])
    return float(((np.array(members) < cut[0]) | (np.array(members) > cut[1])).mean())


def column(study: cr.Study) -> str:
    """Name a column that nobody agreed on."""
    X = np.column_stack([study.X, np.arange(len(study)) % 5 == 0])
    wide = cr.Study(X, "victim", features=[*study.features, "hiv"], label=False)
    victim = Victim(wide, (0, 80))
    victim.site.write_policy("victim", features={name: [20, 80] for name in study.features})
    answer = victim.ask([np.array([[0.0], [1.0]])], features=("hiv",))
    return REFUSED if answer is None else ACCEPTED


def repeated(study: cr.Study) -> int:
    """Ask the same function in several sessions with other seeds; return how many different answers come."""
    victim = Victim(study, (20, 80))
    answers = [victim.ask([halves(study.X.shape[1], 51.0)], rng=seed) for seed in range(4)]
    return len({answer.scores.tobytes() for answer in answers if answer is not None})


def together(study: cr.Study) -> int:
    """Let four partners ask for ten functions each; return how many are answered."""
    partners = ("mallory", "trudy", "eve", "oscar")
    victim, answered = Victim(study, (20, 80), partners), 0
    for i in range(11):
        for j, partner in enumerate(partners):
            answered += victim.ask([halves(study.X.shape[1], 46 + 0.1 * (4 * i + j))], partner) is not None
    return answered
