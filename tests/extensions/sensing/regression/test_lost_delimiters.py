"""A description absorbed the frame behind it, whose delimiter was lost, and ended a recording.

The CRC of both frames together is right, and a message that ends with a text may have any length.
"""

from __future__ import annotations

import pytest

from protonn_edge.device.protocol import ProtocolError, decode_frame, decode_message, encode_message
from protonn_edge.extensions.sensing.recorder import SampleStream
from protonn_edge.extensions.sensing.sensor_board import (
    LoggerDescription,
    NameMessage,
    SamplesMessage,
)

DESCRIPTION = LoggerDescription(1, 3, 6, 1, 160_000, 16_000_000, bytes(6))
SAMPLES = encode_message(SamplesMessage(0, 0, bytes(12)), 2)


def test_a_description_does_not_absorb_the_next_frame() -> None:
    stream = SampleStream()
    whole, joined = encode_message(DESCRIPTION, 0), encode_message(DESCRIPTION, 1)[:-1] + SAMPLES
    decode_frame(joined[:-1])  # its CRC is right
    assert stream.feed(whole + joined) == []
    assert stream.torn == 1
    assert stream.description == DESCRIPTION
    (samples,) = stream.feed(SAMPLES)
    assert not samples.values.any()


def test_a_name_does_not_absorb_the_next_frame() -> None:
    frame = encode_message(NameMessage(0, b"up"), 1)
    assert decode_message(decode_frame(frame[:-1]), [NameMessage]) == NameMessage(0, b"up")
    with pytest.raises(ProtocolError, match="another message in it"):
        decode_message(decode_frame((frame[:-1] + SAMPLES)[:-1]), [NameMessage])
