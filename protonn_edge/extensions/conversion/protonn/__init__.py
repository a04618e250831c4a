"""Fitted estimators become prototypes; the reference implementation's matrices are a ProtoNN."""

from __future__ import annotations

from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, NuSVC

from protonn_edge.extensions.conversion.protonn import reference
from protonn_edge.extensions.conversion.protonn.reduction import reduced
from protonn_edge.extensions.conversion.protonn.rules import machine_rule, neighbour_rule
from protonn_edge.extensions.conversion.search import Readers

__all__ = ["READERS", "reduced", "reference"]

READERS: Readers = {
    **dict.fromkeys((NuSVC, SVC), machine_rule),
    KNeighborsClassifier: neighbour_rule,
}
