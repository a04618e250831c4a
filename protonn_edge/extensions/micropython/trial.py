"""A module is tried in this Python before it is written: it must answer as the model in NumPy."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from protonn_edge.codegen.verification.tryout import Tried, WrongAnswers, trial_points
from protonn_edge.extensions.micropython.module import PythonModule

_POINTS = 64  # beside the test vectors


def loaded(module: PythonModule) -> ModuleType:
    """Return the module as `import` does, compiled from its text."""
    made = ModuleType(module.name)
    exec(compile(module.text, f"{module.name}.py", "exec"), made.__dict__)  # noqa: S102  (ours)
    return made


def try_module(module: PythonModule) -> Tried:
    """Compare a module with NumPy: its self-test, and points made from the model.

    Raises `InputError` if the model has no form in Python, and `WrongAnswers` if a score differs.
    """
    made, chain = loaded(module), module.model.chain
    Q = trial_points(module.model, _POINTS)
    raw = chain.raw_inputs.integers(chain.quantizer.restore(Q)).astype(np.int64)
    expected = chain.scores(chain.raw_inputs.quantize(raw)).tolist()
    pairs = zip(raw.tolist(), expected, strict=True)
    wrong = [list(made.scores(point)) != right for point, right in pairs]
    vectors = len(module.vectors.points)
    mismatches = sum(wrong) + (0 if made.self_test() else vectors)
    tried = Tried("Python", len(Q) + vectors, mismatches)
    if mismatches:
        raise WrongAnswers(tried, f"the module differs from the NumPy model at {mismatches} points")
    return tried
