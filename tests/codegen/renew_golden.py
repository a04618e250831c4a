"""Write the golden files anew: ``python tests/codegen/renew_golden.py``; read the difference.

One program is there to be read. The others are compiled; that all stages are right is what
`tests/conformance` checks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from protonn_edge.features.convolution.making import layered

sys.path.insert(0, str(Path(__file__).parents[1]))

import dense_factory
import forest_factory
import linear_factory
from audio_factory import audio_of
from chains import numbers_of, replace
from conformance.instances import KINDS, maker_of
from convolution_factory import random_convolution, random_model
from extension_parts import additions
from model_factory import (
    sharp,
    tiny_deskew_model,
    tiny_gradients_model,
    tiny_integer_model,
    tiny_pooling_model,
    tiny_windows_model,
)

from protonn_edge.codegen.planner import plan_of
from protonn_edge.codegen.renderer import render_c
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.model.input_quantizer import InputQuantizer
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize
from protonn_edge.system.files import write_atomically

GOLDEN = Path(__file__).parent / "golden"
WHOLE = "pnn_model"


class Case(NamedTuple):
    """A tiny chain, and how it is computed."""

    chain: Callable[[], IntegerChain]
    choices: dict[str, str]


def sure_model() -> IntegerChain:
    """Return a chain that knows how sure it is."""
    return sharp(tiny_integer_model(), 8.0)


def audio_model() -> IntegerChain:
    """Return a chain for two frames of three bands."""
    inputs = InputQuantizer(zero=np.zeros(6), step=np.ones(6), maximum=127)
    return replace(tiny_integer_model(), inputs=inputs, features=audio_of(3, 2, 128))


def network() -> IntegerChain:
    """Return a convolution, and both ways of pooling."""
    layers = (
        random_convolution(0, (4, 4, 1), 1, padded=True, to_even=True, weight_bits=4),
        IntegerPooling((4, 4, 1), (2, 2), "maximum", 15),
        IntegerPooling((2, 2, 1), (2, 2), "average", 15),
    )
    return quantize(random_model(layered(layers)))


def packed_linear() -> IntegerChain:
    """Return a linear chain whose weights fit 4 bits."""
    chain = linear_factory.tiny_chain()
    return replace(chain, weights=np.clip(numbers_of(chain)["weights"], -7, 7))


COLUMNS = {"projection": "columns"}
FORESTS = {"walk": "shares", "if-else": "scores"}
CASES = {
    WHOLE: Case(sure_model, COLUMNS),
    "average_pooling": Case(tiny_pooling_model, COLUMNS),
    "deskew": Case(tiny_deskew_model, COLUMNS),
    "gradients": Case(tiny_gradients_model, COLUMNS),
    "window_features": Case(tiny_windows_model, COLUMNS),
    "audio": Case(audio_model, COLUMNS | {"feeding": "streamed"}),
    "convolution": Case(network, {"convolution": "packed"}),
    "dense": Case(dense_factory.tiny_chain, {"dense": "unrolled", "dense_2": "columns"}),
    "linear": Case(packed_linear, {"linear": "packed"}),
    **{
        f"forest_{kernel}": Case(partial(forest_factory.tiny_chain, leaves), {"forest": kernel})
        for kernel, leaves in FORESTS.items()
    },
    **{
        kind: Case(maker_of(kind).golden_chain, {})
        for kind in KINDS
        if hasattr(maker_of(kind), "golden_chain")
    },
    **{name: Case(chain, {}) for name, chain in additions("golden").items()},
}
"""By their names; the files of the first one are read.

A kind with one way to be computed may bring its chain along, as ``conformance.KIND.golden_chain``;
extensions add others.
"""


def program(name: str) -> dict[str, str]:
    """Return the files of a case's program."""
    chain = CASES[name].chain()
    return render_c(chain, plan_of(chain, CASES[name].choices))


if __name__ == "__main__":
    for old in GOLDEN.glob("*"):
        old.unlink()
    GOLDEN.mkdir(exist_ok=True)
    for file, text in program(WHOLE).items():
        write_atomically(GOLDEN / file, text)
