"""Networks of fully connected layers in CMSIS-NN's functions, with 8-bit integers as in TFLite.

CMSIS-NN is not part of this project: its folder, with `Include` and `Source`, is given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bare_program import NotThere, Source
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

_FILES = (
    "Source/FullyConnectedFunctions/arm_fully_connected_s8.c",
    "Source/NNSupportFunctions/arm_nn_vec_mat_mult_t_s8.c",
)
_MAIN = """
#include "classify.h"
#include "arm_nnfunctions.h"

{layers}
uint8_t classify(const feature_t *features)
{{
    const cmsis_nn_context context = {{0}};
{calls}
    uint8_t best = 0;
    for (uint8_t i = 1; i < {outputs}; ++i) {{
        if (out{last}[i] > out{last}[best]) {{ best = i; }}
    }}
    return best;
}}
"""
_LAYER = """
static const int8_t weights{i}[] = {{ {weights} }};
static const int32_t bias{i}[] = {{ {bias} }};
static int8_t out{i}[{n_out}];
"""
_CALL = """
    const cmsis_nn_fc_params params{i} = {{ {input_offset}, 0, {output_offset}, {{ -128, 127 }} }};
    const cmsis_nn_per_tensor_quant_params quant{i} = {{ {multiplier}, {shift} }};
    const cmsis_nn_dims in{i} = {{ 1, 1, 1, {n_in} }}, filter{i} = {{ {n_in}, 1, 1, {n_out} }};
    const cmsis_nn_dims biases{i} = {{ 1, 1, 1, {n_out} }}, made{i} = {{ 1, 1, 1, {n_out} }};
    arm_fully_connected_s8(&context, &params{i}, &quant{i}, &in{i}, {source}, &filter{i},
                           weights{i}, &biases{i}, bias{i}, &made{i}, out{i});
"""


@dataclass(frozen=True)
class Layer:
    """Weights (inputs, outputs) and bias of a layer, and whether a ReLU follows."""

    weights: Floats
    bias: Floats
    relu: bool


def check_sources(folder: Path | None) -> None:
    """Raise `NotThere` without the sources."""
    if folder is None or not (folder / "Include").is_dir():
        raise NotThere("not given: --cmsis-nn FOLDER, with CMSIS-NN's Include and Source")


def network(folder: Path, layers: list[Layer], X: Floats, X_test: Floats) -> Source:
    """Return a network of features X (n, D) that are at least 0.

    A tensor has one scale, as in TFLite: of activations, by the points X.
    """
    step, zero = X.max() / 255, -128
    points = np.rint(X_test / step + zero).astype(np.int8)
    known, texts, calls = X, [], []
    for i, layer in enumerate(layers):
        known = known @ layer.weights + layer.bias
        known = np.maximum(known, 0) if layer.relu else known
        low, high = min(0.0, float(known.min())), float(known.max())
        made = (high - low) / 255
        made_zero = round(-128 - low / made)
        unit = float(np.abs(layer.weights).max()) / 127
        mantissa, exponent = math.frexp(step * unit / made)
        n_in, n_out = layer.weights.shape
        numbers = {
            "weights": np.rint(layer.weights.T / unit).astype(int),
            "bias": np.rint(layer.bias / (step * unit)).astype(int),
        }
        shown = {name: ", ".join(map(str, each.ravel())) for name, each in numbers.items()}
        texts.append(_LAYER.format(i=i, n_out=n_out, **shown))
        calls.append(
            _CALL.format(
                i=i,
                n_in=n_in,
                n_out=n_out,
                input_offset=-zero,
                output_offset=made_zero,
                multiplier=round(mantissa * (1 << 31)),
                shift=exponent,
                source=f"out{i - 1}" if i else "features",
            )
        )
        step, zero = made, made_zero
    last = len(layers) - 1
    code = _MAIN.format(
        layers="".join(texts), calls="".join(calls), outputs=layers[-1].bias.size, last=last
    )
    files = {"classify.c": code} | {Path(each).name: (folder / each).read_text() for each in _FILES}
    return Source("s8", "int8_t", points, files, folder / "Include")
