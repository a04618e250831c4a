"""Stages and rules as sums of tables, one module each; to import this registers them all."""

from protonn_edge.extensions.proof.stages import average_pooling as average_pooling
from protonn_edge.extensions.proof.stages import convolution as convolution
from protonn_edge.extensions.proof.stages import dense as dense
from protonn_edge.extensions.proof.stages import forest as forest
from protonn_edge.extensions.proof.stages import int8_layer as int8_layer
from protonn_edge.extensions.proof.stages import linear as linear
from protonn_edge.extensions.proof.stages import pooling as pooling
from protonn_edge.extensions.proof.stages import projection as projection
from protonn_edge.extensions.proof.stages import prototypes as prototypes
from protonn_edge.extensions.proof.stages import rejection as rejection
