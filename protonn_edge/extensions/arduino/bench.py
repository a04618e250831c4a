"""By what a device measures: the request BENCH, which only firmware on a core of others has."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Self

from protonn_edge.device.protocol import REPLY, U8, U16, U32, Message, ProtocolError
from protonn_edge.device.session import Session, Statement
from protonn_edge.model.integer_chain import IntegerChain
from protonn_edge.system.errors import DeviceError
from protonn_edge.system.schema import JsonObject

_BENCH = 0x0A
_STACK = 1
_LONGEST_S = 3.0  # that a prediction may take


class BenchRequest(Message, number=_BENCH):
    """Ask by what the device measures."""


class BenchReply(Message, number=REPLY | _BENCH):
    """The device's instruments."""

    facts: U8  # 1: the stack is measured
    counter_hz: U32  # ticks of its counter in a second; 0 if it counts instructions
    step: U16  # the least difference of two times, in ticks; 0 if the counter stands still
    runs: U8  # of a prediction, of which the fastest counts
    first_most: U32  # the most cycles, or instructions, of a first run


MESSAGES = BenchRequest, BenchReply


@dataclass(frozen=True)
class Bench:
    """By what a device measures; a time is None if there is none."""

    counter: str  # ``"cycles"``, ``"timer"`` or ``"instructions"``
    step_us: float | None
    runs: int  # of a prediction, of which the fastest counts
    first_most_ms: float | None  # the slowest first run

    @classmethod
    def of(cls, reply: BenchReply, clock_hz: int) -> Self:
        """Return the instruments that a reply of a device with this clock states."""
        if clock_hz == 0:
            return cls("instructions", None, reply.runs, None)
        counter = "cycles" if reply.counter_hz == clock_hz else "timer"
        step_us = 1e6 * reply.step / max(1, reply.counter_hz)
        return cls(counter, step_us, reply.runs, 1e3 * reply.first_most / clock_hz)

    def to_json(self) -> JsonObject:
        """Return the fields."""
        return asdict(self)

    def __str__(self) -> str:
        fastest = f"the fastest of {self.runs} runs"
        if self.first_most_ms is None or self.step_us is None:
            return (
                f"instructions of an emulated core, {fastest}; a real core takes more cycles than "
                "instructions"
            )
        by = "the core's cycle counter"
        if self.counter == "timer":
            by = f"a timer, in steps of {self.step_us:.3g} us"
        return f"{by}, {fastest}; a first run took up to {self.first_most_ms:.3g} ms"


def stated_bench(session: Session, _reference: IntegerChain) -> Bench | None:
    """Return by what a device measures; None if its firmware is not the one on an Arduino core.

    Raises `DeviceError` if its counter stands still, so that it has measured nothing.
    """
    if session.device.window:
        return None
    try:
        reply = session.ask(BenchRequest(), BenchReply)
    except ProtocolError:  # a serial line in software has no window either
        return None
    if reply.step == 0:
        raise DeviceError(
            f"the counter of the device on {session.url} stands still, so its times are "
            "meaningless; compile its program with -DHARNESS_MICROS, or in plain C with "
            "another MEASURE_TICKS"
        )
    clock = session.device.clock_hz
    if clock and reply.first_most > _LONGEST_S * clock:
        raise DeviceError(
            f"the device on {session.url} took {reply.first_most / clock:,.0f} s for a prediction, "
            "so its counter jumps; compile its program with -DHARNESS_MICROS, or with a newer core"
        )
    return Bench.of(reply, clock)


STATEMENT = Statement("measured_by", stated_bench)
"""What a measurement asks of a device at its end."""
