"""The page frames requests and reads replies as the host does, byte for byte."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from extension_parts import needs

from protonn_edge.device import protocol

pytestmark = needs("page")

HERE = Path(__file__).parent
REPLY = protocol.ScoresReply(1, 16_072, (262, 324, -14, 0, -(1 << 31)))
HELLO = protocol.HelloReply(2, 0, 784, 10, bytes.fromhex("face000102030405"), 16_000_000, 56)


def payloads() -> list[bytes]:
    """Return payloads with zeros and without, around the lengths at which a block is full."""
    rng = np.random.default_rng(5)
    lengths = [1, 2, *range(248, 260), 504, 508, 512, 784]
    sparse = [(rng.integers(0, 3, n) * rng.integers(0, 2, n)).astype(np.uint8) for n in lengths]
    dense = [rng.integers(1, 256, n).astype(np.uint8) for n in lengths]
    return [array.tobytes() for array in [*sparse, *dense]]


@pytest.fixture(scope="module")
def said():
    """Return what the page's protocol makes of requests and replies."""
    if shutil.which("node") is None:
        pytest.skip("node not on PATH; to run: install Node.js 20 or newer")
    good = protocol.encode_message(REPLY, 9)
    asked = {
        "requests": [[3, i % 256, payload.hex()] for i, payload in enumerate(payloads())],
        "hello": [[protocol.encode_message(HELLO, 0).hex(), 0]],
        "scores": [
            [good.hex(), 9],
            [good.hex(), 8],
            [bytes([good[0], good[1] ^ 1, *good[2:]]).hex(), 9],
            [protocol.encode_message(protocol.ErrorReply(3), 9).hex(), 9],
            ["00", 9],
        ],
    }
    command = ["node", HERE / "protocol_check.mjs"]
    done = subprocess.run(
        command, input=json.dumps(asked), capture_output=True, text=True, timeout=60, check=True
    )
    return json.loads(done.stdout)


def test_requests_are_framed_as_the_host_frames_them(said):
    expected = [
        protocol.encode_message(protocol.ScoresRequest(payload), i % 256).hex()
        for i, payload in enumerate(payloads())
    ]
    assert said["frames"] == expected
    assert said["hello"] == "00" + protocol.encode_message(protocol.HelloRequest(), 0).hex()


def test_replies_are_read_as_the_host_reads_them(said):
    assert said["helloReplies"] == [
        {"features": 784, "classes": 10, "modelHash": "face000102030405"}
    ]
    first, *others = said["scoresReplies"]
    assert first == {"label": 1, "cycles": 16_072, "scores": list(REPLY.scores)}
    assert others == [
        "the reply belongs to another request",
        "the reply is damaged",
        (
            "the firmware refused the request: a feature is larger than the maximum of the model's "
            "inputs"
        ),
        "the reply is damaged",
    ]
