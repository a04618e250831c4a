"""The input quantizer: raw integers become the host's bytes, whatever stage takes them first."""

from __future__ import annotations

import numpy as np
import pytest
from avr_tools import skip_without
from laws.conformance.instances import KINDS, instances_of

from protonn_edge.codegen.host import host_program

LIMITS = np.iinfo(np.int16)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_fed_raw_integers_answers_for_the_hosts_bytes(kind: str) -> None:
    """Compare scores in generated C, which converts raw integers, with those of NumPy's bytes."""
    skip_without("cc")
    model = instances_of(kind)[0].model
    rng = np.random.default_rng(0)
    near = rng.integers(-50, 350, (20, model.n_features))  # bytes, and what is clamped to them
    wide = rng.integers(LIMITS.min, LIMITS.max + 1, (20, model.n_features))
    ends = np.repeat([[LIMITS.min], [LIMITS.max]], model.n_features, axis=1)
    raw = np.concatenate([near, wide, ends]).astype(np.int16)
    classes, scores = model.answers(model.raw_inputs.quantize(raw))
    with host_program(model) as program:
        answers = program.run(raw, "raw")
    assert np.array_equal(answers[0], classes)
    assert np.array_equal(answers[1], scores)
