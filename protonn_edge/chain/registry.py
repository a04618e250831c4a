"""The kinds of classifiers and features: one line for each, imported on first use.

A kind of classifier is a folder of `protonn_edge.kinds`. By convention it has in

``head``      ``<Prefix>Head``, its float form; absent in kinds that train another kind's model
``quantize``  ``quantize(model)``, which returns its `IntegerChain`, and, if this has more than two
              steps, ``scores_by_step(model, integers, X)``, as `scores_in_two_steps`
``kernels``   ``kernels(stage, core)``, the ways to compute each stage that only it has
``parameters``  ``<Prefix>Parameters``, its parameters, declared without heavy imports
``train``     ``<Prefix>Classifier``, the estimator, of which they are a base

A kind of feature is a folder of `protonn_edge.features`, with a subclass of `FeatureStage` and the
kernels of its stages.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Mapping, MutableMapping
from importlib import import_module
from typing import Any, NamedTuple

from protonn_edge.chain.feature_stage import FeatureStage
from protonn_edge.chain.head import Head


class Kind(NamedTuple):
    """A kind of classifier."""

    prefix: str  # how the names of its classes begin
    folder: str  # in `protonn_edge.kinds`
    stages: Mapping[str, str] = {}  # the folders of the kernels of its stages, by the stages' kinds
    training: str = "train"  # the module of its estimator, in the folder
    # whether the kind has its own models, and not only an estimator that trains another kind's
    has_models: bool = True

    def at(self, module: str, name: str) -> str:
        """Return the place of its class with this name, for `Imported`."""
        return f"kinds.{self.folder}.{module}:{self.prefix}{name}"


class Feature(NamedTuple):
    """A kind of feature: its stage's class, its module, and the folders of kernels by stage."""

    stage: str
    module: str
    stages: Mapping[str, str]


_PROTONN = {name: f"kinds.protonn.{name}" for name in ("projection", "prototypes")}
_POOLED = {name: f"features.{name}" for name in ("average_pooling", "deskew")}
_LAYERS = {name: f"features.{name}" for name in ("convolution", "pooling", "int8_layer")}

KINDS = {
    "protonn": Kind("ProtoNN", "protonn", _PROTONN, "train.classifier"),
    "linear": Kind("Linear", "linear", {"linear": "kinds.linear"}),
    "dense": Kind("Dense", "dense", {"dense": "kinds.dense"}),
    "forest": Kind("Forest", "forest", {"forest": "kinds.forest"}),
    "bonsai": Kind("Bonsai", "bonsai", {"bonsai_tree": "kinds.bonsai"}),
    "local-deep-kernel": Kind("LocalDeepKernel", "bonsai"),
    "naive-bayes": Kind("NaiveBayes", "naive_bayes", {"naive_bayes": "kinds.naive_bayes"}),
    "basis-images": Kind("BasisImages", "basis_images", {}, "train.classifier", has_models=False),
}
"""By their names in files and on the command line; the first one is the default."""

FEATURES = {
    "average_pooling": Feature("AveragePooling", "average_pooling.pooling", _POOLED),
    "window_features": Feature(
        "WindowFeatureStage",
        "window_features.stage",
        {"window_features": "features.window_features"},
    ),
    "gradients": Feature("Gradients", "gradients.gradients", {"gradients": "features.gradients"}),
    "convolutions": Feature("Convolutions", "convolution.stage", _LAYERS),
    "audio": Feature("AudioStage", "audio.stage", {"audio": "features.audio"}),
}
"""By the kinds of their stages."""


class Imported(UserDict[str, Any]):
    """Names of this package, as "module:name" below it, each imported when it is asked for."""

    def __getitem__(self, key: str) -> Any:
        entry = super().__getitem__(key)
        if isinstance(entry, str):
            module, name = entry.split(":")
            self.data[key] = entry = getattr(import_module(f"protonn_edge.{module}"), name)
        return entry


HEADS: MutableMapping[str, type[Head]] = Imported(
    {name: kind.at("head", "Head") for name, kind in KINDS.items() if kind.has_models}
)
"""The float forms of the kinds of classifiers."""

FEATURE_STAGES: MutableMapping[str, type[FeatureStage]] = Imported(
    {name: f"features.{each.module}:{each.stage}" for name, each in FEATURES.items()}
)
"""The float forms of the kinds of features."""

ESTIMATORS = Imported({name: kind.at(kind.training, "Classifier") for name, kind in KINDS.items()})
"""The estimators; `training.base` has them with their type."""

PARAMETERS = Imported({name: kind.at("parameters", "Parameters") for name, kind in KINDS.items()})
"""The parameters of the estimators, which are imported at once."""

STAGES = Imported({"decision": "kernels.decision:kernels"})
for _stages in (*(each.stages for each in FEATURES.values()), *(k.stages for k in KINDS.values())):
    STAGES |= {stage: f"{folder}.kernels:kernels" for stage, folder in _stages.items()}
"""What finds the kernels of an integer stage; `kernels.kernel` has it with its type."""


def quantizer_of(kind: str) -> Any:
    """Return the module that quantizes models of a kind."""
    return import_module(f"protonn_edge.kinds.{KINDS[kind].folder}.quantize")
