"""A board was asked again after each piece of a reply, and some then never sent a whole one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from extensions.observation.conformance.decision import observing
from linear_factory import random_linear_model
from model_factory import random_inputs

from protonn_edge.device.protocol import DELIMITER, encode_message
from protonn_edge.extensions.observation.messages import HealthReply
from protonn_edge.extensions.observation.session import measured_health, read_health
from protonn_edge.model.quantization import quantize


class SlowBoard:
    """Sends its reply byte by byte, and nothing for the first request."""

    def __init__(self, reply: bytes) -> None:
        self.reply, self.asked = reply, 0

    def write(self, _: bytes) -> None:
        self.asked += 1

    def read(self, _: float) -> bytes:
        first = self.reply[: self.asked > 1]
        self.reply = self.reply[len(first) :]
        return first


def test_a_board_is_asked_again_only_if_it_is_silent() -> None:
    model = quantize(random_linear_model())
    chain = observing(model, random_inputs(3, 200, model))
    assert chain.expected is not None
    counters = chain.expected.tag.to_bytes(4, "little").ljust(chain.expected.n_bytes, b"\0")
    board = SlowBoard(DELIMITER + encode_message(HealthReply(counters), 0))
    assert read_health(cast("Any", board), "", chain.expected).answers == 0
    assert board.asked == 2


def test_a_run_has_no_verdict_of_another_calibration() -> None:
    model = quantize(random_linear_model())
    ours, other = (observing(model, random_inputs(seed, 300, model)) for seed in (1, 2))
    assert ours.expected is not None
    assert other.expected is not None
    for expected, known in ((ours.expected, True), (other.expected, False)):
        counters = expected.tag.to_bytes(4, "little").ljust(expected.n_bytes, b"\0")
        session = SimpleNamespace(ask=lambda *_, sent=counters: HealthReply(sent))
        assert (measured_health(cast("Any", session), ours) is not None) == known
