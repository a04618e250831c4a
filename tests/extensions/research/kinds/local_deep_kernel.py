"""The part of local deep kernels in the checks of all kinds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from extensions.research.bonsai_factory import random_kernel_chain, random_kernel_model
from extensions.research.kinds.bonsai import KIND as BONSAI
from extensions.research.kinds.bonsai import drawn_tree

from protonn_edge.extensions.research.kinds.bonsai.train import LocalDeepKernelClassifier
from protonn_edge.model.integer_chain import IntegerChain


def _drawn(rng: np.random.Generator, n: int, classes: int, maximum: int) -> IntegerChain:
    return random_kernel_chain(
        int(rng.integers(1 << 31)), features=n, maximum=maximum, **drawn_tree(rng, classes)
    )


KIND = replace(
    BONSAI,
    classifier=LocalDeepKernelClassifier,
    random_model=random_kernel_model,
    drawn=_drawn,
    random_chain=random_kernel_chain,
    extremes=(
        {"features": 1, "depth": 4, "classes": 2},
        {"features": 1_500, "depth": 1, "classes": 2, "density": 0.002},
        {"features": 100, "depth": 0, "classes": 255, "largest": 9},
    ),
    without_integers={"weights": 0, "gates": 0},
    damages=(("head.branches", np.ones((1, 14), np.float32)),),
    variants={"local deep kernel": BONSAI.variants["bonsai"]},
    steps=("float", "inputs", "tree"),
    reads_weights=False,
)
