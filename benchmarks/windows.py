"""Raw windows of sensors classified by features that the device makes: accuracy, cycles, memory.

    python benchmarks/windows.py [--only NAME] [--windows N] [--json]

prints one row a data set: the features, the accuracy in floats and on the emulated Uno, beside that
of a model of the same size for averages of the samples (*averages %*, in integers); how many
windows were compared, and of these those on which host C or the Uno differ from NumPy; the cycles
of a sample (``pnn_push``, as a sketch calls it: the mean; and the plan's bound), of the window's
end (``pnn_finish``) and of a whole window in the firmware, with the bound;
microseconds and milliseconds; and what the firmware takes of the board.

The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
``har_raw.npz`` are windows of a phone's accelerometer and gyroscope, 128 x 6, which docs/sensors.md
explains how to make. The settings were chosen on parts of the training data.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from numpy.typing import NDArray
from printing import print_table
from rows import Row, chosen

from protonn_edge.chips.boards import Board, load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.renderer import render_c
from protonn_edge.codegen.verification.agreement import verify_device, verify_host
from protonn_edge.data.dataset import Dataset
from protonn_edge.device.results import Result
from protonn_edge.features.window_features.integers import IntegerWindowFeatures
from protonn_edge.kinds.protonn.train.classifier import ProtoNNClassifier
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.model.integer_chain import IntegerChain, stage_of
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import ProtoNNEdgeError

_IN_FLASH = 12_000  # bytes of windows for the sketch
_DEADLINE_CYCLES = 10**9

# Pushes windows from flash one sample at a time, as a sketch does with those of a sensor.
_SKETCH = """
#include <avr/io.h>
#include <avr/pgmspace.h>
#include "pnn_model.h"
static const uint8_t windows[][PNN_FEATURES] PROGMEM = { WINDOWS };
int main(void)
{
    for (uint8_t w = 0; w < sizeof windows / sizeof *windows; ++w) {
        pnn_begin();
        for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
            const uint8_t sample = pgm_read_byte(&windows[w][i]);
            GPIOR0 = PUSH;
            pnn_push(sample);
            GPIOR0 = 0;
        }
        GPIOR0 = !PUSH;
        (void)pnn_finish();
        GPIOR0 = 0;
    }
    for (;;) {
    }
}
"""


@dataclass(frozen=True)
class Case(Row):
    """A row; `averages` are the settings of the model that averages samples instead."""

    averages: dict[str, Any] = field(default_factory=dict)


CASES = [
    Case(
        "magic_wand",
        "magic_wand.npz",
        {
            "n_projections": 10,
            "n_prototypes": 20,
            "input_noise": 0.5,
            "features": "mean,min,max,bands:6",
            "window_shape": (119, 6),
        },
        {"image_shape": (119, 6), "features": "pool:17x6"},
    ),
    Case(
        "har",
        "har_raw.npz",
        {
            "n_projections": 10,
            "n_prototypes": 30,
            "features": "mean,min,max,crossings:2,bands:5",
            "window_shape": (128, 6),
        },
        {"image_shape": (128, 6), "features": "pool:16x6"},
    ),
    Case(
        "ecg5000",
        "ecg5000.npz",
        {
            "n_projections": 8,
            "n_prototypes": 20,
            "input_noise": 0.4,
            "features": "mean,deviation,min,max,change,crossings:4,bands:7",
        },
        {"image_shape": (1, 140), "features": "pool:1x35"},
    ),
]
COLUMNS = [
    ("windows", lambda r: r["name"]),
    ("samples x channels", lambda r: f"{r['window']} x {r['channels']}"),
    ("features", lambda r: f"{r['n_features']}: {', '.join(r['features'].split(','))}"),
    ("d, m, L", lambda r: ", ".join(str(size) for size in r["sizes"])),
    ("float %", lambda r: f"{100 * r['float_accuracy']:.2f}"),
    ("Uno %", lambda r: f"{100 * r['accuracy']:.2f}"),
    ("averages %", lambda r: f"{100 * r['averages_accuracy']:.2f}"),
    ("test windows", lambda r: f"{r['n']:,}"),
    ("compared", lambda r: f"{r['compared']:,}"),
    ("mismatches", lambda r: f"{r['mismatches'] + r['lost']}"),
    ("cycles a sample", lambda r: f"{r['sample']['mean']:,.0f}"),
    ("at the end", lambda r: f"{r['end']['mean']:,.0f}"),
    ("a window (max)", lambda r: f"{r['cycles']['mean']:,.0f} ({r['cycles']['max']:,})"),
    ("us a sample", lambda r: f"{r['sample']['us']:.1f}"),
    ("ms a window", lambda r: f"{r['latency_ms']['mean']:.2f}"),
    ("flash B", lambda r: f"{r['flash_bytes']:,}"),
    ("SRAM + stack B", lambda r: f"{r['sram_bytes']} + {r['stack_bytes']}"),
]


def measure_case(case: Case, dataset: Dataset, seed: int, windows: int) -> dict[str, Any]:
    """Train, build, and run windows: those of the test part first, then those of training."""
    board = load_board("uno")
    X_test = dataset.X_test
    model, _ = case.train(dataset, seed)
    reference = quantize(model)
    stage = stage_of(reference, IntegerWindowFeatures).window
    every = np.concatenate([X_test, dataset.X_train])[:windows]
    Q = reference.quantize(every)
    with trial_build(model, board) as trial, EmulatedUno(trial.elf) as uno:
        on_uno, results = verify_device("emulated uno", uno.url, reference, Q)
        plan, usage = trial.plan, trial.usage
    assert isinstance(plan, Plan)
    on_host = verify_host(reference, Q)
    predicted = reference.predict(reference.quantize(X_test))
    return {
        "name": case.name,
        "features": stage.features.text,
        "window": stage.window,
        "channels": stage.channels,
        "n_features": reference.n_inputs,
        "sizes": [*(size.number for size in model.sizes), model.n_classes],
        "float_accuracy": share_right(model.predict(X_test), dataset.y_test),
        "accuracy": share_right(predicted, dataset.y_test),
        "averages_accuracy": _averages_accuracy(case, dataset, seed),
        "n": len(X_test),
        "compared": len(Q),
        "mismatches": on_uno.mismatches + on_host.mismatches,
        "lost": on_uno.lost,
        **_cycles(results, board),
        **_sketch_cycles(reference, plan, Q, board),
        "flash_bytes": usage.flash_bytes,
        "sram_bytes": usage.sram_bytes,
        "stack_bytes": usage.stack_bytes,
        "model_sha256": reference.model_sha256,
    }


def _averages_accuracy(case: Case, dataset: Dataset, seed: int) -> float:
    """Return the accuracy, in integers, of a model of the same size for averages of samples."""
    left_out = ("features", "window_shape")
    settings = {name: value for name, value in case.settings.items() if name not in left_out}
    classifier = ProtoNNClassifier(random_state=seed, **settings, **case.averages)
    reference = quantize(classifier.fit(dataset.X_train, dataset.y_train).to_model())
    Q = reference.quantize(dataset.X_test)
    return share_right(reference.predict(Q), dataset.y_test)


def _cycles(results: list[Result], board: Board) -> dict[str, Any]:
    """Return the cycles of a window in the firmware, which pushes a few samples at once."""
    cycles = [result.cycles or 0 for result in results]
    mean, most = float(np.mean(cycles)), max(cycles)
    per_ms = board.clock_hz / 1000
    return {
        "cycles": {"mean": mean, "max": most, "min": min(cycles)},
        "latency_ms": {"mean": mean / per_ms, "max": most / per_ms, "min": min(cycles) / per_ms},
    }


def _sketch_cycles(
    model: IntegerChain, plan: Plan, Q: NDArray[np.uint8], board: Board
) -> dict[str, Any]:
    """Return the mean cycles of ``pnn_push`` and of ``pnn_finish`` on as many windows as fit."""
    some = Q[: max(1, _IN_FLASH // model.n_features)]
    push = _marked(model, plan, some, push=1) / some.size
    end = _marked(model, plan, some, push=0) / len(some)
    per_us = board.clock_hz / 1e6
    return {
        "sample": {"mean": push, "us": push / per_us},
        "end": {"mean": end, "us": end / per_us},
    }


def _marked(model: IntegerChain, plan: Plan, Q: NDArray[np.uint8], push: int) -> int:
    """Return the cycles within all marked spans of the sketch."""
    spans = Q.size if push else len(Q)
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        rows = ", ".join("{" + ", ".join(map(str, row)) + "}" for row in Q.tolist())
        program = _SKETCH.replace("WINDOWS", rows)
        for name, text in {**render_c(model, plan), "main.c": program}.items():
            (folder / name).write_text(text)
        flags = ["-mmcu=atmega328p", "-std=gnu99", "-O2", f"-DPUSH={push}"]
        sources = [str(folder / name) for name in ("main.c", "pnn_model.c")]
        command = ["avr-gcc", *flags, "-o", str(folder / "sketch.elf"), *sources]
        subprocess.run(command, check=True, timeout=120)
        with EmulatedUno(folder / "sketch.elf") as uno:
            while (stats := uno.stats()).marked_spans < spans:
                assert stats.cycles < _DEADLINE_CYCLES, stats
    return stats.marked_cycles


@click.command()
@click.option("--only", type=click.Choice([case.name for case in CASES]), help="One row.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--windows", type=click.IntRange(1), default=1_000, show_default=True, help="To compare."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, seed: int, windows: int, as_json: bool) -> None:
    """Print what windows of sensors take on the emulated Uno, and how well they are classified."""
    records = (measure_case(case, dataset, seed, windows) for case, dataset in chosen(CASES, only))
    print_table(records, COLUMNS, as_json)


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
