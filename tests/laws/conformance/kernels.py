"""Counted kernels: at the ends of their counts and of their arithmetic, and as drawn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from laws.conformance.instances import Instance
from model_factory import drawn_kernels_of, random_window_model, random_windows

from protonn_edge.features.kernels.integers import IntegerKernels, KernelBank
from protonn_edge.model.features import Features
from protonn_edge.model.quantization import quantize
from protonn_edge.model.shapes import Shape

# one, other, less, weight, channel and biases
_REACHED = (
    (0, 0, 5, 2, 0, -1, 0, 1),  # a difference; it rises or falls throughout
    (3, 3, 0, 2, 1, -2, -1, 0),
    (0, 12, 6, 2, 1, -1, 0, 3),  # two differences
    (0, 0, 0, 0, 0, 0, 200, 509),  # the level
)
_EXTREME = (
    (0, 255, 128, 2, 0, -511, 0, 509),  # one position
    (0, 1, 2, 2, 0, -510, -1, 509),
    (0, 0, 0, 0, 0, -32768, 509, 32767),  # 255 positions
    (9, 0, 4, 1, 0, -256, 254, 510),
)


def instances() -> Iterator[Instance]:
    """Yield windows."""
    for name, features in (
        ("reached", _of(_REACHED, (20, 2))),
        ("the ends of the arithmetic", _of(_EXTREME, (256, 1), factor=255)),
        ("as drawn", drawn_kernels_of(33, 3, 12)),
        ("the most kernels", drawn_kernels_of(8, 1, 85)),
    ):
        model = quantize(random_window_model(features, projections=10, prototypes=20))
        points = random_windows(5, 20, features)
        stage = model.stages[0]
        assert isinstance(stage, IntegerKernels)
        extremes = _extreme_windows(stage.window)
        yield Instance(name, model, stage, points, extremes, reached=name == "reached")


def _of(rows: tuple[tuple[int, ...], ...], shape: Shape, factor: int = 1) -> Features:
    """Return given kernels, whose second counts are larger than 3, and tripled."""
    numbers = np.array(rows)
    taps, weights, channels, biases = np.split(numbers, [3, 4, 5], axis=1)
    bank = KernelBank(
        channels.ravel().astype(np.uint8),
        taps.astype(np.uint8),
        weights.ravel().astype(np.uint8),
        biases.astype(np.int16),
    )
    least = np.tile(np.array([[0, 3, 0]], np.uint8), (len(bank), 1))
    factors = np.tile(np.array([[1, 3, factor]], np.uint8), (len(bank), 1))
    points = drawn_kernels_of(*shape, 1).points
    return Features(points, (IntegerKernels(shape, bank, least, factors),))


def _extreme_windows(shape: Shape) -> np.ndarray:
    """Return windows of 0, of 255, rising, falling, bent either way, and with edges."""
    t = np.arange(shape[0])
    middle = shape[0] // 2
    waves = [t * 0, t * 0 + 255, t * 255 // t[-1], 255 - t * 255 // t[-1]]
    waves += [np.minimum((t - middle) ** 2, 255), 255 - np.minimum((t - middle) ** 2, 255)]
    waves += [255 * (t >> k & 1) for k in range(8)]
    waves += [255 - wave for wave in waves[6:]]
    return np.repeat(np.array(waves), shape[1], axis=1)


def reference(stage: IntegerKernels, point: list[int]) -> list[int]:
    """Return the counts of a window, as bytes."""
    (samples, channels), bank = stage.window, stage.bank
    found = []
    for kernel in range(len(bank)):
        one, other, less = bank.taps[kernel].tolist()
        x = point[int(bank.channels[kernel]) :: channels]
        weight = int(bank.weights[kernel])
        positions = range(min(samples - max(one, other, less), 255))
        responses = [x[t + one] + x[t + other] - weight * x[t + less] for t in positions]
        for number, bias in enumerate(bank.biases[kernel].tolist()):
            count = sum(response > bias for response in responses)
            least, factor = (int(each[kernel, number]) for each in (stage.least, stage.factors))
            found.append(min(max(count - least, 0) * factor, 255))
    return found
