"""Calls of a generated model's functions in any order, and what they must answer.

Features before a prediction has begun and after its last one are ignored, those that are missing
count as 0, and the end of a prediction that has not begun answers as the last one did, at first
with class 0 and scores of 0. Raw integers and floats of any feature become the bytes of NumPy.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from avr_programs import compile_text
from byte_programs import answer_on
from checkout import CHECKOUT
from generated_programs import write_c

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.chips.toolchain.process import build_host_executable
from protonn_edge.codegen.plan import Plan
from protonn_edge.data.naming import NO_CLASS
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.model.raw_inputs import float_quantizer
from protonn_edge.policy.confidence.rule import Confidence
from protonn_edge.policy.rejection.rule import IntegerRejection

MAIN = Path(__file__).with_name("any_order_main.c")

_FIRMWARE = CHECKOUT / "firmware"
_DEADLINE_S = 60.0
_HASH_BYTES = 8
_FLOATS = (0.0, 1.0, -1.0, 1e38, -1e38, float("inf"), float("-inf"), float("nan"), 1e-40)


@dataclass(frozen=True)
class Call:
    """A function by the letter that names it, with its arguments as they are sent."""

    name: str
    arguments: bytes = b""

    @property
    def sent(self) -> bytes:
        """The bytes of the call."""
        count = len(self.arguments).to_bytes(2, "little") if self.name == "m" else b""
        return self.name.encode() + count + self.arguments

    def answer_bytes(self, model: IntegerChain) -> int:
        """Return how many bytes come back."""
        if self.name in "fxy":
            return 1 + model.n_classes * _score_bytes(model)
        if self.name == "n":
            return self.arguments[1]
        return self.name in "qrhuco"


BEGIN, FINISH, UNTOUCHED = Call("b"), Call("f"), Call("u")


def push(*features: int) -> Call:
    """Return the call that pushes features together."""
    return Call("m", bytes(features))


def predict(features: bytes) -> Call:
    """Return the call for all features of a point."""
    return Call("x", features)


def predict_floats(features: np.ndarray) -> Call:
    """Return the call for all features of a point as raw floats, (D,)."""
    return Call("y", features.astype("<f4").tobytes())


def name_of(label: int, size: int) -> Call:
    """Return the call for the name of a class, in `size` bytes."""
    return Call("n", bytes([label, size]))


def raw(feature: int, value: np.int16 | np.float32) -> Call:
    """Return the call that makes a byte of a raw integer, or of a raw float."""
    name = "q" if isinstance(value, np.int16) else "r"
    return Call(name, feature.to_bytes(2, "little") + value.tobytes())


def wrong_calls(points: np.ndarray) -> list[Call]:
    """Return what a program may get wrong: no begin, too many features, a second end."""
    one, other = (bytes(point) for point in points[-2:])
    return [
        *(FINISH, push(1, 2, 3), FINISH),
        *(BEGIN, push(*one), push(1, 2, 3), FINISH, FINISH, push(1, 2, 3), FINISH),
        *(BEGIN, push(*other[: len(other) // 2]), predict(one), push(*other), FINISH, FINISH),
        *(BEGIN, push(*one), BEGIN, push(*other), push(*one), FINISH),
        *(BEGIN, FINISH, FINISH),
        *(name_of(255, 1), name_of(0, 4)),
    ]


def random_calls(rng: np.random.Generator, model: IntegerChain, count: int) -> Iterator[Call]:
    """Yield calls in any order, some with features beyond their maximum."""
    n, maximum = model.n_features, model.quantizer.maximum
    names = "bbbppmmmmffffxynqrhu"
    names += "c" * _is_confident(model)
    names += "o" * _hears(model)

    def features(number: int) -> bytes:
        top = 256 if rng.random() < 0.1 else maximum + 1
        values = rng.integers(0, top, number, np.uint8) if top < 256 else rng.bytes(number)
        drawn = np.frombuffer(bytes(values), np.uint8).copy()
        drawn[rng.random(number) < rng.choice([0.0, 0.5, 1.0])] = 0
        return drawn.tobytes()

    for _ in range(count):
        name = str(rng.choice(list(names)))
        sizes = {
            "p": 1,
            "m": int(rng.choice([0, 1, rng.integers(0, 50), n, rng.integers(0, 2 * n + 40)])),
            "x": n,
        }
        if name in sizes:
            yield Call(name, features(sizes[name]))
        elif name == "y":
            yield predict_floats(rng.choice(np.float32(_FLOATS), n))
        elif name in "qr" and rng.random() < 0.8:
            feature = int(rng.integers(0, n))
            given = rng.choice(_FLOATS) if name == "r" else rng.integers(-200, 1_200)
            yield raw(feature, np.float32(given) if name == "r" else np.int16(given))
        else:
            yield Call(name, rng.bytes({"n": 2, "q": 4, "r": 6, "h": 1, "o": 1}.get(name, 0)))


def assert_answers(model: IntegerChain, calls: Iterable[Call], answers: Iterable[bytes]) -> None:
    """Compare what came back for each call with what must."""
    begun, pushed, last = False, b"", bytes(Call("f").answer_bytes(model))
    facts = _Facts(model)
    for number, (call, answer) in enumerate(zip(calls, answers, strict=True)):
        expected: bytes | None = b""
        if call.name == "b":
            begun, pushed = True, b""
        elif call.name in "pm":
            pushed += call.arguments if begun else b""
        elif call.name in "fxy":
            if call.name != "f" or begun:
                whole = pushed if call.name == "f" else call.arguments
                whole = facts.quantized(whole) if call.name == "y" else whole
                last = _answer(model, whole) or answer
            begun, expected = False, last
        elif call.name == "n":
            expected = _name(model, *call.arguments)
        else:
            expected = facts.of(call)
        assert expected in (None, answer), f"call {number}, {call}: {answer!r}, not {expected!r}"


class _Facts:
    """What calls answer that no other call has an influence on."""

    def __init__(self, model: IntegerChain) -> None:
        self._hash = bytes.fromhex(model.model_sha256)[:_HASH_BYTES]
        self._features = model.n_features
        self._integers, self._floats = model.raw_inputs, float_quantizer(model.quantizer)

    def quantized(self, floats: bytes) -> bytes:
        """Return the features of the raw floats of a point."""
        row = np.frombuffer(floats, "<f4")[None]
        return self._floats.quantize(row).tobytes()

    def of(self, call: Call) -> bytes | None:
        """Return what a call must answer; None if that is not known."""
        if call.name == "u":
            return b"\x01"
        if call.name == "h" and call.arguments[0] < _HASH_BYTES:
            return self._hash[call.arguments[0] :][:1]
        feature = int.from_bytes(call.arguments[:2], "little")
        if call.name not in "qr" or feature >= self._features:
            return None
        integer = call.name == "q"
        row = np.zeros((1, self._features), np.int16 if integer else np.float32)
        row[0, feature] = np.frombuffer(call.arguments[2:], row.dtype)[0]
        quantizer = self._integers if integer else self._floats
        return quantizer.quantize(row)[0, feature].tobytes()


def _answer(model: IntegerChain, pushed: bytes) -> bytes | None:
    """Return class and scores of pushed features; None if the reference does not have them."""
    n = model.n_features
    Q = np.frombuffer(pushed[:n].ljust(n, b"\0"), np.uint8)[None]
    if model.score_tolerance or Q.max() > model.quantizer.maximum:  # floats are rounded when sent
        return None
    classes, scores = model.answers(Q)
    return bytes([int(classes[0])]) + scores[0].astype(f"<i{_score_bytes(model)}").tobytes()


def _name(model: IntegerChain, label: int, size: int) -> bytes:
    rejects = model.policy.find(IntegerRejection) is not None
    name = "unknown" if rejects and label == NO_CLASS else model.classes[label % model.n_classes]
    cut = name.encode()[: max(0, size - 1)].decode(errors="ignore").encode()
    return (cut + b"\0")[:size].ljust(size, b"?")


def _score_bytes(model: IntegerChain) -> int:
    return 4 if model.score_tolerance else model.own_stages[-1].output.bits // 8


def _hears(model: IntegerChain) -> bool:
    return model.stages[0].kind == "audio"


def _is_confident(model: IntegerChain) -> bool:
    return model.policy.find(Confidence) is not None


def _macros(model: IntegerChain) -> list[str]:
    return ["-DCONFIDENCE"] * _is_confident(model) + ["-DONSET"] * _hears(model)


def build_on_host(model: IntegerChain, plan: Plan | None, folder: Path) -> Path:
    """Compile a model's C under sanitizers, in a folder, with a program that takes calls."""
    write_c(model, folder, plan)
    main = folder / "main.c"
    defines = "".join(f"#define {macro.removeprefix('-D')}\n" for macro in _macros(model))
    main.write_text(defines + MAIN.read_text())
    sources = [main, folder / "pnn_model.c"]
    return build_host_executable(sources, folder, folder / "any_order", sanitize=True)


def check_calls(program: Path, model: IntegerChain, calls: Iterable[Call]) -> None:
    """Make calls of a program that `build_on_host` compiled."""
    calls = list(calls)
    sent = b"".join(call.sent for call in calls)
    done = subprocess.run(
        [program], input=sent, capture_output=True, timeout=_DEADLINE_S, check=False
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")[:2_000]
    assert_answers(model, calls, _parts(done.stdout, model, calls))


def _parts(received: bytes, model: IntegerChain, calls: list[Call]) -> list[bytes]:
    ends = np.cumsum([call.answer_bytes(model) for call in calls]).tolist()
    assert len(received) == ends[-1]
    return [received[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def check_on_uno(
    model: IntegerChain, plan: Plan | None, calls: Iterable[Call], folder: Path
) -> None:
    """Make calls on the emulated Uno; after each, memory behind all variables is as it was."""
    calls = [UNTOUCHED, *(each for call in calls for each in (call, UNTOUCHED))]
    write_c(model, folder, plan)
    around = (_FIRMWARE / f"{name}.c" for name in ("cycle_counter", "uart", "watchdog"))
    flags = ["-O2", "-DF_CPU=16000000L", "-Wall", "-Wextra", "-Wpedantic", f"-I{_FIRMWARE}"]
    flags += ["-DFLOATS"] * any(call.name == "y" for call in calls)
    elf = compile_text(
        MAIN.read_text(), folder / "main.elf", *flags, *_macros(model), "pnn_model.c", *around
    )
    answers = []
    with EmulatedUno(elf) as uno, socket.create_connection(("127.0.0.1", uno.port)) as line:
        line.settimeout(_DEADLINE_S)
        for call in calls:
            line.sendall(call.sent)
            answers.append(answer_on(line, call.answer_bytes(model)))
        assert uno.stats().faults == ()
    assert_answers(model, calls, answers)
