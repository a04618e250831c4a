from typing import Any

from protonn_edge.chips.boards import Board as Board
from protonn_edge.chips.boards import board_names as board_names
from protonn_edge.chips.boards import load_board as load_board
from protonn_edge.codegen.planner import make_plan as make_plan
from protonn_edge.data.dataset import Dataset as Dataset
from protonn_edge.data.reading import load_dataset as load_dataset
from protonn_edge.extensions.conversion.converting import from_sklearn as from_sklearn
from protonn_edge.extensions.conversion.from_network import (
    from_network as from_network,
)
from protonn_edge.extensions.conversion.onward import to_onnx as to_onnx
from protonn_edge.extensions.conversion.scaling import from_pipeline as from_pipeline
from protonn_edge.extensions.research.kinds.basis_images.train.classifier import (
    BasisImagesClassifier as BasisImagesClassifier,
)
from protonn_edge.extensions.research.kinds.bonsai.train import (
    BonsaiClassifier as BonsaiClassifier,
)
from protonn_edge.extensions.research.kinds.bonsai.train import (
    LocalDeepKernelClassifier as LocalDeepKernelClassifier,
)
from protonn_edge.features.window_features.transformer import WindowFeatures as WindowFeatures
from protonn_edge.kinds.dense.train import DenseClassifier as DenseClassifier
from protonn_edge.kinds.forest.train import ForestClassifier as ForestClassifier
from protonn_edge.kinds.linear.train import LinearClassifier as LinearClassifier
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier as ProtoNNClassifier
from protonn_edge.model.file import load_model as load_model
from protonn_edge.model.file import save_model as save_model
from protonn_edge.model.model import Model as Model
from protonn_edge.model.quantization import quantize as quantize
from protonn_edge.system.errors import CheckFailed as CheckFailed
from protonn_edge.system.errors import InputError as InputError
from protonn_edge.system.errors import ProtoNNEdgeError as ProtoNNEdgeError

__version__: str

# Folders of kinds and features bring more names (`EXPORTS` in chain/registry.py).
def __getattr__(name: str) -> Any: ...
