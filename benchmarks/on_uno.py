"""A model on the emulated Uno: all test points, there and on the host, compared with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from printing import Columns, Record, accuracy_cell

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.plan import DevicePlan
from protonn_edge.codegen.projects.project import BuildOptions, Trial, trial_build
from protonn_edge.codegen.verification.agreement import verify_device, verify_host, watched_board
from protonn_edge.data.dataset import Dataset
from protonn_edge.learn.evaluation.measurement import measure
from protonn_edge.model.device_model import DeviceModel, with_integers
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model

CHECKED: Columns = [
    ("points", lambda r: f"{r['n']:,}"),
    ("mismatches", lambda r: f"{r['mismatches'] + r['lost']}"),
]
CYCLES_COLUMN = (
    "cycles mean (max)",
    lambda r: f"{r['cycles']['mean']:,.0f} ({r['cycles']['max']:,})",
)
BOUND_COLUMN = ("bound", lambda r: f"{r['bound']:,}")
CYCLES: Columns = [
    CYCLES_COLUMN,
    BOUND_COLUMN,
]
ACCURACY_COLUMN = ("Uno %", accuracy_cell)
BYTES_COLUMN = ("bytes", lambda r: f"{r['model_bytes']:,}")
MS_COLUMN = ("ms", lambda r: f"{r['latency_ms']['mean']:.2f}")
FLASH_COLUMN = ("flash B", lambda r: f"{r['flash_bytes']:,}")
SECONDS_COLUMN = ("s", lambda r: f"{r['seconds']:.0f}")
TAKEN: Columns = [
    MS_COLUMN,
    FLASH_COLUMN,
    ("SRAM B", lambda r: f"{r['sram_bytes']} + {r['stack_bytes']}"),
    SECONDS_COLUMN,
]

Beside = Callable[[Trial, IntegerChain, NDArray[np.uint8]], Record]
"""What else is to be found out of a build, its reference, and the points that it is sent."""


@dataclass(frozen=True, eq=False)
class OnUno:
    """What came of it.

    Attributes
    ----------
    reference : IntegerChain
        What NumPy computes.
    Q : ndarray of shape (n, features), uint8
        The test points as the device is sent them.
    plan : DevicePlan
        How the program computes; means of integers are for these points.
    record : dict
        What was measured, for JSON; mismatches count both host C and the Uno.
    """

    reference: IntegerChain
    Q: NDArray[np.uint8]
    plan: DevicePlan
    record: Record


def run_on_uno(
    model: Model | DeviceModel,
    dataset: Dataset,
    options: BuildOptions | None = None,
    beside: Beside | None = None,
) -> OnUno:
    """Build a model and run all test points.

    Parameters
    ----------
    model : Model or DeviceModel
        The latter for other numbers than its integers.
    dataset : Dataset
        Whose test points are run.
    options : BuildOptions, optional
        What narrows the choice of a plan.
    beside : callable, optional
        Whose figures are added to the record, while the build is there.

    Raises
    ------
    ProtoNNEdgeError
        If it does not fit, or the emulated Uno does not answer.
    """
    options, board = options or BuildOptions(), load_board("uno")
    device_model = with_integers(model)
    reference = device_model.chain
    Q = reference.quantize(np.asarray(dataset.X_test))
    with trial_build(device_model, board, options=options) as trial:
        record: dict[str, Any] = measure(
            trial.project, (dataset.X_test, dataset.y_test), board
        ).to_json()
        plan, possible = trial.plan, trial.possible
        others = {} if beside is None else beside(trial, reference, Q)
    record["mismatches"] += verify_host(reference, Q).mismatches
    record |= {"model_bytes": reference.model_bytes, "plan": plan.to_json()}
    record["bound"] = possible.most if possible.proven else None
    if not reference.score_tolerance:
        record |= {"inputs": reference.n_inputs, "classes": reference.n_classes}
    return OnUno(reference, Q, plan, record | others)


def some_on_board(model: Model, X: NDArray[Any], name: str = "uno") -> Record:
    """Return cycles, flash and SRAM of a model on an emulated board, and scores that differ.

    - `X` (n, features): the raw points that run there.
    """
    board = load_board(name)
    with trial_build(model, board) as trial:
        chain, usage = trial.model.chain, trial.usage
        Q = chain.quantize(X.astype(np.float32))
        with watched_board(trial.program, trial.plan, board) as device:
            agreement, results = verify_device(
                f"emulated {name}", device.url, chain, Q, board=board, possible=trial.possible
            )
    return {
        "cycles": float(np.mean([result.cycles for result in results])),
        "flash": usage.flash_bytes,
        "sram": usage.sram_bytes,
        "differ": agreement.mismatches + agreement.lost,
    }
