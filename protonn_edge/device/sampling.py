"""Sensors that a board samples at a steady rate: the settings of its timer, ADC and bus.

A timer starts each sample, and interrupts read it. Rates that are too high for the chip or the
sensor are refused before anything is written. Loggers and firmware that classifies its sensor's
samples share this module and the templates in ``templates/sampling``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from protonn_edge import __version__
from protonn_edge.boards import Board
from protonn_edge.boards.environment import upload_lines
from protonn_edge.device.rates import LARGEST_PRESCALER, TIMER_STEPS, rate_limits
from protonn_edge.device.samples import SENSOR_NUMBERS
from protonn_edge.device.two_wire import DEVICES, TwoWireDevice
from protonn_edge.errors import InputError
from protonn_edge.sensors import SensorKind

_MCU = "atmega328p"
_ADC_HZ = 125_000  # a conversion takes 13 cycles of it
_FAST_ANALOG_RATE = 4_000.0  # above, conversions take half as long, and are slightly less accurate
_PRESCALERS = ((1, "_BV(CS10)"), (8, "_BV(CS11)"), (64, "_BV(CS11) | _BV(CS10)"),
               (256, "_BV(CS12)"), (LARGEST_PRESCALER, "_BV(CS12) | _BV(CS10)"))  # fmt: skip
_TWI_HZ = 400_000
# Cycles of interrupts, rounded up from measurements on simulated boards.
_TIMER_CYCLES = 100
_CONVERSION_CYCLES = 200
_BUS_BYTE_CYCLES = 200
_ADDRESSES = 6  # bytes on the bus, and starts, besides the data


@dataclass(frozen=True)
class Sampling:
    """Sensors and their sampling rate, validated on construction.

    Attributes
    ----------
    kinds : tuple of SensorKind
        Analog inputs, or one other sensor.
    rate : float
        Requested samples per second; `actual_rate` is the timer's.
    board : Board
        A board with an ATmega328P.

    Raises
    ------
    InputError
        If the sensors cannot be sampled together, or the rate cannot be kept.
    """

    kinds: tuple[SensorKind, ...]
    rate: float
    board: Board

    def __post_init__(self) -> None:
        names = self.name
        if self.board.mcu != _MCU:
            raise InputError(
                f"{self.board.name} has an {self.board.mcu or 'unknown chip'}, sensors are sampled "
                f"by an {_MCU}; choose --board uno, nano or promini8"
            )
        if not self.kinds or len(set(self.kinds)) < len(self.kinds):
            raise InputError(f"the sensors are {names or 'none'}; name each once")
        if len(self.kinds) > 1 and any(kind.name != f"a{kind.pin}" for kind in self.kinds):
            raise InputError(
                f"{names} cannot be sampled together; name analog inputs, or one sensor"
            )
        least, most = rate_limits(self.kinds[0].name, len(self.channels), self.board.clock_hz)
        if not least <= self.rate <= most:
            raise InputError(
                f"{names} at {self.rate:g} Hz: {self.board.name} can sample them at {least:.2g} to "
                f"{most:,.0f} Hz; choose another --rate"
            )

    @classmethod
    def of(cls, kinds: Sequence[SensorKind], rate: float, board: Board) -> Sampling:
        """Return the sampling of sensors, analog inputs in the order of their pins."""
        return cls(tuple(sorted(kinds, key=lambda kind: kind.pin or 0)), rate, board)

    @property
    def name(self) -> str:
        """The sensors' names for display."""
        return ", ".join(kind.name for kind in self.kinds)

    @property
    def number(self) -> int:
        """The number that the board sends for its sensor."""
        kind = self.kinds[0]
        return SENSOR_NUMBERS["analog" if kind.name == f"a{kind.pin}" else kind.name]

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of a sample's values."""
        return tuple(name for kind in self.kinds for name in kind.channels)

    @property
    def device(self) -> TwoWireDevice | None:
        """The chip on the two-wire bus, None if analog inputs are sampled."""
        return DEVICES.get(self.kinds[0].name)

    @property
    def timer(self) -> tuple[int, str, int]:
        """The timer's prescaler, its bits in C, and timer steps per sample."""
        cycles = self.board.clock_hz / self.rate
        for prescaler, bits in _PRESCALERS:
            if round(cycles / prescaler) <= TIMER_STEPS:
                return prescaler, bits, max(1, round(cycles / prescaler))
        raise AssertionError("the rate was checked")

    @property
    def period_cycles(self) -> int:
        """Clock cycles from one sample to the next."""
        prescaler, _, steps = self.timer
        return prescaler * steps

    @property
    def actual_rate(self) -> float:
        """Samples per second of the timer."""
        return self.board.clock_hz / self.period_cycles

    @property
    def interrupt_cycles(self) -> int:
        """Approximate cycles of interrupts per sample, before it is stored."""
        if self.device is None:
            return _TIMER_CYCLES + _CONVERSION_CYCLES * len(self.channels)
        return _TIMER_CYCLES + _BUS_BYTE_CYCLES * (self.device.data_bytes + _ADDRESSES)

    def context(self) -> dict[str, object]:
        """Return all that ``templates/sampling`` needs."""
        prescaler, bits, steps = self.timer
        pins = [kind.pin for kind in self.kinds if kind.pin is not None]
        device = self.device
        return {
            "tool_version": __version__,
            "sensor": self.name,
            "sensor_number": self.number,
            "sensor_template": "analog.j2" if device is None else "two_wire.j2",
            "sampling_takes": (
                "Timer1 and the ADC are its own."
                if device is None
                else "Timer1 and the two-wire bus are its own: it takes the place of Wire."
            ),
            "device": None if device is None else _device_context(device, self.actual_rate),
            "channels": len(self.channels),
            "pins": pins,
            "digital_off": sum(1 << pin for pin in pins),
            "adc_prescaler_bits": self._adc_prescaler.bit_length() - 1,
            "conversion_us": round(13e6 * self._adc_prescaler / self.board.clock_hz),
            "period_cycles": self.period_cycles,
            "actual_rate": self.actual_rate,
            "timer_top": steps,
            "timer_clock": bits,
            "prescaler": prescaler,
            "clock_hz": self.board.clock_hz,
            "mcu": self.board.mcu,
            "environment": self.board.environment,
            "platformio_board": self.board.platformio_board or self.board.environment,
            "upload_lines": upload_lines(self.board),
            "twi_divisor": max(0, (self.board.clock_hz // _TWI_HZ - 16) // 2),
        }

    @property
    def _adc_prescaler(self) -> int:
        prescaler = 1 << (self.board.clock_hz // _ADC_HZ).bit_length() - 1
        fast = self.rate * len(self.channels) > _FAST_ANALOG_RATE
        return prescaler // 2 if fast else prescaler


def _device_context(device: TwoWireDevice, rate: float) -> dict[str, object]:
    return {**asdict(device), "settings": device.settings_for(rate)}
