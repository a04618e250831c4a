"""The window never lets more bytes follow an unanswered request than it may, nor fewer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from protonn_edge.device.exchange import PendingRequest, SendWindow

lengths = st.lists(st.integers(1, 300), min_size=1, max_size=30)


@given(lengths, st.integers(0, 100))
def test_as_many_bytes_follow_the_oldest_unanswered_request_as_may(frames, size):
    window: SendWindow[int] = SendWindow(size)
    ends = [sum(frames[: number + 1]) for number in range(len(frames))]
    sent, put = 0, 0
    for answered in range(len(frames)):
        while put < len(frames) and window.has_room:
            window.put(PendingRequest(put, put), put % 255 + 1, bytes(frames[put]))
            put += 1
        sent += len(window.sendable())
        assert window.sendable() == b""
        assert sent == min(ends[answered] + size, ends[-1])
        oldest = window.oldest
        assert oldest is not None
        assert oldest.key == answered
        assert window.answer(oldest.sequence) == ([], oldest)
    assert window.oldest is None


@given(lengths)
def test_bytes_go_out_once_and_in_order(frames):
    contents = [bytes([number]) * length for number, length in enumerate(frames)]
    window: SendWindow[int] = SendWindow(56)
    out = b""
    for number, content in enumerate(contents):
        window.put(PendingRequest(number, number), number + 1, content)
    for number in range(len(contents)):
        out += window.sendable()
        window.answer(number + 1)
    assert out == b"".join(contents)


def full_window() -> SendWindow[str]:
    window: SendWindow[str] = SendWindow(56)
    for sequence, key in enumerate("abc", 1):
        window.put(PendingRequest(key, 0), sequence, bytes(20))
    return window


def test_requests_before_the_one_that_was_answered_are_passed_over():
    window = full_window()
    window.sendable()
    passed_over, answered = window.answer(3)
    assert [asked.key for asked in passed_over] == ["a", "b"]
    assert answered is not None
    assert answered.key == "c"


def test_a_number_that_nobody_waits_for_is_no_answer():
    window = full_window()
    window.sendable()
    assert window.answer(4) == ([], None)
    assert window.oldest is not None


def test_what_was_not_sent_whole_cannot_have_been_answered():
    window = full_window()
    assert window.answer(1) == ([], None)
    window.sendable()
    window.put(PendingRequest("d", 0), 4, bytes(300))
    window.sendable()
    assert window.answer(4) == ([], None)


def test_after_giving_up_only_what_is_put_anew_is_sent():
    window = full_window()
    window.put(PendingRequest("d", 0), 4, bytes(300))
    window.sendable()
    assert [asked.key for asked in window.give_up()] == ["a", "b", "c", "d"]
    window.put(PendingRequest("e", 0), 5, b"e" * 300)
    assert window.sendable() == b"e" * 300
    _, answered = window.answer(5)
    assert answered is not None
