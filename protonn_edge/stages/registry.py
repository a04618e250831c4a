"""The kinds of stages that can be generated: a line each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from protonn_edge.boards.cores import Core
from protonn_edge.stages.audio import kernels as audio
from protonn_edge.stages.average_pooling import kernels as average_pooling
from protonn_edge.stages.bonsai_tree import kernels as bonsai_tree
from protonn_edge.stages.convolution import kernels as convolution
from protonn_edge.stages.decision import kernels as decision
from protonn_edge.stages.dense import kernels as dense
from protonn_edge.stages.deskew import kernels as deskew
from protonn_edge.stages.forest import kernels as forest
from protonn_edge.stages.gradients import kernels as gradients
from protonn_edge.stages.integer_stage import IntegerStage
from protonn_edge.stages.kernel import Kernel
from protonn_edge.stages.linear import kernels as linear
from protonn_edge.stages.matvec import cycles as matvec
from protonn_edge.stages.pooling import kernels as pooling
from protonn_edge.stages.projection import kernels as projection
from protonn_edge.stages.prototypes import kernels as prototypes
from protonn_edge.stages.window_features import kernels as window_features

KERNELS: dict[str, Callable[[Any, Core], tuple[Kernel, ...]]] = {
    "average_pooling": average_pooling.kernels,
    "deskew": deskew.kernels,
    "gradients": gradients.kernels,
    "convolution": convolution.kernels,
    "pooling": pooling.kernels,
    "window_features": window_features.kernels,
    "audio": audio.kernels,
    "projection": projection.kernels,
    "prototypes": prototypes.kernels,
    "dense": dense.kernels,
    "linear": linear.kernels,
    "forest": forest.kernels,
    "bonsai_tree": bonsai_tree.kernels,
    "decision": decision.kernels,
}
"""What finds the kernels of an integer stage, by its kind."""

PLANS = (*matvec.KERNELS, *forest.KERNELS, *bonsai_tree.KERNELS)
"""Names of plans, which are those of kernels of one stage of a model."""


def kernels_of(stage: IntegerStage, core: Core) -> tuple[Kernel, ...]:
    """Return the ways to compute a stage on chips of a core, the first choice first."""
    return KERNELS[stage.kind](stage, core)
