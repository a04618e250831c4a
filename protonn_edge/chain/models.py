"""The kinds of models, by their names in files."""

from __future__ import annotations

from protonn_edge.chain.head import Head
from protonn_edge.kinds.bonsai.head import BonsaiHead, LocalDeepKernelHead
from protonn_edge.kinds.dense.head import DenseHead
from protonn_edge.kinds.forest.head import ForestHead
from protonn_edge.kinds.linear.head import LinearHead
from protonn_edge.kinds.protonn.head import ProtoNNHead

MODELS: dict[str, type[Head]] = {
    ProtoNNHead.kind: ProtoNNHead,
    LinearHead.kind: LinearHead,
    DenseHead.kind: DenseHead,
    ForestHead.kind: ForestHead,
    BonsaiHead.kind: BonsaiHead,
    LocalDeepKernelHead.kind: LocalDeepKernelHead,
}
