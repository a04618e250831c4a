from dataclasses import dataclass

from protonn_edge.extensions.one_class.parameters import OneClassParameters
from protonn_edge.extensions.research.paper.parameters import PaperParameters
from protonn_edge.extensions.teaching.protonn.parameters import TeachingParameters
from protonn_edge.kinds.protonn.defaults import ProtoNNDefaults

@dataclass(kw_only=True, eq=False, repr=False)
class AddedParameters(OneClassParameters, PaperParameters, TeachingParameters, ProtoNNDefaults): ...
