"""What several test modules share."""

from __future__ import annotations

from functools import wraps

import clustrep as cr


def configured(function, **options):
    """Return the function as it is under `config_context(**options)`."""

    @wraps(function)
    def call(*args, **kwargs):
        with cr.config_context(**options):
            return function(*args, **kwargs)

    return call
