"""What teaching adds to tables of the core's tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from protonn_edge.extensions.teaching.messages import (
    ForgetReply,
    ForgetRequest,
    LearnReply,
    LearnRequest,
    StoreReply,
    StoreRequest,
)

_U8 = st.integers(0, 255)

ADDITIONS: Mapping[str, Mapping[str, Any]] = {
    "options in pairs": {"--teachable 3": {"teachable": 3}},
    "messages": {
        "LEARN request": LearnRequest,
        "LEARN reply": LearnReply,
        "FORGET request": ForgetRequest,
        "FORGET reply": ForgetReply,
        "STORE request": StoreRequest,
        "STORE reply": StoreReply,
    },
    "drawn messages": {
        "LEARN request": st.builds(LearnRequest, _U8),
        "LEARN reply": st.builds(LearnReply, _U8, _U8),
        "FORGET request": st.builds(ForgetRequest, _U8),
        "FORGET reply": st.builds(ForgetReply, _U8, _U8),
        "STORE request": st.builds(StoreRequest),
        "STORE reply": st.builds(StoreReply, st.binary(max_size=700)),
    },
}
