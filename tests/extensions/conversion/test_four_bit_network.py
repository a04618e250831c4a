"""A network of 4 bits that was trained elsewhere, as a model: scores are those of its formula."""

from __future__ import annotations

import runpy

import numpy as np
import pytest
from checkout import CHECKOUT

from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError

BENCHMARK = runpy.run_path(str(CHECKOUT / "benchmarks" / "four_bit_network.py"))
convolutional_network = BENCHMARK["convolutional_network"]

CLASSES = ("left", "right", "both")


def random_network(seed: int = 0) -> dict[str, np.ndarray]:
    """Return a network of 12x12 pixels: two convolutions, the largest of 2x2, and scores."""
    rng = np.random.default_rng(seed)
    shapes = {"conv1": (4, 3, 3, 1), "conv2": (6, 3, 3, 4), "dense": (6, 3)}
    shifts = {"conv1": (0, 2), "conv2": (1, 4), "dense": (2, 7)}
    network = {}
    for name, shape in shapes.items():
        outputs = shape[-1] if name == "dense" else shape[0]
        network[f"{name}_weights"] = rng.integers(-8, 8, shape).astype(np.int8)
        network[f"{name}_bias"] = rng.integers(-128, 128, outputs).astype(np.int16)
        network[f"{name}_shifts"] = np.array(shifts[name], np.int16)
    return network


def scores_by_the_formula(network: dict[str, np.ndarray], image: np.ndarray) -> list[int]:
    """Return the scores of an image (h, w)."""
    side = len(image) // 2
    blocks = image.reshape(side, 2, side, 2).astype(int).sum(axis=(1, 3))
    values = (blocks >> 6)[:, :, None]
    for name in ("conv1", "conv2"):
        weights, bias = network[f"{name}_weights"].astype(int), network[f"{name}_bias"]
        left, right = network[f"{name}_shifts"].tolist()
        side -= 2
        made = np.zeros((side, side, len(weights)), int)
        for y, x, o in np.ndindex(made.shape):
            acc = int((weights[o] * values[y : y + 3, x : x + 3]).sum())
            positive = max((acc << left) + int(bias[o]), 0)
            made[y, x, o] = min(_halves_to_even(positive, right), 15)
        values = made
    pooled = values.reshape(side // 2, 2, side // 2, 2, -1).max(axis=(1, 3)).ravel()
    sums = pooled @ network["dense_weights"].astype(int)
    return [(int(a) << 2) + int(b) for a, b in zip(sums, network["dense_bias"], strict=True)]


def _halves_to_even(value: int, shift: int) -> int:
    """Shift, keep the last bit shifted out, shift once more, and add that; a half goes to even."""
    last, rest = (value >> shift) & 1, value & ((1 << shift) - 1)
    whole = value >> (shift + 1)
    return whole + (last if rest or whole & 1 else 0)


def test_scores_are_those_of_the_formula() -> None:
    network = random_network()
    images = np.random.default_rng(1).integers(0, 256, (30, 144)).astype(np.uint8)
    images[:10][images[:10] < 150] = 0
    model = convolutional_network(network, images, 12, CLASSES)
    integers = quantize(model)
    expected = [scores_by_the_formula(network, image.reshape(12, 12)) for image in images]
    assert integers.scores(integers.quantize(images)).tolist() == expected
    assert model.scores(images).tolist() == expected


@pytest.mark.parametrize(
    ("name", "shifts", "words"),
    [
        ("conv2_shifts", [5, 4], "'conv2_weights' reaches 256 in magnitude .* a signed byte"),
        ("conv1_shifts", [0, 8], "'conv1_shifts' is 8, but must be 0 to 7"),
    ],
)
def test_shifts_that_lose_bits_are_refused(name: str, shifts: list[int], words: str) -> None:
    network = random_network() | {name: np.array(shifts, np.int16)}
    with pytest.raises(InputError, match=words):
        convolutional_network(network, np.zeros((2, 144), np.uint8), 12, CLASSES)
