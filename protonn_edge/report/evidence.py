"""The data of a report: results with their model, firmware and points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.avr.program import Sections
from protonn_edge.chips.boards import Board
from protonn_edge.codegen.plan import DevicePlan
from protonn_edge.codegen.projects.checks import Usage
from protonn_edge.codegen.verification.agreement import Agreement, PossibleCycles
from protonn_edge.device.instruments import BenchReading
from protonn_edge.device.results import Origin, Result, Summary, summarize
from protonn_edge.learn.evaluation.accuracy import Quality, answer_matrix
from protonn_edge.learn.evaluation.figures import budget_fact, run_figures, saturation_figure
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model, why_clamped
from protonn_edge.model.policy import about_answers
from protonn_edge.model.quantization import StageLoss
from protonn_edge.model.shapes import Shape
from protonn_edge.system.figures import Facts, Figure, facts_of
from protonn_edge.system.schema import JsonObject

Floats = NDArray[np.float32]
Labels = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Firmware:
    """The built firmware and its sizes."""

    program: bytes  # flash from address 0 on
    sha256: str  # of the program
    sections: Sections  # bytes by the sections of the linked file
    usage: Usage  # memory counted by the budget, including the worst-case stack
    plan: DevicePlan  # how a prediction is computed
    possible: PossibleCycles  # of a prediction
    linked: Any | None = None  # the program, for claims that follow from its code


@dataclass(frozen=True, eq=False)
class EvidencePoints:
    """The points of the results."""

    raw: Floats  # (n, D)
    fed: NDArray[np.uint8]  # (n, D): the inputs sent to the device
    labels: Labels  # (n,)
    saturations: int  # raw values that were clamped
    stages: tuple[StageLoss, ...]  # the cost of each stage of quantization; empty for numbers
    rows: Sequence[int] = ()  # of the points in their file; empty if they count from 0
    values: Values | None = None  # right answers that are no classes: numbers (n,), or sets (n, L)
    groups: Labels | None = None  # (n,): such as persons, if training held whole groups out
    columns: Sequence[str] = ()  # the names of all columns of their file, if it is a table

    @cached_property
    def place(self) -> dict[int, int]:
        """The place of a row of the file among the points."""
        return {row: place for place, row in enumerate(self.rows or range(len(self.labels)))}

    @property
    def label_of(self) -> dict[int, int]:
        """The label of each row of the file that is a point."""
        return dict(zip(self.place, self.labels.tolist(), strict=True))


class Numbers(NamedTuple):
    """Answered points whose right answers are no classes."""

    indices: list[int]  # of their rows
    scores: Labels  # (n, L)
    actual: Values  # numbers (n,), or sets (n, L)
    groups: Labels | None  # of the points


@dataclass(frozen=True, eq=False)
class Evidence:
    """Everything known about a results file."""

    name: str  # the file's name
    origin: Origin  # the model and the data
    results: tuple[Result, ...]  # by their index
    board: Board  # its clock, its power and its limits
    model: Model  # the float model
    reference: IntegerChain  # the arithmetic of the device
    firmware: Firmware  # the program on the device
    points: EvidencePoints | None  # the points, if given
    image_shape: Shape | None  # height and width, if a point is an image; a signal has height 1
    data_name: str = ""  # name of the file of the points; empty if unknown
    # comparison of the generated C on this computer with the reference; None without points or a
    # compiler
    on_host: Agreement | None = None
    power: BenchReading | None = None  # of the board, if an instrument measured it
    counts: str = "cycles"  # what the device counted; see `HelloReply`

    @cached_property
    def answered(self) -> list[Result]:
        """The answered results."""
        return [result for result in self.results if result.predicted is not None]

    @cached_property
    def summary(self) -> Summary:
        """Accuracy, cycles, latency and energy."""
        return summarize(self.results, self.board, self.counts)

    @cached_property
    def confusion(self) -> NDArray[np.int64]:
        """Counts of answers: rows are actual classes, columns answers; see `answer_matrix`."""
        return answer_matrix(self.results, self.reference)

    @cached_property
    def quality(self) -> Quality | None:
        """The figures of the answers; None if there are none."""
        return Quality.of(self.confusion, self.reference.classes)

    @cached_property
    def numbers(self) -> Numbers | None:
        """The answered points, if their right answers are no classes and there are any."""
        values = None if self.points is None else self.points.values
        if self.points is None or values is None:
            return None
        place_of, is_known = self.points.place, np.isfinite(values)
        answered = [
            each
            for each in self.answered
            if each.scores is not None and is_known[place_of[each.index]].all()
        ]
        if not answered:
            return None
        indices = [each.index for each in answered]
        scores = np.array([each.scores for each in answered], np.int64)
        places = [place_of[index] for index in indices]
        groups = None if self.points.groups is None else self.points.groups[places]
        return Numbers(indices, scores, values[places], groups)

    @cached_property
    def measured(self) -> tuple[list[Figure], JsonObject]:
        """Figures and JSON about predicted numbers or sets of labels; empty for classes."""
        if self.numbers is None:
            return [], {}
        return self.reference.policy.measured(*self.numbers[1:])

    @property
    def figures(self) -> list[Figure]:
        """The figures of the run; see `run_figures`."""
        return run_figures(
            self.summary,
            self.board,
            measured=self.measured[0],
            quality=self.quality,
            usage=self.firmware.usage,
            possible=self.firmware.possible,
        )

    @property
    def bound_cycles(self) -> int | None:
        """The most cycles of a prediction, proven from the machine code; None if that has none."""
        possible = self.firmware.possible
        return possible.most if possible.proven else None


def evidence_facts(one: Evidence) -> Facts:
    """Return the rows of a report's facts about a run."""
    figures = one.figures
    if one.points is not None:
        points, why = one.points, why_clamped(one.model)
        figures.append(saturation_figure(points.saturations, points.raw.size, why))
    return [*facts_of(figures), budget_fact(one.board), *about_answers(one.reference.policy)]
