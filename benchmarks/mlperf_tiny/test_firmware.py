"""Firmware for MLPerf Tiny keeps the benchmark's protocol, and gives the model's classes."""

from __future__ import annotations

import csv
import runpy
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import serial
from avr_tools import EMULATED_AVR, skip_without
from click.testing import CliRunner, Result
from model_factory import plain_model

from protonn_edge.boards import load_board
from protonn_edge.chain.file import save_model
from protonn_edge.chain.policy import with_rules
from protonn_edge.datasets import load_digits_dataset
from protonn_edge.emulator import EmulatedBoard
from protonn_edge.errors import InputError
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.policy.rejection.rule import Rejection
from protonn_edge.projects.folder import Project
from protonn_edge.toolchain.platformio import build_firmware

BENCHMARKS = Path(__file__).parents[1]
sys.path.insert(0, str(BENCHMARKS))
from mlperf_tiny.firmware import Benchmark, _devices  # noqa: E402

COMMAND = runpy.run_path(str(BENCHMARKS / "mlperf_firmware.py"))["main"]
DIGITS = load_digits_dataset()
MICROSECONDS_A_CYCLE = 1 / 16


def run(model: Path, *options: object) -> Result:
    return CliRunner().invoke(COMMAND, [str(model), "--task", "kws01", *map(str, options)])


class Runner:
    """What the benchmark's runner does on the line."""

    def __init__(self, url: str) -> None:
        self._line = serial.serial_for_url(url, timeout=10)

    def send(self, command: str) -> list[str]:
        self._line.write(f"{command}%".encode())
        lines = []
        while (line := self._line.readline()) != b"m-ready\r\n":
            assert line.endswith(b"\r\n"), f"no reply to {command}"
            lines.append(line.decode().strip())
        return lines

    def load(self, data: bytes) -> None:
        assert self.send(f"db load {len(data)}") == [f"m-[Expecting {len(data)} bytes]"]
        parts = [self.send(f"db {data[at : at + 31].hex()}") for at in range(0, len(data), 31)]
        assert parts[:-1] == [[]] * (len(parts) - 1)
        assert parts[-1] == ["m-load-done"]

    def infer(self, times: int, warmups: int) -> tuple[int, list[int]]:
        """Return the microseconds, and the results."""
        lines = self.send(f"infer {times} {warmups}")
        assert lines[:3] == [
            f"m-warmup-start-{warmups}",
            "m-warmup-done",
            f"m-infer-start-{times}",
        ]
        begin, end = (int(line.removeprefix("m-lap-us-")) for line in lines[3:5])
        assert lines[5] == "m-infer-done"
        results = lines[6].removeprefix("m-results-[").removesuffix("]").split(",")
        return end - begin, [int(each) for each in results]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    skip_without(*EMULATED_AVR)
    place = tmp_path_factory.mktemp("mlperf")
    classifier = ProtoNNClassifier(n_prototypes=20, epochs=8, random_state=0)
    model = classifier.fit(DIGITS.X_train, DIGITS.y_train).to_model(classes=DIGITS.classes)
    save_model(model, place / "model.npz")
    rows = np.column_stack([DIGITS.X_test[:30], DIGITS.y_test[:30]])
    names = ",".join([*(f"x{k}" for k in range(64)), "label"])
    np.savetxt(place / "test.csv", rows, "%d", ",", header=names, comments="")
    made = place / "made"
    done = run(place / "model.npz", "--data", place / "test.csv", "-o", made)
    assert done.exit_code == 0, done.output
    return made


@pytest.fixture(scope="module")
def board(folder: Path) -> Iterator[EmulatedBoard]:
    with EmulatedBoard(build_firmware(folder, "uno"), board=load_board("uno")) as emulated:
        yield emulated


def test_the_data_are_the_bytes_that_the_model_takes(folder: Path) -> None:
    reference = Project(folder).generated()[0]
    with (folder / "datasets" / "kws01" / "y_labels.csv").open() as table:
        rows = list(csv.reader(table))
    assert [(row[1], int(row[2])) for row in rows] == [
        ("10", label) for label in DIGITS.y_test[:30]
    ]
    data = [(folder / "datasets" / "kws01" / row[0]).read_bytes() for row in rows]
    assert b"".join(data) == reference.quantize(DIGITS.X_test[:30]).tobytes()


def test_every_class_is_the_models(folder: Path, board: EmulatedBoard) -> None:
    reference = Project(folder).generated()[0]
    Q = reference.quantize(DIGITS.X_test[:30])
    runner = Runner(board.url)
    scores = reference.scores(Q)
    for row, expected in zip(Q, scores, strict=True):
        runner.load(row.tobytes())
        _, results = runner.infer(1, 0)
        assert results == (expected - expected.min() + 1).tolist()


def test_the_time_is_that_of_all_predictions(folder: Path, board: EmulatedBoard) -> None:
    runner = Runner(board.url)
    runner.load(Project(folder).generated()[0].quantize(DIGITS.X_test[:1]).tobytes())
    before = board.stats()
    microseconds, _ = runner.infer(200, 0)
    after = board.stats()
    computed = (after.marked_cycles - before.marked_cycles) * MICROSECONDS_A_CYCLE
    assert computed - 16 <= microseconds <= computed + 200 * 10 + 16


def test_long_predictions_and_a_task_that_is_a_macro(folder: Path, tmp_path: Path) -> None:
    """Neither the interrupts of the cycle counter nor the macro `true` change what is reported."""
    slow = tmp_path / "slow"
    shutil.copytree(folder, slow)
    for name, before, after in (
        ("platformio.ini", "kws01", "true"),
        (
            "firmware/prediction.c",
            "label = pnn_predict",
            "__builtin_avr_delay_cycles(1000000); label = pnn_predict",
        ),
    ):
        text = (slow / name).read_text()
        assert text.count(before) == 1
        (slow / name).write_text(text.replace(before, after))
    with EmulatedBoard(build_firmware(slow, "uno"), board=load_board("uno")) as emulated:
        runner = Runner(emulated.url)
        assert runner.send("profile")[1] == "m-model-[true]"
        runner.load(bytes(64))
        microseconds, _ = runner.infer(100, 0)
        computed = emulated.stats().marked_cycles * MICROSECONDS_A_CYCLE
    assert computed - 16 <= microseconds <= computed + 100 * 10 + 16


def test_warmups_are_not_in_the_time(board: EmulatedBoard) -> None:
    runner = Runner(board.url)
    runner.load(bytes(64))
    few, _ = runner.infer(10, 0)
    same, _ = runner.infer(10, 100)
    assert same == pytest.approx(few, rel=0.02)


def test_the_runner_learns_the_task_and_what_is_wrong(board: EmulatedBoard) -> None:
    runner = Runner(board.url)
    assert runner.send("name") == ["m-name-dut-[protonn-edge]"]
    assert runner.send("profile")[1] == "m-model-[kws01]"
    assert runner.send("db load 5") == ["e-[The model takes 64 bytes]"]
    assert runner.send("db load 64") == ["m-[Expecting 64 bytes]"]
    assert runner.send("db 0g") == ["e-[A byte has two hexadecimal digits]"]
    assert runner.send("infer 1 0")[0].startswith("e-[An input has all its bytes")
    assert runner.send("infer 0") == ["e-[Inference iterations must be >0, warmups >=0]"]
    assert runner.send("x" * 200) == ["e-[Unknown command]"]
    runner.load(b"\xff" * 64)  # above the largest input
    assert runner.send("infer 1 0")[0].startswith("e-[An input has all its bytes")


def test_energy_firmware_is_slower_on_the_line_and_prints_no_time() -> None:
    text = Benchmark("kws01", energy=True).settings("build_flags =\n    -O2\n    -std=gnu99\n")
    assert "-DBAUD=9600UL" in text
    assert "-DMLPERF_ENERGY" in text
    slow = Benchmark("kws01", energy=True).settings("    -O2\n    -DBAUD=38400UL\n")
    assert slow.count("BAUD") == 1


@pytest.mark.parametrize("task", ["", "K W", "kws01,energy", "a" * 17])
def test_a_task_that_the_runner_could_not_read_is_refused(task: str) -> None:
    with pytest.raises(InputError, match="give 1 to 16 of a-z"):
        Benchmark(task)


def test_a_board_without_usb_is_described_by_valid_yaml() -> None:
    assert _devices(replace(load_board("uno"), usb_ids=())).endswith("\n  usb: {}\n")


def test_a_board_with_its_line_in_software_is_refused(folder: Path) -> None:
    result = run(folder.parent / "model.npz", "--board", "attiny85", "-o", "unused")
    assert result.exit_code == 1
    assert "software serial line" in result.output


def test_a_model_that_may_answer_unknown_is_refused(tmp_path: Path) -> None:
    save_model(with_rules(plain_model(), Rejection(score=0.25)), tmp_path / "m.npz")
    result = run(tmp_path / "m.npz", "-o", tmp_path / "unused")
    assert result.exit_code == 1
    assert 'may answer "unknown", for which the protocol of MLPerf Tiny has no' in result.output
    assert not (tmp_path / "unused").exists()
