"""Messages of boards with sensors."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from protonn_edge.extensions.sensing.sensor_board import (
    ChannelRanges,
    LiveDescription,
    LoggerDescription,
    NameMessage,
    SamplesMessage,
    WindowAnswer,
)

u8, u16, u32 = (st.integers(0, (1 << bits) - 1) for bits in (8, 16, 32))
i32 = st.integers(-(1 << 31), (1 << 31) - 1)
short, positive = st.integers(1, 255), st.integers(1, (1 << 32) - 1)


sensors_messages = st.one_of(
    st.builds(SamplesMessage, u32, u32, st.binary(max_size=240)),
    st.builds(NameMessage, u8, st.binary(max_size=63)),
    st.builds(WindowAnswer, u16, u32, u32, u8, u8, u8, st.lists(i32, max_size=250).map(tuple)),
    st.builds(ChannelRanges, st.lists(st.integers(-(1 << 15), (1 << 15) - 1)).map(tuple)),
    st.builds(
        LoggerDescription,
        *(st.just(n) for n in (1, 3, 6, 1)),
        positive,
        positive,
        st.just(b"abcdef"),
    ),
    st.builds(
        LiveDescription,
        *(st.just(2), st.integers(1, 4), u8, u8, positive, positive),
        *(short, short, short, short, u32, u32, st.just(2)),
        st.binary(min_size=10, max_size=10),
    ),
)


@given(sensors_messages)
def test_any_message_of_a_board_with_a_sensor_round_trips(message):
    assert type(message).from_payload(message.payload()) == message
