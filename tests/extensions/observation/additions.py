"""What observation adds to tables of the core's tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from protonn_edge.extensions.observation.messages import HealthReply, HealthRequest

ADDITIONS: Mapping[str, Mapping[str, Any]] = {
    "messages": {"HEALTH request": HealthRequest, "HEALTH reply": HealthReply},
    "drawn messages": {
        "HEALTH request": st.just(HealthRequest()),
        "HEALTH reply": st.builds(HealthReply, st.binary(max_size=60)),
    },
}
