"""The sketch *Measure* on the emulated Uno with Arduino's own core, beside the package's firmware.

Debian's core for the Uno (`arduino-core-avr`) is compiled as the Arduino IDE does it. Both programs
answer all test points of scikit-learn's digits. *Less* is by how many cycles the sketch's
predictions are shorter, which has to be the same at all points: the IDE's optimization while
linking puts the prediction into the function that measures, so that the call, its arguments and
some saved registers end; and the firmware counts its SEI, CLI and writes to GPIOR0.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from columns import Record, figure, named
from numpy.typing import NDArray
from runner import Benchmark, Case

from protonn_edge.chips.boards import load_board
from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.export import export
from protonn_edge.codegen.projects.project import trial_build
from protonn_edge.codegen.verification.agreement import verify_device, watched_board
from protonn_edge.data.points.splits import load_digits_dataset
from protonn_edge.learn.base import CLASSIFIERS
from protonn_edge.model.device_model import DeviceModel, with_integers


def _sketch(model: DeviceModel, folder: Path) -> Path:
    """Return the sketch's program."""
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from arduino_ide import LINK, WARNINGS, build_core, compile_source

    export(model, "arduino", folder / "digits", tries=False)
    sketch, source = folder / "digits" / "examples" / "Measure", folder / "digits" / "src"
    objects = [
        compile_source(each, folder / f"{each.name}.o", [sketch, source], *WARNINGS)
        for each in (*sketch.glob("*.[ci]*"), source / "pnn_model.c")
    ]
    elf = folder / "measure.elf"
    link: list[str | Path] = ["avr-gcc", *LINK, *objects, build_core(folder), "-lm", "-o", elf]
    subprocess.run(link, check=True)
    return elf


def measure(case: Case) -> Record:
    """Return the row of a kind of classifier."""
    data, board = load_digits_dataset(), load_board("uno")
    learner = CLASSIFIERS[case.name](random_state=0, **case.given)
    model = with_integers(learner.fit(data.X_train, data.y_train).to_model())
    Q = model.chain.quantize(np.asarray(data.X_test))
    cycles, differing = list[NDArray[np.int64]](), 0

    def run(url: str) -> None:
        nonlocal differing
        agreement, results = verify_device("emulated uno", url, model.chain, Q)
        differing += agreement.mismatches + agreement.lost
        cycles.append(np.array([result.cycles for result in results]))

    with trial_build(model, board) as trial:
        with watched_board(trial.program, trial.plan, board) as device:
            run(device.url)
        plan = trial.plan.kernel
    with TemporaryDirectory() as folder, EmulatedUno(_sketch(model, Path(folder))) as uno:
        run(uno.url)
    firmware, sketch = cycles
    less = sorted({*(firmware - sketch).tolist()})
    return {
        "model": case.name,
        "plan": plan,
        "n": len(Q),
        "mismatches": differing,
        "firmware": float(firmware.mean()),
        "sketch": float(sketch.mean()),
        "less": ", ".join(map(str, less)),
        "holds": len(less) == 1,
    }


BENCHMARKS = {
    "measure_sketch": Benchmark(
        "The sketch Measure beside the package's firmware.",
        [
            Case("protonn", {"n_projections": 10, "n_prototypes": 40}),
            *(Case(kind, {}) for kind in ("linear", "forest", "dense")),
        ],
        (
            *named("model", "plan"),
            figure("points", "n"),
            *named("mismatches"),
            figure("firmware, cycles", "firmware", ",.2f"),
            figure("sketch, cycles", "sketch", ",.2f"),
            *named("less"),
        ),
        measure,
    ),
}
