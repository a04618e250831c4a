"""Modules of random models: the answers of NumPy for whole numbers and floats, or one refusal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from extensions.micropython.interpreters import module_of
from extensions.micropython.test_exact import raw_floats, raw_points
from laws.fuzz.sentences import check_refusal
from random_chains import points_of, random_chain

from protonn_edge.extensions.micropython.trial import loaded
from protonn_edge.model.raw_inputs import float_quantizer
from protonn_edge.system.errors import InputError


def run_case(seed: int, folder: Path) -> None:
    """Compare a module with NumPy."""
    rng = np.random.default_rng(seed)
    chain, _ = random_chain(rng, of_number=bool(rng.random() < 0.2))
    try:
        made = loaded(module_of(chain))
    except InputError as error:
        check_refusal(error)
        return
    Q = points_of(rng, 4, chain)
    for raw, quantizer in (
        (raw_points(chain, Q), chain.raw_inputs),
        (raw_floats(chain, Q), float_quantizer(chain.quantizer)),
    ):
        inputs = quantizer.quantize(raw)
        for point, right, scores in zip(raw.tolist(), inputs, chain.scores(inputs), strict=True):
            assert bytes(made.quantize(point)) == right.tobytes(), "inputs differ"
            assert list(made.scores(point)) == scores.tolist(), "scores differ"
