"""The last stage of a chain that a program of its own computes, instead of kernels."""

from __future__ import annotations

from typing import ClassVar

from protonn_edge.model.integer_stage import IntegerStage


class ProgramStage(IntegerStage):
    """The only stage of its chain."""

    program: ClassVar[str]  # the module that plans and renders it
    # tolerated difference of scores between executions, if the program computes in floats
    score_tolerance: ClassVar[int] = 0
