"""The kinds of stages that can be generated: a line each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from protonn_edge.avr.cores import Core
from protonn_edge.chain.integer_stage import IntegerStage
from protonn_edge.kernels.kernel import Kernel
from protonn_edge.system.lazy import later

KERNELS: dict[str, Callable[[Any, Core], tuple[Kernel, ...]]] = {
    kind: later(f"protonn_edge.{module}", "kernels")
    for kind, module in {
        "average_pooling": "features.average_pooling.kernels",
        "deskew": "features.deskew.kernels",
        "gradients": "features.gradients.kernels",
        "convolution": "features.convolution.kernels",
        "pooling": "features.pooling.kernels",
        "window_features": "features.window_features.kernels",
        "audio": "features.audio.kernels",
        "projection": "kinds.protonn.projection.kernels",
        "prototypes": "kinds.protonn.prototypes.kernels",
        "dense": "kinds.dense.kernels",
        "linear": "kinds.linear.kernels",
        "forest": "kinds.forest.kernels",
        "bonsai_tree": "kinds.bonsai.kernels",
        "decision": "kernels.decision",
    }.items()
}
"""What finds the kernels of an integer stage, by its kind."""


def kernels_of(stage: IntegerStage, core: Core) -> tuple[Kernel, ...]:
    """Return the ways to compute a stage on chips of a core, the first choice first."""
    return KERNELS[stage.kind](stage, core)
