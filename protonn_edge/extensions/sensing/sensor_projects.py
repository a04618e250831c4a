"""Projects with firmware that samples sensors at a steady rate: loggers and classifiers.

A logger sends its samples in frames with a CRC. Rates that exceed the serial line are refused
before anything is written. Firmware that classifies gets the fastest plan that fits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from protonn_edge.chips.boards import Board
from protonn_edge.chips.toolchain.platformio import build_firmware
from protonn_edge.codegen.families import family_of, read_program
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import Limits, plans
from protonn_edge.codegen.projects.checks import OverBudget, Usage, check_budget
from protonn_edge.codegen.projects.folder import PLAN_FILE, plan_text
from protonn_edge.codegen.renderer import render_c, template_environment
from protonn_edge.device.protocol import frame_bytes
from protonn_edge.extensions.sensing.described import sensor_kind
from protonn_edge.extensions.sensing.response import Response, response_of
from protonn_edge.extensions.sensing.sampling import Sampling, check_baud, least_baud
from protonn_edge.extensions.sensing.sensor_board import SamplesMessage
from protonn_edge.extensions.sensing.sensor_kinds import SensorKind
from protonn_edge.extensions.sensing.windowing import Windowing, windowing_of
from protonn_edge.model.features import signal_of
from protonn_edge.model.head import remedies_of
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.policy.confidence.voting import marks_of
from protonn_edge.system.errors import CheckFailed, InputError, InvalidValue
from protonn_edge.system.extensions import check_memories, parts_of
from protonn_edge.system.files import resources, write_plainly
from protonn_edge.system.folders import scratch_folder

_RATE_TOLERANCE = 0.01  # of a recording's rate: the clocks of boards and of people differ
_FRAME_S = 0.05  # of samples in a frame, unless these are too few to detect missing ones
_LEAST_FRAME_SAMPLES = 4
_FRAME_VALUE_BYTES = 240  # with the rest of the frame, they fit a COBS block
_LOGGER_BYTES_A_SECOND = 60
_OF_THE_FIRMWARE = ("frame.c", "frame.h", "optimize_size.h", "replies.h")


@dataclass(frozen=True)
class Logger:
    """The configuration of a logger; raises `InputError` if the line is too slow."""

    sampling: Sampling  # the sensors, and their rate
    baud: int = 0  # of the serial line; 0 is the lowest sufficient one, at least the board's

    def __post_init__(self) -> None:
        sampling = self.sampling
        if self.baud == 0:
            object.__setattr__(self, "baud", least_baud(sampling.board, self.bytes_a_second))
        what = f"{sampling.name} at {sampling.actual_rate:g} Hz"
        check_baud(sampling.board, self.baud, what, self.bytes_a_second)

    @property
    def frame_samples(self) -> int:
        """Consecutive samples in a frame."""
        wanted = max(_LEAST_FRAME_SAMPLES, round(_FRAME_S * self.sampling.rate))
        return min(wanted, _FRAME_VALUE_BYTES // (2 * len(self.sampling.channels)))

    @property
    def bytes_a_second(self) -> float:
        """Bytes per second on the line."""
        values = self.frame_samples * len(self.sampling.channels)
        frame = frame_bytes(2 + SamplesMessage.LAYOUT.size + 2 * values)
        return self.sampling.actual_rate * frame / self.frame_samples + _LOGGER_BYTES_A_SECOND

    def context(self) -> dict[str, object]:
        """Return all that the templates of a logger need."""
        return self.sampling.context(
            self.baud,
            reader="record",
            page="recording",
            frame_samples=self.frame_samples,
            said_every=math.ceil(self.sampling.actual_rate / self.frame_samples),
        )

    def firmware(self) -> dict[str, str]:
        """Return the files of a PlatformIO project by their names."""
        return self.sampling.project("logger", self.context())

    def sketch(self, name: str) -> dict[str, str]:
        """Return the only file of an Arduino sketch, by its name."""
        template = template_environment("sensors").get_template("logger.ino.j2")
        return {f"{name}.ino": template.render(self.context())}


def logger_of(kinds: Sequence[SensorKind], rate: float, board: Board, baud: int = 0) -> Logger:
    """Return the logger of sensors; raises the errors of `Sampling` and `Logger`."""
    return Logger(Sampling.of(kinds, rate, board), baud)


def windowing_for(
    model: Model,
    sensors: Sequence[str],
    board: Board,
    *,
    rate: float | None = None,
    hop: int | None = None,
    votes: int = 1,
    refractory_s: float = 0.0,
    marks: Sequence[tuple[str, int]] = (),
    unit: str | None = None,
) -> Windowing:
    """Return the windows of a board's sensors, given by their names, for a model.

    The rate is by default that of the model's training data. See `windowing_of`.
    """
    signal = signal_of(model.features)
    if board.proof and (signal is None or signal.triggered):
        raise InputError(
            f"the sketch Live for {board.name} classifies windows of samples, but not sounds "
            "or single samples; omit --sensor, and use the example Stream with the library of "
            "your sensor"
        )
    return windowing_of(
        quantize(model),
        model.feature_names,
        _sampling_for(model, [sensor_kind(name) for name in sensors], rate, board),
        hop=hop,
        votes=votes,
        refractory_s=refractory_s,
        marks=marks_of(marks, model.classes),
        instrument=model.instrument,
        unit=unit,
    )


def _sampling_for(
    model: Model, kinds: Sequence[SensorKind], rate: float | None, board: Board
) -> Sampling:
    """Return the sampling at the rate of the training data, if it is known; no other suits."""
    signal = signal_of(model.features)
    trained = None if signal is None else signal.rate
    try:
        rate = _rate_for(trained, rate)
        return Sampling.of(kinds, rate, board, polled=bool(board.proof))
    except InvalidValue as error:
        if not trained:
            raise
        remedy = "choose another sensor with --sensor, or train on data of such a rate"
        raise InvalidValue(error.place, error.reason, remedy) from None


def _rate_for(trained: float | None, rate: float | None) -> float:
    if rate and trained and abs(rate - trained) > _RATE_TOLERANCE * trained:
        raise InputError(
            f"--rate is {rate:g}, but the model was trained on data sampled at "
            f"{trained:g} Hz; omit --rate, or train on data sampled at {rate:g} Hz"
        )
    rate = rate or trained
    if rate is None:
        raise InputError("the model does not state its sampling rate; give --rate")
    return rate


@dataclass(frozen=True)
class LiveBuild:
    """A project that fits its board."""

    files: dict[str, str]  # their texts by their names
    plan: Plan
    ring_bytes: int  # SRAM of the buffer of samples
    usage: Usage  # memory of the linked firmware
    response: Response | None  # time until a class; None if machine code does not show it


def build_live(model: Model, windowing: Windowing) -> LiveBuild:
    """Build firmware that classifies a sensor's samples, with the model of `windowing`.

    It gets the fastest plan that fits. Raises `CheckFailed` if none does, or it cannot keep up.
    """
    board = windowing.sampling.board
    check_memories(windowing.model, board)
    failures: list[OverBudget] = []
    too_much_state = math.inf  # at least one plan is built, so that there is a failure to report
    for plan in _choices(windowing):
        if plan.state_bytes >= too_much_state:
            continue
        try:
            return _built(plan, model, windowing)
        except OverBudget as failure:
            failures.append(failure)
            if failure.usage.flash_bytes <= board.flash_bytes:  # then it is the SRAM
                too_much_state = plan.state_bytes
    smallest = min(failures, key=lambda failure: failure.usage.sram_bytes)
    if windowing.overlapping and smallest.usage.flash_bytes <= board.flash_bytes:
        raise CheckFailed(
            f"the firmware needs {smallest.usage.memory_bytes:,} B of "
            f"SRAM, of which at least {windowing.window * len(windowing.used):,} B hold the "
            "samples of overlapping windows, but "
            f"{board.name} has {board.sram_bytes:,} B; give --hop {windowing.window}, or train on "
            "shorter windows or fewer channels"
        )
    raise smallest


def _built(plan: Plan, model: Model, windowing: Windowing) -> LiveBuild:
    """Return the project of a plan, with as large a buffer as its machine code needs."""
    needed, ring = windowing.ring_samples(plan), 0
    while needed > ring:
        ring = needed
        files = live_files(windowing, plan, ring)
        usage, response = _linked(files, model, windowing)
        if response is not None:
            needed = windowing.ring_samples(response)
    return LiveBuild(files, plan, ring * len(windowing.used), usage, response)


def live_files(windowing: Windowing, plan: Plan, ring_samples: int | None = None) -> dict[str, str]:
    """Return the files of the PlatformIO project, by their names.

    `ring_samples` are those that the buffer holds, by default as many as are estimated.
    """
    if ring_samples is None:
        ring_samples = windowing.ring_samples(plan)
    generated = render_c(windowing.model, plan)
    added = [f"{part.name}.h" for part in parts_of(windowing.model) if part.receives]
    copied = (*_OF_THE_FIRMWARE, *added)
    return {
        **windowing.sampling.project("live", windowing.context(ring_samples)),
        PLAN_FILE: plan_text(windowing.model, plan),
        **{f"src/{name}": text for name, text in generated.items()},
        **{f"src/{name}": _of_the_firmware(name) for name in copied},
    }


def files_of_frames(files: Mapping[str, str]) -> dict[str, str]:
    """Return what the sketch *Live* of a library includes, if it sends frames."""
    folder, names = "examples/Live", ("frame.c", "frame.h", "optimize_size.h")
    if '#include "frame.h"' not in files.get(f"{folder}/Live.ino", ""):
        return {}
    return {f"{folder}/{name}": _of_the_firmware(name) for name in names}


def _of_the_firmware(name: str) -> str:
    """Return the text of a file of the firmware, or of an extension's."""
    places = (place / name for place in resources("firmware"))
    return next(path for path in places if path.is_file()).read_text("utf-8")


def _choices(windowing: Windowing) -> Iterator[Plan]:
    """Yield the plans to try, the fastest first: those that need no buffer, if there are any."""
    limits = Limits.of(windowing.sampling.board)
    if windowing.overlapping:
        ring_bytes = windowing.window * len(windowing.used)
        limits = replace(limits, sram_bytes=limits.sram_bytes - ring_bytes)
    every = plans(windowing.model, limits)
    yield from [plan for plan in every if not plan.buffered] or every


def _linked(
    files: dict[str, str], model: Model, windowing: Windowing
) -> tuple[Usage, Response | None]:
    board = windowing.sampling.board
    with scratch_folder() as scratch:
        write_plainly(scratch, files)
        program = read_program(build_firmware(scratch, board.environment), board)
        usage = check_budget(program, board, remedies_of(model))
        try:
            return usage, response_of(family_of(board).follow(program), windowing)
        except CheckFailed:  # a stage without facts
            return usage, None
