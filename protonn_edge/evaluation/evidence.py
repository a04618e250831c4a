"""The data of a report: results with their model, firmware and points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.avr.program import Sections
from protonn_edge.boards import Board
from protonn_edge.build.checks import Usage
from protonn_edge.chain.feature_stage import Shape
from protonn_edge.chain.model import Model
from protonn_edge.codegen import Float32Plan, Plan
from protonn_edge.device import Origin, Result, Summary, summarize
from protonn_edge.evaluation.accuracy import answer_matrix
from protonn_edge.quantization import DeviceModel, StageLoss
from protonn_edge.verification.agreement import Agreement

Floats = NDArray[np.float32]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Firmware:
    """The built firmware and its sizes."""

    program: bytes  # flash from address 0 on
    sha256: str  # of the program
    sections: Sections  # bytes by the sections of the linked file
    usage: Usage  # memory counted by the budget, including the worst-case stack
    plan: Plan | Float32Plan  # how a prediction is computed


@dataclass(frozen=True, eq=False)
class EvidencePoints:
    """The points of the results."""

    raw: Floats  # (n, D)
    fed: NDArray[np.uint8]  # (n, D): what the device was sent
    labels: Labels  # (n,)
    saturations: int  # raw values that were clamped
    stages: tuple[StageLoss, ...]  # what each stage of quantization costs; empty for a float build


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything known about a results file.

    Attributes
    ----------
    name : str
        What the file is called.
    origin : Origin
        What was run on what.
    results : tuple of Result
        By their index.
    board : Board
        Its clock, its power and its limits.
    model : Model
        The float model.
    reference : IntegerChain or Float32Model
        What the device computes.
    firmware : Firmware
        What the device runs.
    points : EvidencePoints or None
        The points, if given.
    image_shape : tuple of two int or None
        Height and width, if a point is an image; a signal has height 1.
    data_name : str
        Name of the file of the points; empty if unknown.
    on_host : Agreement or None
        Comparison of the generated C on this computer with the reference; None without points or a
        compiler.
    """

    name: str
    origin: Origin
    results: tuple[Result, ...]
    board: Board
    model: Model
    reference: DeviceModel
    firmware: Firmware
    points: EvidencePoints | None
    image_shape: Shape | None
    data_name: str = ""
    on_host: Agreement | None = None

    @property
    def answered(self) -> list[Result]:
        """The answered results."""
        return [result for result in self.results if result.predicted is not None]

    @property
    def summary(self) -> Summary:
        """Accuracy, cycles, latency and energy."""
        return summarize(self.results, self.board)

    @property
    def confusion(self) -> NDArray[np.int64]:
        """Counts of answers: rows are actual classes, columns answers; see `answer_matrix`."""
        return answer_matrix(self.results, self.reference)

    @property
    def worst_cycles(self) -> int | None:
        """The plan's bound of a prediction's cycles; a float build has none."""
        plan = self.firmware.plan
        return plan.worst_cycles if isinstance(plan, Plan) else None
