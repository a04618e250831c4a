"""A run of test points on a device, from the raw features to the figures of the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chips.boards import Board
from protonn_edge.codegen.families import read_program
from protonn_edge.codegen.families.family import NoCompiler
from protonn_edge.codegen.plan import DevicePlan
from protonn_edge.codegen.projects.checks import (
    Usage,
    check_budget,
    check_linked,
    usage_record,
)
from protonn_edge.codegen.projects.folder import Project, exclusive
from protonn_edge.codegen.verification import agreement as compared
from protonn_edge.device.connection import Host
from protonn_edge.device.instruments import BenchInstrument, BenchReading
from protonn_edge.device.results import (
    EMULATED,
    Result,
    Spread,
    Summary,
    summarize,
)
from protonn_edge.device.runner import (
    DeviceComparison,
    DeviceShare,
    ReferenceAnswers,
    compare_devices,
)
from protonn_edge.device.session import Prediction, Session, Statement
from protonn_edge.learn.evaluation.accuracy import Quality, answer_matrix
from protonn_edge.learn.evaluation.answering import answered
from protonn_edge.learn.evaluation.figures import run_figures
from protonn_edge.learn.evaluation.right_answers import RightAnswers
from protonn_edge.model.head import remedies_of
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.errors import CheckFailed, DeviceError, InputError, InvalidValue
from protonn_edge.system.extensions import additions_to
from protonn_edge.system.facts_repr import FactsRepr
from protonn_edge.system.figures import Figure, facts_of
from protonn_edge.system.schema import JsonObject

_COMPARED = 10  # points that each of several boards classifies


@dataclass(frozen=True)
class Repetition:
    """The first point's prediction, repeated many times by the first device."""

    n: int  # how often
    prediction: Prediction  # the class, and the cycles of all of them
    power: BenchReading | None = None  # by an instrument, during ten times as many

    @property
    def cycles(self) -> int:
        """Cycles of all of them."""
        return self.prediction.cycles

    def check(self, result: Result, possible: compared.PossibleCycles) -> None:
        """Raise `CheckFailed` unless it agrees with the point's result and is possible."""
        label, cycles = self.prediction.label, self.cycles // self.n
        if result.predicted is not None and label != result.predicted:
            raise _of_other_firmware(
                f"for the first point, the device returns class {label} when it repeats the "
                f"prediction, but class {result.predicted} when it predicts once"
            )
        if not possible.least <= cycles <= possible.most:
            raise _of_other_firmware(
                f"the device reports {cycles:,} cycles for each repetition of the first point, but "
                f"a prediction takes {possible}"
            )


def _of_other_firmware(reason: str) -> CheckFailed:
    """Return the error for a figure that the firmware of the project cannot have."""
    return CheckFailed(f"{reason}; build and upload the firmware again")


@dataclass(frozen=True, eq=False)
class Measurement(FactsRepr):
    """The results of a run."""

    board: Board  # the board, real or emulated
    reference: IntegerChain  # the reference that the device's scores were compared with
    plan: DevicePlan | None  # the plan of the firmware; None if it is of no project
    usage: Usage | None  # memory that the linked firmware uses; None if it was not linked here
    summary: Summary  # accuracy, cycles, latency, energy
    # comparison with the reference, score by score, and with the plan's cycles
    agreement: compared.Agreement
    possible: compared.PossibleCycles  # the possible cycles of a prediction
    saturations: int  # raw values of the points that were clamped
    # maximum stack that a device used, by painting; None if no device had points or reported it
    stack_peak_bytes: int | None
    # (L, L): Answered points: row the actual class, column the predicted one. Of a model that
    # has other answers (L, L + 1): the last column is "unknown".
    confusion: NDArray[np.int64]
    shares: list[DeviceShare]  # the work of each device
    comparison: DeviceComparison | None  # differences between several devices on the same points
    repetition: Repetition | None  # one prediction computed many times, if requested
    more: Mapping[str, Any]  # what the first device reports to extensions, by names
    judged: tuple[list[Figure], JsonObject]  # see `Policy.measured`

    def facts(self) -> dict[str, str]:
        """Return the mismatches with the reference, and the figures of the run."""
        return {"mismatches": f"{self.summary.mismatches:,}", **dict(facts_of(self.figures))}

    @property
    def figures(self) -> list[Figure]:
        """The figures of the run; see `run_figures`."""
        figures = run_figures(
            self.summary,
            self.board,
            measured=self.judged[0],
            quality=self.quality,
            usage=self.usage,
            possible=self.possible,
        )
        if peak := self.stack_peak_bytes:
            figures.append(Figure("stack_peak_bytes", "stack, measured", peak, "B", 0, "less"))
        return figures

    @property
    def accuracy(self) -> float:
        """Share of the points that were classified correctly, 0 to 1; `InputError` if unknown."""
        if self.errors:
            raise InputError(
                "the model predicts a number, which has no accuracy; use mean_absolute_error"
            )
        if not self.summary.labelled:
            raise InvalidValue(
                "the points", "no labels, so their accuracy is unknown", "give labels"
            )
        return self.summary.accuracy

    @property
    def errors(self) -> JsonObject:
        """The figures of predicted numbers, as `hil --json` prints them; empty for classes."""
        return dict(self.judged[1].get("errors", {}))

    @property
    def mean_absolute_error(self) -> float:
        """Of predicted numbers, in the label's unit; raises `InputError` if there are none."""
        if not self.errors:
            raise InputError("no numbers were predicted and known; use accuracy, or give labels")
        return float(self.errors["mae"])

    @property
    def cycles(self) -> Spread:
        """CPU cycles of a prediction; raises `DeviceError` if no point was answered."""
        return self._spread(self.summary.cycles)

    @property
    def latency_ms(self) -> Spread:
        """Milliseconds of a prediction, as `cycles`."""
        return self._spread(self.summary.latency_ms)

    @property
    def energy_mj(self) -> Spread:
        """Millijoules of a prediction, by the board's power, as `cycles`."""
        return self._spread(self.summary.energy_mj)

    def _spread(self, spread: Spread | None) -> Spread:
        if self.summary.instructions is not None:
            raise InputError("an emulated core counts instructions; measure a real board")
        if spread is None:
            raise DeviceError(
                f"{self.agreement.execution} did not answer any point; run the measurement again"
            )
        return spread

    @property
    def stack_bytes(self) -> int:
        """Bytes of stack that a device used, measured by painting; raises as `cycles`."""
        if self.stack_peak_bytes is None:
            raise DeviceError(
                f"{self.agreement.execution} did not report its stack; run the measurement again"
            )
        return self.stack_peak_bytes

    @property
    def device_fault(self) -> DeviceError | None:
        """A device's failure, or its reset by a fault, which makes figures doubtful."""
        for share in self.shares:
            if share.reset_fault is not None:
                return DeviceError(
                    f"{share.device} was reset by {share.reset_fault}; check its power supply, and "
                    "run the measurement again"
                )
        return self.failure if isinstance(self.failure, DeviceError) else None

    @property
    def failure(self) -> CheckFailed | None:
        """The first check that failed, or the figure that is missing; None if all is well.

        A missing answer or figure is a `DeviceError`.
        """
        return compared.disagreement([self.agreement]) or self._stack_failure()

    def _stack_failure(self) -> CheckFailed | None:
        """Return the failure of the measured stack, which needs STATS."""
        asked = [share for share in self.shares if share.n]
        if asked and self.stack_peak_bytes is None:
            return DeviceError(
                "all points were answered, but the measured stack is missing, because the device "
                f"did not answer STATS correctly ({asked[0].loss}); reset the board and run the "
                "measurement again"
            )
        if self.usage is None:  # then any stack is possible, and 0 if it is not measured
            return None
        allowed = self.usage.stack_bytes
        if self.stack_peak_bytes is not None and not 0 < self.stack_peak_bytes <= allowed:
            return _of_other_firmware(
                f"the device reports a stack of {self.stack_peak_bytes:,} B, but its firmware uses "
                f"1 to {allowed:,} B"
            )
        return None

    @property
    def quality(self) -> Quality | None:
        """The figures of the answers; None if there are none."""
        return Quality.of(self.confusion, self.reference.classes)

    def to_json(self) -> JsonObject:
        """Return the measurement with the field names of this package's JSON."""
        repeated = self.repetition
        power = repeated and repeated.power
        return {
            **self.summary.to_json(),
            **usage_record(self.usage, self.board),
            "board": self.board.name,
            "cycles_possible": self.possible.to_json(self.board),
            "cycles_out_of_range": self.agreement.cycles_out_of_range,
            "saturations": self.saturations,
            "stack_peak_bytes": self.stack_peak_bytes or None,
            "model_bytes": self.reference.model_bytes,
            "model_sha256": self.reference.model_sha256,
            "classes": list(self.reference.classes),
            "confusion": self.confusion.tolist(),
            "quality": None if self.quality is None else self.quality.to_json(),
            "devices": [
                {**asdict(share), "points_per_s": share.points_per_s} for share in self.shares
            ],
            "comparison": None if self.comparison is None else asdict(self.comparison),
            **{name: each and each.to_json() for name, each in self.more.items()},
            **self.judged[1],
            "repetition": repeated and {"n": repeated.n, self.summary.counts: repeated.cycles},
            "power": power and power.to_json(self.latency_ms.mean),
            "figures": [each.to_json() for each in self.figures],
        }


def measure(
    project: Project | IntegerChain,
    points: tuple[NDArray[np.float32], NDArray[np.int64]],
    board: Board,
    *,
    ports: Sequence[str] = (),
    results: Path | None = None,
    resume: bool = False,
    repeat: int | None = None,
    instrument: BenchInstrument | None = None,
    emulator: str | None = None,
    on_result: Callable[[Result], None] = lambda _: None,
    host: Host | None = None,
    rows: Sequence[int] = (),
    values: NDArray[np.float64] | None = None,
    groups: NDArray[np.int64] | None = None,
) -> Measurement:
    """Run points on the firmware of a built project, compare every score, and summarize.

    The firmware is first compiled and checked against the budget, unless only boards have it: then
    its reference is given in place of a project, and a `board` without a clock has the device's.

    - `points`: raw features (n, D) and class indices (n,), all of them `NO_LABEL` if unknown.
    - `board`: the board whose clock and power convert cycles into time and energy.
    - `ports`: pyserial URLs of boards with this firmware, which share the points; by default,
      the firmware runs on the emulated board, by `emulator` (see `EmulatedBoard`).
    - `results`: results file to write; with `resume`, its answers are kept.
    - `repeat`: repetitions of the first point at the end, for others to measure.
    - `instrument`: what measures the first board during batches of such repetitions.
    - `host`: opens the lines, by default this computer.
    - `rows`: the n rows of the points in their file, which number the results; by default from 0.
    - `values`: right answers that are no classes: numbers (n,), or sets of labels (n, L).
    - `groups`: the groups (n,) of the points, such as persons, if whole groups are tested.

    Raises `InputError` if there are no points, or files are of other points or in use,
    `CheckFailed` if the firmware is over budget or violates a check (see `checks`), or a device
    does not answer, has another model, or differs from another one.
    """
    X, y = _some_points(points)
    reference, plan = _generated(project, board)
    Q = reference.quantize(X)
    expected = ReferenceAnswers.of(reference, Q)
    asked = Q, y, expected, RightAnswers(reference, rows or range(len(Q)), values, groups)
    with ExitStack() as stack:
        program, usage = _linked(stack, project, reference, plan, board, at_port=bool(ports))
        executed, name = ", ".join(ports), None
        if not ports:
            emulated = compared.watched_board(program, plan, board, emulator)
            ports = [stack.enter_context(emulated).url]
            executed = name = f"{EMULATED}{board.name}"
        if instrument is not None:  # before the board: it may supply it
            stack.enter_context(instrument.opened)
        # Devices first: if one does not answer, an existing results file is kept.
        opened = partial(compared.open_session, model=reference, board=board, host=host, name=name)
        sessions = [stack.enter_context(opened(url)) for url in ports]
        board = replace(board, clock_hz=_clock_of(board, sessions))
        possible = compared.PossibleCycles.of_program(program, plan, board)
        comparison = _alike(sessions, Q) if len(sessions) > 1 else None
        kept = possible if resume else None
        everything, shares = answered(sessions, reference, asked, results, kept, on_result)
        more = _more(sessions[0], reference, asks=shares[0].stats is not None)
        repetition = _repeated(sessions[0], Q[0], board, repeat, instrument, host)
    if repetition is not None:
        repetition.check(everything[0], possible)
    return Measurement(
        board,
        reference,
        plan,
        usage,
        summarize(everything, board, sessions[0].device.counts),
        compared.compare_results(executed, expected, everything, possible),
        possible,
        reference.quantizer.saturations(X),
        stack_peak_bytes=_stack_peak(shares),
        confusion=answer_matrix(everything, reference),
        shares=shares,
        comparison=comparison,
        repetition=repetition,
        more=more,
        judged=asked[3].measured(everything),
    )


def _some_points(points: tuple[Any, Any]) -> tuple[Any, Any]:
    if len(points[0]) == 0:
        raise InvalidValue("the data", "no points to measure on", "give a file with points")
    return points


def _stack_peak(shares: Sequence[DeviceShare]) -> int | None:
    """Return the most bytes of stack that a device with points reports; None if none does."""
    return max((each.stats.stack_bytes for each in shares if each.n and each.stats), default=None)


def _more(session: Session, reference: IntegerChain, *, asks: bool) -> JsonObject:
    """Return the statements of a device to extensions, by the names in a result."""
    statements = additions_to("measurement", Statement).values()
    return {each.name: each.of(session, reference) if asks else None for each in statements}


def _repeated(
    session: Session,
    features: NDArray[np.uint8],
    board: Board,
    repeat: int | None,
    instrument: BenchInstrument | None,
    host: Host | None,
) -> Repetition | None:
    """Repeat a prediction, if that is requested or an instrument watches."""
    if instrument is not None:
        power, prediction = instrument.watch(session, features, board, repeat, host)
        return Repetition(power.repetitions, prediction, power)
    return None if repeat is None else Repetition(repeat, session.repeat(features, repeat))


def _clock_of(board: Board, sessions: Sequence[Session]) -> int:
    """Return the clock of a board, or of the devices; 0 if a single one counts instructions."""
    clocks = [session.device.clock_hz for session in sessions]
    if len({*clocks}) > 1 or (clocks[1:] and clocks[0] == 0):
        raise CheckFailed("the devices have different clocks, or none; measure each one alone")
    return board.clock_hz or clocks[0]


def _generated(project: Project | IntegerChain, board: Board) -> tuple[IntegerChain, Any]:
    """Return the reference, and the plan of a project."""
    return (project, None) if isinstance(project, IntegerChain) else project.generated(board)


def _linked(
    stack: ExitStack,
    project: Project | IntegerChain,
    reference: IntegerChain,
    plan: DevicePlan,
    board: Board,
    *,
    at_port: bool,
) -> tuple[Any, Usage | None]:
    """Return a project's firmware, which a user may have changed since the build, and its memory.

    There is none without a project, or for a board `at_port` if only an upload has the compiler.
    """
    if isinstance(project, IntegerChain):
        return None, None
    stack.enter_context(exclusive(project.folder))
    try:
        program = read_program(project.compile(board), board)
    except NoCompiler:
        if at_port:
            return None, None
        raise
    usage = check_budget(program, board, remedies_of(reference))
    check_linked(program, plan, board, remedies_of(reference))
    return program, usage


def _alike(sessions: Sequence[Session], Q: NDArray[np.uint8]) -> DeviceComparison:
    comparison = compare_devices(sessions, Q[:_COMPARED])
    if comparison.answers_differ:
        raise CheckFailed(
            f"the boards answer {comparison.answers_differ} of {comparison.n} points differently, "
            "though they report the same model; run each board alone to see which one is wrong"
        )
    return comparison
