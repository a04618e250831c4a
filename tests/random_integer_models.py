"""Integer models of all shapes, with weights at the ends of their ranges, and programs of many."""

from __future__ import annotations

import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
from generated_programs import write_c
from plans import plan_with

from protonn_edge.emulator import EmulatedUno
from protonn_edge.quantization import IntegerModel
from protonn_edge.stages.input_quantizer.quantizer import InputQuantizer
from protonn_edge.stages.matvec.cycles import KERNELS, KernelName
from protonn_edge.stages.projection.integers import COORDINATE_MAXIMUM, COORDINATE_MINIMUM
from protonn_edge.stages.prototypes.exponential import exponential_table

_NAMES = (
    "begin",
    "push",
    "push_many",
    "finish",
    "predict",
    "scores",
    "class_name",
    "model_hash",
    "quantize",
    "quantize_float",
)
_MAIN = Path(__file__).with_name("codegen") / "many_models.c"
_DEADLINE_S = 30.0
_HOST = ["cc", "-std=c99", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
_AVR = [
    *("avr-gcc", "-mmcu=atmega328p", "-std=gnu99", "-O2"),
    *("-Wall", "-Wextra", "-Wpedantic", "-Werror"),
]

Case = tuple[IntegerModel, KernelName, np.ndarray]


def random_integer_model(seed: int) -> tuple[IntegerModel, KernelName]:
    """Return a model that need not make sense, and a kernel for its projection."""
    rng = np.random.default_rng(seed)
    kernel = KERNELS[seed % len(KERNELS)]
    d = int(rng.choice([1, 2, 3, 7, 8, 9, 10, 11, 15, 16, 17, 20]))
    most = max(2, 400 // d) if kernel == "unrolled" else 70
    features = 300 if d <= 2 and rng.random() < 0.3 else int(rng.integers(1, most))
    prototypes, classes = int(rng.integers(1, 40)), int(rng.choice([2, 3, 10, 11, 26]))
    maximum = int(rng.choice([1, 15, 31, 127, 255]))
    W = rng.integers(-128, 128, (d, features))
    W = np.where(rng.random(W.shape) < 0.2, rng.choice([-128, -127, -1, 1, 127], W.shape), W)
    W[rng.random(W.shape) < rng.choice([0.0, 0.5, 0.9])] = 0
    if rng.random() < 0.5:  # small enough for 16 bits
        W = (W * min(1.0, 60_000 / (1 + maximum * np.abs(W).sum(axis=1).max()))).astype(int)
    span = maximum * np.abs(W).sum(axis=1)
    bits = 16 if span.max() < 65_000 else 24
    bias = -(maximum * W.sum(axis=1)) // 2
    upper = max(1, int(span.max()) >> (bits - 16))
    multiplier = int(np.clip(65_536 * rng.choice([60, 300, 3000]) / upper, 1, 30_000))
    offset = rng.integers(-30, 30, d) * 65_536 + rng.integers(0, 256, d) * 256
    model = IntegerModel(
        inputs=InputQuantizer(np.zeros(features), np.ones(features), maximum),
        projection=W.astype(np.int8),
        bias=bias.astype(np.int64),
        accumulator_bits=bits,
        multiplier=multiplier,
        offset=offset.astype(np.int64),
        prototypes=np.zeros((d, prototypes), np.int8),
        distance_shift=int(rng.integers(0, 7)),
        table=exponential_table(),
        labels=_labels(rng, classes, prototypes),
        score_scale=1.0,
        classes=tuple(f"class {label}" for label in range(classes)),
    )
    points = model.project(random_bytes(seed, prototypes, model))
    points += rng.integers(-12, 13, points.shape) * rng.choice([0, 1, 8])
    B = np.clip(points, COORDINATE_MINIMUM, COORDINATE_MAXIMUM).T.astype(np.int8)
    return replace(model, prototypes=B), kernel


def _labels(rng: np.random.Generator, classes: int, prototypes: int) -> np.ndarray:
    largest = rng.choice([1, 20, 128])
    return rng.integers(-largest, largest, (classes, prototypes)).astype(np.int8)


def random_bytes(seed: int, n: int, model: IntegerModel) -> np.ndarray:
    """Return n inputs, (n, D) uint8: dense and sparse ones, zeros, and the ends of some sums."""
    rng = np.random.default_rng(seed)
    Q = rng.integers(0, model.inputs.maximum + 1, (n, model.n_features))
    Q[rng.random(Q.shape) < rng.random((n, 1))] = 0
    extremes = model.projection[rng.integers(0, model.n_projections, n)] * rng.choice(
        [-1, 1], (n, 1)
    )
    ends = rng.random(n) < 0.25
    Q[ends] = (extremes > 0)[ends] * model.inputs.maximum
    Q[0] = 0
    return Q.astype(np.uint8)


def assert_all_executions_agree(cases: list[Case], folder: Path) -> None:
    """Compare NumPy, host C under sanitizers and the emulated Uno, which a program runs on."""
    expected = _expected_output(cases)
    _write_program(cases, folder)
    host = subprocess.run(
        [_compile_program(folder, _HOST)], capture_output=True, check=True, timeout=60
    )
    size = sum(map(len, expected))
    avr = _output_of_emulated_uno(_compile_program(folder, _AVR), size)
    for output in (host.stdout, avr):
        begin = 0
        for (model, kernel, _), right in zip(cases, expected, strict=True):
            answer = output[begin : begin + len(right)]
            assert answer == right, (kernel, model)
            begin += len(right)
        assert begin == len(output)


def _write_program(cases: list[Case], folder: Path) -> None:
    """Write sources that classify the inputs of each model in turn."""
    table = []
    for number, (model, kernel, Q) in enumerate(cases):
        part = folder / f"model_{number}"
        part.mkdir()
        write_c(model, part, plan_with(model, kernel))
        renames = [f"#define pnn_{name} pnn_{name}_{number}" for name in _NAMES]
        (part / "rename.h").write_text("\n".join(renames) + "\n")
        numbers = ", ".join(str(byte) for byte in Q.ravel())
        table.append(
            f"MODEL({number}, {len(Q)}, {Q.shape[1]}, {model.n_classes}, "
            f"{model.score_bits // 8}, {numbers})"
        )
    (folder / "models.h").write_text("\n".join(table) + "\n")


def _compile_program(folder: Path, compiler: list[str]) -> Path:
    """Compile and link the sources, each model under names of its own."""
    product = folder / f"{compiler[0]}.elf"
    objects = []
    for part in sorted(folder.glob("model_*")):
        out = folder / f"{compiler[0]}-{part.name}.o"
        source = [f"-I{part}", "-include", part / "rename.h", "-c", part / "pnn_model.c"]
        subprocess.run([*compiler, *source, "-o", out], check=True, timeout=60)
        objects.append(out)
    command = [*compiler, f"-I{folder}", "-o", product, _MAIN, *objects]
    subprocess.run(command, check=True, timeout=60)
    return product


def _expected_output(cases: list[Case]) -> list[bytes]:
    """Return what the program writes for each model: a class and its scores for each input."""
    outputs = []
    for model, _, Q in cases:
        classes, scores = model.answers(Q)
        record = np.dtype(
            [("label", "u1"), ("scores", f"<i{model.score_bits // 8}", scores.shape[1])]
        )
        answers = np.zeros(len(Q), record)
        answers["label"], answers["scores"] = classes, scores
        outputs.append(answers.tobytes())
    return outputs


def _output_of_emulated_uno(elf: Path, size: int) -> bytes:
    """Return the first bytes that a program sends."""
    with EmulatedUno(elf) as uno, socket.create_connection(("127.0.0.1", uno.port)) as line:
        line.settimeout(_DEADLINE_S)
        received = b""
        while len(received) < size and (chunk := line.recv(65_536)):
            received += chunk
        assert uno.stats().faults == ()
    return received
