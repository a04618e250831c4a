"""The longest time from a window's last sample to its class, on a board with its own sensor.

Machine code gives the most cycles of the program's loop for a sample, with and without the end of a
window, and of a sample's interrupts. The timer's period then gives the number of interrupts in each
turn of the loop, and the number of samples that may be waiting when the last one arrives. The
board's status message, sent once a second, and requests to it are not included.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from protonn_edge.chips.boards import Board
from protonn_edge.codegen.families.family import MachineCode
from protonn_edge.extensions.sensing.load import Load
from protonn_edge.extensions.sensing.windowing import Windowing
from protonn_edge.system.errors import CheckFailed
from protonn_edge.system.schema import JsonObject

_ENTRY_CYCLES = 4 + 3  # the chip's response to an interrupt, and the vector's jump
_WAKING_CYCLES = 4  # from sleep, more than that
_STARTS_AND_ADDRESSES = 5  # interrupts of the bus for a sample, in addition to those of its bytes
_ENDS = "turned", "classified", "describing", "asleep"
_EACH_FEATURE = ("window_features_samples", "audio_samples", "pushed")
"""Facts about code that runs once for each pushed feature."""


@dataclass(frozen=True)
class Response(Load):
    """The most cycles of live firmware."""

    cycles: int  # from when a window's last sample is kept until its class is known

    def to_json(self, board: Board) -> JsonObject:
        """Return the fields, and the cycles as ms."""
        return asdict(self) | {"ms": board.milliseconds(self.cycles)}


def response_of(code: MachineCode, windowing: Windowing) -> Response:
    """Return the bound for linked live firmware; raises `CheckFailed` if there is none."""
    interrupts = _interrupt_cycles(code, windowing)
    idle, each, last = (
        _turn_cycles(code, windowing, taken=taken, finished=finished)
        for taken, finished in ((0, 0), (1, 0), (1, 1))
    )
    hop, period = windowing.hop, windowing.sampling.period_cycles
    whole = _turn_cycles(code, windowing, taken=max(hop, windowing.window), finished=1)
    if windowing.overlapping:  # all is computed when a window is complete
        each, hop, period = last, 1, hop * period
    sending, longest = math.ceil(windowing.sending_cycles), 0
    for waiting in range(2 * hop + 1):  # samples before the last one, that wait for it
        demand = idle + min(last + waiting % hop * each, whole)
        demand += waiting // hop * (min(last + (hop - 1) * each, whole) + sending)
        busy = _busy(demand, interrupts, windowing.sampling.period_cycles)
        since = max(0, waiting * period - interrupts)  # the first of them; its own may be late
        longest = max(longest, math.ceil(busy) - since)
    sample = last if windowing.overlapping else each
    return Response(max(whole, last), last, sample, interrupts, longest)


def _turn_cycles(code: MachineCode, windowing: Windowing, *, taken: int, finished: int) -> int:
    """Return the most cycles of turns of the loop with this number of samples, at most one each.

    This number of windows end then, and the last one's class ends the last turn.
    """
    labels, limits = code.labels(), {"taken": taken, "finished": finished}
    if not windowing.overlapping:
        features = min(taken, windowing.window) * len(windowing.used)
        limits |= dict.fromkeys(_EACH_FEATURE, features)
    ends = [at for name in _ENDS for at in labels.get(name, ())]
    if any(len(labels.get(name, ())) != 1 for name in ("turn", "awake")):
        raise CheckFailed("the firmware has no labels for its main loop; build it again")
    turns = max(1, taken)
    starts = {labels["turn"][0]: turns, labels["awake"][0]: 1}
    return code.longest(starts, ends, limits) + turns * _WAKING_CYCLES


def _interrupt_cycles(code: MachineCode, windowing: Windowing) -> int:
    """Return the most cycles of all interrupts of a sample."""
    sampling = windowing.sampling
    chip, entry_cycles = sampling.chip, _ENTRY_CYCLES + sampling.board.cpu.call_cycles // 2
    read = {chip.conversion: len(sampling.channels)}
    if sampling.device is not None:
        read = {
            (chip.i2c if sampling.device.addresses else chip.spi): sampling.device.data_bytes
            + _STARTS_AND_ADDRESSES
        }
    times = {chip.timer: 1, chip.received: 0, **read}
    handlers = code.handlers()
    if handlers.keys() - times.keys():
        raise CheckFailed(
            "the firmware has an interrupt handler that sampling does not need; build the firmware "
            "again"
        )
    starts = {address: (0, times[number]) for number, address in handlers.items()}
    return code.longest(starts) + entry_cycles * sum(times.values())


def _busy(demand: float, interrupts: int, period: int) -> float:
    """Return how long work takes that is interrupted once a period, wherever that begins."""
    if interrupts >= period:
        raise CheckFailed(
            "the interrupts for one sample take longer than the time between samples; lower --rate"
        )
    busy = demand
    while (longer := demand + (math.ceil(busy / period) + 1) * interrupts) > busy:
        busy = longer
    return busy
