"""What comes before the projection: how features arrive, and what is made of them on the way.

Here, nothing is made of them. `pooling` and `windows` have the stages that pool areas and make
features of windows, each with its own cycles and bytes, so that the plan adds up whatever there
is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.boards.cores import Core
from protonn_edge.codegen.kernels import KernelName
from protonn_edge.codegen.stage import Stage
from protonn_edge.quantization import IntegerModel

# What the firmware lets a push take with interrupts disabled: at 115,200 baud a byte arrives every
# 1,389 cycles, and the fourth after the first would be lost.
CHUNK_CYCLES = 2_500

COUNTED_IN_A_BYTE = 255

# The most features that the firmware collects before it pushes them, where it does not hold all.
_CHUNK_FEATURES = 64

_STREAMING_CODE_BYTES = 120


def splits(kernel: KernelName, inputs: int) -> bool:
    """Return whether so many inputs of the projection may need more than one pass over it."""
    return kernel == "masked" and inputs > COUNTED_IN_A_BYTE


@dataclass(frozen=True)
class PushCycles:
    """What ``pnn_push_many`` takes: bounds for a feature, for one that is 0, for a call.

    `whole` is what a call takes, besides its features, if it brings all of them.
    """

    feature: int
    zero: int
    call: int
    whole: int


@dataclass(frozen=True)
class FirstStage:
    """Features that go to the projection as they are.

    Attributes
    ----------
    model : IntegerModel
        The model.
    kernel : {"columns", "masked", "unrolled"}
        That of the projection.
    projecting : PushCycles
        What it takes to push inputs into the projection.
    buffered : bool
        Whether the firmware holds all features before it computes.
    core : Core
        The kind of chip that cycles are counted for.
    """

    model: IntegerModel
    kernel: KernelName
    projecting: PushCycles
    buffered: bool
    core: Core

    @property
    def push(self) -> PushCycles:
        """Bounds of pushing what the device is sent."""
        return self.projecting

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Stages that are counted apart from the projection."""
        return ()

    @property
    def chunk_features(self) -> int:
        """Features that the firmware collects before it pushes them."""
        return self.model.n_features if self.buffered else _CHUNK_FEATURES

    @property
    def held_bytes(self) -> int:
        """SRAM for them."""
        return self.chunk_features

    @property
    def state_bytes(self) -> int:
        """SRAM of the stage's variables."""
        return 0

    @property
    def table_bytes(self) -> int:
        """Flash of the stage's constant tables."""
        return 0

    @property
    def code_bytes(self) -> int:
        """Flash of its code, about."""
        return 0 if self.holds_all else _STREAMING_CODE_BYTES

    @property
    def holds_all(self) -> bool:
        """Whether all features come in one call."""
        return self.chunk_features >= self.model.n_features

    @property
    def keeps_averages(self) -> bool:
        """Whether all averages wait for the last one before they are projected."""
        return False

    @property
    def skips_zeros(self) -> bool:
        """Whether inputs that are 0 need not come to the projection at all."""
        return False

    @property
    def least_cycles(self) -> int:
        """What making the projection's inputs takes at least, where no stage counts it."""
        return 0

    def calls_cycles(self, share: NDArray[np.float64]) -> float:
        """Return the cycles of all calls, but for the projection's loops.

        Each input of the projection, (D,), is not 0 with this share.
        """
        if self.holds_all:
            return self.push.whole * self.parts(self.model.n_features)
        costs = self.push.zero + share * (self.push.feature - self.push.zero)
        return self.push.call * self.calls(costs.tolist())

    def apart_cycles(self, inputs: NDArray[np.int64]) -> int:  # noqa: ARG002  (of images)
        """Return how many cycles of the stages' bounds no input takes together.

        Each input of the projection, (D,), takes so many cycles more if it is not 0.
        """
        return 0

    def parts(self, inputs: int) -> int:
        """Return the calls of the projection for so many inputs that are there all at once."""
        return -(-inputs // COUNTED_IN_A_BYTE) if splits(self.kernel, inputs) else 1

    def calls(self, costs: Sequence[float]) -> float:
        """Return how often the firmware pushes features of these cycles."""
        calls, chunk, cycles = 0.0, 0, float(self.push.call)
        for each in costs:
            chunk, cycles = chunk + 1, cycles + each
            if cycles + self.push.feature > CHUNK_CYCLES or chunk == self.chunk_features:
                calls, chunk, cycles = calls + 1, 0, float(self.push.call)
        return calls + (chunk > 0)
