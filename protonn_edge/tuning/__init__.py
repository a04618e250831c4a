"""The best model that fits: a search over sizes and settings, evaluated by the integer model.

Before training, the planner rejects settings that cannot fit. The others are trained and tested in
cross-validation, on this machine or on a cluster; every finished trial is kept.
"""

from __future__ import annotations

from protonn_edge.training.folds import fold_numbers, usual_folds
from protonn_edge.tuning.choice import Candidate, Choice, candidates, front, front_json
from protonn_edge.tuning.limits import Figures, TuningLimits
from protonn_edge.tuning.refit import Refitted, refit
from protonn_edge.tuning.search import NothingFits, Progress, Search, SearchResult, identity
from protonn_edge.tuning.space import SearchSpace
from protonn_edge.tuning.store import Record, SearchFile
from protonn_edge.tuning.trial import Points
from protonn_edge.tuning.workers import DaskWorkers, InProcessWorkers, Processes, Workers

__all__ = [
    "Candidate",
    "Choice",
    "DaskWorkers",
    "Figures",
    "InProcessWorkers",
    "NothingFits",
    "Points",
    "Processes",
    "Progress",
    "Record",
    "Refitted",
    "Search",
    "SearchFile",
    "SearchResult",
    "SearchSpace",
    "TuningLimits",
    "Workers",
    "candidates",
    "fold_numbers",
    "front",
    "front_json",
    "identity",
    "refit",
    "usual_folds",
]
