"""Write the golden files anew: ``python tests/codegen/renew_golden.py``; read the difference.

One program is there as a whole. Of a few others there is what stages of one kind render: of their
tables the first rows, and instructions in lines of several. That all stages are right is what
`tests/conformance` checks.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Callable
from functools import partial
from itertools import groupby
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
from conformance.decision import observing
from conformance.instances import KINDS, maker_of
from convolution_factory import random_convolution, random_model
from model_factory import (
    random_inputs,
    sharp,
    tiny_deskew_model,
    tiny_gradients_model,
    tiny_integer_model,
    tiny_pooling_model,
    tiny_windows_model,
)

from protonn_edge.chain.input_quantizer import InputQuantizer
from protonn_edge.codegen import render_c
from protonn_edge.codegen.planner import plan_of
from protonn_edge.features.pooling.integers import IntegerPooling
from protonn_edge.quantization import IntegerChain, quantize
from protonn_edge.system.files import write_atomically

GOLDEN = Path(__file__).parent / "golden"
WHOLE = "pnn_model"


class Case(NamedTuple):
    """A tiny chain, how it is computed, and the titles of the sections that are kept."""

    chain: Callable[[], IntegerChain]
    choices: dict[str, str]
    titles: tuple[str, ...]


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


def observed_linear() -> IntegerChain:
    """Return a linear chain whose answers are observed."""
    chain = linear_factory.tiny_chain()
    return observing(chain, random_inputs(1, 200, chain))


COLUMNS = {"projection": "columns"}
FORESTS = {"walk": "shares", "if-else": "scores"}
CASES = {
    WHOLE: Case(sure_model, COLUMNS, ()),
    "average_pooling": Case(tiny_pooling_model, COLUMNS, ("Average pooling",)),
    "deskew": Case(tiny_deskew_model, COLUMNS, ("Deskew",)),
    "gradients": Case(tiny_gradients_model, COLUMNS, ("Gradients",)),
    "window_features": Case(tiny_windows_model, COLUMNS, ("Window features",)),
    "audio": Case(audio_model, COLUMNS | {"feeding": "streamed"}, ("Audio",)),
    "convolution": Case(network, {"convolution": "packed"}, ("Convolution",)),
    "pooling": Case(network, {}, ("Pooling", "Pooling 2")),
    "dense": Case(
        dense_factory.tiny_chain, {"dense": "unrolled", "dense_2": "masked"}, ("Dense", "Dense 2")
    ),
    "observation": Case(observed_linear, {}, ("Decision",)),
    "linear": Case(packed_linear, {"linear": "packed"}, ("Linear",)),
    **{
        f"forest_{kernel}": Case(
            partial(forest_factory.tiny_chain, leaves), {"forest": kernel}, ("Forest",)
        )
        for kernel, leaves in FORESTS.items()
    },
    **{
        kind: Case(maker_of(kind).golden_chain, {}, (kind.replace("_", " ").capitalize(),))
        for kind in KINDS
        if hasattr(maker_of(kind), "golden_chain")
    },
}
"""By the names of their files; of the first one all is kept.

A kind with one way to be computed may bring its chain along, as ``conformance.KIND.golden_chain``.
All of them are compiled; the files of `READ` are also read.
"""

READ = (WHOLE, "linear", "forest_walk", "window_features")
"""Weights as instructions, a table that is walked, and a loop in C, beside the whole program."""


_ROWS = re.compile(
    r"(^ *(?:/\*[ \d]+\*/)?[-\d, ]+,\n)(?:^ *(?:/\*[ \d]+\*/)?[-\d, ]+,\n){3,}", re.MULTILINE
)
"""Of tables, the first of their rows."""


_BEGIN = 8 * " "
_INSTRUCTION = re.compile(r'^ +" +(\S[^"]*)\\n"$')


def joined(text: str) -> str:
    """Return C with instructions that follow each other in one line, as far as they fit."""
    lines: list[str] = []
    matches = ((line, _INSTRUCTION.match(line)) for line in text.splitlines())
    for plain, group in groupby(matches, key=lambda each: each[1] is None):
        if plain:
            lines += [line for line, _ in group]
            continue
        each = ("\xa0".join(match[1].split()) for _, match in group if match)
        wrapped = textwrap.wrap(
            "; ".join(each), 100, initial_indent=_BEGIN, subsequent_indent=_BEGIN
        )
        lines += [line.replace("\xa0", " ") for line in wrapped]
    return "".join(f"{line}\n" for line in lines)


def program(name: str) -> dict[str, str]:
    """Return the files of a case's program."""
    chain = CASES[name].chain()
    return render_c(chain, plan_of(chain, CASES[name].choices))


def golden(name: str) -> dict[str, str]:
    """Return the golden files of a case: its program, or the sections of it that are kept."""
    files, titles = program(name), CASES[name].titles
    if name == WHOLE:
        return files
    sections = re.split(r"^(?=/\* ---- )", files[f"{WHOLE}.c"], flags=re.MULTILINE)
    starts = tuple(f"/* ---- {title}: " for title in titles)
    kept = "".join(each for each in sections if each.startswith(starts))
    return {f"{name}.c": joined(_ROWS.sub(r"\1  ...\n", kept))}


if __name__ == "__main__":
    for old in GOLDEN.glob("*"):
        old.unlink()
    GOLDEN.mkdir(exist_ok=True)
    for case in READ:
        for file, text in golden(case).items():
            write_atomically(GOLDEN / file, text)
