"""A model on the emulated Uno: all test points, there and in host C, compared with NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protonn_edge.boards import load_board
from protonn_edge.build.project import Wishes, trial_build
from protonn_edge.codegen import Plan
from protonn_edge.datasets import Dataset
from protonn_edge.evaluation.measurement import measure
from protonn_edge.evaluation.verification import verify_host
from protonn_edge.model import Model
from protonn_edge.quantization import IntegerChain, measure_activity, quantize


@dataclass(frozen=True, eq=False)
class OnUno:
    """What came of it.

    Attributes
    ----------
    integers : IntegerChain
        The integer model.
    Q : ndarray of shape (n, features), uint8
        The test points as the device is sent them.
    plan : Plan
        How the program computes, whose means are for these points.
    record : dict
        What was measured, for JSON; mismatches count both host C and the Uno.
    """

    integers: IntegerChain
    Q: NDArray[np.uint8]
    plan: Plan
    record: dict[str, Any]


def run_on_uno(model: Model, dataset: Dataset) -> OnUno:
    """Build a model and run all test points.

    Raises
    ------
    ProtoNNEdgeError
        If it does not fit, or the emulated Uno does not answer.
    """
    integers = quantize(model)
    Q = integers.quantize(np.asarray(dataset.X_test))
    wishes = Wishes(activity=measure_activity(integers, Q))
    board = load_board("uno")
    with trial_build(model, board, wishes=wishes) as trial:
        record = measure(trial.project, (dataset.X_test, dataset.y_test), board).to_json()
        plan = trial.plan
    assert isinstance(plan, Plan)
    record["mismatches"] += verify_host(integers, Q).mismatches
    record |= {
        "inputs": integers.n_inputs,
        "classes": integers.n_classes,
        "model_bytes": integers.model_bytes,
        "plan": plan.to_json(),
    }
    return OnUno(integers, Q, plan, record)
