"""What observation adds to tables of the core's tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import linear_factory
from extensions.observation.conformance.decision import observing
from hypothesis import strategies as st
from model_factory import random_inputs

from protonn_edge.extensions.observation.messages import HealthReply, HealthRequest
from protonn_edge.model.integer_chain import IntegerChain


def observed_linear() -> IntegerChain:
    """Return a linear chain whose answers are observed."""
    chain = linear_factory.tiny_chain()
    return observing(chain, random_inputs(1, 200, chain))


ADDITIONS: Mapping[str, Mapping[str, Any]] = {
    "messages": {"HEALTH request": HealthRequest, "HEALTH reply": HealthReply},
    "drawn messages": {
        "HEALTH request": st.just(HealthRequest()),
        "HEALTH reply": st.builds(HealthReply, st.binary(max_size=60)),
    },
}
