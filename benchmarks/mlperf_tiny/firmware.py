"""A tried project with the benchmark's serial protocol, and the data for its runner.

The benchmark's runner reads the data sets from a folder a model, with a list ``y_labels.csv``, and
finds the board by the USB ids in a file of devices.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from protonn_edge.avr.program import read_program
from protonn_edge.boards import Board
from protonn_edge.chain.head import remedies_of
from protonn_edge.chain.model import Model
from protonn_edge.errors import CheckFailed, InputError
from protonn_edge.policy.rejection.rule import Rejection
from protonn_edge.projects.checks import Usage, check_budget
from protonn_edge.projects.folder import Project
from protonn_edge.projects.project import Build, BuildOptions, build
from protonn_edge.quantization import IntegerChain
from protonn_edge.system.folders import scratch_folder
from protonn_edge.toolchain.platformio import build_firmware

_PROTOCOL = Path(__file__).with_name("requests.c")
_TASK = re.compile(r"[a-z0-9_]{1,16}")
_ENERGY_BAUD = 9600
_FLAG = "    -O2\n"  # after it in platformio.ini, flags are added
_REPLACED = ("frame.c", "frame.h", "requests.c")  # protocol v2


@dataclass(frozen=True)
class Benchmark:
    """A task of the benchmark, and whether the energy is measured; `InputError` for a bad name."""

    task: str  # such as kws01
    energy: bool = False

    def __post_init__(self) -> None:
        if not _TASK.fullmatch(self.task):
            raise InputError(
                f"the task is {self.task!r}; give 1 to 16 of a-z, 0-9 and _, such as kws01"
            )

    def settings(self, text: str) -> str:
        """Return the text of a platformio.ini with the benchmark's flags."""
        # Quoted as for a shell: a bare name could be a macro of the compiler, such as "unix".
        flags = [f"'-DMLPERF_TINY=\"{self.task}\"'"]
        if self.energy:
            text, slower = re.subn(r"-DBAUD=\d+UL", f"-DBAUD={_ENERGY_BAUD}UL", text)
            flags += ["-DMLPERF_ENERGY", *([] if slower else [f"-DBAUD={_ENERGY_BAUD}UL"])]
        return text.replace(_FLAG, _FLAG + "".join(f"    {flag}\n" for flag in flags))


@dataclass(frozen=True)
class BenchmarkBuild:
    """A project that fits its board, with the runner's data."""

    files: dict[str, bytes]  # their contents by their names
    built: Build  # the same model's firmware with the protocol of this package
    usage: Usage  # memory of the benchmark's firmware


def build_benchmark(
    model: Model,
    board: Board,
    benchmark: Benchmark,
    options: BuildOptions,
    points: tuple[NDArray[np.float32], NDArray[np.int64]] | None,
) -> BenchmarkBuild:
    """Build and try a model, exchange its serial protocol, and build it again.

    `points`, raw (n, D) with classes (n,), become the runner's data. Raises as `build` does, and
    `CheckFailed` if the board cannot hold all features, which repetitions need, or `InputError` if
    its serial line is in software, or the model may answer "unknown".
    """
    if board.serial == "software":
        raise InputError(
            f"{board.name} has a software serial line, but MLPerf Tiny needs a hardware serial "
            "line; choose another board with --board"
        )
    if model.policy.find(Rejection) is not None or model.n_classes == 1:
        raise InputError(
            'the model may answer "unknown", for which the protocol of MLPerf Tiny has no result; '
            "train the model without --rejection or --one-class"
        )
    with scratch_folder() as scratch:
        folder = scratch / "project"
        built = build(model, board, folder, options)
        reference, plan = Project(folder).generated()
        if reference.score_tolerance:
            raise InputError("firmware for MLPerf Tiny computes in integers")
        if plan.chunk_features < reference.n_features:
            raise CheckFailed(
                f"MLPerf Tiny repeats predictions, for which all {reference.n_features:,} features "
                f"must be in SRAM, but {board.name} cannot hold them; choose a board with more "
                "SRAM, or train on fewer features"
            )
        _exchange_protocol(folder, benchmark)
        program = read_program(build_firmware(folder, board.environment))
        usage = check_budget(program, options.within(board), remedies_of(model))
        names = ["platformio.ini", *(f"{name}/**/*" for name in ("boards", "firmware"))]
        paths = sorted(path for name in names for path in folder.glob(name) if path.is_file())
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    files["devices.yaml"] = _devices(board).encode()
    if points is not None:
        files |= _data(reference, points, f"datasets/{benchmark.task}")
    return BenchmarkBuild(files, built, usage)


def _exchange_protocol(folder: Path, benchmark: Benchmark) -> None:
    for name in _REPLACED:
        (folder / "firmware" / name).unlink()
    (folder / "firmware" / "requests.c").write_bytes(_PROTOCOL.read_bytes())
    settings = folder / "platformio.ini"
    settings.write_text(benchmark.settings(settings.read_text("utf-8")), encoding="utf-8")


def _devices(board: Board) -> str:
    """Return the runner's description of the board."""
    lines = ["- name: " + board.environment, "  type: dut", "  baud:"]
    lines += [f"    {mode}: {board.baud}" for mode in ("performance", "accuracy")]
    lines += [f"    energy: {_ENERGY_BAUD}", "  usb:" if board.usb_ids else "  usb: {}"]
    vendors: dict[str, list[str]] = {}
    for vendor, product in (ids.split(":") for ids in board.usb_ids):
        vendors.setdefault(f"0x{vendor}", []).append(f"0x{product}")
    lines += [f"    {vendor}: [{', '.join(products)}]" for vendor, products in vendors.items()]
    return "\n".join(lines) + "\n"


def _data(
    reference: IntegerChain, points: tuple[NDArray[np.float32], NDArray[np.int64]], folder: str
) -> dict[str, bytes]:
    """Return a file of bytes for each point, and the list of them with their classes."""
    rows = reference.quantize(points[0])
    files = {f"point_{number:05}.bin": row.tobytes() for number, row in enumerate(rows)}
    labels = zip(files, points[1].tolist(), strict=True)
    table = "".join(f"{name},{reference.n_classes},{label}\n" for name, label in labels)
    return {f"{folder}/{name}": data for name, data in files.items()} | {
        f"{folder}/y_labels.csv": table.encode()
    }
