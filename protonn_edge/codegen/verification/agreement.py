"""Run the same points through every execution of a model and compare their integer scores.

The NumPy integer model is the reference; the host build of the generated C, the emulated board and
a real one must give the same scores for every point. Any difference is a bug; only float builds
have a tolerance, `IntegerStage.score_tolerance`.

The cycles that devices report must be possible: within the bounds that follow from the machine code
of an integer build on a chip with a multiplier; of other builds, or if the linked program is not
known, more than 0 and within the watchdog's time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.boards import Board
from protonn_edge.chips.emulator.board import RunningBoard
from protonn_edge.codegen.families import family_of
from protonn_edge.codegen.families.family import LinkedFirmware
from protonn_edge.codegen.host import host_program
from protonn_edge.codegen.plan import DevicePlan
from protonn_edge.device.connection import Host
from protonn_edge.device.results import Result
from protonn_edge.device.runner import ReferenceAnswers, run
from protonn_edge.device.session import Session
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.errors import CheckFailed, DeviceError, InvalidValue
from protonn_edge.system.schema import JsonObject

_LONGEST_S = 3  # the watchdog ends a computation after 2 s by its own clock

PROVEN = "proven from the machine code"
"""The evidence for a bound."""


@dataclass(frozen=True)
class PossibleCycles:
    """The range of the cycles of one prediction."""

    # both are possible
    least: int
    most: int
    proven: bool  # whether they follow from the program's machine code, not only from the clock

    @classmethod
    def of_program(
        cls, program: LinkedFirmware | None, plan: DevicePlan | None, board: Board
    ) -> Self:
        """Return the range for a linked program, by its machine code if that can be followed."""
        if program is None or plan is None:
            return cls.by_clock(board)
        bound = family_of(board).bound(program, plan, board)
        return cls.by_clock(board) if bound is None else cls(*bound, proven=True)

    @classmethod
    def by_clock(cls, board: Board) -> Self:
        """Return the range for any program; that of 32 bits without a clock."""
        return cls(1, _LONGEST_S * board.clock_hz or (1 << 32) - 1, proven=False)

    def outside(self, results: Sequence[Result]) -> list[Result]:
        """Return the answers with impossible cycles."""
        return [
            result
            for result in results
            if result.cycles is not None and not self.least <= result.cycles <= self.most
        ]

    def checked(self, path: Path, earlier: list[Result]) -> list[Result]:
        """Return the results in a file; `InputError` if this firmware cannot have given them."""
        differing = (each for each in earlier if each.mismatch)
        other = {each.index for each in (*self.outside(earlier), *differing)}
        if other:
            raise InvalidValue(
                path,
                f"{len(other):,} of its {len(earlier):,} results are of other firmware: their "
                f"scores differ from the model, or their cycles are not {self}",
                "delete the file, or name another one with -o",
            )
        return earlier

    def to_json(self, board: Board) -> JsonObject | None:
        """Return a proven range, with the longest time in ms; None if only the clock limits it."""
        if not self.proven:
            return None
        most_ms = board.milliseconds(self.most)
        return {"least": self.least, "most": self.most, "most_ms": most_ms}

    @property
    def why(self) -> str:
        """The evidence for the range."""
        return PROVEN if self.proven else f"that is, up to {_LONGEST_S} s"

    def __str__(self) -> str:
        return f"{self.least:,} to {self.most:,}, {self.why}"


def watched_board(
    program: LinkedFirmware, plan: DevicePlan, board: Board, emulator: str | None = None
) -> AbstractContextManager[RunningBoard]:
    """Run a program on the emulated board, and check what is stated of it at the block's end.

    `emulator` as in `EmulatedBoard`. Raises `CheckFailed` if a prediction contradicts a statement.
    """
    return family_of(board).watched(program, plan, board, emulator)


@dataclass(frozen=True)
class Mismatch:
    """The first difference of an execution: where it is, and both values."""

    point: int  # row of the test data
    stage: str  # ``"score 3"``, or ``"answer"`` if all scores agree
    # the reference's value and the execution's
    expected: int
    got: int

    def __str__(self) -> str:
        return f"point {self.point}, {self.stage}: expected {self.expected}, got {self.got}"


@dataclass(frozen=True)
class ImpossibleCycles:
    """The first answer of an execution with cycles out of range."""

    point: int  # row of the test data
    cycles: int  # cycles that the device reported
    possible: PossibleCycles  # the possible cycles

    def __str__(self) -> str:
        return f"point {self.point}: {self.cycles:,} cycles, but a prediction takes {self.possible}"


@dataclass(frozen=True)
class Agreement:
    """Comparison of an execution with the reference."""

    execution: str  # ``"host C"``, ``"emulated uno"``, a port, or several
    # points compared, points that differ, and unanswered points
    n: int
    mismatches: int
    lost: int
    first: Mismatch | None  # the first difference
    cycles_out_of_range: int = 0  # points with impossible cycles
    first_impossible: ImpossibleCycles | None = None  # the first of them
    devices: str = ""  # those of several that differ, or report impossible cycles

    @property
    def accused(self) -> str:
        """What did not do as it should."""
        return self.devices or self.execution


def compare(
    execution: str,
    expected: ReferenceAnswers,
    labels: NDArray[np.int64],
    scores: NDArray[np.int64],
    lost: NDArray[np.bool_] | None = None,
) -> Agreement:
    """Compare an execution's classes (n,) and scores (n, L) with the reference's."""
    missing = np.zeros(len(labels), np.bool_) if lost is None else lost
    wrong = expected.differs(labels, scores) & ~missing
    first = None
    if wrong.any():
        first = _first_mismatch(int(wrong.argmax()), expected, labels, scores)
    return Agreement(execution, len(labels), int(wrong.sum()), int(missing.sum()), first)


def _first_mismatch(
    point: int, expected: ReferenceAnswers, labels: NDArray[np.int64], scores: NDArray[np.int64]
) -> Mismatch:
    right = expected.scores[point]
    differing = np.flatnonzero(np.abs(scores[point] - right) > expected.tolerance)
    if len(differing) == 0:
        label = right.argmax() if expected.classes is None else expected.classes[point]
        return Mismatch(point, "answer", int(label), int(labels[point]))
    place = int(differing[0])
    return Mismatch(point, f"score {place}", int(right[place]), int(scores[point, place]))


def verify_host(model: IntegerChain, Q: NDArray[np.uint8]) -> Agreement:
    """Compare the host build of the generated C on quantized points Q, (n, D) uint8."""
    with host_program(model) as program:
        return compare("host C", ReferenceAnswers.of(model, Q), *program.run(Q))


def verify_device(
    execution: str,
    url: str,
    model: IntegerChain,
    Q: NDArray[np.uint8],
    sink: Callable[[Result], None] | None = None,
    board: Board | None = None,
    possible: PossibleCycles | None = None,
) -> tuple[Agreement, list[Result]]:
    """Compare the device at the serial line `url`, on quantized points Q, (n, D) uint8.

    It must match `board`, and its cycles `possible`, if given.
    """
    expected = ReferenceAnswers.of(model, Q)
    assert expected.classes is not None, "a model has answered"
    with open_session(url, model, board) as session:
        results = run([session], Q, expected.classes, expected, sink=sink).results
    return compare_results(execution, expected, results, possible), results


def compare_results(
    execution: str,
    expected: ReferenceAnswers,
    results: Sequence[Result],
    possible: PossibleCycles | None = None,
) -> Agreement:
    """Compare the results of a run, one for each point; their cycles must be possible, if given."""
    lost = np.array([result.scores is None for result in results], np.bool_)
    empty = (0,) * expected.scores.shape[1]
    scores = np.array([result.scores or empty for result in results], np.int64)
    labels = np.array([result.predicted or 0 for result in results], np.int64)
    agreement = compare(execution, expected, labels, scores, lost)
    outside = [] if possible is None else possible.outside(results)
    wrong = outside
    if agreement.mismatches:
        differing = expected.differs(labels, scores) & ~lost
        wrong = [result for result, differs in zip(results, differing, strict=True) if differs]
    agreement = replace(agreement, devices=", ".join(sorted({r.device for r in wrong} - {""})))
    if possible is None or not outside:
        return agreement
    index, cycles = outside[0].index, outside[0].cycles
    assert cycles is not None
    first = ImpossibleCycles(index, cycles, possible)
    return replace(agreement, cycles_out_of_range=len(outside), first_impossible=first)


def open_session(
    url: str,
    model: IntegerChain,
    board: Board | None = None,
    *,
    host: Host | None = None,
    name: str | None = None,
) -> Session:
    """Return a session for the device at `url`, which must be this board with exactly this model.

    Any board is accepted if none is given, or one without a clock; the line then has the baud rate
    of an Uno.
    """
    return Session(
        url,
        model_hash=bytes.fromhex(model.model_sha256),
        n_features=model.n_features,
        n_classes=model.n_classes,
        board=board if board and board.clock_hz else None,
        host=host,
        name=name,
    )


def disagreement(agreements: Sequence[Agreement]) -> CheckFailed | None:
    """Return the failure of the first execution that differs, lost points, or has bad cycles."""
    for agreement in agreements:
        if agreement.mismatches:
            return CheckFailed(
                f"{agreement.accused} differs from the NumPy model at "
                f"{agreement.mismatches:,} of {agreement.n:,} points, first at "
                f"{agreement.first}; please report this as a bug"
            )
        if agreement.lost:
            return DeviceError(
                f"{agreement.execution} left {agreement.lost:,} of {agreement.n:,} points "
                "unanswered; check the serial line, and repeat the run"
            )
        if agreement.cycles_out_of_range:
            return CheckFailed(
                f"{agreement.accused} reports an impossible number of cycles at "
                f"{agreement.cycles_out_of_range:,} of {agreement.n:,} points, first at "
                f"{agreement.first_impossible}; build and upload the firmware again, and if that "
                "does not help, report this as a bug"
            )
    return None


def outcome(agreements: Sequence[Agreement]) -> str:
    """Return a comparison's result, such as "NumPy = host C", or the executions that differ."""
    differing = [
        f"{each.accused} differs at {each.mismatches + each.lost:,} of {each.n:,} points"
        for each in agreements
        if each.mismatches + each.lost
    ]
    if differing:
        return ", ".join(differing)
    if not agreements:
        return "NumPy alone"
    return " = ".join(["NumPy", *(each.execution for each in agreements)])
