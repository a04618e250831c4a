"""Measure each kernel of the projection, and other loops, alone on the emulated Uno, with floors.

    python benchmarks/kernels.py [--only NAME] [--json]

prints a row for each kernel and size: the cycles of ``pnn_push_many`` for inputs other than 0, the
planner's cycles, and the floor. That is what no program can do without that does the same in the
same way, as a function in C that may be called again for the next features:

- the call and the return, 8 cycles; to read how far it is, add to that, and keep it, 10; to compare
  with what is left, 5;
- each byte of a sum from SRAM and back, 4; to push and pop what it displaces, 4 (calls leave 12
  registers free; 7 are taken by a feature, a weight, a count and two addresses);
- for each block of sums, the addresses of its sums, twice, and of its weights, 8;
- for each feature and block: to fetch the feature 2, to see whether it is 0, 2, and to count, 3;
- *columns*: a weight from flash, its product, and its sum: 3 + 2 + 2 cycles, or 3 for three bytes;
  with three bytes, either a cycle more for the sign of each, or 3 for each feature where weights
  have no sign and a multiple of the features' sum is taken off;
- *masked*: the same for weights that are not 0, with their signs; the size of a row, by which
  features that are 0 are passed over, 3; for each 8 weights a mask, 3; to look at a bit of it 2,
  or 3 to branch;
- *unrolled*: products as `Unrolled` makes them, and their sums; 2 to pass over features without
  weights; in place of the count, 3 for each 8 features to see whether these are all, and 12 for
  each block to jump to the first;
- *packed*: for each feature, to take it off the sum of all, 2, or 3 for three bytes; for two
  weights a byte from flash, 3, two products, 4, to get at the upper half, 2, and two sums; for each
  call what `unpacking_cycles` counts.

What is above the floor is what the compiler makes around the loops, about 50 cycles a call, which
shows where there are few features, and with *unrolled* what holds features back until 8 have come,
another 100.

The row *gradients* has the loop over the pixels of a 28x28 image in 4x4 cells; in place of
multiplications stand the pixels that have a gradient. Its floor is

- for each row the call and the return, 8; for each run of pixels that count for the same cells, to
  point to it and back, 4, to fetch it, 3, to take it apart, 3, and to begin, 2;
- for each pixel its neighbours, 8, to keep the one below, 2, to compare them, 3, to count, 3;
- for each that has a gradient, to branch there, 1, to make a pointer to its cell of another, which
  is kept, 3, two differences, 2, for the sign of each to branch, 2, or to make it positive and note
  that, 3, to compare both, 2 or 3, for the diagonal 3 and a branch, and 2 for a pointer to the sum;
- to look whether its row and its column are shared, 2 each, and for each that is, to halve, 1;
- for each sum, its low byte there and back, 5, to see whether it overflows, 2, or 6 if it does.

The rows *convolution* have the pixels of 3x3 windows of 8 channels of a 10x10 image that become 11
channels, with weights from flash, one or two to a byte, or as instructions; of the inputs none is
0, or three in four (*sparse*). Their floors are counted in `convolution_loop`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import convolution_loop
import gradient_loop
import numpy as np
from numpy.typing import NDArray

from protonn_edge.chain.input_quantizer import InputQuantizer
from protonn_edge.chain.integer_chain import stage_of
from protonn_edge.chain.matvec import NIBBLE_MAXIMUM
from protonn_edge.codegen import render_c
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.planner import plan_of
from protonn_edge.emulator import EmulatedUno
from protonn_edge.errors import ProtoNNEdgeError
from protonn_edge.features.gradients.making import gradient_features
from protonn_edge.kernels.matvec.kernels import KERNELS, KernelName, Matvec
from protonn_edge.kernels.matvec.loops import Block
from protonn_edge.kernels.matvec.unrolled import GROUP, GROUP_CYCLES, PASS_CYCLES
from protonn_edge.kinds.projection.integers import IntegerProjection
from protonn_edge.kinds.protonn.head import ProtoNNHead
from protonn_edge.kinds.protonn.prototypes.integers import (
    IntegerPrototypes,
    exponential_table,
    near_range,
)
from protonn_edge.quantization import IntegerChain

INPUTS = (8, 32, 128, 256)
OUTPUTS = (4, 10, 20)
DENSITY = {"columns": 1.0, "masked": 0.3, "unrolled": 1.0, "packed": 1.0}
DEADLINE_CYCLES = 16_000_000

# What a call takes whatever the kernel is, and registers that it may have without saving them.
CALL_CYCLES = 8 + 10 + 5
FREE_REGISTERS = 5

PROGRAM = """
#include <avr/io.h>
#include "pnn_model.h"
static pnn_input_t features[PNN_FEATURES];
int main(void)
{
    for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
        features[i] = 1;
    }
    pnn_begin();
    GPIOR0 = 1;
    pnn_push_many(features, PNN_FEATURES);
    GPIOR0 = 0;
    for (;;) {
    }
}
"""


@dataclass(frozen=True)
class Case:
    """A kernel and a size."""

    kernel: KernelName
    inputs: int
    outputs: int
    sum_bits: int

    @property
    def name(self) -> str:
        """What --only takes."""
        return f"{self.kernel}-{self.inputs}x{self.outputs}-{self.sum_bits}"


CASES = [
    Case(kernel, inputs, outputs, bits)
    for kernel in KERNELS
    for bits in (16, 24)
    for outputs in OUTPUTS
    for inputs in INPUTS
    if kernel != "unrolled" or inputs * outputs * (bits // 4 + 4) < 25_000
]


NAMES = [
    *(case.name for case in CASES),
    *(case.name for case in convolution_loop.CASES),
    "gradients",
]


def measure_case(case: Case) -> dict[str, Any]:
    """Return the cycles of a case, the planner's estimate, and its floor."""
    model = _model(case)
    plan = plan_of(model, {"projection": case.kernel})
    cycles = _emulated_cycles(model, plan)
    multiplications = int(np.count_nonzero(stage_of(model, IntegerProjection).weights))
    floor = floor_cycles(model, plan, case.kernel)
    return {
        "name": case.name,
        "multiplications": multiplications,
        "cycles": cycles,
        "planned": round(plan.steps[0].mean),
        "floor": floor,
        "ratio": cycles / floor,
    }


def measure_gradients() -> dict[str, Any]:
    """Return the same of the loop over pixels that sums gradients."""
    model = _model(Case("columns", gradient_loop.STAGE.n_outputs, 4, 16))
    cells = gradient_loop.STAGE
    features = gradient_features(cells.image_shape, cells.cropped_shape, cells.cells)
    model = replace(model, features=features)
    image = gradient_loop.drawn_image()
    plan = plan_of(model, {})
    program = gradient_loop.program(image)
    cycles = _emulated_cycles(model, plan, program, spans=gradient_loop.rows())
    floor = gradient_loop.floor_cycles(image)
    return {
        "name": "gradients",
        "multiplications": gradient_loop.count_gradients(image),
        "cycles": cycles,
        "planned": round(gradient_loop.planned_cycles(image)),
        "floor": floor,
        "ratio": cycles / floor,
    }


def measure_convolution(case: convolution_loop.Case) -> dict[str, Any]:
    """Return the same of rows of pixels of a convolution."""
    model = convolution_loop.model()
    plan = plan_of(model, {"convolution": case.kernel})
    program = convolution_loop.program(case.image)
    cycles = _emulated_cycles(model, plan, program, spans=convolution_loop.rows())
    floor = convolution_loop.floor_cycles(case)
    return {
        "name": case.name,
        "multiplications": convolution_loop.count_multiplications(case.image),
        "cycles": cycles,
        "planned": round(convolution_loop.planned_cycles(case)),
        "floor": floor,
        "ratio": cycles / floor,
    }


def floor_cycles(model: IntegerChain, plan: Plan, kernel: KernelName) -> int:
    """Return the least cycles of a kernel's method; see the module's text."""
    stage = stage_of(model, IntegerProjection)
    W, D = stage.weights, stage.n_inputs
    width = stage.accumulator_bits // 8
    matvec: Matvec = plan.of("projection").matvec
    passes: tuple[Block, ...] = tuple(each.block for each in matvec.passes)
    displaced = max(0, max(block.bytes for block in passes) - FREE_REGISTERS)
    floor = CALL_CYCLES + 4 * displaced + sum(4 * block.bytes + 8 for block in passes)
    blocks = [W[block.first :][: block.size] for block in passes]
    if kernel == "columns":
        signs = min(stage.n_outputs, 3) * D if width > 2 else 0
        return floor + 7 * len(blocks) * D + (5 + width) * W.size + signs
    if kernel == "packed":
        unpacking = sum(each.around - 4 * each.block.bytes - 8 for each in matvec.passes)
        return floor + int(matvec.cycles[1].sum()) + unpacking
    if kernel == "masked":
        return floor + sum(_masked_floor(part, width) for part in blocks)
    for each in matvec.passes:
        lines = each.code.lines
        floor += sum(PASS_CYCLES if line.passed else 4 for line in lines)
        floor += GROUP_CYCLES * -(-D // GROUP) + 12
        for multiple in chain(*(line.multiples for line in lines)):
            floor += multiple.cycles + width * len(multiple.outputs)
    return floor


def _masked_floor(W: NDArray[np.int8], width: int) -> int:
    nonzero, zero = int(np.count_nonzero(W)), int(np.count_nonzero(W == 0))
    rows: int = W.shape[1] * (10 + 3 * -(-len(W) // 8))
    return rows + (7 + width + (width > 2)) * nonzero + 3 * zero


def _model(case: Case) -> IntegerChain:
    rng = np.random.default_rng(0)
    largest = NIBBLE_MAXIMUM if case.kernel == "packed" else 127
    weights = rng.integers(2, largest + 1, (case.outputs, case.inputs)) * rng.choice([-1, 1])
    weights[rng.random(weights.shape) >= DENSITY[case.kernel]] = 0
    none, prototypes = np.zeros(case.outputs, np.int64), np.zeros((case.outputs, 1), np.int8)
    wanted = near_range(prototypes, 3)
    projection = IntegerProjection(weights.astype(np.int8), none, case.sum_bits, 1, 1, none, wanted)
    labels, table = np.ones((2, 1), np.int8), exponential_table()
    return IntegerChain(
        head=ProtoNNHead,
        inputs=InputQuantizer(np.zeros(case.inputs), np.ones(case.inputs), 1),
        own_stages=(
            projection,
            IntegerPrototypes(prototypes, 3, table, labels, projection.output),
        ),
        score_scale=1.0,
        classes=("one", "other"),
    )


def _emulated_cycles(
    model: IntegerChain, plan: Plan, program: str = PROGRAM, spans: int = 1
) -> int:
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, text in {**render_c(model, plan), "main.c": program}.items():
            (folder / name).write_text(text)
        elf = folder / "main.elf"
        flags = ["-mmcu=atmega328p", "-std=gnu99", "-O2", "-o", str(elf)]
        sources = [str(folder / "main.c")]
        if "pnn_model.c" not in program:
            sources.append(str(folder / "pnn_model.c"))
        command = ["avr-gcc", *flags, *sources]
        subprocess.run(command, check=True, timeout=120)
        with EmulatedUno(elf) as uno:
            while (stats := uno.stats()).marked_spans < spans:
                if stats.faults or stats.cycles > DEADLINE_CYCLES:
                    raise RuntimeError(f"the program did not end: {stats}")
            return stats.marked_cycles


@click.command()
@click.option("--only", type=click.Choice(NAMES), help="One row.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, as_json: bool) -> None:
    """Print what each kernel takes at each size."""
    if not as_json:
        click.echo("| kernel | multiplications | cycles | each | planned | floor | ratio |")
        click.echo("|---|---|---|---|---|---|---|")
    for case in CASES:
        if only in (None, case.name):
            _show(measure_case(case), as_json=as_json)
    if only in (None, "gradients"):
        _show(measure_gradients(), as_json=as_json)
    for each in convolution_loop.CASES:
        if only in (None, each.name):
            _show(measure_convolution(each), as_json=as_json)


def _show(record: dict[str, Any], *, as_json: bool) -> None:
    click.echo(json.dumps(record) if as_json else _table_row(record))


def _table_row(record: dict[str, Any]) -> str:
    each = record["cycles"] / record["multiplications"]
    return (
        f"| {record['name']} | {record['multiplications']:,} | {record['cycles']:,} | {each:.2f} "
        f"| {record['planned']:,} | {record['floor']:,} | {record['ratio']:.2f} |"
    )


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
