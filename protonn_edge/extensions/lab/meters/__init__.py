"""Power meters in the supply of a board, one module per meter, and the energy of batches."""

from __future__ import annotations

from functools import partial

from protonn_edge.device.instruments import BenchInstrument
from protonn_edge.extensions.lab.meters.energy import MeteredPower, metered
from protonn_edge.extensions.lab.meters.ina219 import Ina219
from protonn_edge.extensions.lab.meters.meter import Meter
from protonn_edge.extensions.lab.meters.ppk2 import Ppk2
from protonn_edge.system.checks import check_choice

__all__ = ["MeteredPower", "instrument_of", "meter_of"]

_METERS: dict[str, type[Meter]] = {"ppk2": Ppk2, "ina219": Ina219}


def instrument_of(text: str, volts: float | None = None) -> BenchInstrument:
    """Return the meter that a text names, for a run; see `meter_of`."""
    meter = meter_of(text, volts)
    return BenchInstrument(meter, partial(metered, meter))


def meter_of(text: str, volts: float | None = None) -> Meter:
    """Return the meter that a text such as ``ppk2:/dev/ttyACM1`` names.

    `volts` is the board's supply, for a meter that does not measure it. Raises `InputError` if
    there is no such meter, or its port or the voltage is missing.
    """
    name, _, place = text.partition(":")
    check_choice("--meter", name, _METERS, "give ppk2:PORT, ina219:PORT or none")
    return _METERS[name](place, volts)
