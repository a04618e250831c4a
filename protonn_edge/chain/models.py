"""The kinds of models, by their names in files."""

from __future__ import annotations

from protonn_edge.chain.model import Model
from protonn_edge.kinds.bonsai.head import BonsaiModel, LocalDeepKernelModel
from protonn_edge.kinds.dense.head import DenseModel
from protonn_edge.kinds.forest.head import ForestModel
from protonn_edge.kinds.linear.head import LinearModel
from protonn_edge.kinds.protonn.head import ProtoNNModel

MODELS: dict[str, type[Model]] = {
    ProtoNNModel.kind: ProtoNNModel,
    LinearModel.kind: LinearModel,
    DenseModel.kind: DenseModel,
    ForestModel.kind: ForestModel,
    BonsaiModel.kind: BonsaiModel,
    LocalDeepKernelModel.kind: LocalDeepKernelModel,
}
