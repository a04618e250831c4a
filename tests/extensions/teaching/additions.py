"""What teaching adds to tables of the core's tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chains import replace
from hypothesis import strategies as st
from model_factory import random_model

from protonn_edge.extensions.teaching.messages import (
    ForgetReply,
    ForgetRequest,
    LearnReply,
    LearnRequest,
    StoreReply,
    StoreRequest,
)
from protonn_edge.model.file import save_model


def write_teachable(folder: Path) -> None:
    """Write a model with room for more examples than an Uno keeps."""
    model = replace(random_model(projections=8, features=8, classes=3), teachable=200)
    save_model(model, folder / "teachable.npz")


_U8 = st.integers(0, 255)

ADDITIONS: Mapping[str, Mapping[str, Any]] = {
    "given files": {"teachable": write_teachable},
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
