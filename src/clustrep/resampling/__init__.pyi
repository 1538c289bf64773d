from .strategies import Bootstrap as Bootstrap
from .strategies import FeatureSubset as FeatureSubset
from .strategies import Jitter as Jitter
from .strategies import Rerun as Rerun
from .strategies import Simulate as Simulate
from .strategies import Subsample as Subsample
from .strategies import Thin as Thin
