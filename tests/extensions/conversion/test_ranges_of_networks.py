"""Padded networks whose points do not include 0, channels of other scales, negative inputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from extensions.conversion.onnx_factory import network, written
from refusals import refused_by

from protonn_edge import from_network
from protonn_edge.extensions.conversion.kept import Conversion
from protonn_edge.features.images.pixel_scale import PixelScale
from protonn_edge.model.file import load_model, save_model
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.point_format import PointFormat
from protonn_edge.system.errors import InputError


def converted(
    low: float, high: float, means: tuple[float, ...] = (0.0,), pad: int = 1
) -> Conversion:
    """Return the conversion of a network with two Conv, for random points in this range."""
    generator = np.random.default_rng(3)

    def weights(*shape: int) -> np.ndarray:
        numbers = generator.normal(size=shape) / np.sqrt(np.prod(shape[1:]))
        return numbers.astype(np.float32)

    nodes = written(
        f"Sub x mean > m; Conv m w b > a : pads=[{pad}] * 4; Relu a > c; "
        "Conv c u > d : pads=[1] * 4; Relu d > e; Flatten e > f; Gemm f v > y"
    )
    mean, places = np.float32(means).reshape(-1, 1, 1), 6 * (6 + 2 * pad) ** 2
    arrays = {"w": weights(6, len(means), 3, 3), "b": weights(6), "u": weights(6, 6, 3, 3)}
    content = network(nodes, (len(means), 8, 8), mean=mean, v=weights(5, places).T.copy(), **arrays)
    points = np.random.default_rng(12).uniform(low, high, (300, 64 * len(means)))
    return from_network(content, points.astype(np.float32), epochs=0)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0.5, 1.5), (5, 6), (-1, -0.1)])
def test_bytes_include_the_padding_where_it_is_near(low: float, high: float) -> None:
    """With the smallest value as padding, 84 % of these answers were equal at 0.5 to 1.5."""
    found = converted(low, high)
    assert found.agreement > 0.95
    assert found.warning is None
    assert "warning" not in str(found)


@pytest.mark.parametrize(
    ("low", "high", "means", "shown"),
    [
        (9, 10, (0.0,), "with 0 (the points' values are 9 to 10)"),
        (0, 1, (0.2, 0.75), "with 0.2, 0.75 "),
    ],
)
def test_a_padding_without_a_byte_has_a_warning(
    low: float, high: float, means: tuple[float, ...], shown: str
) -> None:
    found = converted(low, high, means)
    assert found.warning is not None
    assert shown in found.warning
    assert str(found).splitlines()[-1] == f"  warning: {found.warning}"
    assert found.to_json()["warning"] == found.warning


def test_a_layer_without_padding_needs_none() -> None:
    assert converted(9, 10, pad=0).warning is None
    assert converted(0, 1, (0.2, 0.75), pad=0).warning is None


def test_channels_of_signals_have_their_own_ranges_and_the_same_padding() -> None:
    """With one range for all channels, no answer was equal."""
    draw = np.random.default_rng(2).normal
    sizes, middles = np.float32([1, 100, 0.01]), draw(size=(3, 1))
    points = ((draw(size=(300, 3, 30)) + middles) * sizes[:, None]).astype(np.float32)
    nodes = written(
        "BatchNormalization x g o m v > n; Conv n w > a : pads=[1, 1]; Relu a > b; "
        "Conv b u > c : pads=[1, 1], strides=[2]; Relu c > d; GlobalAveragePool d > e; "
        "Flatten e > f; Gemm f s > y"
    )
    arrays = {"w": draw(size=(6, 3, 3)), "u": draw(size=(6, 6, 3)), "s": draw(size=(6, 5))}
    means, variances = points.mean(axis=(0, 2)), points.var(axis=(0, 2))
    arrays |= {"g": np.ones(3), "o": draw(size=3), "m": means, "v": variances}
    content = network(nodes, (3, 30), **{name: np.float32(each) for name, each in arrays.items()})
    found = from_network(content, points, epochs=0)
    assert found.warning is None
    assert found.agreement > 0.9


@pytest.mark.parametrize("pads", [[0, 0], [1, 1]])
def test_a_signal_of_two_channels_that_are_not_scaled_is_converted(pads: list[int]) -> None:
    """It ended in a traceback: the padding had one value for both channels."""
    rng = np.random.default_rng(0)
    nodes = written(
        f"AveragePool x > s : kernel_shape=[2], strides=[2]; Conv s w > a : pads={pads}; "
        "Relu a > b; GlobalMaxPool b > c; Flatten c > d; Gemm d v > y"
    )
    w, v = (np.float32(rng.normal(size=size)) for size in ((3, 2, 3), (3, 2)))
    X = rng.normal(size=(60, 2, 12)).astype(np.float32)
    found = from_network(network(nodes, (2, 12), w=w, v=v), X, epochs=0)
    assert found.agreement > 0.95


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
    nodes = written(
        "QuantizeLinear x s z > q; DequantizeLinear q s z > d; DequantizeLinear W ws wz > wd; "
        "Gemm d wd > g : transB=1; QuantizeLinear g os oz > gq; DequantizeLinear gq os oz > y"
    )
    return network(nodes, [4], "y", **constants)


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
