"""With several boards, no message named the port of the one with the wrong firmware."""

from __future__ import annotations

from typing import Any

import pytest
from refusals import refused_by

from protonn_edge.boards import load_board
from protonn_edge.device.session import Session
from protonn_edge.errors import DeviceError


@pytest.mark.parametrize(
    "expected", [{"model_hash": bytes(32)}, {"n_classes": 200}, {"board": load_board("attiny85")}]
)
def test_a_refused_device_has_its_port_in_the_message(make_device: Any, expected: Any) -> None:
    device = make_device()
    with refused_by("device.connection", kind=DeviceError):
        Session(device.url, **expected).__enter__()
