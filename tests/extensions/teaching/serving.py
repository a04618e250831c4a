"""Programs of `serving.c`: a model on the host, or on an emulated Uno, that is taught."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
from avr_programs import compile_text
from generated_programs import write_c
from programs import started

from protonn_edge.chips.emulator import EmulatedUno
from protonn_edge.codegen.words import WordPlan
from protonn_edge.extensions.teaching import board as teaching
from protonn_edge.extensions.teaching.examples import Taught
from protonn_edge.model.integer_chain import IntegerChain

_SOURCE = Path(__file__).with_name("serving.c")
_DEADLINE_S = 60.0
_HOST = ["cc", "-std=c99", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
_STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


class Serving:
    """A running program; it has started, and knows nothing until `start`."""

    def __init__(
        self,
        model: IntegerChain,
        send: IO[bytes],
        receive: IO[bytes],
        uno: EmulatedUno | None = None,
    ) -> None:
        self.uno = uno
        self.model, self.store_bytes = model, teaching.store_of(model).size
        self._to, self._from = send, receive
        self.expect_start()

    def expect_start(self) -> None:
        assert self._from.read(1) == b"!"

    def ask(self, letter: str, content: bytes = b"", answer: int = 1) -> bytes:
        self._to.write(letter.encode() + content)
        self._to.flush()
        received = self._from.read(answer)
        assert len(received) == answer
        return received

    def predict(self, features: np.ndarray) -> tuple[int, list[int]]:
        """Return the class and the scores."""
        answer = self.ask("P", features.tobytes(), 1 + 4 * self.model.n_classes)
        return answer[0], np.frombuffer(answer, "<i4", offset=1).tolist()

    def begin(self, features: np.ndarray) -> None:
        """Begin another prediction, and do not finish it."""
        self.ask("B", features.tobytes())

    def cycles(self, do: Callable[[], object]) -> int:
        """Return the cycles of what the program marks, on an Uno."""
        assert self.uno is not None
        before = self.uno.stats().marked_cycles
        do()
        return self.uno.stats().marked_cycles - before

    def predicting_cycles(self, features: np.ndarray) -> int:
        return self.cycles(lambda: self.predict(features))

    def learn(self, label: int) -> int:
        return self.ask("L", bytes([label]))[0]

    def forget(self, label: int) -> None:
        self.ask("F", bytes([label]))

    def forget_all(self) -> None:
        self.ask("A")

    def start(self) -> int:
        return self.ask("S")[0]

    def counts(self) -> list[int]:
        """Return the number of examples, and of those of each class."""
        return list(self.ask("T", answer=1 + self.model.n_classes))

    @property
    def has_others(self) -> int:
        """Whether the store has another model's examples."""
        return self.ask("O")[0]

    @property
    def store(self) -> bytes:
        return self.ask("D", answer=self.store_bytes)

    @store.setter
    def store(self, content: bytes) -> None:
        if self.uno is None:
            self.ask("W", content, answer=len(content) + 1)
            return
        self._to.write(b"W")
        for byte in content:  # a UART keeps no more
            self._to.write(bytes([byte]))
            self._to.flush()
            assert self._from.read(1)
        assert self._from.read(1)

    @property
    def stored(self) -> Taught:
        """What the host reads in the store."""
        return teaching.recalled(self.model, self.store)

    def cut_after(self, number: int) -> None:
        """Cut the power after so many writes on the host, or cycles on an Uno."""
        self.ask("C", number.to_bytes(2, "little"))

    def ask_until_cut(self, letter: str, content: bytes = b"") -> bool:
        """Ask an Uno, wait until the power is cut, and return whether it had answered."""
        self._to.write(letter.encode() + content)
        self._to.flush()
        answered = False
        while self._from.read(1) != b"!":
            answered = True
        return answered


@contextmanager
def on_host(model: IntegerChain, folder: Path, plan: WordPlan | None = None) -> Iterator[Serving]:
    """Run it on the host, under sanitizers, by default with the plan of an Uno."""
    write_c(model, folder, plan)
    program = folder / "serving"
    sources = [_SOURCE, folder / "pnn_model.c"]
    command = [*_HOST, *_STRICT, f"-I{folder}", *sources, "-o", program]
    subprocess.run(command, check=True, timeout=_DEADLINE_S)
    with started(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        yield Serving(model, running.stdin, running.stdout)
        running.stdin.close()
        assert running.wait(_DEADLINE_S) == 0


@contextmanager
def on_uno(model: IntegerChain, folder: Path, *flags: str) -> Iterator[Serving]:
    """Run it on an emulated Uno."""
    write_c(model, folder)
    elf = folder / "serving.elf"
    text = _SOURCE.read_text()
    compile_text(text, elf, "-O2", "-DF_CPU=16000000UL", *_STRICT, *flags, "pnn_model.c")
    with EmulatedUno(elf) as uno, socket.create_connection(("127.0.0.1", uno.port)) as line:
        line.settimeout(_DEADLINE_S)
        stream = line.makefile("rwb")
        yield Serving(model, stream, stream, uno)
        assert uno.stats().faults == ()
