"""The kinds of stages that can be generated: a line each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from protonn_edge.avr.cores import Core
from protonn_edge.stages.integer_stage import IntegerStage
from protonn_edge.stages.kernel import Kernel
from protonn_edge.system.lazy import later

KERNELS: dict[str, Callable[[Any, Core], tuple[Kernel, ...]]] = {
    kind: later(f"protonn_edge.stages.{kind}.kernels", "kernels")
    for kind in (
        "average_pooling",
        "deskew",
        "gradients",
        "convolution",
        "pooling",
        "window_features",
        "audio",
        "projection",
        "prototypes",
        "dense",
        "linear",
        "forest",
        "bonsai_tree",
        "decision",
    )
}
"""What finds the kernels of an integer stage, by its kind: the name of its folder."""


def kernels_of(stage: IntegerStage, core: Core) -> tuple[Kernel, ...]:
    """Return the ways to compute a stage on chips of a core, the first choice first."""
    return KERNELS[stage.kind](stage, core)
