"""clustrep: which clusters hold up when someone else repeats the study.

The public names are listed in `__init__.pyi` and resolved on first use: importing the package is quick, importing
scikit-learn is not.
"""

import importlib.metadata

import lazy_loader

__version__ = importlib.metadata.version("clustrep")
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
