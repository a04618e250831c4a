"""The emulated Uno under Node.js: the same protocol, integers and cycles as the one on simavr."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import struct
import time
from pathlib import Path

import pytest
from avr_programs import compile_text
from avr_tools import needs_avr_gcc, needs_emulated_avr
from command_line import run, succeed
from convolution_factory import random_layers
from convolution_factory import random_model as random_convolutional_model
from model_factory import forms_in_place_of, random_model, random_pooling_model
from refusals import refused_by

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedBoard, EmulatedUno, EmulatorStats, programs
from protonn_edge.chips.toolchain.javascript import EMULATOR, script_file
from protonn_edge.codegen.projects.project import build, trial_build
from protonn_edge.codegen.verification.agreement import verify_device
from protonn_edge.codegen.verification.tryout import trial_points
from protonn_edge.features.pooling.making import average_pooling
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.model.file import save_model
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.model.watch import DeviceForm
from protonn_edge.system.errors import InputError, ProtoNNEdgeError

UNO = load_board("uno")
WITHOUT_SIMAVR = "gcc is missing; install libsimavr-dev"
BROKEN = """
#include <avr/io.h>
int main(void) {
    UBRR0L = 16;
    UCSR0A = 1 << U2X0;
    UCSR0B = 1 << TXEN0;
    %s
    UDR0 = '.';
    for (;;) {
    }
}
"""

DEEP = "volatile char a[100]; for (unsigned char i = 0; i < sizeof(a); i++) { a[i] = i; }"


@pytest.fixture(scope="module", autouse=True)
def _script() -> None:
    """Make the script, or skip all tests that need it."""
    try:
        script_file(EMULATOR)
    except ProtoNNEdgeError as error:
        pytest.skip(f"needs the emulator for Node.js; to run: {error}")
    if shutil.which("node") is None:
        pytest.skip("node not on PATH; to run: install Node.js 20 or newer")


@pytest.fixture
def without_simavr(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide simavr, as on Windows and macOS."""

    def missing() -> programs.Program:
        raise InputError(WITHOUT_SIMAVR)

    monkeypatch.setattr(programs, "_simavr", missing)


SMALL = random_model(5, features=30, projections=8, prototypes=20)
MODELS = {
    "plain": (random_model(), None),
    # Timer1 overflows on the way, so that interrupts and their response count, too.
    "longer than the timer": (
        random_model(3, features=300, projections=21, prototypes=400, gamma_numerator=0.4),
        None,
    ),
    "pooled images": (random_pooling_model(average_pooling((16, 15), (12, 14), (5, 6))), None),
    "layers of convolutions": (random_convolutional_model(random_layers()), None),
    **{form.choice: (SMALL, form) for form in forms_in_place_of(SMALL)},
}


@needs_emulated_avr
@pytest.mark.parametrize(("model", "form"), MODELS.values(), ids=MODELS)
def test_it_gives_the_same_scores_and_cycles_as_simavr(model: Model, form: DeviceForm | None):
    reference = quantize(model)
    if form is not None:
        reference = form.of(reference, model)
    Q = trial_points(DeviceModel(model, reference), 10)
    found = []
    with trial_build(DeviceModel(model, reference), UNO) as trial:
        for emulator in programs.EMULATORS:
            with EmulatedBoard(trial.elf, board=UNO, emulator=emulator) as uno:
                for _ in range(2):  # the second client resets the board
                    agreement, results = verify_device(emulator, uno.url, reference, Q)
                    assert (agreement.mismatches, agreement.lost) == (0, 0), agreement.first
                stats = uno.stats()
                assert (stats.overruns, stats.faults) == (0, ())
                assert stats.marked_spans == 2 * len(Q)
                found.append([(result.scores, result.cycles) for result in results])
    assert found[0] == found[1]


@needs_emulated_avr
def test_it_measures_the_same_stack_as_simavr(tmp_path: Path):
    """The program has no interrupts: when a byte arrives decides what the stack of ours holds."""
    firmware = compile_text(BROKEN % DEEP, tmp_path / "firmware.elf", "-Os")
    found = []
    for emulator in programs.EMULATORS:
        with EmulatedUno(firmware, emulator=emulator) as uno:
            with socket.create_connection(("127.0.0.1", uno.port)) as client:
                client.settimeout(10)
                assert client.recv(1) == b"."
            found.append(uno.stats().stack_bytes)
    assert found[0] == found[1] > 100


@needs_avr_gcc
@pytest.mark.usefixtures("without_simavr")
def test_hil_takes_it_where_simavr_is_not_there_and_says_so(tmp_path: Path):
    model = random_model(features=3)
    save_model(model, tmp_path / "model.npz")
    build(model, UNO, tmp_path / "project")
    rows = [f"class {i % 2},{i},{i + 1},{2 * i}" for i in range(8)]
    (tmp_path / "test.csv").write_text("\n".join(["label,a,b,c", *rows]))
    command = ("hil", tmp_path / "test.csv", "--emulate", "--project", tmp_path / "project")
    done = succeed(*command, "--json")
    record = json.loads(done.stdout)
    assert (record["n"], record["mismatches"], record["lost"]) == (8, 0, 0)
    assert record["cycles_out_of_range"] == 0
    refused = run(*command, "--emulator", "simavr")
    assert (refused.exit_code, refused.stderr) == (2, f"error: {WITHOUT_SIMAVR}\n")
    said = "emulated by avr8js under Node.js, several times slower than by simavr"
    assert f"{said}; simavr is not used because {WITHOUT_SIMAVR}" in done.stderr.splitlines()


@pytest.mark.usefixtures("without_simavr")
@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"bootloader": True}, "a bootloader"),
        ({"link": "pty"}, "a pseudo-terminal"),
        ({"board": load_board("mega2560")}, "mega2560 (atmega2560, usart0)"),
    ],
)
def test_what_it_has_not_is_named_with_what_to_install(tmp_path: Path, options: dict, what: str):
    firmware = tmp_path / "a.hex"
    firmware.write_text(":020000000000FE\n:00000001FF\n")
    with pytest.raises(InputError) as refused:
        EmulatedBoard(firmware, **options)
    assert str(refused.value) == f"{what}: not emulated without simavr; {WITHOUT_SIMAVR}"


@pytest.mark.usefixtures("without_simavr")
def test_without_either_both_ways_to_get_one_are_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    with refused_by("chips.emulator.programs"):
        programs.find_program(None, UNO)


@needs_avr_gcc
@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('__asm__ volatile("out 0x3e, r1");', "the stack pointer is"),
        ("((void (*)(void))0x3000)();", "no instruction to run at 0x6000"),
        ('__asm__ volatile("cli"); SMCR = 1; __asm__ volatile("sleep");', "sleeps with interrupts"),
    ],
)
def test_a_fault_stops_the_board_until_it_is_reset(tmp_path: Path, body: str, fault: str):
    firmware = compile_text(BROKEN % body, tmp_path / "firmware.elf", "-Os")
    with EmulatedUno(firmware, emulator="avr8js") as uno:
        stats = wait_for_fault(uno)
        assert stats.state == "crashed"
        assert fault in stats.faults[0]
        uno.reset()
        assert uno.stats().cycles >= stats.cycles


@needs_avr_gcc
def test_a_client_that_leaves_before_it_is_served_does_not_keep_the_line(tmp_path: Path):
    firmware = compile_text(BROKEN % "", tmp_path / "firmware.elf", "-Os")
    with EmulatedUno(firmware, emulator="avr8js") as uno:
        address = ("127.0.0.1", uno.port)
        with socket.create_connection(address) as served:
            assert served.recv(1) == b"."
            for _ in range(10):
                waiting = socket.create_connection(address)
                waiting.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                waiting.close()  # by a reset
                time.sleep(0.002)
        assert any(answers(address) for _ in range(20))


@needs_avr_gcc
def test_a_client_that_reconnects_to_a_busy_board_is_served(tmp_path: Path):
    firmware = compile_text(BROKEN % "", tmp_path / "firmware.elf", "-Os")
    with EmulatedUno(firmware, emulator="avr8js") as uno:
        address, process = ("127.0.0.1", uno.port), uno._running()
        for attempt in range(40):
            with socket.create_connection(address) as first:
                assert first.recv(1) == b"."
                process.send_signal(signal.SIGSTOP)
                first.sendall(b"abc")
            with socket.create_connection(address) as second:
                process.send_signal(signal.SIGCONT)
                time.sleep(attempt / 10_000)  # in which the program accepts the second client
                process.send_signal(signal.SIGSTOP)
                time.sleep(0.05)
                process.send_signal(signal.SIGCONT)
                assert second.recv(1) == b"."
            time.sleep(0.05)


def answers(address: tuple[str, int]) -> bool:
    """Whether the board sends anything to a client that connects now."""
    with socket.create_connection(address, timeout=5) as client:
        try:
            return client.recv(1) == b"."
        except ConnectionResetError:
            return False


def wait_for_fault(uno: EmulatedUno) -> EmulatorStats:
    for _ in range(1_000):
        if (stats := uno.stats()).faults:
            return stats
    raise AssertionError("there is no fault")
