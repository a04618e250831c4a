"""Put faults into sketches that use what a model of numbers, sets or classes says: none is proven.

    PYTHONPATH=tests python -m extensions.proof.equality.sketches [--count FAULTS] [--seed SEED]

A sketch asks for what follows from the scores: ``pnn_value``, ``pnn_top`` and ``pnn_has_label``, or
``pnn_confidence``. No function that returns the scores is left in it: compilers inline that, and
with -flto nearly all. Faults are those of `faults`, in what a prediction executes and reads. Each
program runs on the emulated Uno, with a fault and without one: a program that is proven sends what
the right one sends, and the faults that change what is sent are counted.
"""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import numpy as np
from extensions.proof.equality.faults import OUTPUT, Subject

from protonn_edge import ForestRegressor, LinearClassifier, LinearRegressor, ProtoNNClassifier
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.quantization import quantize

POINTS = 60
_SECTIONS = "-Os -ffunction-sections -fdata-sections -Wl,--gc-sections"
FLAGS = (_SECTIONS, f"{_SECTIONS} -flto")
_BYTES = 5  # that are sent for a point
PROGRAM = f"""
#include "pnn_model.h"
#include "{OUTPUT}"
static uint32_t state = 1;
static pnn_input_t features[PNN_FEATURES];
int main(void)
{{
    begin();
    for (uint8_t point = 0; point < {POINTS}; ++point) {{
        for (uint16_t i = 0; i < PNN_FEATURES; ++i) {{
            state = state * 1664525u + 1013904223u;
            features[i] = (uint8_t)(state >> 24) & PNN_INPUT_MAXIMUM;
        }}
        const uint8_t label = pnn_predict(features);
        ASKING
    }}
    end();
}}
"""
_VALUE = "const int32_t value = pnn_value(); send(label, &value, 4);"
_SETS = """
        uint8_t labels[4] = {0};
        pnn_top(3, labels);
        labels[3] = pnn_has_label(0) | pnn_has_label(1) << 1 | pnn_has_label(2) << 2;
        send(label, labels, 4);
"""
_CONFIDENCE = "const uint8_t sure[4] = {pnn_confidence()}; send(label, sure, 4);"
ASKING = {
    "numbers, linear": _VALUE,
    "numbers, forest": _VALUE,
    "sets, ProtoNN": _SETS,
    "classes, linear": _CONFIDENCE,
}
"""What a sketch asks, by the name of its model."""


@cache
def model_of(name: str) -> IntegerChain:
    """Return a small model."""
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 255, (240, 8))
    sums = X @ rng.normal(size=(8, 4))
    if name == "numbers, linear":
        estimator, y = LinearRegressor(random_state=0), sums[:, 0]
    elif name == "numbers, forest":
        estimator, y = ForestRegressor(n_trees=3, size_budget=800, random_state=0), sums[:, 0]
    elif name == "sets, ProtoNN":
        small = {"n_projections": 4, "n_prototypes": 6, "epochs": 10, "random_state": 0}
        estimator, y = ProtoNNClassifier(**small), (sums > np.median(sums, axis=0)).astype(int)
    else:
        estimator, y = LinearClassifier(random_state=0), sums.argmax(axis=1)
    return quantize(estimator.fit(X, y).to_model())


class Sketch(Subject):
    """A sketch, into which faults are put; all run on the emulated Uno."""

    sampled, tried = 1, POINTS

    def expected(self) -> list[bytes]:
        """Return what the sketch sends for each point without a fault."""
        sent, _ = self.run(POINTS * _BYTES)
        return [sent[at : at + _BYTES] for at in range(0, len(sent), _BYTES)]


def tallied(name: str, flags: str, count: int, seed: int = 0) -> Counter[str]:
    """Return what becomes of faults in a sketch, until `count` have changed what it sends."""
    tally, rng = Counter[str](), random.Random(f"{name} {flags} {seed}")
    with TemporaryDirectory() as folder:
        text = PROGRAM.replace("ASKING", ASKING[name])
        sketch = Sketch(model_of(name), None, text, Path(folder), flags)
        assert not sketch.program.names.copies_of("pnn_scores")
        for number, fault in enumerate(sketch.faults(rng)):
            tally[sketch.judged(*fault, number)] += 1
            if sum(n for end, n in tally.items() if end in (DIFFERS, MISSED)) >= count:
                return tally
    raise AssertionError("faults have no end")


MISSED, DIFFERS = "MISSED", "not proven: the emulated Uno differs"


@click.command()
@click.option("--count", default=38, show_default=True, help="Faults that change an answer, each.")
@click.option("--seed", default=0, show_default=True)
def main(count: int, seed: int) -> None:
    """Print what becomes of faults."""
    total: Counter[str] = Counter()
    for name in ASKING:
        for flags in FLAGS:
            tally = tallied(name, flags, count, seed)
            total += tally
            click.echo(f"{name}, {'-flto' if 'flto' in flags else '-Os'}: {dict(tally)}")
    click.echo(f"all {total.total():,}: {dict(total)}")


if __name__ == "__main__":
    main()
