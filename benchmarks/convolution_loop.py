"""The loop over a convolution's pixels, measured alone and compared with its floor.

The rows belong to the table of `kernels`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.activity import Activity
from protonn_edge.chain.model import Model
from protonn_edge.chain.statistics import InputStatistics, Normalizer
from protonn_edge.cores import UNO_CORE
from protonn_edge.features.convolution.integers import IntegerConvolution
from protonn_edge.features.convolution.kernels import ConvolutionKernel
from protonn_edge.features.convolution.making import layered
from protonn_edge.features.convolution.window import Name
from protonn_edge.kinds.linear.head import LinearHead
from protonn_edge.quantization import IntegerChain, quantize

SHAPE, CHANNELS, SIDE = (10, 10, 8), 11, 3

PROGRAM = """
#include <avr/io.h>
#include "pnn_model.c"
static const pnn_input_t image[] PNN_FLASH = { %s };
static pnn_input_t values[CONVOLUTION_VALUES];
static pnn_input_t lines[CONVOLUTION_SIDE][CONVOLUTION_ROW_VALUES];
static PNN_NOINLINE void mark(void)
{
    GPIOR0 = 1;
    convolution_compute(values);
    GPIOR0 = 0;
}
int main(void)
{
    for (uint8_t y = 0; y + CONVOLUTION_SIDE <= CONVOLUTION_ROWS; ++y) {
        for (uint8_t row = 0; row < CONVOLUTION_SIDE; ++row) {
            for (uint8_t i = 0; i < CONVOLUTION_ROW_VALUES; ++i) {
                const uint16_t at = (uint16_t)((y + row) * CONVOLUTION_ROW_VALUES + i);
                lines[row][i] = PNN_READ_U8(&image[at]);
            }
            convolution_window[row] = lines[row];
        }
        mark();
    }
    for (;;) {
    }
}
"""

# A row: call and return, the 18 registers that a caller wants to have again there and back. A
# pixel: pointers to the window's rows from SRAM and back, and moved; to count it. An input: to
# fetch it, to see whether it is 0, and where a loop counts, 3, or to branch and to pass over its
# weights. A weight from flash, a product, a sum.
ROW, POINTER, PIXEL = 8 + 4 * 18, 8 + 2, 3
INPUT, COUNT, PASSED = 2 + 2, 3, 1 + 2
WEIGHT, PRODUCT, SUM = 3, 2, 2

# Of packed weights two are in a byte, and each is copied or shifted, and masked; the sum of inputs
# is taken off. More than 8 channels read the window twice.
UNPACKED, SUMMED, GROUPS = 2, 3, 2

# A value: its bias 2, its sign 2, the limit 3, two products and their sum 6, to store it 2; those
# that are 0 or limited are stored.
BIAS, SIGN, LIMIT, SCALED, STORED = 2, 2, 3, 6, 2


@dataclass(frozen=True)
class Case:
    """A way to read weights, and how many of the inputs are 0."""

    name: str
    kernel: Name
    zeros: float

    @property
    def image(self) -> NDArray[np.uint8]:
        """Values of 0..15, (1, n)."""
        rng = np.random.default_rng(1)
        values = rng.integers(1, 16, (1, int(np.prod(SHAPE))))
        return np.where(rng.random(values.shape) < self.zeros, 0, values).astype(np.uint8)


CASES = (
    Case("convolution-columns", "columns", 0.0),
    Case("convolution-columns-sparse", "columns", 0.75),
    Case("convolution-packed", "packed", 0.0),
    Case("convolution-unrolled", "unrolled", 0.0),
    Case("convolution-unrolled-sparse", "unrolled", 0.75),
)


def convolution() -> IntegerConvolution:
    """Return weights of 4 bits, as large as those of the third layer of a network for digits."""
    rng = np.random.default_rng(0)
    weights = rng.integers(-8, 8, (CHANNELS, SIDE, SIDE, SHAPE[2])).astype(np.int8)
    return IntegerConvolution(SHAPE, weights, np.full(CHANNELS, 40), 10, 8, 15, 15, weight_bits=4)


def model() -> IntegerChain:
    """Return a chain with it."""
    stage = layered((convolution(),))
    n = stage.n_outputs
    ones = np.ones(n)
    return quantize(
        Model(
            head=LinearHead(np.eye(2, n, dtype=np.float32), np.zeros(2)),
            normalizer=Normalizer("none", 0 * ones, ones),
            inputs=InputStatistics(0 * ones, 15 * ones, ones, ones, 0 * ones),
            classes=("one", "other"),
            features=stage,
        )
    )


def program(image: NDArray[np.uint8]) -> str:
    """Return a program that marks each row of pixels."""
    return PROGRAM % ", ".join(map(str, image.ravel().tolist()))


def rows() -> int:
    """Return how many rows it marks."""
    return convolution().output_shape[0]


def planned_cycles(case: Case) -> float:
    """Return what the planner expects of the pixels of such images."""
    stage = convolution()
    activity = Activity(np.zeros(0), {stage.kind: stage.activity(case.image)})
    return ConvolutionKernel(stage, UNO_CORE, case.kernel).pixel_cycles(activity)


def _active_weights(image: NDArray[np.uint8]) -> list[NDArray[np.int64]]:
    """Return the weights (channels,) of each input of each window that is not 0."""
    stage, (height, width, _) = convolution(), convolution().output_shape
    values = image.reshape(SHAPE)
    found = []
    for y, x in np.ndindex(height, width):
        window = values[y : y + SIDE, x : x + SIDE]
        found += list(stage.weights[:, window != 0].astype(np.int64).T)
    return found


def count_multiplications(image: NDArray[np.uint8]) -> int:
    """Return how many weights that are not 0 meet an input that is not 0."""
    return sum(int(np.count_nonzero(weights)) for weights in _active_weights(image))


def floor_cycles(case: Case) -> int:
    """Return the least cycles of a kernel's method; see the text of `kernels`."""
    stage, image = convolution(), case.image
    height, width, out = stage.output_shape
    pixels = height * width
    sums = stage.sums(image)
    small, large = int((sums < 0).sum()), int((sums >= stage.limit).sum())
    scaled = sums.size - small - large
    values = sums.size * (BIAS + SIGN + STORED) + (sums.size - small) * LIMIT + scaled * SCALED
    floor = height * ROW + pixels * (SIDE * POINTER + PIXEL) + values
    inputs, active = pixels * SIDE * SIDE * SHAPE[2], _active_weights(image)
    floor += INPUT * inputs
    if case.kernel == "columns":
        floor += COUNT * inputs + PASSED * (inputs - len(active))
        return floor + len(active) * out * (WEIGHT + PRODUCT + SUM)
    if case.kernel == "packed":
        again = (GROUPS - 1) * (INPUT * inputs + 4 * SIDE * pixels)
        floor += again + GROUPS * (COUNT * inputs + PASSED * (inputs - len(active)))
        each = out * (PRODUCT + SUM + UNPACKED) + -(-out // 2) * WEIGHT + GROUPS * SUMMED
        return floor + len(active) * each + SUM * sums.size
    floor += inputs - len(active)  # to branch
    for weights in active:
        # A product is made of the one before by one addition, at best.
        products = len(set(np.abs(weights).tolist()) - {0, 1})
        floor += products + SUM * int(np.count_nonzero(weights))
    return floor
