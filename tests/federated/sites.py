"""What tests and attacks on federated sites share: keys, policies, a session."""

from __future__ import annotations

from pathlib import Path

import clustrep as cr
from clustrep.federated import Policy, Session, combine, learn, make_key, score


def cohorts(n_samples=120, n_cohorts=3, **options):
    """Cohorts with three subtypes that are far apart."""
    settings = {"n_subtypes": 3, "n_features": 4, "separation": 8, "missing": {}, "shifted": {}, "rng": 7, **options}
    return cr.datasets.simulate_cohorts(n_cohorts=n_cohorts, n_samples=n_samples, **settings)


class Hospitals:
    """Sites with a folder, a key and a policy each."""

    def __init__(self, folder, studies, **rules):
        self.folder, self.studies = Path(folder), {study.name: study for study in studies}
        self.keys = {name: make_key(self.folder / f"{name}.key") for name in self.studies}
        for name in self.studies:
            self.write_policy(name, **rules)

    def write_policy(self, name, features=None, partners=None, **rules):
        """Write the policy of one site."""
        study = self.studies[name]
        ranges = {feature: [-40.0, 40.0] for feature in study.features} if features is None else features
        known = {other: key for other, key in self.keys.items() if other != name} if partners is None else partners
        Policy(name, ranges, known, **rules).save(self.policy(name))

    def policy(self, name):
        """Where the policy of a site is."""
        return self.folder / f"{name}.toml"

    def agree(self, clusterers, **question):
        """Agree on a question about the features that all have."""
        first = next(iter(self.studies.values()))
        return Session.agree(clusterers, **{"features": first.features, "sites": self.keys, "rng": 7, **question})

    def learn(self, name, session, **options):
        """Learn at one site."""
        own = (session, self.policy(name), self.folder / f"{name}.key")
        return learn(self.studies[name], *own, **{"trust_partners": True, **options})

    def score(self, name, functions, session, **options):
        """Score at one site."""
        own = (session, self.policy(name), self.folder / f"{name}.key")
        return score(self.studies[name], functions, *own, **{"trust_partners": True, **options})

    def together(self, session, **options):
        """Learn and score at every site, and combine."""
        functions = [self.learn(name, session, **options) for name in self.studies]
        scores = [self.score(name, functions, session, **options) for name in self.studies]
        return combine([*functions, *scores], session)
