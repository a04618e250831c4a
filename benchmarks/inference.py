"""The cost of a prediction: every test point on the emulated Uno, with the chip's limits.

    python benchmarks/inference.py [--only NAME] [--json]

prints one row a model: its plan, the cycles (mean, most, and the bound),
milliseconds and millijoules of one prediction, what the firmware takes of the board, the accuracy
in floats and on the Uno, and points on which host C or the Uno differ from the NumPy model. *over
worst* is the bound over the most found by searching for bad inputs (`tests/worst_inputs.py`).
*floor* is the mean cycles over that of the multiplications that the same points need, at the least
that one takes on this chip (see `floor_cycles`); where weights are instructions, those of one size
share a product, so that it may be below 1. *library* is what a program takes more with
``pnn_predict`` and all features in SRAM, or with ``pnn_push`` for each as it arrives: flash, SRAM
and stack. The float build of the first model has in *times* how much longer it takes than the
integer build.

The data is read from the folder that PROTONN_EDGE_DATA names (default ../shared/data).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from protonn_edge.extensions.precision.model import float_build
from protonn_edge.model.integer_chain import own_inputs, stage_of

sys.path.append(str(Path(__file__).parents[1] / "tests"))

import rounding  # noqa: F401 - before NumPy
import click
import numpy as np
from numpy.typing import NDArray
from on_uno import run_on_uno
from presets import PRESETS, Preset
from printing import print_table
from rows import chosen
from worst_inputs import worst_inputs

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.avr.stack import worst_case_stack
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.kernels.matvec.kernels import KernelName
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.projects.project import BuildOptions, Trial
from protonn_edge.codegen.renderer import render_c
from protonn_edge.codegen.verification.agreement import verify_device
from protonn_edge.data.dataset import Dataset
from protonn_edge.kinds.projection.integers import IntegerProjection
from protonn_edge.kinds.protonn.prototypes.integers import IntegerPrototypes
from protonn_edge.learn.evaluation.accuracy import share_right
from protonn_edge.model.device_model import DeviceModel
from protonn_edge.model.formulas import arrays_of
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model
from protonn_edge.model.quantization import quantize
from protonn_edge.system.errors import CheckFailed, ProtoNNEdgeError

# The least that a multiplication takes, with what it needs: a coefficient from flash (3 cycles),
# the product (2), and its sum (1 for each byte); one more for the difference in a distance.
WEIGHT_CYCLES = {16: 7, 24: 8, 32: 9}
COORDINATE_CYCLES = 8
LABEL_CYCLES = 7

_ROWS_AT_ONCE = 256
_BAD_INPUTS = 8

# A program with a variable of its own, that has features come from a port.
_USER = """
#include <avr/io.h>
#include "pnn_model.h"
#ifdef PREDICT
static pnn_input_t features[PNN_FEATURES];
#endif
static volatile uint8_t answer = 1;
int main(void)
{
    for (;;) {
#ifdef PREDICT
        for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
            features[i] = PIND;
        }
        answer = USED ? pnn_predict(features) : features[answer];
#elif USED
        pnn_begin();
        for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
            pnn_push(PIND);
        }
        answer = pnn_finish();
#else
        for (uint16_t i = 0; i < PNN_FEATURES; ++i) {
            answer = PIND;
        }
#endif
    }
}
"""


@dataclass(frozen=True)
class Case(Preset):
    """A row; `kernel` forces a plan, `precision` is that of the build."""

    kernel: KernelName | None = None
    precision: str = "int8"


def _case(
    name: str,
    preset: str,
    *,
    kernel: KernelName | None = None,
    precision: str = "int8",
    **settings: Any,
) -> Case:
    """Return a row for one of the models whose accuracy `accuracy.py` measures."""
    model = next(each for each in PRESETS if each.name == preset)
    return Case(
        name,
        model.file,
        {**model.settings, **settings},
        halves=model.halves,
        kernel=kernel,
        precision=precision,
    )


# Chosen for few cycles, on points held out of the training data and not without having seen test
# points. The first costs 0.4 points there beside the default settings, and 1 on the test points.
_CHEAP: dict[str, Any] = {"gamma_numerator": 2.0}
_SPARSE: dict[str, Any] = {"gamma_numerator": 5.0, "sparsity_projection": 0.3}

CASES = [
    _case("usps10-columns", "usps10-small", kernel="columns", **_CHEAP),
    _case("usps10", "usps10-small", **_CHEAP),
    _case("usps10-sparse", "usps10-small", **_SPARSE),
    _case("mnist10", "mnist10"),
    _case("mnist10-gradients", "mnist10-gradients"),
    _case("mnist10-gradients-5kB", "mnist10-gradients-5kB"),
    _case("mnist10-gradients-2kB", "mnist10-gradients-2kB"),
    _case("mnist10-gradients-2kB-packed", "mnist10-gradients-2kB", kernel="packed"),
    _case("mnist10-gradients-fast", "mnist10-gradients-fast"),
    _case("mnist2-gradients-2kB", "mnist2-gradients-2kB"),
    _case("usps10-gradients", "usps10-gradients"),
    _case("usps10-gradients-2kB", "usps10-gradients-2kB"),
    _case("letter26", "letter26"),
    _case("har", "har"),
    _case("usps10-float", "usps10-small", precision="float32", **_CHEAP),
]
COLUMNS = [
    ("model", lambda r: r["name"]),
    ("D, d, m, L", lambda r: ", ".join(str(size) for size in r["sizes"])),
    ("plan", lambda r: r["plan"]["kernel"]),
    ("cycles mean (max)", lambda r: f"{r['cycles']['mean']:,.0f} ({r['cycles']['max']:,})"),
    ("bound", lambda r: _count(r["bound"])),
    ("over worst", lambda r: _times(r["bound_ratio"])),
    ("floor", lambda r: _times(r["floor_ratio"])),
    ("ms", lambda r: f"{r['latency_ms']['mean']:.2f}"),
    ("mJ", lambda r: f"{r['energy_mj']['mean']:.3f}"),
    ("flash B", lambda r: f"{r['flash_bytes']:,}"),
    ("SRAM + stack B", lambda r: f"{r['sram_bytes']} + {r['stack_bytes']}"),
    ("library B", lambda r: _library(r["library"])),
    ("float %", lambda r: f"{100 * r['float_accuracy']:.2f}"),
    ("Uno %", lambda r: f"{100 * r['accuracy']:.2f}"),
    ("points", lambda r: f"{r['n']:,}"),
    ("mismatches", lambda r: f"{r['mismatches'] + r['lost']}"),
    ("times", lambda r: _times(r.get("slower"))),
]


class Models:
    """Trained models: those of the rows that differ in the build alone are trained once."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._trained: dict[str, Model] = {}

    def of(self, case: Case, dataset: Dataset) -> Model:
        """Return the model of a row."""
        key = repr((case.file, sorted(case.settings.items())))
        if key not in self._trained:
            self._trained[key] = case.train(dataset, self._seed)[0]
        return self._trained[key]


def measure_case(case: Case, dataset: Dataset, model: Model) -> dict[str, Any]:
    """Build a model and run all test points; mismatches count both the host's C and the Uno."""
    reference = (float_build if case.precision == "float32" else quantize)(model)
    record = _run(DeviceModel(model, reference), dataset, BuildOptions(kernel=case.kernel))
    if case.precision == "float32":
        integers = _run(model, dataset, BuildOptions())
        record["slower"] = record["cycles"]["mean"] / integers["cycles"]["mean"]
    return {
        "name": case.name,
        "precision": case.precision,
        "sizes": [
            model.n_features,
            *(size.number for size in model.sizes),
            model.n_classes,
        ],
        "float_accuracy": share_right(model.predict(dataset.X_test), dataset.y_test),
        **record,
    }


def _run(model: Model | DeviceModel, dataset: Dataset, options: BuildOptions) -> dict[str, Any]:
    on_uno = run_on_uno(model, dataset, options, _beside)
    record, reference = on_uno.record, on_uno.reference
    if not reference.score_tolerance:
        record["floor_cycles"] = floor_cycles(reference, dataset.X_test)
        record["floor_ratio"] = record["cycles"]["mean"] / record["floor_cycles"]
    return record


def _beside(trial: Trial, reference: IntegerChain, _Q: NDArray[np.uint8]) -> dict[str, Any]:
    """Return what only integers have: the most cycles that were found, and the library's sizes."""
    figures = dict.fromkeys(("floor_cycles", "floor_ratio", "bound_ratio", "library"))
    if isinstance(trial.plan, Plan):
        worst = _worst_cycles(reference, trial.plan, trial.elf)
        figures |= {
            "worst_found": worst,
            "bound_ratio": trial.possible.most / worst,
            "library": library_sizes(reference, trial.plan),
        }
    return figures


def _worst_cycles(model: IntegerChain, plan: Plan, elf: Path) -> int:
    """Return the most cycles that inputs take that were searched to take many."""
    hard = worst_inputs(model, plan, _BAD_INPUTS)
    with EmulatedUno(elf) as uno:
        agreement, results = verify_device("emulated uno", uno.url, model, hard)
    if agreement.mismatches + agreement.lost:
        raise CheckFailed(f"the emulated Uno differs on bad inputs: {agreement.first}")
    return max(result.cycles or 0 for result in results)


def library_sizes(model: IntegerChain, plan: Plan) -> dict[str, dict[str, int]]:
    """Return flash, SRAM and stack of the library: what a program takes with it, less without."""
    sizes = {}
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, text in {**render_c(model, plan), "main.c": _USER}.items():
            (folder / name).write_text(text)
        for name, macro in (("buffered", "PREDICT"), ("streaming", "PUSH")):
            with_it, without = _linked(folder, macro, 1), _linked(folder, macro, 0)
            # The buffer is in both programs; it is the library that wants it.
            buffer = model.n_features if name == "buffered" else 0
            sizes[name] = {
                "flash": with_it[0] - without[0],
                "sram": with_it[1] - without[1] + buffer,
                "stack": with_it[2] - without[2],
            }
    return sizes


def _linked(folder: Path, macro: str, used: int) -> tuple[int, int, int]:
    """Return flash, SRAM and stack of a program that uses the library, or does not."""
    elf = folder / f"{macro}-{used}.elf"
    flags = ["-mmcu=atmega328p", "-std=gnu99", "-O2", "-ffunction-sections", "-fdata-sections"]
    macros = [f"-D{macro}", f"-DUSED={used}", "-Wl,--gc-sections"]
    sources = [str(folder / name) for name in ("main.c", "pnn_model.c")]
    command = ["avr-gcc", *flags, *macros, "-o", str(elf), *sources]
    subprocess.run(command, check=True, timeout=120)
    program = read_program(elf)
    flash, sram = program.sections.flash_bytes, program.sections.sram_bytes
    return flash, sram, worst_case_stack(program).bytes


def floor_cycles(model: IntegerChain, X: NDArray[np.float32]) -> float:
    """Return the mean cycles that the multiplications of points X (n, D) take at the least.

    Counted are those that cannot be left out: weights of inputs that are not 0, coordinates of
    prototypes until they are far, labels of those that are near. Weights, coordinates and labels
    that are 0 themselves count, but not in a sparse projection.
    """
    fed = model.quantize(X)
    return float(np.mean([cycles for part in _parts(fed) for cycles in _floors(model, part)]))


def _parts(Q: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
    yield from (Q[i : i + _ROWS_AT_ONCE] for i in range(0, len(Q), _ROWS_AT_ONCE))


def _floors(model: IntegerChain, fed: NDArray[np.uint8]) -> NDArray[np.int64]:
    inputs = own_inputs(model, fed)
    weights = (inputs != 0) @ np.count_nonzero(stage_of(model, IntegerProjection).weights, axis=0)
    P = stage_of(model, IntegerProjection).run(inputs)
    difference = P[:, None, :] - stage_of(model, IntegerPrototypes).prototypes.T.astype(np.int64)
    squares = np.cumsum(np.square(difference), axis=2)
    passed = np.count_nonzero(squares < stage_of(model, IntegerPrototypes).distance_limit, axis=2)
    looked_at = np.minimum(passed + 1, stage_of(model, IntegerProjection).n_outputs).sum(axis=1)
    near = np.count_nonzero(arrays_of(stage_of(model, IntegerPrototypes).similarities, P), axis=1)
    total: NDArray[np.int64] = (
        WEIGHT_CYCLES[stage_of(model, IntegerProjection).accumulator_bits] * weights
        + COORDINATE_CYCLES * looked_at
        + LABEL_CYCLES * model.n_classes * near
    )
    return total


@click.command()
@click.option("--only", type=click.Choice([case.name for case in CASES]), help="One row.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def main(only: str | None, seed: int, as_json: bool) -> None:
    """Print what a prediction takes on the emulated Uno."""
    models = Models(seed)
    records = (
        measure_case(case, dataset, models.of(case, dataset))
        for case, dataset in chosen(CASES, only)
    )
    print_table(records, COLUMNS, as_json)


def _count(cycles: float | None) -> str:
    return "" if cycles is None else f"{cycles:,.0f}"


def _library(sizes: dict[str, Any] | None) -> str:
    if sizes is None:
        return ""
    return ", ".join(
        f"{name} {size['flash']:,} {size['sram']} + {size['stack']}" for name, size in sizes.items()
    )


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}x"


if __name__ == "__main__":
    try:
        main()
    except ProtoNNEdgeError as error:
        sys.exit(f"error: {error}")
