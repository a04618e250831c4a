"""Networks of int8 layers whose input was never positive became files that nothing could read.

The zero point in the file is a rounded product of a byte and a step, so for half of all steps it
lies beyond 255 steps by the last bit.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from extensions.conversion import onnx_factory
from refusals import refused_by

from protonn_edge import from_network
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.point_format import PointFormat
from protonn_edge.system.errors import InputError


def quantized(scale: float, zero: int) -> bytes:
    """Return a network of one matrix whose input has this scale and zero point."""
    rng = np.random.default_rng(0)
    constants = {
        "s": np.float32(scale),
        "z": np.uint8(zero),
        "W": rng.integers(-127, 128, (2, 4)).astype(np.int8),
        "ws": np.float32(0.01),
        "wz": np.int8(0),
        "os": np.float32(300 * scale),
        "oz": np.uint8(128),
    }
    nodes = [
        onnx_factory.node("QuantizeLinear", "x s z", "q"),
        onnx_factory.node("DequantizeLinear", "q s z", "d"),
        onnx_factory.node("DequantizeLinear", "W ws wz", "wd"),
        onnx_factory.node("Gemm", "d wd", "g", transB=1),
        onnx_factory.node("QuantizeLinear", "g os oz", "gq"),
        onnx_factory.node("DequantizeLinear", "gq os oz", "y"),
    ]
    return onnx_factory.network(nodes, [4], "y", **constants)


@pytest.mark.parametrize("zero", [0, 1, 128, 254, 255])
def test_each_scale_of_an_input_can_be_stored(zero: int):
    rng = np.random.default_rng(zero)
    scales = (10 ** rng.uniform(-29.9, 29.9, 2_000)).astype(np.float32)
    X = np.linspace(-255, 255, 103)
    for scale in scales:
        of_zero = np.array([float(-zero * scale)])
        points = PointFormat(
            InputQuantizer(of_zero, np.array([scale]), 255, to_even=True), (1, 103)
        )
        assert (points.to_bytes(X * scale) == np.clip(np.rint(X + zero), 0, 255)).mean() > 0.9


@pytest.mark.parametrize("scale", [109.18 / 255, 60 / 255, 1.7e-20, 3.3e20])
def test_a_network_of_negative_inputs_is_read_again(scale: float, tmp_path: Path):
    X = -scale * np.random.default_rng(1).uniform(0, 255, (40, 4)).astype(np.float32)
    model = from_network(quantized(scale, 255), X).model
    save_model(model, tmp_path / "net.npz")
    assert np.array_equal(load_model(tmp_path / "net.npz").scores(X), model.scores(X))


def test_a_scale_beyond_the_bytes_is_refused_where_it_is_made():
    with refused_by("deskewed"):
        PixelScale(-130.0, np.float32(0.5))
    with refused_by("deskewed"):
        PixelScale(0.0, 0.0)


def test_a_model_that_could_not_be_read_is_not_written(tmp_path: Path):
    model = from_network(quantized(0.25, 0), np.eye(4, dtype=np.float32)).model
    assert model.features is not None
    object.__setattr__(
        model.features.points.scale, "zero", np.full(1, -999.0)
    )  # past all checks so far
    with pytest.raises(InputError, match="wrong.npz is not written, because it could not be read"):
        save_model(model, tmp_path / "wrong.npz")
    assert not list(tmp_path.iterdir())
