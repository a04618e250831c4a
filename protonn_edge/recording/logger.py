"""Firmware that samples sensors at a steady rate and sends them in checked frames.

A timer says when a sample is due. Rates that the chip, the sensor or the serial line cannot keep
are refused before anything is written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from protonn_edge import __version__
from protonn_edge.boards import Board
from protonn_edge.codegen import template_environment
from protonn_edge.errors import InputError
from protonn_edge.recording.devices import DEVICES, TwoWireDevice
from protonn_edge.recording.frames import SENSOR_NUMBERS, most_frame_bytes
from protonn_edge.sensors import SensorKind

BAUDS = (115_200, 250_000, 500_000, 1_000_000)
"""Rates of the line that are tried, if none is asked for: those of 16 MHz chips' boards."""

_MCU = "atmega328p"
_FRAME_S = 0.05  # what is sent together, unless that is fewer samples than are seen to be missing
_LEAST_FRAME_SAMPLES = 4
_FRAME_VALUE_BYTES = 240  # a block of COBS, with what is around them
_LINE_SHARE = 0.95
_LOGGER_BYTES_A_SECOND = 60
_ANALOG_RATE = 9_000.0  # conversions a second, of 104 us each
_TWO_WIRE_RATE = 1_000.0
_BITS_PER_BYTE = 10
_PRESCALERS = ((1, "_BV(CS10)"), (8, "_BV(CS11)"), (64, "_BV(CS11) | _BV(CS10)"),
               (256, "_BV(CS12)"), (1024, "_BV(CS12) | _BV(CS10)"))  # fmt: skip
_TIMER_STEPS = 1 << 16
_BAUD_ERROR = 0.025
_TWI_HZ = 400_000


@dataclass(frozen=True)
class Logger:
    """What is logged, and how: checked when it is made.

    Attributes
    ----------
    kinds : tuple of SensorKind
        Analog inputs, or one other sensor.
    rate : float
        Samples a second that are asked for; `actual_rate` is what the timer makes of it.
    board : Board
        A board with an ATmega328P.
    baud : int
        Of the serial line; 0 takes the least that is enough, at least the board's.

    Raises
    ------
    InputError
        If the sensors cannot be logged together, or the rate cannot be kept.
    """

    kinds: tuple[SensorKind, ...]
    rate: float
    board: Board
    baud: int = 0

    def __post_init__(self) -> None:
        names = self.name
        if self.board.mcu != _MCU:
            raise InputError(
                f"{self.board.name} has an {self.board.mcu or 'unknown chip'}, loggers are for an "
                f"{_MCU}; choose --board uno, nano or promini8"
            )
        if not self.kinds or len(set(self.kinds)) < len(self.kinds):
            raise InputError(f"the sensors are {names or 'none'}; name each once")
        if len(self.kinds) > 1 and any(kind.name != f"a{kind.pin}" for kind in self.kinds):
            raise InputError(f"{names} are not logged together; name analog inputs, or one sensor")
        most = _TWO_WIRE_RATE if self.device else _ANALOG_RATE / self.channels
        least = self.board.clock_hz / (_PRESCALERS[-1][0] * _TIMER_STEPS)
        if not least <= self.rate <= most:
            raise InputError(
                f"{names} at {self.rate:g} Hz: {self.board.name} samples that at {least:.2g} to "
                f"{most:,.0f} Hz; choose another --rate"
            )
        if self.baud == 0:
            object.__setattr__(self, "baud", self._least_baud())
        self._check_baud()

    @property
    def name(self) -> str:
        """The sensors, for people."""
        return ", ".join(kind.name for kind in self.kinds)

    @property
    def channels(self) -> int:
        """Values of a sample."""
        return sum(len(kind.channels) for kind in self.kinds)

    @property
    def device(self) -> TwoWireDevice | None:
        """The chip on the two-wire bus, None if analog inputs are logged."""
        return DEVICES.get(self.kinds[0].name)

    @property
    def frame_samples(self) -> int:
        """Consecutive samples that are sent together."""
        wanted = max(_LEAST_FRAME_SAMPLES, round(_FRAME_S * self.rate))
        return min(wanted, _FRAME_VALUE_BYTES // (2 * self.channels))

    @property
    def bytes_a_second(self) -> float:
        """What the line must carry."""
        frame = most_frame_bytes(self.channels, self.frame_samples)
        return self.actual_rate * frame / self.frame_samples + _LOGGER_BYTES_A_SECOND

    @property
    def timer(self) -> tuple[int, str, int]:
        """The timer's prescaler, its bits in C, and how many steps a sample takes."""
        cycles = self.board.clock_hz / self.rate
        for prescaler, bits in _PRESCALERS:
            if round(cycles / prescaler) <= _TIMER_STEPS:
                return prescaler, bits, max(1, round(cycles / prescaler))
        raise AssertionError("the rate was checked")

    @property
    def period_cycles(self) -> int:
        """Clock cycles from one sample to the next."""
        prescaler, _, steps = self.timer
        return prescaler * steps

    @property
    def actual_rate(self) -> float:
        """Samples a second, as the timer has them."""
        return self.board.clock_hz / self.period_cycles

    def _least_baud(self) -> int:
        own = self.board.baud
        for baud in (own, *(each for each in BAUDS if each > own)):
            if self._fits(baud) and self._baud_error(baud) <= _BAUD_ERROR:
                return baud
        return own

    def _fits(self, baud: int) -> bool:
        return self.bytes_a_second <= _LINE_SHARE * baud / _BITS_PER_BYTE

    def _baud_error(self, baud: int) -> float:
        divisor = self._baud_divisor(baud) + 1
        return abs(self.board.clock_hz / (8 * divisor) / baud - 1)

    def _baud_divisor(self, baud: int) -> int:
        return max(0, round(self.board.clock_hz / (8 * baud)) - 1)

    def _check_baud(self) -> None:
        if self._baud_error(self.baud) > _BAUD_ERROR:
            raise InputError(
                f"{self.board.name} cannot make {self.baud:,} baud of its clock; choose one of "
                f"{', '.join(map(str, BAUDS))} with --baud"
            )
        if not self._fits(self.baud):
            carried = _LINE_SHARE * self.baud / _BITS_PER_BYTE
            raise InputError(
                f"{self.name} at {self.actual_rate:g} Hz needs {self.bytes_a_second:,.0f} bytes a "
                f"second, {self.baud:,} baud carry {carried:,.0f}; choose a lower --rate or a "
                "higher --baud"
            )

    def context(self) -> dict[str, object]:
        """Return all that ``templates/logger`` needs."""
        prescaler, bits, steps = self.timer
        pins = [kind.pin for kind in self.kinds if kind.pin is not None]
        frames_a_second = self.actual_rate / self.frame_samples
        device = self.device
        return {
            "tool_version": __version__,
            "sensor": self.name,
            "sensor_number": SENSOR_NUMBERS[self._sensor_name],
            "sensor_template": "analog.j2" if device is None else "two_wire.j2",
            "device": None if device is None else _device_context(device, self.actual_rate),
            "channels": self.channels,
            "frame_samples": self.frame_samples,
            "pins": pins,
            "digital_off": sum(1 << pin for pin in pins),
            "period_cycles": self.period_cycles,
            "actual_rate": self.actual_rate,
            "timer_top": steps,
            "timer_clock": bits,
            "prescaler": prescaler,
            "said_every": max(1, math.ceil(frames_a_second)),
            "clock_hz": self.board.clock_hz,
            "mcu": self.board.mcu,
            "environment": self.board.environment,
            "platformio_board": self.board.platformio_board,
            "baud": self.baud,
            "baud_divisor": self._baud_divisor(self.baud),
            "twi_divisor": max(0, (self.board.clock_hz // _TWI_HZ - 16) // 2),
        }

    @property
    def _sensor_name(self) -> str:
        kind = self.kinds[0]
        return "analog" if kind.name == f"a{kind.pin}" else kind.name

    def firmware(self) -> dict[str, str]:
        """Return the files of a PlatformIO project by their names."""
        return {
            "platformio.ini": self._rendered("platformio.ini"),
            "src/main.c": self._rendered("main.c"),
        }

    def sketch(self, name: str) -> dict[str, str]:
        """Return the files of an Arduino sketch, of which there is one, by their names."""
        return {f"{name}.ino": self._rendered("sketch.ino")}

    def _rendered(self, name: str) -> str:
        template = template_environment("logger").get_template(f"{name}.j2")
        return template.render(self.context())


def _device_context(device: TwoWireDevice, rate: float) -> dict[str, object]:
    return {**asdict(device), "settings": device.settings_for(rate)}


def sketch_name(folder: Path) -> str:
    """Return the name of the sketch in a folder, which has the folder's.

    Raises
    ------
    InputError
        If the Arduino IDE does not open a sketch of that name.
    """
    name = folder.resolve().name
    if not name.replace("_", "").replace("-", "").isalnum() or not name.isascii():
        raise InputError(
            f"a sketch has its folder's name, and {name!r} is none for it; use letters, digits, _ "
            "and - for -o"
        )
    return name


def logger_of(kinds: Sequence[SensorKind], rate: float, board: Board, baud: int = 0) -> Logger:
    """Return the logger of sensors, analog inputs in the order of their pins."""
    return Logger(tuple(sorted(kinds, key=lambda kind: kind.pin or 0)), rate, board, baud)
