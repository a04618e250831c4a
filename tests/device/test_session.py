"""A session gets its answers through noise and losses, and gives up in time if there are none."""

from __future__ import annotations

import random
import socket
import threading

import numpy as np
import pytest
from fake_device import HostileDevice, ImpatientHost, SimulatedHost, silent_at_first
from refusals import refused_by

from protonn_edge.data.naming import NO_CLASS
from protonn_edge.device import protocol
from protonn_edge.device.connection import LinkError, NoReplyError
from protonn_edge.device.session import Prediction, Session
from protonn_edge.system.errors import CheckFailed, InputError

X = np.array([7, 0, 0, 255], dtype=np.uint8)
REFLASH_HINT = "build the firmware with `protonn-edge build`, then run `protonn-edge upload`"


def connect(device, **options):
    """Return a session with a device behind a TCP port, whose deadlines do not pass."""
    return Session(device.url, **{"handshake_s": 60.0, "deadline_s": 60.0, **options})


def simulate(device, **options):
    """Return a session with a device in simulated time."""
    return Session("port", host=SimulatedHost(device), **options)


def flip_a_bit(frame: bytes) -> bytes:
    return bytes([frame[0], frame[1], frame[2] ^ 0x10, *frame[3:]])


# --- handshake -----------------------------------------------------------------------------------


def test_the_device_is_known_after_the_handshake(device, model_hash):
    with connect(device, model_hash=model_hash, n_features=4, n_classes=3) as session:
        assert session.device == protocol.HelloReply(2, 0, 4, 3, model_hash[:8], 16_000_000, 56)


def test_hello_is_repeated_until_a_device_that_loses_the_first_bytes_answers(make_device):
    device = make_device(swallow=16)
    with connect(device) as session:
        assert session.predict(X).label == 1


def test_what_a_device_sends_before_its_first_answer_is_ignored(make_device):
    device = make_device(greeting=random.Random(0).randbytes(3000))
    with connect(device) as session:
        assert session.predict(X).label == 1


def test_a_device_that_says_nothing_fails_the_handshake_in_time():
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"socket://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(NoReplyError, match=r"no device answered .* within 0.5 s") as caught:
            Session(url, handshake_s=0.5).__enter__()
    assert REFLASH_HINT in str(caught.value)


@pytest.mark.parametrize("alphabet", [bytes(range(1, 256)), bytes(range(256))])
def test_endless_garbage_fails_the_handshake_in_time(alphabet):
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def babble():
            connection, _ = server.accept()
            source = random.Random(1)
            with connection:
                connection.settimeout(0.1)
                while not stop.is_set():
                    try:
                        connection.send(bytes(source.choices(alphabet, k=200)))
                    except TimeoutError:
                        continue  # nobody reads: the session has given up
                    except OSError:
                        break

        thread = threading.Thread(target=babble, daemon=True)
        thread.start()
        url = f"socket://127.0.0.1:{server.getsockname()[1]}"
        with refused_by("device.connection", kind=NoReplyError):
            Session(url, handshake_s=0.5).__enter__()
        stop.set()
        thread.join()


def test_another_model_is_refused_with_the_command_that_mends_it(device):
    with pytest.raises(CheckFailed) as caught:
        connect(device, model_hash=bytes(32)).__enter__()
    assert str(caught.value) == (
        f"the device on {device.url} runs model {device.model_hash.hex()}, "
        f"not 0000000000000000; {REFLASH_HINT}"
    )
    assert caught.value.exit_code == 1


def hello(**changed):
    fields = {"protocol_version": 2, "feature_type": 0, "features": 4, "classes": 3, "window": 56}
    return protocol.HelloReply(**{**fields, "model_hash": bytes(8), "clock_hz": 1, **changed})


@pytest.mark.parametrize(
    "changed", [{"protocol_version": 1}, {"feature_type": 7}, {"features": 16}, {"classes": 10}]
)
def test_a_device_that_does_not_fit_is_refused(make_device, changed):
    device = make_device(answer=lambda body: hello(**changed) if body[0] == 1 else None)
    with refused_by("device.connection", "device.protocol", kind=CheckFailed):
        connect(device, n_features=4, n_classes=3).__enter__()


@pytest.mark.parametrize("url", ["/dev/no-such-port", "gopher://127.0.0.1", "socket://127.0.0.1:1"])
def test_a_line_that_cannot_be_opened_is_bad_input(url):
    with refused_by("device.connection"):
        Session(url).__enter__()


# --- requests ------------------------------------------------------------------------------------


def test_predictions_carry_class_and_cycles_and_scores_if_wanted(device):
    with connect(device) as session:
        assert session.predict(X) == Prediction(1, 16_072, None)
        assert session.predict(X, with_scores=True) == Prediction(1, 16_072, (262, 324, -14))


def test_statistics_are_those_of_the_device(device):
    with connect(device) as session:
        assert session.stats() == protocol.StatsReply(38, 1, 0, 300, 2, 2)


def test_a_request_without_an_answer_is_sent_again_with_a_new_number():
    device = HostileDevice(answer=silent_at_first(2))
    with simulate(device) as session:
        assert session.predict(X).label == 1
        assert session.retried == 2
    numbers = [body[1] for body in device.requests if body[0] == protocol.PREDICT]
    assert numbers == [1, 2, 3]
    kinds = [body[0] for body in device.requests[-3:]]
    assert kinds == [protocol.PREDICT, protocol.HELLO, protocol.PREDICT]


def test_an_answer_with_a_wrong_crc_is_as_good_as_none():
    damaged = iter([True, True, False])

    def damage(request, right):
        if isinstance(request, protocol.PredictRequest) and next(damaged):
            return flip_a_bit(protocol.encode_message(right, device.requests[-1][1]))
        return right

    device = HostileDevice(answer=damage)
    with simulate(device) as session:
        assert session.predict(X).label == 1
        assert session.retried == 2


def test_a_late_answer_is_not_taken_for_the_next_one():
    late: list[bytes] = []

    def hold_back_one(request, right):
        if not isinstance(request, protocol.PredictRequest):
            return right
        late.append(protocol.encode_message(right, device.requests[-1][1]))
        return b"" if len(late) == 1 else b"".join(late[-2:])

    device = HostileDevice(answer=hold_back_one)
    with simulate(device) as session:
        assert session.predict(X).label == 1
        other = np.array([0, 0, 0, 1], dtype=np.uint8)
        assert session.predict(other).label == 0


def test_sequence_numbers_start_again_at_one(device):
    with connect(device) as session:
        for _ in range(260):
            session.stats()
    numbers = [body[1] for body in device.requests if body[0] == protocol.STATS]
    assert numbers == [*range(1, 256), 1, 2, 3, 4, 5]


def test_a_device_that_falls_silent_is_given_up_after_the_retries():
    device = HostileDevice(answer=silent_at_first(100))
    with (
        simulate(device, deadline_s=0.1, retries=2) as session,
        refused_by("device.session", kind=NoReplyError),
    ):
        session.predict(X)


def test_a_line_that_breaks_is_opened_again_and_the_run_goes_on(device, model_hash):
    with connect(device, model_hash=model_hash) as session:
        for number, row in enumerate([X] * 3):
            device.unplug()
            assert session.predict(row).label == 1
            assert session.reopened == number + 1
    assert device.connections == 4


def test_a_line_that_cannot_be_opened_again_is_said_so_in_time(device):
    with connect(device, host=ImpatientHost()) as session:
        device.close()
        with refused_by("device.connection", kind=LinkError):
            session.predict(X)


def test_a_device_that_comes_back_with_another_model_is_refused(device, model_hash):
    with connect(device, model_hash=model_hash) as session:
        assert session.predict(X).label == 1
        device.model_hash = bytes(8)
        device.unplug()
        with pytest.raises(
            CheckFailed, match="runs model 0000000000000000, not .*protonn-edge upload"
        ):
            session.predict(X)


def test_a_refusal_of_the_device_is_an_error_if_it_is_said_again_and_again(make_device):
    device = make_device(
        answer=lambda body: protocol.ErrorReply(2) if body[0] == protocol.PREDICT else None
    )
    with connect(device) as session:
        with pytest.raises(protocol.ProtocolError, match=r"error 2 \(wrong length of payload\)"):
            session.predict(X)
        assert session.retried == 2


@pytest.mark.parametrize(
    "content", [protocol.ScoresReply(3, 1, (1, 2, 3)), protocol.ScoresReply(0, 1, (1, 2))]
)
def test_an_answer_that_its_own_model_cannot_give_is_refused(make_device, content):
    device = make_device(answer=lambda body: content if body[0] == protocol.SCORES else None)
    with connect(device) as session, refused_by("device.session", kind=protocol.ProtocolError):
        session.predict(X, with_scores=True)


def test_unknown_is_an_answer_of_any_model(make_device):
    content = protocol.ScoresReply(NO_CLASS, 1, (1, 2, 3))
    device = make_device(answer=lambda body: content if body[0] == protocol.SCORES else None)
    with connect(device) as session:
        assert session.predict(X, with_scores=True).label == NO_CLASS


@pytest.mark.parametrize("features", [X[:3], X.astype(np.float64), X[np.newaxis]])
def test_features_that_the_device_cannot_take_are_bad_input(device, features):
    with (
        connect(device) as session,
        refused_by("device.session"),
    ):
        session.predict(features)


def test_a_session_that_is_closed_says_so(device):
    with connect(device) as session:
        pass
    with refused_by("device.connection", kind=LinkError):
        session.stats()


# --- several requests in flight ------------------------------------------------------------------

ROWS = [np.array([number, 0, 0, number % 7], np.uint8) for number in range(100)]


def labels_of(device, rows):
    return [int(np.argmax(device.scores(row.tobytes()))) for row in rows]


def test_a_stream_gives_each_input_its_answer_in_order(device):
    with connect(device) as session:
        answers = list(session.stream(enumerate(ROWS), with_scores=True))
    assert [key for key, _ in answers] == list(range(100))
    assert [answer.label for _, answer in answers] == labels_of(device, ROWS)
    assert [answer.scores for _, answer in answers] == [device.scores(r.tobytes()) for r in ROWS]


def test_no_more_is_sent_than_the_window_allows_and_no_less():
    device = HostileDevice()

    def only_the_first(request, right):
        asked = [body for body in device.requests if body[0] == protocol.PREDICT]
        return right if isinstance(request, protocol.HelloRequest) or len(asked) < 2 else None

    device.answer = only_the_first
    with (
        simulate(device, deadline_s=30, progress_s=15) as session,
        pytest.raises(NoReplyError, match="answered no request"),
    ):
        list(session.stream(enumerate(ROWS)))
    frame = len(protocol.encode_message(protocol.PredictRequest(ROWS[0].tobytes()), 1))
    asked = [body for body in device.requests if body[0] == protocol.PREDICT]
    whole_frames_in_flight = 1 + 56 // frame
    assert len(asked) == 1 + whole_frames_in_flight  # the first one is alone


def test_inputs_are_taken_only_as_they_can_be_sent(device):
    taken = []

    def inputs():
        for number, row in enumerate(ROWS):
            taken.append(number)
            yield number, row

    with connect(device) as session:
        next(session.stream(inputs()))
    assert len(taken) <= 8


def test_answers_to_a_stream_that_was_left_are_not_taken_for_others(device):
    with connect(device) as session:
        for _ in range(5):
            next(session.stream(enumerate(ROWS)))
            assert session.stats().stack_bytes == 38


def test_a_request_that_was_passed_over_is_sent_again_at_once(make_device):
    lost = iter([2, 3, 11])
    dropping = [next(lost)]

    def drop(frame):
        if frame[1] == 0x82 and frame[2] == dropping[0]:
            dropping[0] = next(lost, 999)
            return b""
        return frame

    device = make_device(on_wire=drop)
    with connect(device) as session:
        answers = dict(session.stream(enumerate(ROWS)))
        assert session.retried >= 3
    assert [answers[key].label for key in range(100)] == labels_of(device, ROWS)


def test_an_input_that_is_never_answered_is_given_up_and_the_others_are_answered():
    poison = ROWS[40].tobytes()

    def answer(request, right):
        return None if getattr(request, "features", b"") == poison else right

    with simulate(HostileDevice(answer=answer), retries=2) as session:
        answers = dict(session.stream(enumerate(ROWS)))
    assert [key for key, answer in answers.items() if answer is None] == [40]


def test_repetitions_are_asked_for_in_one_request(device):
    with connect(device) as session:
        assert session.repeat(X, 1000) == Prediction(1, 16_072_000)
        with pytest.raises(InputError, match="expected 1 to 65,536"):
            session.repeat(X, 65_537)
        with pytest.raises(InputError, match="expected 1 to"):
            session.repeat(X, 0)
