"""Layers keep their rows in one array: none is written over while it is needed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from convolution_factory import random_convolution, random_model
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from protonn_edge.codegen.planner import Limits, plans
from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.images.image_rows import ImageStage, RowMemory, row_memory
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.model.features import Features
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import InputError

Tag = tuple[str, int, int]


class Memory:
    """What is in each byte, as the generated program writes and reads it."""

    def __init__(self, layers: list[ImageStage], memory: RowMemory, *, holds_image: bool) -> None:
        self.layers, self.places = layers, memory.places
        self.bytes: list[Tag | None] = [None] * memory.size
        self.rows = [0] * (len(layers) + 1)
        self.holds_image = holds_image

    def predict(self) -> None:
        height, width, channels = self.layers[0].shape
        values = width * channels
        for row in range(height if self.holds_image else 0):
            self.write(row * values, values, ("image", 0, row))
        for number, layer in enumerate(self.layers):
            for line in range(layer.lines):  # of 0, from the start of the program on
                self.write_margins(number, line)
            for _ in range(layer.margins[0][0]):
                self.write_row(number)
                self.take(number)
        for row in range(height):
            if self.holds_image:
                self.read(row * values, values, ("image", 0, row))
            self.write_row(0)
            self.take(0)
        for number, layer in enumerate(self.layers):
            for _ in range(layer.margins[0][0]):
                self.write_row(number)
                self.take(number)
        for row in range(self.layers[-1].output_shape[0]):
            self.read_row(len(self.layers), row)

    def take(self, number: int) -> None:
        layer, row = self.layers[number], self.rows[number]
        self.rows[number] += 1
        if isinstance(layer, IntegerPooling):
            self.read_row(number, row)
            if layer.how == "maximum":
                if row % layer.window[0]:  # the largest values so far
                    self.read_row(number + 1, self.rows[number + 1])
                self.write_row(number + 1)
            complete = row % layer.window[0] == layer.window[0] - 1
        else:
            assert isinstance(layer, IntegerConvolution)
            first = row - layer.window[0] + 1
            complete = first >= 0 and first % layer.stride[0] == 0
            for each in range(first, row + 1) if complete else ():
                self.read_row(number, each)
                self.read_margins(number, each % layer.lines)
        if complete:
            self.write_row(number + 1)
            if number + 1 < len(self.layers):
                self.take(number + 1)
            else:
                self.rows[-1] += 1

    def line(self, number: int, line: int) -> int:
        layer = self.layers[number]
        return self.places[number] + line * layer.line_bytes

    def margins(self, number: int, line: int) -> tuple[int, list[int]]:
        layer = self.layers[number]
        margin = layer.margins[1][0] * layer.shape[2]
        begin = self.line(number, line)
        return margin, [begin, begin + layer.line_bytes - margin]

    def write_margins(self, number: int, line: int) -> None:
        margin, begins = self.margins(number, line)
        for begin in begins:
            self.write(begin, margin, ("margin", number, line))

    def read_margins(self, number: int, line: int) -> None:
        margin, begins = self.margins(number, line)
        for begin in begins:
            self.read(begin, margin, ("margin", number, line))

    def write_row(self, number: int) -> None:
        row = self.rows[number]
        self.write(*self.row(number, row), ("row", number, row))

    def read_row(self, number: int, row: int) -> None:
        self.read(*self.row(number, row), ("row", number, row))

    def row(self, number: int, row: int) -> tuple[int, int]:
        """Return where a row begins, of a layer or of the values of the last, and its bytes."""
        if number == len(self.layers):
            count = self.layers[-1].output_values
            return self.places[-1] + row * count, count
        layer = self.layers[number]
        begin = self.line(number, row % layer.lines) + layer.margins[1][0] * layer.shape[2]
        return begin, layer.shape[1] * layer.shape[2]

    def write(self, begin: int, count: int, tag: Tag) -> None:
        assert begin + count <= len(self.bytes)
        self.bytes[begin : begin + count] = [tag] * count

    def read(self, begin: int, count: int, tag: Tag) -> None:
        assert self.bytes[begin : begin + count] == [tag] * count


@st.composite
def networks(draw: st.DrawFn) -> list[ImageStage]:
    shape = draw(st.tuples(st.integers(1, 16), st.integers(1, 9), st.integers(1, 3)))
    layers: list[ImageStage] = []
    for seed in range(draw(st.integers(1, 6))):
        try:
            if draw(st.booleans()):
                parts = draw(
                    st.fixed_dictionaries(
                        {
                            "channels": st.integers(1, 4),
                            "side": st.sampled_from([1, 3, 5]),
                            "stride": st.sampled_from([1, 2]),
                            "padded": st.booleans(),
                        }
                    )
                )
                layers.append(random_convolution(seed, shape, largest=1, **parts))
            else:
                window = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
                how = draw(st.sampled_from(["maximum", "average"]))
                layers.append(IntegerPooling(shape, window, how, 15))
        except InputError:  # a window larger than its image
            break
        shape = layers[-1].output_shape
    assume(layers)
    return layers


@settings(deadline=None)
@given(networks(), st.booleans())
@example([IntegerPooling((10, 6, 2), (3, 3), "maximum", 15)], False)
def test_no_row_is_written_over_while_it_is_needed(
    layers: list[ImageStage], holds_image: bool
) -> None:
    memory = row_memory(layers, holds_image=holds_image)
    program = Memory(layers, memory, holds_image=holds_image)
    for _ in range(2):  # a second prediction finds what the first one left
        program.rows = [0] * (len(layers) + 1)
        if program.bytes[0] is not None:
            check_margins(program)
        program.predict()
    begun = layers[-1].output_values  # at most one row of values is begun and never completed
    apart = sum(layer.lines * layer.line_bytes for layer in layers) + layers[-1].n_outputs
    leaves = isinstance(layers[-1], IntegerPooling) and layers[-1].shape[0] % layers[-1].window[0]
    assert memory.size <= apart + begun * bool(leaves) + holds_image * layers[0].n_inputs


def check_margins(program: Memory) -> None:
    for number, layer in enumerate(program.layers):
        for line in range(layer.lines):
            program.read_margins(number, line)


@pytest.fixture(scope="module")
def wide() -> Features:
    """A network whose lines and image take 2,100 bytes apart from each other."""
    parts = [(8, 5, 2), (8, 3, 1), (12, 3, 1), (24, 3, 1)]
    layers: list[IntegerConvolution | IntegerPooling] = []
    shape = (28, 28, 1)
    for seed, (channels, side, stride) in enumerate(parts):
        layer = random_convolution(seed, shape, channels, side, largest=1, stride=stride)
        layers.append(layer)
        shape = layer.output_shape
    layers.append(IntegerPooling(shape, (2, 2), "maximum", 15))
    layers.append(random_convolution(9, layers[-1].output_shape, 80, 3, largest=1, weight_bits=4))
    assert all(one.output_shape == two.shape for one, two in pairwise(layers))
    return layered(tuple(layers))


def test_lines_take_over_an_image_that_is_used_up(wide: Features) -> None:
    apart = sum(layer.lines * layer.line_bytes for layer in wide.stages) + 28 * 28
    memory = row_memory(wide.stages, holds_image=True)
    assert (apart, memory.size) == (2_100, 1_500)


def test_a_network_that_needs_it_fits_an_uno(wide: Features) -> None:
    uno = Limits()
    best = plans(quantize(random_model(wide)), uno)[0]
    assert uno.hold(best)
    assert best.choices["feeding"] == "streamed"
