"""clustrep: which clusters hold up when someone else repeats the study.

Names are resolved on first use: importing the package is quick, scikit-learn is not. No module has the name of a public
function, because importing it would put it in the function's place.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clustrep import datasets, errors
    from clustrep._analysis import analyse
    from clustrep._consensus import assignment_consistency, bootstrap_instability, consensus
    from clustrep._counterparts import counterparts, leave_one_study_out
    from clustrep._null import null_reference
    from clustrep._replicability import replicability
    from clustrep._stability import sensitivity, stability
    from clustrep._validate import validate
    from clustrep.agreement import adjusted_mutual_information, adjusted_rand_index, mutual_information, rand_index
    from clustrep.cluster_indices import d_index, inclusion, jaccard, match_labels, minimal_matching_distance, r_index
    from clustrep.contingency import contingency_table
    from clustrep.functions import ClusteringFunction, Induced
    from clustrep.in_group import in_group_proportion
    from clustrep.local import local_replicability
    from clustrep.prediction import prediction_strength, relative_validation
    from clustrep.report import Report
    from clustrep.resampling import Bootstrap, FeatureSubset, Jitter, Rerun, Simulate, Subsample
    from clustrep.results import (
        Analysis,
        AssignmentConsistency,
        BootstrapInstability,
        Choice,
        ClusterTest,
        Comparison,
        Consensus,
        Counterparts,
        InGroupProportion,
        LeaveOneStudyOut,
        LocalReplicability,
        NullReference,
        PredictionStrength,
        RelativeValidation,
        Replicability,
        Sensitivity,
        Stability,
        StudyRelations,
        Validation,
        load,
    )
    from clustrep.selection import compare
    from clustrep.significance import cluster_test
    from clustrep.studies import Studies
    from clustrep.study import Study

__version__ = "0.1.0"

_HOME = {
    "Analysis": "results",
    "AssignmentConsistency": "results",
    "Bootstrap": "resampling",
    "BootstrapInstability": "results",
    "Choice": "results",
    "ClusterTest": "results",
    "ClusteringFunction": "functions",
    "Comparison": "results",
    "Consensus": "results",
    "Counterparts": "results",
    "FeatureSubset": "resampling",
    "InGroupProportion": "results",
    "Induced": "functions",
    "Jitter": "resampling",
    "LeaveOneStudyOut": "results",
    "LocalReplicability": "results",
    "NullReference": "results",
    "PredictionStrength": "results",
    "RelativeValidation": "results",
    "Replicability": "results",
    "Report": "report",
    "Rerun": "resampling",
    "Sensitivity": "results",
    "Simulate": "resampling",
    "Stability": "results",
    "Studies": "studies",
    "Study": "study",
    "StudyRelations": "results",
    "Subsample": "resampling",
    "Validation": "results",
    "adjusted_mutual_information": "agreement",
    "adjusted_rand_index": "agreement",
    "analyse": "_analysis",
    "assignment_consistency": "_consensus",
    "bootstrap_instability": "_consensus",
    "cluster_test": "significance",
    "compare": "selection",
    "consensus": "_consensus",
    "contingency_table": "contingency",
    "counterparts": "_counterparts",
    "d_index": "cluster_indices",
    "in_group_proportion": "in_group",
    "inclusion": "cluster_indices",
    "jaccard": "cluster_indices",
    "leave_one_study_out": "_counterparts",
    "load": "results",
    "local_replicability": "local",
    "match_labels": "cluster_indices",
    "minimal_matching_distance": "cluster_indices",
    "mutual_information": "agreement",
    "null_reference": "_null",
    "prediction_strength": "prediction",
    "r_index": "cluster_indices",
    "rand_index": "agreement",
    "relative_validation": "prediction",
    "replicability": "_replicability",
    "sensitivity": "_stability",
    "stability": "_stability",
    "validate": "_validate",
}
_MODULES = ("datasets", "errors")

__all__ = [
    "Analysis",
    "AssignmentConsistency",
    "Bootstrap",
    "BootstrapInstability",
    "Choice",
    "ClusterTest",
    "ClusteringFunction",
    "Comparison",
    "Consensus",
    "Counterparts",
    "FeatureSubset",
    "InGroupProportion",
    "Induced",
    "Jitter",
    "LeaveOneStudyOut",
    "LocalReplicability",
    "NullReference",
    "PredictionStrength",
    "RelativeValidation",
    "Replicability",
    "Report",
    "Rerun",
    "Sensitivity",
    "Simulate",
    "Stability",
    "Studies",
    "Study",
    "StudyRelations",
    "Subsample",
    "Validation",
    "adjusted_mutual_information",
    "adjusted_rand_index",
    "analyse",
    "assignment_consistency",
    "bootstrap_instability",
    "cluster_test",
    "compare",
    "consensus",
    "contingency_table",
    "counterparts",
    "d_index",
    "datasets",
    "errors",
    "in_group_proportion",
    "inclusion",
    "jaccard",
    "leave_one_study_out",
    "load",
    "local_replicability",
    "match_labels",
    "minimal_matching_distance",
    "mutual_information",
    "null_reference",
    "prediction_strength",
    "r_index",
    "rand_index",
    "relative_validation",
    "replicability",
    "sensitivity",
    "stability",
    "validate",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"clustrep.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(f"clustrep.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'clustrep' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
