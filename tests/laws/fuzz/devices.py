"""Random devices that drop, repeat, reorder, corrupt, flood and lie, on simulated lines.

A run must end in time, in one sentence where anything is wrong, and must take nothing for good that
is not: no class, score, cycles, clock, stack or repetition.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from chains import replace
from fake_device import HostileDevice
from simulated_run import POSSIBLE, STACK_BYTES, N, honest_model, measure_on, subject

from protonn_edge.device import protocol
from protonn_edge.device.protocol import HelloRequest, Message
from protonn_edge.device.results import read_results
from protonn_edge.learn.evaluation.measurement import Measurement
from protonn_edge.system.errors import CheckFailed, InputError

BRIEF_CASES = 20

# Each point may be answered just before the deadline of progress passes; then come the handshake,
# REPEAT and STATS.
MOST_S = 16.0 * N + 60.0
MOST_REPETITIONS = 1_000

_CHANCES = {"drop": 0.3, "repeat": 0.2, "reorder": 0.2, "corrupt": 0.3, "lie": 0.3, "renumber": 0.2}
_INTEGERS = (0, 1, 2, 3, 4, 5, 38, 55, 64, 254, 255, 256, 8_000_000, 16_000_000, 2**32 - 1)


def run_case(seed: int, folder: Path) -> None:
    """Measure on one or two random devices; raise `AssertionError` with one line for a finding."""
    rng = np.random.default_rng(seed)
    devices = [_random_device(rng) for _ in range(1 if rng.random() < 0.8 else 2)]
    results = folder / "results.csv"
    repeat = int(rng.integers(1, MOST_REPETITIONS)) if rng.random() < 0.3 else None
    try:
        done, _ = measure_on(devices, limit_s=MOST_S, results=results, repeat=repeat)
    except (InputError, CheckFailed) as error:
        _check_sentence(str(error))
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}") from error
    else:
        if done.failure is None:
            _check_good(done)
        else:
            _check_sentence(str(done.failure))
    if results.exists():
        _check_results(results)


# --- what must hold ------------------------------------------------------------------------------


def _check_sentence(text: str) -> None:
    assert text.isprintable(), f"no sentence: {text!r}"
    assert 20 < len(text) < 700, f"{len(text)} characters: {text[:100]!r}"


def _check_results(path: Path) -> None:
    """Check that no result is marked as equal to the reference that is not."""
    reference, _, X, _ = subject()
    classes, scores = reference.answers(reference.quantize(X))
    for result in read_results(path).results:
        right = (int(classes[result.index]), tuple(map(int, scores[result.index])))
        agrees = (result.predicted, result.scores) == right
        assert agrees == (result.mismatch is False), f"point {result.index} is {result}"


def _check_good(done: Measurement) -> None:
    """Check a measurement that nothing is said to be wrong with."""
    one = done.summary
    assert (one.n, one.mismatches, one.lost) == (N, 0, 0), f"counted as good: {one}"
    assert one.cycles is not None
    assert POSSIBLE.least <= one.cycles.min, f"counted as good: {one.cycles}"
    assert one.cycles.max <= POSSIBLE.most, f"counted as good: {one.cycles}"
    stack = done.stack_peak_bytes
    assert stack is not None, "the stack is missing, and nobody says so"
    assert 0 < stack <= STACK_BYTES, f"a stack of {stack} bytes is counted as good"
    if done.repetition is not None:
        each = done.repetition.cycles / done.repetition.n
        possible = POSSIBLE.least <= each <= POSSIBLE.most
        assert possible, f"{each} cycles for each repetition are counted as good"


# --- devices -------------------------------------------------------------------------------------


def _random_device(rng: np.random.Generator) -> HostileDevice:
    """Return a device with some bad habits, each at its own rate."""
    habits = {
        habit: float(rng.choice([0.02, 0.2, 1.0], p=[0.6, 0.3, 0.1]))
        for habit, chance in _CHANCES.items()
        if rng.random() < chance
    }
    model = honest_model()
    model.cycles += int(rng.choice([0, 0, 0, 1, 2, -model.cycles]))
    held: list[bytes] = []

    def answer(request: Message, right: Message) -> bytes | None:
        sequence = device.requests[-1][1]
        said = right
        honest = isinstance(request, HelloRequest) and rng.random() < 0.8
        happens = {h: rng.random() < p and not honest for h, p in habits.items()}
        if happens.get("drop"):
            return None
        if happens.get("lie"):
            said = _lie(rng, right)
        if happens.get("renumber"):
            sequence = int(rng.integers(256))
        frame = protocol.encode_message(said, sequence)
        if happens.get("corrupt"):
            frame = _corrupted(rng, frame)
        if happens.get("repeat"):
            frame *= int(rng.integers(2, 40))
        if happens.get("reorder"):
            held.append(frame)
            return held.pop(0) if len(held) > int(rng.integers(1, 4)) else None
        return frame

    flood, every_s = _flood(rng, model)
    breaking = float(rng.choice([0.0, 0.0, 0.0, 0.01, 0.2]))
    device = HostileDevice(
        model,
        answer=answer,
        flood=flood,
        every_s=every_s,
        delay_s=float(rng.choice([0.0, 0.001, 0.05, 1.0, 4.0], p=[0.2, 0.5, 0.2, 0.05, 0.05])),
        breaks=lambda _: bool(rng.random() < breaking),
    )
    return device


def _lie(rng: np.random.Generator, right: Message) -> Message:
    """Return a reply in which one field, or the kind, is another."""
    if rng.random() < 0.1:
        return protocol.ErrorReply(int(rng.integers(256)))
    field = rng.choice([each.name for each in fields(right)])  # type: ignore[call-overload]
    old = getattr(right, field)
    changed: Any
    if isinstance(old, tuple):
        changed = list(old)
        changed[int(rng.integers(len(old)))] += int(rng.choice([-1, 1, 1000]))
        changed = tuple(changed[: int(rng.integers(1, 2 * len(old)))])
    elif isinstance(old, bytes):
        changed = rng.bytes(len(old))
    else:
        changed = int(rng.choice([*_INTEGERS, max(0, old - 1), old + 1, 2 * old]))
    said = replace(right, **{field: changed})  # type: ignore[type-var]
    try:
        said.payload()
    except struct.error:  # the field is not that wide
        return right
    return said


def _corrupted(rng: np.random.Generator, frame: bytes) -> bytes:
    """Return a frame with a bit turned over, a byte lost or doubled, or its end lost."""
    at, kind = int(rng.integers(len(frame))), int(rng.integers(4))
    if kind == 0:
        return frame[:at] + bytes([frame[at] ^ 1 << int(rng.integers(8))]) + frame[at + 1 :]
    if kind == 1:
        return frame[:at] + frame[at + 1 :]
    return frame[: at + 1] + (frame[at:] if kind == 2 else b"")


def _flood(rng: np.random.Generator, model: Any) -> tuple[Callable[[int], bytes] | None, float]:
    """Return what a device sends without being asked, and how often."""
    if rng.random() < 0.6:
        return None, 0.0
    every_s = float(rng.choice([0.0, 0.02, 0.3, 2.0, 9.0], p=[0.05, 0.25, 0.3, 0.2, 0.2]))
    requests: list[Message] = [
        protocol.HelloRequest(),
        protocol.StatsRequest(),
        protocol.ScoresRequest(bytes(model.features)),
        protocol.PredictRequest(bytes(model.features)),
    ]
    reply = model.reply(requests[int(rng.integers(len(requests)))])
    number = int(rng.integers(256)) if rng.random() < 0.5 else None
    kind = int(rng.integers(4))

    def piece(n: int) -> bytes:
        if kind == 0:
            return rng.bytes(int(rng.integers(1, 300)))
        if kind == 1:
            return protocol.encode_frame(bytes([0x83, n % 256]) + bytes(int(rng.integers(4000))))
        said = _lie(rng, reply) if kind == 2 else reply
        return protocol.encode_message(said, n % 256 if number is None else number)

    return piece, every_s
