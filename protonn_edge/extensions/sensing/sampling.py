"""Sensors that a board samples at a steady rate: the settings of its timer, ADC and bus.

A timer starts each sample, and interrupts read it. Rates that are too high for the chip or the
sensor are refused before anything is written. Loggers and firmware that classifies its sensor's
samples share this module and the templates in ``templates/sensors``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from protonn_edge import __version__
from protonn_edge.chips.boards import Board, boards
from protonn_edge.chips.toolchain.platformio import description_file, upload_lines
from protonn_edge.codegen.renderer import template_environment
from protonn_edge.data.naming import Notice, listed
from protonn_edge.device.protocol import BITS_PER_BYTE
from protonn_edge.extensions.sensing.sensor_board import DESCRIBED, SENSOR_NUMBERS
from protonn_edge.extensions.sensing.sensor_kinds import (
    LARGEST_PRESCALER,
    MICROPHONE,
    TIMER_ERROR,
    TIMER_STEPS,
    SensorKind,
    SensorRegisters,
    rate_limits,
)
from protonn_edge.system.checks import check, check_range
from protonn_edge.system.errors import InputError, InvalidValue, counted


class Chip(NamedTuple):
    """How a chip differs from others of its generation."""

    timer: int  # the vectors of Timer1, of the ADC, of the two buses, and of a received byte
    conversion: int
    i2c: int
    spi: int
    received: int
    port: str  # of I2C, with its pins SDA and SCL
    pins: tuple[int, int]
    spi_pins: tuple[int, int, int, int, int]  # of port B: select, SS, MOSI, MISO, SCK
    reference: int  # the ADC's selection of its own reference


_CHIPS = {
    "atmega328p": Chip(11, 21, 24, 17, 18, "C", (4, 5), (2, 2, 3, 4, 5), 0x0E),
    "atmega2560": Chip(17, 29, 39, 24, 25, "D", (1, 0), (0, 0, 2, 3, 1), 0x1E),
    "atmega32u4": Chip(17, 29, 36, 24, 25, "D", (1, 0), (6, 0, 2, 3, 1), 0x1E),
    "atmega1284p": Chip(13, 24, 26, 19, 20, "C", (1, 0), (4, 4, 5, 6, 7), 0x1E),
}
_ADC_HZ = 125_000  # a conversion takes 13 cycles of it
_FAST_ANALOG_RATE = 4_000.0  # above, conversions take half as long, and are slightly less accurate
_PRESCALERS = ((1, "_BV(CS10)"), (8, "_BV(CS11)"), (64, "_BV(CS11) | _BV(CS10)"),
               (256, "_BV(CS12)"), (LARGEST_PRESCALER, "_BV(CS12) | _BV(CS10)"))  # fmt: skip
_POLLED_RATE = 1_000.0
_TWI_HZ = 400_000
_BUS_BITS = 9  # of I2C, with the acknowledgement; bytes of SPI take less time
# Cycles of interrupts, rounded up from measurements on simulated boards.
_TIMER_CYCLES = 100
_CONVERSION_CYCLES = 200
_BUS_BYTE_CYCLES = 200
_ADDRESSES = 6  # bytes on the bus, and starts, besides the data

BAUDS = (115_200, 250_000, 500_000, 1_000_000)
"""Baud rates to try if none is given: those of boards with a 16 MHz clock."""

_LINE_SHARE = 0.95
_BAUD_ERROR = 0.025


@dataclass(frozen=True)
class Sampling:
    """Sensors and their sampling rate, validated on construction.

    Raises `InputError` if the sensors cannot be sampled together, or the rate cannot be kept.
    """

    kinds: tuple[SensorKind, ...]  # analog inputs, or one other sensor
    rate: float  # requested samples per second; `actual_rate` is the timer's
    board: Board
    polled: bool = False  # whether a sketch for any chip reads them, instead of interrupts

    def __post_init__(self) -> None:
        names = self.name
        if not self.polled and self.board.mcu not in _CHIPS:
            able = [board.name for board in boards() if board.mcu in _CHIPS]
            raise InputError(
                f"firmware that reads a sensor does not run on {self.board.name} "
                f"({self.board.mcu}); choose another board with --board ({', '.join(able)}), or "
                "read the sensor in your own sketch, with a library from 'protonn-edge export'"
            )
        check(
            len(self.kinds) > 0 and len(set(self.kinds)) == len(self.kinds),
            "sensors",
            f"{names or 'none'}",
            "at least one, and each only once",
        )
        if len(self.kinds) > 1 and self.number != SENSOR_NUMBERS["analog"]:
            raise InputError(
                f"{names} cannot be sampled together; name only analog inputs, or only one sensor"
            )
        least, most = _rate_limits(self.kinds[0], len(self.channels), self.board.clock_hz)
        if self.polled:
            _check_polled(self.kinds[0], self.board)
            most = min(most, _POLLED_RATE)
        check_range(
            f"rate of {names} on {self.board.name}, in Hz",
            self.rate,
            least,
            most,
            "choose another rate with --rate",
        )

    @classmethod
    def of(
        cls, kinds: Sequence[SensorKind], rate: float, board: Board, *, polled: bool = False
    ) -> Sampling:
        """Return the sampling of sensors, analog inputs in the order of their pins."""
        return cls(tuple(sorted(kinds, key=lambda kind: kind.pin or 0)), rate, board, polled)

    @property
    def name(self) -> str:
        """The sensors' names for display."""
        return ", ".join(kind.name for kind in self.kinds)

    @property
    def chip(self) -> Chip:
        """The board's chip."""
        return _CHIPS[self.board.mcu]

    @property
    def number(self) -> int:
        """The number that the board sends for its sensor."""
        if all(kind.name == f"a{kind.pin}" for kind in self.kinds):
            return SENSOR_NUMBERS["analog"]
        return SENSOR_NUMBERS.get(self.kinds[0].name, DESCRIBED)

    @property
    def text(self) -> bytes:
        """The description that the board sends for a sensor without a number; else empty."""
        return self.kinds[0].text.encode() if self.number == DESCRIBED else b""

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of a sample's values."""
        return tuple(name for kind in self.kinds for name in kind.channels)

    @property
    def device(self) -> SensorRegisters | None:
        """The chip on the two-wire bus, None if analog inputs are sampled."""
        return self.kinds[0].registers

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
        if self.polled:
            return 1e6 / round(1e6 / self.rate)  # micros() shows whole ones
        return self.board.clock_hz / self.period_cycles

    @property
    def interrupt_cycles(self) -> int:
        """Approximate cycles of interrupts per sample, before it is stored."""
        if self.device is None:
            return _TIMER_CYCLES + _CONVERSION_CYCLES * len(self.channels)
        return _TIMER_CYCLES + _BUS_BYTE_CYCLES * (self.device.data_bytes + _ADDRESSES)

    def project(self, program: str, context: dict[str, object]) -> dict[str, str]:
        """Return a PlatformIO project's files by name, with a program of ``templates/sensors``."""
        environment = template_environment("sensors")
        return {
            "platformio.ini": environment.get_template("platformio.ini.j2").render(context),
            "src/main.c": environment.get_template(f"{program}.c.j2").render(context),
            **description_file(self.board),
        }

    def context(self, baud: int, **more: object) -> dict[str, object]:
        """Return the templates' variables: this object, the line's settings, and more."""
        clock_hz = self.board.clock_hz
        analog = [kind for kind in self.kinds if kind.pin is not None]
        pins = [(kind.pin or 0) + n for kind in analog for n in range(len(kind.channels))]
        return {
            "tool_version": __version__,
            "sampling": self,
            "board": self.board,
            "upload_lines": upload_lines(self.board),
            "baud": baud,
            "baud_divisor": baud_divisor(self.board, baud),
            "chip_name": f"ATmega{self.board.mcu.removeprefix('atmega').upper()}",
            "pins": pins,
            "inputs": [self.board.analog_inputs[pin] for pin in pins],
            "usart": int(self.board.serial == "usart1"),
            "adc_prescaler_bits": self._adc_prescaler.bit_length() - 1,
            "conversion_us": round(13e6 * self._adc_prescaler / clock_hz),
            "twi_divisor": max(0, (clock_hz // _TWI_HZ - 16) // 2),
            "receives": False,
            **more,
        }

    @property
    def _adc_prescaler(self) -> int:
        prescaler = 1 << (self.board.clock_hz // _ADC_HZ).bit_length() - 1
        fast = self.rate * len(self.channels) > _FAST_ANALOG_RATE
        return prescaler // 2 if fast else prescaler


def _check_polled(kind: SensorKind, board: Board) -> None:
    """Raise `InputError` if only interrupts can read a sensor."""
    if kind.bus == "spi" or kind == MICROPHONE:
        raise InputError(
            f"the sketch Live reads {kind.name} by an AVR's interrupts; for {board.name}, omit "
            "--sensor, and read the sensor with its own library, as in the example Windows"
        )


def _rate_limits(kind: SensorKind, channels: int, clock_hz: int) -> tuple[float, float]:
    """Return the lowest and the highest rate that the board, the bus and the sensor allow."""
    least, most = rate_limits(kind.bus, channels, clock_hz)
    if kind.registers is not None:
        on_bus = kind.registers.data_bytes + _ADDRESSES
        most = min(most, 1 / (on_bus * (_BUS_BITS / _TWI_HZ + _BUS_BYTE_CYCLES / clock_hz)))
    return max(least, kind.rates[0] / TIMER_ERROR), min(most, kind.rates[1] * TIMER_ERROR)


# --- the serial line -----------------------------------------------------------------------------


def bytes_carried(baud: int) -> float:
    """Return the bytes per second that may be sent at a baud rate."""
    return _LINE_SHARE * baud / BITS_PER_BYTE


def byte_cycles(board: Board, baud: int) -> float:
    """Return the clock cycles of a byte on the line."""
    return board.clock_hz * BITS_PER_BYTE / baud


def baud_divisor(board: Board, baud: int) -> int:
    """Return the value of UBRR0, at double speed."""
    return max(0, round(board.clock_hz / (8 * baud)) - 1)


def is_made(board: Board, baud: int) -> bool:
    """Whether the board's clock generates the baud rate accurately enough."""
    divisor = baud_divisor(board, baud) + 1
    return abs(board.clock_hz / (8 * divisor) / baud - 1) <= _BAUD_ERROR


def least_baud(board: Board, bytes_a_second: float) -> int:
    """Return the lowest sufficient baud rate from the board's on; the board's if there is none."""
    for baud in (board.baud, *(each for each in BAUDS if each > board.baud)):
        if bytes_a_second <= bytes_carried(baud) and is_made(board, baud):
            return baud
    return board.baud


def check_baud(board: Board, baud: int, what: str, bytes_a_second: float) -> None:
    """Raise `InputError` if a baud rate cannot be generated, or is too low for the bytes to send.

    `what` is the beginning of a sentence: ``"mpu6050 at 100 Hz"``.
    """
    if not is_made(board, baud):
        possible = [str(each) for each in sorted({board.baud, *BAUDS}) if is_made(board, each)]
        raise InvalidValue(
            board.name, f"no {baud:,} baud from its clock", f"choose one of {', '.join(possible)}"
        )
    if bytes_a_second > bytes_carried(baud):
        raise InputError(
            f"{what} needs {bytes_a_second:,.0f} bytes a second, but {baud:,} baud can carry only "
            f"{bytes_carried(baud):,.0f}; lower --rate"
        )


def _renamed(channels: Sequence[str], names: Sequence[str]) -> str:
    """Return columns in the place of channels, as an option renames them, for a message."""
    plain = 0 < len(names) <= len(channels) and not {*"".join(names)} & {*"'\","}
    return ",".join(map("=".join, zip(channels, names if plain else ["COLUMN"], strict=False)))


def used_channels(
    sampling: Sampling, named: Sequence[str], n: int
) -> tuple[tuple[int, ...], Sequence[Notice]]:
    """Return the sensor's channels for a model of n channels with these names.

    A name may be the end of a channel's name, such as x for ax. Otherwise channels are matched by
    their order, with a warning.
    """
    channels = sampling.channels
    for alike in (str.__eq__, str.endswith):
        fitting = [
            [i for i, each in enumerate(channels) if alike(each.lower(), name.lower())]
            for name in named
        ]
        used = tuple(places[0] for places in fitting if len(places) == 1)
        if named and len(used) == len({*used}) == n == len(named):
            return used, ()
    if n != len(channels) or len(named) not in (0, n):
        raise InputError(
            f"the model takes {counted(len(named) or n, 'channel')} "
            f"({listed(named) or 'without names'}), but {sampling.name} provides "
            f"{', '.join(channels)}; name a sensor for each channel, or rename the columns of the "
            f"recording, such as with 'windows --channels \"{_renamed(channels, named)}\"'"
        )
    pairs = ", ".join(f"{name} = {channel}" for name, channel in zip(named, channels, strict=False))
    text = (
        "the channels of the model and the sensor have different names, so they are matched by "
        f"position: {pairs}"
    )
    return tuple(range(n)), [Notice("channels", text, warning=True)] if pairs else ()
