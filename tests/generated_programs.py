"""Programs of generated C and some lines around it, on the host and on the emulated Uno."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import numpy as np
from avr_programs import compile_text

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.host import HostProgram
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.renderer import PREFIX, render_c
from protonn_edge.model.integer_chain import IntegerChain

_DEADLINE_S = 60.0
_STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
_HOST = ["cc", "-std=c99", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
_AVR = ["avr-gcc", "-mmcu=atmega328p", "-std=gnu99", "-O2"]

_CHECKED = ("-fsanitize=shift,signed-integer-overflow", "-fsanitize-undefined-trap-on-error")


_OUTPUT = Path(__file__).parent / "codegen/output.h"
_PREDICTING = f"""
#include "pnn_model.h"
#include "{_OUTPUT}"
static const uint8_t inputs[] FLASH = {{INPUTS}};
int main(void)
{{
    static uint8_t features[PNN_FEATURES];
    begin();
    for (uint16_t point = 0; point < COUNT; ++point) {{
        for (uint16_t i = 0; i < PNN_FEATURES; ++i) {{
            features[i] = READ(&inputs[point * PNN_FEATURES + i]);
        }}
        const uint8_t label = pnn_predict(features);
        send(label, pnn_scores(), PNN_CLASSES * sizeof(pnn_score_t));
    }}
    end();
    return 0;
}}
"""


def write_c(
    model: IntegerChain, folder: Path, plan: Plan | None = None, prefix: str = PREFIX
) -> None:
    """Write a model's generated files."""
    for name, text in render_c(model, plan, prefix).items():
        (folder / name).write_text(text, encoding="utf-8")


def compile_with(
    model: IntegerChain, program: str, folder: Path, *flags: str, plan: Plan | None = None
) -> Path:
    """Compile a program's text with a model for the Uno."""
    write_c(model, folder, plan)
    return compile_text(program, folder / "program.elf", "-O2", *flags, "pnn_model.c")


def compile_checked(
    model: IntegerChain, program: str, folder: Path, plan: Plan | None = None
) -> Path:
    """Compile a program's text with a model for an Uno that cannot multiply.

    It runs the portable C, where an int has 16 bits, and stops where a signed integer overflows.
    """
    without_multiplier = folder / "no_multiplier.h"
    without_multiplier.write_text("#include <avr/io.h>\n#undef __AVR_HAVE_MUL__\n")
    flags = (*_CHECKED, "-include", str(without_multiplier))
    return compile_with(model, program, folder, *flags, plan=plan)


def compile_model(model: IntegerChain, folder: Path, plan: Plan | None = None) -> Path:
    """Compile a model for the Uno, once for all programs that are then linked with it."""
    write_c(model, folder, plan)
    command = [*_AVR, "-c", "pnn_model.c"]
    subprocess.run(command, check=True, timeout=_DEADLINE_S, cwd=folder)
    return folder / "pnn_model.o"


def link_with(compiled: Path, program: str, *flags: str) -> Path:
    """Compile a program's text, and link it with a model's object file, in whose folder it is."""
    return compile_text(program, compiled.with_name("program.elf"), "-O2", *flags, compiled.name)


def marked_cycles(elf: Path, spans: int = 1) -> int:
    """Return the cycles of a program's first spans, all that it marks."""
    with EmulatedUno(elf) as uno:
        while (stats := uno.stats()).marked_spans < spans:
            assert stats.cycles < 16_000_000, stats
        return stats.marked_cycles


def assert_equal_to_reference(program: HostProgram, model: IntegerChain, Q: np.ndarray) -> None:
    """Compare labels and scores of points, in whatever parts they come, and of short ones."""
    classes, expected = model.answers(Q)
    for feeding in ("whole", "push", "split", "chunks"):
        labels, scores = program.run(Q, feeding)
        assert (scores == expected).all()
        assert (labels == classes).all()
    short = Q.copy()
    short[:, Q.shape[1] - Q.shape[1] // 3 :] = 0
    assert (program.run(Q, "short")[1] == model.scores(short)).all()


def assert_prints(main: Path, folder: Path, expected: bytes) -> None:
    """Compare what a program of all models in a folder prints, on the host and on the Uno.

    On the host it runs under sanitizers. No warning is let through.
    """
    sources = [main, *sorted(folder.glob("*_model.c"))]
    for compiler in (_HOST, _AVR):
        program = folder / f"{compiler[0]}.elf"
        command = [*compiler, *_STRICT, f"-I{main.parent}", f"-I{folder}", *sources, "-o", program]
        subprocess.run(command, check=True, timeout=_DEADLINE_S)
    host = subprocess.run([folder / "cc.elf"], capture_output=True, check=True, timeout=_DEADLINE_S)
    assert host.stdout == expected
    assert printed_by_uno(folder / "avr-gcc.elf", len(expected)) == expected


def predicting(Q: np.ndarray) -> str:
    """Return a program that sends the class and the scores of each point (n, features)."""
    points = ", ".join(map(str, Q.ravel().tolist()))
    return _PREDICTING.replace("COUNT", str(len(Q))).replace("INPUTS", points)


def answers_in_bytes(model: IntegerChain, Q: np.ndarray) -> list[bytes]:
    """Return what a program sends for each input: its class and its scores."""
    classes, scores = model.answers(Q)
    record = np.dtype(
        [("label", "u1"), ("scores", f"<i{model.own_stages[-1].output.bits // 8}", scores.shape[1])]
    )
    answers = np.zeros(len(Q), record)
    answers["label"], answers["scores"] = classes, scores
    return [answer.tobytes() for answer in answers]


def printed_by_uno(elf: Path, size: int) -> bytes:
    """Return the first bytes that a program sends on the emulated Uno."""
    with EmulatedUno(elf) as uno, socket.create_connection(("127.0.0.1", uno.port)) as line:
        line.settimeout(_DEADLINE_S)
        received = b""
        while len(received) < size and (chunk := line.recv(65_536)):
            received += chunk
        assert uno.stats().faults == ()
    return received
