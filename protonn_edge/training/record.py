"""How a model was trained, for its file: without time and paths."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import joblib
import numpy as np
import sklearn

import protonn_edge
from protonn_edge.chain.file import model_bytes
from protonn_edge.chain.model import Model
from protonn_edge.training.progress import Learned, was_stopped

_RECORDED_REPORTS = 5_000  # in a model file, whose record has a limit
_UNRECORDED = ("callback", "network_callback", "random_state")


def training_record(
    parameters: Mapping[str, Any], learned: Learned, *, seed: int, n_train: int, data_sha256: str
) -> dict[str, Any]:
    """Return the record of a model.

    Parameters
    ----------
    parameters : mapping
        Of the estimator.
    learned : Learned
        The result of its training.
    seed : int
        The seed of all random numbers.
    n_train : int
        Number of training points.
    data_sha256 : str
        Of these points, their targets, weights and groups.
    """
    settings = {name: value for name, value in parameters.items() if name not in _UNRECORDED}
    step = -(-len(learned.history) // _RECORDED_REPORTS)
    history = learned.history[::-step][::-1]  # always including the last one
    return {
        "versions": {
            "protonn-edge": protonn_edge.__version__,
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "settings": json.loads(json.dumps(settings, default=_plain)),
        "seed": seed,
        "restarts": [str(restart) for restart in learned.restarts],
        **({"remarks": list(learned.remarks)} if learned.remarks else {}),
        **({"stopped": learned.history[-1].place} if was_stopped(learned.history) else {}),
        "n_train": n_train,
        "data_sha256": data_sha256,
        "history": {
            "objective": [round(report.objective, 6) for report in history],
            "accuracy": [round(report.accuracy, 6) for report in history],
        },
        **learned.facts,
    }


def _plain(value: Any) -> Any:
    """Return a JSON form of a value: a number, or a description with a digest."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Model):
        return f"model {hashlib.sha256(model_bytes(value)).hexdigest()}"
    if isinstance(value, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return f"array {value.shape} {digest}"
    return f"{type(value).__name__} {getattr(value, 'digest', None) or joblib.hash(value)}"
