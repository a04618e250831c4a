"""Bounds of the values of stages, one module each; to import this registers them all."""

from protonn_edge.extensions.proof.bounds import average_pooling as average_pooling
from protonn_edge.extensions.proof.bounds import convolution as convolution
from protonn_edge.extensions.proof.bounds import dense as dense
from protonn_edge.extensions.proof.bounds import forest as forest
from protonn_edge.extensions.proof.bounds import int8_layer as int8_layer
from protonn_edge.extensions.proof.bounds import linear as linear
from protonn_edge.extensions.proof.bounds import pooling as pooling
from protonn_edge.extensions.proof.bounds import projection as projection
from protonn_edge.extensions.proof.bounds import prototypes as prototypes
