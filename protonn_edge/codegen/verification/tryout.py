"""Try a build before it is written: check that it answers a few points as NumPy does.

The compiler, the linker and the assembly of the kernels come after the proven arithmetic, so a
build is run: the linked firmware on the emulated board, over the protocol that `hil` uses. This
finds a fault that every prediction has; `verify` runs all points of a data set.

The points are made from the model alone, as many as take a fraction of a second: bytes as a device
receives them, the same ones on every machine. They are both ends of the ranges, where sums are
largest and values are clipped, and informative inputs of the model
(`example_inputs`) or of its feature stage.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from protonn_edge.chips.boards import Board, firmware_board_names
from protonn_edge.chips.emulator.board import RunningBoard
from protonn_edge.codegen.families import family_of
from protonn_edge.codegen.plan import DevicePlan
from protonn_edge.codegen.verification.agreement import Agreement, open_session, verify_device
from protonn_edge.codegen.verification.drawn_points import Bytes, drawn_points
from protonn_edge.device.protocol import BITS_PER_BYTE
from protonn_edge.model.device_model import DeviceModel, with_integers
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.integer_stage import IntArray
from protonn_edge.model.nearness import NearestStage
from protonn_edge.system.errors import CheckFailed, InputError, counted
from protonn_edge.system.schema import JsonObject

_LEAST, _MOST = 8, 128
_CYCLES = 16_000_000  # to be emulated: a third of a second
_EXCHANGE_CYCLES = 30_000  # as long as this computer takes for a request and its reply
_ASLEEP = 4  # cycles between two bytes pass faster if the chip sleeps
_FLOAT_CYCLES = 300  # for each parameter of a float build

_DRAWN = 10  # by a feature stage, for each one that is kept
_SINGLE = 8  # in every n-th point, one feature alone is not 0

_REPORT = "please report this as a bug, together with the model"


@dataclass(frozen=True)
class Tried:
    """The result of trying a program."""

    execution: str = ""  # the execution, such as ``"emulated uno"``
    # points that were compared, and those with another class or score
    n: int = 0
    mismatches: int = 0
    left_out: str = ""  # why nothing was tried, "" if it was

    def to_json(self) -> JsonObject:
        """Return it with the field names that `verify` and `hil` print."""
        return {
            "execution": self.execution or None,
            "n": self.n,
            "mismatches": self.mismatches,
            "left_out": self.left_out or None,
        }

    def __str__(self) -> str:
        if self.left_out:
            return f"not tried: {self.left_out}"
        return f"equal on {counted(self.n, 'point')}: NumPy = {self.execution}"


NOT_TRIED = Tried(left_out="--no-try is given")


class WrongAnswers(CheckFailed):
    """A build does not answer as NumPy does; `tried` has the numbers."""

    def __init__(self, tried: Tried, sentence: str) -> None:
        super().__init__(f"{sentence}, so nothing was written; {_REPORT}")
        self.tried = tried


def try_firmware(
    model: DeviceModel,
    plan: DevicePlan,
    elf: Path,
    board: Board,
    *,
    unchanged: bool = True,
) -> Tried:
    """Try linked firmware on the emulated board with points made from its model.

    The slower the plan, the fewer points are tried; none are if the board cannot be emulated here.
    Sources that a user has changed (not `unchanged`) need not support the protocol. Raises
    `WrongAnswers` if an answer is not the reference's, or the firmware crashes or does not answer.
    """
    with ExitStack() as stack:
        try:
            emulated = stack.enter_context(family_of(board).emulated(elf, board))
        except InputError as error:
            return Tried(left_out=str(error))
        name = f"emulated {board.name}"
        reference = model.chain
        points = trial_points(model, _count(reference, plan, board))
        try:
            with open_session(emulated.url, reference, board):
                pass
        except CheckFailed as error:
            if not unchanged or board.name not in firmware_board_names():
                return Tried(left_out=f"{_reason(error)} on {name}")
            raise _stopped(name, emulated, error) from error
        try:
            agreement, _ = verify_device(name, emulated.url, reference, points, board=board)
        except CheckFailed as error:
            raise _stopped(name, emulated, error) from error
    return _checked(agreement)


def trial_points(model: DeviceModel, count: int) -> Bytes:
    """Return `count` points, at least 8, as bytes for the device, (count, features)."""
    integers = with_integers(model.floats) if model.chain.score_tolerance else model
    ends = extremes(integers.chain, count)
    return np.concatenate([ends, examples(integers, count - len(ends))])


def _count(reference: IntegerChain, plan: DevicePlan, board: Board) -> int:
    """Return the number of points that take a fraction of a second to emulate."""
    cycles = plan.cycles
    if cycles is None:
        cycles = _FLOAT_CYCLES * reference.model_bytes // 4
    on_line = reference.n_features * BITS_PER_BYTE * board.clock_hz // (board.baud * _ASLEEP)
    return max(_LEAST, min(_MOST, int(_CYCLES / (cycles + on_line + _EXCHANGE_CYCLES))))


def _checked(agreement: Agreement) -> Tried:
    """Return the counts of a comparison; raise `WrongAnswers` if there is any difference."""
    wrong = agreement.mismatches + agreement.lost
    tried = Tried(agreement.execution, agreement.n, wrong)
    if wrong:
        where = (
            f", first at {agreement.first}" if agreement.first else ", and leaves some unanswered"
        )
        raise WrongAnswers(
            tried,
            f"{agreement.execution} differs from the NumPy model at {wrong:,} of {agreement.n:,} "
            f"points generated from the model{where}",
        )
    return tried


def _stopped(name: str, emulated: RunningBoard, error: CheckFailed) -> WrongAnswers:
    """Return the failure of a firmware that does not answer."""
    faults = emulated.stats().faults
    reason = f"crashed ({faults[0]})" if faults else f"failed ({_reason(error)})"
    return WrongAnswers(Tried(name), f"the linked firmware {reason} on {name}")


def _reason(error: CheckFailed) -> str:
    """Return an error's text without its advice, which is for a board at a port."""
    return str(error).split("; ")[0]


def ends(reference: IntegerChain) -> Bytes:
    """Return two points (2, features): all features 0, and all at their maximum."""
    return np.array([[0], [reference.quantizer.maximum]], np.uint8).repeat(reference.n_features, 1)


def extremes(reference: IntegerChain, count: int) -> Bytes:
    """Return `ends`, both alternations of these, and points with one maximum, (about count, D).

    There are at least two of the latter: of the first feature and of the last.
    """
    n, maximum = reference.n_features, reference.quantizer.maximum
    odd = np.arange(n) % 2
    places = np.unique(np.linspace(0, n - 1, max(2, count // _SINGLE)).astype(np.int64))
    alternating = np.array([odd, 1 - odd]) * maximum
    single = np.zeros((len(places), n), np.uint8)
    single[np.arange(len(places)), places] = maximum
    return np.concatenate([ends(reference), alternating, single]).astype(np.uint8)


def example_inputs(chain: IntegerChain, start: Bytes, count: int) -> IntArray:
    """Return test inputs (count, D) that exercise a device's arithmetic, always the same ones.

    `start` (D,) are the inputs of a mean point, from which the search begins.
    """
    *before, last = chain.own_stages
    if isinstance(last, NearestStage):
        return last.example_inputs(before, start, count)
    generator = Random(0)  # noqa: S311  (no secret)
    span = 2 * chain.inputs.maximum + 1
    moved = [
        [each + int(generator.random() * span) - chain.inputs.maximum for each in start.tolist()]
        for _ in range(count)
    ]
    return np.clip(np.array(moved, np.int64), 0, chain.inputs.maximum)


def examples(model: DeviceModel, count: int) -> Bytes:
    """Return points (count, features) for a model's arithmetic, made of its mean point."""
    reference = model.chain
    if reference.features is None:
        start = reference.inputs.quantize(model.floats.inputs.mean[None, :])[0]
        return example_inputs(reference, start, count).astype(np.uint8)
    # Most are unlike anything that the model knows: those with the largest scores are kept.
    drawn = drawn_points(reference.features.points, _DRAWN * count)
    largest = np.abs(reference.scores(drawn)).max(axis=1)
    return drawn[np.argsort(-largest, kind="stable")[:count]]
