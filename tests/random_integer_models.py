"""Integer models of all shapes, with weights at the ends of their ranges, and programs of many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from chains import numbers_of, protonn_chain, replace
from generated_programs import answers_in_bytes, assert_prints, write_c
from plans import plan_with

from protonn_edge.chain.input_quantizer import InputQuantizer
from protonn_edge.chain.integer_chain import named_stages
from protonn_edge.chain.matvec import NIBBLE_MAXIMUM
from protonn_edge.kernels.matvec.kernels import KERNELS, KernelName
from protonn_edge.kinds.projection.integers import COORDINATE_MAXIMUM, COORDINATE_MINIMUM
from protonn_edge.kinds.protonn.prototypes.integers import exponential_table
from protonn_edge.quantization import IntegerChain

_MAIN = Path(__file__).with_name("codegen") / "many_models.c"

Case = tuple[IntegerChain, KernelName, np.ndarray]


def random_integer_model(seed: int) -> tuple[IntegerChain, KernelName]:
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
    if kernel == "packed":
        W = np.rint(W * (NIBBLE_MAXIMUM / 128)).astype(int)
    span = maximum * np.abs(W).sum(axis=1)
    bits = 16 if span.max() < 65_000 else 24
    bias = -(maximum * W.sum(axis=1)) // 2
    upper = max(1, int(span.max()) >> (bits - 16))
    multiplier = int(np.clip(65_536 * rng.choice([60, 300, 3000]) / upper, 1, 30_000))
    offset = rng.integers(-30, 30, d) * 65_536 + rng.integers(0, 256, d) * 256
    model = protonn_chain(
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
    points = named_stages(model)["projection"].run(random_bytes(seed, prototypes, model))
    points += rng.integers(-12, 13, points.shape) * rng.choice([0, 1, 8])
    B = np.clip(points, COORDINATE_MINIMUM, COORDINATE_MAXIMUM).T.astype(np.int8)
    return replace(model, prototypes=B), kernel


def _labels(rng: np.random.Generator, classes: int, prototypes: int) -> np.ndarray:
    largest = rng.choice([1, 20, 128])
    return rng.integers(-largest, largest, (classes, prototypes)).astype(np.int8)


def random_bytes(seed: int, n: int, model: IntegerChain) -> np.ndarray:
    """Return n inputs, (n, D) uint8: dense and sparse ones, zeros, and the ends of some sums."""
    rng = np.random.default_rng(seed)
    Q = rng.integers(0, model.inputs.maximum + 1, (n, model.n_features))
    Q[rng.random(Q.shape) < rng.random((n, 1))] = 0
    extremes = numbers_of(model)["projection"][
        rng.integers(0, named_stages(model)["projection"].n_outputs, n)
    ] * rng.choice([-1, 1], (n, 1))
    ends = rng.random(n) < 0.25
    Q[ends] = (extremes > 0)[ends] * model.inputs.maximum
    Q[0] = 0
    return Q.astype(np.uint8)


def assert_all_executions_agree(cases: list[Case], folder: Path) -> None:
    """Compare NumPy, host C under sanitizers and the emulated Uno, which a program runs on."""
    table = []
    for number, (model, kernel, Q) in enumerate(cases):
        write_c(model, folder, plan_with(model, kernel), f"m{number}")
        numbers = ", ".join(str(byte) for byte in Q.ravel())
        table.append(
            f"MODEL({number}, {len(Q)}, {Q.shape[1]}, {model.n_classes}, "
            f"{model.own_stages[-1].output_bits // 8}, {numbers})"
        )
    (folder / "models.h").write_text("\n".join(table) + "\n")
    answers = [answer for model, _, Q in cases for answer in answers_in_bytes(model, Q)]
    assert_prints(_MAIN, folder, b"".join(answers))
