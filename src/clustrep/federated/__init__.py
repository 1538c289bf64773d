"""Studies that may not leave their site: clustering functions and scores travel instead (docs/federated.md).

session     what all sites agree on: the question, their public keys, a nonce; keys: signatures
policy      what the data owner lets leave; record: the log of what left; site: all of these together, checked
audit       the rule of atoms: everything released about a study is about groups of a least number of samples
forms       clustering functions as means of clusters, without samples
files       one file each: functions of a site, scores of a site; reading: how they are checked
learning    `learn`; scoring: `score`; combining: `combine`; combined: its result
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
