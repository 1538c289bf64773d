"""What a run is about, as text: its data, clusterers, seed and versions, the same in every process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clustrep.clustering.definitions import code_of, digest_of, pieces_of
from clustrep.clustering.parameters import describe
from clustrep.clustering.sample import Configuration, Source
from clustrep.device.available import device_name
from clustrep.engine.checkpoints import VERSION, Question
from clustrep.engine.run import EXACT
from clustrep.provenance import fingerprint, installed_versions
from clustrep.studies.study import Study
from clustrep.tables.agreement import Agreement

NO_MATTER = "joblib"  # of the packages, that on which no number depends


def facts_of(source: Source, studies: Sequence[Study], **further: Any) -> dict[str, str]:
    """Return what a run is about, by name, except its clusterers."""
    packages = [] if source.neighbours == EXACT else [source.neighbours]
    packages += [] if source.device == "cpu" else ["torch"]
    return {
        "seed": str(source.root),
        "resampling": described(source.resampling),
        "accelerate": str(source.accelerate),
        **({} if source.device == "cpu" else {"device": str(device_name(source.device))}),
        **({} if source.sketch is None else {"the sketch": repr(source.sketch)}),
        **({} if source.transformer is None else {"the transformer": described(source.transformer)}),
        **({} if source.neighbours == EXACT else {"the search for neighbours": source.neighbours}),
        "the studies": ", ".join(repr(study.name) for study in studies),
        **{name: described(value) for name, value in further.items()},
        **{f"the data of study {study.name!r}": digest_of_study(study) for study in studies},
        **{f"{VERSION} {name}": text for name, text in installed_versions(*packages).items() if name != NO_MATTER},
    }


def question_of(
    source: Source, studies: Sequence[Study], configurations: Sequence[Configuration], **further: Any
) -> Question:
    """Return what a run in a folder is about."""
    clusterers = {
        f"{configuration.name!r}, k = {configuration.n_clusters}": described(configuration.clusterer)
        for configuration in configurations
    }
    computing = [source.resampling, source.transformer, *further.values()]
    computing += [configuration.clusterer for configuration in configurations]
    code: dict[str, list[str]] = {}
    for name, text in code_of(pieces_of(computing)):
        code.setdefault(name, []).append(text)
    texts = {name: " ".join(sorted(of_name)) for name, of_name in code.items()}
    return Question(facts_of(source, studies, **further), clusterers, texts)


def agreements_of(agreements: Sequence[Agreement]) -> list[Any]:
    """Return what identifies agreements: their names, and a user's own functions."""
    return [(agreement.name, agreement.of_labelings) for agreement in agreements]


def digest_of_study(study: Study) -> str:
    """Return hexadecimal digits that identify what can be clustered of a study."""
    about = f"{study.X.dtype.str} {study.scale} {study.features!r}"
    for key in sorted(study.groups):
        about += f" {key!r} {study.groups[key].tolist()!r}"
    return fingerprint(study.X, about=about)


def described(thing: Any) -> str:
    """Describe an object with its parameters, and with a digest of all that the description leaves out.

    Examples
    --------
    >>> described(3)
    '3'
    >>> described(lambda X: X > 0) == described(lambda X: X > 1)
    False
    """
    text = describe(thing)
    if isinstance(thing, bool | int | float | str | None):
        return text
    return f"{text} [{identity_of(thing)[:8]}]"


def identity_of(thing: Any) -> str:
    """Return a digest of an object: of its parameters or attributes, arrays, and the code that computes with them."""
    pieces = pieces_of(thing)
    return digest_of([*pieces, *(text for fact in code_of(pieces) for text in fact)])
