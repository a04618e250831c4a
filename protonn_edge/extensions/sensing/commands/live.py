"""The options of 'build' and 'export' for boards that classify the samples of a sensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import click

from protonn_edge.chips.boards import Board
from protonn_edge.cli.command import Output, option
from protonn_edge.cli.firmware_additions import SensorFirmware
from protonn_edge.cli.options import FiniteRange
from protonn_edge.cli.paths import LIVE_FOLDER, there
from protonn_edge.cli.trying import refused_wrong_answers, say_tried
from protonn_edge.codegen.export.folder import LIVE, check_folder, write_folder
from protonn_edge.codegen.projects.built import built_text
from protonn_edge.codegen.projects.folder import BUILT_FILE
from protonn_edge.codegen.projects.project import try_plan
from protonn_edge.codegen.verification.agreement import PROVEN
from protonn_edge.codegen.verification.tryout import NOT_TRIED
from protonn_edge.extensions.sensing.commands.logger import LOGGER_FOLDER, write_logger
from protonn_edge.extensions.sensing.commands.votes import MARKS, VOTES, Mark, Votes, votes_of
from protonn_edge.extensions.sensing.sensor_kinds import ANALOG_PINS, MICROPHONE
from protonn_edge.extensions.sensing.sensor_projects import (
    LiveBuild,
    build_live,
    windowing_for,
)
from protonn_edge.extensions.sensing.windowing import Windowing
from protonn_edge.learn.evaluation.terminal import budget_facts, fact_table
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.model.model import Model
from protonn_edge.system.errors import InputError
from protonn_edge.system.schema import JsonObject
from protonn_edge.system.shell import command_line


@dataclass(frozen=True)
class LiveOptions(SensorFirmware):
    """The options as they were given."""

    NEEDS: ClassVar[Mapping[str, str]] = {
        "--rate --unit --hop --votes --mark": "--sensor",
        "--unit --hop --votes --mark": "model_file",
    }

    sensors: tuple[str, ...] = option(
        "Read this sensor, such as mpu6050, microphone or a0 (repeat the option for more pins), or "
        "a .toml file that describes one; docs/recording.md lists all.",
        flag="--sensor",
        multiple=True,
        metavar="NAME",
    )
    rate: float | None = option(
        "With --sensor: samples per second.  [default: as in the training data, if known]",
        FiniteRange(0, min_open=True),
    )
    unit: str | None = option(
        "With --sensor: the unit of the training data, if the model does not state it, such as g, "
        "m/s^2 or 'ax ay az g; gx gy gz deg/s'; the board converts the samples to this unit.",
        metavar="UNIT",
    )
    hop: int | None = option(
        "With --sensor: samples from the start of a window to the start of the next.  [default: a "
        "window's length]",
        click.IntRange(1),
    )
    votes: Votes | None = VOTES
    marks: tuple[Mark, ...] = MARKS

    @property
    def is_given(self) -> bool:
        """Whether a sensor is named."""
        return bool(self.sensors)

    def windowing(self, model: Model, board: Board) -> Windowing | None:
        """Return the windows of a board's sensor; None without a sensor."""
        if not self.sensors:
            return None
        votes, refractory_s = votes_of(self.votes)
        return windowing_for(
            model,
            self.sensors,
            board,
            rate=self.rate,
            hop=self.hop,
            votes=votes,
            refractory_s=refractory_s,
            marks=self.marks,
            unit=self.unit,
        )

    def write_logger(
        self, out: Output, board_name: str, folder: Path | None, *, as_sketch: bool
    ) -> tuple[JsonObject, Path]:
        """Write firmware that only samples; print how to use it, return facts and its folder."""
        if self.rate is None:
            raise InputError("without MODEL, the firmware only samples; give --rate, too")
        folder = folder or LOGGER_FOLDER
        done = write_logger(out, self.sensors, self.rate, board_name, folder, as_sketch=as_sketch)
        return done, folder

    def build(
        self,
        out: Output,
        model: DeviceModel,
        board: Board,
        folder: Path | None,
        *,
        tries: bool,
    ) -> tuple[JsonObject, Path, str]:
        """Build firmware that classifies the samples; see `SensorFirmware`."""
        folder = folder or LIVE_FOLDER
        done = _build(out, model, board, folder, self, tries=tries)
        return done, folder, _monitor_line(folder, self.sensors)


class BuildLiveOptions(LiveOptions):
    """The same, for `build`."""

    APART: ClassVar[Mapping[str, str]] = {"--sensor": "--max-flash --max-sram --data"}
    EXAMPLES: ClassVar[Sequence[str]] = ("--sensor mpu6050 --rate 100 -o logger",)


class ExportLiveOptions(LiveOptions):
    """The same, for `export`."""

    APART: ClassVar[Mapping[str, str]] = {"--sensor": "--c"}
    EXAMPLES: ClassVar[Sequence[str]] = ("--arduino logger --sensor mpu6050 --rate 100",)


def _build(
    out: Output,
    model: DeviceModel,
    board: Board,
    folder: Path,
    live: LiveOptions,
    *,
    tries: bool,
) -> JsonObject:
    """Build firmware that classifies a sensor's samples; return its facts for display.

    Its classifier is tried in the serial firmware, with inputs from the host.
    """
    check_folder(folder, LIVE)
    windowing = live.windowing(model.floats, board)
    assert windowing is not None, "a sensor was given"
    model = replace(model, chain=replace(model.chain, counts=windowing.model.counts))
    windowing = replace(windowing, model=model.chain)
    out.notice(windowing.notices)
    with out.status(f"building for {board.name}"):
        built = build_live(model.floats, windowing)
        plan, tried = built.plan, NOT_TRIED
        record: JsonObject = {"board": board.name, "folder": str(folder)}
        if tries:
            with refused_wrong_answers(out, record):
                tried = try_plan(model, plan, board)
    record |= {
        "tried": tried.to_json(),
        "model_sha256": windowing.model.model_sha256,
        "sensors": [kind.name for kind in windowing.sampling.kinds],
        "rate": windowing.sampling.actual_rate,
        "window": windowing.window,
        "hop": windowing.hop,
        "votes": windowing.votes,
        "marks": list(windowing.marks),
        "refractory": windowing.refractory_s,
        "ring_bytes": built.ring_bytes,
        **built.usage.to_json(board),
        "response": None if built.response is None else built.response.to_json(board),
        "plan": plan.to_json(),
    }
    write_folder(folder, {**built.files, BUILT_FILE: built_text(record)}, LIVE)
    facts = [
        ("sensor", windowing.sampling.name),
        ("windows", windowing.words),
        ("sample buffer", f"{built.ring_bytes:,} B"),
        _soonness(built, board),
    ]
    out.say(f"firmware for {board.name}:", fact_table([*facts, *budget_facts(built.usage, board)]))
    say_tried(out, tried)
    return record


def _soonness(built: LiveBuild, board: Board) -> tuple[str, str]:
    """Return the row with the time until a class is known."""
    if built.response is None:
        return "response time", "not bounded: a stage of the model has no facts about its loops"
    most = board.milliseconds(built.response.cycles)
    within = f"at most {most:.1f} ms after the last sample, {PROVEN}"
    return "response time", within


def _monitor_line(folder: Path, sensors: Sequence[str]) -> str:
    """Return the command that runs live firmware on an emulated board."""
    where = [] if folder == LIVE_FOLDER else ["--project", str(folder)]
    # A recording of an analog input may have columns for the next pins.
    nexts = {f"a{pin + 1}" for pin in range(ANALOG_PINS) if f"a{pin}" in sensors}
    first = [name for name in sensors if name not in nexts]
    played = list[str]()
    for name in first:
        recording = "recording.wav" if name == MICROPHONE.name else "recording.csv"
        played += ["--sensor", f"{name}={there(recording, 'FILE')}"]
    return command_line(["protonn-edge", "monitor", *where, "--emulate", *played])
