"""The kinds of models, by their names in files."""

from __future__ import annotations

from protonn_edge.model.base import Model
from protonn_edge.model.bonsai import BonsaiModel, LocalDeepKernelModel
from protonn_edge.model.dense import DenseModel
from protonn_edge.model.forest import ForestModel
from protonn_edge.model.linear import LinearModel
from protonn_edge.model.protonn import ProtoNNModel

MODELS: dict[str, type[Model]] = {
    ProtoNNModel.kind: ProtoNNModel,
    LinearModel.kind: LinearModel,
    DenseModel.kind: DenseModel,
    ForestModel.kind: ForestModel,
    BonsaiModel.kind: BonsaiModel,
    LocalDeepKernelModel.kind: LocalDeepKernelModel,
}
