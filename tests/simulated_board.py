"""A project's board on a simulated line, with a fault: what a bench has to tell apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from fake_device import HostileDevice, ReferenceModel, SimulatedHost

from protonn_edge.chips.avr.program import read_program
from protonn_edge.chips.boards import load_board
from protonn_edge.codegen.plan import Plan
from protonn_edge.codegen.projects.folder import Project
from protonn_edge.codegen.verification.agreement import PossibleCycles
from protonn_edge.device.connection import Link
from protonn_edge.device.protocol import HelloRequest, Message, StatsReply

BROWN_OUT, WATCHDOG = 4, 8
PASSED, FAILED = "passed", "failed"

# What a run with a fault ends in: `PASSED`, `FAILED`, or words of the error.
EXPECTED = {
    "none": PASSED,
    "unplugged for a moment": PASSED,
    "1 % of bytes lost": PASSED,
    "noise": PASSED,
    "changed weight": FAILED,
    "too many cycles": FAILED,
    "too much stack": FAILED,
    "unplugged": "broke",
    "stuck line": "no device answered",
    "stops answering": "no device answered",
    "other firmware": " runs model ",
    "brown-out": "was reset by a brown-out",
    "watchdog": "was reset by the watchdog",
    "counters missing": "the measured stack is missing",
}


class SimulatedBoard:
    """Makes computers with a board of a project at the end of their lines."""

    def __init__(self, project: Project) -> None:
        self._reference, plan = project.generated()
        assert isinstance(plan, Plan)
        board = load_board("uno")
        program = read_program(project.compile(board))
        possible = PossibleCycles.of_program(program, plan, board)
        self._cycles = (possible.least + possible.most) // 2
        self._most = possible.most

    def with_fault(self, fault: str) -> SimulatedHost:
        """Return a computer whose board has a fault."""
        draw = np.random.default_rng(0)
        model = ReferenceModel(self._reference, self._cycles)
        if fault == "changed weight":
            model = _Changed(self._reference, self._cycles)
        elif fault == "too many cycles":
            model.cycles = self._most + 1 + int(draw.integers(1000))
        elif fault == "other firmware":
            model.model_hash = draw.bytes(8)
        at = int(draw.integers(1, 3))
        breaks: Callable[[int], bool] = lambda _: False  # noqa: E731
        if fault == "unplugged":
            breaks = lambda n: n >= at  # noqa: E731
        elif fault == "unplugged for a moment":
            breaks = lambda n: n == at  # noqa: E731
        flood = (lambda _: draw.bytes(3) + b"\0") if fault == "noise" else None
        device = HostileDevice(
            model, answer=_Answer(fault, at, draw), breaks=breaks, flood=flood, every_s=0.05
        )
        return SimulatedHost(device)


class _Changed(ReferenceModel):
    """A model with another weight than the reference."""

    def scores(self, features: bytes) -> tuple[int, ...]:
        first, *others = super().scores(features)
        return (first + 1, *others)


class _Answer:
    """What a board with a fault answers."""

    def __init__(self, fault: str, at: int, draw: np.random.Generator) -> None:
        self._fault, self._at, self._draw = fault, at, draw
        self._asked = 0

    def __call__(self, request: Message, right: Message) -> Message | bytes | None:
        self._asked += 1
        hello = isinstance(request, HelloRequest)
        if self._fault == "stuck line":
            return None
        if self._fault == "stops answering" and self._asked > self._at:
            return None
        if isinstance(right, StatsReply):
            return self._counters(right)
        if self._fault == "1 % of bytes lost" and not hello and self._draw.random() < 0.4:
            return b"\x01" + self._draw.bytes(3)  # a reply of some 40 bytes without one of them
        return right

    def _counters(self, right: StatsReply) -> Message | None:
        if self._fault == "counters missing":
            return None
        causes = {"brown-out": BROWN_OUT, "watchdog": WATCHDOG}
        stack = 60_000 if self._fault == "too much stack" else right.stack_bytes
        cause = causes.get(self._fault, right.reset_cause)
        return replace(right, stack_bytes=stack, reset_cause=cause)


class SimulatedPorts(SimulatedHost):
    """A computer with another board at each opening of a line; the last one stays."""

    def __init__(self, boards: SimulatedBoard, faults: Sequence[str]) -> None:
        self.text = "a simulated line"
        self._hosts = [boards.with_fault(fault) for fault in faults]
        super().__init__(self._hosts[0].device)

    def open(self, url: str, baud: int) -> Link:
        self.device = self._hosts.pop(0).device if self._hosts else self.device
        return super().open(url, baud)


def simulate(user: pytest.Pytester, *faults: str) -> None:
    """Put a board with a fault at the end of each port that is opened; the last one stays."""
    user.makeconftest(
        f"""
        import pytest
        from simulated_board import SimulatedBoard, SimulatedPorts

        @pytest.fixture(scope="session")
        def pnn_line_log(pnn_project):
            return SimulatedPorts(SimulatedBoard(pnn_project), {faults!r})
        """
    )
