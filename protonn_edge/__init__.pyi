from typing import Any

from protonn_edge.chips.boards import Board as Board
from protonn_edge.chips.boards import board_names as board_names
from protonn_edge.chips.boards import load_board as load_board
from protonn_edge.chips.emulator.uno import EmulatedBoard as EmulatedBoard
from protonn_edge.codegen.export.exporting import export as export
from protonn_edge.codegen.export.rendering import Imprint as Imprint
from protonn_edge.codegen.plan import Plan as Plan
from protonn_edge.codegen.planner import make_plan as make_plan
from protonn_edge.codegen.projects.project import build as build
from protonn_edge.codegen.renderer import render_c as render_c
from protonn_edge.data.naming import Notice as Notice
from protonn_edge.data.options import TableOptions as TableOptions
from protonn_edge.data.points.dataset import Dataset as Dataset
from protonn_edge.data.points.expected import Expected as Expected
from protonn_edge.data.points.label_sets import MultiLabelDataset as MultiLabelDataset
from protonn_edge.data.points.splits import holdout as holdout
from protonn_edge.data.points.splits import load_digits_dataset as load_digits_dataset
from protonn_edge.data.reading import load_dataset as load_dataset
from protonn_edge.data.reading import load_points as load_points
from protonn_edge.data.reading import read_points as read_points
from protonn_edge.data.roles.groups import group_numbers as group_numbers
from protonn_edge.data.roles.groups import with_groups as with_groups
from protonn_edge.data.takes.recordings import CutWindows as CutWindows
from protonn_edge.data.takes.recordings import cut_windows as cut_windows
from protonn_edge.device.results import read_results as read_results
from protonn_edge.device.runner import ReferenceAnswers as ReferenceAnswers
from protonn_edge.device.runner import run as run
from protonn_edge.device.session import Session as Session
from protonn_edge.extensions.conversion.converting import from_sklearn as from_sklearn
from protonn_edge.extensions.conversion.from_network import (
    from_network as from_network,
)
from protonn_edge.extensions.conversion.onward import to_onnx as to_onnx
from protonn_edge.extensions.conversion.scaling import from_pipeline as from_pipeline
from protonn_edge.extensions.one_class.kinds.one_class.train.classifier import (
    OneClassProtoNNClassifier as OneClassProtoNNClassifier,
)
from protonn_edge.extensions.research.kinds.basis_images.train.classifier import (
    BasisImagesClassifier as BasisImagesClassifier,
)
from protonn_edge.extensions.research.kinds.bonsai.train import (
    BonsaiClassifier as BonsaiClassifier,
)
from protonn_edge.extensions.research.kinds.bonsai.train import (
    LocalDeepKernelClassifier as LocalDeepKernelClassifier,
)
from protonn_edge.extensions.research.kinds.paper.train.classifier import (
    PaperProtoNNClassifier as PaperProtoNNClassifier,
)
from protonn_edge.extensions.sensing.played import PlayedSensor as PlayedSensor
from protonn_edge.extensions.sensing.played import read_sensor as read_sensor
from protonn_edge.extensions.sound.features.audio.clips import audio_features as audio_features
from protonn_edge.extensions.sound.onset import clip_of as clip_of
from protonn_edge.extensions.sound.onset import onset_of as onset_of
from protonn_edge.extensions.teaching.kinds.teachable.train.classifier import (
    TeachableProtoNNClassifier as TeachableProtoNNClassifier,
)
from protonn_edge.features.window_features.making import window_features as window_features
from protonn_edge.features.window_features.transformer import WindowFeatures as WindowFeatures
from protonn_edge.features.window_features.windows import FeatureSet as FeatureSet
from protonn_edge.kinds.dense.train import DenseClassifier as DenseClassifier
from protonn_edge.kinds.dense.value.train import DenseRegressor as DenseRegressor
from protonn_edge.kinds.forest.train import ForestClassifier as ForestClassifier
from protonn_edge.kinds.forest.value.train import ForestRegressor as ForestRegressor
from protonn_edge.kinds.linear.train import LinearClassifier as LinearClassifier
from protonn_edge.kinds.linear.value.train import LinearRegressor as LinearRegressor
from protonn_edge.kinds.protonn.head import ProtoNNHead as ProtoNNHead
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier as ProtoNNClassifier
from protonn_edge.kinds.protonn.value.train import ProtoNNRegressor as ProtoNNRegressor
from protonn_edge.learn.base import DeviceClassifier as DeviceClassifier
from protonn_edge.learn.evaluation.measurement import measure as measure
from protonn_edge.learn.parameters import FeatureParameters as FeatureParameters
from protonn_edge.learn.search.choice import refit as refit
from protonn_edge.learn.search.limits import TuningLimits as TuningLimits
from protonn_edge.learn.search.search import search as search
from protonn_edge.model.features import Features as Features
from protonn_edge.model.file import load_model as load_model
from protonn_edge.model.file import save_model as save_model
from protonn_edge.model.input_quantizer import InputQuantizer as InputQuantizer
from protonn_edge.model.integer_chain import IntegerChain as IntegerChain
from protonn_edge.model.model import Model as Model
from protonn_edge.model.point_format import PointFormat as PointFormat
from protonn_edge.model.quantization import quantize as quantize
from protonn_edge.model.quantization import stage_losses as stage_losses
from protonn_edge.model.raw_inputs import RawQuantizer as RawQuantizer
from protonn_edge.model.statistics import InputStatistics as InputStatistics
from protonn_edge.model.statistics import Normalizer as Normalizer
from protonn_edge.policy.rejection.held_out import calibrate_rejection as calibrate_rejection
from protonn_edge.system.errors import CheckFailed as CheckFailed
from protonn_edge.system.errors import InputError as InputError
from protonn_edge.system.errors import ProtoNNEdgeError as ProtoNNEdgeError

__version__: str

# Folders of kinds and features bring more names (`EXPORTS` in model/registry.py).
def __getattr__(name: str) -> Any: ...
