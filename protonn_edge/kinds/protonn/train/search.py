"""The search space of ProtoNN, and where a search begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from protonn_edge.errors import InputError
from protonn_edge.kinds.protonn.train.budget_rules import sizes_within
from protonn_edge.training.searched import FEATURES_SEARCHED, Among, Between, Searched, SearchTask

_MOST_PROJECTIONS = 40
_MOST_PROTOTYPES = 800

_DEFAULTS: dict[str, Any] = {
    "sparsity_projection": 1.0,
    "normalization": "standard",
    "loss": "cross_entropy",
    "init_projection": "lda",
    "gamma_numerator": 1.5,
    "input_noise": "auto",
    "learning_rate": 0.01,
    "epochs": 120,
    "dead_zone": 0.0,
    "clip": 0.0,
    "augment": False,
    "group_shift": 1.5,
}

# Shares of the bytes for parameters, and settings that differ from the defaults: sizes follow the
# paper's rules, with the number of projections if given. The variations are for people, days or
# sensors that are not in the training data.
_STARTS: tuple[tuple[float, dict[str, Any]], ...] = (
    (0.5, {"n_projections": 20, "augment": True}),
    (0.25, {}),
    (0.5, {}),
    (0.12, {}),
    (0.25, {"input_noise": 0.5, "gamma_numerator": 0.5}),
    (0.5, {"init_projection": "nca", "input_noise": 0.2}),
    (0.9, {"init_projection": "nca", "input_noise": 0.2, "epochs": 200}),
    (0.06, {}),
)


def protonn_search(task: SearchTask, allows: Callable[..., bool]) -> Searched:
    """Return the search space, which depends only on the task.

    Sparse B and Z are not searched: on the device they take as much as dense ones.

    Parameters
    ----------
    task : SearchTask
        The data, the size limit and the fixed settings.
    allows : callable
        Returns whether settings, given by name, are compatible with the fixed ones.
    """
    fitting = task.parameter_bytes // (1 + task.n_classes)
    most = max(task.n_classes, min(task.n_points, _MOST_PROTOTYPES, fitting))
    parameters: dict[str, Among | Between] = {
        "n_projections": Between(1, min(task.n_inputs, _MOST_PROJECTIONS)),
        "n_prototypes": Between(task.n_classes, most),
        "sparsity_projection": Among((1.0, 0.5, 0.25)),
        "normalization": FEATURES_SEARCHED["normalization"],
        "loss": Among(("cross_entropy", "squared_error", "hinge")),
        "init_projection": Among(("lda", "pca", "nca")),
        "gamma_numerator": Between(0.3, 3.0),
        "input_noise": Among(("auto", 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)),
        "learning_rate": Between(0.003, 0.03),
        "epochs": Among((60, 120, 200)),
        **{name: FEATURES_SEARCHED[name] for name in ("dead_zone", "clip")},
    }
    if allows(augment=True):
        parameters["augment"] = Among((False, True))
    if task.in_groups:
        parameters["group_shift"] = Among((0.0, 1.5))
    return Searched(
        parameters,
        tuple(_starts(task)),
        {"epochs": 1, "quantization_aware": False, "augment": False, "init_projection": "pca"},
        {"n_prototypes": 2},
        {
            "d": ("n_projections",),
            "m": ("n_prototypes",),
            "loss, start, noise": ("loss", "init_projection", "input_noise"),
        },
    )


def _starts(task: SearchTask) -> list[dict[str, Any]]:
    """Return the defaults at several sizes, and variations."""
    found = []
    for share, differing in _STARTS:
        projections = differing.get("n_projections")
        try:
            sizes = sizes_within(
                int(share * task.parameter_bytes),
                n_features=task.n_inputs,
                n_classes=task.n_classes,
                n_points=task.n_points,
                n_projections=None if projections is None else min(projections, task.n_inputs),
            )
        except InputError:  # not even the smallest model fits
            continue
        settled = {"n_projections": sizes.n_projections, "n_prototypes": sizes.n_prototypes}
        found.append(_DEFAULTS | differing | settled)
    return found
