"""Stages of which formulas do not give sums of tables, and rules; to import this registers them."""

from protonn_edge.extensions.proof.stages import forest as forest
from protonn_edge.extensions.proof.stages import int8_layer as int8_layer
from protonn_edge.extensions.proof.stages import prototypes as prototypes
from protonn_edge.extensions.proof.stages import rejection as rejection
