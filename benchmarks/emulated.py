"""A model on the emulated Uno: all test points, there and on the host, compared with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from columns import Column, Columns, Record, figure, mean_and_most
from numpy.typing import NDArray

from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.plan import DevicePlan
from protonn_edge.codegen.projects.project import BuildOptions, Trial, trial_build
from protonn_edge.codegen.verification.agreement import verify_device, verify_host, watched_board
from protonn_edge.data.points.dataset import Dataset
from protonn_edge.learn.evaluation.measurement import measure
from protonn_edge.model.device_model import DeviceModel, with_integers
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.model import Model

MEASURED: Columns = (
    figure("points", "n", ","),
    figure("mismatches", "mismatches"),
    figure("plan", "kernel"),
    figure("cycles mean (max)", "cycles", mean_and_most),
    figure("bound", "bound", ","),
    figure("ms", "latency_ms.mean", ".2f"),
    figure("flash B", "flash_bytes", ","),
    Column("SRAM + stack B", lambda r: f"{r['sram_bytes']} + {r['stack_bytes']}"),
)
"""The columns of what was measured."""

Beside = Callable[[Trial, IntegerChain], Record]
"""What else is to be found out of a build and its reference."""


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
        How the program computes.
    record : dict
        What was measured, for JSON; mismatches, with lost points, are of both host C and the Uno.
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
    name: str = "uno",
) -> OnUno:
    """Build a model and run all test points; `beside` sees the build while it is there.

    Raises
    ------
    ProtoNNEdgeError
        If it does not fit, or the emulated board does not answer.
    """
    options, board = options or BuildOptions(), load_board(name)
    device_model = with_integers(model)
    reference = device_model.chain
    Q = reference.quantize(np.asarray(dataset.X_test))
    with trial_build(device_model, board, options=options) as trial:
        points = dataset.X_test, dataset.y_test
        record: dict[str, Any] = measure(trial.project, points, board).to_json()
        plan, possible = trial.plan, trial.possible
        others = {} if beside is None else beside(trial, reference)
    record["mismatches"] += verify_host(reference, Q).mismatches + record.get("lost", 0)
    record |= {"model_bytes": reference.model_bytes, "kernel": plan.kernel}
    record["bound"] = possible.most if possible.proven else None
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
