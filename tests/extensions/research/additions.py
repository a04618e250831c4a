"""What research adds to tables of the core's tests: trees of gated sums, the paper's training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from chains import replace
from extensions.research.bonsai_factory import (
    random_bonsai_model,
    random_kernel_chain,
    random_kernel_model,
)

from protonn_edge.extensions.research.kinds.bonsai.train import BonsaiClassifier
from protonn_edge.extensions.research.kinds.paper.train.classifier import PaperProtoNNClassifier
from protonn_edge.model.quantization import quantize


def _always_right(model: Any) -> Any:
    """Return a tree whose second node asks nothing."""
    branches = model.head.branches.copy()
    branches[1] = 0
    return replace(model, branches=branches)


def _with_larger_gates(model: Any) -> Any:
    return replace(model, gates=model.head.gates * np.float32(40))


KINDS: Mapping[str, Callable[..., Any]] = {
    "bonsai": random_bonsai_model,
    "local-deep-kernel": random_kernel_model,
}

ADDITIONS: Mapping[str, Mapping[str, Any]] = {
    "kinds behind layers": KINDS,
    "kinds with remedies": KINDS,
    "plans": {"kernel": lambda: quantize(random_kernel_model())},
    "ints of 16 bits": {
        "bonsai": random_kernel_chain(4, features=700, depth=3, classes=2, density=0.01),
    },
    "known models": {
        "bonsai": (random_bonsai_model, "65839eb15de48dbf"),
        "bonsai, deep": (
            lambda: _always_right(random_bonsai_model(1, depth=3, features=60, classes=2)),
            "d0c3b8d02c503b7e",
        ),
        "bonsai, 24 bits": (lambda: random_bonsai_model(features=80), "e2d9e66000f8ae7e"),
        "bonsai, sharp": (lambda: _with_larger_gates(random_bonsai_model(3)), "b27bb4c437a13051"),
        "kernel": (random_kernel_model, "87a9b53ae8612805"),
        "kernel, deep": (
            lambda: random_kernel_model(1, depth=2, features=60, classes=2),
            "8ca2fa18450602a6",
        ),
    },
    "known examples": {"bonsai": "8088d3f7a5bfa2ef"},
    "faults": {
        "indices that are not limited": (
            random_bonsai_model,
            r'"    ldi   r19, 0xff\\n"',
            '""',
        ),
        "another gate": (random_bonsai_model, r"  -9,  -5,", "  -8,  -5,"),
        "a product without its sign": (
            random_bonsai_model,
            r'"    sbc   r20, r17\\n"',
            '""',
        ),
    },
    "stored models": {
        "bonsai": lambda: random_bonsai_model(3, depth=2),
        "kernel": lambda: random_kernel_model(3, depth=0),
    },
    "too large": {"bonsai": "sram", "local-deep-kernel": "flash"},
    "stopped trainings": {
        "alternating": lambda: PaperProtoNNClassifier(
            n_projections=2, optimizer="alternating", iterations=2, pass_epochs=2
        ),
        "bonsai": lambda: BonsaiClassifier(depth=1, epochs=9, sparsity_projection=0.5),
    },
    "optimizers": {
        "alternating": {"optimizer": "alternating", "iterations": 2, "pass_epochs": 2},
    },
    "longer trainings": {"alternating": {"iterations": 6, "pass_epochs": 10}},
    "losses": {name: {"loss": name} for name in ("squared_error", "hinge")},
    "probabilities": {
        "squared error": {"loss": "squared_error"},
        "in turn": {"loss": "squared_error", "optimizer": "alternating", "iterations": 4},
    },
    "learned digits": {
        "in turn": (
            {
                "n_prototypes": 40,
                "optimizer": "alternating",
                "iterations": 6,
                "loss": "squared_error",
            },
            0.94,
        ),
    },
    "refused with augmentation": {
        "in turn": (
            {"optimizer": "alternating"},
            "the alternating optimizer takes points as they are",
        ),
    },
    "refused with groups": {"in turn": ({"optimizer": "alternating"}, "alternating optimizer")},
    "options that are settings": {
        "steps": (
            ["--optimizer", "alternating", "--step-sizes", "inverse"],
            "step_sizes",
            "inverse",
        ),
        "in turn": (["--optimizer", "alternating"], "optimizer", "alternating"),
        "some matrices": (["--trained", "B,Z"], "trained", ["B", "Z"]),
        "at once": (["--optimizer", "joint"], "optimizer", "joint"),
    },
    "options in pairs": {
        "--classifier bonsai": {"classifier": "bonsai"},
        "--optimizer alternating": {"optimizer": "alternating"},
    },
}
