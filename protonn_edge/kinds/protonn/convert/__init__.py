"""Fitted estimators become prototypes; the reference implementation's matrices are a ProtoNN."""

from __future__ import annotations

from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, NuSVC

from protonn_edge.kinds.protonn.convert import reference
from protonn_edge.kinds.protonn.convert.reduction import reduced
from protonn_edge.kinds.protonn.convert.rules import machine_rule, neighbour_rule

__all__ = ["READERS", "reduced", "reference"]

READERS = {**dict.fromkeys((NuSVC, SVC), machine_rule), KNeighborsClassifier: neighbour_rule}
