"""The sampling rates that an ATmega328P can keep, by its timer, its ADC and the two-wire bus.

They limit what is built, and what a board says of itself is believed.
"""

from __future__ import annotations

from protonn_edge.errors import CheckFailed
from protonn_edge.sensors.kinds import ADXL345, MPU6050

ANALOG_RATE = 9_000.0
"""Conversions of analog inputs a second, at most."""

TIMER_STEPS = 1 << 16
LARGEST_PRESCALER = 1024

_TWO_WIRE_RATE = 1_000.0
_CLOCKS_HZ = 1_000_000, 32_000_000  # as board files have them
_ROUNDING = 0.01  # of a period, to whole steps of the timer


def rate_limits(sensor: str, channels: int, clock_hz: int) -> tuple[float, float]:
    """Return the lowest and the highest rate in hertz for a sensor of so many channels."""
    most = _TWO_WIRE_RATE if sensor in (MPU6050.name, ADXL345.name) else ANALOG_RATE / channels
    return clock_hz / (LARGEST_PRESCALER * TIMER_STEPS), most


def check_reported_rate(sensor: str, channels: int, period_cycles: int, clock_hz: int) -> None:
    """Raise `CheckFailed` if a board reports a rate that it cannot keep."""
    rate, (slowest, fastest) = clock_hz / period_cycles, _CLOCKS_HZ
    least, most = rate_limits(sensor, channels, min(max(clock_hz, slowest), fastest))
    if not least <= rate <= most * (1 + _ROUNDING):
        raise CheckFailed(
            f"the board reports {rate:.4g} samples a second at a clock of {clock_hz:,} Hz, but can "
            f"sample its {sensor} at {least:.2g} to {most:,.0f} Hz; generate its firmware again, "
            "and upload it"
        )
