# The one list of public names: what people call. Classes of results are in clustrep.results.
from . import agreement as agreement
from . import clusterers as clusterers
from . import datasets as datasets
from . import errors as errors
from . import federated as federated
from . import metaneighbor as metaneighbor
from . import resampling as resampling
from . import results as results
from . import separation as separation
from . import stability as stability
from . import tl as tl
from .algorithms.compare import compare as compare
from .algorithms.leave_one_out import leave_one_study_out as leave_one_study_out
from .algorithms.local import local_replicability as local_replicability
from .algorithms.replicability import replicability as replicability
from .algorithms.voting import cluster_auroc as cluster_auroc
from .analysis.analyse import RunOptions as RunOptions
from .analysis.analyse import analyse as analyse
from .analysis.estimator import ReplicableClusters as ReplicableClusters
from .data.studies import Studies as Studies
from .data.study import Study as Study
from .execution.context import config_context as config_context
from .execution.context import get_config as get_config
from .execution.context import set_config as set_config
from .findings.known import match_clusters as match_clusters
from .fitting.function import ClusteringFunction as ClusteringFunction
from .fitting.parameters import Induced as Induced
from .fitting.train_embedding import TrainEmbedding as TrainEmbedding
from .null.null_reference import null_reference as null_reference
from .report import Report as Report
from .results import load as load

__version__: str
