"""Where X⁽ᵇ⁾ comes from: strategies that draw one resample of a study."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
